package audit

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/server/store"
)

// TestMain appends entries without end where a test of kills runs this program again.
func TestMain(m *testing.M) {
	if dir := os.Getenv("NOREN_AUDIT_APPEND"); dir != "" {
		os.Exit(appendWithoutEnd(dir))
	}
	os.Exit(m.Run())
}

func appendWithoutEnd(dir string) int {
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(dir, "server.db"), store.SystemClock())
	if err != nil {
		fmt.Println(err)
		return 1
	}
	l, err := Open(ctx, filepath.Join(dir, "audit.log"), s)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	pad := strings.Repeat("x", 4000) // longer than a page of the disk
	for {
		if err := l.Append(ctx, Entry{Actor: "pr_a", Action: "x", Outcome: "ok", Detail: map[string]string{"pad": pad}}); err != nil {
			fmt.Println(err)
			return 1
		}
		n, _ := l.Head()
		fmt.Println("entry", n)
	}
}

// A process that is killed while it appends leaves a log that holds every entry whose
// append returned.
func TestKilledWhileAppending(t *testing.T) {
	f := newFolder(t)
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	for round := range rounds {
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), "NOREN_AUDIT_APPEND="+f.dir)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		// From its first entry on, at a time of its own in each round.
		killed := time.AfterFunc(time.Hour, func() { _ = c.Process.Kill() })
		var acknowledged int64
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if acknowledged == 0 {
				killed.Reset(time.Duration(round*137%1000) * time.Microsecond * 30)
			}
			if _, err := fmt.Sscanf(lines.Text(), "entry %d", &acknowledged); err != nil {
				t.Errorf("round %d: %s", round, lines.Text())
			}
		}
		_ = c.Wait() // it was killed
		l := f.open(t)
		n, _ := l.Head()
		if l.Damage() != nil || n < acknowledged {
			t.Fatalf("round %d: %d entries of %d: %v", round, n, acknowledged, l.Damage())
		}
	}
}
