package server

import "github.com/noren-privacy/noren/certificate"

// openNoiseKey reads or makes the key under which the secrets of the noise of pending
// answers are encrypted. A server that can do neither, because the folder of its keys can
// only be read, goes on without it: a crash then forfeits what it interrupts.
func (s *Server) openNoiseKey() {
	err := plainOrAbsent(s.path("key", certificate.NoiseKeyName))
	var key []byte
	if err == nil {
		key, err = certificate.LoadOrCreateNoiseKey(s.path("key", "key.pem"))
	}
	if err != nil {
		s.cfg.Log.Warn("the key to the noise of answers cannot be read or made: a crash forfeits the charges that it interrupts", "error", err)
		return
	}
	s.noiseKey = key
}
