package service_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table/parts"
)

// A folder with a file that is not read is not said to keep what its other files keep.
func TestVerifyNamesUnreadFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "part-1.csv"), []byte("age\n30\n30\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "_SUCCESS"), nil, 0o600))
	s := bare(t)
	request := &api.VerifyRequest{Table: api.Table{Input: dir, Spec: &spec.Spec{Columns: map[string]spec.Column{"age": {Role: "quasi", Type: "integer"}}, Anonymize: spec.Anonymize{K: 2}}}}
	r, err := s.Verify(t.Context(), request)
	must(t, err)
	if !r.Met {
		t.Fatal(r.Failures)
	}
	must(t, os.WriteFile(filepath.Join(dir, "_part-2.csv"), []byte("age\n31\n"), 0o600))
	if _, err := s.Verify(t.Context(), request); noren.CodeOf(err) != parts.CodeUnread || noren.KindOf(err) != noren.NotMet {
		t.Errorf("got %v, want code %s", err, parts.CodeUnread)
	}
	request.Input = filepath.Join(dir, "part-*.csv") // names what is read
	r, err = s.Verify(t.Context(), request)
	must(t, err)
	if !r.Met || r.Rows != 2 {
		t.Errorf("%+v", r)
	}
}
