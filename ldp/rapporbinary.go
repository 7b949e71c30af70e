package ldp

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/noren-privacy/noren"
)

// ReportSize is the length of a report in binary form: its cohort and its bits, 4 bytes
// each, lowest byte first.
const ReportSize = 8

// AddBinary counts reports in binary form; bad ones are counted as rejected. A failure to
// read is an error, and so is a last report that is cut off, of kind BadData.
func (c *RapporCollector) AddBinary(ctx context.Context, in io.Reader) error {
	var buf [ReportSize << 13]byte
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(in, buf[:])
		for at := 0; at+ReportSize <= n; at += ReportSize {
			_ = c.Add(RapporReport{Cohort: binary.LittleEndian.Uint32(buf[at:]), Bits: binary.LittleEndian.Uint32(buf[at+4:])}) // counted there
		}
		switch {
		case err == nil:
		case err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF):
			return &noren.Error{Where: noren.Phrase("reports"), What: "cannot be read", Err: err}
		case n%ReportSize != 0:
			return &noren.Error{
				Kind: noren.BadData, Where: noren.Phrase("reports"),
				What: "expected reports of 8 bytes, and the last one is cut off", Hint: "are these binary reports?",
			}
		default:
			return nil
		}
	}
}

// countsFormat begins the binary form of counts; its last character is the version.
const countsFormat = "NRC1"

// mostCounted bounds each count, so that counts of parts add up without overflow.
const mostCounted = 1 << 53

// AppendBinary appends the binary form of c: the format, the parameters, the numbers of
// excluded reports, and the counts of each cohort as varints. [Rappor.DecodeCounts] reads it.
func (c *RapporCounts) AppendBinary(dst []byte) []byte {
	dst = append(dst, countsFormat...)
	dst = appendParams(dst, c.r.Params)
	for _, n := range []int64{c.Rejected.Malformed, c.Rejected.WrongLength, c.Rejected.BadCohort, c.Rejected.Duplicate} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	for i, n := range c.N {
		dst = binary.AppendUvarint(dst, uint64(n))
		for _, v := range c.Cohort(i) {
			dst = binary.AppendUvarint(dst, uint64(v))
		}
	}
	return dst
}

func appendParams(dst []byte, p Params) []byte {
	dst = append(dst, byte(p.K), byte(p.H))
	dst = binary.AppendUvarint(dst, uint64(p.M))
	for _, v := range []float64{p.P, p.Q, p.F} {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
	}
	return dst
}

// DecodeCounts reads what [RapporCounts.AppendBinary] writes, of reports by the parameters
// of r. Errors are of kind BadData.
func (r *Rappor) DecodeCounts(text []byte) (*RapporCounts, error) {
	if err := r.checkCountable(); err != nil {
		return nil, err
	}
	bad := func(what noren.Format, args ...any) (*RapporCounts, error) {
		return nil, &noren.Error{Kind: noren.BadData, Where: "counts", What: what, Args: args}
	}
	head := appendParams([]byte(countsFormat), r.Params)
	switch {
	case len(text) < len(head) || string(text[:len(countsFormat)]) != countsFormat:
		return bad("expected counts in the binary form %s", countsFormat)
	case string(text[:len(head)]) != string(head):
		return bad("they are of reports by other parameters")
	}
	text = text[len(head):]
	// A count takes a byte or more: no more memory is used than there are bytes.
	if int64(len(text)) < 4+r.M*int64(1+r.K) {
		return bad("they are cut off")
	}
	sound := true
	next := func(most int64) int64 {
		v, n := binary.Uvarint(text)
		if n <= 0 || v > uint64(most) {
			sound = false
			return 0
		}
		text = text[n:]
		return int64(v)
	}
	c := newRapporCounts(r)
	for _, n := range []*int64{&c.Rejected.Malformed, &c.Rejected.WrongLength, &c.Rejected.BadCohort, &c.Rejected.Duplicate} {
		*n = next(mostCounted)
	}
	for i := range c.N {
		c.N[i] = next(mostCounted)
		for b, row := 0, c.Cohort(i); b < len(row); b++ {
			row[b] = next(c.N[i])
		}
	}
	if !sound || len(text) > 0 {
		return bad("a count is cut off, too large, or above the number of reports of its cohort")
	}
	return c, nil
}

// Merge adds the counts d of other reports. Counts of other parameters and sums above 2^53
// are refused, and c is then as before.
func (c *RapporCounts) Merge(d *RapporCounts) error {
	if c.r.Params != d.r.Params {
		return &noren.Error{Kind: noren.Usage, What: "reports of different RAPPOR parameters do not add up"}
	}
	for i, n := range d.N {
		if n > mostCounted-c.N[i] { // no bit has more than its cohort
			return &noren.Error{Kind: noren.BadData, Where: "counts", What: "a cohort has more than 2^53 reports"}
		}
	}
	for i, n := range d.N {
		c.N[i] += n
	}
	for i, n := range d.Bits {
		c.Bits[i] += n
	}
	c.Rejected.add(d.Rejected)
	return nil
}
