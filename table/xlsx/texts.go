package xlsx

import (
	"io"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/tempfile"
)

// block is how many ends of texts are allocated at once.
const block = 1 << 14

// inMemory is how many bytes of shared texts are kept in memory; those behind
// are kept in a private temporary file.
const inMemory = 64 << 20

// texts are the shared texts of a workbook.
type texts struct {
	name  string
	meter *meter.Meter
	head  []byte
	ends  [][]int64 // of each text, in head and then in the file; by blocks
	n     int       // of texts
	last  int64     // end of the last one
	most  int       // bytes of head
	file  *tempfile.File
	queue []byte // to be written to the file
	buf   []byte
}

// readTexts reads the shared texts.
func (b *book) readTexts(part string) (*texts, error) {
	s, done, err := b.open(part)
	if err != nil {
		return nil, err
	}
	defer func() { _ = done.Close() }()
	t := &texts{name: b.name, meter: b.meter, most: int(min(inMemory, b.meter.Held()/4))}
	var word []byte
	for {
		k, err := s.next()
		if err == io.EOF {
			return t, t.flush()
		}
		if err == nil && k == start && string(s.name) == "si" {
			if word, err = richText(s, "si", word[:0]); err == nil {
				err = t.add(word)
			}
		}
		if err != nil {
			t.close()
			return nil, b.failure(part, err)
		}
	}
}

// richText appends the text of an element whose start was read: that of all its
// t elements but those of phonetic readings.
func richText(s *scanner, name string, dst []byte) ([]byte, error) {
	phonetic, inside := 0, false
	from := len(dst)
	for {
		k, err := s.next()
		if err == io.EOF {
			err = errShort
		}
		if err != nil {
			return dst, err
		}
		switch k {
		case start:
			switch string(s.name) {
			case "rPh":
				phonetic++
			case "t":
				inside = true
			}
		case text:
			if inside && phonetic == 0 {
				if len(dst)-from+len(s.text) > longest {
					return dst, errLong
				}
				dst = append(dst, s.text...)
			}
		case end:
			switch string(s.name) {
			case "rPh":
				phonetic--
			case "t":
				inside = false
			case name:
				return unescapeControls(dst, from), nil
			}
		}
	}
}

func (t *texts) add(word []byte) error {
	if t.n%block == 0 {
		if err := t.meter.Hold(8 * block); err != nil {
			return err
		}
		t.ends = append(t.ends, make([]int64, 0, block))
	}
	t.last += int64(len(word))
	t.ends[t.n/block] = append(t.ends[t.n/block], t.last)
	t.n++
	if t.file == nil && len(t.head)+len(word) <= t.most {
		if need := len(t.head) + len(word); need > cap(t.head) {
			size := min(max(2*cap(t.head), need, 64<<10), t.most)
			if err := t.meter.Hold(int64(size)); err != nil {
				return err
			}
			t.meter.Release(int64(cap(t.head)))
			t.head = append(make([]byte, 0, size), t.head...)
		}
		t.head = append(t.head, word...)
		return nil
	}
	if t.file == nil {
		var err error
		if t.file, err = tempfile.Create(""); err != nil {
			return err
		}
	}
	t.queue = append(t.queue, word...)
	if len(t.queue) >= 1<<20 {
		return t.flush()
	}
	return nil
}

func (t *texts) flush() error {
	if len(t.queue) == 0 {
		return nil
	}
	if _, err := t.file.Write(t.queue); err != nil {
		return &noren.Error{
			Where: noren.File(t.name), What: "its texts cannot be kept in a temporary file",
			Hint: "set TMPDIR to a folder with free space", Err: atomicfile.Reason(err),
		}
	}
	t.queue = t.queue[:0]
	return nil
}

// at is text i, good until the next call.
func (t *texts) at(i int) ([]byte, bool, error) {
	if t == nil || i < 0 || i >= t.n {
		return nil, false, nil
	}
	from, to := int64(0), t.ends[i/block][i%block]
	if i > 0 {
		from = t.ends[(i-1)/block][(i-1)%block]
	}
	head := int64(len(t.head))
	if to <= head {
		return t.head[from:to], true, nil
	}
	n := int(to - from)
	if cap(t.buf) < n {
		t.buf = make([]byte, n)
	}
	b := t.buf[:n]
	if _, err := t.file.ReadAt(b, from-head); err != nil {
		return nil, false, &noren.Error{Where: noren.File(t.name), What: "the temporary file cannot be read back", Err: atomicfile.Reason(err)}
	}
	return b, true, nil
}

func (t *texts) close() {
	if t != nil && t.file != nil {
		_ = t.file.Close()
		t.file = nil
	}
}
