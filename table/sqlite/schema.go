package sqlite

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/meter"
)

// SQLite parses the whole description of the tables before it answers any query, and
// nothing bounds what it holds for it. A byte takes up to schemaWeight bytes in memory (a
// list of short expressions in a view), the words of its text included, and an entry at least entryWeight. Entries may share
// their pages, so a small file can state a large description: each counts.
const (
	schemaWeight = 100
	entryWeight  = 1024
)

// maxStatement bounds one statement, in bytes.
const maxStatement = 2 << 20

// described draws on m what the description of the tables of a database takes. With a
// write-ahead log each version of a page counts, whether it is valid or not.
func described(f *os.File, name string, m *meter.Meter) error {
	log, err := os.Open(f.Name() + "-wal")
	switch {
	case os.IsNotExist(err):
		log = nil
	case err != nil:
		return &noren.Error{Where: noren.File(name), What: "its write-ahead log cannot be opened", Err: atomicfile.Reason(err)}
	default:
		defer func() { _ = log.Close() }()
	}
	d := description{file: f, log: log, meter: m, seen: map[place]bool{}, versions: map[uint32][]int64{}}
	if err := d.read(); err != nil {
		if excess := meter.At(err, noren.Place{noren.File(name), noren.Phrase("the description of its tables")}); excess != nil {
			return excess
		}
		if errors.Is(err, errForeign) {
			return &noren.Error{Kind: noren.BadData, Where: noren.File(name), What: whatForeign}
		}
		return &noren.Error{Where: noren.File(name), What: "cannot be read", Err: atomicfile.Reason(err)}
	}
	return nil
}

// place is a version of a page.
type place struct {
	log    bool
	offset int64
	first  bool // the first page, which begins with the head of the file
}

type description struct {
	file, log *os.File
	meter     *meter.Meter
	pageSize  int64
	seen      map[place]bool
	versions  map[uint32][]int64 // by page, where the log has it
	next      []place
	page      []byte
}

const (
	logHead   = 32
	frameHead = 24
)

// errors are those of reading, or a [meter.Excess]. A file that is damaged has fewer pages:
// SQLite says what is wrong with it.
func (d *description) read() error {
	var head [100]byte
	if _, err := d.file.ReadAt(head[:], 0); err != nil {
		return ended(err)
	}
	d.pageSize = int64(binary.BigEndian.Uint16(head[16:]))
	if d.pageSize == 1 {
		d.pageSize = 1 << 16
	}
	if d.pageSize < 512 || d.pageSize&(d.pageSize-1) != 0 {
		return nil
	}
	if err := d.index(); err != nil {
		return err
	}
	d.page = make([]byte, d.pageSize)
	if err := d.add(1); err != nil {
		return err
	}
	for len(d.next) > 0 {
		p := d.next[len(d.next)-1]
		d.next = d.next[:len(d.next)-1]
		if err := d.visit(p); err != nil {
			return err
		}
	}
	return nil
}

func ended(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

// placeWeight is what a place of a page takes in memory.
const placeWeight = 64

// whatForeign is what is wrong where the log beside a database is of another one.
const whatForeign = "its write-ahead log is of another file"

var errForeign = errors.New(whatForeign)

// index finds the pages of the log.
func (d *description) index() error {
	if d.log == nil {
		return nil
	}
	var head [logHead]byte
	if _, err := d.log.ReadAt(head[:], 0); err != nil {
		return ended(err)
	}
	if int64(binary.BigEndian.Uint32(head[8:])) != d.pageSize {
		return errForeign
	}
	var frame [frameHead]byte
	for at := int64(logHead); ; at += frameHead + d.pageSize {
		if _, err := d.log.ReadAt(frame[:], at); err != nil {
			return ended(err)
		}
		if err := d.meter.Hold(placeWeight); err != nil {
			return err
		}
		n := binary.BigEndian.Uint32(frame[:])
		d.versions[n] = append(d.versions[n], at+frameHead)
	}
}

// add lists all versions of a page to be visited.
func (d *description) add(n uint32) error {
	if n == 0 {
		return nil
	}
	places := []place{{offset: (int64(n) - 1) * d.pageSize, first: n == 1}}
	for _, at := range d.versions[n] {
		places = append(places, place{true, at, n == 1})
	}
	for _, p := range places {
		if d.seen[p] {
			continue
		}
		if err := d.meter.Hold(placeWeight); err != nil {
			return err
		}
		d.seen[p] = true
		d.next = append(d.next, p)
	}
	return nil
}

const (
	interior = 5
	leaf     = 13
)

// visit counts the entries of a page, or lists the pages below it.
func (d *description) visit(p place) error {
	f := d.file
	if p.log {
		f = d.log
	}
	n, err := f.ReadAt(d.page, p.offset)
	if err = ended(err); err != nil {
		return err
	}
	page := d.page[:n]
	head := page
	if p.first {
		head = page[min(100, len(page)):]
	}
	return d.cells(page, head)
}

func (d *description) cells(page, head []byte) error {
	if len(head) < 12 || head[0] != interior && head[0] != leaf {
		return nil
	}
	count := int(binary.BigEndian.Uint16(head[3:]))
	pointers := head[8:]
	if head[0] == interior {
		pointers = head[12:]
		if err := d.add(binary.BigEndian.Uint32(head[8:])); err != nil {
			return err
		}
	}
	for i := range min(count, len(pointers)/2) {
		at := int(binary.BigEndian.Uint16(pointers[2*i:])) & (int(d.pageSize) - 1)
		if at+4 > len(page) {
			continue
		}
		cell := page[at:]
		if head[0] == interior {
			if err := d.add(binary.BigEndian.Uint32(cell)); err != nil {
				return err
			}
			continue
		}
		size := int64(payload(cell))
		if size > math.MaxInt64/schemaWeight-entryWeight {
			size = math.MaxInt64/schemaWeight - entryWeight
		}
		if err := d.meter.Hold(entryWeight + schemaWeight*size); err != nil {
			return err
		}
	}
	return nil
}

// payload reads the size of a cell, of up to nine bytes, within 32 bits as SQLite does.
func payload(cell []byte) uint32 {
	n := uint32(0)
	for i, b := range cell[:min(9, len(cell))] {
		if i == 8 {
			return n<<8 | uint32(b)
		}
		n = n<<7 | uint32(b&0x7f)
		if b < 0x80 {
			break
		}
	}
	return n
}
