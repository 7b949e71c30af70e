package report

import (
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/report/text"
)

// Facts is what a page about an assessment says beside the measurements.
type Facts struct {
	// Original is where the table is, and Release names what was released.
	Original noren.Place
	Release  string
	// Guarantee is what the release was verified to hold. Nil when nothing was
	// guaranteed, or nothing was released.
	Guarantee *noren.Guarantee
	// Repeated says that an identifier repeats, or may, and that persons were not
	// counted: no figure of records is then said of persons.
	Repeated bool
	// Warnings are what the page says before anything else. Optional.
	Warnings []noren.Text
	// Grouping says what making the release came to. Nil where that is not known.
	Grouping *Release
	// Made lists how the release was made (method, parameters, duration),
	// in the order in which they are to stand. Optional.
	Made []Fact
	// Version, Date, Command and Hashes say what wrote the page and when, of
	// which files. A page without a version has no such part. Optional.
	Version string
	Date    string
	Command string
	Hashes  []File
	// Fates are what became of each column of the original, Unique counts the
	// records that are unique on the kept columns, FreeText names those that are
	// free text. Optional.
	Fates    []gate.Fate
	Unique   *gate.Unique
	FreeText []string
	// Footer names the program that made the page. Optional.
	Footer string
}

// Fact is a name and what it is.
type Fact struct{ Name, Value noren.Text }

// columnsPictured is how many columns of each sort have a picture, so that the
// page stays small; the others are in the summary tables.
const columnsPictured = 14

// Assessment makes the page for the risk and the utility of a table: a.Original
// is needed, a.Release, a.Utility and the rest are shown when they are there.
// The page is private, as it holds statistics of the original.
func Assessment(a *assess.Assessment, f Facts) *Page {
	b := &assessment{a: a, f: f}
	title := noren.Textf("Assessment of %s", place(f.Original))
	if f.Original == nil {
		title = noren.Textf("Assessment of a table")
	}
	p := &Page{Title: title, Lead: b.lead(), Private: true, Footer: Verbatim(f.Footer)}
	add := func(title noren.Format, blocks []Block) {
		if len(blocks) > 0 {
			p.Sections = append(p.Sections, Section{Title: noren.Textf(title), Blocks: blocks})
		}
	}
	add("In short", b.summary())
	add("This document", b.about())
	if a.Release != nil {
		add("What is guaranteed", b.guarantee())
	}
	add("What became of each column", b.fates())
	add("What the kept columns tell", b.unique())
	add("Sensitive columns", b.sensitive())
	add("Can people be singled out?", b.risk())
	add("Persons with several records", b.persons())
	add("Persons outside the table", b.outsiders())
	add("An earlier release", b.earlier())
	add("The population", b.population())
	if a.Utility != nil {
		add("How far counts are off", b.queries())
		add("What the release still tells", b.utility())
		add("Columns of numbers", b.numbers())
		add("Columns of words", b.categories())
		add("How columns go together", b.correlations())
	}
	p.Glossary = b.glossary()
	return p
}

type assessment struct {
	a *assess.Assessment
	f Facts
}

func (b *assessment) lead() noren.Text {
	quasi := listed(b.a.Quasi)
	if b.a.Release == nil {
		return noren.Textf(
			"How easily could someone find a person in this table who knows their %s? The table was measured as it is; nothing was changed.", quasi)
	}
	return noren.Textf("The original table and the release made from it, side by side: how easily a person could be found in each by "+
		"someone who knows their %s, and how much of the original the release still tells.", quasi)
}

// listed are the names of columns in running text.
func listed(names []string) noren.Text {
	const most = 12
	shown := make([]string, len(names))
	for i, n := range names {
		shown[i] = plain(n)
	}
	switch n := len(shown); {
	case n == 0:
		return noren.Textf("quasi-identifiers")
	case n > most+1:
		return noren.Textf("%s and %d other {column|columns}", strings.Join(shown[:most], ", "), n-most)
	}
	return noren.Textf("%s", noren.Names(shown))
}

// combination names the quasi-identifiers in running text.
func (b *assessment) combination() noren.Text {
	if n := len(b.a.Quasi); n > 5 {
		return noren.Textf("all %d quasi-identifiers", n)
	}
	return listed(b.a.Quasi)
}

func records(n int64) noren.Text { return text.Counted(n, "%s {record|records}") }

// oneIn writes a risk as "1 in 5".
func oneIn(class int64) noren.Text { return noren.Textf("1 in %s", Integer(class)) }

func (b *assessment) summary() []Block {
	was, now := b.a.Original, b.a.Release
	var figures []Figure
	if was != nil {
		figures = append(figures, Figure{
			Name: b.before("Alone in their class"), Value: Verbatim(Percent(was.UniqueShare)), Tone: tone(was.UniqueRecords == 0),
			Explain: noren.Textf("%s of %s can be told from all others", Integer(was.UniqueRecords), records(was.Records)),
		})
	}
	if now != nil {
		figures = append(figures, Figure{
			Name: noren.Textf("%s, release", noren.Phrase("Alone in their class")), Value: Verbatim(Percent(now.UniqueShare)),
			Tone:    tone(now.UniqueRecords == 0),
			Explain: noren.Textf("%s of %s", Integer(now.UniqueRecords), records(now.Records)),
		})
	}
	last := now
	if last == nil {
		last = was
	}
	if last == nil {
		return nil
	}
	figures = append(figures, b.smallest(last))
	if u := b.a.Utility; u != nil {
		if f, ok := b.counts(); ok {
			figures = append(figures, f)
		}
		if f, ok := b.detail(); ok {
			figures = append(figures, f)
		}
		if c := u.Correlations; c != nil && c.Largest != nil {
			figures = append(figures, Figure{
				Name: noren.Textf("Largest change of a correlation"), Value: Verbatim(correlation(abs(c.Largest.Original - c.Largest.Release))),
				Explain: noren.Textf("%s with %s: from %s to %s", plain(c.Largest.First), plain(c.Largest.Second), correlation(c.Largest.Original),
					correlation(c.Largest.Release)),
			})
		}
	}
	var blocks []Block
	for _, warning := range b.f.Warnings {
		blocks = append(blocks, Block{Note: warning})
	}
	blocks = append(blocks, Block{Figures: figures})
	if was != nil {
		blocks = append(blocks, Block{Text: b.meaningBefore(was)})
	}
	if now != nil {
		blocks = append(blocks, Block{Text: b.meaningAfter(now)})
	}
	return blocks
}

// smallest is the figure of the smallest class: of its persons where they are
// counted, of its records where they are not.
func (b *assessment) smallest(r *assess.Risk) Figure {
	p := b.a.ReleasePersons
	if b.a.Release == nil {
		p = b.a.OriginalPersons
	}
	k := int64(max(2, b.a.K))
	switch {
	case p != nil:
		return Figure{
			Name: noren.Textf("Smallest class"), Value: persons(p.Smallest), Tone: tone(p.Smallest >= k),
			Explain: noren.Textf("a guess of the person, by these columns of one record alone, is right with a chance of at most %s",
				oneIn(max(1, p.Smallest))),
		}
	case b.personsUnknown():
		return Figure{
			Name: noren.Textf("Smallest class"), Value: records(r.SmallestClass), Tone: Warning,
			Explain: noren.Textf("they may be of fewer persons: persons were not counted here"),
		}
	}
	return Figure{
		Name: noren.Textf("Smallest class"), Value: Verbatim(Integer(r.SmallestClass)), Tone: tone(r.SmallestClass >= k),
		Explain: noren.Textf("a guess by these columns alone is right with a chance of at most %s", oneIn(r.SmallestClass)),
	}
}

// personsUnknown reports whether persons have several records, as far as is
// known, and those of the classes were not counted.
func (b *assessment) personsUnknown() bool {
	return b.f.Repeated || b.a.Release != nil && b.a.OriginalPersons != nil && b.a.ReleasePersons == nil
}

func persons(n int64) noren.Text { return text.Counted(n, "%s {person|persons}") }

func abs(v float64) float64 { return max(v, -v) }

func tone(good bool) Tone {
	if good {
		return Good
	}
	return Warning
}

// before marks a name as the original's when there is a release beside it.
func (b *assessment) before(name noren.Format) noren.Text {
	if b.a.Release == nil {
		return noren.Textf(name)
	}
	return noren.Textf("%s, original", noren.Textf(name))
}

func (b *assessment) meaningBefore(r *assess.Risk) noren.Text {
	switch {
	case r.UniqueRecords > 0:
		return noren.Textf("What this means: in the original, %s (%s) had a combination of %s that no other record has. An attacker who knows "+
			"these values of such a person finds the record with certainty, also without names.",
			records(r.UniqueRecords), Percent(r.UniqueShare), b.combination())
	case r.Prosecutor.RecordsAbove > 0:
		return noren.Textf("What this means: in the original no record is alone, but %s (%s) share %s with so few others that a guess is "+
			"right with a chance above %s.",
			records(r.Prosecutor.RecordsAbove), Percent(r.Prosecutor.ShareAbove), b.combination(), Percent(r.Prosecutor.Threshold))
	}
	return noren.Textf("What this means: in the original no record is alone with %s; every combination is shared by at least %s.",
		b.combination(), records(r.SmallestClass))
}

func (b *assessment) meaningAfter(r *assess.Risk) noren.Text {
	p := b.a.ReleasePersons
	switch {
	case r.SmallestClass <= 1:
		return noren.Textf("In the release, %s can still be told from all others by these columns. It protects them no better than the "+
			"original did.", records(r.UniqueRecords))
	case p != nil:
		said := []noren.Text{
			noren.Textf("In the release, every combination occurs in records of at least %s.", persons(p.Smallest)),
			noren.Textf("Someone who knows these columns of one record of a person, and nothing else, is left with at least as many."),
		}
		if p.Fit.Min < p.Smallest {
			said = append(said, noren.Textf("Someone who knows several records of one person may be left with fewer, in this release with %d.",
				p.Fit.Min))
		}
		return paragraph(said...)
	case b.personsUnknown():
		return noren.Textf("In the release, every combination is shared by at least %s. These may be of fewer persons, even of one, as "+
			"persons may have several records.", records(r.SmallestClass))
	}
	return noren.Textf("In the release, every combination is shared by at least %s. Someone who knows these columns about a person, and "+
		"nothing else, is left with %d {candidate|candidates} or more; averaged over all records a guess is right with a chance of %s.",
		records(r.SmallestClass), r.SmallestClass, Percent(r.Marketer))
}

func (b *assessment) guarantee() []Block {
	var blocks []Block
	g, r := b.f.Guarantee, b.a.Release
	if g == nil {
		blocks = append(blocks,
			Block{Text: noren.Textf(
				"No guarantee was verified for this release. The figures on this page are measurements of it, not a guarantee about it.")})
	} else {
		switch {
		case g.Linkage != "":
			if p := b.a.ReleasePersons; p != nil && p.Smallest < int64(g.K) {
				return append(blocks, Block{Note: noren.Textf("The guarantee does not hold for the table measured here: its smallest class has "+
					"records of %s {person|persons}, fewer than the %d guaranteed. Do not release it.", Integer(p.Smallest), g.K)}, b.made())
			}
			blocks = append(blocks, Block{Text: personsGuarantee(g)})
		case g.K > 0 && r.SmallestClass < int64(g.K):
			return append(blocks, Block{Note: noren.Textf("The guarantee does not hold for the table measured here: its smallest class has %s, "+
				"fewer than the %d guaranteed. Do not release it.", records(r.SmallestClass), g.K)}, b.made())
		case g.K > 0:
			blocks = append(blocks,
				Block{Text: noren.Textf("Every record of the release has the same %s as at least %d others (k-anonymity with k = %d). %s",
					listed(g.Quasi), g.K-1, g.K, narrowed(g.K))})
		default:
			blocks = append(blocks, Block{Text: noren.Textf("The guarantee: %s.", stated(g))})
		}
		for _, d := range g.Diversity {
			blocks = append(blocks, Block{Text: diversity(d, g.Unit != "")})
		}
		for _, c := range g.Closeness {
			said := []noren.Text{noren.Textf("%s, the distribution of %s lies within %s of that in the whole table (t-closeness, %s distance; 0 "+
				"is the same, 1 the farthest apart).", among(g.Unit != ""), plain(c.Column), Number(c.T), noren.Term(c.Distance))}
			if g.Unit != "" {
				said = append(said, noren.Textf("Each person weighs 1, in equal parts for each of his or her records."))
			}
			blocks = append(blocks, Block{Text: paragraph(said...)})
		}
		blocks = append(blocks, Block{Text: noren.Textf("The guarantee does not cover the following:")}, Block{List: notCovered(g)})
		if len(g.Assumptions) > 0 {
			blocks = append(blocks, Block{Text: noren.Textf("It rests on:")}, Block{List: g.Assumptions})
		}
	}
	return append(blocks, b.made())
}

// narrowed says what k leaves open to somebody who knows the quasi-identifiers.
func narrowed(k int) noren.Text {
	if k <= 1 {
		return noren.Textf("With k = 1 every record may be alone: a person who can be recognised by these columns is not protected.")
	}
	return noren.Textf("Someone who knows only these columns about a person cannot narrow them down to fewer than %d {record|records}.", k)
}

// notCovered lists what a guarantee of k-anonymity leaves open.
func notCovered(g *noren.Guarantee) []noren.Text {
	var out []noren.Text
	if len(g.Diversity)+len(g.Closeness) == 0 {
		out = append(out, noren.Textf("What the records of a class have in common. If all of them have the same diagnosis, for instance, that "+
			"diagnosis is known of each person of the class."))
	} else {
		out = append(out,
			noren.Textf("All that can be learnt from the records of a class together: diversity and closeness bound it, they do not prevent it."))
	}
	if g.Unit == "" {
		out = append(out, noren.Textf("Persons with several records: k counts records, and the k records of a class may be of fewer persons."))
	}
	return append(
		out,
		noren.Textf("Somebody who knows more of a person than these columns, such as a value of a column that was kept."),
		noren.Textf("Somebody who holds another release of the same people: the classes of both can be compared."),
		noren.Textf("Whether a person is in the table at all. k-anonymity does not hide that."),
	)
}

// made is the table of how the release came about.
func (b *assessment) made() Block {
	t := &Table{Caption: noren.Textf("How it was made"), Header: Header("What", "Value")}
	add := func(f Fact) {
		if f.Value.String() != "" {
			t.Rows = append(t.Rows, []noren.Text{f.Name, f.Value})
		}
	}
	add(Fact{noren.Textf("Original"), noren.Textf("%s", place(b.f.Original))})
	add(Fact{noren.Textf("Release"), Verbatim(b.f.Release)})
	if m := b.f.Grouping; m != nil {
		add(Fact{lossOf(m.Scale), Verbatim(Percent(m.Loss))})
		add(Fact{noren.Textf("Mean width of a class (NCP)"), Verbatim(Percent(m.NCP))})
	}
	for _, f := range b.f.Made {
		add(f)
	}
	if len(t.Rows) == 0 {
		return Block{}
	}
	return Block{Table: t}
}

// lossOf names the information loss on a scale.
func lossOf(scale string) noren.Text {
	return noren.Textf("Information loss (SSE/SST, scale %s)", scale)
}

// paragraph is sentences one after the other.
func paragraph(sentences ...noren.Text) noren.Text {
	return noren.Textf("%s", noren.Paragraph(sentences))
}

// among names the members of a class of a guarantee.
func among(byPerson bool) noren.Text {
	if byPerson {
		return noren.Textf("Among the persons whose records look alike")
	}
	return noren.Textf("Among the records that look alike")
}

// diversity says what an l-diversity guarantee means, and no more than it does.
func diversity(d noren.Diversity, byPerson bool) noren.Text {
	said := diverse(d, among(byPerson))
	if byPerson {
		return paragraph(said, noren.Textf("Each person counts once, for whichever of his or her values."))
	}
	return said
}

func diverse(d noren.Diversity, among noren.Text) noren.Text {
	column, l := plain(d.Column), Number(d.L)
	switch d.Model {
	case "distinct":
		return noren.Textf("%s, at least %s different values of %s occur (distinct l-diversity). One of them may still be far more frequent "+
			"than the others.", among, l, column)
	case "entropy":
		return noren.Textf("%s, the values of %s are as mixed as %s equally frequent ones, or more (entropy l-diversity).", among, column, l)
	case "recursive":
		return noren.Textf("%s, the most frequent value of %s is less than %s times as frequent as the %sth most frequent and all rarer ones "+
			"together (recursive (c,l)-diversity).", among, column, Number(d.C), l)
	}
	return noren.Textf("%s, %s %s-diversity holds for %s.", among, plain(d.Model), l, column)
}
