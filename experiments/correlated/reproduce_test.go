package correlated

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

func TestRun(t *testing.T) {
	randtest.SkipShort(t)
	ctx := context.Background()
	r, err := Run(ctx, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Report) != 9 || len(r.Comparison) != 9 || len(r.Harm) != 5 {
		t.Fatalf("%d, %d and %d rows", len(r.Report), len(r.Comparison), len(r.Harm))
	}
	for _, c := range r.Report {
		if !c.Agrees {
			t.Errorf("%s: %s, printed %s", c.What, c.Shown, c.Printed)
		}
	}
	for _, c := range r.Comparison {
		if !c.Agrees {
			t.Errorf("%+v", c)
		}
	}
	for _, c := range r.Harm {
		if !c.Agrees {
			t.Errorf("%+v", c)
		}
	}
	p, err := Figures(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Figure 1a", "Figure 2", "Harm of an answer", "44.93", "<svg"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
}
