package certificate

import "encoding/base64"

// DecodeBase64 decodes the one text that encodes some bytes, as keys and signatures are
// written. The decoder of encoding/base64, also a strict one, takes texts with line ends
// between their characters too: a signed text could then be changed and still be found
// sound.
func DecodeBase64(text string) ([]byte, error) {
	out, err := base64.StdEncoding.Strict().DecodeString(text)
	if err == nil && base64.StdEncoding.EncodeToString(out) != text {
		err = base64.CorruptInputError(0)
	}
	return out, err
}
