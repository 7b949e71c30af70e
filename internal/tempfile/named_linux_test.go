package tempfile

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A process that may open no further file gets an error, and neither makes folders for ever
// nor leaves one.
func TestCreateFolderWithoutFiles(t *testing.T) {
	dir := t.TempDir()
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	none := before
	none.Cur = 1
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		_, err := CreateFolder(dir)
		failed <- err
	}()
	var err error
	select {
	case err = <-failed:
	case <-time.After(10 * time.Second):
		t.Error("it goes on")
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	left, _ := os.ReadDir(dir)
	if err == nil || len(left) > 0 {
		t.Errorf("%d folders are left; %v", len(left), err)
	}
}
