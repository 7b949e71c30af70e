package reproduce

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
)

// terminal is where a command prints.
type terminal struct {
	stdout   io.Writer
	progress *progressLine
}

func newTerminal(stdout, stderr io.Writer) *terminal {
	f, ok := stderr.(*os.File)
	return &terminal{stdout: stdout, progress: &progressLine{w: stderr, live: ok && term.IsTerminal(int(f.Fd()))}}
}

// progressLine shows the stage of long work and the share done, on a terminal only.
type progressLine struct {
	w    io.Writer
	live bool

	mu    sync.Mutex
	drawn time.Time
	shown bool
}

// eraseLine is the sequence of terminals that clears the line of the cursor.
const eraseLine = "\r\x1b[K"

// report is a noren.Progress.
func (p *progressLine) report(stage string, done, total int64) {
	if !p.live {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.drawn) < 100*time.Millisecond {
		return
	}
	p.drawn, p.shown = now, true
	fmt.Fprint(p.w, eraseLine, stage)
	if total > 0 {
		fmt.Fprintf(p.w, " %.0f%%", 100*min(1, float64(done)/float64(total)))
	}
}

// clear wipes the line away.
func (p *progressLine) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, eraseLine)
		p.shown = false
	}
}

var _ noren.Progress = (*progressLine)(nil).report

// checkTarget fails before any work is done when a file could not be written in the end.
func checkTarget(path string, force bool) error {
	if path == "" || path == "-" {
		return nil
	}
	return atomicfile.Check(path, force)
}

// writeFile writes a result whole or not at all; "-" is standard output.
func writeFile(path string, force bool, stdout io.Writer, write func(io.Writer) error) error {
	if path == "-" {
		return write(stdout)
	}
	f, err := atomicfile.Create(path, force)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}

// makeFolder makes a folder for figures where there is none yet.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return &noren.Error{Kind: noren.Usage, Where: dir, What: "the folder cannot be made", Err: errors.Unwrap(err)}
	}
	return nil
}
