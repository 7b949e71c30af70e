package service

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/tempfile"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/noise"
)

// keyOfDevices is the file of a key of devices, as it was read.
type keyOfDevices struct {
	*survey.KeyFile
	path  string // without links
	fresh bool   // there is no file yet
	text  []byte // the file's
}

// maxKey bounds the file of a key, which lists what it was used for.
const maxKey = 16 << 20

// openKey reads the key of all devices, or draws one where there is none: it is fresh
// then, and is kept by use.
func openKey(path string) (*keyOfDevices, error) {
	k := &keyOfDevices{path: path}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		k.path = real
	}
	var err error
	k.text, err = meter.ReadFile(k.path, maxKey)
	if errors.Is(err, fs.ErrNotExist) {
		key, err := survey.NewKey(noise.NewSource())
		if err != nil {
			return nil, err
		}
		k.fresh = true
		k.KeyFile, err = survey.NewKeyFile(key)
		return k, err
	}
	if err != nil {
		return nil, noren.Usagef(noren.File(path), "the key of the devices cannot be read")
	}
	k.KeyFile, err = survey.ParseKey(path, k.text)
	return k, err
}

// lockWait is how long a run waits for another that notes its use of the key. Each holds
// the lock for as long as it takes to write a small file.
const lockWait = 10 * time.Second

// use notes a use of the key in its file, which its owner alone can read, and returns the
// file as it is then: of a new key it makes the file, which it never replaces, and of
// another it adds to what the file says now, as another run may have used it meanwhile.
func (k *keyOfDevices) use(s *survey.Survey, finishing bool, records int) (*keyOfDevices, error) {
	unlock, err := lockKey(k.path)
	if err != nil {
		return nil, err
	}
	defer unlock()
	now := k
	if !k.fresh {
		if now, err = openKey(k.path); err != nil {
			return nil, err
		}
		if now.fresh || !sameKey(now.text, k.text) {
			return nil, noren.Usagef(noren.File(k.path), "the key of the devices was replaced while it was used").Hinted("run the command again")
		}
	}
	if err := now.Add(s, finishing, records); err != nil {
		return nil, err
	}
	text, err := now.Encode()
	if err != nil {
		return nil, err
	}
	if k.fresh {
		return now, keepKey(k.path, text)
	}
	return now, replaceKey(k.path, text)
}

// sameKey tells whether two files of keys have the same first line.
func sameKey(a, b []byte) bool {
	x, _, _ := bytes.Cut(bytes.TrimSpace(a), []byte("\n"))
	y, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte("\n"))
	return bytes.EqualFold(bytes.TrimSpace(x), bytes.TrimSpace(y))
}

// lockKey takes the lock of a key: a file beside it.
func lockKey(path string) (unlock func(), err error) {
	name := path + ".lock"
	for end := time.Now().Add(lockWait); ; time.Sleep(10 * time.Millisecond) {
		unlock, ok, err := tempfile.Lock(name)
		if err != nil {
			return nil, cannotKeep(path, err)
		}
		if ok {
			return unlock, nil
		}
		if time.Now().After(end) {
			return nil, noren.Usagef(noren.File(name), "another run uses the key of the devices, or was killed while it did").
				Hinted("remove this file if no other run is under way")
		}
	}
}

func cannotKeep(path string, err error) error {
	return &noren.Error{
		Kind: noren.Usage, Where: noren.File(path),
		What: "the key of the devices cannot be written, with what it was used for", Err: errors.Unwrap(err),
	}
}

// keepKey writes the file of a new key. It never replaces a file.
func keepKey(path string, text []byte) error {
	return writeKey(path, text, false)
}

// replaceKey writes the file of a key anew.
func replaceKey(path string, text []byte) error { return writeKey(path, text, true) }

// writeKey writes the file of a key: whole or not at all.
func writeKey(path string, text []byte, force bool) error {
	f, err := atomicfile.CreatePrivate(path, force)
	if err != nil {
		return cannotKeep(path, err)
	}
	defer f.Discard()
	if _, err := f.Write(text); err != nil {
		return cannotKeep(path, err)
	}
	if err := f.Commit(); err != nil {
		return cannotKeep(path, err)
	}
	return nil
}

// usesOf is what a key was used for, as a part of a document.
func usesOf(path string, k *survey.KeyFile) *api.LDPDevices {
	out := &api.LDPDevices{File: path, Before: k.Version == 1, Uses: []api.LDPDevicesUse{}, Epsilon: bounded(k.Sum())}
	for i := range k.Uses {
		u := &k.Uses[i]
		out.Uses = append(out.Uses, api.LDPDevicesUse{
			Question: u.Question, Mechanism: u.Mechanism, Rounds: u.Rounds, Records: u.Records,
			Finishing: u.Finishing, Epsilon: bounded(u.Cost()),
		})
	}
	return out
}

// bounded is a loss, nil where nothing bounds it.
func bounded(loss float64) *float64 {
	if math.IsInf(loss, 1) {
		return nil
	}
	return &loss
}
