package parts

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/noren-privacy/noren"
)

// CodeUnread is the code of errors about a file of a folder that is no part of the table.
const CodeUnread = "unread-file"

// Unread refuses a folder that holds a file that is no part of its table: one with a hidden
// name, a folder without table files, or a symbolic link with such a name. Who gets the
// folder gets these files, too, and no verification has read them. Files that Spark and
// Hadoop write beside a table are no such files, where they hold nothing but what those
// programs put there:
//
//   - _SUCCESS and _started_N, which are empty;
//   - _committed_N, which lists names of parts;
//   - .NAME.crc, the checksums of the file NAME beside it.
//
// The error, of kind NotMet and code unread-file, names the first file in the order of
// names. A folder with a manifest has this check in [CheckManifest] already.
func Unread(ctx context.Context, folder string, table func(name string) bool) error {
	found, err := Find(ctx, folder, table)
	if err != nil {
		return err
	}
	return unread(ctx, folder, found, false)
}

// unread is the check of [Unread] where these files are read. With whole, the folder has a
// manifest and its parts must be files and not links to some.
func unread(ctx context.Context, folder string, read []string, whole bool) error {
	u := &unreadCheck{ctx: ctx, read: map[string]bool{}, holds: map[string]bool{}, whole: whole}
	root := filepath.Clean(folder)
	for _, path := range read {
		path = filepath.Clean(path)
		u.read[path] = true
		for dir := filepath.Dir(path); dir != root && len(dir) > len(root); dir = filepath.Dir(dir) {
			u.holds[dir] = true
		}
	}
	if whole {
		u.read[filepath.Join(root, ManifestName)] = true
	}
	return u.folder(root)
}

type unreadCheck struct {
	ctx   context.Context
	read  map[string]bool // paths of the files that are read
	holds map[string]bool // and of the folders that hold them
	whole bool
}

func (u *unreadCheck) folder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return &noren.Error{Kind: noren.Usage, Where: noren.File(dir), What: "the folder cannot be listed", Err: reason(err)}
	}
	for _, e := range entries {
		if err := u.ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(dir, e.Name())
		switch {
		case u.holds[path] && e.IsDir():
			if err := u.folder(path); err != nil {
				return err
			}
		case u.read[path] && (e.Type().IsRegular() || !u.whole):
		case u.read[path]:
			return notRead(path, "expected a file of the folder, got a link or another special file")
		case !e.Type().IsRegular():
			return notRead(path, "is in the folder and was not verified")
		default:
			known, sound, err := u.engine(dir, e.Name())
			switch {
			case err != nil:
				return err
			case !known:
				return notRead(path, "is in the folder and was not verified")
			case !sound:
				return notRead(path, "has the name of a file of Spark or Hadoop, and holds something else")
			}
		}
	}
	return nil
}

func notRead(where string, what noren.Format) error {
	return &noren.Error{
		Kind: noren.NotMet, Code: CodeUnread, Where: noren.File(where), What: what,
		Hint: "remove it, or verify files alone by a pattern, as in %s", HintArgs: []any{
			noren.File(filepath.Join(filepath.Dir(where), "part-*.csv")),
		},
	}
}

var (
	startedName   = regexp.MustCompile(`^_started_[0-9]{1,20}$`)
	committedName = regexp.MustCompile(`^_committed_[0-9]{1,20}$`)
	partName      = regexp.MustCompile(`^part-[0-9]{1,10}[0-9A-Za-z._-]{0,120}$`)
)

// mostCommitted is the longest list of names that is read, in bytes.
const mostCommitted = 16 << 20

// engine tells whether a regular file has a name that Spark or Hadoop give, and whether it
// holds what they put there.
func (u *unreadCheck) engine(dir, name string) (known, sound bool, err error) {
	path := filepath.Join(dir, name)
	switch {
	case name == "_SUCCESS" || startedName.MatchString(name):
		info, err := os.Lstat(path)
		return true, err == nil && info.Size() == 0, nil
	case committedName.MatchString(name):
		return true, committed(path), nil
	case strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".crc"):
		of := strings.TrimSuffix(name[1:], ".crc")
		if !u.read[filepath.Join(dir, of)] && of != "_SUCCESS" && !startedName.MatchString(of) && !committedName.MatchString(of) {
			return false, false, nil
		}
		sound, err := u.checksums(path, filepath.Join(dir, of))
		return true, sound, err
	}
	return false, false, nil
}

// committed reports whether a file lists names of parts, as Databricks writes it.
func committed(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostCommitted+1))
	if err != nil || len(text) > mostCommitted {
		return false
	}
	var list struct {
		Added   []string `json:"added"`
		Removed []string `json:"removed"`
	}
	if json.Unmarshal(text, &list) != nil {
		return false
	}
	again, err := json.Marshal(list)
	if err != nil || !bytes.Equal(again, text) {
		return false
	}
	for _, name := range append(list.Added, list.Removed...) {
		if !partName.MatchString(name) {
			return false
		}
	}
	return true
}

// checksums reports whether the file at path holds the checksums of another, as Hadoop
// writes them: "crc" and a zero, the number of bytes of a chunk, and the CRC-32 of each.
func (u *unreadCheck) checksums(path, of string) (bool, error) {
	sums, err := os.Open(path)
	if err != nil {
		return false, &noren.Error{Kind: noren.Usage, Where: noren.File(path), What: "cannot be read", Err: reason(err)}
	}
	defer sums.Close()
	info, err := os.Lstat(of)
	if err != nil || !info.Mode().IsRegular() && u.whole {
		return false, nil
	}
	data, err := os.Open(of)
	switch {
	case err != nil && os.IsNotExist(err):
		return false, nil
	case err != nil:
		return false, &noren.Error{Kind: noren.Usage, Where: of, What: "cannot be read", Err: reason(err)}
	}
	defer data.Close()
	have := bufio.NewReader(sums)
	var head [8]byte
	if _, err := io.ReadFull(have, head[:]); err != nil || string(head[:4]) != "crc\x00" {
		return false, nil
	}
	size := binary.BigEndian.Uint32(head[4:])
	if size < 1 || size > 1<<24 {
		return false, nil
	}
	chunk, in := make([]byte, size), bufio.NewReaderSize(&cancelled{u.ctx, data}, 1<<16)
	for {
		n, err := io.ReadFull(in, chunk)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return false, &noren.Error{Where: of, What: "cannot be read", Err: reason(err)}
		}
		if n == 0 {
			_, err := have.ReadByte()
			return err == io.EOF, nil
		}
		var sum [4]byte
		if _, err := io.ReadFull(have, sum[:]); err != nil || binary.BigEndian.Uint32(sum[:]) != crc32.ChecksumIEEE(chunk[:n]) {
			return false, nil
		}
	}
}
