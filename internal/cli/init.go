package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/spec"
)

func newInit(t *terminal) *cobra.Command {
	var input columnFlags
	var output string
	var force, schema bool
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
			return runInit(c.Context(), t, &input, args[0], output, force)
		},
	}
	input.registerInput(c)
	input.registerHeader(c)
	c.Flags().StringVarP(&output, "output", "o", "-", "write to this `FILE`; - is standard output")
	c.Flags().BoolVar(&force, "force", false, "replace the file when it exists")
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

func runInit(ctx context.Context, t *terminal, input *columnFlags, name, output string, force bool) error {
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
	q := api.ProposeRequest{Table: api.Table{Input: name, Spec: s}, Use: fmt.Sprintf("noren anonymize %s -o OUTPUT --spec THIS-FILE", spec.Scalar(name))}
	if output != "-" {
		q.Output = output
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
		t.note("wrote %s: read it, correct the roles, then noren anonymize %s -o OUTPUT --spec %s", output, name, output)
	}
	return err
}
