package shard

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/table/parts"
)

// naming gives the files of a release their names.
type naming struct {
	*committing
	dir    string // of the job
	within bool   // the folder of the job lies in that of the release
	record record
}

func (n *naming) staged(name string) string { return filepath.Join(n.dir, releaseFolder, name) }

// stage gives the files their names in a folder of the job, and demands that each is still
// what was checked.
func (n *naming) stage(ctx context.Context, manifest []byte) error {
	j := n.j
	folder := filepath.Join(n.dir, releaseFolder)
	err := removeAll(ctx, folder)
	if err == nil {
		err = mkdir(ctx, folder, 0o777) // as the umask allows; the folder of the job is its owner's alone
	}
	if err != nil {
		return unnamed(j.Folder, err)
	}
	var mode fs.FileMode
	err = step(ctx, changes, func() (err error) {
		mode, err = publicMode(folder)
		return err
	})
	if err != nil {
		return unnamed(j.Folder, err)
	}
	for _, m := range n.made {
		if m.Kind != MadeFile {
			continue
		}
		name := j.fileName(m.Buckets[0])
		from, to := filepath.Join(n.dir, m.Name), n.staged(name)
		if err := rename(ctx, from, to); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return n.changed(m.Name)
			}
			return unnamed(j.Folder, err)
		}
		if err := n.same(ctx, to, m); err != nil {
			return err
		}
		if err := chmod(ctx, to, mode); err != nil {
			return unnamed(j.Folder, err)
		}
		n.record.Names = append(n.record.Names, name)
	}
	if err := step(ctx, changes, func() error { return parts.Place(folder, manifest) }); err != nil {
		return err
	}
	if err := syncFolder(ctx, folder); err != nil {
		return unnamed(j.Folder, err)
	}
	return nil
}

// same demands that a file has the bytes that were checked.
func (n *naming) same(ctx context.Context, path string, m *Made) error {
	f, err := os.Open(path)
	if err != nil {
		return unreadable(path, err)
	}
	defer func() { _ = f.Close() }()
	if !n.asChecked(path, m) {
		return n.changed(m.Name)
	}
	sum := sha256.New()
	size, err := io.Copy(sum, &cancelled{ctx, f})
	if err != nil {
		return unreadable(path, err)
	}
	if size != m.Size || !bytes.Equal(sum.Sum(nil), m.SHA256[:]) {
		return n.changed(m.Name)
	}
	return nil
}

// asChecked reports whether a file has the size and the time that it had when it was
// checked.
func (n *naming) asChecked(path string, m *Made) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == m.Size && info.ModTime().UnixNano() == n.checked[m.Name].Modified
}

// unchanged demands of all files what asChecked tells, at the last moment.
func (n *naming) unchanged() error {
	for _, m := range n.made {
		if m.Kind == MadeFile && !n.asChecked(n.staged(n.j.fileName(m.Buckets[0])), m) {
			return n.changed(m.Name)
		}
	}
	return nil
}

func (c *committing) changed(name string) error {
	return &noren.Error{
		Kind: noren.NotMet, Code: "file-changed", Where: noren.File(c.j.path(name)), What: "is not the file that was written",
		Hint: "start again, and look at the storage of the folder",
	}
}

// show makes the release visible, whole. The release that it replaces is kept until then.
func (n *naming) show(ctx context.Context) error {
	if err := n.unchanged(); err != nil {
		return err
	}
	earlier, err := n.j.earlier(n.j.Folder)
	if err != nil {
		return err
	}
	if n.within {
		return n.showFiles(ctx, earlier)
	}
	return n.showFolder(ctx, earlier)
}

// showFolder renames the folder.
func (n *naming) showFolder(ctx context.Context, earlier []string) error {
	folder, made, old := n.j.Folder, filepath.Join(n.dir, releaseFolder), filepath.Join(n.dir, oldFolder)
	if info, err := os.Stat(folder); err == nil {
		if err := chmod(ctx, made, info.Mode()&(fs.ModePerm|fs.ModeSetgid|fs.ModeSticky)); err != nil {
			return unnamed(folder, err)
		}
	}
	if len(earlier) > 0 {
		if err := rename(ctx, folder, old); err != nil {
			return unnamed(folder, err)
		}
		// Another process may have written to it since it was looked at.
		if _, err := n.j.earlier(old); err != nil {
			return err
		}
	}
	if err := rename(ctx, made, folder); err != nil {
		return unnamed(folder, err)
	}
	_ = syncFolder(ctx, filepath.Dir(folder))
	return nil
}

// showFiles renames the files one by one, the manifest last.
func (n *naming) showFiles(ctx context.Context, earlier []string) error {
	j, old := n.j, filepath.Join(n.dir, oldFolder)
	if len(earlier) > 0 {
		if err := mkdir(ctx, old, 0o700); err != nil {
			return unnamed(j.Folder, err)
		}
		for _, name := range earlier { // the manifest first
			if err := rename(ctx, j.path(name), filepath.Join(old, name)); err != nil {
				return unnamed(j.Folder, err)
			}
		}
	}
	for _, name := range append(n.record.Names, parts.ManifestName) {
		taken, err := exists(ctx, j.path(name))
		if err == nil && taken {
			err = fs.ErrExist
		}
		if err != nil {
			return unnamed(j.Folder, err)
		}
		if err := rename(ctx, n.staged(name), j.path(name)); err != nil {
			return unnamed(j.Folder, err)
		}
	}
	_ = syncFolder(ctx, j.Folder)
	return nil
}

func unnamed(folder string, err error) error {
	return &noren.Error{Where: noren.File(folder), What: "the finished files cannot be renamed into place", Err: atomicfile.Reason(err)}
}

// publicMode is the mode that a new file of the folder has by the umask.
func publicMode(folder string) (fs.FileMode, error) {
	f, err := os.OpenFile(filepath.Join(folder, TempPrefix+"mode"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return 0, err
	}
	return info.Mode().Perm(), os.Remove(f.Name())
}

// Vacant refuses a folder that holds more than what jobs that were ended left, unless
// that is an earlier release that may be replaced.
func (j *Job) Vacant() error {
	_, err := j.earlier(j.Folder)
	return err
}

// earlier lists the files of an earlier release at path, the manifest first.
func (j *Job) earlier(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: noren.File(j.Folder), What: "expected a folder that can be written",
			Err: atomicfile.Reason(err),
		}
	}
	var found, named []string
	for _, e := range entries {
		switch {
		case e.Name() == JobFolder || strings.HasPrefix(e.Name(), TempPrefix):
		case !j.Force:
			return nil, &noren.Error{Kind: noren.Usage, Code: "file-exists", Where: noren.File(j.Folder), What: "the folder is not empty"}
		case e.IsDir() || e.Name() != parts.ManifestName && !j.ours(e.Name()):
			return nil, &noren.Error{
				Kind: noren.Usage, Where: noren.File(j.path(e.Name())),
				What: "the folder holds more than files of an earlier result, and is not replaced", Hint: "choose another folder",
			}
		case e.Name() == parts.ManifestName:
			found = append(found, e.Name())
		default:
			named = append(named, e.Name())
		}
	}
	return append(found, named...), nil
}

// cancelled reads until the context ends.
type cancelled struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// manifestSum is the SHA-256 of a manifest as a certificate states it.
func manifestSum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
