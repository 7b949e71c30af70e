package server

import (
	"archive/zip"
	_ "embed"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/noren-privacy/noren/internal/server/records"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/lang"
)

// bundleKey is the name of the public key in a bundle.
const bundleKey = "noren-key.pem"

// bundlePage is the page of a bundle in English, and bundleJapanese in Japanese. It states no guarantee: one
// appears only for a file that passes its check.
var (
	//go:embed bundle.txt
	bundlePage string
	//go:embed bundle.ja.txt
	bundleJapanese string
)

// bundlePages are both pages, that of the sender's language first: the recipient may read another.
func bundlePages(l lang.Lang) string {
	first, second := bundlePage, bundleJapanese
	if l == lang.Japanese {
		first, second = second, first
	}
	return first + "\n" + strings.Repeat("-", 90) + "\n\n" + second
}

// sendBundle sends what a recipient needs as one archive, once the audit log has it: the
// file, its certificate, the key that signed it, and a page that says how to check them.
func (s *Server) sendBundle(w http.ResponseWriter, r *http.Request, c *call, a *access) error {
	l, err := downloadLanguage(r)
	if err != nil {
		return err
	}
	file, err := s.records.Open(r.Context(), c.id, records.PartFile)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	signed, err := s.records.Open(r.Context(), c.id, records.PartCertificate)
	if err != nil {
		return err
	}
	defer func() { _ = signed.Close() }()
	certificate, err := io.ReadAll(signed)
	if err != nil {
		return err
	}
	keys, err := s.store.Keys(r.Context())
	if err != nil {
		return err
	}
	key := signer(keys, certificate)
	if err := s.record(r.Context(), c, a, nil); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": file.Name + ".zip"}))
	page := strings.NewReplacer(
		"{FILE}", file.Name, "{CERTIFICATE}", signed.Name, "{FILE_WORD}", shellWord(file.Name), "{CERTIFICATE_WORD}", shellWord(signed.Name),
		"{FINGERPRINT}", fingerprint(key.ID),
	).Replace(bundlePages(l))
	z := zip.NewWriter(w)
	for _, part := range []struct {
		name string
		from io.Reader
	}{
		{"README.txt", strings.NewReader(page)},
		{file.Name, file},
		{signed.Name, strings.NewReader(string(certificate))},
		{bundleKey, strings.NewReader(key.PEM)},
	} {
		if err := addPart(z, part.name, file.Release.At, part.from); err != nil {
			return nil // the client has gone, or sees an archive without its end
		}
	}
	_ = z.Close()
	return nil
}

// addPart adds a part as it is: compressing a large file takes a processor for a minute.
func addPart(z *zip.Writer, name string, at time.Time, from io.Reader) error {
	to, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store, Modified: at.UTC()})
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return err
}

// signer is the key by which a certificate was signed.
func signer(keys []store.Key, certificate []byte) store.Key {
	var signed struct {
		Signature struct {
			Key string `json:"key_id"`
		} `json:"signature"`
	}
	_ = json.Unmarshal(certificate, &signed) // a certificate without a key has the one in use
	for _, k := range keys {
		if k.ID == signed.Signature.Key {
			return k
		}
	}
	for _, k := range keys {
		if k.Until.IsZero() {
			return k
		}
	}
	return store.Key{}
}

// shellWord writes a name as one word of a shell.
func shellWord(name string) string {
	if strings.HasPrefix(name, "-") {
		name = "./" + name // no flag
	}
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-") == "" {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}
