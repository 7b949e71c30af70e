// Package streams lists every keyed or seeded stream of the program: what it is for, its
// key, its message, and why no two uses share it.
//
// A stream that is used twice, with another parameter the second time, can tell what each
// use by itself hides: two reports of a device from one stream against two thresholds tell
// the value. So each place of the sources that begins a stream is in [All] with the
// reason why its output is used once. A test finds the places (constructors of HMAC, HKDF,
// generators, system randomness, and hashes of secrets) and fails for one that is not
// listed, and for one that is listed and gone. It also compares the labels under each key.
//
// docs/threat-model.md, "Randomness that is used once", has the table and the proof.
package streams

import (
	"fmt"
	"strings"
)

// Kind is what a stream protects.
type Kind string

// Kinds of streams.
const (
	// Secret streams protect persons: two uses must not share one.
	Secret Kind = "secret"
	// Fresh streams are bits of the system's random source, each of which is used once.
	Fresh Kind = "fresh"
	// Print streams are keyed hashes that are compared: equal inputs must have equal
	// outputs, and the key keeps them from telling the input.
	Print Kind = "print"
	// Public streams protect nothing: what follows from them may be known.
	Public Kind = "public"
)

// Stream is a keyed or seeded stream, or a family of them under one key.
type Stream struct {
	Kind Kind
	// Purpose of what is drawn.
	Purpose string
	// Key is the secret or seed, and Message what is hashed under it, or how the seed
	// becomes the state.
	Key, Message string
	// Labels are constants with which messages under the key begin; no label of a key
	// begins another.
	Labels []string
	// Once is why no two uses share the stream, or why they may.
	Once string
	// Places are where it begins: file, function and maker.
	Places []string
}

// Markdown is the table of the documentation.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| kind | purpose | key | message | why no two uses share it |\n|---|---|---|---|---|\n")
	for _, s := range All() {
		message := s.Message
		if len(s.Labels) > 0 {
			labels := make([]string, len(s.Labels))
			for i, l := range s.Labels {
				labels[i] = "`" + strings.ReplaceAll(strings.TrimRight(l, " "), "\x00", "") + "`"
			}
			message += " (" + strings.Join(labels, ", ") + ")"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", s.Kind, s.Purpose, s.Key, message, s.Once)
	}
	return b.String()
}
