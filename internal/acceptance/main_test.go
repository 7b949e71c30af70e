package acceptance

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/cli"
	"github.com/noren-privacy/noren/internal/server"
	"github.com/noren-privacy/noren/internal/server/quantum"
)

// TestMain puts the command noren on the path: this binary runs as noren under that name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"noren": func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			defer stop()
			os.Exit(cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
		earlyServer: func() { os.Exit(serveEarly()) },
		busyProgram: func() {
			for x := uint64(1); ; x = x*3 + 1 {
				runtime.KeepAlive(x)
			}
		},
	})
}

// Names of programs of tests.
const (
	// earlyServer is noren serve whose computations leave the processor when they end, as those
	// of earlier versions did. The trials of the schedule have to see it.
	earlyServer = "noren-early"
	// busyProgram uses one processor until it is killed.
	busyProgram = "noren-busy"
)

// early measures as noren serve does, and does not fill the bounds of computations.
type early struct{ quantum.Meter }

func (early) Spend(time.Duration, <-chan struct{}) {}

// serveEarly is the program earlyServer, with the flags that trials use.
func serveEarly() int {
	cfg := server.Config{
		Tool: certificate.Tool{Name: "noren", Version: "early"}, RequestsPerSecond: -1, AnswersPerMinute: -1,
		Meter: func() quantum.Meter { return early{quantum.Processor()} },
	}
	f := flag.NewFlagSet(earlyServer, flag.ContinueOnError)
	f.StringVar(&cfg.Dir, "dir", "", "")
	f.StringVar(&cfg.Listen, "listen", "", "")
	f.StringVar(&cfg.Admin, "admin", "", "")
	f.Int("requests-per-second", 0, "")
	f.Int("answers-per-minute", 0, "")
	err := f.Parse(os.Args[2:])
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err == nil {
		err = servesEarly(ctx, cfg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func servesEarly(ctx context.Context, cfg server.Config) error {
	s, err := server.New(ctx, cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	base, err := s.Listen(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("noren serves %s\nhealth and metrics: http://%s/readyz\n", base, s.AdminAddress())
	return s.Serve(ctx)
}
