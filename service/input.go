package service

import (
	"context"

	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table/file"
)

// openStrict opens a table in the strict form of definitions; "-" is the standard input
// of the service.
func (s *Service) openStrict(ctx context.Context, name string, sheet *spec.Spec) (file.Source, error) {
	form, err := sheet.StrictForm()
	if err != nil {
		return nil, err
	}
	if name == "-" {
		return file.OpenStdin(ctx, s.Stdin, form)
	}
	return file.Open(ctx, name, form)
}
