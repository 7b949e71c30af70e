package server

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/plainfile"
	"github.com/noren-privacy/noren/internal/server/quantum"
	"github.com/noren-privacy/noren/service"
)

// calibrationFile holds how long answers take on this machine.
const calibrationFile = "calibration.json"

// demoRecords is the number of made-up records that a demonstration calibrates by.
const demoRecords = 5000

// loadCalibration reads the calibration of the folder. Without one the server takes answers
// to last as on a slow machine.
func (s *Server) loadCalibration() error {
	text, err := plainfile.ReadFile(s.cfg.Dir, calibrationFile, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	c := &api.Calibration{}
	if err != nil || json.Unmarshal(text, c) != nil || !soundCalibration(c) {
		return noren.Usagef(calibrationFile, "expected the calibration of a server, got a file that cannot be read").
			Hinted("remove it, and calibrate again")
	}
	s.calibration.Store(c)
	return nil
}

// mostSeconds bounds each time of a calibration. Classes and bounds are computed from them.
const mostSeconds = 1e4

// soundCalibration reports whether the times of a calibration can have been measured.
func soundCalibration(c *api.Calibration) bool {
	times := []float64{c.Base, c.Turn, c.Load, c.Persons, c.Cell}
	for _, kinds := range []map[string]float64{c.Record, c.Numbers, c.Single} {
		times = slices.AppendSeq(times, maps.Values(kinds))
	}
	for _, seconds := range times {
		if !(seconds >= 0 && seconds <= mostSeconds) {
			return false
		}
	}
	// A time that is too short to be measured is 0.
	_, known := c.Record["outliers"]
	return c.Records > 0 && c.Base > 0 && known
}

// times are the time class and the bound of a quote: of public parameters and the
// calibration alone.
func (s *Server) times(q *api.AskQuote) quantum.Claim {
	t := service.TimesOf(&q.Work, s.calibration.Load(), s.cfg.TableMemory)
	seconds := func(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
	return quantum.Claim{Class: seconds(t.Class), Before: seconds(t.Load), Bound: seconds(t.Bound)}
}

// Calibrate measures how long answers take on this machine, on made-up tables, and stores
// that in the folder of a server. A server that runs takes it over at its next start.
func (h *Host) Calibrate(ctx context.Context) (*api.Calibration, error) {
	if err := h.note(ctx, "server.calibrate", "", nil); err != nil {
		return nil, err
	}
	return calibrate(ctx, h.dir, 0)
}

// calibrate measures and stores a calibration.
func calibrate(ctx context.Context, dir string, records int) (*api.Calibration, error) {
	c, err := (&service.Service{}).Calibrate(ctx, &api.CalibrateRequest{Dir: filepath.Join(dir, "work"), Records: records})
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return nil, err
	}
	f, err := atomicfile.CreatePrivate(filepath.Join(dir, calibrationFile), true)
	if err != nil {
		return nil, err
	}
	defer f.Discard()
	if _, err := f.Write(append(text, '\n')); err != nil {
		return nil, err
	}
	return c, f.Commit()
}

// calibrateDemo calibrates a demonstration while it starts.
func (s *Server) calibrateDemo(ctx context.Context) error {
	c, err := calibrate(ctx, s.cfg.Dir, demoRecords)
	if err != nil {
		return err
	}
	s.calibration.Store(c)
	return nil
}
