package cli

import (
	"context"

	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// inputOptions are [spec.Spec.StrictForm], with faults that name flags.
func inputOptions(s *spec.Spec) (file.Options, error) {
	o, err := s.StrictForm()
	return o, flagged(err)
}

// strictEncoding is [spec.StrictEncoding].
func strictEncoding(flag string, e csvio.Encoding) error { return spec.StrictEncoding(flag, e) }

// formOptions are [spec.Spec.Form], with faults that name flags.
func formOptions(s *spec.Spec) (file.Options, error) {
	o, err := s.Form()
	return o, flagged(err)
}

// declaredDataset is [spec.Spec.Declared], with faults that name flags.
func declaredDataset(ctx context.Context, path string, s *spec.Spec, o spec.DatasetOptions) (*dataset.Definition, error) {
	d, err := s.Declared(ctx, path, o)
	return d, flagged(err)
}
