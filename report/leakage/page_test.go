package leakage

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/correlated"
)

func TestPage(t *testing.T) {
	for _, c := range []struct {
		model, query string
		want         []string
	}{
		{
			`{"type":"chain","states":["off","on"],"source":"made up","init":[0.8,0.2],"P":[[0.9,0.1],[0.3,0.7]],"length":30}`, `{"count":"on"}`,
			[]string{"made up", "Who learns most", "Markov quilt", "Leakage over what is known", "off"},
		},
		{
			`{"type":"chain","states":["off","on"],"init":[0.8,0.2],"P":[[0.95,0.05],[0.2,0.8]],"length":1440}`, `{"count":"on"}`,
			[]string{"1,440", "not stated"},
		},
		{
			`{"type":"tree","parent":[-1,0,0,0,-1,4],"prior":[0.9,0.1],"cpt":[[0.95,0.05],[0.4,0.6]]}`, `{"histogram":true}`,
			[]string{"histogram"},
		},
		{
			`{"type":"box","centre":{"type":"chain","init":[0.5,0.5],"P":[[0.9,0.1],[0.1,0.9]],"length":9},"low":[[0.8,0.05],[0.05,0.8]],"high":[[0.95,0.2],[0.2,0.95]]}`, `{"count":1}`,
			[]string{"tanh rule"},
		},
	} {
		if testing.Short() && strings.Contains(c.model, "1440") {
			continue // takes more than half a second
		}
		f, err := correlated.ParseModel(strings.NewReader(c.model), "m.json")
		if err != nil {
			t.Fatal(err)
		}
		q, err := correlated.ParseQuery(strings.NewReader(c.query), "q.json", f)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Page(context.Background(), f, q, 1, correlated.LeakageOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := p.Write(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: the page does not hold %q", c.model, want)
			}
		}
		if strings.Contains(b.String(), "NaN") {
			t.Errorf("%s: the page holds NaN", c.model)
		}
	}
}
