package kanon_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/japanese"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// keys are the values of the column key in the order of the release.
func keys(t fataler, release []byte) []string {
	t.Helper()
	header, rows := readCSV(t, release)
	at := slices.Index(header, "key")
	var out []string
	for _, row := range rows {
		out = append(out, row[at])
	}
	return out
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}

func TestOrder(t *testing.T) {
	rows := makePeople(150, 11)
	j := job(t, t.TempDir(), rows)
	dir := t.TempDir()
	release := func(name string, change func(*kanon.Job)) []byte {
		j := j
		j.Output.Path = filepath.Join(dir, name)
		change(&j)
		anonymize(t, j)
		text := read(t, j.Output.Path)
		check(t, 5, people, rows, text)
		return text
	}
	first := release("seed 1.csv", func(j *kanon.Job) { j.Seed = ptr[uint64](1) })
	for name, change := range map[string]func(*kanon.Job){
		"one worker.csv":     func(j *kanon.Job) { j.Workers = 1 },
		"three workers.csv":  func(j *kanon.Job) { j.Workers = 3 },
		"little memory.csv":  func(j *kanon.Job) { j.Memory = 1 },
		"another folder.csv": func(j *kanon.Job) { j.Output.Path = filepath.Join(t.TempDir(), "out.csv") },
	} {
		again := release(name, func(j *kanon.Job) {
			j.Seed = ptr[uint64](1)
			change(j)
		})
		if !bytes.Equal(first, again) {
			t.Errorf("%s: the same seed gives another release", name)
		}
	}
	source := keys(t, release("kept.csv", func(j *kanon.Job) { j.KeepOrder = true }))
	if !slices.IsSorted(source) {
		t.Error("the order was to be kept")
	}
	seen := map[string]string{fmt.Sprint(source): "the source"}
	for name, change := range map[string]func(*kanon.Job){
		"seed 1 again.csv": func(j *kanon.Job) { j.Seed = ptr[uint64](1) },
		"seed 0.csv":       func(j *kanon.Job) { j.Seed = ptr[uint64](0) },
		"seed 2.csv":       func(j *kanon.Job) { j.Seed = ptr[uint64](2) },
		"drawn.csv":        func(*kanon.Job) {},
		"drawn again.csv":  func(*kanon.Job) {},
	} {
		order := keys(t, release(name, change))
		if was, known := seen[fmt.Sprint(order)]; known {
			t.Errorf("%s has the order of %s", name, was)
		}
		seen[fmt.Sprint(order)] = name
		if !slices.Equal(sorted(order), source) {
			t.Errorf("%s has other records", name)
		}
	}
}

func TestExistingOutput(t *testing.T) {
	dir := t.TempDir()
	j := job(t, dir, makePeople(30, 12))
	if err := os.WriteFile(j.Output.Path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := kanon.Anonymize(context.Background(), j)
	if noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), "exists already") || string(read(t, j.Output.Path)) != "precious" ||
		list(t, dir) != "in.csv out.csv" {
		t.Errorf("%v; the folder holds %s", err, list(t, dir))
	}
	j.Output.Force = true
	anonymize(t, j)
	if _, rows := readCSV(t, read(t, j.Output.Path)); len(rows) != 30 || list(t, dir) != "in.csv out.csv" {
		t.Errorf("%d records; the folder holds %s", len(rows), list(t, dir))
	}
	// A failure leaves what was there, force or not.
	before := read(t, j.Output.Path)
	j.K = 31
	if _, err := kanon.Anonymize(context.Background(), j); noren.KindOf(err) != noren.BadData || !bytes.Equal(before, read(t, j.Output.Path)) {
		t.Errorf("%v, and the file was touched", err)
	}
}

func TestOutputThatCannotBe(t *testing.T) {
	for name, path := range map[string]string{
		"a folder that is not there": "none/out.csv", "no ending": "out",
		"an ending of another format": "out.ods", "a folder": ".",
	} {
		dir := t.TempDir()
		j := job(t, dir, makePeople(20, 14))
		j.Output.Path = filepath.Join(dir, path)
		if _, err := kanon.Anonymize(context.Background(), j); noren.KindOf(err) != noren.Usage || list(t, dir) != "in.csv" {
			t.Errorf("%s: %v; the folder holds %s", name, err, list(t, dir))
		}
	}
}

func TestStdout(t *testing.T) {
	rows := makePeople(40, 15)
	dir := t.TempDir()
	j := job(t, dir, rows)
	var out bytes.Buffer
	j.Output = kanon.Output{Path: "-", Stdout: &out}
	r := anonymize(t, j)
	check(t, 5, people, rows, out.Bytes())
	if r.Output != "-" || r.Verified.File.String() != "standard output" || list(t, dir) != "in.csv" {
		t.Errorf("%+v; the folder holds %s", r, list(t, dir))
	}
	// Nothing goes out that was not verified, and nothing stays open.
	defer nothingStaysOpen(t)()
	out.Reset()
	j.Diversity = hard
	if _, err := kanon.Anonymize(context.Background(), j); noren.KindOf(err) != noren.NotMet || out.Len() > 0 {
		t.Errorf("%v, and %d bytes went out", err, out.Len())
	}
	// A pipe that breaks is reported.
	j.Diversity, j.Output.Stdout = nil, broken{}
	if _, err := kanon.Anonymize(context.Background(), j); err == nil || !strings.HasPrefix(err.Error(), "standard output: ") {
		t.Errorf("got %v", err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("the pipe is broken") }

// A release is written as its source is, and packed as its name says.
func TestDialects(t *testing.T) {
	rows := makePeople(40, 16)
	dir := t.TempDir()
	j := job(t, dir, rows)
	unpack := map[string]func([]byte) ([]byte, error){
		"out.csv": func(b []byte) ([]byte, error) { return b, nil },
		"out.csv.gz": func(b []byte) ([]byte, error) {
			r, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				return nil, err
			}
			return io.ReadAll(r)
		},
		"out.csv.zst": func(b []byte) ([]byte, error) {
			r, err := zstd.NewReader(bytes.NewReader(b))
			if err != nil {
				return nil, err
			}
			defer r.Close()
			return io.ReadAll(r)
		},
	}
	for name, unpack := range unpack {
		j.Output.Path = filepath.Join(dir, name)
		r := anonymize(t, j)
		text, err := unpack(read(t, j.Output.Path))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		check(t, 5, people, rows, text)
		if r.Verified.Rows != 40 {
			t.Errorf("%s: %+v", name, r.Verified)
		}
	}
	// A dialect that is asked for.
	j.Output = kanon.Output{Path: filepath.Join(dir, "semicolons.csv"), Dialect: &csvio.Dialect{Delimiter: ';', CRLF: true, BOM: true}}
	anonymize(t, j)
	text := read(t, j.Output.Path)
	if !bytes.HasPrefix(text, []byte("\xef\xbb\xbfkey;age;note;sex;day;income;level;illness;pay\r\n")) {
		t.Errorf("got %.80q", text)
	}
	// And one that the source has.
	semicolons := filepath.Join(dir, "in2.csv")
	if err := os.WriteFile(semicolons, []byte("age;town\r\n"+strings.Repeat("30;Ulm\r\n31;Ulm, upper\r\n", 5)), 0o600); err != nil {
		t.Fatal(err)
	}
	j = kanon.Job{
		Kept:   []string{"key", "note"},
		Source: open(t, semicolons), Schema: table.Schema{
			Fields: []table.Field{{Name: "age", Role: table.Quasi, Type: table.Integer}, {Name: "town", Role: table.Quasi}},
		},
		Output: kanon.Output{Path: filepath.Join(dir, "out2.csv")}, Options: kanon.Options{K: 5, Publish: publish.Generalize, KeepOrder: true},
	}
	anonymize(t, j)
	if got, want := string(read(t, j.Output.Path)), "age;town\r\n"+strings.Repeat("30;Ulm\r\n31;Ulm, upper\r\n", 5); got != want {
		t.Errorf("got %q", got)
	}
	j.Output.Path = filepath.Join(dir, "out2.tsv")
	anonymize(t, j)
	if got := string(read(t, j.Output.Path)); !strings.HasPrefix(got, "age\ttown\r\n30\tUlm\r\n31\tUlm, upper\r\n") {
		t.Errorf("got %q", got)
	}
}

// The release is read back as it was written, and not as it looks: the only
// column of this one looks like two.
func TestReadBackAsWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "in.csv")
	text := "a;b\n" + strings.Repeat("1;2\n", 6)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := file.Open(context.Background(), path, file.Options{Delimiter: ','})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	j := kanon.Job{
		Kept:   []string{"key", "note"},
		Source: src, Schema: table.Schema{Fields: []table.Field{{Name: "a;b", Role: table.Quasi}}},
		Output: kanon.Output{Path: filepath.Join(dir, "out.csv")}, Options: kanon.Options{K: 3},
	}
	if r := anonymize(t, j); r.AchievedK != 6 || string(read(t, j.Output.Path)) != text {
		t.Errorf("got %q, %+v", read(t, j.Output.Path), r)
	}
}

// A table in Shift_JIS stays one: names, values and what is made of them.
func TestShiftJIS(t *testing.T) {
	fields := []table.Field{{Name: "key"}, {Name: "年齢", Role: table.Quasi, Type: table.Integer}, {Name: "都市", Role: table.Quasi}, {Name: "備考"}}
	var rows [][]string
	for i := range 24 {
		rows = append(rows, []string{fmt.Sprint("k", i), fmt.Sprint(20 + i), []string{"東京", "大阪", "表示"}[i%3], "申し込み、㈱能登 ｱｲｳ"})
	}
	dir := t.TempDir()
	writeCSV(t, filepath.Join(dir, "utf8.csv"), fields, rows)
	coded, err := japanese.ShiftJIS.NewEncoder().Bytes(read(t, filepath.Join(dir, "utf8.csv")))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "in.csv"), coded, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []publish.Mode{publish.Aggregate, publish.Generalize, publish.Matched, publish.Shares} {
		j := kanon.Job{
			Kept:   []string{"key", "備考"},
			Source: open(t, filepath.Join(dir, "in.csv")), Schema: table.Schema{Fields: fields},
			Output: kanon.Output{Path: filepath.Join(dir, mode.String()+".csv")}, Options: kanon.Options{K: 4, Publish: mode},
		}
		anonymize(t, j)
		text, err := japanese.ShiftJIS.NewDecoder().Bytes(read(t, j.Output.Path))
		if err != nil {
			t.Fatal(err)
		}
		check(t, 4, fields, rows, text)
	}
}
