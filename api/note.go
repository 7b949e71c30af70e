package api

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
)

// Level is how urgent a note is.
type Level string

const (
	// Info is a remark.
	Info Level = "note"
	// Warning asks for the reader's attention.
	Warning Level = "warning"
)

// Note is a remark that an operation makes while it runs.
type Note struct {
	// Code names the remark for programs, stable between versions.
	Code string `json:"code"`
	// Level is note or warning.
	Level Level `json:"level"`
	// Text is the remark in English. It holds no value of private data.
	Text string `json:"text"`
	// Columns are the columns that it is about. Optional.
	Columns []string `json:"columns,omitempty"`
	// Args are the texts and numbers of the remark, by name. Optional.
	Args map[string]any `json:"-"`
	// Whole is the remark with its arguments. Optional.
	Whole noren.Text `json:"-"`
}

// In is the remark in a language.
func (n *Note) In(l lang.Lang) string {
	if n.Whole.IsZero() {
		return l.Foreign(n.Text)
	}
	return l.Shown(n.Whole)
}
