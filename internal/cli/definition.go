package cli

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// What follows serves commands that do not call package service yet.

func inputOptions(s *spec.Spec) (file.Options, error) { return s.StrictForm() }

func formOptions(s *spec.Spec) (file.Options, error) { return s.Form() }

func strictEncoding(flag string, e csvio.Encoding) error { return spec.StrictEncoding(flag, e) }

func declaredDataset(ctx context.Context, path string, s *spec.Spec, o spec.DatasetOptions) (*dataset.Definition, error) {
	in, err := s.StrictForm()
	if err != nil {
		return nil, err
	}
	if in.Delimiter == 0 {
		in.Delimiter = ','
	}
	if in.Encoding == csvio.AnyEncoding {
		in.Encoding = csvio.UTF8
	}
	src, err := file.Open(ctx, path, in)
	if err != nil {
		return nil, err
	}
	defer closeSource(src)
	if !file.InPlace(src) {
		return nil, noren.Usagef(src.Name(), "answers are about a CSV or Parquet file, or a data set of the ledger").Coded("no-copy")
	}
	o.Strict = true
	d, _, err := s.Definition(ctx, src, o)
	return d, err
}

type costJSON = api.Cost

func toCostJSON(c account.Cost) costJSON { return api.CostOf(c) }
