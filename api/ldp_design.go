package api

import "github.com/noren-privacy/noren/ldp/survey"

// LDPDesignSchema names the form of [LDPDesign] and [LDPWordDesign] in JSON.
const LDPDesignSchema = "noren.ldp.design/1"

// LDPDesignRequest asks for a plan of a collection of labels or of a number.
type LDPDesignRequest = survey.PlanOptions

// LDPDesign is a plan for a collection of labels or of a number.
type LDPDesign struct {
	// Schema is the form, noren.ldp.design/1.
	Schema string `json:"schema"`
	survey.Plan
}

// LDPWordDesignRequest asks for a plan of a collection of texts.
type LDPWordDesignRequest = survey.WordPlanOptions

// LDPWordDesign is a plan for a collection of texts.
type LDPWordDesign struct {
	// Schema is the form, noren.ldp.design/1.
	Schema string `json:"schema"`
	survey.WordPlan
}
