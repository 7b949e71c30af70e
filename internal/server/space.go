package server

import "github.com/noren-privacy/noren/internal/server/uploads"

// chargeReserve of the disk is free for ledger and audit log when a charge begins, or a
// sixteenth of what [leastFree] keeps, whichever is smaller.
const chargeReserve = 64 << 20

// space refuses n more bytes where the disk would then not keep the reserve of ledger and
// audit log, which is what [Server.faults] asks for: uploads, copies and previews never
// take the space that a charge needs.
func (s *Server) space(n int64) error {
	share, free, err := freeDisk(s.cfg.Dir)
	if err != nil || share == 1 {
		return nil // not known
	}
	total := free / max(share, 1e-9)
	if free-float64(n) < min(leastFree*total, leastFreeBytes) {
		return uploads.ErrDiskFull
	}
	return nil
}

// spaceToCharge refuses a charge where the disk might not take its entries.
func (s *Server) spaceToCharge() error {
	share, free, err := freeDisk(s.cfg.Dir)
	if err != nil || share == 1 {
		return nil
	}
	total := free / max(share, 1e-9)
	if free < min(leastFree*total/16, chargeReserve) {
		return uploads.ErrDiskFull
	}
	return nil
}
