package service

import (
	"context"
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
// devices, and what it is used for, are written before the reports are returned, so that
// no report is released whose permanent answer would be forgotten against the request, or
// whose loss would be missing in the sum of the key.
//
// A table that a reachable ledger has granted is refused (code granted): its budget does
// not count what the reports tell. With NotCharged it is randomised all the same, and each
// ledger that holds it notes so before the table is read; without such a ledger that is an
// error.
func (s *Service) LDPRandomise(ctx context.Context, r *api.LDPRandomiseRequest) (*api.LDPRandomise, error) {
	if r.Devices != "" && r.Client == "" {
		return nil, noren.Usagef("devices", "devices are distinguished by the clients' ids").Hinted("name the column that holds the ids")
	}
	if r.Finish != "" && r.Devices == "" {
		return nil, noren.Usagef("finish", "a survey under way goes on with the key of its devices").Hinted("name the file of the key")
	}
	sv, err := ofColumns(&r.Survey, r.Columns)
	if err != nil {
		return nil, err
	}
	if r.Devices != "" && !sv.Remembers() {
		return nil, noren.Usagef("devices", "%s remembers nothing, and needs no secrets", sv.Mechanism()).
			Hinted("take a longitudinal mechanism or RAPPOR for reports round after round")
	}
	if r.Finish != "" && r.Finish != sv.Question() {
		return nil, noren.Usagef("finish", "the survey asks %q and not %q", sv.Question(), r.Finish)
	}
	o := survey.LineOptions{Client: r.Client != "", Progress: s.Progress}
	var key *keyOfDevices
	if r.Devices != "" {
		if key, err = openKey(r.Devices); err != nil {
			return nil, err
		}
		if r.Finish == "" && key.AnswersAnew(sv) {
			s.note(api.Warning, "devices-anew", "%s was made by an earlier version, and its permanent answers are drawn anew: a survey that is "+
				"under way with it costs its lifetime's epsilon again, unless it is finished by the answers that it began with", noren.File(r.Devices))
		}
		if err := key.Check(sv, r.Finish != ""); err != nil {
			return nil, err
		}
		if before := key.OtherColumn(sv, r.Finish != ""); before != "" {
			s.note(api.Warning, "other-column", "the question %q was answered for column %s before: where %s is another attribute of these "+
				"persons, reports show whether their two values are equal, and the sum of the losses does not hold", sv.Question(), before,
				strings.Join(sv.Columns(), ", "))
		}
		o.Devices = key.Devices(r.Finish != "")
	}
	tab, uncharged, err := s.readRandomised(ctx, r, sv)
	if err != nil {
		return nil, err
	}
	lines, err := sv.RandomiseTable(ctx, noise.NewSource(), tab, r.Input, o)
	if err != nil {
		return nil, err
	}
	if key != nil {
		if key, err = key.use(sv, r.Finish != "", lines.Most); err != nil {
			return nil, err
		}
		if key.fresh {
			s.note(api.Info, "devices-key", "made the key of the devices, %s: keep it, and keep it secret", noren.File(r.Devices))
		}
	}
	if n := lines.Repeated; n > 0 && key != nil {
		s.note(api.Warning, "repeated-values", "persons have several records, %s at most: their losses add up, which records of a person have "+
			"equal values is seen and nothing protects that, and estimates exclude later reports", text.Integer(lines.Most))
	} else if n > 1 {
		s.note(api.Warning, "repeated-clients", "%s {report is not its|reports are not their} client's first: the privacy losses of a person "+
			"with several records add up, and estimates exclude later reports", text.Integer(n))
	} else if n == 1 {
		s.note(api.Warning, "repeated-clients",
			"1 report is not its client's first: the privacy losses of a person with several records add up, and estimates exclude later reports")
	}
	out := &api.LDPRandomise{
		Schema: api.LDPRandomiseSchema, Input: r.Input, Output: r.Output, Reports: tab.Rows, Repeated: lines.Repeated,
		Mechanism: sv.Mechanism(), Columns: sv.Columns(), Rappor: effectiveParams(sv), Privacy: sv.Privacy(), NotCharged: uncharged,
		Lines:    lines.Text,
		Question: sv.Question(), Specification: sv.SHA256(),
	}
	if key != nil {
		out.Devices = usesOf(r.Devices, key.KeyFile)
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
			return nil, noren.Usagef("column", "the specification is of other columns: %s", strings.Join(names, ", ")).
				Hinted("leave it out, or change the specification")
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
	src, err := file.Open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	s.noteHidden(src)
	return src, nil
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
