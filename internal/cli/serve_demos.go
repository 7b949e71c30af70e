package cli

import (
	"bufio"
	"context"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/names"
	"github.com/noren-privacy/noren/internal/server"
	"github.com/noren-privacy/noren/lang"
)

// demoFolders is the form of the temporary folder of a demonstration.
const demoFolders = "noren-demo-*"

// goOn says how to go on once the links of a demonstration are used, and makes new ones
// for each Enter. found says that the command of links finds the folder by itself.
func goOn(ctx context.Context, t *terminal, s *server.Server, dir string, found bool) {
	lang.Fprintf(t.stdout, "the folder of the demonstration: %s\n", noren.File(dir))
	command := []string{"noren", "serve", "login-link"}
	if !found {
		command = append(command, "--dir", names.Shell(dir), "--name", names.Shell(server.DemoSteward))
	}
	lang.Fprintf(t.stdout, "for new links press Enter here, or type in another terminal: %s\n", strings.Join(command, " "))
	ignoreBackground()
	go func() {
		for lines := bufio.NewScanner(t.stdin); lines.Scan() && ctx.Err() == nil; {
			if lines.Text() != "" {
				continue
			}
			if err := links(ctx, t.stdout, s); err != nil {
				t.warn("%v", err)
			}
		}
	}()
}

// runningDemo finds the folder of the one demonstration that this user runs.
func runningDemo(ctx context.Context) (string, error) {
	found, err := filepath.Glob(filepath.Join(os.TempDir(), demoFolders))
	if err != nil {
		return "", err
	}
	slices.Sort(found)
	var running []string
	for _, folder := range found {
		if dir := filepath.Join(folder, "server"); ownFolder(folder) && answers(ctx, dir) {
			running = append(running, dir)
		}
	}
	switch len(running) {
	case 0:
		return "", noren.Usagef("--dir", "expected the folder of the server, got none").Hinted("no demonstration of yours is running")
	case 1:
		return running[0], nil
	}
	return "", noren.Usagef("--dir", "expected the folder of one of %d {demonstration|demonstrations} that are running", len(running)).
		Hinted("name one, such as --dir %s", noren.File(running[0]))
}

// answers reports whether the server of a folder takes connections.
func answers(ctx context.Context, dir string) bool {
	h, err := server.OpenHost(ctx, dir)
	if err != nil {
		return false
	}
	defer func() { _ = h.Close() }()
	base, err := h.Base(ctx)
	if err != nil {
		return false
	}
	at, err := url.Parse(base)
	if err != nil {
		return false
	}
	d := net.Dialer{Timeout: 2 * time.Second}
	c, err := d.DialContext(ctx, "tcp", at.Host)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}
