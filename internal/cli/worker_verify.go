package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/frames"
	"github.com/noren-privacy/noren/kanon/shard"
)

// newWorkerVerifyStart begins the verification of a release in shards: it writes one frame
// that lists the files.
func newWorkerVerifyStart(t *terminal) *cobra.Command {
	var job string
	var k int
	var quasi []string
	c := &cobra.Command{
		Use:   "verify-start FOLDER --job FOLDER",
		Short: "Begin to verify a release in shards",
		Args:  exactly("FOLDER"),
		RunE: func(c *cobra.Command, args []string) error {
			s := &stage{t: t}
			return t.answerFrames(func(w *frames.Writer) error {
				s.out = w
				return beginVerify(c, s, args[0], job, k, quasi)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&job, "job", "", "`FOLDER` of the job")
	f.IntVar(&k, "k", 0, "smallest number of records that must share their quasi-identifiers (default: as the manifest states)")
	f.StringSliceVar(&quasi, "quasi", nil, "quasi-identifiers: `columns`, comma-separated (default: as the manifest states)")
	return c
}

func beginVerify(c *cobra.Command, s *stage, folder, job string, k int, quasi []string) error {
	switch {
	case job == "":
		return noren.Usagef("--job", "expected a folder, got no name")
	case c.Flags().Changed("k") && k < 1:
		return noren.Usagef("--k", "expected at least 1, got %d", k)
	}
	v, err := shard.NewVerification(c.Context(), folder, k, quasi, buildText())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(job, 0o700); err != nil {
		return noren.Usagef(job, "expected a folder that can be made").Hinted("%v", atomicfile.Reason(err))
	}
	if err := v.Put(job); err != nil {
		return err
	}
	begun := &api.ShardsBegun{Protocol: shard.Protocol, Output: v.Folder, K: v.K, Notes: []string{}}
	for n, p := range v.Files {
		begun.Shards = append(begun.Shards, api.ShardFile{Shard: n, Path: filepath.Join(v.Folder, p.Name), Bytes: p.Size})
	}
	return s.writeJSON(begun)
}

// newWorkerVerify is a stage of a verification.
func newWorkerVerify(t *terminal, name, short string, numbered bool,
	run func(ctx context.Context, s *stage, v *shard.Verification) error,
) *cobra.Command {
	var f workerFlags
	c := &cobra.Command{
		Use:   name + " --job FOLDER",
		Short: short,
		Args:  exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if f.job == "" {
				return noren.Usagef("--job", "expected a folder, got no name")
			}
			defer limitMemory(workerMemory)()
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			s := &stage{t: t, f: &f, in: received{frames.NewReader(t.stdin)}}
			return t.answerFrames(func(w *frames.Writer) error {
				s.out = w
				v, err := shard.OpenVerification(f.job, buildText())
				if err != nil {
					return err
				}
				return run(c.Context(), s, v)
			})
		},
	}
	c.Flags().StringVar(&f.job, "job", "", "`FOLDER` of the job")
	if numbered {
		c.Flags().IntVar(&f.shard, "shard", 0, "`NUMBER` of a file, from 0")
	}
	return c
}

func workerVerifyPart(ctx context.Context, s *stage, v *shard.Verification) error {
	frame, err := v.File(ctx, s.f.shard)
	if err != nil {
		return err
	}
	return s.out.Write(frame)
}

// workerVerdict writes the result and its text also where the release does not have what
// was asked for; the exit code is 4 then, with the last frame.
func workerVerdict(ctx context.Context, s *stage, v *shard.Verification) error {
	found, err := v.Verdict(ctx, s.in)
	if err != nil {
		return err
	}
	r := api.NewVerification(found)
	if err := s.writeJSON(r); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := printVerified(&text, r); err != nil {
		return err
	}
	if err := s.out.Write(text.Bytes()); err != nil {
		return err
	}
	if !found.Met {
		if err := s.out.Close(); err != nil {
			return err
		}
		return found.Err()
	}
	return nil
}
