// Package acceptance holds trials of noren serve as its users meet it: a process of its
// own, asked over HTTP alone, killed, restored from copies and timed. It has tests only.
//
// Short versions are part of the default run. The long ones are run by hand, since they
// take hours:
//
//	NOREN_TRIALS=1 go test -v -timeout 8h -run '^TestLongServed' ./internal/acceptance
//
// docs/benchmarks.md has the figures, and the command of each trial.
package acceptance
