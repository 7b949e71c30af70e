package server

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/server/records"
	"github.com/noren-privacy/noren/internal/server/tables"
)

// The preview counts the cells and names that spreadsheets take for formulas; the choice in
// the recipe makes another preview, and the file that leaves is written by it.
func TestFormulasOfARelease(t *testing.T) {
	t.Parallel()
	s := start(t, nil).steward(t)
	var text strings.Builder
	text.WriteString("age,city,=note\n")
	for i := range 60 {
		text.WriteString(strconv.Itoa(20+i%6) + "," + []string{"Rome", "=A1"}[i%2] + "," + []string{"-5", "＝1", "ok"}[i%3] + "\n")
	}
	table := s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "notes.csv", []byte(text.String()))})
	table = s.confirm(t, table, func(c *tables.Stated) {
		for i := range c.Columns {
			c.Columns[i].Role = map[string]string{"age": "quasi-identifier", "city": "quasi-identifier", "=note": "other"}[c.Columns[i].Name]
		}
	})
	for _, choice := range []string{"", "text"} {
		recipe := s.recipe(t, table.ID, func(p *records.Parameters) { p.Formulas = choice })
		p := s.preview(t, recipe.ID)
		code, level := "formulas", "attention"
		if choice == "text" {
			code, level = "formulas-text", "ok"
		}
		i := slices.IndexFunc(p.Checks, func(c records.Check) bool { return c.Message.Code == code })
		if i < 0 {
			t.Fatalf("%q: no check counts the formulas: %+v", choice, p.Checks)
		}
		if c := p.Checks[i]; c.Level != level || c.Message.Args["cells"] != 50.0 || c.Message.Args["names"] != 1.0 {
			t.Errorf("%q: %+v", choice, c)
		}
		if choice == "" {
			continue
		}
		rel := s.release(t, recipe.ID, p)
		body := string(s.do(t, 200, "GET", "/releases/"+rel.ID+"/file", nil, nil).body)
		if !strings.HasPrefix(body, "age,city,'=note\n") || strings.Contains(body, ",=A1") || !strings.Contains(body, "'=A1,") ||
			strings.Contains(body, ",＝1") {
			t.Errorf("the file holds formulas: %.200q", body)
		}
		if c := string(s.do(t, 200, "GET", "/releases/"+rel.ID+"/certificate", nil, nil).body); !strings.Contains(c, `"formulas": "text"`) &&
			!strings.Contains(c, `"formulas":"text"`) {
			t.Error("the certificate does not say how formulas were written")
		}
		if r := string(s.do(t, 200, "GET", "/recipes/"+recipe.ID+"/file", nil, nil).body); !strings.Contains(r, "formulas: text") {
			t.Errorf("the recipe does not say it: %s", r)
		}
	}
}
