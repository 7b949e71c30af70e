package cli

import (
	"embed"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/noren-privacy/noren/lang"
)

//go:embed help/ja/*.txt
var japaneseHelpFiles embed.FS

// japaneseFile is the name of the file with the Japanese help text of a command. A command
// has Japanese help where it is there, and its flags then have a line in [japaneseUsages].
func japaneseFile(c *cobra.Command) string {
	return strings.Replace(helpFile(c), "help/", "help/ja/", 1)
}

// japaneseHelp shows the help of a command in Japanese where the terminal is, and there is one.
func japaneseHelp(t *terminal, root *cobra.Command) {
	english := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		text, err := japaneseHelpFiles.ReadFile(japaneseFile(c))
		if t.lang != lang.Japanese || err != nil {
			english(c, args)
			return
		}
		w := c.OutOrStdout()
		fmt.Fprint(w, string(text), "\n使い方:\n  ", c.UseLine(), "\n")
		if c.HasExample() {
			fmt.Fprint(w, "\n例:\n", c.Example, "\n")
		}
		japaneseCommands(w, c)
		groups, local := []flagGroup{flagGroup{heading: "Flags"}.of(c.LocalFlags(), nil)}, japaneseFlags(c.LocalFlags())
		if c.Name() == "anonymize" {
			groups = releaseGroups
		}
		for _, g := range groups {
			g.printJapanese(w, local)
		}
		globalGroup.of(c.InheritedFlags(), nil).printJapanese(w, japaneseFlags(c.InheritedFlags()))
	})
}

// japaneseCommands lists the commands below a command by their groups.
func japaneseCommands(w io.Writer, c *cobra.Command) {
	for _, g := range c.Groups() {
		fmt.Fprint(w, "\n", japaneseHeadings[g.ID], ":\n")
		for _, sub := range c.Commands() {
			if sub.GroupID == g.ID && sub.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-12s%s\n", sub.Name(), japaneseShorts[sub.Short])
			}
		}
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nコマンドごとの説明: %s COMMAND --help --lang ja（説明が英語だけのコマンドもあります）\n", c.CommandPath())
	}
}

// japaneseFlags are the flags of a set with their usages in Japanese.
func japaneseFlags(set *pflag.FlagSet) *pflag.FlagSet {
	out := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.VisitAll(func(f *pflag.Flag) {
		own := *f
		own.Usage = japaneseUsage(f)
		out.AddFlag(&own)
	})
	return out
}

// usageInJapanese is the usage of a flag in Japanese, by that in English.
func usageInJapanese(usage string) (string, bool) {
	at := slices.IndexFunc(japaneseUsages, func(both [2]string) bool { return both[0] == usage })
	if at < 0 {
		return "", false
	}
	return japaneseUsages[at][1], true
}

// japaneseUsage is the usage of a flag in Japanese; that in English where there is none.
func japaneseUsage(f *pflag.Flag) string {
	switch f.Name {
	case "help":
		return "この説明を表示します"
	case "version":
		return "版を表示します"
	}
	if usage, known := usageInJapanese(f.Usage); known {
		return usage
	}
	return f.Usage
}

// defaulted finds the default at the end of a line, as pflag writes it.
var defaulted = regexp.MustCompile(`(?m) \(default "?([^"\n]*?)"?\)$`)

// printJapanese prints the flags of a group in its order, under its Japanese heading.
func (g flagGroup) printJapanese(w io.Writer, from *pflag.FlagSet) {
	var b strings.Builder
	g.heading = japaneseHeadings[g.heading]
	g.print(&b, from)
	fmt.Fprint(w, defaulted.ReplaceAllString(b.String(), "（既定: $1）"))
}

// japaneseHeadings are the headings of groups of flags and commands.
var japaneseHeadings = map[string]string{
	"Needed for most releases": "多くの公開に必要なもの", "What to release": "何を公開するか", "Guarantee": "保証", "Reading INPUT": "INPUT の読み方",
	"Writing OUTPUT": "OUTPUT の書き方", "Effort": "計算の手間", "Running": "実行", "Flags": "オプション", "Global flags": "すべてのコマンドに共通のオプション",
	"Release tables:": "表を公開する", "Query data sets:": "データセットに質問する", "Collect data from devices:": "端末から集める", "Prove:": "証明する", "Look up:": "調べる",
}

// japaneseShorts are what the commands of the first page do.
var japaneseShorts = map[string]string{
	"Release a k-anonymous table":                                              "k-匿名化した表を公開する",
	"Answer several questions of a data set as one request, from a file":       "ファイルに書いた複数の質問に、一つの要求として答える",
	"Measure the risk of a table and the utility of a release (private)":       "表のリスクと公開表の有用性を測る（非公開）",
	"Show and check certificates of releases":                                  "公開の証明書を表示し、検査する",
	"Calibrate noise for records that depend on each other":                    "互いに依存するレコードのための雑音を定める",
	"Anonymise the built-in example and show the result":                       "内蔵の例を匿名化して結果を示す",
	"Explain a term of a result":                                               "結果の用語を説明する",
	"Compute the expected harm of noise, and find the least harmful noise":     "雑音の害の期待値を計算し、害の最も小さい雑音を求める",
	"Propose and check generalisation hierarchies":                             "一般化の階層を提案し、検査する",
	"Propose types and roles of columns, as a commented noren.yaml":            "列の型と役割を提案し、注釈付きの noren.yaml に書く",
	"Describe the columns of a table (private)":                                "表の列を説明する（非公開）",
	"Collect data with local differential privacy":                             "局所差分プライバシーでデータを集める",
	"Manage privacy budgets and schemas of data sets":                          "データセットのプライバシー予算とスキーマを管理する",
	"Count distance-based outliers with differential privacy":                  "距離による外れ値を差分プライバシー付きで数える",
	"Query a data set with differential privacy":                               "差分プライバシー付きでデータセットに質問する",
	"Reweight a public table to match a private one with differential privacy": "公開の表に重みを付け、差分プライバシー付きで非公開の表に合わせる",
	"Serve a page and an HTTP interface for stewards and analysts":             "管理者と分析者のための画面と HTTP の接点を提供する",
	"Verify k-anonymity, l-diversity and t-closeness of a file":                "ファイルの k-匿名性、l-多様性、t-近接性を検証する",
}
