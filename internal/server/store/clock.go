package store

import (
	"context"
	"time"
)

// setTime stores the time of a transaction, and what the clocks of the machine say at it.
func (tx *Tx) setTime(ctx context.Context, c Clock) error {
	since := int64(0)
	if c.Boot != "" {
		since = c.Elapsed().Milliseconds()
	}
	return tx.exec(ctx, "UPDATE server SET last_seen = ?, wall = ?, boot = ?, since_boot = ?", tx.Now, c.Wall().UnixMilli(), c.Boot, since)
}

// goOn moves the store's time on by what passed since it was last written.
//
// Within one boot that is known. Otherwise the machine's clock says it, unless that was behind
// the store's time, or was set back since: the time stands still then, and what it does not
// count is taken from the lives of tokens. Sessions and links, which live for hours at most, end.
func (s *Store) goOn(ctx context.Context) error {
	var seen, wall, since int64
	var boot string
	err := s.retry(ctx, func() error {
		err := s.db.QueryRowContext(ctx, "SELECT last_seen, wall, boot, since_boot FROM server").Scan(&seen, &wall, &boot, &since)
		if found(err) == ErrNotFound {
			return nil
		}
		return err
	})
	if err != nil {
		return failed("the server's store cannot be read", err)
	}
	known := s.clock.Boot != "" && boot == s.clock.Boot
	now := s.clock.Wall().UnixMilli()
	if known {
		s.mu.Lock()
		s.seen(seen + max(0, s.clock.Elapsed().Milliseconds()-since))
		s.mu.Unlock()
	}
	const moment = int64(time.Second / time.Millisecond)
	return s.Write(ctx, func(ctx context.Context, tx *Tx) error {
		err := tx.exec(ctx, "INSERT INTO server (one, made, last_seen, base) VALUES (1, ?, ?, '') ON CONFLICT DO NOTHING", tx.Now, tx.Now)
		if err == nil {
			err = tx.setTime(ctx, s.clock)
		}
		if err != nil || known || wall == 0 || now > wall-moment && seen-wall < moment {
			return err
		}
		for _, ends := range []string{"DELETE FROM session", "DELETE FROM link WHERE used IS NULL"} {
			if err := tx.exec(ctx, ends); err != nil {
				return err
			}
		}
		return tx.exec(ctx, "UPDATE token SET ends = ends - ?", max(0, now-wall-(tx.Now-seen)))
	})
}
