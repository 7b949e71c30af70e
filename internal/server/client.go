package server

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/noren-privacy/noren/internal/server/problem"
)

// client is the address of the client: of the connection, or, behind a proxy, the last
// one in X-Forwarded-For that is not a proxy's. It is that of the proxy where the header is
// absent, as in the proxy's own requests. The headers Forwarded and X-Real-IP are not read: a
// proxy that does not know them passes on what the client wrote.
func (s *Server) client(r *http.Request) (netip.Addr, error) {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}, nil // a test without a connection
	}
	from := peer.Addr().WithZone("").Unmap()
	if len(s.cfg.Proxies) == 0 {
		return from, nil
	}
	if !s.isProxy(from) {
		return from, problem.New("host", "The server answers requests of its proxy alone.")
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	named := false
	for _, hop := range slices.Backward(hops) {
		hop = strings.Trim(hop, " \t")
		if hop == "" {
			continue
		}
		named = true
		addr, ok := hopAddress(hop)
		if !ok {
			s.warnNoAddress.Do(func() {
				s.cfg.Log.Warn("the proxy writes into X-Forwarded-For what is no IP address: such requests are refused")
			})
			return from, problem.New("host", "The proxy names its client in X-Forwarded-For by something other than an IP address.").
				Hinted("let the proxy write the address of its client into X-Forwarded-For")
		}
		from = addr
		if !s.isProxy(from) {
			return from, nil
		}
	}
	if !named {
		s.warnNoHeader.Do(func() {
			s.cfg.Log.Warn("the proxy sends no X-Forwarded-For: all such requests count as those of one client")
		})
	}
	return from, nil
}

// hopAddress is the address of one entry of X-Forwarded-For. Proxies also write a port behind
// it, brackets or quotes around it, and zones, which mean nothing on this machine.
func hopAddress(hop string) (netip.Addr, bool) {
	if n := len(hop); n > 1 && hop[0] == '"' && hop[n-1] == '"' {
		hop = hop[1 : n-1]
	}
	bare := hop
	if n := len(hop); n > 1 && hop[0] == '[' && hop[n-1] == ']' {
		bare = hop[1 : n-1]
	}
	addr, err := netip.ParseAddr(bare)
	if err != nil {
		host, _, split := net.SplitHostPort(hop)
		if split != nil {
			return addr, false
		}
		if addr, err = netip.ParseAddr(host); err != nil {
			return addr, false
		}
	}
	return addr.WithZone("").Unmap(), true
}

func (s *Server) isProxy(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	return slices.ContainsFunc(s.cfg.Proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}
