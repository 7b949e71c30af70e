package service

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/spec"
)

// specOf is the specification of a table: that of its file with that of the request laid
// over it.
func specOf(t *api.Table) (*spec.Spec, error) {
	if t.Input == "" {
		return nil, noren.Usagef("input", "expected a table, got no name")
	}
	base := &spec.Spec{Version: spec.Version}
	if t.SpecFile != "" {
		var err error
		if base, err = spec.Load(t.SpecFile); err != nil {
			return nil, err
		}
	}
	switch {
	case t.Spec == nil:
		return base, nil
	case t.SpecFile == "":
		return t.Spec, nil
	}
	return base.With(t.Spec), nil
}
