package lang

import (
	"github.com/noren-privacy/noren"
)

// Message is a sentence with a code.
type Message struct {
	// Code is the name of the sentence, stable between versions.
	Code string `json:"code"`
	// Text is the sentence. It is stored in English, and shown in the language of its reader.
	Text string `json:"text"`
	// Args are the texts and numbers of the sentence, by name.
	Args map[string]any `json:"args,omitempty"`
	// Said says the sentence in a language where it is not the one of its code. Optional.
	Said func(Lang) string `json:"-"`
}

// Say is the message of a code, whose texts package lang has.
func Say(code string, args map[string]any) Message {
	english, _ := English.Message(code, args)
	return Message{Code: code, Text: english, Args: args}
}

// Fixed is the message of a code whose text has no arguments and is no other message's.
func Fixed(code string, text noren.Phrase) Message {
	return Message{Code: code, Text: string(text), Said: func(l Lang) string { return l.Shown(noren.Textf("%s", text)) }}
}

// Whole is the message as a text.
func (m Message) Whole() noren.Text {
	return noren.Textf("%s", Spoken(func(l Lang) string { return m.In(l).Text }))
}

// In is the message in a language. It is made from the code and the arguments, so that a message
// that was stored in English can be read in every language; one without a text for its code is looked
// for by its English text.
func (m Message) In(l Lang) Message {
	if l == English {
		return m
	}
	if m.Said != nil {
		m.Text = m.Said(l)
	} else if text, ok := l.Message(m.Code, m.Args); ok {
		m.Text = text
	} else {
		m.Text = l.Foreign(m.Text)
	}
	return m
}
