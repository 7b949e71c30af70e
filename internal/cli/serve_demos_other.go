//go:build !unix

package cli

import "os"

// ownFolder reports whether a path is a folder, and no link. Temporary folders are each
// user's own here.
func ownFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

func ignoreBackground() {}

// maskFiles does nothing: files have the rights of their folder here.
func maskFiles() {}
