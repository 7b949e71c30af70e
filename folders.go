package noren

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// WithoutFolders is an argument of a text in which each file is its last part alone, for readers
// who are not to learn the folders of a host. Texts, places and errors of this package within
// it are changed likewise; a string is a name and stays as it is.
func WithoutFolders(arg any) any {
	switch arg := arg.(type) {
	case File:
		return arg.last()
	case Position:
		arg.File = WithoutFolders(fileOf(arg.File))
		return arg
	case Place:
		return Place(withoutFolders(arg))
	case Text:
		return arg.WithoutFolders()
	case Texts:
		return arg.withoutFolders()
	case Lines:
		return Lines(Texts(arg).withoutFolders())
	case Commas:
		return Commas(Texts(arg).withoutFolders())
	case Paragraph:
		return Paragraph(Texts(arg).withoutFolders())
	case Sentence:
		return Sentence(Text(arg).WithoutFolders())
	case *Reason:
		if arg == nil {
			return arg
		}
		return &Reason{arg.said.WithoutFolders()}
	case *Error:
		if arg == nil {
			return arg
		}
		out := *arg
		out.Where, out.Args, out.HintArgs, out.Err = WithoutFolders(arg.Where), withoutFolders(arg.Args), withoutFolders(arg.HintArgs),
			bare(arg.Err)
		return &out
	case interface{ Text() Text }:
		return arg.Text().WithoutFolders()
	case interface{ Texts() Texts }:
		return arg.Texts().withoutFolders()
	case *fs.PathError:
		if arg == nil {
			return arg
		}
		return &fs.PathError{Op: arg.Op, Path: string(File(arg.Path).last()), Err: bare(arg.Err)}
	case *os.LinkError:
		if arg == nil {
			return arg
		}
		return &os.LinkError{Op: arg.Op, Old: string(File(arg.Old).last()), New: string(File(arg.New).last()), Err: bare(arg.Err)}
	case error:
		return shownBelow(arg)
	}
	return arg
}

// shownBelow is what an error of another type shows of the ones below it, without folders: of several its lines, and otherwise the
// first cause alone, as what is written around a cause may name a file by words. An error that shows no cause stays as it is.
func shownBelow(err error) error {
	var causes []error
	switch e := err.(type) { //nolint:errorlint // of this error itself
	case interface{ Unwrap() []error }:
		causes = e.Unwrap()
	case interface{ Unwrap() error }:
		causes = []error{e.Unwrap()}
	}
	if joined := errors.Join(causes...); joined != nil && err.Error() == joined.Error() {
		all := make([]error, len(causes))
		for i, one := range causes {
			all[i] = bare(one)
		}
		return errors.Join(all...)
	}
	for _, one := range causes {
		if one != nil && strings.Contains(err.Error(), one.Error()) {
			return bare(one)
		}
	}
	return err
}

// bare is an error without folders.
func bare(err error) error {
	if out, ok := WithoutFolders(err).(error); ok {
		return out
	}
	if t, ok := WithoutFolders(err).(Text); ok { // of an error that has a method Text
		return &Reason{t}
	}
	return err
}

// WithoutFolders is the text with the last part of each file alone.
func (t Text) WithoutFolders() Text { return Text{t.Format, withoutFolders(t.Args)} }

func (t Texts) withoutFolders() Texts {
	out := make(Texts, len(t))
	for i, one := range t {
		out[i] = one.WithoutFolders()
	}
	return out
}

func withoutFolders(args []any) []any {
	if args == nil {
		return nil
	}
	out := make([]any, len(args))
	for i, arg := range args {
		out[i] = WithoutFolders(arg)
	}
	return out
}

// fileOf is the file of a position, which may be named by a string, with its type.
func fileOf(file any) any {
	if name, ok := file.(string); ok && name != "" {
		return File(name)
	}
	return file
}

// last is the part behind the last separator of any system.
func (f File) last() File {
	path := strings.TrimRight(string(f), `/\`)
	return File(path[strings.LastIndexAny(path, `/\`)+1:])
}
