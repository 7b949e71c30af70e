package uploads

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/names"
	"github.com/noren-privacy/noren/internal/plainfile"
)

// Errors of uploads.
var (
	// ErrUnknown: there is no such upload.
	ErrUnknown = errors.New("uploads: no such upload")
	// ErrTooLarge: the file is larger than uploads may be.
	ErrTooLarge = errors.New("uploads: the file is too large")
	// ErrName: the name of the file is empty, too long or not text.
	ErrName = errors.New("uploads: expected the name of a file")
	// ErrSize: the size is not that of a file.
	ErrSize = errors.New("uploads: expected a size of at least 1 byte")
	// ErrRange: the range of a part is malformed or not within the file.
	ErrRange = errors.New("uploads: expected a range within the file")
	// ErrOffset: a part does not begin where the file ends.
	ErrOffset = errors.New("uploads: the part does not begin where the upload ends")
	// ErrDigest: a part is not the one that its SHA-256 states.
	ErrDigest = errors.New("uploads: the part differs from its SHA-256")
	// ErrNoDigest: a part comes without a SHA-256.
	ErrNoDigest = errors.New("uploads: expected the SHA-256 of the part")
	// ErrCut: the connection ended before the part did.
	ErrCut = errors.New("uploads: the part ended early")
	// ErrBusy: another request writes to the upload.
	ErrBusy = errors.New("uploads: another request writes to the upload")
	// ErrIncomplete: the upload is not complete.
	ErrIncomplete = errors.New("uploads: the upload is not complete")
	// ErrDiskFull: the disk has no place left.
	ErrDiskFull = errors.New("uploads: the disk is full")
	// ErrStore: the file cannot be written or read.
	ErrStore = errors.New("uploads: the file cannot be stored")
	// ErrMany: the principal has too many uploads.
	ErrMany = errors.New("uploads: too many uploads of one principal")
)

// Upload describes an upload.
type Upload struct {
	// ID is up_ and 16 characters.
	ID string `json:"id"`
	// Name is the name of the file, without folders.
	Name string `json:"name"`
	// Size is the number of bytes of the file.
	Size int64 `json:"size"`
	// Offset is the number of bytes that have arrived.
	Offset int64 `json:"offset"`
	// PartBytes is the size that parts should have.
	PartBytes int64 `json:"part_bytes"`
	// Expires is when the upload is deleted unless it is used.
	Expires time.Time `json:"expires"`
	// By is the principal who uploads; others do not see it.
	By string `json:"by"`
}

// Complete reports whether all of the file has arrived.
func (u *Upload) Complete() bool { return u.Offset == u.Size }

// Config holds what a store needs.
type Config struct {
	// Dir is the folder of uploads. Required.
	Dir string
	// Limit is the size of the largest file. Defaults to 2 GiB.
	Limit int64
	// NewID makes the id of an upload. Required.
	NewID func() (string, error)
	// Life is how long an upload is kept after its last part. Defaults to 24 hours.
	Life time.Duration
	// Space pledges n more bytes until they are written, or refuses them where they would take
	// space that others need. Optional.
	Space func(n int64) (release func(), err error)
	// Most is how many uploads one principal may have at once. Defaults to 64.
	Most int

	// Now is the time of the server. Defaults to that of the machine.
	Now func() time.Time

	// open opens a file for writing; tests put faults here.
	open func(path string) (file, error)
}

// file is a file that is written.
type file interface {
	WriteAt(p []byte, off int64) (int, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

// PartBytes is the size that parts should have.
const PartBytes = 16 << 20

// Store keeps uploads. Make one with [Open].
type Store struct {
	config Config

	creating sync.Mutex // held while uploads are counted and one is added

	mu   sync.Mutex
	busy map[string]bool // ids of uploads that are written or moved
}

const (
	dataFile = "data"
	metaFile = "upload.json"
)

var idForm = regexp.MustCompile(`^up_[a-z2-7]{16}$`)

// Open opens the uploads in a folder, which it makes where it is missing. It deletes what
// a killed process left half made, and uploads that have expired.
func Open(config Config) (*Store, error) {
	if config.Dir == "" || config.NewID == nil {
		return nil, noren.Bug("uploads: expected Dir and NewID")
	}
	if config.Limit <= 0 {
		config.Limit = 2 << 30
	}
	if config.Life <= 0 {
		config.Life = 24 * time.Hour
	}
	if config.Most <= 0 {
		config.Most = 64
	}
	if config.Space == nil {
		config.Space = func(int64) (func(), error) { return func() {}, nil }
	}
	if config.open == nil {
		config.open = func(path string) (file, error) {
			return plainfile.OpenFile(config.Dir, filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path)), os.O_RDWR)
		}
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if err := os.MkdirAll(config.Dir, 0o700); err != nil {
		return nil, reason(err)
	}
	s := &Store{config: config, busy: map[string]bool{}}
	return s, s.recover()
}

// Limit is the size of the largest file.
func (s *Store) Limit() int64 { return s.config.Limit }

// recover deletes folders that are no upload, and the bytes of parts that do not count.
func (s *Store) recover() error {
	entries, err := os.ReadDir(s.config.Dir)
	if err != nil {
		return reason(err)
	}
	for _, entry := range entries {
		path := filepath.Join(s.config.Dir, entry.Name())
		if !entry.IsDir() || !idForm.MatchString(entry.Name()) {
			if err := os.RemoveAll(path); err != nil {
				return reason(err)
			}
			continue
		}
		u, err := s.load(entry.Name())
		if err != nil {
			if err := os.RemoveAll(path); err != nil {
				return reason(err)
			}
			continue
		}
		if info, err := os.Lstat(filepath.Join(path, dataFile)); err != nil || info.Size() < u.Offset || !info.Mode().IsRegular() {
			if err := os.RemoveAll(path); err != nil {
				return reason(err)
			}
		} else if info.Size() > u.Offset {
			if err := os.Truncate(filepath.Join(path, dataFile), u.Offset); err != nil {
				return reason(err)
			}
		}
	}
	return s.Expire()
}

// Create begins an upload of a file of that name and size.
func (s *Store) Create(by, name string, size int64) (*Upload, error) {
	switch {
	case size < 1:
		return nil, ErrSize
	case size > s.config.Limit:
		return nil, ErrTooLarge
	case !fit(name):
		return nil, ErrName
	}
	s.creating.Lock() // several at once are counted one after another
	defer s.creating.Unlock()
	own, err := s.List(by)
	if err != nil {
		return nil, err
	}
	if len(own) >= s.config.Most {
		return nil, ErrMany
	}
	// A table is copied from its upload: both are there at once. So one principal's uploads
	// take at most half of the space, and leave the other half to the next.
	need := 2 * size
	for _, u := range own {
		need += 2*u.Size - u.Offset
	}
	checked, err := s.config.Space(need)
	if err != nil {
		return nil, err
	}
	checked()
	id, err := s.config.NewID()
	if err != nil {
		return nil, err
	}
	u := &Upload{ID: id, Name: name, Size: size, PartBytes: PartBytes, By: by, Expires: s.expiry()}
	// The folder has its name only when it is complete.
	made, err := os.MkdirTemp(s.config.Dir, "new-*")
	if err != nil {
		return nil, reason(err)
	}
	defer func() { _ = os.RemoveAll(made) }()
	f, err := os.OpenFile(filepath.Join(made, dataFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, reason(err)
	}
	if err := f.Close(); err != nil {
		return nil, reason(err)
	}
	if err := writeMeta(made, u); err != nil {
		return nil, err
	}
	if err := os.Rename(made, s.path(id)); err != nil {
		return nil, reason(err)
	}
	return u, syncFolder(s.config.Dir)
}

// fit reports whether a name can be that of a file, without a folder.
func fit(name string) bool {
	return name != "" && len(name) <= 255 && name != "." && name != ".." && !strings.ContainsAny(name, "/\\") && names.Seen(name)
}

func (s *Store) expiry() time.Time {
	return s.config.Now().UTC().Add(s.config.Life).Truncate(time.Second)
}

func (s *Store) path(id string) string { return filepath.Join(s.config.Dir, id) }

// Get is an upload of that principal.
func (s *Store) Get(by, id string) (*Upload, error) {
	u, err := s.load(id)
	if err != nil {
		return nil, err
	}
	if u.By != by || s.config.Now().After(u.Expires) {
		return nil, ErrUnknown
	}
	return u, nil
}

// List is the uploads of a principal, those that expire first before others.
func (s *Store) List(by string) ([]*Upload, error) {
	entries, err := os.ReadDir(s.config.Dir)
	if err != nil {
		return nil, reason(err)
	}
	out := []*Upload{}
	for _, entry := range entries {
		switch u, err := s.Get(by, entry.Name()); {
		case err != nil: // of others, or one that cannot be read: nothing says whose it is
		default:
			out = append(out, u)
		}
	}
	slices.SortFunc(out, func(a, b *Upload) int { return cmp.Or(a.Expires.Compare(b.Expires), cmp.Compare(a.ID, b.ID)) })
	return out, nil
}

func (s *Store) load(id string) (*Upload, error) {
	if !idForm.MatchString(id) {
		return nil, ErrUnknown
	}
	data, err := plainfile.ReadFile(s.config.Dir, filepath.Join(id, metaFile), 1<<20)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, plainfile.ErrNot) {
		return nil, ErrUnknown
	}
	if err != nil {
		return nil, reason(err)
	}
	u := &Upload{}
	if err := json.Unmarshal(data, u); err != nil || u.ID != id || u.Offset < 0 || u.Offset > u.Size {
		return nil, ErrUnknown
	}
	return u, nil
}

// Delete deletes an upload.
func (s *Store) Delete(by, id string) error {
	if _, err := s.Get(by, id); err != nil {
		return err
	}
	if !s.lock(id) {
		return ErrBusy
	}
	defer s.unlock(id)
	return s.remove(id)
}

// Remove deletes an upload whose file has been taken: see [Store.File].
func (s *Store) Remove(id string) error {
	if !idForm.MatchString(id) {
		return ErrUnknown
	}
	return s.remove(id)
}

// remove takes the name away first, so that a killed process leaves no half upload.
func (s *Store) remove(id string) error {
	gone := filepath.Join(s.config.Dir, "gone-"+id)
	if err := os.Rename(s.path(id), gone); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return reason(err)
	}
	if err := os.RemoveAll(gone); err != nil {
		return reason(err)
	}
	return nil
}

// File is the path of the file of an upload that is complete.
func (s *Store) File(by, id string) (*Upload, string, error) {
	u, err := s.Get(by, id)
	if err != nil {
		return nil, "", err
	}
	if !u.Complete() {
		return nil, "", ErrIncomplete
	}
	return u, filepath.Join(s.path(id), dataFile), nil
}

// Expire deletes uploads that were not used for the life of an upload.
func (s *Store) Expire() error {
	entries, err := os.ReadDir(s.config.Dir)
	if err != nil {
		return reason(err)
	}
	for _, entry := range entries {
		u, err := s.load(entry.Name())
		if err != nil || !s.config.Now().After(u.Expires) || !s.lock(u.ID) {
			continue
		}
		err = s.remove(u.ID)
		s.unlock(u.ID)
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) lock(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[id] {
		return false
	}
	s.busy[id] = true
	return true
}

func (s *Store) unlock(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, id)
}

// writeMeta stores the description of an upload, whole or not at all.
func writeMeta(dir string, u *Upload) error {
	data, err := json.Marshal(u)
	if err != nil {
		return err
	}
	temp := filepath.Join(dir, metaFile+".new")
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return reason(err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(temp, filepath.Join(dir, metaFile))
	}
	if err != nil {
		return reason(err)
	}
	return syncFolder(dir)
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return reason(err)
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return reason(err)
	}
	return nil
}

// reason is an error of the system without its path.
func reason(err error) error {
	if DiskFull(err) {
		return ErrDiskFull
	}
	return ErrStore
}

// DiskFull reports whether an error is that the disk has no place left.
func DiskFull(err error) bool {
	return errors.Is(err, ErrDiskFull) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
