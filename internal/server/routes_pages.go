package server

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/lang/glossary"
)

// registerPages adds everything outside the interface: its document, the explanations of
// errors, and the page.
func (s *Server) registerPages(mux *http.ServeMux) {
	document := sync.OnceValues(s.OpenAPI) // after all routes were added
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) {
		text, err := document()
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/openapi+json")
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = w.Write(text)
	})
	mux.HandleFunc("GET /problems/{code}", s.explain)
	mux.HandleFunc("GET /terms", s.terms)
	mux.HandleFunc(apiPrefix+"/", func(w http.ResponseWriter, r *http.Request) { s.refuse(w, r, problem.NotFound()) })
	mux.HandleFunc("/", s.file)
}

// terms are what the terms of results mean, for the help marks of the page.
func (s *Server) terms(w http.ResponseWriter, r *http.Request) {
	text, err := json.Marshal(glossary.Terms(languageOf(r.Context())))
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Add("Vary", "Accept-Language")
	_, _ = w.Write(text)
}

// explain is the page about an error code.
func (s *Server) explain(w http.ResponseWriter, r *http.Request) {
	c, ok := problem.Explain(r.PathValue("code"))
	if !ok {
		s.refuse(w, r, problem.NotFound())
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Add("Vary", "Accept-Language")
	l := languageOf(r.Context())
	fmt.Fprintf(w, "<!doctype html>\n<html lang=\"%s\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "+
		"content=\"width=device-width\">\n<title>%s</title>\n<h1>%[2]s</h1>\n<p>%s</p>\n<p>%s</p>\n</html>\n",
		l, html.EscapeString(c.Name), html.EscapeString(l.Shown(noren.Textf(c.Meaning))), html.EscapeString(l.Text("HTTP status %d.", c.Status)))
}

// file serves a file of the page.
func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.refuse(w, r, problem.New("method", ""))
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	if s.cfg.Page == nil || !fs.ValidPath(name) || strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz") {
		s.refuse(w, r, problem.NotFound())
		return
	}
	text, encoding, err := s.pageFile(name, r.Header.Get("Accept-Encoding"))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
			err = problem.NotFound()
		}
		s.refuse(w, r, err)
		return
	}
	h := w.Header()
	if name == "check.html" { // a page to keep, which checks certificates without a server
		h.Set("Content-Disposition", `attachment; filename="noren-check.html"`)
	}
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Type", mediaType(name))
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	// Names in assets/ hold a hash of what is in them.
	if strings.HasPrefix(name, "assets/") {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "no-cache")
	}
	sum := sha256.Sum256(text)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	h.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", fmt.Sprint(len(text)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(text)
	}
}

// pageFile reads a file of the page, compressed where the client accepts that.
func (s *Server) pageFile(name, accepts string) (text []byte, encoding string, err error) {
	if info, err := fs.Stat(s.cfg.Page, name); err != nil || info.IsDir() {
		return nil, "", fs.ErrNotExist
	}
	for _, e := range [][2]string{{"br", ".br"}, {"gzip", ".gz"}} {
		if acceptsEncoding(accepts, e[0]) {
			if text, err := fs.ReadFile(s.cfg.Page, name+e[1]); err == nil {
				return text, e[0], nil
			}
		}
	}
	text, err = fs.ReadFile(s.cfg.Page, name)
	return text, "", err
}

// acceptsEncoding reports whether a header Accept-Encoding names an encoding.
func acceptsEncoding(header, encoding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), encoding) {
			q = strings.ReplaceAll(q, " ", "")
			return q != "q=0" && !strings.HasPrefix(q, "q=0.0")
		}
	}
	return false
}

// mediaType is the media type of a file of the page, the same on every machine.
func mediaType(name string) string {
	switch ext := path.Ext(name); ext {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".json", ".webmanifest":
		return "application/json"
	case ".ico":
		return "image/x-icon"
	case ".png":
		return "image/png"
	default:
		if t := mime.TypeByExtension(ext); t != "" {
			return t
		}
		return "application/octet-stream"
	}
}
