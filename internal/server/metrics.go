package server

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"
)

// metrics counts requests by route and status. Labels are patterns of addresses: no name
// of a table, a column or a person, and no id.
type metrics struct {
	mu       sync.Mutex
	requests map[requestLabels]int64
	times    map[string]*histogram
	gauges   []gauge
}

type requestLabels struct {
	route  string
	status int
}

// bounds are the upper bounds of the buckets of durations, in seconds.
var bounds = [...]float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

type histogram struct {
	buckets [len(bounds) + 1]int64
	count   int64
	sum     float64
}

// A gauge is a number that is read when the metrics are. Its labels, such as
// state="running", are public and fixed.
type gauge struct {
	name, help, labels string
	counter            bool
	value              func() float64
}

func newMetrics() *metrics {
	return &metrics{requests: map[requestLabels]int64{}, times: map[string]*histogram{}}
}

// add adds a gauge. It is called before the server answers requests.
func (m *metrics) add(g gauge) { m.gauges = append(m.gauges, g) }

// request counts a request.
func (m *metrics) request(route string, status int, took time.Duration) {
	if route == "" {
		route = "other"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[requestLabels{route, status}]++
	h := m.times[route]
	if h == nil {
		h = &histogram{}
		m.times[route] = h
	}
	i, _ := slices.BinarySearch(bounds[:], took.Seconds())
	h.buckets[i]++
	h.count++
	h.sum += took.Seconds()
}

// write writes all metrics in the text format of Prometheus.
func (m *metrics) write(w io.Writer) {
	m.mu.Lock()
	requests, times := maps.Clone(m.requests), map[string]histogram{}
	for route, h := range m.times {
		times[route] = *h
	}
	m.mu.Unlock()
	fmt.Fprint(w, "# HELP noren_requests_total Requests by route and status.\n# TYPE noren_requests_total counter\n")
	for _, l := range slices.SortedFunc(maps.Keys(requests), func(a, b requestLabels) int {
		return cmp.Or(cmp.Compare(a.route, b.route), cmp.Compare(a.status, b.status))
	}) {
		fmt.Fprintf(w, "noren_requests_total{route=%q,status=\"%d\"} %d\n", l.route, l.status, requests[l])
	}
	fmt.Fprint(w, "# HELP noren_request_seconds Durations of requests by route.\n# TYPE noren_request_seconds histogram\n")
	for _, route := range slices.Sorted(maps.Keys(times)) {
		h, sum := times[route], int64(0)
		for i, b := range bounds {
			sum += h.buckets[i]
			fmt.Fprintf(w, "noren_request_seconds_bucket{route=%q,le=%q} %d\n", route, number(b), sum)
		}
		fmt.Fprintf(w, "noren_request_seconds_bucket{route=%q,le=\"+Inf\"} %d\n", route, h.count)
		fmt.Fprintf(w, "noren_request_seconds_sum{route=%q} %s\nnoren_request_seconds_count{route=%q} %d\n", route, number(h.sum), route, h.count)
	}
	last := ""
	for _, g := range m.gauges {
		if g.name != last {
			kind := "gauge"
			if g.counter {
				kind = "counter"
			}
			fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", g.name, g.help, g.name, kind)
			last = g.name
		}
		labels := g.labels
		if labels != "" {
			labels = "{" + labels + "}"
		}
		fmt.Fprintf(w, "%s%s %s\n", g.name, labels, number(g.value()))
	}
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// ownMetrics adds the metrics of the server itself.
func (s *Server) ownMetrics() {
	yes := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	for _, g := range []gauge{
		{name: "noren_sealed", help: "1 while the server refuses changes.", value: func() float64 { return yes(s.Sealed() != "") }},
		{name: "noren_ready", help: "1 while /readyz says ready.", value: func() float64 { return yes(len(s.faults()) == 0) }},
		{name: "noren_audit_entries", help: "Entries of the audit log.", value: func() float64 { n, _ := s.audit.Head(); return float64(n) }},
		{name: "noren_connections", help: "Open connections.", value: func() float64 {
			if s.listeners.counted == nil {
				return 0
			}
			return float64(s.listeners.counted.Open())
		}},
		{name: "noren_connections_refused_total", help: "Connections over the limit.", counter: true, value: func() float64 {
			if s.listeners.counted == nil {
				return 0
			}
			return float64(s.listeners.counted.Refused())
		}},
		{name: "noren_goroutines", help: "Goroutines.", value: func() float64 { return float64(runtime.NumGoroutine()) }},
		{name: "noren_heap_bytes", help: "Bytes of the heap in use.", value: func() float64 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return float64(m.HeapInuse)
		}},
	} {
		s.metrics.add(g)
	}
}
