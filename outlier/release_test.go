package outlier_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/outlier"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

// A walk from a file of sensors to a signed answer.
func TestThroughTheWayOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("sensor,temperature,load\n")
	const n, out = 3000, 30
	for i := range n {
		x, y := 20+rng.NormFloat64(), 50+5*rng.NormFloat64()
		if i < out {
			x, y = -20+2*float64(i), 99 // alone, each
		}
		fmt.Fprintf(&text, "s%d,%.3f,%.2f\n", i, x, y)
	}
	path := filepath.Join(t.TempDir(), "sensors.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, share := range []float64{0, 0.1} {
		m, err := outlier.New(context.Background(), outlier.Options{
			Axes: []axis.Axis{
				{Field: table.Field{Name: "load", Type: table.Decimal}, Low: 0, High: 100, Scale: 5},
				{Field: table.Field{Name: "temperature", Type: table.Decimal}, Low: -50, High: 50},
			},
			Step: 0.001, Radius: 1, K: 5, IntervalShare: share,
			Cost: account.Cost{Epsilon: 20 * account.EpsilonUnits},
		})
		if err != nil {
			t.Fatal(err)
		}
		d, err := (&dataset.Definition{AtMost: 10_000, Columns: []dataset.Column{
			{Name: "sensor"},
			{Name: "temperature", Type: "decimal"},
			{Name: "load", Type: "decimal"},
		}}).Complete()
		if err != nil {
			t.Fatal(err)
		}
		data, err := release.Unaccounted(context.Background(), path, d, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := release.Run(context.Background(), release.Request{
			Mechanism: m, Dataset: data,
			Signer: key, Tool: certificate.Tool{Name: "test", Version: "1"},
		})
		if err != nil {
			t.Fatal(err)
		}
		var got outlier.Answer
		if err := json.Unmarshal(a.Payload, &got); err != nil {
			t.Fatal(err)
		}
		// The noise is secret: its standard deviation is about 3, and it is
		// beyond 500 less than once in ten million.
		if math.Abs(float64(got.Count)-out) > 500 || got.Interval.Low > got.Count || got.Interval.High < got.Count {
			t.Errorf("%+v", got)
		}
	}
}
