package parts_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table/parts"
)

// released is a folder with a release of one file.
func released(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	sum := sha256.Sum256([]byte(text))
	m := parts.Manifest{
		Format: parts.ManifestFormat, Rows: 2,
		Files: []parts.Part{{Name: name, Size: int64(len(text)), Rows: 2, SHA256: hex.EncodeToString(sum[:])}},
	}
	list, err := m.Text()
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{name: text, parts.ManifestName: string(list)})
	return dir
}

// checksums are those that Hadoop writes beside a file.
func checksums(text string, chunk int) string {
	out := binary.BigEndian.AppendUint32([]byte("crc\x00"), uint32(chunk))
	for at := 0; at < len(text); at += chunk {
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE([]byte(text[at:min(at+chunk, len(text))])))
	}
	return string(out)
}

const part = "part-00001.csv"

var content = "a\n" + strings.Repeat("1\n", 700)

// A file of a folder that is no part of the table is named, whatever its name.
func TestUnreadFilesAreNamed(t *testing.T) {
	isTable := func(name string) bool { return strings.HasSuffix(name, ".csv") }
	for name, c := range map[string]struct {
		files map[string]string
		where string
	}{
		"a dot":             {map[string]string{".rows.csv": "a\n1\n"}, ".rows.csv"},
		"an underscore":     {map[string]string{"_rows.csv": "a\n1\n"}, "_rows.csv"},
		"of another system": {map[string]string{".DS_Store": "x"}, ".DS_Store"},
		"Japanese":          {map[string]string{"_元の表 一.csv": "a\n1\n"}, "_元の表 一.csv"},
		"hidden folder":     {map[string]string{"_job/plan": "x"}, "_job"},
		"folder":            {map[string]string{"more/.rows": "x"}, "more"},
		"a full _SUCCESS":   {map[string]string{"_SUCCESS": "x"}, "_SUCCESS"},
		"a full _started":   {map[string]string{"_started_12": "x"}, "_started_12"},
		"_started":          {map[string]string{"_started_": ""}, "_started_"},
		"_committed":        {map[string]string{"_committed_12": "a\n1\n"}, "_committed_12"},
		"_committed, names": {map[string]string{"_committed_12": `{"added":["` + part + `"],"removed":["age 31, ward A"]}`}, "_committed_12"},
		"_committed, more":  {map[string]string{"_committed_12": `{"added":["` + part + `"],"removed":[],"rows":"1"}`}, "_committed_12"},
		"_committed, twice": {map[string]string{"_committed_12": `{"added":["x"],"added":[],"removed":[]}`}, "_committed_12"},
		"crc of no file":    {map[string]string{".part-00002.csv.crc": checksums("a", 512)}, ".part-00002.csv.crc"},
		"crc of another":    {map[string]string{"." + part + ".crc": checksums(content+"1\n", 512)}, "." + part + ".crc"},
		"a longer crc":      {map[string]string{"." + part + ".crc": checksums(content, 512) + "a,b"}, "." + part + ".crc"},
		"a shorter crc":     {map[string]string{"." + part + ".crc": checksums(content, 512)[:12]}, "." + part + ".crc"},
		"crc without chunk": {map[string]string{"." + part + ".crc": "crc\x00\x00\x00\x00\x00"}, "." + part + ".crc"},
		"no crc":            {map[string]string{"." + part + ".crc": "a\n1\n"}, "." + part + ".crc"},
		"crc of _SUCCESS":   {map[string]string{"._SUCCESS.crc": checksums("a", 512)}, "._SUCCESS.crc"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := released(t, part, content)
			write(t, dir, c.files)
			named(t, parts.CheckManifest(t.Context(), dir), filepath.Join(dir, c.where))
			if err := os.Remove(filepath.Join(dir, parts.ManifestName)); err != nil {
				t.Fatal(err)
			}
			named(t, parts.Unread(t.Context(), dir, isTable), filepath.Join(dir, c.where))
		})
	}
	links := map[string]func(dir string) error{
		"._link":            func(dir string) error { return os.Symlink(part, filepath.Join(dir, "._link")) },
		"_SUCCESS":          func(dir string) error { return os.Symlink(os.DevNull, filepath.Join(dir, "_SUCCESS")) },
		"_loop":             func(dir string) error { return os.Symlink(".", filepath.Join(dir, "_loop")) },
		"." + part + ".crc": func(dir string) error { return os.Symlink(part, filepath.Join(dir, "."+part+".crc")) },
	}
	for name, link := range links {
		dir := released(t, part, content)
		if err := link(dir); err != nil {
			t.Fatal(err)
		}
		named(t, parts.CheckManifest(t.Context(), dir), filepath.Join(dir, name))
	}
	dir := released(t, part, content)
	if err := os.Rename(filepath.Join(dir, part), filepath.Join(dir, "..", "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../elsewhere", filepath.Join(dir, part)); err != nil {
		t.Fatal(err)
	}
	named(t, parts.CheckManifest(t.Context(), dir), filepath.Join(dir, part))
}

func named(t *testing.T, err error, where string) {
	t.Helper()
	if noren.KindOf(err) != noren.NotMet || noren.CodeOf(err) != parts.CodeUnread || !strings.Contains(err.Error(), where) {
		t.Errorf("got %v (kind %v), want %s named", err, noren.KindOf(err), where)
	}
}

// What Spark and Hadoop write beside a table is no fault, and a subfolder of tables that are
// read is none either.
func TestFilesOfEnginesAreKnown(t *testing.T) {
	dir := released(t, part, content)
	list, err := os.ReadFile(filepath.Join(dir, parts.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	committed, err := json.Marshal(map[string][]string{"added": {part}, "removed": {"part-00000-tid-12-3f-c000.snappy.parquet"}})
	if err != nil {
		t.Fatal(err)
	}
	engine := map[string]string{
		"_SUCCESS": "", "._SUCCESS.crc": checksums("", 512), "_started_4711": "", "_committed_4711": string(committed),
		"." + part + ".crc": checksums(content, 512), "._committed_4711.crc": checksums(string(committed), 64),
	}
	write(t, dir, engine)
	write(t, dir, map[string]string{"._MANIFEST.crc": checksums(string(list), 512)})
	if err := parts.CheckManifest(t.Context(), dir); err != nil {
		t.Error(err)
	}
	plain := t.TempDir()
	write(t, plain, map[string]string{"year=2024/" + part: content, "year=2024/_SUCCESS": ""})
	engine[part] = content
	write(t, plain, engine)
	if err := parts.Unread(t.Context(), plain, func(name string) bool { return strings.HasSuffix(name, ".csv") }); err != nil {
		t.Error(err)
	}
}
