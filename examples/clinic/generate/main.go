// Command generate writes the tables of the synthetic clinic: visits.csv and
// the hierarchies of its categories. It replaces what is there.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/noren-privacy/noren/examples/clinic"
)

func main() {
	dir := flag.String("o", ".", "`folder` to write to")
	seed := flag.Uint64("seed", clinic.Seed, "seed of the table")
	flag.Parse()
	if err := run(*dir, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(dir string, seed uint64) error {
	tables, err := clinic.Generate(seed)
	if err != nil {
		return err
	}
	for name, data := range tables {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
