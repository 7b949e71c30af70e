package cli

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// imperatives are the verbs that the help of a command may begin with.
var imperatives = regexp.MustCompile(
	`^(Anonymise|Answer|Calibrate|Check|Choose|Close|Collect|Compare|Compute|Count|Create|Describe|Estimate|Explain|Find|Give|Grant|Make|Manage|Measure|Partition|Plan|Print|Propose|Query|Randomise|Read|Release|Replay|Reweight|Roll|Run|Search|Serve|Set|Show|Simulate|Sum|Train|Verify|Write)[ ,]`)

// helpFault says what is wrong with the help of a command; "" if nothing is.
func helpFault(c *cobra.Command) string {
	switch {
	case !imperatives.MatchString(c.Short):
		return "its short help does not begin with an imperative: " + c.Short
	case strings.HasSuffix(c.Short, "."), len(c.Short) > 90:
		return "its short help is not a line without a final period: " + c.Short
	case c.Long != "" && !imperatives.MatchString(c.Long):
		first, _, _ := strings.Cut(c.Long, "\n")
		return "its help does not begin with an imperative: " + first
	case c.Example == "":
		return "it has no example"
	}
	fault := ""
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		value, usage := pflag.UnquoteUsage(f)
		if f.Hidden || f.Name == "help" {
			return
		}
		if usage == "" || strings.HasSuffix(strings.TrimSuffix(usage, "..."), ".") || strings.Contains(value, "Slice") {
			fault = "--" + f.Name + " " + value + ": " + usage
		}
	})
	return fault
}

// The help of every command says first, in the imperative, what the command does, and
// has an example. On the first page each command is in a group of its task.
func TestHelp(t *testing.T) {
	root := newRoot(newTerminal(strings.NewReader(""), io.Discard, io.Discard))
	checked := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if !sub.IsAvailableCommand() {
				continue
			}
			checked++
			if fault := helpFault(sub); fault != "" {
				t.Errorf("%s: %s", sub.CommandPath(), fault)
			}
			walk(sub)
		}
	}
	walk(root)
	if checked < 40 {
		t.Errorf("found only %d commands", checked)
	}
	for _, c := range root.Commands() {
		if c.GroupID == "" && !c.Hidden && c.Name() != "help" && c.Name() != "completion" && c.Name() != "version" {
			t.Errorf("%s is in no group", c.Name())
		}
	}
}

// Every file of help is that of a command.
func TestHelpFiles(t *testing.T) {
	files, err := helpFiles.ReadDir("help")
	if err != nil {
		t.Fatal(err)
	}
	unused := map[string]bool{}
	for _, f := range files {
		unused["help/"+f.Name()] = true
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		delete(unused, helpFile(c))
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(newTerminal(strings.NewReader(""), io.Discard, io.Discard)))
	for name := range unused {
		t.Errorf("%s: no command has this name", name)
	}
}

func TestHelpFault(t *testing.T) {
	for name, change := range map[string]func(*cobra.Command){
		"third person": func(c *cobra.Command) { c.Short = "Counts records" },
		"period":       func(c *cobra.Command) { c.Short += "." },
		"two lines":    func(c *cobra.Command) { c.Short += strings.Repeat(" records", 20) },
		"long":         func(c *cobra.Command) { c.Long = "This command counts." },
		"no example":   func(c *cobra.Command) { c.Example = "" },
		"silent flag":  func(c *cobra.Command) { c.Flags().Int("k", 0, "") },
		"type as name": func(c *cobra.Command) { c.Flags().Float64Slice("sigma", nil, "the bandwidth") },
	} {
		c := &cobra.Command{Use: "count", Short: "Count records", Long: "Count all records.", Example: "  noren count"}
		c.Flags().Int("n", 0, "`number` of records")
		if fault := helpFault(c); fault != "" {
			t.Fatal(fault)
		}
		if change(c); helpFault(c) == "" {
			t.Errorf("%s: no fault", name)
		}
	}
}
