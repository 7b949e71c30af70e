package xlsx

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"io"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
)

// A part that states a size past the limit is refused before it is unpacked; one that
// states less than it unpacks to is damaged.
func TestUnpackingIsLimited(t *testing.T) {
	text := "<sst>" + strings.Repeat("<si><t>aaaaaaaaaaaaaaaa</t></si>", 1<<14) + "</sst>"
	for _, c := range []struct {
		name    string
		stated  int
		left    int64
		refusal string
	}{
		{"within", len(text), int64(len(text)), ""},
		{"stated", len(text), int64(len(text)) - 1, "in all"},
		{"stated past all limits", 1<<34 + 1, 1 << 34, "unpacks to more than 16 GiB in all"},
		{"more than stated", 10, 1 << 16, "is damaged"},
	} {
		b := &book{
			name: "a.xlsx", meter: meter.New(meter.Limits{Unpacked: c.left}, 0), file: &failing{},
			parts: map[string]*zip.File{"part": packed(t, text, c.stated)},
		}
		seen := 0
		err := b.each("part", func(*scanner) error { seen++; return nil })
		switch {
		case c.refusal == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.refusal != "" && (noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), c.refusal)):
			t.Errorf("%s: %v", c.name, err)
		case c.refusal != "" && seen > 10_000:
			t.Errorf("%s: %d elements were read", c.name, seen)
		}
	}
}

// packed is text as a part of an archive that states a size for it.
func packed(t *testing.T, text string, stated int) *zip.File {
	t.Helper()
	var deflated, archive bytes.Buffer
	w, err := flate.NewWriter(&deflated, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(&archive)
	part, err := z.CreateRaw(&zip.FileHeader{
		Name: "part", Method: zip.Deflate, CompressedSize64: uint64(deflated.Len()),
		UncompressedSize64: uint64(stated),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write(deflated.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return r.File[0]
}
