package shard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/table/parts"
)

// JobFolder is the name of the folder of a job within the folder of its release, for places
// where [Beside] cannot be: the folder of the release is a mount point, or nothing can be
// made beside it.
const JobFolder = "_job"

// Beside is the folder of the job of a release, beside the folder of the release and on the
// same file system, so that one rename shows the release. Readers of tables skip its name.
func Beside(folder string) string {
	return filepath.Join(filepath.Dir(folder), "_"+filepath.Base(folder)+".noren")
}

// What a commit makes in the folder of the job.
const (
	releaseFolder = "release"     // the release with the names of its files and its manifest
	oldFolder     = "old"         // the release that it replaces
	trashFolder   = "trash"       // and that release once it is replaced
	recordFile    = "commit"      // a record
	oldCertified  = "certificate" // the certificate that another replaces
)

// record is what a commit is about to do. It is written before anything is done that others
// see, and removed when all is done: what a killed commit has left is undone or
// completed by it ([Job.Recover]).
type record struct {
	// Names are the files that are named one after the other, where the folder of the release
	// cannot be renamed as a whole.
	Names []string `json:"names,omitempty"`
	// Within says so; without it, the folder is renamed.
	Within bool `json:"within,omitempty"`
	// Certificate is where the certificate is written, Manifest the SHA-256 of the manifest
	// that it is about.
	Certificate string `json:"certificate,omitempty"`
	Manifest    string `json:"manifest"`
	// Replaces says that the certificate replaces one, which is kept in the folder of the job.
	Replaces bool `json:"replaces,omitempty"`
}

func (r *record) put(ctx context.Context, dir string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := step(ctx, changes, func() error { return put(dir, recordFile, text) }); err != nil {
		return err
	}
	return syncFolder(ctx, dir)
}

// recordOf reads the record of a folder of a job, nil for none.
func recordOf(dir string) (*record, error) {
	path := filepath.Join(dir, recordFile)
	text, err := meter.ReadFile(path, textMost)
	if err == nil {
		err = meter.Document(text, path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if refused := meter.Refused(err); refused != nil {
		return nil, refused
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	r := &record{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if d.Decode(r) != nil {
		return nil, &noren.Error{Where: noren.File(path), What: "is no record of a commit", Hint: "look at what its folder holds, and remove it"}
	}
	for _, name := range r.Names {
		if name == "" || name != filepath.Base(name) || name == "." || name == ".." {
			return nil, &noren.Error{Where: noren.File(path), What: "is no record of a commit", Hint: "look at what its folder holds, and remove it"}
		}
	}
	return r, nil
}

// places are the folders that jobs of this release may have left, dir first.
func (j *Job) places(dir string) []string {
	out := []string{dir}
	for _, at := range []string{Beside(j.Folder), j.path(JobFolder)} {
		if !slices.ContainsFunc(out, func(p string) bool { return same(p, at) }) {
			out = append(out, at)
		}
	}
	return out
}

// same reports whether two paths are of one file.
func same(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// Recover completes or undoes what killed commits of this release have left: afterwards the
// folder of the release holds the earlier release whole, or the later one, or none. dir is
// the folder of the job. The caller holds the locks of it, and of the other one that a job of
// this release may have.
func (j *Job) Recover(dir string) error {
	for _, at := range j.places(dir) {
		if _, err := recoverIn(context.Background(), j.Folder, at); err != nil {
			return err
		}
	}
	return nil
}

// recoverIn reports whether a release is shown whose record is in dir.
func recoverIn(ctx context.Context, folder, dir string) (shown bool, err error) {
	r, err := recordOf(dir)
	if err != nil || r == nil {
		return false, err
	}
	if shown, err = r.shown(ctx, folder, dir); err == nil {
		if shown {
			err = r.settle(ctx, dir)
		} else {
			err = r.undo(ctx, folder, dir)
		}
	}
	var said *noren.Error
	if err == nil || errors.As(err, &said) {
		return shown, err
	}
	return shown, &noren.Error{
		Where: noren.File(folder), What: "what a commit left cannot be put in order",
		Hint: "the next job of this release does it; until then %s holds what is needed, and must not be removed", HintArgs: []any{
			noren.File(dir),
		}, Err: atomicfile.Reason(err),
	}
}

// shown reports whether the release of a record is in its place. Its manifest leaves the
// folder of the job last, alone or with its folder. That it is in neither place tells that
// somebody has removed it: what it has replaced is put back then.
func (r *record) shown(ctx context.Context, folder, dir string) (bool, error) {
	staged, err := exists(ctx, filepath.Join(dir, releaseFolder, parts.ManifestName))
	if err != nil || staged {
		return false, err
	}
	var text []byte
	err = step(ctx, looks, func() (err error) {
		text, err = meter.ReadFile(filepath.Join(folder, parts.ManifestName), fileMost)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && manifestSum(text) == r.Manifest, err
}

// settle removes what was kept in case that the release is not shown.
func (r *record) settle(ctx context.Context, dir string) error {
	old, trash := filepath.Join(dir, oldFolder), filepath.Join(dir, trashFolder)
	if err := removeAll(ctx, trash); err != nil {
		return err
	}
	// Renamed first: a release under that name is whole.
	if err := rename(ctx, old, trash); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := removeAll(ctx, trash); err != nil {
		return err
	}
	return drop(ctx, dir, oldCertified, recordFile)
}

// undo puts back what was there before the release, which is not shown.
func (r *record) undo(ctx context.Context, folder, dir string) error {
	var err error
	if r.Within {
		err = r.undoNames(ctx, folder, dir)
	} else {
		err = putBack(ctx, folder, dir)
	}
	if err != nil {
		return err
	}
	if err := r.undoCertificate(ctx, dir); err != nil {
		return err
	}
	if err := syncFolder(ctx, filepath.Dir(folder)); err != nil {
		return err
	}
	if err := drop(ctx, dir, recordFile, oldCertified); err != nil {
		return err
	}
	return removeAll(ctx, filepath.Join(dir, releaseFolder))
}

// putBack renames the earlier release to its place, if it is not there.
func putBack(ctx context.Context, folder, dir string) error {
	old := filepath.Join(dir, oldFolder)
	if kept, err := exists(ctx, old); err != nil || !kept {
		return err
	}
	entries, err := list(ctx, folder)
	switch {
	case err != nil:
		return err
	case len(entries) > 0:
		return &noren.Error{
			Kind: noren.Usage, Where: noren.File(folder),
			What: "holds files that were made after a commit was killed, and the earlier release of this place is in %s", Args: []any{old},
			Hint: "move one of them away",
		}
	}
	return rename(ctx, old, folder)
}

// undoNames takes the names of the files of the release back, and gives those of the earlier
// release theirs.
func (r *record) undoNames(ctx context.Context, folder, dir string) error {
	for _, name := range r.Names {
		made := filepath.Join(dir, releaseFolder, name)
		staged, err := exists(ctx, made)
		if err != nil {
			return err
		}
		if staged {
			continue // not named: a file of this name is of the earlier release
		}
		if err := rename(ctx, filepath.Join(folder, name), made); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	// From here on a file of such a name is of the earlier release.
	if len(r.Names) > 0 {
		r.Names = nil
		if err := r.put(ctx, dir); err != nil {
			return err
		}
	}
	old := filepath.Join(dir, oldFolder)
	if kept, err := exists(ctx, old); err != nil || !kept {
		return err
	}
	entries, err := list(ctx, old)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.Name() != parts.ManifestName {
			names = append(names, e.Name())
		}
	}
	if len(names) < len(entries) {
		names = append(names, parts.ManifestName)
	}
	for _, name := range names {
		at := filepath.Join(folder, name)
		taken, err := exists(ctx, at)
		if err != nil {
			return err
		}
		if taken {
			return &noren.Error{
				Kind: noren.Usage, Where: noren.File(at),
				What: "was made after a commit was killed, and the earlier release of this place is in %s", Args: []any{old},
				Hint: "move one of them away",
			}
		}
		if err := rename(ctx, filepath.Join(old, name), at); err != nil {
			return err
		}
	}
	return removeFile(ctx, old)
}

// mostCertificate is the longest certificate that is kept, in bytes.
const mostCertificate = 64 << 20

// keepCertificate keeps the certificate that the one of this release replaces.
func (r *record) keepCertificate(ctx context.Context, dir string) error {
	if r.Certificate == "" {
		return nil
	}
	text, err := meter.ReadFile(r.Certificate, mostCertificate)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return unreadable(r.Certificate, err)
	}
	r.Replaces = true
	return step(ctx, changes, func() error { return put(dir, oldCertified, text) })
}

// undoCertificate removes the certificate of a release that is not shown, and puts back the
// one that it has replaced.
func (r *record) undoCertificate(ctx context.Context, dir string) error {
	if r.Certificate == "" {
		return nil
	}
	text, err := meter.ReadFile(r.Certificate, mostCertificate)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && !bytes.Contains(text, []byte(r.Manifest)) {
		return nil // another's
	}
	if !r.Replaces {
		if err == nil {
			err = removeFile(ctx, r.Certificate)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	earlier, err := meter.ReadFile(filepath.Join(dir, oldCertified), mostCertificate)
	if err != nil {
		return err
	}
	f, err := atomicfile.Create(r.Certificate, true)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(earlier); err != nil {
		return err
	}
	return step(ctx, changes, f.Commit)
}
