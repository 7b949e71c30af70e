package atomicfile

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/noren-privacy/noren"
)

// Apart is an error of kind Usage where a target is one of the inputs, or another
// target, by whatever name: another path, a symbolic or a hard link. Empty names
// and "-" are left out. It keeps a run from replacing what it reads.
func Apart(inputs []string, targets ...string) error {
	for i, target := range targets {
		if target == "" || target == "-" {
			continue
		}
		for _, input := range inputs {
			if same(target, input) {
				return replaced(target)
			}
		}
		for _, other := range targets[:i] {
			if same(target, other) {
				return &noren.Error{
					Kind: noren.Usage, Code: "output-twice", Where: noren.File(target), What: "two outputs have this name",
					Hint: "give each a name of its own",
				}
			}
		}
	}
	return nil
}

// ApartFrom is an error of kind Usage where a target is the file that in is open
// on, as standard input may be. A pipe or a terminal is no target.
func ApartFrom(in *os.File, targets ...string) error {
	open, err := in.Stat()
	if err != nil {
		return nil // reading it will fail, and says why
	}
	for _, target := range targets {
		if target == "" || target == "-" {
			continue
		}
		if is, err := os.Stat(target); err == nil && is.Mode().IsRegular() && os.SameFile(open, is) {
			return replaced(target)
		}
	}
	return nil
}

// ApartFolder is an error of kind Usage where a folder of results, which is made or
// replaced as a whole, is or holds one of the inputs, or lies in one that is a folder.
func ApartFolder(folder string, inputs ...string) error {
	out := place(filepath.Clean(folder))
	for _, input := range inputs {
		if input == "" || input == "-" {
			continue
		}
		in := place(filepath.Clean(input))
		if real, err := filepath.EvalSymlinks(in); err == nil {
			in = real
		}
		if real, err := filepath.EvalSymlinks(out); err == nil {
			out = real
		}
		if within(in, out) || within(out, in) {
			return replaced(folder)
		}
	}
	return nil
}

// within reports whether a path is a folder or lies in it.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func replaced(target string) error {
	return &noren.Error{
		Kind: noren.Usage, Code: "output-is-input", Where: noren.File(target), What: "the output is an input of the same run",
		Hint: "choose another name; an input is never replaced",
	}
}

// same reports whether two names are those of one file, whether it exists or is
// to be made.
func same(a, b string) bool {
	if a == "" || b == "" || a == "-" || b == "-" {
		return false
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return os.SameFile(x, y)
	}
	return place(a) == place(b)
}

// place is the path of a file that may not exist yet, its folder without links.
func place(name string) string {
	dir, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return filepath.Clean(name)
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	return filepath.Join(dir, filepath.Base(name))
}
