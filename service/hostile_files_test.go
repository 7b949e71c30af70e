package service

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/meter/bombs"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/release/shards"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table/parts"
)

// sideFiles are the readers of files beside the data, by what they read.
func sideFiles(t *testing.T) map[string]func(text []byte) error {
	ctx, dir := context.Background(), t.TempDir()
	at := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	rappor, err := ldp.NewRappor(ldp.Params{K: 16, H: 2, M: 8, P: .5, Q: .75, F: .5})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]func(text []byte) error{
		"candidates": func(text []byte) error { _, err := ldp.ReadCandidates(bytes.NewReader(text), "f"); return err },
		"map":        func(text []byte) error { _, err := rappor.ReadMap(bytes.NewReader(text), "f"); return err },
		"counts":     func(text []byte) error { _, err := rappor.ReadCounts(bytes.NewReader(text), "f"); return err },
		"key":        func(text []byte) error { _, err := survey.ParseKey("f", text); return err },
		"meta":       func(text []byte) error { _, err := ratio.DecodeMeta(text); return err },
		"plan":       func(text []byte) error { _, err := shards.Read(ctx, bytes.NewReader(text), "t"); return err },
		"manifest": func(text []byte) error {
			at(parts.ManifestName, text)
			_, err := parts.Stated(ctx, dir)
			return err
		},
		"hierarchy": func(text []byte) error { _, err := spec.LoadHierarchy(at("f", text), nil); return err },
		"keys":      func(text []byte) error { _, err := readKeys(at("f", text), []string{"a"}); return err },
		"scales":    func(text []byte) error { _, err := readScales(at("f", text)); return err },
		"model":     func(text []byte) error { _, err := correlated.ParseModel(bytes.NewReader(text), "f"); return err },
		"questions": func(text []byte) error { _, err := ReadQuestions(at("f", text)); return err },
	}
}

// A file beside the data that states much in few bytes takes no more memory than what the meter
// allows and its text, or is refused with the code. Most of these took 0.5 to 7 GB.
func TestHostileSideFiles(t *testing.T) {
	randtest.SkipShort(t)
	read := sideFiles(t)
	key := strings.Repeat("00", 32) + "\n"
	for _, c := range []struct {
		file    string
		text    bombs.Repeated
		refused bool
	}{
		{"candidates", bombs.Repeat("", "a\n", 8<<20, ""), true},
		{"map", bombs.Repeat("", ",", 5<<20, ""), true},
		{"counts", bombs.Repeat("", "1,", 6<<20, ""), true},
		{"key", bombs.Repeat(key+`{"version":2,"uses":[{}`, ",{}", 3<<19, "]}"), true},
		{"meta", bombs.Repeat(`{"format":"noren.ratio-weights/3","axes":[{}`, ",{}", 3<<19, "]}"), true},
		{"meta", bombs.Repeat(`{"format":"noren.ratio-weights/3","sums":[0`, ",0", 10<<20, "]}"), true},
		{"plan", bombs.Repeat(`{"files":[{}`, ",{}", 3<<19, "]}"), true},
		{"manifest", bombs.Repeat(`{"format":"noren.parts/1","files":[{}`, ",{}", 3<<19, "]}"), true},
		{"hierarchy", bombs.Repeat("", ",", 5<<20, ""), true},
		{"hierarchy", bombs.Repeat("", "a\n", 5<<20, ""), true},
		{"keys", bombs.Repeat("", ",", 5<<20, ""), true},
		{"keys", bombs.Repeat("a\n", "b\n", 3<<19, ""), false},
		{"scales", bombs.Repeat("", ",", 5<<20, ""), true},
	} {
		var text bytes.Buffer
		if err := c.text.Write(&text); err != nil {
			t.Fatal(err)
		}
		var err error
		most := metertest.Peak(t, func() { err = read[c.file](text.Bytes()) })
		t.Logf("%s: %d MB", c.file, most/1e6)
		if limit := int64(meter.DefaultHeld) + 3*int64(text.Len()); most > limit {
			t.Errorf("%s of %d bytes: it takes %d MB", c.file, text.Len(), most/1e6)
		}
		if c.refused != (noren.CodeOf(err) == meter.Code) {
			t.Errorf("%s, %.40q...: %v", c.file, c.text.Before+c.text.Text, err)
		}
	}
}

// Ordinary files of a million entries are read, within the same memory.
func TestLongMillionEntries(t *testing.T) {
	randtest.Long(t)
	read := sideFiles(t)
	const n = 1_000_000
	for file, line := range map[string]func(i int) string{
		"candidates": func(i int) string { return fmt.Sprintf("word %d\n", i) },
		"hierarchy":  func(i int) string { return fmt.Sprintf("%d,g%d,*\n", i, i/1000) },
		"keys":       func(i int) string { return map[bool]string{true: "a,b\n"}[i == 0] + fmt.Sprintf("%d,b\n", i) },
	} {
		var text bytes.Buffer
		for i := range n {
			text.WriteString(line(i))
		}
		var err error
		most := metertest.Peak(t, func() { err = read[file](text.Bytes()) })
		t.Logf("%s: %d MB", file, most/1e6)
		if err != nil || most > meter.DefaultHeld+3*int64(text.Len()) {
			t.Errorf("%s: %d MB, %v", file, most/1e6, err)
		}
	}
}

// Whatever is in a file beside the data: an error or what it states, and no panic.
func TestFormsOfSideFiles(t *testing.T) {
	for file, read := range sideFiles(t) {
		for _, text := range []string{
			"", "\x00", "\x00\x00\x00", "\xff\xfe", "\xff\xfe\n", "\xef\xbb\xbf", "\xef\xbb\xbf\xef\xbb\xbf", "\n", "\r", "\"", "\"\n\"", ",",
			",\n,", strings.Repeat("[", 20_000), strings.Repeat(`{"a":`, 20_000),
			"{}", "[]", "null", "0", `""`, "{", "}", `{"format":null}`, `{"version":-1}`, strings.Repeat("a", 70_000),
			strings.Repeat("\x00", 70_000), strings.Repeat("\xe2\x80", 30_000), strings.Repeat("- ", 30_000),
		} {
			if err := read([]byte(text)); err != nil && len(err.Error()) > 2000 {
				t.Errorf("%s, %.20q...: an error of %d bytes", file, text, len(err.Error()))
			}
		}
	}
}
