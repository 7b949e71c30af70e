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
		earlyServer: func() {
			os.Exit(serveAs(func() quantum.Meter { return early{quantum.Processor()} }))
		},
		togetherServer: func() { os.Exit(serveAs(quantum.Processor)) },
		arrivalServer:  func() { os.Exit(serveFromArrival()) },
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
	// togetherServer is noren serve whose jobs compute in its own process.
	togetherServer = "noren-together"
	// arrivalServer is noren serve as it was before the schedule: the class of a request begins when
	// it arrives, and computations take turns on the processors and give them back when they end.
	arrivalServer = "noren-arrival"
	// busyProgram uses one processor until it is killed.
	busyProgram = "noren-busy"
)

// early measures as noren serve does, and does not fill the bounds of computations.
type early struct{ quantum.Meter }

func (early) Spend(time.Duration, <-chan struct{}) {}

// inTurn is a computation that waits for one of the processors, and gives it back when it ends.
type inTurn struct {
	early
	processors chan struct{}
}

func (m inTurn) Stop() {
	m.early.Stop()
	<-m.processors
}

// serveFromArrival is the program arrivalServer. The schedule has so many lanes that each request
// of a trial is accepted when it arrives.
func serveFromArrival() int {
	processors := make(chan struct{}, runtime.NumCPU())
	runtime.GOMAXPROCS(256)
	return serveAs(func() quantum.Meter {
		processors <- struct{}{}
		return inTurn{early{quantum.Processor()}, processors}
	})
}

// serveAs is noren serve with another meter, and the flags that trials use.
func serveAs(meter func() quantum.Meter) int {
	cfg := server.Config{Tool: certificate.Tool{Name: "noren", Version: "trial"}, RequestsPerSecond: -1, AnswersPerMinute: -1, Meter: meter}
	f := flag.NewFlagSet("noren", flag.ContinueOnError)
	f.StringVar(&cfg.Dir, "dir", "", "")
	f.StringVar(&cfg.Listen, "listen", "", "")
	f.StringVar(&cfg.Admin, "admin", "", "")
	f.Int("requests-per-second", 0, "")
	f.Int("answers-per-minute", 0, "")
	err := f.Parse(os.Args[2:])
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err == nil {
		err = serves(ctx, cfg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func serves(ctx context.Context, cfg server.Config) error {
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
