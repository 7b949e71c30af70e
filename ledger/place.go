package ledger

import "path/filepath"

// The path of a file within the folder of the ledger can be kept relative to it
// ([Options.Relative]), with slashes. A folder that is moved or copied then holds the tables
// that its ledger reads. All other paths are absolute.

// place is the absolute path of one that the ledger keeps.
func (l *Ledger) place(kept string) string {
	if local := filepath.FromSlash(kept); kept != "" && filepath.IsLocal(local) {
		return filepath.Join(filepath.Dir(l.path), local)
	}
	return kept
}

// within is the folder of the ledger for a path that is kept relative to it, else "".
func (l *Ledger) within(kept string) string {
	if l.place(kept) == kept {
		return ""
	}
	return filepath.Dir(l.path)
}

// inside is an absolute path relative to the folder of the ledger; "" where it is not in it.
func (l *Ledger) inside(abs string) string {
	rel, err := filepath.Rel(filepath.Dir(l.path), abs)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// kept is the form in which the ledger keeps an absolute path.
func (l *Ledger) kept(abs string) string {
	if rel := l.inside(abs); l.opts.Relative && rel != "" {
		return rel
	}
	return abs
}

// spellings are all forms in which the ledger may keep a path, the one in which it does
// first.
func (l *Ledger) spellings(path string) ([]string, error) {
	paths, err := spellings(path)
	if err != nil {
		return nil, err
	}
	out := []string{l.kept(paths[0])}
	for _, p := range paths {
		if p != out[0] {
			out = append(out, p)
		}
		if rel := l.inside(p); rel != "" && rel != out[0] {
			out = append(out, rel)
		}
	}
	return out, nil
}
