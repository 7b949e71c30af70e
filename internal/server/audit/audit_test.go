package audit

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/store"
)

// A folder holds a log and its store.
type folder struct {
	dir   string
	store *store.Store
}

func newFolder(t *testing.T) *folder {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(t.Context(), filepath.Join(dir, "server.db"), store.SystemClock())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &folder{dir, s}
}

func (f *folder) path() string { return filepath.Join(f.dir, "audit.log") }

func (f *folder) open(t *testing.T) *Log {
	t.Helper()
	l, err := Open(t.Context(), f.path(), f.store)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// fill appends entries of two actors.
func fill(t *testing.T, l *Log, n int) {
	t.Helper()
	for i := range n {
		e := Entry{
			Actor: "pr_a", Role: "steward", Action: "table.confirm", Route: "PUT /x", Object: "tb_a", Outcome: "ok",
			RequestID: fmt.Sprint("rq_", i),
		}
		if i%3 == 0 {
			e.Actor, e.Action, e.Outcome, e.Detail = "pr_b", "release.make", "forbidden", map[string]string{"k": "5"}
		}
		if err := l.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Two processes append to one log in turn, and each sees the other's entries.
func TestAppendInTurn(t *testing.T) {
	f := newFolder(t)
	one, two := f.open(t), f.open(t)
	for range 3 {
		fill(t, one, 2)
		fill(t, two, 1)
	}
	if n, _, err := one.Check(t.Context()); n != 9 || err != nil {
		t.Errorf("%d entries, %v", n, err)
	}
	items, more, err := one.Page(t.Context(), &Filter{}, 0, 4)
	if err != nil || !more || len(items) != 4 || items[0].N != 9 || items[3].N != 6 {
		t.Errorf("%v %v %v", items, more, err)
	}
	if info, err := os.Stat(f.path()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// Pages go back over many entries, with filters.
func TestPages(t *testing.T) {
	randtest.SkipShort(t)
	f := newFolder(t)
	l := f.open(t)
	fill(t, l, 2*stride+50)
	for _, c := range []struct {
		filter Filter
		want   int
	}{
		{Filter{}, 2*stride + 50},
		{Filter{Actor: "pr_b"}, (2*stride + 50 + 2) / 3},
		{Filter{Action: "table.confirm", Outcome: "ok", Object: "tb_a"}, (2*stride + 50) - (2*stride+50+2)/3},
		{Filter{From: "2999-01-01T00:00:00Z"}, 0},
		{Filter{To: "2000-01-01T00:00:00Z"}, 0},
		{Filter{Actor: "pr_c"}, 0},
	} {
		seen, before := 0, int64(0)
		for {
			items, more, err := l.Page(t.Context(), &c.filter, before, 100)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range items {
				if before > 0 && i.N >= before {
					t.Fatalf("entry %d after %d", i.N, before)
				}
				before = i.N
			}
			seen += len(items)
			if !more {
				break
			}
		}
		if seen != c.want {
			t.Errorf("%+v: %d entries, want %d", c.filter, seen, c.want)
		}
	}
}

// tamperings are changes to a log of 12 entries, each of which must be found.
var tamperings = map[string]func(lines []string) []string{
	"a changed actor":   func(l []string) []string { l[4] = strings.Replace(l[4], "pr_a", "pr_c", 1); return l },
	"a changed outcome": func(l []string) []string { l[3] = strings.Replace(l[3], "forbidden", "ok", 1); return l },
	"a changed time":    func(l []string) []string { l[5] = strings.Replace(l[5], `"at":"2`, `"at":"1`, 1); return l },
	"a changed number":  func(l []string) []string { l[5] = strings.Replace(l[5], `"n":6`, `"n":7`, 1); return l },
	"a changed detail":  func(l []string) []string { l[0] = strings.Replace(l[0], `"k":"5"`, `"k":"2"`, 1); return l },
	"a removed detail":  func(l []string) []string { l[0] = strings.Replace(l[0], `,"detail":{"k":"5"}`, ``, 1); return l },
	"an added detail": func(l []string) []string {
		l[1] = strings.Replace(l[1], `,"prev"`, `,"detail":{"x":"y"},"prev"`, 1)
		return l
	},
	"a changed hash":      func(l []string) []string { l[2] = l[2][:len(l[2])-4] + `00"}`; return l },
	"a changed last line": func(l []string) []string { l[11] = strings.Replace(l[11], "pr_a", "pr_b", 1); return l },
	"a removed entry":     func(l []string) []string { return append(l[:6], l[7:]...) },
	"a removed first":     func(l []string) []string { return l[1:] },
	"a removed last":      func(l []string) []string { return l[:11] },
	"six removed":         func(l []string) []string { return l[:6] },
	"all removed":         func([]string) []string { return nil },
	"two exchanged":       func(l []string) []string { l[7], l[8] = l[8], l[7]; return l },
	"one twice":           func(l []string) []string { return append(l[:5], l[4:]...) },
	"an added entry":      func(l []string) []string { return append(l[:5:5], append([]string{`{"n":6}`}, l[5:]...)...) },
	"an empty line":       func(l []string) []string { return append(l[:5:5], append([]string{""}, l[5:]...)...) },
	"a space":             func(l []string) []string { l[9] += " "; return l },
	"another key order": func(l []string) []string {
		l[6] = strings.Replace(l[6], `"role":"steward","action":"table.confirm"`, `"action":"table.confirm","role":"steward"`, 1)
		if !strings.Contains(l[6], `"action":"table.confirm","role"`) {
			l[5] = strings.Replace(l[5], `"role":"steward","action":"table.confirm"`, `"action":"table.confirm","role":"steward"`, 1)
		}
		return l
	},
	"a key in capitals": func(l []string) []string { l[1] = strings.Replace(l[1], `"actor"`, `"Actor"`, 1); return l },
	"half a line":       func(l []string) []string { l[3] = l[3][:20]; return l },
	"rewritten to the end": func(l []string) []string {
		var out []string
		var head Hash
		for i, text := range l {
			var one line
			if json.Unmarshal([]byte(text), &one) != nil {
				return nil
			}
			if i == 4 {
				one.Actor = "pr_c"
			}
			again, h, err := encode(&one.Entry, head)
			if err != nil {
				return nil
			}
			out, head = append(out, strings.TrimSuffix(string(again), "\n")), h
		}
		return out
	},
}

// Each planted change is found at start and by a check, and the log takes no more entries.
func TestTampering(t *testing.T) {
	f := newFolder(t)
	running := f.open(t)
	fill(t, running, 12)
	sound := read(t, f.path())
	if len(tamperings) < 20 {
		t.Fatalf("only %d changes", len(tamperings))
	}
	for name, change := range tamperings {
		lines := strings.Split(strings.TrimSuffix(string(sound), "\n"), "\n")
		text := strings.Join(change(lines), "\n") + "\n"
		if text == string(sound) {
			t.Fatalf("%s changes nothing", name)
		}
		write(t, f.path(), []byte(text))
		l := f.open(t)
		if l.Damage() == nil || noren.KindOf(l.Damage()) != noren.NotMet {
			t.Errorf("%s: not found at start: %v", name, l.Damage())
		}
		if err := l.Append(t.Context(), Entry{Action: "x"}); err == nil {
			t.Errorf("%s: a damaged log took an entry", name)
		}
		if _, _, err := running.Check(t.Context()); err == nil {
			t.Errorf("%s: not found by a check", name)
		}
		if got := read(t, f.path()); string(got) != text {
			t.Errorf("%s: the damaged log was changed", name)
		}
	}
	write(t, f.path(), sound)
	if l := f.open(t); l.Damage() != nil {
		t.Errorf("the sound log: %v", l.Damage())
	}
}

// A last line that a crash left incomplete is cut, and the cut is noted. One that the
// store knows of is damage.
func TestTornLine(t *testing.T) {
	f := newFolder(t)
	fill(t, f.open(t), 3)
	sound := read(t, f.path())
	for _, torn := range []string{"{", `{"n":4,"at":"2026`, strings.Repeat("x", longest)} {
		write(t, f.path(), append(bytes.Clone(sound), torn...))
		l := f.open(t)
		n, _ := l.Head()
		if l.Damage() != nil && len(torn) < longest {
			t.Fatalf("%.20s: %v", torn, l.Damage())
		}
		if len(torn) == longest {
			if l.Damage() == nil {
				t.Error("a line that is too long was cut")
			}
			continue
		}
		items, _, err := l.Page(t.Context(), &Filter{Action: "audit.cut"}, 0, 9)
		if err != nil || len(items) == 0 || items[0].N != n || items[0].Detail["bytes"] != fmt.Sprint(len(torn)) {
			t.Errorf("%.20s: %v %v", torn, items, err)
		}
		sound = read(t, f.path())
	}
	write(t, f.path(), sound[:len(sound)-5])
	if l := f.open(t); l.Damage() == nil {
		t.Error("a cut line that the store knows of was taken")
	}
}

// An export is checked without the server, with and without filters; each planted change
// of it is found.
func TestExport(t *testing.T) {
	f := newFolder(t)
	l := f.open(t)
	fill(t, l, 11)
	upload := "up_aaaaaaaaaaaaaaaa"
	if err := l.Append(t.Context(), Entry{Actor: "pr_b", Action: "upload.delete", Object: upload, Outcome: "ok"}); err != nil {
		t.Fatal(err)
	}
	known := map[string]string{upload: "visits <2>.csv", "tb_bbbbbbbbbbbbbbbb": "of no entry"}
	names := func(_ context.Context, ids []string) (map[string]string, error) {
		if len(ids) != 1 || ids[0] != upload {
			t.Errorf("names of %v", ids)
		}
		return known, nil
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	public := key.Public().(ed25519.PublicKey)
	_, head := l.Head()
	for _, c := range []struct {
		filter Filter
		shown  int64
		named  int
	}{{Filter{}, 12, 1}, {Filter{Actor: "pr_b"}, 5, 1}, {Filter{Actor: "pr_a"}, 7, 0}, {Filter{Actor: "pr_c"}, 0, 0}} {
		var out bytes.Buffer
		if err := l.Export(t.Context(), &out, &c.filter, key, names); err != nil {
			t.Fatal(err)
		}
		r, err := Verify(t.Context(), bytes.NewReader(out.Bytes()), nil, public)
		if err != nil || r.Entries != 12 || r.Shown != c.shown || !r.Trusted || r.Head != hex.EncodeToString(head[:]) {
			t.Errorf("%+v: %+v %v", c.filter, r, err)
		}
		if len(r.Names) != c.named || c.named > 0 && r.Names[upload] != known[upload] ||
			strings.Contains(out.String(), exportNamed) != (c.named > 0) {
			t.Errorf("%+v: the names are %v", c.filter, r.Names)
		}
		var shown []string
		if _, err := Verify(t.Context(), bytes.NewReader(out.Bytes()), func(e *Entry) { shown = append(shown, e.Action) }, public); err != nil ||
			len(shown) != int(c.shown) {
			t.Errorf("%+v: %v are shown, %v", c.filter, shown, err)
		}
		if c.filter.Actor == "pr_b" && strings.Contains(out.String(), "pr_a") {
			t.Errorf("%+v: the export shows other entries", c.filter)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		for i := range lines {
			for name, change := range map[string]func() []string{
				"removed": func() []string { return append(append([]string{}, lines[:i]...), lines[i+1:]...) },
				"twice":   func() []string { return append(append([]string{}, lines[:i+1]...), lines[i:]...) },
				"changed": func() []string {
					l := append([]string{}, lines...)
					l[i] = strings.NewReplacer(`"n":1`, `"n":3`, "pr_b", "pr_d", "pr_a", "pr_d", `"body":"`, `"body":"0`, `"entries":12`, `"entries":11`, `"name":"`, `"name":"x`,
						`"n":`, `"n":1`).Replace(l[i])
					return l
				},
			} {
				text := strings.Join(change(), "\n") + "\n"
				if r, err := Verify(t.Context(), strings.NewReader(text), nil, public); err == nil {
					t.Errorf("line %d %s: %+v", i+1, name, r)
				}
			}
		}
		for _, field := range []string{`"public_key":"`, `"signature":"`} { // the decoder of base64 alone skips line ends
			text := strings.Replace(out.String(), field, field+`\n`, 1)
			if _, err := Verify(t.Context(), strings.NewReader(text), nil, public); text == out.String() || err == nil {
				t.Errorf("a line end after %s: sound, or no such field", field)
			}
		}
		for at := len(out.Bytes()) - 400; at < out.Len()-1; at += 3 { // the signed line, bit by bit
			text := bytes.Clone(out.Bytes())
			text[at] ^= 1
			if _, err := Verify(t.Context(), bytes.NewReader(text), nil, public); err == nil {
				t.Errorf("byte %d changed: sound", at)
			}
		}
	}
	_, other, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := l.Export(t.Context(), &out, &Filter{}, other, names); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(t.Context(), bytes.NewReader(out.Bytes()), nil, public); noren.CodeOf(err) != "untrusted" {
		t.Errorf("an export by another key: %v", err)
	}
	if r, err := Verify(t.Context(), bytes.NewReader(out.Bytes()), nil); err != nil || r.Trusted {
		t.Errorf("without a key to compare: %+v %v", r, err)
	}
}

// After a disk that fails the log takes no more entries.
func TestDiskFails(t *testing.T) {
	f := newFolder(t)
	l := f.open(t)
	fill(t, l, 1)
	if err := os.Remove(f.path()); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(t.Context(), Entry{Action: "x"}); err == nil || l.Damage() == nil {
		t.Errorf("%v, %v", err, l.Damage())
	}
	if l := f.open(t); l.Damage() == nil {
		t.Error("a removed log was begun again")
	}
}

// An entry is written although its request was ended by the client.
func TestAppendAfterTheClientLeft(t *testing.T) {
	f := newFolder(t)
	l := f.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Append(ctx, Entry{Action: "x"}); err != nil {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	text, head, err := encode(&Entry{N: 1, At: "2026-11-22T00:00:00Z", Actor: "pr_a", Action: "x", Outcome: "ok"}, Hash{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text[:len(text)-1])
	f.Add([]byte(`{"n":1}`))
	f.Add([]byte(`{"schema":"noren.audit.export/1"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		metertest.Hold(t, len(text))
		e, h, err := decode(text, 1, Hash{})
		if err != nil {
			return
		}
		// What is taken as an entry is written back byte by byte.
		again, h2, err := encode(e, Hash{})
		if err != nil || !bytes.Equal(again[:len(again)-1], text) || h != h2 {
			t.Errorf("%q is not %q", again, text)
		}
		if h == head && e.Actor != "pr_a" {
			t.Error("two entries have one hash")
		}
		_, _ = Verify(context.Background(), bytes.NewReader(append(text, '\n')), nil)
	})
}

// A benchmark of the cost of an entry: two synchronisations of the disk.
func BenchmarkAppend(b *testing.B) {
	dir := b.TempDir()
	s, err := store.Open(b.Context(), filepath.Join(dir, "server.db"), store.SystemClock())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	l, err := Open(b.Context(), filepath.Join(dir, "audit.log"), s)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := l.Append(b.Context(), Entry{Actor: "pr_a", Action: "x", Outcome: "ok", RequestID: time.Now().String()}); err != nil {
			b.Fatal(err)
		}
	}
}
