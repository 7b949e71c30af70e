package verify

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/table"
)

// Unit says whose records belong together.
type Unit struct {
	// Column names the column of persons. Required.
	Column string
	// Of is the person of each record of the file, [privacy.NoPerson] for none,
	// where the file does not tell it. Nil: the file's Column does, and a record
	// without a text there counts for no person.
	Of []uint32
	// Linked asks that K persons at least fit all records of each person
	// ([privacy.Links.Fit]).
	Linked bool
	// Pseudonyms says that the file's Column holds pseudonyms of the persons in
	// Of: each must be of one person, each person must have one at most, and
	// every sequence of a pseudonym must be that of K pseudonyms at least. The
	// sequence of a pseudonym is how many of its records are in which class.
	// Without Of, Linked asks the same of the sequences that the file shows.
	Pseudonyms bool
}

// reads reports whether the file's column is read.
func (u *Unit) reads() bool { return u != nil && (u.Of == nil || u.Pseudonyms) }

// sequences reports whether sequences are judged.
func (u *Unit) sequences() bool { return u.Pseudonyms || u.Of == nil && u.Linked }

func (u *Unit) faults(o *Options) noren.Texts {
	switch {
	case u == nil:
		return nil
	case u.Column == "":
		return noren.Texts{noren.Textf("the column of persons has no name")}
	case slices.Contains(o.Quasi, u.Column):
		return noren.Texts{noren.Textf("%q is the column of persons and a quasi-identifier", u.Column)}
	case slices.ContainsFunc(o.Sensitive, func(f table.Field) bool { return f.Name == u.Column }):
		return noren.Texts{noren.Textf("%q is the column of persons and a sensitive column", u.Column)}
	}
	return nil
}

// Persons is what was found of persons.
type Persons struct {
	// Column is the column of the privacy unit.
	Column string `json:"column"`
	// FromFile is true if a column of the file itself tells the persons apart.
	FromFile bool `json:"from_file"`
	// Persons is the number of persons.
	Persons int64 `json:"persons"`
	// Unassigned is the number of records without a person.
	Unassigned int64 `json:"records_without_person"`
	// ClassSize is the smallest, mean and largest number of persons of a class.
	ClassSize ClassSize `json:"class_size"`
	// Fit is the number of persons who fit all records of a person (intersection attack).
	Fit privacy.Fit `json:"fit"`
	// Linked is true if at least k persons were required to fit all records of each person.
	Linked bool `json:"linked"`
	// Sequences is the result for the sequences of pseudonyms.
	Sequences *Sequences `json:"sequences,omitempty"`
}

// Sequences tells how many pseudonyms share their sequence of classes.
type Sequences struct {
	// Pseudonyms is the number of pseudonyms.
	Pseudonyms int64 `json:"pseudonyms"`
	// Without is the number of records without a pseudonym.
	Without int64 `json:"records_without_pseudonym"`
	// Min is the smallest number of pseudonyms that share a sequence.
	Min int64 `json:"min"`
	// Below is the number of pseudonyms whose sequence fewer than k share.
	Below int64 `json:"below_k"`
	// Wrong is the number of pseudonyms that belong to several persons or to none, plus the
	// number of persons who have several, where the persons are known.
	Wrong int64 `json:"wrong"`
}

// Suspected is a column that may tell persons apart.
type Suspected struct {
	Column string
	// Of is the person of each record, as in [Unit].
	Of []uint32
}

// Repeated is what classes hold when they are counted by a column that was not
// named as the unit.
type Repeated struct {
	// Column is the column that repeats.
	Column string `json:"column"`
	// Persons is the number of different values of the column.
	Persons int64 `json:"persons"`
	// Most is the largest number of records that share a value of the column.
	Most int64 `json:"most_records"`
	// BelowK is the number of classes of fewer than k persons, and of the records in them.
	BelowK BelowK `json:"below_k"`
	// One is the number of classes of one person.
	One int64 `json:"classes_of_one_person"`
}

// labels number the texts of a column, from 1; a missing value is 0.
type labels struct {
	texts texts
	index map[string]uint32
}

func newLabels(stored *table.StoredColumn, tokens map[string]bool) *labels {
	return &labels{texts: texts{stored: stored, tokens: tokens}, index: map[string]uint32{}}
}

func (l *labels) number(v *table.Vector, i int) uint32 {
	text, missing := l.texts.at(v, i)
	if missing {
		return privacy.NoPerson
	}
	n, ok := l.index[string(text)]
	if !ok {
		n = uint32(len(l.index) + 1)
		l.index[string(text)] = n
	}
	return n
}

// persons counts the persons of each class.
func (r *Result) persons(ctx context.Context, s *scanned, o *Options) error {
	for _, suspected := range o.Suspected {
		if int64(len(suspected.Of)) != s.rows {
			return otherRows(r.File)
		}
		r.Suspected = append(r.Suspected, repeated(s, suspected, int64(o.Requirement.K)))
	}
	u := o.Unit
	if u == nil {
		return nil
	}
	s.person = u.Of
	if u.Of == nil {
		s.person = s.pseudonym
	}
	if int64(len(s.person)) != s.rows {
		return otherRows(r.File)
	}
	links := privacy.NewLinks(s.of, s.person, len(s.sizes))
	found := &Persons{Column: u.Column, FromFile: u.Of == nil, Persons: links.Persons(), Unassigned: links.Unassigned(), Linked: u.Linked}
	r.BelowK = BelowK{}
	total := int64(0)
	for c, records := range s.sizes {
		n := links.In(c)
		if c == 0 || n < found.ClassSize.Min {
			found.ClassSize.Min = n
		}
		found.ClassSize.Max = max(found.ClassSize.Max, n)
		total += n
		if n < int64(o.Requirement.K) {
			r.BelowK.Classes++
			r.BelowK.Records += records
		}
	}
	found.ClassSize.Mean = float64(total) / float64(len(s.sizes))
	var err error
	if found.Fit, err = links.Fit(ctx, o.Requirement.K); err != nil {
		return err
	}
	if u.sequences() {
		found.Sequences = s.sequences(int64(o.Requirement.K))
	}
	if u.Pseudonyms && u.Of != nil {
		found.Sequences.Wrong = mismatched(s.pseudonym, u.Of)
	}
	r.Unit = found
	return nil
}

// judgePersons judges what was found of persons.
func (r *Result) judgePersons() {
	u := r.Unit
	r.AchievedK = u.ClassSize.Min
	fail := func(format noren.Format, args ...any) { r.Failures = append(r.Failures, noren.Textf(format, args...)) }
	if r.BelowK.Classes > 0 {
		fail("%d of %d {class|classes} {1|holds|hold} records of fewer than k = %d persons (%d {record|records} in them; the smallest class "+
			"has %d)",
			r.BelowK.Classes, r.Classes, r.K, r.BelowK.Records, u.ClassSize.Min)
	}
	if u.Linked && u.Fit.Below > 0 {
		fail("fewer than k = %d persons fit all records of %d of %d {person|persons} (the least is %d)", r.K, u.Fit.Below, u.Persons, u.Fit.Min)
	}
	if q := u.Sequences; q != nil && q.Below > 0 {
		fail("the records of %d of %d {pseudonym|pseudonyms} {1|is|are} in classes in which those of fewer than k = %d pseudonyms are as "+
			"often (the least is %d)", q.Below, q.Pseudonyms, r.K, q.Min)
	}
	if q := u.Sequences; q != nil && q.Wrong > 0 {
		fail("%d {pseudonym is|pseudonyms are} of several persons or of none, or one person has several", q.Wrong)
	}
}

// sequences counts the pseudonyms by the classes that their records are in.
func (s *scanned) sequences(k int64) *Sequences {
	out := &Sequences{}
	pairs := make([]uint64, 0, len(s.of))
	for i, p := range s.pseudonym {
		if p == privacy.NoPerson {
			out.Without++
			continue
		}
		pairs = append(pairs, uint64(p)<<32|uint64(s.of[i]))
	}
	slices.Sort(pairs)
	shared := map[string]int64{}
	var key []byte
	for i := 0; i < len(pairs); {
		key = key[:0]
		for p := pairs[i] >> 32; i < len(pairs) && pairs[i]>>32 == p; i++ {
			key = binary.LittleEndian.AppendUint32(key, uint32(pairs[i]))
		}
		shared[string(key)]++
		out.Pseudonyms++
	}
	for _, n := range shared {
		if out.Min == 0 || n < out.Min {
			out.Min = n
		}
		if n < k {
			out.Below += n
		}
	}
	return out
}

// mismatched counts the pseudonyms that are of several persons, and the persons
// who have several.
func mismatched(pseudonym, person []uint32) int64 {
	of, has := map[uint32]uint32{}, map[uint32]uint32{}
	wrong := int64(0)
	for i, p := range pseudonym {
		if p == privacy.NoPerson {
			continue
		}
		q := person[i]
		if known, ok := of[p]; ok && known != q || q == privacy.NoPerson {
			wrong++
		}
		of[p] = q
		if known, ok := has[q]; ok && known != p {
			wrong++
		}
		has[q] = p
	}
	return wrong
}

// repeated counts the classes by a suspected column.
func repeated(s *scanned, suspected Suspected, k int64) Repeated {
	links := privacy.NewLinks(s.of, suspected.Of, len(s.sizes))
	out := Repeated{Column: suspected.Column, Persons: links.Persons()}
	records := map[uint32]int64{}
	for _, p := range suspected.Of {
		if p != privacy.NoPerson {
			records[p]++
			out.Most = max(out.Most, records[p])
		}
	}
	for c, n := range s.sizes {
		persons := links.In(c)
		if persons < k {
			out.BelowK.Classes++
			out.BelowK.Records += n
		}
		if persons == 1 {
			out.One++
		}
	}
	return out
}
