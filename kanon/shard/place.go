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

func (r *record) put(dir string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := put(dir, recordFile, text); err != nil {
		return err
	}
	return syncFolder(dir)
}

// recordOf reads the record of a folder of a job, nil for none.
func recordOf(dir string) (*record, error) {
	path := filepath.Join(dir, recordFile)
	text, err := meter.ReadFile(path, fileMost)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
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
		if err := recoverIn(context.Background(), j.Folder, at); err != nil {
			return err
		}
	}
	return nil
}

func recoverIn(ctx context.Context, folder, dir string) error {
	r, err := recordOf(dir)
	if err != nil || r == nil {
		return err
	}
	fail := func(err error) error {
		var said *noren.Error
		if errors.As(err, &said) {
			return err
		}
		return &noren.Error{Where: noren.File(folder), What: "what a killed commit left cannot be put in order", Hint: "the folder of the job has it: %s", HintArgs: []any{noren.File(dir)}, Err: atomicfile.Reason(err)}
	}
	// The manifest leaves this folder last, alone or with the folder.
	if !exists(filepath.Join(dir, releaseFolder, parts.ManifestName)) {
		if err := r.settle(ctx, dir); err != nil {
			return fail(err)
		}
		return nil
	}
	if err := r.undo(ctx, folder, dir); err != nil {
		return fail(err)
	}
	return nil
}

// settle removes what was kept in case that the release is not shown.
func (r *record) settle(ctx context.Context, dir string) error {
	old, trash := filepath.Join(dir, oldFolder), filepath.Join(dir, trashFolder)
	if err := os.RemoveAll(trash); err != nil {
		return err
	}
	// Renamed first: a release under that name is whole.
	if err := os.Rename(old, trash); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	step(ctx)
	if err := os.RemoveAll(trash); err != nil {
		return err
	}
	step(ctx)
	return drop(dir, oldCertified, recordFile)
}

// undo puts back what was there before the release, which is not shown.
func (r *record) undo(ctx context.Context, folder, dir string) error {
	var err error
	if r.Within {
		err = r.undoNames(ctx, folder, dir)
	} else {
		err = putBack(folder, dir)
	}
	if err != nil {
		return err
	}
	step(ctx)
	if err := r.undoCertificate(dir); err != nil {
		return err
	}
	if err := syncFolder(filepath.Dir(folder)); err != nil {
		return err
	}
	step(ctx)
	if err := drop(dir, recordFile, oldCertified); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(dir, releaseFolder))
}

// putBack renames the earlier release to its place, if it is not there.
func putBack(folder, dir string) error {
	old := filepath.Join(dir, oldFolder)
	if !exists(old) {
		return nil
	}
	entries, err := os.ReadDir(folder)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case len(entries) > 0:
		return &noren.Error{Kind: noren.Usage, Where: noren.File(folder), What: "holds files that were made after a commit was killed, and the earlier release of this place is in %s", Args: []any{old}, Hint: "move one of them away"}
	}
	return os.Rename(old, folder)
}

// undoNames takes the names of the files of the release back, and gives those of the earlier
// release theirs.
func (r *record) undoNames(ctx context.Context, folder, dir string) error {
	for _, name := range r.Names {
		made := filepath.Join(dir, releaseFolder, name)
		if exists(made) {
			continue // not named: a file of this name is of the earlier release
		}
		if err := os.Rename(filepath.Join(folder, name), made); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		step(ctx)
	}
	// From here on a file of such a name is of the earlier release.
	if len(r.Names) > 0 {
		r.Names = nil
		if err := r.put(dir); err != nil {
			return err
		}
	}
	old := filepath.Join(dir, oldFolder)
	entries, err := os.ReadDir(old)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
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
		if exists(at) {
			return &noren.Error{Kind: noren.Usage, Where: at, What: "was made after a commit was killed, and the earlier release of this place is in %s", Args: []any{old}, Hint: "move one of them away"}
		}
		if err := os.Rename(filepath.Join(old, name), at); err != nil {
			return err
		}
		step(ctx)
	}
	return os.Remove(old)
}

// mostCertificate is the longest certificate that is kept, in bytes.
const mostCertificate = 64 << 20

// keepCertificate keeps the certificate that the one of this release replaces.
func (r *record) keepCertificate(dir string) error {
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
	return put(dir, oldCertified, text)
}

// undoCertificate removes the certificate of a release that is not shown, and puts back the
// one that it has replaced.
func (r *record) undoCertificate(dir string) error {
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
			err = os.Remove(r.Certificate)
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
	return f.Commit()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// drop removes files that may be missing.
func drop(dir string, names ...string) error {
	for _, name := range names {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// stepKey is the key of a function that tests have called between two changes of the file
// system.
type stepKey struct{}

func step(ctx context.Context) {
	if f, ok := ctx.Value(stepKey{}).(func()); ok {
		f()
	}
}
