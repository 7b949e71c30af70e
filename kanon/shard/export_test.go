package shard

import "crypto/sha256"

// Resign makes a result one of another text of its file.
func (m *Made) Resign(text []byte) { m.SHA256, m.Size = sha256.Sum256(text), int64(len(text)) }
