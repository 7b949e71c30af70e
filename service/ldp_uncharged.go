package service

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/table"
)

// CodeGranted is the code of the refusal to randomise a table that a ledger has granted.
const CodeGranted = "granted"

// readRandomised reads the columns that are randomised, as text. A table that a reachable
// ledger has granted is refused, or noted there as not charged before it is read.
func (s *Service) readRandomised(ctx context.Context, r *api.LDPRandomiseRequest, sv *survey.Survey) (*table.Table, []api.LDPNotCharged,
	error,
) {
	names := sv.Columns()
	if r.Client != "" {
		names = append(slices.Clone(names), r.Client)
	}
	sp, err := specOf(&r.Table)
	if err != nil {
		return nil, nil, err
	}
	form, err := sp.Form()
	if err != nil {
		return nil, nil, err
	}
	var noted []api.LDPNotCharged
	src, err := s.openGuarded(ctx, r.Input, form, func(held []holding) (err error) {
		if !r.NotCharged {
			return grantedTable(r.Input, held[0].dataset)
		}
		noted, err = s.noteRandomised(ctx, r, sv, held)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	defer closeTable(src)
	s.noteHidden(src)
	if r.NotCharged && len(noted) == 0 {
		return nil, nil, noren.Usagef("not-charged", "no ledger that can be reached has granted %s", noren.File(r.Input)).
			Hinted("leave it out, or name the ledger that has")
	}
	tab, err := table.ReadText(ctx, src, names, table.ReadOptions{Missing: sp.Input.Missing, Progress: s.Progress})
	return tab, noted, err
}

// grantedTable refuses to randomise a table of a data set.
func grantedTable(input, dataset string) error {
	return &noren.Error{
		Kind: noren.Refused, Code: CodeGranted, Where: noren.File(input),
		What: "belongs to data set %s, whose budget does not count what reports of its records tell", Args: []any{dataset},
		Hint: "query the data set; the steward may decide that the reports are not charged",
	}
}

// noteRandomised notes in each ledger that holds the table that it is randomised and not
// charged.
func (s *Service) noteRandomised(ctx context.Context, r *api.LDPRandomiseRequest, sv *survey.Survey, held []holding) ([]api.LDPNotCharged,
	error,
) {
	privacy := sv.Privacy()
	if r.Devices == "" {
		privacy = sv.PrivacyWithoutSecrets()
	}
	type parameters struct {
		Columns   []string `json:"columns"`
		Mechanism string   `json:"mechanism"`
		Client    string   `json:"client,omitempty"`
		Report    float64  `json:"epsilon_per_report"`
		Record    float64  `json:"epsilon_per_record"`
		Lifetime  *float64 `json:"epsilon_lifetime"`
	}
	var what struct {
		Mechanism struct {
			Name       string     `json:"name"`
			Parameters parameters `json:"parameters"`
		} `json:"mechanism"`
	}
	what.Mechanism.Name = "ldp.randomize"
	what.Mechanism.Parameters = parameters{sv.Columns(), sv.Mechanism(), r.Client, privacy.Report, privacy.Record, privacy.Lifetime}
	text, err := json.Marshal(what)
	if err != nil {
		return nil, err
	}
	principal := s.Analyst
	if principal == "" {
		principal = "steward"
	}
	var out []api.LDPNotCharged
	for _, h := range held {
		entry, err := h.ledger.NoteUncharged(ctx, ledger.Uncharged{Dataset: h.dataset, Principal: principal, Mechanism: text})
		if err != nil {
			return nil, err
		}
		out = append(out, api.LDPNotCharged{Dataset: h.dataset, Ledger: h.ledger.ID(), Link: entry})
	}
	return out, nil
}
