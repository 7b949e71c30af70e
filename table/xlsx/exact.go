package xlsx

import (
	"bytes"
	"math"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table/spool"
)

// exactValue puts a cell into w as a text that tells its type and what it stores: see
// [Options.Exact]. Of an invalid cell it says why.
func exactValue(w *spool.Writer, t byte, st style, value []byte) noren.Format {
	kind := t
	switch t {
	case 'n':
		v, err := strconv.ParseFloat(string(value), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return "expected a number, got another text in a cell of numbers"
		}
		kind = "ndit"[st.sense]
		value = storedNumber(value, v)
	case 'b':
		switch string(value) {
		case "1", "true":
			value = []byte("1")
		case "0", "false":
			value = []byte("0")
		default:
			return "expected TRUE or FALSE, got another text in a cell of these"
		}
	case 'd':
		kind = 'D'
	case 'e':
	default:
		kind = 's'
	}
	if !w.Bytes(spool.Text, append([]byte{kind, ' '}, value...)) {
		return "its text is not valid UTF-8"
	}
	return ""
}

// storedNumber is the number that a cell stores as the text value, which reads as v. Readers
// take whole numbers by all of their digits, and others as floating point of 64 bits.
func storedNumber(value []byte, v float64) []byte {
	digits, minus := bytes.CutPrefix(value, []byte("-"))
	if !minus {
		digits = bytes.TrimPrefix(digits, []byte("+"))
	}
	if len(digits) == 0 || len(bytes.Trim(digits, "0123456789")) > 0 {
		out := strconv.AppendFloat(nil, v, 'f', -1, 64)
		if bytes.Equal(out, []byte("-0")) {
			return out[1:]
		}
		return out
	}
	digits = bytes.TrimLeft(digits, "0")
	switch {
	case len(digits) == 0:
		return []byte("0")
	case minus:
		return append([]byte("-"), digits...)
	}
	return digits
}
