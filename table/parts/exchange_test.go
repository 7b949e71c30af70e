package parts_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/parts"
)

// A folder that is replaced is there at any time: a kill finds the old one or the new one.
func TestReplacedFolderIsAlwaysThere(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no other system exchanges names")
	}
	out := filepath.Join(t.TempDir(), "out 一")
	replace := func() error {
		made, err := parts.NewTarget(parts.TargetOptions{
			Path: filepath.Join(out, "p-*.csv"), Rows: 2, Replace: true,
			Sink: func(w io.Writer, name string, _ []table.StoredColumn) (table.Sink, error) {
				return file.NewSink(w, name, []table.StoredColumn{{Name: "z"}}, csvio.Dialect{Delimiter: ','})
			},
		})
		if err != nil {
			return err
		}
		s, err := made.Create(context.Background(), []table.StoredColumn{{Name: "z"}})
		if err != nil {
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
		return made.Commit(context.Background())
	}
	if err := replace(); err != nil {
		t.Fatal(err)
	}
	var looks, gone atomic.Int64
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ended:
				return
			default:
			}
			looks.Add(1)
			if _, err := os.Lstat(filepath.Join(out, parts.ManifestName)); err != nil {
				gone.Add(1)
			}
		}
	}()
	for range 60 {
		if err := replace(); err != nil {
			t.Fatal(err)
		}
	}
	close(ended)
	<-done
	if gone.Load() > 0 {
		t.Errorf("not there in %d of %d looks", gone.Load(), looks.Load())
	}
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
