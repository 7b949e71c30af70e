package xlsx

import (
	"archive/zip"
	"errors"
	"io"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/meter"
)

// book is a workbook under way.
type book struct {
	name   string
	parts  map[string]*zip.File
	meter  *meter.Meter
	file   *failing
	sheets []sheetEntry
	dates  bool // counted from 1904
	styles []style
	shared *texts
}

type sheetEntry struct {
	name, part string
	hidden     bool
}

// style is what a cell's format is.
type style struct {
	sense sense
	code  string // "" for general
}

// failing keeps the file's own failure apart from those of what is built on it.
type failing struct {
	in   io.ReaderAt
	err  error
	left int64 // bytes of the directory that may still be read, while it is read
	open bool  // the directory was read
}

func (f *failing) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.in.ReadAt(p, at)
	f.left -= int64(n)
	if !f.open && f.left < 0 {
		return 0, errDirectory
	}
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

// bad is an error about the content of the workbook.
func (b *book) bad(what, hint noren.Text) error {
	return &noren.Error{
		Kind: noren.BadData, Where: noren.File(b.name), What: what.Format, Args: what.Args, Hint: hint.Format,
		HintArgs: hint.Args,
	}
}

var errDirectory = errors.New("the directory is too long")

// The bytes that pieces of a workbook take in memory, beside their texts.
const (
	directoryWeight = 32 // for each byte of the directory of parts
	pieceWeight     = 256
	styleWeight     = 64
)

// failure makes an error of what ended the reading of a part.
func (b *book) failure(part string, err error) error {
	var own *noren.Error
	const again noren.Format = "copy the file again, or save it again in a spreadsheet program"
	switch {
	case errors.As(err, &own):
		return err
	case b.file.err != nil:
		return &noren.Error{Where: noren.File(b.name), What: "cannot be read", Err: atomicfile.Reason(b.file.err)}
	case meter.At(err, noren.File(b.name)) != nil:
		return meter.At(err, noren.Place{noren.File(b.name), noren.Textf("part %s", part)})
	case errors.Is(err, errLong), errors.Is(err, errDeep):
		return &noren.Error{
			Kind: noren.BadData, Code: meter.Code, Where: noren.Place{noren.File(b.name), noren.Textf("part %s", part)},
			What: noren.TextOf(err).Format, Args: noren.TextOf(err).Args, Hint: again,
		}
	case errors.Is(err, zip.ErrAlgorithm):
		return b.bad(noren.Textf("is packed in a way that workbooks are not"), noren.Textf(again))
	case errors.Is(err, errXML), errors.Is(err, errShort), errors.Is(err, errEntry), errors.Is(err, errUTF):
		return b.bad(noren.Textf("its part %s cannot be read: %s", part, err), noren.Textf(again))
	}
	return b.bad(noren.Textf("its part %s is damaged", part), noren.Textf(again))
}

// openBook reads all of a workbook but its sheets.
func openBook(name string, in io.ReaderAt, size int64, limits meter.Limits) (*book, error) {
	m := meter.New(limits, size)
	// The end of the file is looked through for where the directory is.
	const tail = 128 << 10
	b := &book{name: name, meter: m, file: &failing{in: in, left: m.Held()/directoryWeight + tail}, parts: map[string]*zip.File{}}
	z, err := zip.NewReader(b.file, size)
	if err != nil {
		if errors.Is(err, errDirectory) {
			return nil, meter.At(&meter.Excess{Limit: m.Held()}, noren.Place{noren.File(name), noren.Phrase("its directory of parts")})
		}
		if b.file.err != nil {
			return nil, b.failure("", err)
		}
		return nil, b.bad(noren.Textf("is no workbook, or was cut short"), noren.Textf("copy the file again, or save it again as .xlsx"))
	}
	b.file.open = true
	if err := m.Hold(int64(len(z.File)) * 2 * pieceWeight); err != nil {
		return nil, meter.At(err, noren.Place{noren.File(name), noren.Phrase("its directory of parts")})
	}
	for _, f := range z.File {
		b.parts[strings.ToLower(strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(f.Name, "\\", "/")), "/"))] = f
	}
	main := "xl/workbook.xml"
	links, err := b.links("")
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		if strings.HasSuffix(l.kind, "/officeDocument") {
			main = l.target
		}
	}
	if strings.HasSuffix(main, ".bin") {
		return nil, b.bad(noren.Textf("is a binary workbook (.xlsb), expected .xlsx"), noren.Textf("save it as .xlsx"))
	}
	if _, ok := b.parts[strings.ToLower(main)]; !ok {
		return nil, b.bad(noren.Textf("is no workbook: it has no part %s", main), noren.Textf("save the table as .xlsx"))
	}
	if links, err = b.links(main); err != nil {
		return nil, err
	}
	return b, b.describe(main, links)
}

// describe reads the list of sheets, the styles and the shared texts.
func (b *book) describe(main string, links map[string]link) error {
	err := b.each(main, func(s *scanner) error {
		switch string(s.name) {
		case "workbookPr":
			v, _ := s.attr("date1904")
			b.dates = v == "1" || v == "true"
		case "sheet":
			name, _ := s.attr("name")
			id, _ := s.attr("id")
			if l, ok := links[id]; ok && strings.HasSuffix(l.kind, "/worksheet") {
				if err := b.meter.Hold(int64(len(name)) + pieceWeight); err != nil {
					return err
				}
				state, _ := s.attr("state")
				b.sheets = append(b.sheets, sheetEntry{name, l.target, state == "hidden" || state == "veryHidden"})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(b.sheets) == 0 {
		return b.bad(noren.Textf("has no worksheet"), noren.Text{})
	}
	for _, l := range links {
		switch {
		case strings.HasSuffix(l.kind, "/styles"):
			err = b.readStyles(l.target)
		case strings.HasSuffix(l.kind, "/sharedStrings"):
			b.shared, err = b.readTexts(l.target)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type link struct{ kind, target string }

// links are the relationships of a part by their id; none where the part has
// no such file.
func (b *book) links(part string) (map[string]link, error) {
	dir, file := path.Split(part)
	out := map[string]link{}
	rels := dir + "_rels/" + file + ".rels"
	if _, ok := b.parts[strings.ToLower(rels)]; !ok {
		return out, nil
	}
	return out, b.each(rels, func(s *scanner) error {
		if string(s.name) != "Relationship" {
			return nil
		}
		id, _ := s.attr("Id")
		kind, _ := s.attr("Type")
		target, _ := s.attr("Target")
		if err := b.meter.Hold(2*int64(len(id)+len(kind)+len(target)) + pieceWeight); err != nil {
			return err
		}
		if !strings.HasPrefix(target, "/") {
			target = "/" + dir + target
		}
		out[id] = link{kind, strings.TrimPrefix(path.Clean(target), "/")}
		return nil
	})
}

// limited counts what is unpacked.
type limited struct {
	in io.Reader
	b  *book
}

func (l limited) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	if err := l.b.meter.Unpack(int64(n)); err != nil {
		return 0, err
	}
	return n, err
}

// open unpacks a part.
func (b *book) open(part string) (*scanner, io.Closer, error) {
	f, ok := b.parts[strings.ToLower(part)]
	if !ok {
		return nil, nil, b.bad(noren.Textf("its part %s is missing", part),
			noren.Textf("copy the file again, or save it again in a spreadsheet program"))
	}
	if f.UncompressedSize64 > uint64(b.meter.Left()) {
		return nil, nil, b.failure(part, b.meter.Unpack(math.MaxInt64))
	}
	r, err := f.Open()
	if err != nil {
		return nil, nil, b.failure(part, err)
	}
	return newScanner(limited{r, b}), r, nil
}

// each calls f at the start of every element of a part.
func (b *book) each(part string, f func(*scanner) error) error {
	s, done, err := b.open(part)
	if err != nil {
		return err
	}
	defer func() { _ = done.Close() }()
	for {
		k, err := s.next()
		if err == io.EOF {
			return nil
		}
		if err == nil && k == start {
			err = f(s)
		}
		if err != nil {
			return b.failure(part, err)
		}
	}
}

// readStyles reads the number format of every cell style.
func (b *book) readStyles(part string) error {
	codes := map[int]string{}
	cells := false
	return b.each(part, func(s *scanner) error {
		switch string(s.name) {
		case "numFmt":
			id, _ := s.attr("numFmtId")
			code, _ := s.attr("formatCode")
			// Twice, as what is read of it before is garbage then.
			if err := b.meter.Hold(2*int64(len(code)) + pieceWeight); err != nil {
				return err
			}
			if n, err := strconv.Atoi(id); err == nil {
				codes[n] = code
			}
		case "cellXfs":
			cells = true
		case "cellStyles", "cellStyleXfs", "dxfs":
			cells = false
		case "xf":
			if !cells {
				return nil
			}
			if err := b.meter.Hold(styleWeight); err != nil {
				return err
			}
			id, _ := s.attr("numFmtId")
			n, _ := strconv.Atoi(id)
			st := style{}
			if code, ok := codes[n]; ok {
				st = style{senseOf(code), code}
			} else {
				st.sense, st.code = builtin(n)
			}
			if strings.EqualFold(st.code, "general") {
				st.code = ""
			}
			b.styles = append(b.styles, st)
		}
		return nil
	})
}

// sheet finds a sheet by its name or number. The default is the first that is not hidden,
// or the first where all are.
// listed are the names of the sheets that are not hidden, and of the one that is read.
func (b *book) listed(read string) []string {
	var names []string
	for _, s := range b.sheets {
		if !s.hidden || s.name == read {
			names = append(names, s.name)
		}
	}
	return names
}

func (b *book) sheet(which string) (sheetEntry, error) {
	if which == "" {
		for _, s := range b.sheets {
			if !s.hidden {
				return s, nil
			}
		}
		return b.sheets[0], nil
	}
	for _, s := range b.sheets {
		if s.name == which {
			return s, nil
		}
	}
	if n, err := strconv.Atoi(which); err == nil && n >= 1 && n <= len(b.sheets) {
		return b.sheets[n-1], nil
	}
	const most = 50
	var names []string
	for _, s := range b.sheets[:min(most, len(b.sheets))] {
		names = append(names, s.name)
	}
	if len(b.sheets) > most {
		names = append(names, "...")
	}
	return sheetEntry{}, &noren.Error{
		Kind: noren.Usage, Code: "sheet", Where: noren.File(b.name),
		What: "expected one of its sheets (%s) or a number from 1 to %d, got %q", Args: []any{strings.Join(names, ", "), len(names), which},
	}
}
