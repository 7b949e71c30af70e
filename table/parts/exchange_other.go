//go:build !linux

package parts

import "errors"

func exchange(string, string) error { return errors.ErrUnsupported }
