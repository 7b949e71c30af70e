package shard

import (
	"context"
	"crypto/sha256"
	"reflect"
	"testing"

	"github.com/noren-privacy/noren/internal/identity/identitytest"
	"github.com/noren-privacy/noren/kanon/gate"
)

// WithSteps has a function called in place of each use of the file system by a commit, with what
// it is to do; it changes nothing where looks is true.
func WithSteps(ctx context.Context, f func(looks bool, do func() error) error) context.Context {
	return context.WithValue(ctx, stepKey{}, stepper(func(kind change, do func() error) error { return f(kind == looks, do) }))
}

// RecoverIn is [Job.Recover] of one folder of a job.
func RecoverIn(ctx context.Context, folder, dir string) error {
	_, err := recoverIn(ctx, folder, dir)
	return err
}

// Resign makes a result one of another text of its file.
func (m *Made) Resign(text []byte) { m.SHA256, m.Size = sha256.Sum256(text), int64(len(text)) }

// CheckOrderFields checks that each field of a job counts for its order or is listed.
func CheckOrderFields(t *testing.T) {
	round, seed := 2, uint64(3)
	j := &Job{
		Shards: []Shard{{}}, Missing: []string{"NA"}, Fates: []gate.Fate{{}}, FreeText: []string{"x"}, Key: []byte{1}, Notes: []string{"x"},
		Fields: []Field{{Name: "age", Levels: []string{"x"}, Round: &round, Hierarchy: &Hierarchy{Name: "h", Rows: [][]string{{"a", "*"}}}}},
		Options: Options{
			K: 5, Method: "mdav", Refine: "fast", Scale: "zscore", Publish: "aggregate", Ranges: "tight", SecretSeed: []byte{1},
			Seed: &seed,
		},
	}
	sum := func() [sha256.Size]byte {
		run, err := j.Options.of()
		if err == nil {
			j.run = run
			j.sum, err = j.run.RequestSum(j, unordered)
		}
		if err != nil {
			t.Fatal(err)
		}
		return j.sum
	}
	base := sum()
	identitytest.Each(t, j, unordered, func(name string) {
		if _, left := unordered[name]; left == (sum() != base) {
			t.Errorf("%s: listed as without effect: %t, has an effect: %t", name, left, sum() != base)
		}
	})
	// The options count by what follows from them.
	for name, change := range map[string]func(o *Options){
		"k":       func(o *Options) { o.K = 6 },
		"unit":    func(o *Options) { o.Unit = "person" },
		"method":  func(o *Options) { o.Method = "vmdav" },
		"gamma":   func(o *Options) { o.Gamma = 0.5 },
		"m":       func(o *Options) { o.M = 4 },
		"coarse":  func(o *Options) { o.Coarse = 100 },
		"refine":  func(o *Options) { o.Refine = "off" },
		"scale":   func(o *Options) { o.Scale = "minmax" },
		"publish": func(o *Options) { o.Publish = "shares" },
		"ranges":  func(o *Options) { o.Ranges = "fixed" },
		"block":   func(o *Options) { o.Block = 100 },
	} {
		was := j.Options
		change(&j.Options)
		if sum() == base {
			t.Errorf("%s of the options does not count", name)
		}
		j.Options = was
	}
	if n := reflect.TypeFor[Options]().NumField(); n != 11+2 {
		t.Errorf("the options have %d fields, and this test knows 11 and two seeds", n)
	}
}
