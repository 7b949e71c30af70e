package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// isolated has a command run where a shell has mounted something first, in a namespace of its own.
func isolated(t *testing.T, c *exec.Cmd, mount string) *exec.Cmd {
	t.Helper()
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Skip("no namespaces here")
	}
	c.Args = append([]string{"unshare", "-rm", "sh", "-c", mount + ` && exec "$0" "$@"`, c.Path}, c.Args[1:]...)
	c.Path, c.Err = unshare, nil
	return c
}

// mounts reports whether this system lets a test mount.
func mounts(t *testing.T) bool {
	t.Helper()
	dir := t.TempDir()
	return exec.Command("unshare", "-rm", "mount", "--bind", dir, dir).Run() == nil
}

// replacing is a command that replaces what an earlier run of it has made in a folder.
type replacing struct {
	*killable
	what, line, folder string
	flags              string // --force where the command has it
	old                map[string]string
}

// replace runs a writer in a new folder, and prepares to run it again.
func (k *killable) replace(what, line string) *replacing {
	k.t.Helper()
	folder := strings.NewReplacer(" ", "", ",", "").Replace(what)
	if err := os.Mkdir(filepath.Join(k.dir, folder), 0o700); err != nil {
		k.t.Fatal(err)
	}
	r := &replacing{killable: k, what: what, line: strings.ReplaceAll(line, "NAME", folder+"/it"), folder: folder, flags: " --force"}
	k.run(r.line)
	r.old = r.made()
	if len(r.old) == 0 {
		k.t.Fatalf("%s writes nothing", what)
	}
	if out, err := k.command(r.line + " --force --help").CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--force")) {
		r.flags = ""
	}
	return r
}

// made are the files in the folder of the outputs, by their names below it.
func (r *replacing) made() map[string]string {
	out := map[string]string{}
	for name, text := range r.files() {
		if rest, ok := strings.CutPrefix(name, r.folder+"/"); ok {
			out[rest] = text
		}
	}
	return out
}

// restore puts back what the earlier run has made.
func (r *replacing) restore() {
	r.t.Helper()
	at := filepath.Join(r.dir, r.folder)
	err := errors.Join(os.RemoveAll(at), os.Mkdir(at, 0o700))
	for name, text := range r.old {
		path := filepath.Join(at, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// outcome checks that all files are as they were, or all are those of a whole run, or that what
// was said names each that is gone or new, and how to go on.
func (r *replacing) outcome(how string, failed error, said []byte) {
	r.t.Helper()
	now := r.made()
	same, other := []string{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(r.old)) {
		if text, ok := now[name]; ok && text == r.old[name] {
			same = append(same, name)
		} else {
			other = append(other, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, ok := r.old[name]; !ok {
			other = append(other, name)
		}
		if temporary(name) && failed != nil { // what is mounted cannot be removed after it was replaced
			r.t.Errorf("%s, %s: %s is left", r.what, how, name)
		}
	}
	if failed == nil {
		for _, name := range other {
			if _, ok := now[name]; !ok {
				r.t.Errorf("%s, %s: it went well, and %s is gone", r.what, how, name)
			}
		}
		return
	}
	if bytes.Contains(said, []byte("(unnamed)")) || bytes.Contains(said, []byte(".noren-")) {
		r.t.Errorf("%s, %s: the error names no file of the user:\n%s", r.what, how, said)
	}
	for _, name := range other {
		if !bytes.Contains(said, []byte(name)) || !bytes.Contains(said, []byte(" (")) {
			r.t.Errorf("%s, %s: %v are as before, %v are not, and it is not said:\n%s", r.what, how, same, other, said)
			return
		}
	}
}

// obstruct replaces the outputs of a writer where one after the other cannot be replaced.
func (r *replacing) obstruct() {
	r.t.Helper()
	try := func(how string, mount string) {
		r.t.Helper()
		c := r.command(r.line + r.flags)
		if mount != "" {
			c = isolated(r.t, c, mount)
		}
		said, err := c.CombinedOutput()
		r.outcome(how, err, said)
	}
	for _, name := range slices.Sorted(maps.Keys(r.old)) {
		at := filepath.Join(r.folder, name)
		r.restore()
		try(name+" cannot be renamed", fmt.Sprintf("mount --bind %s %s", at, at))

		r.restore()
		path := filepath.Join(r.dir, at)
		if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
			r.t.Fatal(err)
		}
		text := r.old[name]
		delete(r.old, name)
		try(name+" is a folder", "")
		r.old[name] = text

		r.restore()
		aside := filepath.Join(r.dir, r.folder+".aside")
		if err := errors.Join(os.Rename(path, aside), os.Symlink(aside, path)); err != nil {
			r.t.Fatal(err)
		}
		try(name+" is a link", "")
		// A key of devices is one file under all of its names: what it was used for must not be lost.
		if kept, err := os.ReadFile(aside); err != nil || string(kept) != text && filepath.Ext(name) != ".key" {
			r.t.Errorf("%s, %s is a link: the file that it names is another one, %v", r.what, name, err)
		}
		r.restore()
		if err := errors.Join(os.Remove(path), os.Symlink("nothing", path)); err != nil {
			r.t.Fatal(err)
		}
		delete(r.old, name)
		said, err := r.command(r.line + r.flags).CombinedOutput()
		if target, e := os.Readlink(path); err != nil && (e != nil || target != "nothing") {
			r.t.Errorf("%s, %s is a link to nothing: %v\n%s", r.what, name, e, said)
		}
		if _, err := os.Lstat(filepath.Join(r.dir, r.folder, "nothing")); !errors.Is(err, fs.ErrNotExist) {
			r.t.Errorf("%s, %s is a link to nothing: it was followed, %v", r.what, name, err)
		}
		r.old[name] = text
	}
	r.restore()
	try("a folder that is read only", fmt.Sprintf("mount --bind %s %s && mount -o remount,ro,bind %s", r.folder, r.folder, r.folder))
	for _, name := range slices.Sorted(maps.Keys(r.old)) {
		if text := r.made()[name]; text != r.old[name] {
			r.t.Errorf("%s: %s in a folder that is read only is another one", r.what, name)
		}
	}
	// On a file system of its own, which holds nothing but the folder.
	r.restore()
	c := isolated(r.t, r.command(strings.ReplaceAll(r.line, r.folder+"/it", r.folder+"/new/it")),
		fmt.Sprintf("mkdir %s/new && mount -t tmpfs none %s/new", r.folder, r.folder))
	if said, err := c.CombinedOutput(); err != nil {
		r.t.Errorf("%s on a file system of its own: %v\n%s", r.what, err, said)
	}
}

// replaceable are the writers whose outputs can have any place.
func replaceable() map[string]string {
	out := maps.Clone(killedWriters)
	delete(out, "certificate, new key") // its place is that of the keys
	return out
}

// Outputs that cannot be replaced, one of several or all, are replaced together or not at all, or the
// error says what is left and how to go on.
func TestWritersThatCannotReplace(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	if !mounts(t) {
		t.Skip("nothing can be mounted here")
	}
	k := newKillable(t)
	for _, what := range []string{"anonymize", "ask"} {
		k.replace(what, killedWriters[what]).obstruct()
	}
}

func TestLongWritersThatCannotReplace(t *testing.T) {
	randtest.Long(t)
	if !mounts(t) {
		t.Skip("nothing can be mounted here")
	}
	k := newKillable(t)
	for what, line := range replaceable() {
		k.replace(what, line).obstruct()
	}
}
