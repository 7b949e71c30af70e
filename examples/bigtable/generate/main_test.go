package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren"
)

func TestFileAndStandardOutputAgree(t *testing.T) {
	ctx := context.Background()
	var stdout bytes.Buffer
	if err := run(ctx, []string{"-rows", "50", "-seed", "3", "-extra"}, &stdout, io.Discard); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(stdout.Bytes(), []byte("\n")); n != 51 {
		t.Errorf("%d lines, expected a header and 50 records", n)
	}
	var readings bytes.Buffer
	if err := run(ctx, []string{"-rows", "50", "-sensors"}, &readings, io.Discard); err != nil ||
		!bytes.HasPrefix(readings.Bytes(), []byte("x,y\n")) {
		t.Errorf("-sensors: %v, %d bytes", err, readings.Len())
	}
	if err := run(ctx, []string{"-sensors", "-extra"}, io.Discard, io.Discard); noren.KindOf(err) != noren.Usage {
		t.Errorf("-sensors -extra gave %v, expected an error of kind usage", err)
	}
	wrong := filepath.Join(t.TempDir(), "big.parquet")
	if err := run(ctx, []string{"-rows", "50", "-o", wrong}, io.Discard, io.Discard); noren.KindOf(err) != noren.Usage {
		t.Errorf("CSV in a file called Parquet gave %v, expected an error of kind usage", err)
	}
	target := filepath.Join(t.TempDir(), "big.csv")
	args := []string{"-rows", "50", "-seed", "3", "-extra", "-o", target}
	if err := run(ctx, args, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(target)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, stdout.Bytes()) {
		t.Error("the file differs from standard output")
	}
	if err := run(ctx, args, io.Discard, io.Discard); noren.KindOf(err) != noren.Usage {
		t.Errorf("an existing file gave %v, expected an error of kind usage", err)
	}
	if err := run(ctx, append(args, "-force"), io.Discard, io.Discard); err != nil {
		t.Errorf("-force gave %v", err)
	}
}

func TestFailureLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	err := run(ctx, []string{"-rows", "1000000", "-o", filepath.Join(dir, "big.csv")}, io.Discard, io.Discard)
	if noren.KindOf(err) != noren.Interrupted {
		t.Errorf("an ended context gave %v, expected an error of kind interrupted", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 0 {
		t.Errorf("%d files left behind", len(left))
	}
	if err := run(context.Background(), []string{"surplus"}, io.Discard, io.Discard); noren.KindOf(err) != noren.Usage {
		t.Errorf("a surplus argument gave %v, expected an error of kind usage", err)
	}
}
