package release

import (
	"context"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
)

// MaxBatch is the largest number of mechanisms of a [Batch].
const MaxBatch = 20

// Batch is several mechanisms that are asked together: one charge, one answer, one
// certificate. It is itself a [Mechanism].
//
// Guarantee: that of basic composition. Every part is answered from the same table with
// noise of its own, so that the costs of the parts, each for the relation and the unit of
// the budget, add up (docs/differential-privacy.md, section 3). In a data set under a
// model of dependent records each part is priced under the model, and these charges add
// up (docs/correlated-privacy.md, section 12).
type Batch struct {
	parts  []Mechanism
	fields []table.Field
	reads  [][]int // of each part, positions in fields
}

// BatchFormat names the form of a batch's answer as JSON.
const BatchFormat = "noren.answers/1"

// BatchAnswer is the answer of a [Batch].
type BatchAnswer struct {
	// Format is noren.answers/1.
	Format string `json:"format"`
	// Answers are the answers of the parts, in their order.
	Answers []any `json:"answers"`
}

// NewBatch makes a batch of 1 to [MaxBatch] mechanisms, none of which is a batch. Error:
// [noren.Usage].
func NewBatch(parts ...Mechanism) (*Batch, error) {
	if len(parts) == 0 || len(parts) > MaxBatch {
		return nil, noren.Usagef("questions", "expected 1 to %d, got %d", MaxBatch, len(parts))
	}
	b := &Batch{parts: slices.Clone(parts), reads: make([][]int, len(parts))}
	for i, m := range b.parts {
		if _, nested := m.(*Batch); nested {
			return nil, noren.Usagef("questions", "expected single questions, got a batch in a batch")
		}
		for _, f := range m.Columns() {
			at := slices.IndexFunc(b.fields, func(have table.Field) bool { return have.Name == f.Name })
			if at < 0 {
				at = len(b.fields)
				b.fields = append(b.fields, f)
			}
			b.reads[i] = append(b.reads[i], at)
		}
	}
	return b, nil
}

// Parts are the mechanisms, in order.
func (b *Batch) Parts() []Mechanism { return slices.Clone(b.parts) }

// Name is "batch".
func (b *Batch) Name() string { return "batch" }

// Parameters lists the name and the parameters of each part.
func (b *Batch) Parameters() any {
	type part struct {
		Name       string `json:"name"`
		Parameters any    `json:"parameters"`
	}
	out := struct {
		Questions []part `json:"questions"`
	}{}
	for _, m := range b.parts {
		out.Questions = append(out.Questions, part{m.Name(), m.Parameters()})
	}
	return out
}

// Cost is the exact sum of the costs of the parts.
func (b *Batch) Cost(n account.Neighbours, unit string) (total account.Cost, err error) {
	for _, m := range b.parts {
		c, err := m.Cost(n, unit)
		if err != nil {
			return account.Cost{}, err
		}
		if total, err = total.Add(c); err != nil {
			return account.Cost{}, err
		}
	}
	return total, nil
}

// Guarantee is that of all answers together, at [Batch.Cost].
func (b *Batch) Guarantee(n account.Neighbours, unit string) (noren.Guarantee, error) {
	var parts []Part
	for _, m := range b.parts {
		c, err := m.Cost(n, unit)
		if err != nil {
			return noren.Guarantee{}, err
		}
		g, err := m.Guarantee(n, unit)
		if err != nil {
			return noren.Guarantee{}, err
		}
		parts = append(parts, Part{Cost: c, Alone: c, Guarantee: g, own: c})
	}
	return together(parts)
}

// Covers asks every part.
func (b *Batch) Covers(atMost, records int64) error {
	for _, m := range b.parts {
		if err := m.Covers(atMost, records); err != nil {
			return err
		}
	}
	return nil
}

// Columns are the columns of all parts, each once.
func (b *Batch) Columns() []table.Field { return slices.Clone(b.fields) }

// Answer is a [*BatchAnswer]: every part answers from its columns of t.
func (b *Batch) Answer(ctx context.Context, t *table.Table, src *noise.Source) (any, error) {
	out := &BatchAnswer{Format: BatchFormat}
	for i, m := range b.parts {
		of := *t
		of.Columns = make([]*table.Column, len(b.reads[i]))
		for j, at := range b.reads[i] {
			of.Columns[j] = t.Columns[at]
		}
		a, err := m.Answer(ctx, &of, src)
		if err != nil {
			return nil, err
		}
		out.Answers = append(out.Answers, a)
	}
	return out, nil
}

// Loss is the exact sum of the losses of the parts in zCDP.
func (b *Batch) Loss(n account.Neighbours, unit string) (total account.Loss, err error) {
	for _, m := range b.parts {
		var l account.Loss
		if c, ok := m.(Concentrated); ok {
			l, err = c.Loss(n, unit)
		} else {
			var cost account.Cost
			if cost, err = m.Cost(n, unit); err == nil && cost.Delta > 0 {
				err = &noren.Error{Kind: noren.Usage, Code: CodeNotZCDP, Where: m.Name(), What: "its guarantee has a delta and no loss in zCDP"}
			}
			if err == nil {
				l, err = account.PureLoss(cost.Epsilon)
			}
		}
		if err == nil {
			total, err = total.Add(l)
		}
		if err != nil {
			return account.Loss{}, err
		}
	}
	return total, nil
}

// together is the guarantee of several answers from one table. Ordinary guarantees add
// up. Leakages under a model of dependent records do not, but their charges do, and
// bound the leakage of all answers together.
func together(parts []Part) (noren.Guarantee, error) {
	if len(parts) == 1 {
		return parts[0].Guarantee, nil
	}
	out := parts[0].Guarantee
	out.Assumptions = nil
	var own, alone account.Cost
	var err error
	dependent := false
	for _, p := range parts {
		if own, err = own.Add(p.own); err != nil {
			return out, err
		}
		if alone, err = alone.Add(p.Alone); err != nil {
			return out, err
		}
		if p.dependent() {
			out.Model, dependent = p.Guarantee.Model, true
		}
		for _, a := range p.Guarantee.Assumptions {
			if !slices.ContainsFunc(out.Assumptions, a.Equal) {
				out.Assumptions = append(out.Assumptions, a)
			}
		}
	}
	out.Epsilon, out.Delta = own.Float()
	if dependent {
		out.Epsilon, out.Delta = alone.Float()
		out.Assumptions = append(out.Assumptions, noren.Textf("The epsilon is the sum of the charges, which bounds what the answers together "+
			"tell of one record (docs/correlated-privacy.md, section 12)."))
	}
	return out, nil
}

// dependent reports whether the guarantee is of the kind for dependent records.
func (p *Part) dependent() bool { return !strings.Contains(p.Guarantee.Model, "differential") }
