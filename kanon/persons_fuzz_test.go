package kanon_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// visits are records of which persons have several; key joins the release to its
// source.
var visits = []table.Field{
	{Name: "who", Role: table.Identifier},
	{Name: "key"},
	{Name: "age", Role: table.Quasi, Type: table.Integer},
	{Name: "area", Role: table.Quasi, Type: table.Category},
	{Name: "day", Role: table.Quasi, Type: table.Date, Layout: table.ISODate},
	{Name: "illness", Role: table.Sensitive, Type: table.Category},
	{Name: "score", Role: table.Sensitive, Type: table.Integer},
}

// drawVisits draws a small table: persons with many and with few records, records
// without a person, constant and changing columns, missing values.
func drawVisits(rng *rand.Rand) [][]string {
	persons := 1 + rng.IntN(25)
	rows := make([][]string, 1+rng.IntN(120))
	constant := rng.IntN(2) == 0
	heavy := rng.IntN(3) == 0
	gaps := rng.IntN(3) == 0
	unknown := rng.IntN(3) == 0
	days := 1 + rng.IntN(300)
	illnesses := 1 + rng.IntN(6)
	maybe := func(text string) string {
		if gaps && rng.IntN(8) == 0 {
			return []string{"", "?"}[rng.IntN(2)]
		}
		return text
	}
	for i := range rows {
		p := rng.IntN(persons)
		if heavy && rng.IntN(2) == 0 {
			p = 0
		}
		// Labels that are equal only when trimmed or read as numbers are persons apart.
		who := []string{fmt.Sprint("IDENT-", p), fmt.Sprint(" IDENT-", p), fmt.Sprint("0", p, ".0"), fmt.Sprint(p)}[p%4]
		if unknown && rng.IntN(6) == 0 {
			who = []string{"", "?"}[rng.IntN(2)]
		}
		age, area := p*7%60, p%5
		if !constant {
			age, area = rng.IntN(60), rng.IntN(5)
		}
		rows[i] = []string{
			who, fmt.Sprint("k", i), maybe(fmt.Sprint(age)), maybe(fmt.Sprint("a", area)),
			maybe(table.ISODate.Format(int64(20000 + rng.IntN(days)))),
			maybe(fmt.Sprint("i", rng.IntN(illnesses))), maybe(fmt.Sprint(rng.IntN(9))),
		}
	}
	return rows
}

// drawOptions draws how visits are released.
func drawOptions(rng *rand.Rand) kanon.Options {
	o := kanon.Options{
		K: 1 + rng.IntN(5), Unit: "who", Workers: 1 + rng.IntN(3),
		Publish: []publish.Mode{publish.Aggregate, publish.Generalize}[rng.IntN(2)],
		Refine:  []refine.Effort{refine.Off, refine.Fast, refine.Fast}[rng.IntN(3)],
		Partition: partition.Options{
			Method: partition.Method(rng.IntN(int(partition.Tomobiki) + 1)),
		},
		KeepOrder: rng.IntN(4) == 0,
	}
	if rng.IntN(4) == 0 {
		o.Partition.Coarse = o.K + rng.IntN(20)
		o.Block = o.K + rng.IntN(20) // with a coarse step: block by block
	}
	if rng.IntN(2) == 0 {
		o.Linkage = kanon.LinkAll
		o.Pseudonym = rng.IntN(3) == 0
	}
	if !o.Pseudonym && rng.IntN(3) == 0 {
		o.Diversity = []*privacy.Diversity{{L: 2}, {L: 3}, {Model: privacy.Entropy, L: 1.7}, {Model: privacy.Recursive, L: 2, C: 2}}[rng.IntN(4)]
	}
	if !o.Pseudonym && rng.IntN(5) == 0 {
		o.Closeness = &privacy.Closeness{T: []float64{0.2, 0.4, 0.6}[rng.IntN(3)]}
	}
	return o
}

// releasedVisit is a record of a release beside its source.
type releasedVisit struct {
	class  string
	shown  []string
	source []string
	who    string // empty for no person
	label  string // the pseudonym
}

// TestFuzzedPersons holds small releases of every kind against a checker that
// knows the source, the release and the definitions, and none of the code.
func TestFuzzedPersons(t *testing.T) {
	randtest.SkipShort(t)
	releases := 60
	if testing.Short() {
		releases = 30
	}
	testFuzzedPersons(t, 0, releases)
}

func TestLongFuzzedPersons(t *testing.T) {
	randtest.Long(t)
	testFuzzedPersons(t, 0, 1600)
}

func testFuzzedPersons(t *testing.T, from uint64, releases int) {
	dir := t.TempDir()
	made, refused := 0, 0
	for seed := from; made < releases; seed++ {
		rng := rand.New(rand.NewPCG(seed, 15))
		rows, o := drawVisits(rng), drawOptions(rng)
		in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, fmt.Sprint(seed, ".csv"))
		writeCSV(t, in, visits, rows)
		src, err := file.Open(context.Background(), in, file.Options{Delimiter: ',', Encoding: csvio.UTF8})
		if err != nil {
			t.Fatal(err)
		}
		j := kanon.Job{
			Source: src, Schema: table.Schema{Fields: slices.Clone(visits)}, Missing: []string{"?"}, Kept: names(visits)[1:2],
			Output: kanon.Output{Path: out}, Options: o,
		}
		r, err := kanon.Anonymize(context.Background(), j)
		_ = src.Close()
		if err != nil {
			if k := noren.KindOf(err); k != noren.NotMet && k != noren.BadData {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if _, err := os.Stat(out); err == nil {
				t.Fatalf("seed %d: a refused release is there", seed)
			}
			people := map[string]bool{}
			for _, row := range rows {
				if row[0] != "" && row[0] != "?" {
					people[row[0]] = true
				}
			}
			if o.Diversity == nil && o.Closeness == nil && len(people) >= o.K && len(rows) >= o.K {
				t.Fatalf("seed %d: refused with %d persons for k = %d: %v", seed, len(people), o.K, err)
			}
			refused++
			if refused > 4*releases {
				t.Fatal("nearly all releases are refused: the test tests nothing")
			}
			continue
		}
		made++
		c := &personsChecker{rng: rng, o: o, r: r, rows: rows}
		if err := c.check(readRelease(t, out, rows, o.Pseudonym)); err != nil {
			t.Fatalf("seed %d, %+v: %v", seed, o, err)
		}
		_ = os.Remove(out)
	}
	t.Logf("%d releases, %d refused", made, refused)
}

// readRelease joins a release to its source.
func readRelease(t *testing.T, path string, rows [][]string, pseudonym bool) []releasedVisit {
	t.Helper()
	text := read(t, path)
	if strings.Contains(string(text), "IDENT") {
		t.Fatal("an identifier is in the release")
	}
	header, shown := readCSV(t, text)
	want := names(visits)[1:]
	if pseudonym {
		want = names(visits)
	}
	if !slices.Equal(header, want) || len(shown) != len(rows) {
		t.Fatalf("%d records of %v", len(shown), header)
	}
	byKey := map[string][]string{}
	for _, row := range rows {
		byKey[row[1]] = row
	}
	var out []releasedVisit
	for _, row := range shown {
		x := releasedVisit{shown: row}
		if pseudonym {
			x.label, x.shown = row[0], row[1:]
		}
		x.source = byKey[x.shown[0]]
		delete(byKey, x.shown[0])
		if x.source == nil || !slices.Equal(x.shown[4:], x.source[5:]) {
			t.Fatal("a record was lost, or a kept column changed")
		}
		if x.source[0] != "?" {
			x.who = x.source[0]
		}
		x.class = fmt.Sprintf("%q", x.shown[1:4])
		out = append(out, x)
	}
	return out
}

type personsChecker struct {
	rng  *rand.Rand
	o    kanon.Options
	r    *kanon.Result
	rows [][]string
}

func (c *personsChecker) check(all []releasedVisit) error {
	classes := map[string][]releasedVisit{}
	in := map[string]map[string]bool{} // by person: classes
	for _, x := range all {
		classes[x.class] = append(classes[x.class], x)
		if x.who != "" {
			if in[x.who] == nil {
				in[x.who] = map[string]bool{}
			}
			in[x.who][x.class] = true
		}
	}
	least := math.MaxInt
	for key, class := range classes {
		people := map[string]bool{}
		for _, x := range class {
			if x.who != "" {
				people[x.who] = true
			}
		}
		least = min(least, len(people))
		if len(people) < c.o.K {
			return fmt.Errorf("class %s has %d persons", key, len(people))
		}
		if err := c.contains(class); err != nil {
			return fmt.Errorf("class %s: %w", key, err)
		}
		for _, column := range []int{5, 6} {
			if err := c.sensitive(class, column); err != nil {
				return fmt.Errorf("class %s: %s: %w", key, visits[column].Name, err)
			}
		}
	}
	u := c.r.Verified.Unit
	if u == nil || int(u.ClassSize.Min) != least || c.r.AchievedK != least || int(u.Persons) != len(in) {
		return fmt.Errorf("the result says %+v, not %d persons at least of %d", u, least, len(in))
	}
	fewest, total := math.MaxInt, 0
	for _, mine := range in {
		fits := 0
		for _, others := range in {
			every := true
			for class := range mine {
				every = every && others[class]
			}
			if every {
				fits++
			}
		}
		fewest, total = min(fewest, fits), total+fits
	}
	if int(u.Fit.Min) != fewest || math.Abs(u.Fit.Mean-float64(total)/float64(len(in))) > 1e-9 {
		return fmt.Errorf("the result says that %+v fit, not %d at least of %d in all", u.Fit, fewest, total)
	}
	if c.o.Linkage == kanon.LinkAll && fewest < c.o.K {
		return fmt.Errorf("%d persons fit all records of one", fewest)
	}
	if c.o.Pseudonym {
		return c.pseudonyms(all)
	}
	return nil
}

// contains checks that what a class shows is true of its records: ranges and sets
// hold every value, and what is missing is missing in all.
func (c *personsChecker) contains(class []releasedVisit) error {
	for column := 2; column <= 4; column++ {
		shown := class[0].shown[column-1]
		for _, x := range class {
			value := x.source[column]
			missing := value == "" || value == "?"
			switch {
			case shown == "" && !missing:
				return fmt.Errorf("%s is shown as missing and is there", visits[column].Name)
			case missing || c.o.Publish == publish.Aggregate:
				continue
			case visits[column].Type == table.Category:
				set := strings.Split(strings.Trim(shown, "{}"), ", ")
				if !slices.Contains(set, value) {
					return fmt.Errorf("%s: %q is not in %q", visits[column].Name, value, shown)
				}
			default:
				lo, hi, _, ok := publish.ParseRange(shown, &visits[column])
				v, _, _, ok2 := publish.ParseRange(value, &visits[column])
				if !ok || !ok2 || v < lo || v > hi {
					return fmt.Errorf("%s: %q is not in %q", visits[column].Name, value, shown)
				}
			}
		}
	}
	return nil
}

// persons are the values of a column by person; records without a person are
// given to persons of the class, or to new ones, at random, and missing values
// are given values of the class.
func (c *personsChecker) persons(class []releasedVisit, column int) map[string][]string {
	own := map[string][]string{}
	var present []string
	for _, x := range class {
		v := x.source[column]
		if v == "?" {
			v = ""
		}
		if v != "" {
			present = append(present, v)
		}
		if x.who != "" {
			own[x.who] = append(own[x.who], v)
		}
	}
	people := slices.Sorted(maps.Keys(own))
	for n, x := range class {
		if x.who == "" {
			v := x.source[column]
			if v == "?" {
				v = ""
			}
			to := fmt.Sprint("new", n)
			if at := c.rng.IntN(len(people) + 1); at < len(people) {
				to = people[at]
			}
			own[to] = append(own[to], v)
		}
	}
	for _, values := range own {
		for i, v := range values {
			if v == "" && len(present) > 0 {
				values[i] = present[c.rng.IntN(len(present))]
			}
		}
	}
	return own
}

// sensitive checks diversity for many ways to see each person with one value, and
// closeness for many ways whose the records without a person are.
func (c *personsChecker) sensitive(class []releasedVisit, column int) error {
	if d := c.o.Diversity; d != nil {
		for range 30 {
			own := c.persons(class, column)
			count := map[string]int{}
			for _, who := range slices.Sorted(maps.Keys(own)) {
				count[own[who][c.rng.IntN(len(own[who]))]]++
			}
			if count[""] > 0 {
				return fmt.Errorf("nothing is recorded in a class that is said to be diverse")
			}
			if !naiveDiverse(count, d) {
				return fmt.Errorf("persons seen with %v are not %s", count, d)
			}
		}
	}
	if t := c.o.Closeness; t != nil {
		return c.close(class, column, t.T)
	}
	return nil
}

func naiveDiverse(count map[string]int, d *privacy.Diversity) bool {
	n, entropy := 0, 0.0
	var counts []int
	for _, k := range count {
		n += k
		counts = append(counts, k)
	}
	for _, k := range counts {
		entropy -= float64(k) / float64(n) * math.Log(float64(k)/float64(n))
	}
	slices.Sort(counts)
	slices.Reverse(counts)
	switch d.Model {
	case privacy.Distinct:
		return len(counts) >= int(d.L)
	case privacy.Entropy:
		return math.Exp(entropy) >= d.L-1e-9
	}
	tail := 0
	for i, k := range counts {
		if i+1 >= int(d.L) {
			tail += k
		}
	}
	return float64(counts[0]) < d.C*float64(tail)
}

// close checks the distance of the shares of the class from those of the table.
func (c *personsChecker) close(class []releasedVisit, column int, t float64) error {
	shares := func(own map[string][]string) map[string]float64 {
		out := map[string]float64{}
		for _, values := range own {
			for _, v := range values {
				out[v] += 1 / float64(len(values)) / float64(len(own))
			}
		}
		return out
	}
	table := map[string][]string{}
	values := map[string]bool{}
	for _, row := range c.rows {
		v := row[column]
		if v == "?" {
			v = ""
		}
		if v != "" {
			values[v] = true
		}
		if row[0] != "" && row[0] != "?" {
			table[row[0]] = append(table[row[0]], v)
		}
	}
	q := shares(table)
	ranks := slices.Sorted(maps.Keys(values)) // of one digit: by size
	for range 20 {
		own := map[string][]string{}
		var people []string
		for _, x := range class {
			if x.who != "" {
				own[x.who] = append(own[x.who], strings.Trim(x.source[column], "?"))
			}
		}
		people = slices.Sorted(maps.Keys(own))
		for n, x := range class {
			if x.who == "" {
				to := fmt.Sprint("new", n)
				if at := c.rng.IntN(len(people) + 1); at < len(people) {
					to = people[at]
				}
				own[to] = append(own[to], strings.Trim(x.source[column], "?"))
			}
		}
		p := shares(own)
		d := 0.0
		if visits[column].Type == asCategory {
			for _, v := range append(ranks, "") {
				d += math.Max(0, p[v]-q[v])
			}
		} else {
			s, u := 1-p[""], 1-q[""]
			d = math.Abs(s - u)
			if s > 1e-12 && u > 1e-12 && len(ranks) > 1 {
				a, b, sum := 0.0, 0.0, 0.0
				for _, v := range ranks {
					a, b = a+p[v]/s, b+q[v]/u
					sum += math.Abs(a - b)
				}
				d += math.Min(s, u) * sum / float64(len(ranks)-1)
			}
		}
		if d > t+1e-9 {
			return fmt.Errorf("at the distance %g", d)
		}
	}
	return nil
}

// pseudonyms checks that each is one person's, that no label shows, and that the
// sequence of each is that of k.
func (c *personsChecker) pseudonyms(all []releasedVisit) error {
	of, has := map[string]string{}, map[string]string{}
	sequence := map[string][]string{}
	for _, x := range all {
		if x.label == "" {
			continue
		}
		if len(x.label) != 32 || x.who == "" {
			return fmt.Errorf("a pseudonym of %d digits, or of no person", len(x.label))
		}
		if known, ok := of[x.label]; ok && known != x.who {
			return fmt.Errorf("a pseudonym of two persons")
		}
		if known, ok := has[x.who]; ok && known != x.label {
			return fmt.Errorf("a person with two pseudonyms")
		}
		of[x.label], has[x.who] = x.who, x.label
		sequence[x.label] = append(sequence[x.label], x.class)
	}
	shared := map[string]int{}
	for label := range sequence {
		slices.Sort(sequence[label])
		shared[fmt.Sprint(sequence[label])]++
	}
	for key, n := range shared {
		if n < c.o.K {
			return fmt.Errorf("%d pseudonyms have the sequence %s", n, key)
		}
	}
	people := map[string]bool{}
	for _, x := range all {
		if x.who != "" {
			people[x.who] = true
		}
	}
	if len(has) != len(people) {
		return fmt.Errorf("%d of %d persons have a pseudonym", len(has), len(people))
	}
	return nil
}

// asCategory is table.Category where a variable hides the package.
const asCategory = table.Category

// The checker finds the releases that count records.
func TestCheckerOfPersonsRejects(t *testing.T) {
	randtest.SkipShort(t)
	dir := t.TempDir()
	found := 0
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 16))
		rows := drawVisits(rng)
		in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, fmt.Sprint(seed, ".csv"))
		writeCSV(t, in, visits, rows)
		r, err := kanon.Anonymize(context.Background(), kanon.Job{
			Source: open(t, in), Schema: table.Schema{Fields: slices.Clone(visits)}, Missing: []string{"?"}, Kept: []string{"key", "note"},
			Output: kanon.Output{Path: out}, Options: kanon.Options{K: 3},
		})
		if err != nil {
			continue
		}
		c := &personsChecker{rng: rng, o: kanon.Options{K: 3}, r: r, rows: rows}
		if err := c.check(readRelease(t, out, rows, false)); err != nil && strings.HasPrefix(err.Error(), "class") {
			found++
		}
	}
	if found < 10 {
		t.Fatalf("only %d releases of records are found out", found)
	}
}
