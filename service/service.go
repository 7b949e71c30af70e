// Package service provisional frame.
package service

import "github.com/noren-privacy/noren"

// Service ...
type Service struct {
	Ledger   string
	KeyFile  string
	Progress noren.Progress
	Note     func(code, text string)
}

func (s *Service) note(code, text string) {
	if s.Note != nil {
		s.Note(code, text)
	}
}
