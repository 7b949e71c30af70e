//go:build !linux && !darwin && !windows

package tempfile

import "errors"

// renameNew would rename a file unless another has the name; this system cannot.
func renameNew(string, string) error { return errors.ErrUnsupported }
