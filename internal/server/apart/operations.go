package apart

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"reflect"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/plainfile"
	"github.com/noren-privacy/noren/service"
)

// Operations are the operations of package service that compute from a private table for a steward.
// Their errors are those of package service; where their process ends before it is done, one of kind
// Internal.
type Operations struct {
	// Progress receives the progress of long work. Optional.
	Progress noren.Progress
	// Note receives notes and warnings as they occur. Optional.
	Note func(api.Note)

	runner *Runner
}

// Operations are operations that the runner runs.
func (r *Runner) Operations() *Operations { return &Operations{runner: r} }

// Anonymize is [service.Service.Anonymize].
func (o *Operations) Anonymize(ctx context.Context, r *api.AnonymizeRequest) (*api.Release, error) {
	return run(ctx, o, anonymize(), r, nil)
}

// Curve is [service.Service.Curve].
func (o *Operations) Curve(ctx context.Context, r *api.CurveRequest) (*api.Curve, error) {
	return run(ctx, o, curve(), r, r.Point)
}

// Overlap is [service.Service.Overlap].
func (o *Operations) Overlap(ctx context.Context, r *api.OverlapRequest) (*api.Overlap, error) {
	return run(ctx, o, overlap(), r, nil)
}

// Inspect is [service.Service.Inspect].
func (o *Operations) Inspect(ctx context.Context, r *api.InspectRequest) (*api.Inspection, error) {
	return run(ctx, o, inspect(), r, nil)
}

// Fit is [service.Service.Fit].
func (o *Operations) Fit(ctx context.Context, r *api.FitRequest) (*api.Fit, error) {
	return waiting(ctx, o, fit(), r)
}

// Copy is [service.Service.Copy].
func (o *Operations) Copy(ctx context.Context, r *api.CopyRequest) (*api.Copy, error) {
	return run(ctx, o, copied(), r, nil)
}

// HierarchyPropose is [service.Service.HierarchyPropose].
func (o *Operations) HierarchyPropose(ctx context.Context, r *api.HierarchyProposeRequest) (*api.Hierarchy, error) {
	return waiting(ctx, o, hierarchyPropose(), r)
}

// HierarchyCover is [service.Service.HierarchyCover].
func (o *Operations) HierarchyCover(ctx context.Context, r *api.HierarchyCoverRequest) (*api.HierarchyCover, error) {
	return waiting(ctx, o, hierarchyCover(), r)
}

// shortFile is the size in bytes of a file that is read in less time than a process takes to start.
const shortFile = 8 << 20

// Hash is the SHA-256 of a file in hexadecimal digits. No link is followed. Errors are those of the file
// system, [plainfile.ErrNot] for what is no file, and that of ctx.
func (o *Operations) Hash(ctx context.Context, path string) (string, error) {
	request := &hashRequest{Path: path}
	if info, err := os.Stat(path); err != nil || info.Size() <= shortFile {
		out, err := hashed(&service.Service{Progress: o.Progress}, ctx, request)
		if err != nil {
			return "", err
		}
		return out.SHA256, nil
	}
	out, err := run(ctx, o, hash(), request, nil)
	if err != nil {
		return "", err
	}
	return out.SHA256, nil
}

// operation is an operation that can be run apart.
type operation[Request, Result any] struct {
	name string
	call func(*service.Service, context.Context, *Request) (*Result, error)
}

func anonymize() operation[api.AnonymizeRequest, api.Release] {
	return operation[api.AnonymizeRequest, api.Release]{"anonymize", (*service.Service).Anonymize}
}

func curve() operation[api.CurveRequest, api.Curve] {
	return operation[api.CurveRequest, api.Curve]{"curve", (*service.Service).Curve}
}

func overlap() operation[api.OverlapRequest, api.Overlap] {
	return operation[api.OverlapRequest, api.Overlap]{"overlap", (*service.Service).Overlap}
}

func inspect() operation[api.InspectRequest, api.Inspection] {
	return operation[api.InspectRequest, api.Inspection]{"inspect", (*service.Service).Inspect}
}

func fit() operation[api.FitRequest, api.Fit] {
	return operation[api.FitRequest, api.Fit]{"fit", (*service.Service).Fit}
}

func copied() operation[api.CopyRequest, api.Copy] {
	return operation[api.CopyRequest, api.Copy]{"copy", (*service.Service).Copy}
}

func hierarchyPropose() operation[api.HierarchyProposeRequest, api.Hierarchy] {
	return operation[api.HierarchyProposeRequest, api.Hierarchy]{"hierarchy-propose", (*service.Service).HierarchyPropose}
}

func hierarchyCover() operation[api.HierarchyCoverRequest, api.HierarchyCover] {
	return operation[api.HierarchyCoverRequest, api.HierarchyCover]{"hierarchy-cover", (*service.Service).HierarchyCover}
}

func hash() operation[hashRequest, hashResult] {
	return operation[hashRequest, hashResult]{"hash", hashed}
}

type (
	hashRequest struct{ Path string }
	hashResult  struct{ SHA256 string }
)

// hashed is the SHA-256 of a file.
func hashed(s *service.Service, ctx context.Context, r *hashRequest) (*hashResult, error) {
	f, err := plainfile.OpenPath(r.Path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	for done := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := io.CopyN(h, f, 4<<20)
		done += n
		if err == io.EOF {
			return &hashResult{hex.EncodeToString(h.Sum(nil))}, nil
		}
		if err != nil {
			return nil, err
		}
		if s.Progress != nil {
			s.Progress("copying", done, info.Size())
		}
	}
}

// callable is an operation whose types are known to itself alone.
type callable interface {
	named() string
	types() []reflect.Type
	// serve decodes the request, runs the operation and encodes its result.
	serve(ctx context.Context, s *service.Service, request []byte, point func(api.CurvePoint)) ([]byte, error)
}

func callables() []callable {
	return []callable{anonymize(), curve(), overlap(), inspect(), fit(), copied(), hierarchyPropose(), hierarchyCover(), hash(), unpack()}
}

func (o operation[Request, Result]) named() string { return o.name }

func (o operation[Request, Result]) types() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[Request](), reflect.TypeFor[Result]()}
}

func (o operation[Request, Result]) serve(ctx context.Context, s *service.Service, request []byte, point func(api.CurvePoint)) ([]byte,
	error,
) {
	r := new(Request)
	if err := decode(request, r); err != nil {
		return nil, err
	}
	if c, ok := any(r).(*api.CurveRequest); ok {
		c.Point = point
	}
	out, err := o.call(s, ctx, r)
	if err != nil {
		return nil, err
	}
	return encode(out)
}

// form is a print of all that both sides exchange.
func form() string {
	types := []reflect.Type{
		reflect.TypeFor[settings](), reflect.TypeFor[progress](), reflect.TypeFor[api.Note](),
		reflect.TypeFor[api.CurvePoint](),
	}
	for _, c := range callables() {
		types = append(types, c.types()...)
	}
	return print(types...)
}
