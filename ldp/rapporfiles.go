package ldp

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
)

// The files of the reference's server tools: params, map and counts. What is
// written here is what they write, byte for byte; what they write is read.

// paramsHeader is the first row of a params file.
const paramsHeader = "k,h,m,p,q,f"

// WriteParams writes a params file.
func WriteParams(w io.Writer, p Params) error {
	_, err := fmt.Fprintf(w, "%s\n%d,%d,%d,%s,%s,%s\n", paramsHeader, p.K, p.H, p.M, decimal(p.P), decimal(p.Q), decimal(p.F))
	return err
}

// decimal writes a number as Python does: with a point.
func decimal(v float64) string {
	s := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// ReadParams reads a params file, named name in errors. NewRappor tells whether
// the parameters can run.
func ReadParams(r io.Reader, name string) (Params, error) {
	c := csv.NewReader(meter.Bounded(r, maxSmall, noren.File(name)))
	c.FieldsPerRecord = 6
	rows, err := c.ReadAll()
	if err != nil {
		return Params{}, badFile(name, err)
	}
	bad := func(what noren.Text) (Params, error) {
		return Params{}, &noren.Error{
			Kind: noren.BadData, Where: noren.File(name), What: what.Format, Args: what.Args,
			Hint: "a params file is the row %s and one row of numbers", HintArgs: []any{paramsHeader},
		}
	}
	if len(rows) != 2 {
		return bad(noren.Textf("%d {row|rows} where 2 were expected", len(rows)))
	}
	for i, h := range strings.Split(paramsHeader, ",") {
		if strings.TrimSpace(rows[0][i]) != h {
			return bad(noren.Textf("the first row is not the header"))
		}
	}
	var p Params
	var whole [3]int64
	var reals [3]float64
	for i := range whole {
		var err1, err2 error
		whole[i], err1 = strconv.ParseInt(strings.TrimSpace(rows[1][i]), 10, 64)
		reals[i], err2 = strconv.ParseFloat(strings.TrimSpace(rows[1][3+i]), 64)
		if err1 != nil || err2 != nil || whole[i] < 0 || whole[i] > 1<<32 {
			return bad(noren.Textf("a parameter that is no number, or out of all range"))
		}
	}
	p.K, p.H, p.M = int(whole[0]), int(whole[1]), whole[2]
	p.P, p.Q, p.F = reals[0], reals[1], reals[2]
	return p, nil
}

// maxSmall bounds a params file, and maxFile the files of candidates, maps and counts,
// which are held in memory: a candidate takes wordWeight beside its text, and bitWeight for each
// bit of a map. A line of one takes up to lineSize, and fieldSize for each field.
const (
	maxSmall   = 1 << 20
	maxFile    = 64 << 20
	wordWeight = 64
	rowWeight  = 160
	bitWeight  = 4
	lineSize   = 1 << 20
	fieldSize  = 24
)

// rows reads rows of a file of candidates or counts, none of which is longer than its fields.
func rows(in io.Reader, fields int, name string) *csv.Reader {
	in = meter.Lines(meter.Bounded(in, maxFile, noren.File(name)), lineSize+int64(fields)*fieldSize, noren.File(name))
	c := csv.NewReader(in)
	c.FieldsPerRecord, c.ReuseRecord = fields, true
	return c
}

// badFile is a failure of the CSV reader, with the line and without the text.
func badFile(name string, err error) error {
	if meter.Refused(err) != nil {
		return err
	}
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return &noren.Error{
			Kind: noren.BadData, Where: noren.Position{File: name, Line: int64(parse.Line)}, What: "not a row as expected",
			Err: parse.Err,
		}
	}
	return &noren.Error{Kind: noren.Internal, Where: noren.File(name), What: "cannot be read", Err: err}
}

// Map holds the bits that each candidate word sets in each cohort.
type Map struct {
	r     *Rappor
	Words []string
	bits  [][]uint32 // words x (cohorts * hashes): cohort*k + bit
}

// NewMap hashes the candidates for all cohorts.
func (r *Rappor) NewMap(words []string) (*Map, error) {
	if err := r.checkCountable(); err != nil {
		return nil, err
	}
	m := &Map{r: r}
	held := meter.New(meter.Limits{}, 0)
	seen := make(map[string]bool, len(words))
	var buf []byte
	for i, w := range words {
		if err := held.Hold(rowWeight + bitWeight*r.M*int64(r.H)); err != nil {
			return nil, meter.At(err, noren.Textf("candidate %d", i+1))
		}
		if seen[w] {
			return nil, &noren.Error{
				Kind: noren.BadData, Where: noren.Textf("candidate %d", i+1), What: "is the same as an earlier one",
				Hint: "name each candidate once",
			}
		}
		seen[w] = true
		bits := make([]uint32, 0, int(r.M)*r.H)
		var hashed [16]uint32
		for c := range uint32(r.M) {
			buf = append(buf[:0], 0, 0, 0, 0)
			for _, b := range r.hashBits(&hashed, buf, []byte(w), c) {
				bits = append(bits, c*uint32(r.K)+b)
			}
		}
		m.Words, m.bits = append(m.Words, w), append(m.bits, bits)
	}
	return m, nil
}

// ReadCandidates reads one candidate a line, without the white space around it,
// as hash_candidates does. Empty lines are left out.
func ReadCandidates(r io.Reader, name string) ([]string, error) {
	var words []string
	held := meter.New(meter.Limits{}, 0)
	s := bufio.NewScanner(meter.Bounded(r, maxFile, noren.File(name)))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if w := bytes.TrimSpace(s.Bytes()); len(w) > 0 {
			if err := held.Hold(wordWeight + int64(len(w))); err != nil {
				return nil, meter.At(err, noren.File(name))
			}
			words = append(words, string(w))
		}
	}
	if err := s.Err(); meter.Refused(err) != nil {
		return nil, err
	} else if err != nil {
		return nil, &noren.Error{Kind: noren.BadData, Where: noren.File(name), What: "candidates cannot be read", Err: err}
	}
	return words, nil
}

// WriteMap writes a map file: a row for each candidate, its word and then
// cohort*k + bit + 1 for each cohort and each hash in order.
func WriteMap(w io.Writer, m *Map) error {
	b := bufio.NewWriter(w)
	for i, word := range m.Words {
		b.WriteString(quoted(word))
		for _, v := range m.bits[i] {
			b.WriteByte(',')
			b.WriteString(strconv.FormatUint(uint64(v)+1, 10))
		}
		b.WriteString("\r\n")
	}
	return b.Flush()
}

// quoted quotes a field as Python's csv module does: only where it must.
func quoted(s string) string {
	if !strings.ContainsAny(s, ",\"\r\n") {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// ReadMap reads a map file for r's parameters. Every number must lie in its
// cohort; the words need not hash to them, so maps of other clients can be read.
func (r *Rappor) ReadMap(in io.Reader, name string) (*Map, error) {
	if err := r.checkCountable(); err != nil {
		return nil, err
	}
	fields := 1 + int(r.M)*r.H
	c, held := rows(in, fields, name), meter.New(meter.Limits{}, 0)
	m := &Map{r: r}
	seen := make(map[string]bool)
	for {
		row, err := c.Read()
		if err == io.EOF {
			return m, nil
		}
		if err != nil {
			return nil, badFile(name, err)
		}
		bad := func(field int, what noren.Text) error {
			line, _ := c.FieldPos(field)
			return &noren.Error{
				Kind: noren.BadData, Where: noren.Position{File: name, Line: int64(line), Field: field + 1}, What: what.Format,
				Args: what.Args,
			}
		}
		word := strings.Clone(row[0])
		if seen[word] {
			return nil, bad(0, noren.Textf("a candidate that is there already"))
		}
		if err := held.Hold(rowWeight + bitWeight*int64(fields) + int64(len(word))); err != nil {
			return nil, meter.At(err, noren.File(name))
		}
		seen[word] = true
		bits := make([]uint32, len(row)-1)
		for i, s := range row[1:] {
			v, err := strconv.ParseUint(s, 10, 32)
			cohort := uint64(i / r.H)
			if err != nil || v <= cohort*uint64(r.K) || v > (cohort+1)*uint64(r.K) {
				return nil, bad(i+1, noren.Textf("not a bit of cohort %d with k = %d", cohort, r.K))
			}
			bits[i] = uint32(v - 1)
		}
		m.Words, m.bits = append(m.Words, word), append(m.bits, bits)
	}
}

// WriteCounts writes a counts file: a row for each cohort, its number of reports
// and then how many had each bit set, from bit 0.
func WriteCounts(w io.Writer, c *RapporCounts) error {
	b := bufio.NewWriter(w)
	var row []byte
	for i, n := range c.N {
		row = strconv.AppendInt(row[:0], n, 10)
		for _, v := range c.Cohort(i) {
			row = strconv.AppendInt(append(row, ','), v, 10)
		}
		b.Write(append(row, '\r', '\n'))
	}
	return b.Flush()
}

// ReadCounts reads a counts file for r's parameters.
func (r *Rappor) ReadCounts(in io.Reader, name string) (*RapporCounts, error) {
	if err := r.checkCountable(); err != nil {
		return nil, err
	}
	f := rows(in, r.K+1, name)
	c := newRapporCounts(r)
	for cohort := 0; ; cohort++ {
		row, err := f.Read()
		if err == io.EOF && cohort == len(c.N) {
			return c, nil
		}
		if err == io.EOF || err == nil && cohort >= len(c.N) {
			return nil, &noren.Error{
				Kind: noren.BadData, Where: noren.File(name), What: "there must be a row for each of the %d {cohort|cohorts}",
				Args: []any{len(c.N)}, Hint: "see whether the params file belongs to it",
			}
		}
		if err != nil {
			return nil, badFile(name, err)
		}
		for i, s := range row {
			v, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
			if err != nil || v < 0 || i > 0 && v > c.N[cohort] {
				line, _ := f.FieldPos(i)
				return nil, &noren.Error{
					Kind: noren.BadData, Where: noren.Position{File: name, Line: int64(line), Field: i + 1},
					What: "not a count between 0 and the cohort's number of reports",
				}
			}
			if i == 0 {
				c.N[cohort] = v
			} else {
				c.Bits[cohort*r.K+i-1] = v
			}
		}
	}
}

// Format writes a report as cohort,bits, the highest bit first.
func (r *Rappor) Format(rep RapporReport) string {
	return strconv.FormatUint(uint64(rep.Cohort), 10) + "," + r.FormatBits(rep.Bits)
}

// FormatBits writes bits as K characters, the highest first.
func (r *Rappor) FormatBits(bits uint32) string { return formatBits([]uint64{uint64(bits)}, r.K) }

// Parse reads what Format writes.
func (r *Rappor) Parse(word string) (RapporReport, error) {
	cohort, bits, ok := strings.Cut(word, ",")
	if !ok {
		return RapporReport{}, malformed("not a cohort and bits")
	}
	c, err := parseNumber(cohort)
	if err != nil {
		return RapporReport{}, err
	}
	if int64(c) >= r.M {
		return RapporReport{}, &noren.Error{Kind: noren.BadData, Where: "report", Err: errCohort}
	}
	b, err := parseBits(bits, r.K)
	if err != nil {
		return RapporReport{}, err
	}
	return RapporReport{Cohort: c, Bits: uint32(b[0])}, nil
}

// maxCounters bounds cohorts times bits where they are counted.
const maxCounters = 1 << 26

func (r *Rappor) checkCountable() error {
	if r.M*int64(r.K) > maxCounters {
		return &noren.Error{
			Kind: noren.Usage, Where: noren.Phrase("RAPPOR parameters"),
			What: "too many cohorts to be counted: k times m must not be above 2^26", Hint: "64 to 128 cohorts are usual",
		}
	}
	return nil
}

// isBlank reports whether a line holds nothing.
func isBlank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }
