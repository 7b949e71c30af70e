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
		out.Where, out.Args, out.HintArgs = WithoutFolders(arg.Where), withoutFolders(arg.Args), withoutFolders(arg.HintArgs)
		if inner, ok := WithoutFolders(arg.Err).(error); ok {
			out.Err = inner
		}
		return &out
	case interface{ Text() Text }:
		return arg.Text().WithoutFolders()
	case interface{ Texts() Texts }:
		return arg.Texts().withoutFolders()
	case *fs.PathError:
		if arg == nil {
			return arg
		}
		return &fs.PathError{Op: arg.Op, Path: string(File(arg.Path).last()), Err: arg.Err}
	case *os.LinkError:
		if arg == nil {
			return arg
		}
		return &os.LinkError{Op: arg.Op, Old: string(File(arg.Old).last()), New: string(File(arg.New).last()), Err: arg.Err}
	case error:
		return shownBelow(arg)
	}
	return arg
}

// shownBelow is what an error shows of the ones below it, without folders: of several its lines, of one of this package
// that one, and of one of the system its reason alone. An error that shows nothing of them stays as it is.
func shownBelow(err error) error {
	if several, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // of this error itself
		if joined := errors.Join(several.Unwrap()...); joined != nil && err.Error() == joined.Error() {
			var all []error
			for _, one := range several.Unwrap() {
				if bare, ok := WithoutFolders(one).(error); ok {
					one = bare
				}
				all = append(all, one)
			}
			return errors.Join(all...)
		}
	}
	var own *Error
	if errors.As(err, &own) && strings.Contains(err.Error(), own.Error()) {
		if bare, ok := WithoutFolders(own).(error); ok {
			return bare
		}
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
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
