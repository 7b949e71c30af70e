package api

// Message is a sentence with a code, by which a page translates it.
type Message struct {
	// Code is the name of the sentence, stable between versions.
	Code string `json:"code"`
	// Text is the sentence in English.
	Text string `json:"text"`
	// Args are the texts and numbers of the sentence, by name.
	Args map[string]any `json:"args,omitempty"`
}
