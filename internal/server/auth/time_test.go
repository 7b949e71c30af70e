package auth

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/server/store"
)

// machine is a machine whose clock is set by a test.
type machine struct {
	wall   time.Time
	passed time.Duration // since the machine was made
	booted time.Duration // when it was booted, of passed
	boots  int
	shared bool // that processes have the clock since boot in common
}

func (m *machine) clock() store.Clock {
	c := store.Clock{Wall: func() time.Time { return m.wall }}
	from := m.passed
	c.Elapsed = func() time.Duration { return m.passed - from }
	if m.shared {
		c.Boot, c.Elapsed = string(rune('a'+m.boots)), func() time.Duration { return m.passed - m.booted }
	}
	return c
}

func (m *machine) pass(d time.Duration) { m.wall, m.passed = m.wall.Add(d), m.passed+d }

// However the clock is set, and the server and commands beside it are started, no session,
// link or token lives longer than it may, and new ones work at once. Only where the clock
// is set back while no process looks does nothing know how much time passed. A command beside a
// server knows of the server's time what was written: its link may be over at once where not.
func TestLivesWhateverTheClockSays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.db")
	begin := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	first, err := store.Open(t.Context(), path, (&machine{wall: begin}).clock())
	if err == nil {
		err = first.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	empty, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		if err := errors.Join(os.WriteFile(path, empty, 0o600), os.RemoveAll(path+"-wal"), os.RemoveAll(path+"-shm")); err != nil {
			t.Fatal(err)
		}
		m := &machine{wall: begin, shared: rapid.Bool().Draw(t, "clock since boot")}
		ctx := context.Background()
		check := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		open := func() (*store.Store, *Auth) {
			s, err := store.Open(ctx, path, m.clock())
			check(err)
			return s, New(s)
		}
		s, a := open()
		defer func() { _ = s.Close() }()
		id := ""
		check(s.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
			id, err = tx.AddPrincipal(ctx, "Ito")
			return err
		}))
		type thing struct {
			kind, secret string
			made, used   time.Duration
		}
		var things []*thing
		sure := true    // the clock was not set back while no process looked
		written := true // what the server saw of the clock is in its store
		use := func(x *thing) bool {
			var err error
			switch x.kind {
			case "link":
				_, _, err = a.LookLink(ctx, x.secret)
			case "session":
				_, err = a.BySession(ctx, x.secret)
			case "token":
				_, err = a.ByToken(ctx, x.secret, netip.Addr{})
			}
			if err != nil && !errors.Is(err, ErrUnknown) {
				t.Fatal(err)
			}
			return err == nil
		}
		make := func() {
			link, _, err := a.NewLink(ctx, id)
			check(err)
			in, err := a.SignIn(ctx, link)
			check(err)
			other, _, err := a.NewLink(ctx, id)
			check(err)
			_, token, err := a.NewToken(ctx, id, "t", 1, nil)
			check(err)
			for _, x := range []*thing{{kind: "link", secret: other}, {kind: "session", secret: in.Secret}, {kind: "token", secret: token}} {
				x.made, x.used = m.passed, m.passed
				if !use(x) {
					t.Fatalf("a new %s cannot be used", x.kind)
				}
				things = append(things, x)
			}
		}
		const slack = 2 * time.Second
		look := func() {
			for _, x := range things {
				most := map[string]time.Duration{"link": LinkLives, "session": Lives, "token": 24 * time.Hour}[x.kind]
				ok := use(x)
				if x.kind == "session" && ok && sure && m.passed-x.used > Idle+slack {
					t.Fatalf("a session that was not used for %v is valid", m.passed-x.used)
				}
				if ok && sure && m.passed-x.made > most+slack {
					t.Fatalf("a %s of %v is valid", x.kind, m.passed-x.made)
				}
				if ok {
					x.used = m.passed
				}
			}
		}
		make()
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			hours := func(name string) time.Duration {
				return time.Minute * time.Duration(rapid.SampledFrom([]int{-540, -300, -40, -15, -2, 2, 40, 300, 540}).Draw(t, name))
			}
			span := rapid.SampledFrom([]time.Duration{time.Minute, 9 * time.Minute, 25 * time.Minute, 5 * time.Hour})
			switch rapid.SampledFrom([]int{0, 0, 1, 2, 2, 3, 4, 5}).Draw(t, "step") {
			case 0:
				m.wall = m.wall.Add(hours("set the clock"))
				s.Now() // the server looks at the time, as at each request
				written = false
			case 1:
				m.pass(span.Draw(t, "pass"))
			case 2: // a stop
				check(s.Write(ctx, func(context.Context, *store.Tx) error { return nil }))
				check(s.Close())
				m.pass(span.Draw(t, "stopped"))
				boot := rapid.Bool().Draw(t, "boot")
				if boot {
					m.boots, m.booted = m.boots+1, m.passed
				}
				if rapid.IntRange(0, 3).Draw(t, "set meanwhile") == 3 {
					d := hours("set while stopped")
					m.wall = m.wall.Add(d)
					sure = sure && (d >= 0 || m.shared && !boot)
				}
				s, a = open()
				written = true
			case 3: // a command beside the server
				other, b := open()
				secret, _, err := b.NewLink(ctx, id)
				check(err)
				check(other.Close())
				if _, err := a.SignIn(ctx, secret); err != nil && m.shared && written {
					t.Fatalf("a link of a command beside the server: %v", err)
				}
			case 4:
				make()
				written = true
			case 5:
				look()
			}
		}
		look()
		make()
	})
}
