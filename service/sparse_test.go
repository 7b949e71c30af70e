package service_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/spec"
)

// A release may end with records of one value, by the secret order of its rows: it is read back as it was written, in
// every format.
func TestReleaseMayEndWithSparseRecords(t *testing.T) {
	var text strings.Builder
	text.WriteString("age,ward,stay\n")
	for i := range 40 {
		fmt.Fprintf(&text, "%d,,\n%d,A,3\n", 20+i, 20+i)
	}
	in := filepath.Join(t.TempDir(), "in.csv")
	write(t, in, text.String())
	for i, ending := range []string{"xlsx", "xlsx", "xlsx", "csv", "csv"} {
		s := &service.Service{}
		out := filepath.Join(t.TempDir(), "out."+ending)
		_, err := s.Anonymize(t.Context(), &api.AnonymizeRequest{
			Table: api.Table{Input: in, Spec: &spec.Spec{Version: spec.Version, Anonymize: spec.Anonymize{K: 2}, Columns: map[string]spec.Column{
				"age": {Role: "quasi-identifier", Type: "integer"}, "ward": {Role: "other", Type: "category"}, "stay": {Role: "other", Type: "integer"},
			}}}, Output: out, Seed: fmt.Sprint(i), InsecureSeed: true, Assess: true,
		})
		if err != nil {
			t.Errorf("%s, seed %d: %v", ending, i, err)
		}
	}
}
