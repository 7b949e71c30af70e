package survey_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/ldp/survey"
)

// Ids of clients of half a megabyte each are distinguished and not kept.
func TestLargeIdsOfClients(t *testing.T) {
	s, err := survey.New(specs()["grr"])
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.NewCollector()
	if err != nil {
		t.Fatal(err)
	}
	var files []io.Reader
	long := strings.Repeat("x", 1<<19)
	for i := range 300 {
		files = append(files, strings.NewReader(fmt.Sprintf("%d", i)), strings.NewReader(long), strings.NewReader("\t1\n"))
	}
	files = append(files, strings.NewReader("7"+long+"\t1\n"), strings.NewReader("7\t1\n7\t2\n"))
	most := metertest.Peak(t, func() {
		if err := c.AddLines(t.Context(), io.MultiReader(files...), "f"); err != nil {
			t.Error(err)
		}
	})
	if most > 60e6 {
		t.Errorf("took %d MB", most/1e6)
	}
	if c.N() != 301 || c.Rejected().Duplicate != 2 {
		t.Errorf("%d reports, %+v", c.N(), c.Rejected())
	}
}
