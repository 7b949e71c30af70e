package publish_test

import (
	"context"
	"testing"

	"github.com/noren-privacy/noren/kanon/publish"
)

// BenchmarkMatched publishes groups of five of people, with means and modes and
// matched.
func BenchmarkMatched(b *testing.B) {
	cols, group, groups := people(b, 200_000, 5, 1)
	for _, mode := range []publish.Mode{publish.Aggregate, publish.Matched} {
		b.Run(mode.String(), func(b *testing.B) {
			for b.Loop() {
				if _, err := publish.Publish(context.Background(), cols, textColumns(cols), group, groups, publish.Options{Mode: mode}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
