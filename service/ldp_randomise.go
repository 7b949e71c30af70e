package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// LDPRandomise makes the report of each record of a table as its own device would.
//
// Guarantee: that of the survey, for each report; see package survey. The key of the
// devices is written before the reports are returned, so that no report is released
// whose permanent answer would be forgotten against the request.
func (s *Service) LDPRandomise(ctx context.Context, r *api.LDPRandomiseRequest) (*api.LDPRandomise, error) {
	if r.Devices != "" && r.Client == "" {
		return nil, noren.Usagef("devices", "devices are distinguished by the clients' ids").Hinted("name the column that holds the ids")
	}
	sv, err := ofColumns(&r.Survey, r.Columns)
	if err != nil {
		return nil, err
	}
	if r.Devices != "" && !sv.Remembers() {
		return nil, noren.Usagef("devices", "%s remembers nothing, and needs no secrets", sv.Mechanism()).Hinted("take a longitudinal mechanism or RAPPOR for reports round after round")
	}
	names := sv.Columns()
	if r.Client != "" {
		names = append(slices.Clone(names), r.Client)
	}
	tab, err := s.readTexts(ctx, &r.Table, names)
	if err != nil {
		return nil, err
	}
	o := survey.LineOptions{Client: r.Client != "", Progress: s.Progress}
	var fresh []byte
	if r.Devices != "" {
		if o.Devices, fresh, err = openDevices(r.Devices); err != nil {
			return nil, err
		}
	}
	lines, err := sv.RandomiseTable(ctx, noise.NewSource(), tab, r.Input, o)
	if err != nil {
		return nil, err
	}
	if fresh != nil {
		if err := keepKey(r.Devices, fresh); err != nil {
			return nil, err
		}
		s.note(api.Info, "devices-key", "made the key of the devices, "+r.Devices+": keep it, and keep it secret")
	}
	if n := lines.Repeated; n > 1 {
		s.note(api.Warning, "repeated-clients", fmt.Sprintf("%s reports are not their client's first: the privacy losses of a person with several records add up, and estimates exclude later reports", text.Integer(n)))
	} else if n == 1 {
		s.note(api.Warning, "repeated-clients", "1 report is not its client's first: the privacy losses of a person with several records add up, and estimates exclude later reports")
	}
	out := &api.LDPRandomise{
		Schema: api.LDPRandomiseSchema, Input: r.Input, Output: r.Output, Reports: tab.Rows, Repeated: lines.Repeated,
		Mechanism: sv.Mechanism(), Columns: sv.Columns(), Rappor: effectiveParams(sv), Privacy: sv.Privacy(), Lines: lines.Text,
	}
	if r.Devices == "" {
		out.Privacy = sv.PrivacyWithoutSecrets()
	}
	for j := range sv.Columns() {
		out.Labels = append(out.Labels, sv.Labels(j))
	}
	return out, nil
}

// ofColumns is the survey, of the columns that a request names.
func ofColumns(of *api.LDPSurvey, columns []string) (*survey.Survey, error) {
	one := *of
	switch {
	case len(one.Spec.Attributes) > 0:
		var names []string
		for _, a := range one.Spec.Attributes {
			names = append(names, a.Column)
		}
		if len(columns) > 0 && !slices.Equal(slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(columns))) {
			return nil, noren.Usagef("column", "the specification is of other columns: %s", strings.Join(names, ", ")).Hinted("leave it out, or change the specification")
		}
	case len(columns) > 1:
		return nil, noren.Usagef("column", "several columns need each their domain").Hinted("list them under attributes: in a specification")
	case len(columns) == 1:
		one.Spec.Column = columns[0]
	case one.Spec.Column == "":
		return nil, noren.Usagef("column", "expected the column that is reported")
	}
	return compileSurvey(&one)
}

// openPlain opens a table in the form that its specification states, or finds it.
func (s *Service) openPlain(ctx context.Context, path string, sp *spec.Spec) (file.Source, error) {
	o, err := sp.Form()
	if err != nil {
		return nil, err
	}
	if path == "-" && s.Stdin != nil {
		return file.OpenStdin(ctx, s.Stdin, o)
	}
	return file.Open(ctx, path, o)
}

// readTexts reads columns of a table as text.
func (s *Service) readTexts(ctx context.Context, t *api.Table, names []string) (*table.Table, error) {
	sp, err := specOf(t)
	if err != nil {
		return nil, err
	}
	src, err := s.openPlain(ctx, t.Input, sp)
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	return table.ReadText(ctx, src, names, table.ReadOptions{Missing: sp.Input.Missing, Progress: s.Progress})
}

// openDevices reads the key of all devices, or draws one where there is none: it is
// returned as fresh then, to be kept before any report is released.
func openDevices(path string) (d *survey.Devices, fresh []byte, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if fresh, err = survey.NewKey(noise.NewSource()); err != nil {
			return nil, nil, err
		}
		d, err = survey.NewDevices(fresh)
		return d, fresh, err
	}
	if err != nil {
		return nil, nil, noren.Usagef(path, "the key of the devices cannot be read")
	}
	d, err = survey.ParseKey(path, text)
	return d, nil, err
}

// keepKey writes the key of the devices, readable by its owner alone. It never replaces
// a file.
func keepKey(path string, key []byte) error {
	bad := func(err error) error {
		return &noren.Error{Kind: noren.Usage, Where: path, What: "the key of the devices cannot be written", Err: errors.Unwrap(err)}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return bad(err)
	}
	_, err = f.Write(survey.EncodeKey(key))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(path)
		return bad(err)
	}
	return nil
}
