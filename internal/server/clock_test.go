package server

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/server/limit"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/internal/server/tables"
	"github.com/noren-privacy/noren/internal/server/uploads"
)

// However the clock is set, uploads live as long as they should, times of documents never run
// back, requests are not refused for hours, and the server stays ready.
func TestClockThatIsSet(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]time.Duration{"back": -9 * time.Hour, "forward": 9 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var wall, elapsed atomic.Int64 // jobs read them beside the test
			wall.Store(time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC).UnixNano())
			pass := func(d time.Duration) { wall.Add(int64(d)); elapsed.Add(int64(d)) }
			r := start(t, func(cfg *Config) {
				cfg.Clock = store.Clock{
					Wall:    func() time.Time { return time.Unix(0, wall.Load()) },
					Elapsed: func() time.Duration { return time.Duration(elapsed.Load()) },
				}
			})
			s := r.steward(t)
			pass(time.Minute)
			begun := func() string {
				t.Helper()
				u, err := r.uploads.Create("anna", "a.csv", 100)
				if err != nil {
					t.Fatal(err)
				}
				return u.ID
			}
			known := func(id string) bool {
				_, err := r.uploads.Get("anna", id)
				if err != nil && !errors.Is(err, uploads.ErrUnknown) {
					t.Fatal(err)
				}
				return err == nil
			}
			table := s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "a.csv", []byte("a\n1\n"))})
			first := begun()
			wall.Add(int64(set))
			if !known(first) {
				t.Error("an upload ended early")
			}
			second := begun()
			later := s.add(t, tables.Source{Kind: "upload", Upload: s.upload(t, "b.csv", []byte("a\n1\n"))})
			if later.Added.Before(table.Added) {
				t.Errorf("a later table was added at %v, the first at %v", later.Added, table.Added)
			}
			r.principals = limit.NewRate(time.Second, 3)
			for range 5 {
				refused := 0
				for r.ask(t, "GET", "/api/v1/session", s.secret, nil, nil).status == 429 {
					if refused++; refused > 4 {
						t.Fatal("requests are refused for more than four seconds")
					}
					pass(time.Second)
				}
			}
			pass(23*time.Hour + 50*time.Minute)
			if !known(second) {
				t.Error("an upload ended early")
			}
			pass(20 * time.Minute)
			if known(first) || known(second) {
				t.Error("an upload of more than 24 hours")
			}
			if faults := r.faults(); len(faults) > 0 {
				t.Errorf("not ready: %q", faults)
			}
			ready := httpGet(t, "http://"+r.AdminAddress()+"/readyz", "")
			if lines := strings.Split(ready.body, "\n"); ready.status != 200 || lines[0] != "ok" || set < 0 &&
				!strings.HasPrefix(lines[1], "clock: ") {
				t.Errorf("/readyz: %d %q", ready.status, ready.body)
			}
		})
	}
}

// The clock of the machine, which is set back and forward, decides nothing on the server: it is
// used to measure what passes, and otherwise time is that of the store.
func TestTimeIsThatOfTheStore(t *testing.T) {
	may := []string{"store/store.go", "jobs/manager.go New", "uploads/store.go Open"} // the clock itself, and defaults
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		path = filepath.ToSlash(path)
		isNow := func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || s.Sel.Name != "Now" {
				return false
			}
			id, ok := s.X.(*ast.Ident)
			return ok && id.Name == "time"
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || slices.Contains(may, path) || slices.Contains(may, path+" "+f.Name.Name) {
				continue
			}
			called := map[ast.Node]bool{}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					called[n.Fun] = true
				case *ast.SelectorExpr:
					if call, ok := n.X.(*ast.CallExpr); ok && isNow(call.Fun) && n.Sel.Name != "Add" {
						t.Errorf("%s: time.Now().%s drops what passes; take the time of the store", files.Position(n.Pos()), n.Sel.Name)
					}
					if isNow(n) && !called[n] {
						t.Errorf("%s: time.Now as a source of time; take that of the store", files.Position(n.Pos()))
					}
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
