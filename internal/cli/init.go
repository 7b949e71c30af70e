package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/names"
	"github.com/noren-privacy/noren/spec"
)

func newInit(t *terminal) *cobra.Command {
	var input columnFlags
	var output string
	var force, schema, interactive bool
	c := &cobra.Command{
		Use:   "init FILE [-o noren.yaml]",
		Short: "Propose types and roles of columns, as a commented noren.yaml",
		Args: func(_ *cobra.Command, args []string) error {
			if schema && len(args) == 0 {
				return nil
			}
			return exactly("FILE")(nil, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if schema {
				return printSchema(t.stdout)
			}
			return runInit(c.Context(), t, &input, args[0], output, force, interactive)
		},
	}
	input.registerInput(c)
	input.registerHeader(c)
	c.Flags().StringVarP(&output, "output", "o", "-", "write to this `FILE`; - is standard output")
	c.Flags().BoolVar(&force, "force", false, "replace the file when it exists")
	c.Flags().BoolVar(&interactive, "interactive", false,
		"ask four questions about recipients, knowledge, harm and persons; the answers decide on roles and k")
	c.Flags().BoolVar(&schema, "schema", false, "print the JSON schema of noren.yaml instead")
	return c
}

func printSchema(w io.Writer) error {
	out, err := spec.JSONSchema()
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

// commented is a file as a person types it in a shell, in a comment of one line.
func commented(name string) string {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return spec.Scalar(name)
	}
	return names.Shell(name)
}

func runInit(ctx context.Context, t *terminal, input *columnFlags, name, output string, force, interactive bool) error {
	if err := t.apart([]string{name}, output); err != nil {
		return err
	}
	if err := checkTargets(force, output); err != nil {
		return err
	}
	s, err := input.merged()
	if err != nil {
		return err
	}
	q := api.ProposeRequest{Table: api.Table{Input: name, Spec: s}, Use: fmt.Sprintf("noren anonymize %s -o OUTPUT --spec THIS-FILE",
		commented(name))}
	if output != "-" {
		q.Output = output
	}
	if interactive {
		if name == "-" {
			return noren.Usagef("--interactive", "the table and the answers cannot both come from standard input").Hinted("name a file")
		}
		ask := &interview{in: bufio.NewReader(t.stdin), out: t.stderr, echo: !isTerminal(t.stdin)}
		q.Ask = func(r *api.Inspection) (*api.StewardAnswers, error) {
			t.progress.clear()
			return ask.ask(r)
		}
	}
	result, err := t.service(nil).Propose(ctx, &q)
	t.progress.clear()
	if err != nil {
		return tableError(err)
	}
	err = writePrivate(output, force, t.stdout, func(w io.Writer) error {
		_, err := io.WriteString(w, result.Specification)
		return err
	})
	if err == nil && output != "-" {
		t.note("wrote %s: read it, correct the roles, then noren anonymize %s -o OUTPUT --spec %s", output, names.Shell(name),
			names.Shell(output))
	}
	return err
}
