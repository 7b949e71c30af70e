package tempfile

import (
	"errors"
	"io/fs"
	"os"
)

// Publish gives the temporary file temp its final name, unless a file has that name: this is
// [fs.ErrExist], and temp stays. A process that is killed meanwhile leaves the one or the other,
// whole: also on a file system without hard links, where the system can rename without replacing.
func Publish(temp, target string) error { return publish(temp, target, renameNew, os.Link) }

func publish(temp, target string, renameNew, link func(from, to string) error) error {
	err := renameNew(temp, target)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if err = link(temp, target); err == nil {
		return os.Remove(temp)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	// Neither: an empty file of the name is the claim to it, which nothing but a kill leaves.
	f, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(f.Close(), os.Rename(temp, target)); err != nil {
		_ = os.Remove(target)
	}
	return err
}
