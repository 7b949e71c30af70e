package ledger

import (
	"fmt"
	"os"
	"time"

	"github.com/noren-privacy/noren/internal/bootclock"
)

// clock is what time is judged by: the wall clock, and the time since this
// machine was booted, under the boot's id. A system without those gives "".
type clock struct {
	wall   func() time.Time
	booted func() time.Duration
	boot   string
}

func systemClock() clock {
	boot, booted := bootclock.New()
	return clock{wall: time.Now, boot: boot, booted: booted}
}

// lease is until when a reservation is held, by both clocks, in milliseconds.
type lease struct {
	boot            string
	until, bootTime int64
}

func (c clock) lease(now int64, length time.Duration) lease {
	l := lease{boot: c.boot, until: now + length.Milliseconds()}
	if c.boot != "" {
		l.bootTime = (c.booted() + length).Milliseconds()
	}
	return l
}

// expired reports whether a lease has run out, seen at ledger time now. Within
// one boot the clock since boot is the same for all processes, never runs back
// and never jumps: it decides alone. Across boots the ledger's own time does,
// which is the latest wall clock seen by anyone and so never runs back.
func (c clock) expired(l lease, now int64) bool {
	if c.boot != "" && l.boot == c.boot {
		return c.booted().Milliseconds() > l.bootTime
	}
	return now > l.until
}

// newOwner names one reservation's owner: the boot, the process and a random
// id, since boot ids may be missing and process ids come again.
func (c clock) newOwner() string {
	return fmt.Sprintf("%s/%d/%s", c.boot, os.Getpid(), randomID())
}
