//go:build !unix

package tempfile

func create(dir string) (*File, error) { return createNamed(dir) }
