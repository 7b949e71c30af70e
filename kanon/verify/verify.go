package verify

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/table"
)

// Options say what a file must keep.
type Options struct {
	// Quasi names the quasi-identifiers. Required, one at least.
	Quasi []string
	// Requirement is what every class must keep. Required: K of 1 at least.
	Requirement privacy.Requirement
	// Sensitive describes the columns whose diversity and closeness are
	// measured, and asked for where Requirement has either, which needs one at
	// least. The columns' types say which distance closeness is measured by.
	Sensitive []table.Field
	// Missing are the texts of the sensitive columns that stand for no value,
	// beside the empty one. Quasi-identifiers are compared as they are written:
	// a reader of the file can tell NA from an empty field.
	Missing []string
	// Unit, where it is not nil, says whose records belong together: K, diversity
	// and closeness then count persons.
	Unit *Unit
	// Suspected are columns that may tell persons apart, where no unit is given:
	// classes are counted by them and nothing is asked.
	Suspected []Suspected
	// Memory is about how many bytes the classes may take: beyond it the file is
	// read several times, a part of the classes each, and nothing is counted by
	// suspected columns. Without effect where sensitive columns are measured or
	// persons counted. Defaults to no bound.
	Memory int64
	// Progress receives progress. Optional.
	Progress noren.Progress
}

// ResultSchema names the JSON form of a [Result].
const ResultSchema = "noren.verify/1"

// Result is what was found in a file.
type Result struct {
	// Schema is noren.verify/1.
	Schema string `json:"schema"`
	// File is the file as named in the request, and the sheet or table in it.
	File noren.Place `json:"file"`
	// Met is true if every class has the required properties.
	Met bool `json:"met"`
	// Failures are the required properties that do not hold, in words; empty where Met is
	// true.
	Failures noren.Texts `json:"failures"`
	// Rows is the number of records.
	Rows int64 `json:"rows"`
	// Quasi are the quasi-identifiers.
	Quasi []string `json:"quasi_identifiers"`
	// K is the required k: records, or persons where they are counted.
	K int `json:"k"`
	// AchievedK is the size of the smallest class: records, or persons where they are
	// counted.
	AchievedK int64 `json:"achieved_k"`
	// Classes is the number of combinations of quasi-identifier values that occur.
	Classes int64 `json:"classes"`
	// ClassSize is the smallest, mean and largest number of records of a class.
	ClassSize ClassSize `json:"class_size"`
	// BelowK is the number of classes that are smaller than K, and of their records.
	BelowK BelowK `json:"below_k"`
	// Unit is the result for persons; absent where persons were not counted. It is private
	// where it does not follow from the file.
	Unit *Persons `json:"unit,omitempty"`
	// Suspected are the results for suspected columns by which persons were counted, one entry
	// per column.
	Suspected []Repeated `json:"suspected,omitempty"`
	// Sensitive are the results for the sensitive columns, one entry per column.
	Sensitive []Sensitive `json:"sensitive,omitempty"`
}

// ClassSize tells the sizes of the classes.
type ClassSize struct {
	// Min is the smallest size.
	Min int64 `json:"min"`
	// Mean is the average size.
	Mean float64 `json:"mean"`
	// Max is the largest size.
	Max int64 `json:"max"`
}

// BelowK counts what is in classes of fewer than K records, or persons.
type BelowK struct {
	// Classes is the number of classes of fewer than k records, or persons.
	Classes int64 `json:"classes"`
	// Records is the number of records in these classes.
	Records int64 `json:"records"`
}

// Err is nil when the file keeps what was asked for, and otherwise an error of
// kind NotMet that says what it does not.
func (r *Result) Err() error {
	if r.Met {
		return nil
	}
	return &noren.Error{Kind: noren.NotMet, Where: r.File, What: "%s", Args: []any{r.Failures}}
}

func (o *Options) validate(src table.Source) error {
	var faults noren.Texts
	if len(o.Quasi) == 0 {
		faults = append(faults, noren.Textf("no quasi-identifier is named"))
	}
	for i, name := range o.Quasi {
		if slices.Contains(o.Quasi[:i], name) {
			faults = append(faults, noren.Textf("%q is named twice", name))
		}
	}
	if err := o.Requirement.Validate(); err != nil {
		var e *noren.Error
		if errors.As(err, &e) {
			faults = append(faults, e.Said())
		} else {
			faults = append(faults, noren.TextOf(err))
		}
	}
	if (o.Requirement.Diversity != nil || o.Requirement.Closeness != nil) && len(o.Sensitive) == 0 {
		faults = append(faults, noren.Textf("diversity and closeness are about sensitive columns, and none is named"))
	}
	faults = append(faults, o.Unit.faults(o)...)
	if len(faults) > 0 {
		return &noren.Error{Kind: noren.Usage, Where: table.PlaceOf(src), What: "%s", Args: []any{faults}}
	}
	return nil
}

// Verify reads the file and judges it. Errors are of kind Usage (columns that
// the file does not have, a requirement that contradicts itself), BadData (the
// file cannot be read, or has no records), or the context's. A file that does
// not keep the requirement is no error here: see [Result.Err]. The stage it
// reports is "verifying".
func Verify(ctx context.Context, src table.Source, o Options) (*Result, error) {
	if err := o.validate(src); err != nil {
		return nil, err
	}
	r := &Result{Schema: ResultSchema, File: table.PlaceOf(src), Quasi: o.Quasi, K: o.Requirement.K, Failures: noren.Texts{}}
	seed := maphash.MakeSeed()
	var s *scanned
	for part, parts := 0, 1; part < parts; part++ {
		var err error
		s, err = scan(ctx, src, &o, seed, uint64(part), uint64(parts), o.Progress)
		switch {
		case errors.Is(err, errFull):
			// Again from the start, in smaller parts.
			o.Suspected = nil
			part, parts = -1, 2*parts
			r.reset()
			continue
		case err != nil:
			return nil, err
		case s.rows == 0:
			return nil, &noren.Error{Kind: noren.BadData, Where: table.PlaceOf(src), What: "the file has no records: there is nothing to verify"}
		}
		r.Rows = s.rows
		r.count(s.sizes)
	}
	if o.Unit != nil || len(o.Suspected) > 0 {
		if err := r.persons(ctx, s, &o); err != nil {
			return nil, err
		}
	}
	r.judge()
	if len(s.sensitive) > 0 {
		list, start := s.byClass()
		for _, column := range s.sensitive {
			found, err := column.judge(ctx, list, start, o.Requirement, s.person)
			if err != nil {
				return nil, err
			}
			r.Sensitive = append(r.Sensitive, found)
			r.Failures = append(r.Failures, found.failures(o.Requirement, r.Classes)...)
		}
	}
	r.Met = len(r.Failures) == 0
	return r, nil
}

// reset forgets what was counted.
func (r *Result) reset() { r.Classes, r.ClassSize, r.BelowK = 0, ClassSize{}, BelowK{} }

// count takes over the sizes of some classes.
func (r *Result) count(sizes []int64) {
	for _, n := range sizes {
		if r.Classes == 0 || n < r.ClassSize.Min {
			r.ClassSize.Min = n
		}
		r.ClassSize.Max = max(r.ClassSize.Max, n)
		r.Classes++
		if n < int64(r.K) {
			r.BelowK.Classes++
			r.BelowK.Records += n
		}
	}
}

// judge judges the sizes of all classes.
func (r *Result) judge() {
	r.ClassSize.Mean = float64(r.Rows) / float64(r.Classes)
	if r.Unit != nil {
		r.judgePersons()
		return
	}
	r.AchievedK = r.ClassSize.Min
	if r.BelowK.Classes > 0 {
		r.Failures = append(r.Failures,
			noren.Textf("%d of %d {class|classes} {1|has|have} fewer than k = %d records (%d {record|records} in them, the smallest class has %d)",
				r.BelowK.Classes, r.Classes, r.K, r.BelowK.Records, r.AchievedK))
	}
}

// errFull says that the classes take more memory than they may.
var errFull = errors.New("verify: more classes than fit")

// scanned is what one pass over the file leaves.
type scanned struct {
	rows      int64
	sizes     []int64  // the number of records of each class
	of        []uint32 // the class of each record; only where it is asked for
	sensitive []*sensitive
	person    []uint32 // of each record, nil where persons are not counted
	pseudonym []uint32 // of each record, as the file shows it
}

// scan reads the file once and counts the records of one part: those whose texts have a
// hash of that remainder. With one part, all records are counted.
//
// Two goroutines share the work: this one reads and numbers the texts of each column, the
// other counts the records by these numbers.
func scan(ctx context.Context, src table.Source, o *Options, seed maphash.Seed, part, parts uint64, progress noren.Progress) (_ *scanned,
	err error,
) {
	tokens := map[string]bool{}
	for _, m := range o.Missing {
		tokens[m] = true
	}
	names := slices.Clone(o.Quasi)
	for i := range o.Sensitive {
		names = append(names, o.Sensitive[i].Name)
	}
	unit := o.Unit.reads()
	if unit {
		names = append(names, o.Unit.Column)
	}
	positions, err := table.Find(src, names)
	if err != nil {
		return nil, err
	}
	stored := src.Columns()
	s := &scanned{}
	var shown *labels
	if unit {
		shown = newLabels(&stored[positions[len(positions)-1]], tokens)
	}
	quasi := make([]quasiColumn, len(o.Quasi))
	for j := range quasi {
		quasi[j] = quasiColumn{texts: texts{stored: &stored[positions[j]]}, dictionary: newDictionary(seed)}
	}
	for j, position := range positions[len(quasi) : len(quasi)+len(o.Sensitive)] {
		column, err := newSensitive(o.Sensitive[j], &stored[position], tokens)
		if err != nil {
			return nil, err
		}
		s.sensitive = append(s.sensitive, column)
	}
	in, err := src.Open(ctx, positions)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := in.Close(); err == nil && e != nil {
			err = e
		}
	}()
	count := startCounting(seed, len(quasi), o.keeps())
	defer func() {
		s.sizes, s.of = count.finish()
	}()
	var hashes []uint64
	var told time.Time
	for {
		c, err := in.Next()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return nil, err
		}
		if s.rows+int64(c.Rows) > math.MaxUint32 {
			return nil, &noren.Error{Kind: noren.BadData, Where: table.PlaceOf(src), What: "more than 4,294,967,295 records"}
		}
		for from := 0; from < c.Rows; from += batchRows {
			n := min(batchRows, c.Rows-from)
			numbers := count.buffer(n)
			if parts == 1 {
				for j := range quasi {
					quasi[j].number(&c.Cols[j], from, numbers[j:], len(quasi), n)
				}
			} else {
				hashes = append(hashes[:0], make([]uint64, n)...)
				for j := range quasi {
					quasi[j].hash(&c.Cols[j], from, hashes)
				}
				kept := 0
				for i, h := range hashes {
					if (h>>32)%parts != part {
						continue
					}
					for j := range quasi {
						quasi[j].number(&c.Cols[j], from+i, numbers[kept*len(quasi)+j:], len(quasi), 1)
					}
					kept++
				}
				numbers = numbers[:kept*len(quasi)]
			}
			count.send(numbers)
		}
		for i := 0; o.keeps() && i < c.Rows; i++ {
			if unit {
				s.pseudonym = append(s.pseudonym, shown.number(&c.Cols[len(c.Cols)-1], i))
			}
			for j, column := range s.sensitive {
				if err := column.add(&c.Cols[len(quasi)+j], i); err != nil {
					what := noren.TextOf(err)
					return nil, &noren.Error{
						Kind: noren.BadData, Where: in.Position(i, len(quasi)+j), What: what.Format, Args: what.Args,
						Hint: "correct the file, say which texts stand for missing values, or give the column another type than %s", HintArgs: []any{
							column.field.Type,
						},
					}
				}
			}
		}
		if o.Memory > 0 && len(s.sensitive) == 0 && o.Unit == nil {
			held, classes := count.bytes()
			for j := range quasi {
				held += quasi[j].dictionary.bytes()
			}
			if classes > fewClasses && held > o.Memory {
				return nil, errFull
			}
		}
		s.rows += int64(c.Rows)
		if now := time.Now(); progress != nil && now.Sub(told) >= 100*time.Millisecond {
			told = now
			progress.Report("verifying", int64(1000*in.Progress()), 1000)
		}
	}
}

// quasiColumn numbers the texts of a quasi-identifier.
type quasiColumn struct {
	texts
	dictionary *dictionary
}

// number writes the numbers of n values from one on to every stride-th place of out.
func (q *quasiColumn) number(v *table.Vector, from int, out []uint32, stride, n int) {
	d := q.dictionary
	if v.Kind == table.Text && v.Null == nil && q.stored.AppendText == nil && len(d.short) <= nearWords {
		for i, text := range v.Texts[from : from+n] {
			if len(text) > 15 {
				out[i*stride] = d.number(text, false)
				continue
			}
			a, b := pack(text)
			out[i*stride] = d.numberShort(a, b, d.hashWord(a, b)&^longHash)
		}
		return
	}
	var key [ahead]word
	var hashes [ahead]uint64
	for at := 0; at < n; at += ahead {
		// The places of all are fetched before the first is looked at.
		m := min(ahead, n-at)
		mask := uint64(len(d.short) - 1)
		for i := range m {
			text, null := q.show(v, from+at+i), v.IsNull(from+at+i)
			key[i] = word{}
			if null || len(text) > 15 {
				key[i].number = d.number(text, null)
				hashes[i] = longHash
				continue
			}
			a, b := pack(text)
			h := d.hashWord(a, b) &^ longHash
			key[i].a, key[i].b, hashes[i] = a, b, h
			d.seen += d.short[h&mask].number
		}
		for i, h := range hashes[:m] {
			if h == longHash {
				out[(at+i)*stride] = key[i].number
			} else {
				out[(at+i)*stride] = d.numberShort(key[i].a, key[i].b, h)
			}
		}
	}
}

// nearWords is the largest number of places of short texts that are looked up one by one:
// the processor holds so many near.
const nearWords = 1 << 11

// longHash marks a value that has its number already; no hash of a short text has the
// bit.
const longHash = 1 << 63

// hash mixes the hashes of values from one on into hashes.
func (q *quasiColumn) hash(v *table.Vector, from int, hashes []uint64) {
	for i := range hashes {
		h := q.dictionary.hash(q.show(v, from+i), v.IsNull(from+i))
		hashes[i] = bits.RotateLeft64(hashes[i], 23)*0x9e3779b97f4a7c15 ^ h
	}
}

// keeps reports whether the class of each record is kept.
func (o *Options) keeps() bool {
	return len(o.Sensitive) > 0 || o.Unit != nil || len(o.Suspected) > 0
}

// byClass lists the records class by class.
func (s *scanned) byClass() (list, start []uint32) {
	list = make([]uint32, len(s.of))
	start = make([]uint32, len(s.sizes)+1)
	for c, n := range s.sizes {
		start[c+1] = start[c] + uint32(n)
	}
	at := slices.Clone(start)
	for i, c := range s.of {
		list[at[c]] = uint32(i)
		at[c]++
	}
	return list, start
}

// otherRows says that persons were given of another number of records.
func otherRows(where noren.Place) error {
	return &noren.Error{Where: where, What: "persons are given of another number of records than the file has"}
}
