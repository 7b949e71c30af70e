package publish_test

import (
	"fmt"
	"testing"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

func TestMedian(t *testing.T) {
	f := table.Field{Type: table.Ordered, Levels: []string{"none", "mild", "severe", "critical"}}
	for _, c := range []struct {
		texts []string
		want  string
	}{
		{[]string{"mild"}, "mild"},
		{[]string{"severe", "mild"}, "mild"}, // the lower of two
		{[]string{"critical", "none", "severe"}, "severe"},
		{[]string{"none", "critical", "none", "critical"}, "none"},
		{[]string{"critical", "mild", "mild", "critical", "critical"}, "critical"},
		{[]string{"NA", "NA", "NA", "critical"}, "critical"},
		{[]string{"NA", ""}, ""},
	} {
		words(t, one(t, f, publish.Aggregate, c.texts...), c.want, c.texts)
	}
}

func TestMode(t *testing.T) {
	// Three groups of one column: 7 x b, 5 x a, 5 x c, 1 x d.
	texts := []string{
		"a", "b", "b", "a", // a tie: b is more frequent in the whole
		"c", "a", "a", "c", // a tie in the whole too: a comes first
		"d", "NA", "NA", "NA", // missing values do not outvote
		"b", "b", "b", "b", "b", "c", "c", "c", "a", // plain
		"NA", "", // no record has one
	}
	group := []uint32{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4}
	want := "[b a d b ]"
	c := column(t, table.Field{}, texts...)
	if got := fmt.Sprint(shown(publishOne(t, c, group, 5, publish.Aggregate), 0, 1, 2, 3, 4)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// The order of the records is turned round.
	for i, j := 0, len(texts)-1; i < j; i, j = i+1, j-1 {
		texts[i], texts[j] = texts[j], texts[i]
		group[i], group[j] = group[j], group[i]
	}
	c = column(t, table.Field{}, texts...)
	if got := fmt.Sprint(shown(publishOne(t, c, group, 5, publish.Aggregate), 0, 1, 2, 3, 4)); got != want {
		t.Errorf("turned round: got %s, want %s", got, want)
	}
}

func TestLevels(t *testing.T) {
	f := table.Field{Type: table.Ordered, Levels: []string{"none", "mild", "severe", "critical"}}
	for _, c := range []struct {
		texts []string
		want  string
	}{
		{[]string{"mild", "mild"}, "mild"},
		{[]string{"severe", "none", "mild"}, "[none-severe]"}, // by level, not by letters
		{[]string{"critical", "NA", "severe"}, "[severe-critical]"},
		{[]string{"NA", "severe"}, "severe"},
		{[]string{"NA"}, ""},
	} {
		words(t, one(t, f, publish.Generalize, c.texts...), c.want, c.texts)
	}
}

func TestAncestors(t *testing.T) {
	h, err := table.NewHierarchy("places.csv", [][]string{
		{"Kyoto", "Kansai", "Japan"},
		{"Osaka", "Kansai", "Japan"},
		{"Tokyo", "Kanto", "Japan"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := table.Field{Hierarchy: h}
	for _, c := range []struct {
		texts []string
		want  string
	}{
		{[]string{"Kyoto", "Kyoto"}, "Kyoto"},
		{[]string{"Kyoto", "Osaka"}, "Kansai"},
		{[]string{"Kyoto", "Osaka", "Tokyo"}, "Japan"},
		{[]string{"Tokyo", "NA"}, "Tokyo"},
		{[]string{"NA", "NA"}, ""},
		{[]string{"Kyoto", "Nara"}, "Japan"}, // no leaf: the root, and never the word
		{[]string{"Nara"}, "Japan"},
	} {
		words(t, one(t, f, publish.Generalize, c.texts...), c.want, c.texts)
	}
	words(t, one(t, f, publish.Aggregate, "Kyoto", "Osaka", "Osaka"), "Osaka", []string{"aggregate"})
}

func TestSets(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  string
	}{
		{[]string{"b", "b"}, "b"},
		{[]string{"b", "a", "b"}, "{a, b}"},
		{[]string{"z", "Z", "é", "a"}, "{Z, a, z, é}"}, // by bytes
		{[]string{"NA", "b", "a"}, "{a, b}"},
		{[]string{"NA", "b"}, "b"},
		{[]string{"NA"}, ""},
	} {
		words(t, one(t, table.Field{}, publish.Generalize, c.texts...), c.want, c.texts)
	}
}
