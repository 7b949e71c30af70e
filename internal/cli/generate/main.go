// Command generate writes the manual pages and the shell completions of noren, for
// packages of the program:
//
//	go run ./internal/cli/generate DIR
//
// makes DIR/man with noren.1, noren-query.1, ... and DIR/completions with noren.bash,
// _noren (zsh), noren.fish and noren.ps1.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/noren-privacy/noren/internal/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "generate: expected the folder to write to")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	pages, err := cli.WriteManual(filepath.Join(dir, "man"))
	if err != nil {
		return err
	}
	scripts, err := cli.WriteCompletions(filepath.Join(dir, "completions"))
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d manual pages, %d completions\n", dir, len(pages), len(scripts))
	return nil
}
