package paper_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// What protects nothing must not be within reach of a release.
func TestOnlyExperimentsImportThePaper(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is needed to list packages")
	}
	out, err := exec.Command("go", "list", "-e", "-json=ImportPath,Imports", "github.com/noren-privacy/noren/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	found := false
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, i := range p.Imports {
			if i != "github.com/noren-privacy/noren/outlier/paper" {
				continue
			}
			found = true
			if !strings.HasPrefix(p.ImportPath, "github.com/noren-privacy/noren/experiments/") {
				t.Errorf("%s imports %s", p.ImportPath, i)
			}
		}
	}
	if !found {
		t.Error("not even the experiments import it")
	}
}
