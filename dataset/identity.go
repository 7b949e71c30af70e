package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/certificate"
)

// Parse reads a definition: JSON of at most 1 MiB without unknown or repeated
// members, whose format is [Format]. The result is complete: defaults are filled,
// columns and missing texts sorted. Errors are of kind Usage.
func Parse(text []byte) (*Definition, error) {
	fail := func(err error) (*Definition, error) {
		return nil, &noren.Error{Kind: noren.Usage, Where: "definition", What: "expected JSON in the format %s", Args: []any{Format}, Err: err}
	}
	canonical, err := certificate.Canonical(text)
	if err != nil {
		return fail(cause(err))
	}
	if err := checkMembers(canonical); err != nil {
		return fail(err)
	}
	var d Definition
	if err := json.Unmarshal(canonical, &d); err != nil {
		return fail(noren.Reasonf("a value is of another JSON type"))
	}
	if d.Format != Format {
		return nil, &noren.Error{Kind: noren.Usage, Where: "format", What: "expected %s, got %q", Args: []any{Format, d.Format}}
	}
	return d.Complete()
}

// cause strips the place that package certificate names from its error.
func cause(err error) error {
	if e, ok := err.(*noren.Error); ok && e.Err != nil {
		return e.Err
	}
	return err
}

// checkMembers refuses members that are unknown. Package encoding/json would also
// take a member whose name differs in case only.
func checkMembers(text []byte) error {
	top, err := members(text, "definition", "format", "file", "missing", "columns", "neighbours", "unit", "at_most", "records", "model")
	if err != nil {
		return err
	}
	if _, err := members(top["file"], "file", "kind", "delimiter", "encoding", "sharded"); err != nil {
		return err
	}
	if _, err := members(top["model"], "model", "column", "states", "other", "distribution"); err != nil {
		return err
	}
	var missing []*string
	if top["missing"] != nil {
		if err := json.Unmarshal(top["missing"], &missing); err != nil || slices.Contains(missing, nil) {
			return noren.Reasonf("missing is not an array of texts")
		}
	}
	var columns []json.RawMessage
	if top["columns"] != nil {
		if err := json.Unmarshal(top["columns"], &columns); err != nil {
			return noren.Reasonf("columns is not an array")
		}
	}
	for i, c := range columns {
		if _, err := members(c, fmt.Sprintf("column %d", i+1), "name", "type", "layout", "levels", "bounds", "keys"); err != nil {
			return err
		}
	}
	return nil
}

// members decodes an object; absent text has none.
func members(text []byte, where any, known ...string) (map[string]json.RawMessage, error) {
	if text == nil {
		return nil, nil
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(text, &m); err != nil || m == nil {
		return nil, noren.Reasonf("%s is not an object", where)
	}
	for name, v := range m {
		if !slices.Contains(known, name) {
			return nil, noren.Reasonf("%s has an unknown member", where)
		}
		if bytes.Equal(v, []byte("null")) {
			return nil, noren.Reasonf("%s: member %s is null", where, name)
		}
	}
	return m, nil
}

// Canonical is the canonical JSON of the complete definition, at most 1 MiB. Two
// definitions that read every file alike and have the same unit, relation, bounds
// and defaults of queries have the same canonical form.
func (d *Definition) Canonical() ([]byte, error) {
	c, err := d.Complete()
	if err != nil {
		return nil, err
	}
	return c.canonical()
}

// canonical is Canonical for a definition that is complete.
func (d *Definition) canonical() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(d)
	var text []byte
	if err == nil {
		text, err = certificate.Canonical(out.Bytes())
	}
	if err != nil {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: "definition", What: "expected at most %d bytes of canonical JSON",
			Args: []any{maxText}, Err: cause(err),
		}
	}
	return text, nil
}

// Hash identifies the definition: SHA-256("noren.dataset/1\0" + canonical JSON).
func (d *Definition) Hash() ([32]byte, error) {
	text, err := d.Canonical()
	if err != nil {
		return [32]byte{}, err
	}
	return sha256.Sum256(append([]byte(Format+"\x00"), text...)), nil
}
