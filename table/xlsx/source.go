package xlsx

import (
	"context"
	"io"
	"io/fs"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/spool"
)

// Options say which part of a workbook is the table.
type Options struct {
	// Name stands for the file in errors. Required.
	Name string
	// Sheet is the name of a worksheet, or its number from 1. Defaults to the
	// first that is not hidden.
	Sheet string
	// HeaderRow is the row, from 1, that names the columns. Defaults to the first
	// row that is not blank; where the table does not fit under it, as under a title, to the
	// first of the next rows that can name the columns.
	HeaderRow int
	// Hidden says what becomes of hidden rows and columns. Defaults to [Undecided].
	Hidden Policy
	// Totals says what becomes of rows that hold totals or notes and no record, such as 合計. Defaults to
	// [Undecided].
	Totals Policy
	// Exact names columns whose cells are to be compared and not shown: each is a text that
	// tells what the workbook stores, with its type. Two are equal only where the stored
	// values are: dates and times by their serial numbers, which are rounded to milliseconds
	// elsewhere, and whole numbers by all of their digits.
	Exact []string
	// Dir is the folder of temporary files. Defaults to the system's.
	Dir string
	// Limits bound what reading the workbook takes. Default to those of package meter.
	Limits meter.Limits
	// Progress receives the progress of reading. Optional.
	Progress noren.Progress
}

// File is what a workbook is read from.
type File interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// Source is the table of a worksheet. It was read once when it was opened and is
// kept in a private temporary file, which Close removes.
type Source struct {
	*spool.Source
	// Sheet is the name of the worksheet, Header the row of its names.
	Sheet  string
	Header int
	// Sheets are the names of the worksheets that are not hidden, and of the one that was read.
	Sheets []string
	// TotalsPolicy is what became of rows of totals and notes.
	TotalsPolicy Policy
	// Hidden is what the sheet hides of the table.
	Hidden Hidden
	// Policy is what became of it.
	Policy Policy

	totals   int64  // see [Source.Totals]
	passed   string // the hidden sheet that would come first
	searched bool   // for the row of the names
}

// FileNotes say what the sheet hides and what became of it, and that a hidden sheet was
// passed over. They do not name the file.
func (src *Source) FileNotes() []noren.Text {
	var notes []noren.Text
	if src.passed != "" {
		notes = append(notes, noren.Textf("sheet %s is hidden: sheet %s is read", src.passed, src.Sheet))
	}
	if note := src.Hidden.Note(src.Policy); !note.IsZero() {
		notes = append(notes, note)
	}
	return notes
}

// HeaderNote says in which row the names of the columns were found; empty where it is the
// first, or was stated.
func (src *Source) HeaderNote() noren.Text {
	if !src.searched {
		return noren.Text{}
	}
	return noren.Textf("row %d names the columns: the rows above it are not read", src.Header)
}

// Totals is how many rows hold totals or notes.
func (src *Source) Totals() int64 { return src.totals }

// TotalsNote says that rows hold totals or notes and what became of them; empty where none does.
func (src *Source) TotalsNote() noren.Text {
	return table.NoteOfTotals(src.totals, src.TotalsPolicy == Leave)
}

// origin is how the cells of a column were formatted, by their types.
type origin struct{ formats map[spool.Tag]string }

// OpenFile reads the worksheet that opts name. It owns f and closes it. A
// workbook that is damaged, encrypted or of another format, and a sheet that is
// no table, are errors of kind BadData with the row and column.
func OpenFile(ctx context.Context, f File, opts Options) (*Source, error) {
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, &noren.Error{Where: noren.File(opts.Name), What: "cannot be read", Err: atomicfile.Reason(err)}
	}
	b, err := openBook(opts.Name, f, info.Size(), opts.Limits)
	if b != nil {
		defer func() { b.shared.close() }()
	}
	if err != nil {
		return nil, err
	}
	entry, err := b.sheet(opts.Sheet)
	if err != nil {
		return nil, err
	}
	passed := ""
	if opts.Sheet == "" && b.sheets[0] != entry {
		passed = b.sheets[0].name
	}
	s := &sheet{
		b: b, hidden: concealed{policy: opts.Hidden}, totals: totals{policy: opts.Totals}, name: opts.Name, sheet: entry.name,
		header: opts.HeaderRow - 1, exactly: opts.Exact, dir: opts.Dir, progress: opts.Progress,
	}
	w, err := s.read(ctx, entry.part)
	if opts.HeaderRow == 0 && noren.CodeOf(err) == headerCode {
		found, under, failed := s.search(ctx, entry.part)
		if found != nil || failed != nil {
			if w != nil {
				w.Close()
			}
			w, err = under, failed
		}
		if found != nil {
			s = found
		}
	}
	if err == nil && s.totals.again() {
		w.Close()
		s = s.below()
		w, err = s.read(ctx, entry.part)
	}
	if err == nil {
		err = unchanged(f, info, opts.Name)
	}
	if err == nil && opts.Hidden == Undecided && s.hidden.found.Any() {
		err = s.hidden.found.refusal(s.where())
	}
	if err == nil && opts.Totals == Undecided && s.totals.count() > 0 {
		err = totalsRefusal(s.place(s.totals.begin(), -1), s.totals.count())
	}
	if err != nil {
		if w != nil {
			w.Close()
		}
		return nil, err
	}
	for i, formats := range s.formats {
		w.SetOrigin(i, &origin{formats})
	}
	src, err := w.Finish()
	if err != nil {
		return nil, err
	}
	return &Source{
		Source: src, Sheet: entry.name, Header: s.header + 1, Sheets: b.listed(entry.name), totals: s.totals.count(),
		TotalsPolicy: opts.Totals, Hidden: s.hidden.found, Policy: opts.Hidden, passed: passed, searched: s.searched,
	}, nil
}

func unchanged(f File, was fs.FileInfo, name string) error {
	now, err := f.Stat()
	if err != nil {
		return &noren.Error{Where: noren.File(name), What: "cannot be read", Err: atomicfile.Reason(err)}
	}
	if now.Size() != was.Size() || !now.ModTime().Equal(was.ModTime()) {
		return &noren.Error{
			Kind: noren.BadData, Where: noren.File(name), What: "the file was changed while it was read",
			Hint: "start again when nothing writes to it",
		}
	}
	return nil
}

// IsName reports whether a file of that name is a workbook: .xlsx, or .xlsm,
// which is read and not written.
func IsName(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".xlsx") || strings.HasSuffix(name, ".xlsm")
}

// Refuse names the old and the encrypted workbooks by their first bytes, which
// are those of a compound file; nil for all else.
func Refuse(name string, head []byte) error {
	if string(head) != "\xd0\xcf\x11\xe0" {
		return nil
	}
	return &noren.Error{
		Kind: noren.BadData, Where: noren.File(name),
		What: "is an encrypted workbook or one of an old format (.xls), expected .xlsx", Hint: "save it as .xlsx without a password",
	}
}
