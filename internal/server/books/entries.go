package books

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/store"
)

// BookEntry is a line of a book.
type BookEntry struct {
	N       int64           `json:"n" doc:"The number of the entry in the ledger's chain; 0 for a refusal."`
	At      string          `json:"at" doc:"When it was made."`
	Account *Principal      `json:"account,omitempty" doc:"Whose account it is about."`
	Kind    string          `json:"kind" enum:"opened,cap,account,closed,charge,refused,version,recovered" doc:"What happened."`
	State   string          `json:"state,omitempty" enum:"reserved,released,forfeited,refused" doc:"What became of a request."`
	Asked   []Message       `json:"asked,omitempty" nullable:"false" doc:"What was asked: a sentence for each question."`
	Amount  *api.Amount     `json:"amount,omitempty" doc:"What was charged, or the cap that was set."`
	Left    *api.Amount     `json:"left,omitempty" doc:"What was left after it: of the book for stewards and auditors, of the own account for others."`
	Hash    string          `json:"hash,omitempty" doc:"The hash of the entry, in hexadecimal."`
	Answer  string          `json:"answer,omitempty" doc:"The id of the answer, for those who may read it."`
	Refused *RefusedAmounts `json:"refused,omitempty" doc:"The amounts of a refusal."`
}

// Principal names a principal.
type Principal struct {
	ID   string `json:"principal" doc:"The id of the principal."`
	Name string `json:"name" doc:"The name of the principal."`
}

// RefusedAmounts are the amounts of a refusal.
type RefusedAmounts struct {
	Asked api.Amount `json:"asked" doc:"What the request would have cost."`
	Left  api.Amount `json:"left" doc:"What was left."`
	Short api.Amount `json:"short" doc:"What was missing."`
}

// Select selects entries.
type Select struct {
	// State is that of requests: reserved, released, forfeited or refused; all entries
	// where it is empty.
	State string
	// Account is the id of a principal; all where it is empty.
	Account string
	// Limit is the largest number of entries.
	Limit int
	// After is where the list goes on; "" for the newest.
	After string
}

// place is where a list of entries goes on: before an entry of the chain, and behind a
// refusal.
type place struct {
	link    int64
	refusal store.RefusalAt
}

func (p place) String() string {
	text := strconv.FormatInt(p.link, 10)
	if !p.refusal.Made.IsZero() {
		text += " " + strconv.FormatInt(p.refusal.Made.UnixMilli(), 10) + " " + strconv.FormatInt(p.refusal.N, 10)
	}
	return text
}

func parsePlace(text string) (p place, err error) {
	if text == "" {
		return p, nil
	}
	parts := strings.Split(text, " ")
	var numbers [3]int64
	if len(parts) != 1 && len(parts) != 3 {
		return p, problem.New("invalid", "expected the value of next of an earlier page")
	}
	for i, part := range parts {
		if numbers[i], err = strconv.ParseInt(part, 10, 64); err != nil || numbers[i] < 0 {
			return p, problem.New("invalid", "expected the value of next of an earlier page")
		}
	}
	p.link = numbers[0]
	if len(parts) == 3 {
		p.refusal = store.RefusalAt{Made: time.UnixMilli(numbers[1]).UTC(), N: numbers[2]}
	}
	return p, nil
}

// Entries is a page of the entries of a book, the newest first, and where the next begins.
// Refusals, which the ledger does not know, are merged by time.
func (b *Books) Entries(ctx context.Context, id string, s Select, v Viewer) (page []BookEntry, next string, err error) {
	d, err := b.find(id)
	if err != nil {
		return nil, "", err
	}
	if !v.All {
		if s.Account != "" && s.Account != v.ID {
			return []BookEntry{}, "", nil
		}
		s.Account = v.ID
	}
	at, err := parsePlace(s.After)
	if err != nil {
		return nil, "", err
	}
	var entries []api.LedgerEntry
	more := int64(0)
	if s.State != "refused" {
		found, err := b.config.Host.Service().LedgerEntries(ctx, &api.LedgerEntriesRequest{
			Dataset: d.Name, Analyst: s.Account, State: s.State,
			Before: at.link, Limit: s.Limit,
		})
		if err != nil {
			return nil, "", err
		}
		entries, more = found.Entries, found.Next
		if at.link == 1 { // nothing is before the first entry
			entries, more = nil, 0
		}
	}
	var refusals []store.Refusal
	if s.State == "" || s.State == "refused" {
		since := time.Time{}
		if more > 0 && len(entries) > 0 { // older ones belong to later pages
			since, _ = time.Parse(time.RFC3339, entries[len(entries)-1].Time)
		}
		b.storeRefusals()
		if refusals, err = b.config.Store.Refusals(ctx, d.id, s.Account, at.refusal, since, s.Limit); err != nil {
			return nil, "", err
		}
	}
	return b.merge(ctx, entries, refusals, at, more, s.Limit, v)
}

// merge merges entries and refusals by time to one page.
func (b *Books) merge(ctx context.Context, entries []api.LedgerEntry, refusals []store.Refusal, at place, more int64, limit int,
	v Viewer,
) ([]BookEntry, string, error) {
	keys := make([]string, 0, len(entries))
	for i := range entries {
		if entries[i].Key != "" {
			keys = append(keys, entries[i].Key)
		}
	}
	kept, err := b.config.Store.QuestionsByKeys(ctx, keys)
	if err != nil {
		return nil, "", err
	}
	page := make([]BookEntry, 0, limit)
	i, j := 0, 0
	for len(page) < limit && (i < len(entries) || j < len(refusals)) {
		if j < len(refusals) && (i == len(entries) || refusals[j].Made.Format(time.RFC3339) >= entries[i].Time) {
			r := &refusals[j]
			j++
			at.refusal = store.RefusalAt{Made: r.Made, N: r.N}
			page = append(page, b.refusedEntry(ctx, r))
			continue
		}
		e := &entries[i]
		i++
		at.link = e.Link
		page = append(page, b.entry(ctx, e, kept[e.Key], v))
	}
	if i == len(entries) && j == len(refusals) && more == 0 && len(refusals) < limit {
		return page, "", nil
	}
	return page, at.String(), nil
}

// entry is an entry of the ledger as a viewer sees it.
func (b *Books) entry(ctx context.Context, e *api.LedgerEntry, q store.KeptQuestion, v Viewer) BookEntry {
	out := BookEntry{N: e.Link, At: e.Time, Kind: e.Kind, State: e.State, Hash: e.Hash}
	switch e.Kind {
	case "path", "replaced":
		out.Kind = "version"
	}
	if e.Analyst != "" {
		out.Account = &Principal{e.Analyst, b.config.Host.Name(ctx, e.Analyst)}
	}
	left := amountOf(e.Left)
	switch {
	case v.All:
		out.Left = &left
	case e.Own != nil:
		own := amountOf(*e.Own)
		out.Left = &own
	}
	switch {
	case e.Cost != nil:
		cost := amountOf(*e.Cost)
		out.Amount = &cost
	case e.Cap != nil:
		most := amountOf(*e.Cap)
		out.Amount = &most
	}
	if e.Kind != "charge" {
		return out
	}
	if b.config.Host.Hidden(e.Key) {
		out.State = "reserved"
	}
	out.Asked = asked(q)
	if q.State == store.Answered && out.State == "released" {
		out.Answer = q.ID
	}
	return out
}

func (b *Books) refusedEntry(ctx context.Context, r *store.Refusal) BookEntry {
	out := BookEntry{
		At: r.Made.Format(time.RFC3339), Kind: "refused", State: "refused",
		Account: &Principal{r.Principal, b.config.Host.Name(ctx, r.Principal)},
	}
	var doc Refused
	if json.Unmarshal(r.Doc, &doc) == nil {
		out.Asked, out.Amount = doc.Asked, &doc.Cost
		out.Refused = &RefusedAmounts{doc.Cost, doc.Left, doc.Short}
	}
	return out
}

// asked are the sentences of a question that is kept.
func asked(q store.KeptQuestion) []Message {
	var paid struct {
		Asked []Message `json:"asked"`
	}
	if json.Unmarshal(q.Paid, &paid) != nil {
		return nil
	}
	return paid.Asked
}
