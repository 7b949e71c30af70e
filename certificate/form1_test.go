package certificate

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
)

// Certificates of form 1, written by the program before form 2 existed
// (testdata/form1, commit ff2cc38), are checked as they were then.
func TestForm1(t *testing.T) {
	for _, name := range []string{"charged", "unaccounted", "records"} {
		s, err := Load(filepath.Join("testdata", "form1", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		released, err := os.ReadFile(filepath.Join("testdata", "form1", name+".answer"))
		if err != nil {
			t.Fatal(err)
		}
		if s.Certificate.Format != Format1 || s.Certificate.StatesSchema() {
			t.Errorf("%s: format %s", name, s.Certificate.Format)
		}
		if _, err := Check(t.Context(), s, bytes.NewReader(released)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Check(t.Context(), s, bytes.NewReader(append(released, 'x'))); noren.KindOf(err) != noren.NotMet {
			t.Errorf("%s: another answer passes: %v", name, err)
		}
		text, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		// The form cannot be exchanged, and form 1 cannot carry what is of form 2.
		for what, changed := range map[string]string{
			"form 2":  strings.Replace(string(text), Format1, Format, 1),
			"analyst": strings.Replace(string(text), `"released"`, `"analyst": {"identity": "authenticated", "name": "mori"}, "released"`, 1),
		} {
			forged, err := Parse([]byte(changed))
			if err == nil {
				_, err = Check(t.Context(), forged, bytes.NewReader(released))
			}
			if err == nil {
				t.Errorf("%s: %s passes", name, what)
			}
		}
	}
}

func TestForm2Needs(t *testing.T) {
	for what, change := range map[string]func(c *Certificate){
		"source":            func(c *Certificate) { c.Source = nil },
		"data set":          func(c *Certificate) { c.Source.Dataset = "" },
		"version":           func(c *Certificate) { c.Source.Version = 0 },
		"definition":        func(c *Certificate) { c.Source.DefinitionSHA256 = "" },
		"definition's form": func(c *Certificate) { c.Source.DefinitionSHA256 = "xyz" },
		"fingerprint":       func(c *Certificate) { c.Source.Fingerprint = "" },
		"reading":           func(c *Certificate) { c.Source.Reading = nil },
		"reading's form":    func(c *Certificate) { c.Source.Reading = []byte(`[1]`) },
		"model's form":      func(c *Certificate) { c.Source.ModelSHA256 = "abc" },
		"analyst":           func(c *Certificate) { c.Analyst = nil },
		"analyst's name":    func(c *Certificate) { c.Analyst.Name = "" },
		"identity":          func(c *Certificate) { c.Analyst.Identity = "believed" },
		"request":           func(c *Certificate) { c.RequestSHA256 = "" },
		"unaccounted source": func(c *Certificate) {
			c.Accounting, c.Charge = Unaccounted, nil
		},
	} {
		c := charged([]byte("x"))
		change(&c)
		if _, err := Sign(testKey(1), c); noren.KindOf(err) != noren.BadData {
			t.Errorf("without %s: %v", what, err)
		}
	}
}
