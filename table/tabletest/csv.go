package tabletest

import (
	"context"
	"os"

	"github.com/noren-privacy/noren/table/csvio"
)

// CSV opens the text table at path, which is to be closed. Unlike table/file it brings
// no other format into a test's program. An error ends the test.
func CSV(t TB, path string) *csvio.Source {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	src, err := csvio.OpenFile(context.Background(), f, csvio.Options{Name: path, Delimiter: ','})
	if err != nil {
		t.Fatal(err)
	}
	return src
}
