package spec

import (
	"path/filepath"

	"github.com/noren-privacy/noren"
)

// Load reads the specification in a file. Names of other files in it are relative to
// its folder; the result has them relative to the working folder. Errors are of kind
// Usage, with the line and column of the fault.
func Load(path string) (*Spec, error) {
	data, _, err := ReadSide(path, "the specification", "")
	if err != nil {
		if e, ok := err.(*noren.Error); ok && e.Code == "" {
			coded := *e
			coded.Code = CodeUnreadable
			return nil, &coded
		}
		return nil, err
	}
	s, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	from := func(name string) string {
		if name == "" || filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(filepath.Dir(path), name)
	}
	s.Input.Query = from(s.Input.Query)
	for name, c := range s.Columns {
		c.Hierarchy = from(c.Hierarchy)
		s.Columns[name] = c
	}
	return s, nil
}

// Files are the names of the files that s was read from and names: the specification
// itself, the query and the hierarchies. A result must not replace one of them.
func (s *Spec) Files() []string {
	var names []string
	for _, name := range append([]string{s.name, s.Input.Query}, s.hierarchies()...) {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

func (s *Spec) hierarchies() []string {
	var names []string
	for _, column := range s.sortedColumns() {
		names = append(names, s.Columns[column].Hierarchy)
	}
	return names
}
