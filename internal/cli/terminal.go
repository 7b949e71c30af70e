package cli

import (
	"fmt"
	"io"
	"os"
	"runtime/metrics"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
)

// terminal is where a command reads and prints.
type terminal struct {
	stdin    io.Reader
	stdout   io.Writer
	stderr   io.Writer
	progress *progressLine
	colour   bool // of stderr
	person   bool // somebody can be asked: standard input and standard error are terminals
	lang     lang.Lang
}

func newTerminal(stdin io.Reader, stdout, stderr io.Writer) *terminal {
	live := isTerminal(stderr)
	t := &terminal{
		stdin:    stdin,
		progress: &progressLine{live: live},
		person:   live && isTerminal(stdin),
		colour:   live && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
		lang:     lang.FromEnvironment(os.Getenv),
	}
	t.stdout, t.stderr = &speaker{stdout, &t.lang}, &speaker{stderr, &t.lang}
	t.progress.w = t.stderr
	return t
}

// speaker is a writer to somebody who has chosen a language.
type speaker struct {
	io.Writer
	lang *lang.Lang
}

// Lang implements [lang.Speaker].
func (s *speaker) Lang() lang.Lang { return *s.lang }

// Unwrap is what is written to.
func (s *speaker) Unwrap() io.Writer { return s.Writer }

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

type colour string

const (
	red    colour = "31"
	yellow colour = "33"
)

// paint colours text for stderr where that is wanted.
func (t *terminal) paint(c colour, text string) string {
	if !t.colour {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// note prints a remark to stderr.
func (t *terminal) note(format lang.Key, args ...any) {
	t.progress.clear()
	lang.Fprintln(t.stderr, "note: %s", t.lang.Text(format, args...))
}

// warn prints to stderr what the user should act upon.
func (t *terminal) warn(format lang.Key, args ...any) {
	t.progress.clear()
	fmt.Fprintln(t.stderr, t.paint(yellow, t.lang.Text("warning:")), t.lang.Text(format, args...))
}

// progressLine shows how far long work has come, on a terminal only: the
// stage, the share done, the time since the start of the stage and an
// estimate of what remains, and the memory held.
type progressLine struct {
	w    io.Writer
	live bool

	mu      sync.Mutex
	stage   string
	started time.Time
	drawn   time.Time
	width   int
}

// redraw is the shortest time between two drawings of the line.
const redraw = 100 * time.Millisecond

// report is a noren.Progress.
func (p *progressLine) report(stage string, done, total int64) {
	if !p.live {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if stage != p.stage {
		p.stage, p.started, p.drawn = stage, now, time.Time{}
	}
	if now.Sub(p.drawn) < redraw {
		return
	}
	p.drawn = now
	line := p.line(done, total, now.Sub(p.started))
	width := grid.Width(line)
	pad := max(0, p.width-width)
	p.width = width
	fmt.Fprintf(p.w, "\r%s%s", line, strings.Repeat(" ", pad))
}

func (p *progressLine) line(done, total int64, elapsed time.Duration) string {
	var b strings.Builder
	l := lang.Of(p.w)
	b.WriteString(grid.Pad(l.Stage(p.stage), 12))
	if total > 0 {
		share := min(1, float64(done)/float64(total))
		fmt.Fprintf(&b, " %3.0f%%", 100*share)
		if share > 0.02 && elapsed > time.Second {
			left := time.Duration(float64(elapsed) * (1 - share) / share)
			b.WriteString(l.Text(", about %s left", left.Round(time.Second)))
		}
	} else if done > 0 {
		fmt.Fprintf(&b, " %d", done)
	}
	fmt.Fprintf(&b, ", %s, %s", elapsed.Round(time.Second), megabytes(heldMemory()))
	return b.String()
}

// clear wipes the line away.
func (p *progressLine) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.width > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
	p.stage = ""
}

var _ noren.Progress = (*progressLine)(nil).report

// heldMemory is what the process holds of the machine's memory, in bytes.
func heldMemory() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}

func megabytes(b uint64) string {
	if b >= 1<<30 {
		return fmt.Sprintf("%.1f GB", float64(b)/(1<<30))
	}
	return fmt.Sprintf("%.0f MB", float64(b)/(1<<20))
}
