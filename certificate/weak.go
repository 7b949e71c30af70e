package certificate

import (
	"encoding/hex"
	"slices"
)

// weakKey reports whether a public key is of small order, or not in its one form. Under a
// key of small order one signature fits many messages, and it has no private key.
// crypto/ed25519 takes both (RFC 8032 leaves it open); all checkers of certificates refuse
// them.
func weakKey(public []byte) bool {
	y := slices.Clone(public)
	y[31] &= 0x7f // without the sign of x
	if y[31] == 0x7f && y[0] >= 0xed && !slices.ContainsFunc(y[1:31], func(b byte) bool { return b != 0xff }) {
		return true // y is 2^255 - 19 or more
	}
	return slices.Contains(smallOrders[:], hex.EncodeToString(y))
}

// smallOrders are the y of the points whose order divides 8, without the sign of x: 0, 1, the
// two of order 8, and -1.
var smallOrders = [...]string{
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0100000000000000000000000000000000000000000000000000000000000000",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
}
