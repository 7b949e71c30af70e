package service_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/service"
)

// ratioStage is a private table of ages and a public one of the same ages with incomes.
func ratioStage(t *testing.T) (s *service.Service, public string) {
	t.Helper()
	var own, others strings.Builder
	own.WriteString("age,sex\n")
	others.WriteString("age,sex,income\n")
	for i := range 240 {
		line := []string{"20,f", "35,m", "50,f", "65,m"}[i%4]
		own.WriteString(line + "\n")
		others.WriteString(line + "," + []string{"100", "200", "300", "400"}[i%4] + "\n")
	}
	s, dir := granted(t, own.String(), &dataset.Definition{Columns: []dataset.Column{
		{Name: "age", Type: "integer", Bounds: []string{"0", "110"}}, {Name: "sex", Type: "category", Keys: []string{"f", "m"}},
	}})
	s.Note = nil
	public = filepath.Join(dir, "public.csv")
	write(t, public, others.String())
	return s, public
}

// statedPublic is what a certificate says of the public table.
func statedPublic(t *testing.T, c *certificate.Signed) string {
	t.Helper()
	type table struct {
		SHA256 string `json:"sha256"`
	}
	var p struct {
		Table     *table `json:"public_table"`
		Questions []struct {
			Parameters struct {
				Fit struct {
					Table *table `json:"public_table"`
				} `json:"fit"`
			} `json:"parameters"`
		} `json:"questions"`
	}
	must(t, json.Unmarshal(c.Certificate.Mechanism.Parameters, &p))
	if p.Table == nil && len(p.Questions) == 1 {
		p.Table = p.Questions[0].Parameters.Fit.Table
	}
	if p.Table == nil {
		return ""
	}
	return p.Table.SHA256
}

// An answer by weights depends on the whole public table: another one of the same ages is
// another question. Under the same request key it is a conflict, and no stored answer is
// taken for it. The certificate says which public table it is from.
func TestAnotherPublicTableIsAnotherQuestion(t *testing.T) {
	s, public := ratioStage(t)
	figure := func(reuse bool, key string) (*certificate.Signed, bool, error) {
		a, err := s.Ask(t.Context(), &api.AskRequest{Dataset: "people", Reuse: reuse, RequestKey: key, Questions: []api.Question{
			{Of: kinds.Ratio{Public: public, Columns: []string{"age"}, Of: "mean", Column: "income"}, Pay: &api.Amount{Epsilon: "10"}},
		}})
		if err != nil {
			return nil, false, err
		}
		return a.Certificate, a.Repeated, nil
	}
	fits := 0
	fit := func(reuse bool, key string) (*certificate.Signed, bool, error) {
		fits++
		r := &api.RatioFitRequest{
			Ask:        api.Ask{Dataset: "people", Epsilon: "10", Reuse: reuse, RequestKey: key},
			RatioSpace: api.RatioSpace{Public: public, Columns: []string{"age"}},
		}
		r.Output = filepath.Join(t.TempDir(), "weights.csv")
		a, err := s.RatioFit(t.Context(), r)
		if err != nil {
			return nil, false, err
		}
		return a.Certificate, a.Repeated, nil
	}
	text, err := os.ReadFile(public)
	must(t, err)
	others := map[string]string{
		"other incomes":   strings.ReplaceAll(string(text), ",400", ",900"),
		"another order":   "age,sex,income\n" + reversed(strings.TrimPrefix(string(text), "age,sex,income\n")),
		"a blank line":    string(text) + "\n",
		"another column":  strings.ReplaceAll(string(text), ",f,", ",m,"),
		"another newline": strings.ReplaceAll(string(text), "\n", "\r\n"),
	}
	for name, ask := range map[string]func(bool, string) (*certificate.Signed, bool, error){"figure": figure, "fit": fit} {
		write(t, public, string(text))
		first, repeated, err := ask(false, "key "+name)
		must(t, err)
		if repeated {
			t.Fatal("answered before")
		}
		sum := sha256.Sum256(text)
		if got := statedPublic(t, first); got != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: the certificate states the public table %q", name, got)
		}
		for _, again := range []struct {
			reuse bool
			key   string
		}{{true, ""}, {false, "key " + name}} {
			if c, repeated, err := ask(again.reuse, again.key); err != nil || !repeated ||
				c.Certificate.RequestSHA256 != first.Certificate.RequestSHA256 {
				t.Errorf("%s: the same is not answered again: %v", name, err)
			}
		}
		for what, other := range others {
			write(t, public, other)
			c, repeated, err := ask(true, "")
			must(t, err)
			sum := sha256.Sum256([]byte(other))
			if repeated || c.Certificate.RequestSHA256 == first.Certificate.RequestSHA256 || statedPublic(t, c) != hex.EncodeToString(sum[:]) {
				t.Errorf("%s, %s: the stored answer of another public table", name, what)
			}
			if _, _, err := ask(false, "key "+name); noren.CodeOf(err) != "conflict" {
				t.Errorf("%s, %s: under the same key: %v", name, what, err)
			}
		}
	}
	if fits == 0 {
		t.Error("nothing was fitted")
	}
}

func reversed(lines string) string {
	all := strings.Split(strings.TrimSuffix(lines, "\n"), "\n")
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return strings.Join(all, "\n") + "\n"
}
