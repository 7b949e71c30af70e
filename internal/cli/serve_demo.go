package cli

import (
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/examples/clinic"
	"github.com/noren-privacy/noren/internal/server"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/spec"
)

// demo is the invented clinic with a book. Bounds and keys are what is known of such
// clinics; none is read from the table.
func demo(visits []byte) *server.Demo {
	typed := func(kind string, bounds ...string) spec.Column { return spec.Column{Type: kind, Bounds: bounds} }
	keyed := func(keys ...string) spec.Column { return spec.Column{Type: "category", Keys: keys} }
	return &server.Demo{
		Name: clinic.VisitsFile, Data: visits,
		Spec: &spec.Spec{Version: spec.Version, Unit: "person_id", Input: spec.Input{Missing: []string{}}, Columns: map[string]spec.Column{
			"visit_id": keyed(), "person_id": keyed(), "name": keyed(), "postcode": keyed(), "diagnosis": keyed(), "note": keyed(),
			"age": typed("integer", "0", "110"), "weight_kg": typed("decimal", "0", "150"), "systolic": typed("integer", "60", "240"),
			"cost_yen": typed("integer", "0", "100000"), "visit_date": {
				Type: "date", Format: "YYYY-MM-DD", Bounds: []string{"2024-01-01", "2025-12-31"},
			},
			"sex":       keyed("female", "male"),
			"severity":  {Type: "ordered", Order: []string{"mild", "moderate", "severe", "critical"}},
			"insurance": keyed("employee", "national health", "late-stage elderly", "public assistance", "none"),
			"department": keyed("internal medicine", "paediatrics", "cardiology", "neurology", "psychiatry", "dermatology", "oncology",
				"orthopaedics", "gynaecology", "urology", "ophthalmology", "emergency"),
		}},
		Opening: books.Opening{Accounting: "epsilon", Epsilon: "4", AtMost: 20_000, Records: 3_000, MaxRows: 3, Confirm: true},
		Account: api.Amount{Epsilon: "1.5", Delta: "0"},
	}
}
