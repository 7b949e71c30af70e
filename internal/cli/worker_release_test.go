package cli_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/noren-privacy/noren/internal/cli"
	"github.com/noren-privacy/noren/internal/frames"
	"github.com/noren-privacy/noren/kanon/shard"
)

// shardDriver runs the stages of a release in shards one after the other, as the driver of an
// engine does. In scripts it is the program noren-drive: noren-drive [STOP] INPUT -o FOLDER
// FLAGS... ends before the stage STOP, "cut" passes on frames that are cut off, "seeded"
// states a seed, "within" keeps the job in the
// folder of the release, and the exit code is that of the first stage that fails.
type shardDriver struct {
	job  string
	stop string
}

// errStopped says that the driver ends on purpose, errStage that a stage failed.
var errStopped = errors.New("stopped")

type errStage int

func (e errStage) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// stage runs one stage and returns its frames.
func (d *shardDriver) stage(in [][]byte, args ...string) ([][]byte, error) {
	if args[0] == d.stop {
		return nil, errStopped
	}
	var stdin, stdout bytes.Buffer
	w := frames.NewWriter(&stdin)
	for _, f := range in {
		if err := w.Write(f); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if d.stop == "cut" && len(in) > 0 && args[0] == "release" {
		stdin.Truncate(stdin.Len() - 4)
	}
	args = append([]string{"worker", args[0], "--job", d.job}, args[1:]...)
	code := cli.Run(context.Background(), args, &stdin, &stdout, os.Stderr)
	if code != 0 {
		fmt.Fprintf(os.Stderr, "%s: exit code %d\n", args[1], code)
		return nil, errStage(code)
	}
	var out [][]byte
	for r := frames.NewReader(&stdout); ; {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, bytes.Clone(f))
	}
}

func driveShards() int {
	d := &shardDriver{}
	args := os.Args[1:]
	if slices.Contains([]string{"survey", "merge", "route", "release", "check", "commit", "cut", "seeded", "within"}, args[0]) {
		d.stop, args = args[0], args[1:]
	}
	if args[0] == "verify" {
		return driven(d.verify(args[1:]))
	}
	out := args[slices.Index(args, "-o")+1]
	if strings.Contains(filepath.Base(out), "*") {
		out = filepath.Dir(out)
	}
	d.job = shard.Beside(out)
	if d.stop == "within" {
		d.job = filepath.Join(out, shard.JobFolder)
	}
	return driven(d.run(args))
}

// driven is the exit code of the driver.
func driven(err error) int {
	var code errStage
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintln(os.Stderr, err)
	return 99
}

// verify verifies a release: noren-drive verify FOLDER FLAGS...
func (d *shardDriver) verify(args []string) error {
	d.job = "verifying"
	begun, err := d.stage(nil, append([]string{"verify-start"}, args...)...)
	if err != nil {
		return err
	}
	var job struct{ Shards []struct{ Path string } }
	if err := json.Unmarshal(begun[0], &job); err != nil {
		return err
	}
	var all [][]byte
	for n := range job.Shards {
		part, err := d.stage(nil, "verify-part", "--shard", fmt.Sprint(n))
		if err != nil {
			return err
		}
		all = append(all, part...)
	}
	verdict, err := d.stage(all, "verdict")
	if err != nil {
		return err
	}
	fmt.Printf("%s\n%s", verdict[0], verdict[1])
	return nil
}

func (d *shardDriver) run(args []string) error {
	seed := ""
	if d.stop == "seeded" {
		seed = "00112233445566778899aabbccddeeff"
	}
	text, err := json.Marshal(map[string]any{"seed": seed, "seed_insecure": false})
	if err != nil {
		return err
	}
	begun, err := d.stage([][]byte{text}, append([]string{"start"}, args...)...)
	if err != nil {
		return err
	}
	var job struct{ Shards []struct{ Path string } }
	if err := json.Unmarshal(begun[0], &job); err != nil {
		return err
	}
	var plan struct{ Buckets int }
	for _, look := range []string{"1", "2"} {
		var all [][]byte
		for n := range job.Shards {
			parts, err := d.stage(nil, "survey", "--look", look, "--shard", fmt.Sprint(n))
			if err != nil {
				return err
			}
			all = append(all, parts...)
		}
		merged, err := d.stage(all, "merge", "--look", look)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(merged[0], &plan); err != nil {
			return err
		}
	}
	blocks := make([][][]byte, plan.Buckets)
	for n := range job.Shards {
		all, err := d.stage(nil, "route", "--shard", fmt.Sprint(n))
		if err != nil {
			return err
		}
		for _, f := range all {
			b := binary.LittleEndian.Uint32(f)
			blocks[b] = append(blocks[b], f)
		}
	}
	var results [][]byte
	for b, in := range blocks {
		made, err := d.stage(in, "release", "--buckets", fmt.Sprint(b), "--attempt", fmt.Sprintf("%012x", b))
		if err != nil {
			return err
		}
		results = append(results, made[0])
	}
	for _, made := range slices.Clone(results) {
		checked, err := d.stage([][]byte{made}, "check")
		if err != nil {
			return err
		}
		results = append(results, checked[0])
	}
	done, err := d.stage(results, "commit")
	if err != nil {
		return err
	}
	fmt.Printf("%s\n%s", done[0], done[1])
	return os.Remove(d.job)
}
