package uploads

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/meter/metertest"
)

// numbered makes ids up_aaaaaaaaaaaaaaaa and so on.
func numbered() func() (string, error) {
	n := 0
	return func() (string, error) {
		n++
		digits := []byte("aaaaaaaaaaaaaaaa")
		for i, at := n, len(digits)-1; i > 0; i, at = i/26, at-1 {
			digits[at] = byte('a' + i%26)
		}
		return "up_" + string(digits), nil
	}
}

func open(t *testing.T, config Config) *Store {
	t.Helper()
	if config.Dir == "" {
		config.Dir = filepath.Join(t.TempDir(), "uploads")
	}
	config.NewID = numbered()
	s, err := Open(config)
	must(t, err)
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func part(first, last, size int64, data []byte) Part {
	return Part{First: first, Last: last, Size: size, Digest: sha256.Sum256(data)}
}

// bytesOf is the file of an upload.
func bytesOf(t *testing.T, s *Store, id string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.config.Dir, id, dataFile))
	must(t, err)
	return data
}

func TestUploadInParts(t *testing.T) {
	s := open(t, Config{})
	text := []byte("age,city\n31,Nara\n")
	u, err := s.Create("anna", "visits.csv", int64(len(text)))
	must(t, err)
	if _, _, err := s.File("anna", u.ID); !errors.Is(err, ErrIncomplete) {
		t.Errorf("an upload without bytes: %v", err)
	}
	for _, c := range []struct {
		name string
		part Part
		body string
		want error
	}{
		{"in the middle", part(5, 8, 17, text[5:9]), string(text[5:9]), ErrOffset},
		{"of another size", part(0, 4, 18, text[:5]), string(text[:5]), ErrRange},
		{"cut", part(0, 8, 17, text[:9]), string(text[:4]), ErrCut},
		{"another digest", part(0, 8, 17, text[1:9]), string(text[:9]), ErrDigest},
		{"too long", part(0, 8, 17, text[:9]), string(text[:10]), ErrRange},
	} {
		if _, err := s.Write("anna", u.ID, c.part, strings.NewReader(c.body)); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if got := bytesOf(t, s, u.ID); len(got) > 0 {
			t.Errorf("%s: %d bytes count", c.name, len(got))
		}
	}
	u, err = s.Write("anna", u.ID, part(0, 8, 17, text[:9]), bytes.NewReader(text[:9]))
	must(t, err)
	if u.Offset != 9 || u.Complete() {
		t.Errorf("after the first part: %+v", u)
	}
	u, err = s.Write("anna", u.ID, part(9, 16, 17, text[9:]), bytes.NewReader(text[9:]))
	must(t, err)
	if !u.Complete() {
		t.Errorf("after the last part: %+v", u)
	}
	_, path, err := s.File("anna", u.ID)
	must(t, err)
	if got, _ := os.ReadFile(path); !bytes.Equal(got, text) {
		t.Errorf("got %q", got)
	}
	for _, file := range []string{path, filepath.Join(filepath.Dir(path), metaFile)} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v, %v", filepath.Base(file), info.Mode(), err)
		}
	}
	must(t, s.Remove(u.ID))
	if entries, _ := os.ReadDir(s.config.Dir); len(entries) > 0 {
		t.Errorf("%d entries are left", len(entries))
	}
}

// Another principal sees nothing, and ids lead nowhere else.
func TestUploadsOfOthers(t *testing.T) {
	s := open(t, Config{})
	u, err := s.Create("anna", "x.csv", 3)
	must(t, err)
	for _, id := range []string{
		u.ID, "up_zzzzzzzzzzzzzzzz", "", "..", "../up", "up_../../../../etc", "up_aaaaaaaaaaaaaaa/",
		"UP_AAAAAAAAAAAAAAAA", u.ID + "\x00",
	} {
		if _, err := s.Get("ben", id); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", id, err)
		}
		if err := s.Delete("ben", id); !errors.Is(err, ErrUnknown) {
			t.Errorf("delete %q: %v", id, err)
		}
		if _, err := s.Write("ben", id, part(0, 2, 3, []byte("abc")), strings.NewReader("abc")); !errors.Is(err, ErrUnknown) {
			t.Errorf("write %q: %v", id, err)
		}
	}
	must(t, s.Delete("anna", u.ID))
	if _, err := s.Get("anna", u.ID); !errors.Is(err, ErrUnknown) {
		t.Errorf("after delete: %v", err)
	}
}

func TestCreateRefuses(t *testing.T) {
	s := open(t, Config{Limit: 100, Most: 2})
	for name, want := range map[string]error{
		"": ErrName, "a/b.csv": ErrName, `a\b.csv`: ErrName, "..": ErrName, "a\x00b": ErrName,
		"a\nb": ErrName, strings.Repeat("x", 256): ErrName, "\xff": ErrName,
	} {
		if _, err := s.Create("anna", name, 10); !errors.Is(err, want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for size, want := range map[int64]error{0: ErrSize, -1: ErrSize, 101: ErrTooLarge} {
		if _, err := s.Create("anna", "a.csv", size); !errors.Is(err, want) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	for range 2 {
		_, err := s.Create("anna", "<script>.csv", 100)
		must(t, err)
	}
	if _, err := s.Create("anna", "c.csv", 100); !errors.Is(err, ErrMany) {
		t.Errorf("a third: %v", err)
	}
}

func TestExpiry(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	s := open(t, Config{Now: func() time.Time { return at }})
	u, err := s.Create("anna", "x.csv", 3)
	must(t, err)
	at = at.Add(25 * time.Hour)
	if _, err := s.Get("anna", u.ID); !errors.Is(err, ErrUnknown) {
		t.Errorf("after a day: %v", err)
	}
	must(t, s.Expire())
	if entries, _ := os.ReadDir(s.config.Dir); len(entries) > 0 {
		t.Errorf("%d entries are left", len(entries))
	}
}

// broken is a file that fails.
type broken struct {
	file
	write, sync error
}

func (b broken) WriteAt(p []byte, off int64) (int, error) {
	if b.write != nil {
		_, _ = b.file.WriteAt(p[:len(p)/2], off)
		return len(p) / 2, b.write
	}
	return b.file.WriteAt(p, off)
}

func (b broken) Sync() error {
	if b.sync != nil {
		return b.sync
	}
	return b.file.Sync()
}

// After a fault of the disk nothing of the part counts, the error names no path, and the
// upload goes on.
func TestDiskFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault broken
		want  error
	}{
		{"disk full", broken{write: &os.PathError{Op: "write", Path: "/secret/place", Err: syscall.ENOSPC}}, ErrDiskFull},
		{"input or output error", broken{write: syscall.EIO}, ErrStore},
		{"disk full at sync", broken{sync: syscall.ENOSPC}, ErrDiskFull},
	} {
		fault := &c.fault
		s := open(t, Config{open: func(path string) (file, error) {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil || fault == nil {
				return f, err
			}
			b := *fault
			b.file = f
			return b, nil
		}})
		u, err := s.Create("anna", "x.csv", 6)
		must(t, err)
		p := part(0, 5, 6, []byte("abcdef"))
		_, err = s.Write("anna", u.ID, p, strings.NewReader("abcdef"))
		if !errors.Is(err, c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := bytesOf(t, s, u.ID); len(got) > 0 {
			t.Errorf("%s: %d bytes count", c.name, len(got))
		}
		fault = nil
		if u, err = s.Write("anna", u.ID, p, strings.NewReader("abcdef")); err != nil || !u.Complete() {
			t.Errorf("%s: afterwards: %v", c.name, err)
		}
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root writes everywhere")
	}
	s := open(t, Config{})
	must(t, os.Chmod(s.config.Dir, 0o500))
	defer func() { _ = os.Chmod(s.config.Dir, 0o700) }()
	if _, err := s.Create("anna", "x.csv", 6); !errors.Is(err, ErrStore) {
		t.Errorf("got %v", err)
	}
}

// What a killed process left is deleted, and what counts stays.
func TestOpenAfterKill(t *testing.T) {
	s := open(t, Config{})
	u, err := s.Create("anna", "x.csv", 6)
	must(t, err)
	_, err = s.Write("anna", u.ID, part(0, 2, 6, []byte("abc")), strings.NewReader("abc"))
	must(t, err)
	dir := s.config.Dir
	must(t, os.WriteFile(filepath.Join(dir, u.ID, dataFile), []byte("abcXX"), 0o600)) // a part that did not end
	for _, half := range []string{"new-123", "gone-up_bbbbbbbbbbbbbbbb", "up_cccccccccccccccc"} {
		must(t, os.Mkdir(filepath.Join(dir, half), 0o700))
	}
	s, err = Open(Config{Dir: dir, NewID: numbered()})
	must(t, err)
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("%d entries", len(entries))
	}
	if got := bytesOf(t, s, u.ID); string(got) != "abc" {
		t.Errorf("%q counts", got)
	}
	u, err = s.Write("anna", u.ID, part(3, 5, 6, []byte("def")), strings.NewReader("def"))
	if err != nil || !u.Complete() || string(bytesOf(t, s, u.ID)) != "abcdef" {
		t.Errorf("%+v, %v", u, err)
	}
}

// Parts of any size, with cuts, make the file.
func TestAnyParts(t *testing.T) {
	s := open(t, Config{Most: 1 << 20})
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 1, 2000).Draw(t, "data")
		size := int64(len(data))
		u, err := s.Create("anna", "x.bin", size)
		must2(t, err)
		for !u.Complete() {
			last := rapid.Int64Range(u.Offset, size-1).Draw(t, "last")
			piece := data[u.Offset : last+1]
			p := part(u.Offset, last, size, piece)
			if len(piece) > 1 && rapid.Bool().Draw(t, "cut") {
				before := u.Offset
				u, err = s.Write("anna", u.ID, p, bytes.NewReader(piece[:len(piece)-1]))
				if !errors.Is(err, ErrCut) || u.Offset != before {
					t.Fatalf("a cut part: %+v, %v", u, err)
				}
			}
			u, err = s.Write("anna", u.ID, p, bytes.NewReader(piece))
			must2(t, err)
		}
		got, err := os.ReadFile(filepath.Join(s.config.Dir, u.ID, dataFile))
		must2(t, err)
		if !bytes.Equal(got, data) {
			t.Fatalf("got %d bytes of %d, or others", len(got), len(data))
		}
		must2(t, s.Remove(u.ID))
	})
}

func must2(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestParsePart(t *testing.T) {
	sum := sha256.Sum256([]byte("x"))
	digest := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	for _, c := range []struct {
		text, digest string
		want         error
	}{
		{"bytes 0-9/10", digest, nil},
		{"bytes 3-3/10", "md5=:AAAA:, " + digest, nil},
		{"bytes 0-0/1", digest, nil},
		{"bytes 0-10/10", digest, ErrRange},
		{"bytes 5-4/10", digest, ErrRange},
		{"bytes 0-9/*", digest, ErrRange},
		{"bytes -1-9/10", digest, ErrRange},
		{"bytes 0-9", digest, ErrRange},
		{"octets 0-9/10", digest, ErrRange},
		{"bytes 0-9/99999999999999999999", digest, ErrRange},
		{"bytes 0-+9/10", digest, ErrRange},
		{"", digest, ErrRange},
		{"bytes 0-9/10", "", ErrNoDigest},
		{"bytes 0-9/10", "sha-256=abc", ErrNoDigest},
		{"bytes 0-9/10", "sha-256=:AAAA:", ErrNoDigest},
		{"bytes 0-9/10", "sha-512=" + digest[8:], ErrNoDigest},
	} {
		if _, err := ParsePart(c.text, c.digest); !errors.Is(err, c.want) {
			t.Errorf("%q, %q: got %v, want %v", c.text, c.digest, err, c.want)
		}
	}
}

func FuzzParsePart(f *testing.F) {
	f.Add("bytes 0-9/10", "sha-256=:AAAA:")
	f.Fuzz(func(t *testing.T, text, digest string) {
		metertest.Hold(t, len(text)+len(digest))
		p, err := ParsePart(text, digest)
		if err == nil && (p.First < 0 || p.First > p.Last || p.Last >= p.Size) {
			t.Errorf("%q: %+v", text, p)
		}
	})
}

// endless is n bytes.
type endless struct{ left int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), e.left)
	e.left -= n
	return int(n), nil
}

// A large part needs the memory of a buffer.
func TestMemory(t *testing.T) {
	s := open(t, Config{})
	const size = 64 << 20
	h := sha256.New()
	_, err := io.Copy(h, &endless{size})
	must(t, err)
	u, err := s.Create("anna", "x.bin", size)
	must(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = s.Write("anna", u.ID, Part{Last: size - 1, Size: size, Digest: [32]byte(h.Sum(nil))}, &endless{size})
	must(t, err)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 2<<20 {
		t.Errorf("a part of %d MiB took %d KiB of memory", size>>20, used>>10)
	}
}

func BenchmarkWrite(b *testing.B) {
	s, err := Open(Config{Dir: b.TempDir(), NewID: numbered(), Most: 1 << 20})
	must(b, err)
	data := make([]byte, PartBytes)
	b.SetBytes(PartBytes)
	for i := range b.N {
		u, err := s.Create("anna", fmt.Sprint(i), PartBytes)
		must(b, err)
		_, err = s.Write("anna", u.ID, part(0, PartBytes-1, PartBytes, data), bytes.NewReader(data))
		must(b, err)
		must(b, s.Remove(u.ID))
	}
}
