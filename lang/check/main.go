// Check compares the texts of the code with their translations in lang/ja.
//
//	go run ./lang/check                           counts what is wrong, and fails where a count has risen
//	go run ./lang/check -write                    writes the files anew, with the places of each text
//	go run ./lang/check -remove                   removes the unused translations, and writes the files
//	go run ./lang/check -add 'English' '日本語'   adds translations, and writes the files
//
// lang/README.md says more.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
)

func main() {
	write := flag.Bool("write", false, "write the files of translations anew, with the places of each text, and counts that have fallen")
	add := flag.Bool("add", false, "add texts: the English and the Japanese of each are the arguments")
	remove := flag.Bool("remove", false, "remove the translations that no text of the code has, and write the files")
	context := flag.String("context", "", "the context of a text that is added: foreign, term, stage, \"message CODE\" or \"word SET\"")
	flag.Parse()
	if err := run(".", options{*write || *add || *remove, *add, *remove, *context}, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "lang/check:", err)
		os.Exit(1)
	}
}

// options are the flags of a command.
type options struct {
	write, add, remove bool
	context            string
}

// run does one command for the module at root.
func run(root string, o options, args []string) error {
	s, err := load(root)
	if err != nil {
		return err
	}
	switch {
	case o.add && (len(args) == 0 || len(args)%2 != 0):
		return fmt.Errorf("-add has pairs of arguments: the English and the Japanese text")
	case !o.add && len(args) != 0:
		return fmt.Errorf("unexpected arguments: %q", args)
	}
	for pair := range slices.Chunk(args, 2) {
		if err := s.add(o.context, pair[0], pair[1]); err != nil {
			return err
		}
	}
	if o.remove {
		s.removeUnused()
	}
	known, err := readCounts(root)
	if err != nil {
		return err
	}
	found := s.findings()
	if o.write {
		if err := s.write(root); err != nil {
			return err
		}
		if err := writeCounts(root, known, found); err != nil {
			return err
		}
		found[misplaced] = nil
	}
	return report(os.Stdout, known, found)
}
