//go:build unix && !linux

package tempfile

func create(dir string) (*File, error) { return createUnlinked(dir) }
