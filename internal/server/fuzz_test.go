package server

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/store"
)

// No text but a cookie that was issued signs in.
func FuzzCookie(f *testing.F) {
	s, err := store.Open(f.Context(), f.TempDir()+"/server.db", store.SystemClock())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	server := &Server{store: s, auth: auth.New(s)}
	for _, seed := range []string{
		"noren=" + strings.Repeat("a", 52), "noren=", "noren=a; noren=b", "=;;",
		"noren=\"" + strings.Repeat("a", 52) + "\"", "\x00",
	} {
		f.Add(seed, "Bearer nrn_aaaaaaaaaaaaaaaa_"+strings.Repeat("a", 52))
	}
	f.Fuzz(func(t *testing.T, cookie, authorization string) {
		metertest.Hold(t, len(cookie)+len(authorization))
		r := &http.Request{Header: http.Header{"Cookie": {cookie}}}
		for range 2 {
			if a, err := server.whoIs(r.WithContext(t.Context()), netip.Addr{}); a != nil || err != nil && err != auth.ErrUnknown {
				t.Errorf("%q, %q: %v %v", cookie, authorization, a, err)
			}
			r.Header.Set("Authorization", authorization)
		}
	})
}

// A token that is taken is written back as it was.
func FuzzToken(f *testing.F) {
	f.Add("nrn_aaaaaaaaaaaaaaaa_" + strings.Repeat("b", 52))
	f.Add("nrn__")
	f.Add("nrn_aaaaaaaaaaaaaaaa_" + strings.Repeat("B", 52))
	f.Fuzz(func(t *testing.T, text string) {
		metertest.Hold(t, len(text))
		id, secret, ok := auth.ParseToken(text)
		if ok && ("nrn_"+strings.TrimPrefix(id, "tk_")+"_"+secret != text || !store.ValidID("tk", id) || len(secret) != 52) {
			t.Errorf("%q gives %q and %q", text, id, secret)
		}
	})
}

// A cursor that is taken is the one that was issued.
func FuzzCursor(f *testing.F) {
	f.Add(cursor("tb_aaaaaaaaaaaaaaaa"))
	f.Add("MTo")
	f.Add("!!!!")
	f.Fuzz(func(t *testing.T, text string) {
		metertest.Hold(t, len(text))
		at, err := (&Listing{After: text}).position()
		if err == nil && text != "" && cursor(at) != text {
			t.Errorf("%q is read as %q", text, at)
		}
	})
}
