package query

import (
	"context"
	"encoding/binary"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
)

// Partial are the exact sums of a query over a part of the records. They are private data:
// [Query.AnswerPartial] alone makes an answer of them, with noise.
//
// The sums of parts add up to those of the whole, as they are sums of whole numbers, where
// every record is in one part and all records of a person are in the same one: which of
// them count depends on their contents and the key alone ([Options.Key]).
type Partial struct {
	records int64
	sums    []noise.Sum
}

// InParts refuses a query that has no sums to add up. Error: [noren.Usage].
func (q *Query) InParts() error {
	if _, additive := q.kernel.(*sums); additive {
		return nil
	}
	return noren.Usagef("query", "a %s is not made of sums over parts of the records", q.o.Kind).
		Hinted("count, sum, mean, variance and histogram are")
}

// Partial computes the exact sums over the records of t, which is as of [Query.Answer].
func (q *Query) Partial(ctx context.Context, t *table.Table) (*Partial, error) {
	s, additive := q.kernel.(*sums)
	if !additive {
		return nil, q.InParts()
	}
	records, err := q.records(ctx, t)
	if err != nil {
		return nil, err
	}
	p := &Partial{records: int64(t.Rows)}
	p.sums, err = s.exact(ctx, t, records)
	return p, err
}

// NoRecords is the partial of no records, to which others are added.
func (q *Query) NoRecords() (*Partial, error) {
	s, additive := q.kernel.(*sums)
	if !additive {
		return nil, q.InParts()
	}
	return &Partial{sums: make([]noise.Sum, s.add.cells*s.add.coords)}, nil
}

// Add adds the sums of another part of the records, for the same query.
func (p *Partial) Add(o *Partial) error {
	if len(p.sums) != len(o.sums) {
		return &noren.Error{What: "the sums are of different queries"}
	}
	p.records += o.records
	for i := range p.sums {
		p.sums[i].AddSum(o.sums[i])
	}
	return nil
}

// Records is the number of records of the part.
func (p *Partial) Records() int64 { return p.records }

// AnswerPartial adds noise from src, once, to sums over all records; the answer is a
// [*Result] with the distribution of that of [Query.Answer]. The limit of 2^31 records is of
// all parts together.
func (q *Query) AnswerPartial(p *Partial, src *noise.Source) (any, error) {
	s, additive := q.kernel.(*sums)
	if !additive {
		return nil, q.InParts()
	}
	if len(p.sums) != s.add.cells*s.add.coords {
		return nil, &noren.Error{What: "the sums are of another query"}
	}
	if p.records > maxRecords {
		return nil, &noren.Error{Kind: noren.BadData, What: "the table has more than 2^31 records"}
	}
	groups, err := s.noisy(p.sums, src)
	if err != nil {
		return nil, err
	}
	return q.result(groups), nil
}

// Options are the options of the query, defaults filled. Its key is private.
func (q *Query) Options() Options { return q.o }

// partialFormat begins the binary form of sums; its last character is the version.
const partialFormat = "NQS1"

// AppendBinary appends the binary form of p: the format, the number of records, that of
// the sums, and two words of 8 bytes for each, lowest byte first.
func (p *Partial) AppendBinary(dst []byte) []byte {
	dst = append(dst, partialFormat...)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(p.records))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(p.sums)))
	for _, s := range p.sums {
		hi, lo := s.Words()
		dst = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, uint64(hi)), lo)
	}
	return dst
}

// DecodePartial reads what [Partial.AppendBinary] writes for this query. Errors are of kind
// BadData and hold no sum.
func (q *Query) DecodePartial(text []byte) (*Partial, error) {
	p, err := q.NoRecords()
	if err != nil {
		return nil, err
	}
	const head = len(partialFormat) + 12
	bad := func(what noren.Text) (*Partial, error) {
		return nil, &noren.Error{Kind: noren.BadData, Where: "sums", What: what.Format, Args: what.Args}
	}
	if len(text) < head || string(text[:len(partialFormat)]) != partialFormat {
		return bad(noren.Textf("expected sums in the binary form %s", partialFormat))
	}
	records := binary.LittleEndian.Uint64(text[len(partialFormat):])
	n := binary.LittleEndian.Uint32(text[head-4:])
	if int(n) != len(p.sums) || len(text) != head+16*len(p.sums) {
		return bad(noren.Textf("expected the %d {sum|sums} of the query", len(p.sums)))
	}
	if records > maxRecords {
		return bad(noren.Textf("expected sums of at most 2^31 records"))
	}
	p.records = int64(records)
	for i := range p.sums {
		at := text[head+16*i:]
		p.sums[i] = noise.SumOf(int64(binary.LittleEndian.Uint64(at)), binary.LittleEndian.Uint64(at[8:]))
	}
	return p, nil
}
