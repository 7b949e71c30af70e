package kanon

import (
	"hash/maphash"
	"slices"

	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/pseudonym"
)

// owners are whose the records of the release are, by their places in it: what
// the verifier counts persons by. They are taken from the source while the release
// is written, and not from what the groups were made by.
type owners struct {
	order   []uint32 // place of each record, nil for the source's order
	unit    *label
	suspect []*label
	drawn   *pseudonym.Pseudonyms
	shown   []bool // by record: whether it has its pseudonym
}

// label numbers the persons of a column.
type label struct {
	at     int // column of the source
	from   int // column of the chunk
	name   string
	stored *table.StoredColumn
	tokens map[string]bool
	of     []uint32 // by place
	text   []byte
	exact  map[string]uint32
	hashed map[uint64]uint32 // of suspected columns, by hash: it costs less
	seed   maphash.Seed
	seen   int // records with a text
}

// newOwners prepares to take whose records are where.
func (r *run) newOwners(m *made, order []uint32) *owners {
	w := &owners{order: order}
	tokens := map[string]bool{}
	for _, m := range r.job.Missing {
		tokens[m] = true
	}
	stored := r.job.Source.Columns()
	for i, f := range r.job.Schema.Fields {
		l := &label{at: i, name: f.Name, stored: &stored[i], tokens: tokens}
		switch {
		case r.job.Unit != "" && f.Name == r.job.Unit:
			l.of, l.exact = make([]uint32, r.result.Rows), map[string]uint32{}
			w.unit = l
		case r.job.Unit == "" && f.Role == table.Identifier:
			if !r.suspects(len(w.suspect) + 1) {
				r.result.Uncounted = append(r.result.Uncounted, f.Name)
				continue
			}
			l.of, l.hashed, l.seed = make([]uint32, r.result.Rows), map[uint64]uint32{}, maphash.MakeSeed()
			w.suspect = append(w.suspect, l)
		}
	}
	if r.job.Pseudonym {
		w.drawn = pseudonym.New()
		w.shown = m.showing(order)
	}
	return w
}

// suspects reports whether this number of identifiers can be counted by in the memory
// allowed: 40 bytes a record and column.
func (r *run) suspects(columns int) bool {
	return int64(columns)*40*int64(r.result.Rows) <= r.job.memory()/orderShare
}

// label is the label of a column of the source, nil where there is none.
func (w *owners) label(column int) *label {
	if w.unit != nil && w.unit.at == column {
		return w.unit
	}
	for _, l := range w.suspect {
		if l.at == column {
			return l
		}
	}
	return nil
}

func (w *owners) place(record int64) uint32 {
	if w.order == nil {
		return uint32(record)
	}
	return w.order[record]
}

// add adds the persons of a chunk.
func (w *owners) add(in *table.Chunk) {
	labels := w.suspect
	if w.unit != nil {
		labels = []*label{w.unit}
	}
	for _, l := range labels {
		v := &in.Cols[l.from]
		for i := range in.Rows {
			l.of[w.place(in.First+int64(i))] = l.number(v, i)
		}
	}
}

// number is the person of value i, from 1; 0 for a missing value.
func (l *label) number(v *table.Vector, i int) uint32 {
	if v.IsNull(i) {
		return privacy.NoPerson
	}
	l.text = table.AppendText(l.text[:0], l.stored, v, i)
	if len(l.text) == 0 || l.tokens[string(l.text)] {
		return privacy.NoPerson
	}
	l.seen++
	if l.exact != nil {
		n, ok := l.exact[string(l.text)]
		if !ok {
			n = uint32(len(l.exact) + 1)
			l.exact[string(l.text)] = n
		}
		return n
	}
	h := maphash.Bytes(l.seed, l.text)
	n, ok := l.hashed[h]
	if !ok {
		n = uint32(len(l.hashed) + 1)
		l.hashed[h] = n
	}
	return n
}

// pseudonyms fills the column of pseudonyms.
func (w *owners) pseudonyms(dst *table.Vector, in *table.Chunk) {
	dst.Kind = table.Text
	dst.Null, dst.Texts = dst.Null[:0], dst.Texts[:0]
	v := &in.Cols[w.unit.from]
	for i := range in.Rows {
		if !w.shown[in.First+int64(i)] {
			dst.Null, dst.Texts = append(dst.Null, true), append(dst.Texts, nil)
			continue
		}
		w.unit.text = table.AppendText(w.unit.text[:0], w.unit.stored, v, i)
		dst.Null, dst.Texts = append(dst.Null, false), append(dst.Texts, w.drawn.Of(w.unit.text))
	}
}

// showing tells which records have their pseudonym: of each person of a class as
// many as the person with the fewest there has, those first in the release.
func (m *made) showing(order []uint32) []bool {
	type in struct{ group, person uint32 }
	count := map[in]uint32{}
	for i, person := range m.persons {
		if person != privacy.NoPerson {
			count[in{m.groups.Group[i], person}]++
		}
	}
	fewest := make([]uint32, m.groups.Groups)
	for key, n := range count {
		if fewest[key.group] == 0 || n < fewest[key.group] {
			fewest[key.group] = n
		}
	}
	record := make([]uint32, len(m.persons)) // by place
	for i := range record {
		place := uint32(i)
		if order != nil {
			place = order[i]
		}
		record[place] = uint32(i)
	}
	shown := make([]bool, len(m.persons))
	has := make(map[in]uint32, len(count))
	for _, i := range record {
		key := in{m.groups.Group[i], m.persons[i]}
		if key.person != privacy.NoPerson && has[key] < fewest[key.group] {
			has[key]++
			shown[i] = true
		}
	}
	return shown
}

// into gives the verifier the persons.
func (w *owners) into(o *verify.Options, job *Job) {
	if w.unit != nil {
		o.Unit = &verify.Unit{Column: w.unit.name, Of: w.unit.of, Linked: job.Linkage == LinkAll, Pseudonyms: job.Pseudonym}
	}
	for _, l := range w.suspect {
		if len(l.hashed) < l.seen {
			o.Suspected = append(o.Suspected, verify.Suspected{Column: l.name, Of: l.of})
		}
	}
	w.order, w.shown = nil, nil
}

// mostRepeated is the suspected column with the most persons, where classes have
// too few of them.
func mostRepeated(all []verify.Repeated) *verify.Repeated {
	all = slices.DeleteFunc(slices.Clone(all), func(r verify.Repeated) bool { return r.BelowK.Classes == 0 })
	if len(all) == 0 {
		return nil
	}
	most := slices.MaxFunc(all, func(a, b verify.Repeated) int { return int(a.Persons - b.Persons) })
	return &most
}
