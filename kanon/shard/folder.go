package shard

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/meter"
)

// The files of the folder of a job. Only their owner may read them.
const (
	jobFile  = "job"
	lookFile = "look"
	planFile = "plan"
	lockFile = "lock" // its driver's
)

// fileMost is the largest number of bytes of a look or a plan, which hold the values of the
// quasi-identifiers, and textMost that of a job or of the record of a commit.
const (
	fileMost = 4 << 30
	textMost = 64 << 20
)

// Begin writes the job to its folder, which must exist, once what ended jobs of this release
// left was put in order ([Job.Recover]) and removed.
func (j *Job) Begin(dir string) error {
	if err := j.Abandon(dir); err != nil {
		return err
	}
	for _, other := range j.places(dir)[1:] {
		if err := drop(context.Background(), other, lockFile); err == nil {
			_ = os.Remove(other) // fails where it holds what is not ours
		}
	}
	text, err := j.Encode()
	if err != nil {
		return err
	}
	return put(dir, jobFile, text)
}

// Open reads the job of a folder. build is that of the program: see [DecodeJob].
func Open(dir, build string) (*Job, error) {
	text, err := get(dir, jobFile, textMost)
	if err != nil {
		return nil, err
	}
	return DecodeJob(text, build)
}

// PutLook writes what the first look found to the folder of the job, PutPlan the plan.
func (j *Job) PutLook(dir string, l *Look) error { return put(dir, lookFile, l.Encode(j)) }

// PutPlan: see [Job.PutLook]. It returns the length of the plan.
func (j *Job) PutPlan(dir string, p *Plan) (int, error) {
	text, err := p.Encode(j)
	if err != nil {
		return 0, err
	}
	return len(text), put(dir, planFile, text)
}

// GetLook reads what [Job.PutLook] wrote.
func (j *Job) GetLook(dir string) (*Look, error) {
	text, err := get(dir, lookFile, fileMost)
	if err != nil {
		return nil, err
	}
	return DecodeLook(j, text)
}

// GetPlan reads what [Job.PutPlan] wrote.
func (j *Job) GetPlan(dir string) (*Plan, error) {
	text, err := get(dir, planFile, fileMost)
	if err != nil {
		return nil, err
	}
	return DecodePlan(j, text)
}

func put(dir, name string, text []byte) error {
	path := filepath.Join(dir, name)
	if err := writeFile(path, text); err != nil {
		return &noren.Error{Where: noren.File(path), What: "cannot be written", Hint: atomicfile.Space(err), Err: atomicfile.Reason(err)}
	}
	return nil
}

func get(dir, name string, most int64) ([]byte, error) {
	path := filepath.Join(dir, name)
	text, err := meter.ReadFile(path, most)
	if refused := meter.Refused(err); refused != nil {
		return nil, refused
	}
	if err != nil {
		return nil, &noren.Error{
			Where: noren.File(path), What: "cannot be read",
			Hint: "every process of the job must see the folder of the job under this path", Err: atomicfile.Reason(err),
		}
	}
	return text, nil
}

// Abandon puts in order what killed commits of this release left ([Job.Recover]), and removes
// all else that its jobs have made.
func (j *Job) Abandon(dir string) error {
	if err := j.Recover(dir); err != nil {
		return err
	}
	for _, at := range j.places(dir) {
		if err := Clear(j.Folder, at); err != nil {
			return err
		}
	}
	return nil
}

// Clear removes what a job has made that is no part of a release: the files of the folder of
// the job, dir, except for the lock of its driver and what [Job.Recover] needs, and files of
// the folder of the release whose names begin with [TempPrefix], which jobs of earlier
// versions have made.
func Clear(folder, dir string) error {
	temporary := func(name string) bool { return strings.HasPrefix(name, TempPrefix) }
	if err := remove(folder, temporary); err != nil {
		return err
	}
	recorded, err := exists(context.Background(), filepath.Join(dir, recordFile))
	if err != nil {
		return &noren.Error{Where: noren.File(filepath.Join(dir, recordFile)), What: "cannot be read", Err: atomicfile.Reason(err)}
	}
	if !recorded {
		if err := os.RemoveAll(filepath.Join(dir, releaseFolder)); err != nil {
			return &noren.Error{Where: noren.File(filepath.Join(dir, releaseFolder)), What: "cannot be removed", Err: atomicfile.Reason(err)}
		}
	}
	return remove(dir, func(name string) bool {
		switch plain := strings.TrimSuffix(name, ".new"); plain {
		case jobFile, lookFile, planFile, verifyFile:
			return true
		case recordFile, oldCertified:
			return !recorded
		}
		return temporary(name) || strings.HasPrefix(name, "persons-")
	})
}

// remove removes the files of a folder whose names are matched.
func remove(folder string, match func(name string) bool) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &noren.Error{Where: noren.File(folder), What: "the folder cannot be listed", Err: atomicfile.Reason(err)}
	}
	for _, e := range entries {
		if e.IsDir() || !match(e.Name()) {
			continue
		}
		if err := os.Remove(filepath.Join(folder, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &noren.Error{Where: noren.File(filepath.Join(folder, e.Name())), What: "cannot be removed", Err: atomicfile.Reason(err)}
		}
	}
	return nil
}
