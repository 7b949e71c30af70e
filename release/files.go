package release

import (
	"context"
	"io/fs"
	"os"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// Files are private files as they were at a moment, before they are read.
type Files struct {
	paths  []string
	places []string
	infos  []fs.FileInfo
}

// FilesAt looks at the files that lie at the paths, which may name sheets, tables, folders and
// patterns. What lies at a server is left out.
func FilesAt(ctx context.Context, paths ...string) (*Files, error) {
	out := &Files{paths: paths}
	for _, path := range paths {
		places := []string{file.Place(path)}
		if file.IsParts(path) {
			var err error
			if places, err = file.Parts(ctx, path); err != nil {
				return nil, err
			}
		}
		for _, place := range places {
			info, err := os.Stat(place)
			if err != nil || !info.Mode().IsRegular() || slices.Contains(out.places, place) {
				continue
			}
			out.places, out.infos = append(out.places, place), append(out.infos, info)
		}
	}
	return out, nil
}

// prints are the fingerprints of the bytes of the files, after they were read. They are those of
// what was read: files that changed since [FilesAt] are refused. A change shows by another file, size or
// time: one of the same size by somebody who sets the time back is not seen.
func (f *Files) prints(ctx context.Context, l *ledger.Ledger) (prints []string, err error) {
	if f == nil {
		return nil, nil
	}
	for _, place := range f.places {
		print, err := fileHash(l, place, func() (csvio.File, error) { return openFile(place) })
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		prints = append(prints, print)
	}
	now, err := FilesAt(ctx, f.paths...)
	if err != nil {
		return nil, err
	}
	for i, place := range f.places {
		if at := slices.Index(now.places, place); at < 0 || !unchanged(f.infos[i], now.infos[at]) {
			return nil, changedMeanwhile(place)
		}
	}
	for _, place := range now.places {
		if !slices.Contains(f.places, place) {
			return nil, changedMeanwhile(place)
		}
	}
	return prints, nil
}

func unchanged(was, is fs.FileInfo) bool {
	return os.SameFile(was, is) && was.Size() == is.Size() && was.ModTime().Equal(is.ModTime())
}

// changedMeanwhile refuses a file of which other bytes would be granted than were reviewed.
func changedMeanwhile(path string) error {
	return &noren.Error{
		Kind: noren.BadData, Where: noren.File(path), What: "was changed while it was read",
		Hint: "grant it when nothing writes to it",
	}
}
