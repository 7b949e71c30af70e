package apart

import (
	"context"
	"errors"
	"io"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/frames"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/service"
)

// Serve runs one operation: it lowers the priority of the process, reads the request from in and
// writes progress and result to out. It ends when in does, also while it computes. Its error is about
// the exchange; that of the operation is part of what it writes.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	lowest()
	frame := frames.NewReader(in)
	first, err := frame.Next()
	if err != nil {
		return err
	}
	var with settings
	if err := decode(first, &with); err != nil || with.Form != form() {
		return errVersion
	}
	back := newSender(out)
	request, err := gather(frame, most(with.Limits))
	if errors.Is(err, errLarge) {
		back.send(isError, pass(large()))
		return back.close()
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // the server is gone, or wants no answer any more
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	result, err := answer(ctx, &with, request, back)
	if err != nil {
		back.send(isError, pass(err))
	} else {
		back.parts([]byte{isPart}, result)
	}
	return back.close()
}

func answer(ctx context.Context, with *settings, request []byte, back *sender) ([]byte, error) {
	if with.Limits != (meter.Limits{}) {
		ctx = meter.With(ctx, with.Limits)
	}
	s := &service.Service{
		Tool:     with.Tool,
		Progress: func(stage string, done, total int64) { back.send(isProgress, &progress{stage, done, total}) },
		Note:     func(n api.Note) { back.send(isNote, &n) },
	}
	for _, c := range callables() {
		if c.named() == with.Name {
			return c.serve(ctx, s, request, func(p api.CurvePoint) { back.send(isPoint, &p) })
		}
	}
	return nil, errName
}
