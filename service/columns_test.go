package service_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
)

func TestColumns(t *testing.T) {
	s := grantedStage(t)
	private := filepath.Join(s.dir, "people.csv")
	s.write(t, "people.csv", "secret,code\n1,2\n") // the file that was granted is not opened
	public := s.write(t, "public.csv", "ward;days\nA;3\nB;4\n")
	bare := s.write(t, "bare.csv", "30,31\n32,33\n34,35\n")
	for name, c := range map[string]struct {
		request api.ColumnsRequest
		dataset string
		columns []string
		kind    noren.Kind
		code    string
	}{
		"a data set":             {request: api.ColumnsRequest{Table: "people"}, dataset: "people", columns: []string{"age", "city"}},
		"the file of a data set": {request: api.ColumnsRequest{Table: private}, dataset: "people", columns: []string{"age", "city"}},
		"a public file":          {request: api.ColumnsRequest{Table: public}, columns: []string{"ward", "days"}},
		"with its delimiter":     {request: api.ColumnsRequest{Table: public, Delimiter: ","}, columns: []string{"ward;days"}},
		"a first line of data":   {request: api.ColumnsRequest{Table: bare}, kind: noren.Usage, code: "first-line-is-data"},
		"a database":             {request: api.ColumnsRequest{Table: "pg:visits"}, kind: noren.Usage},
		"standard input":         {request: api.ColumnsRequest{Table: "-"}, kind: noren.Usage},
		"nothing":                {kind: noren.Usage},
		"a bad delimiter":        {request: api.ColumnsRequest{Table: public, Delimiter: "ab"}, kind: noren.Usage},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := s.Columns(t.Context(), &c.request)
			if c.columns == nil {
				if out != nil || noren.KindOf(err) != c.kind || noren.CodeOf(err) != c.code {
					t.Errorf("got %+v, %v", out, err)
				}
				return
			}
			if err != nil || out.Dataset != c.dataset || !slices.Equal(out.Names, c.columns) {
				t.Errorf("got %+v, %v", out, err)
			}
		})
	}
}
