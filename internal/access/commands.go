package access

// Commands are the ways of the command line.
func Commands() []Way {
	ways := []Way{
		way("anonymize", tableRead, "a release, its page and certificate", anyone, Gate),
		way("ask", tableRead, "answers", analyst, Charged),
		way("assess", tableRead, "risk and utility", steward, Private),
		way("assess curve", tableRead, "risk and utility over k", steward, Private),
		way("certificate check", released, "a verdict", anyone, None),
		way("certificate key", nothing, "a public key", anyone, None),
		way("certificate show", released, "a certificate", anyone, None),
		way("correlated answer", tableRead, "an answer", analyst, Charged),
		way("correlated calibrate", models, "a scale of noise", anyone, None),
		way("correlated explain", models, "a page", anyone, None),
		way("correlated fit", tableRead, "a public model", anyone, Ungranted),
		way("correlated leakage", models, "a leakage", anyone, None),
		way("demo", "a table that it makes", "a release", anyone, None),
		way("explain", nothing, "what a term means", anyone, None),
		way("harm evaluate", models, "expected harm", anyone, None),
		way("harm optimise", models, "a distribution of noise", anyone, None),
		way("harm threshold", models, "a threshold", anyone, None),
		way("hierarchy check", tableRead, "which values a hierarchy lacks", steward, Private),
		way("hierarchy propose", tableRead, "a hierarchy of the values", steward, Private),
		way("init", tableRead, "a specification", steward, Private),
		way("inspect", tableRead, "columns, types and ranges", steward, Private),
		way("ldp design", models, "a specification of a collection", anyone, None),
		way("ldp edges", tableRead, "edges of bins", analyst, Charged, Unaccounted),
		way("ldp estimate", "files of reports", "estimates", anyone, Ungranted),
		way("ldp evaluate", tableRead, "accuracies of models", steward, Private),
		way("ldp randomize", tableRead, "randomised reports", anyone, Ungranted, NotCharged),
		way("ldp simulate", tableRead, "errors of estimates", steward, Private),
		way("ledger check-export", ledgered, "a verdict", anyone, None),
		way("ledger close-analyst", ledgered, "a budget", steward, None),
		way("ledger create", nothing, "a ledger", steward, None),
		way("ledger export", ledgered, "the chain of charges", "an auditor", None),
		way("ledger grant", tableRead, "what does not fit its definition", steward, Private),
		way("ledger history", ledgered, "charges", steward, None),
		way("ledger reconcile", ledgered, "charges", steward, None),
		way("ledger show", ledgered, "budgets and schemas", steward, None),
		way("ledger verify", ledgered, "a verdict", steward, None),
		way("outliers count", tableRead, "an answer", analyst, Charged, Unaccounted),
		way("outliers plan", models, "expected errors", anyone, None),
		way("outliers sensitivity", tableRead, "sensitivities", steward, Private),
		way("ratio answer", "weights and the public table", "estimates", anyone, Ungranted),
		way("ratio check", tableRead, "an answer", analyst, Charged, Unaccounted),
		way("ratio fit", tableRead, "weights", analyst, Charged, Unaccounted),
		way("ratio plan", tableRead, "expected errors", anyone, Ungranted),
		way("reproduce", nothing, "the name of another program", anyone, None),
		way("serve", "the folder of a server", "replies of the routes", anyone, None),
		way("serve accept", "the folder of a server", "what the server takes as it is", steward, None),
		way("serve audit-check", "an export of an audit log", "a verdict", anyone, None),
		way("serve calibrate", "tables that it makes", "times", steward, None),
		way("serve grant", nothing, "a role", steward, None),
		way("serve key", "the key of a server", "its public key", anyone, None),
		way("serve login-link", nothing, "a link", steward, None),
		way("serve principal add", nothing, "a principal", steward, None),
		way("serve principal end", nothing, "a principal", steward, None),
		way("serve principal list", nothing, "principals", steward, None),
		way("serve token", nothing, "a token", steward, None),
		way("version", nothing, "the version of the program", anyone, None),
		way("verify", tableRead, "a verdict about a release", steward, Private),
		way("worker abandon", nothing, "that a job is given up", steward, None),
		way("worker check", previewed, "a verdict about a file of a release", steward, Gate),
		way("worker commit", previewed, "a release", anyone, Gate),
		way("worker ldp-count", "files of reports", "counts", steward, Ungranted),
		way("worker ldp-sum", "counts of reports", "counts", steward, None),
		way("worker operation", "the files that a request of a server names", "figures and files, for the server that asks", steward, Private),
		way("worker merge", "records of a release", "records of a release", steward, Gate),
		way("worker query-part", "the files that a plan names, which is trusted", "exact sums, for the process that made the plan and charges",
			steward, Private),
		way("worker release", "records of a release", "a file of a release", steward, Gate),
		way("worker route", "records of a release", "records of a release", steward, Gate),
		way("worker start", tableRead, "a job of a release", steward, Gate),
		way("worker survey", "a file of a release's source", "figures of the file", steward, Gate),
		way("worker verdict", "counts of classes", "a verdict about a release", steward, Private),
		way("worker verify-part", "a file of a release", "counts of classes", steward, Private),
		way("worker verify-start", "the files of a release", "a job of a verification", steward, Private),
	}
	for _, kind := range []string{"count", "histogram", "mean", "quantile", "sum", "variance"} {
		ways = append(ways, way("query "+kind, tableRead, "an answer", analyst, Charged, Unaccounted))
		if kind != "quantile" {
			ways = append(ways, way("worker query "+kind, tableRead, "an answer", analyst, Charged, Unaccounted))
		}
	}
	return ways
}

// Experiments are the ways of noren-reproduce.
func Experiments() []Way {
	ways := []Way{way("correlated", models, "figures of a paper", anyone, None)}
	for _, paper := range []string{"kanon", "ldp", "outlier", "ratio"} {
		ways = append(ways, way(paper, "reference tables, or those that the request names", "figures of a paper", anyone, Ungranted))
	}
	return ways
}
