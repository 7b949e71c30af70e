package streams

// All returns every stream of the program.
func All() []Stream {
	return append(append(devices(), tables()...), append(keys(), public()...)...)
}

// devices are the streams of local differential privacy.
func devices() []Stream {
	return []Stream{
		{
			Kind: Secret, Purpose: "permanent answers of longitudinal mechanisms", Key: "a device's secret",
			Message: "label, SHA-256 of (mechanism, question, number of labels, lifetime, domain), label number, counter; each part with its length",
			Labels:  []string{"noren ldp permanent 2"},
			Once: "everything that fixes the distribution is in the message; the epsilon of one report is not, as fresh randomness makes " +
				"reports from the one answer",
			Places: []string{
				"ldp/longitudinal.go: Device.permanent: newPRF", "ldp/prf.go: newPRF: hmac.New",
				"client/ldp-ts/src/grr.ts: LongitudinalGrrDevice",
			},
		},
		{
			Kind: Secret, Purpose: "secrets of RAPPOR for one question", Key: "a device's secret, by HKDF",
			Message: "label, SHA-256 of (rappor, question, rule, encoder, k, h, m, f, domain)", Labels: []string{"noren ldp metric 2 "},
			Once: "everything that fixes the distribution of the permanent response is in the message; p and q are not, as fresh randomness " +
				"makes reports from the one response",
			Places: []string{"ldp/stream.go: Rappor.MetricSecret: hkdf.Key", "client/ldp-ts/src/secret.ts: derive"},
		},
		{
			Kind: Secret, Purpose: "the cohort of a device of RAPPOR, which is public", Key: "a device's secret, by HKDF",
			Message: "label, the same SHA-256", Labels: []string{"noren ldp cohort 2 "},
			Once:   "the same message gives the same cohort, as it must; no value goes into it",
			Places: []string{"ldp/stream.go: Rappor.MetricCohort: hkdf.Key"},
		},
		{
			Kind: Secret, Purpose: "permanent responses of RAPPOR, by the rules of google/rappor", Key: "the secret of one question",
			Message: "the Bloom bits; by the C++ rule a byte 1, the encoder's name and the bits",
			Once:    "the key is of one question, domain and set of parameters, by its derivation; bits differ wherever responses must",
			Places: []string{
				"ldp/rappor.go: Rappor.device: hmac.New", "client/ldp-ts/src/rappor.ts: RapporDevice",
				"client/ldp-ts/src/secret.ts: hmacOf",
			},
		},
		{
			Kind: Secret, Purpose: "the cohort of the C++ client, which is public", Key: "the secret of one question", Message: "nothing",
			Once:   "no response has the empty message",
			Places: []string{"ldp/rappor.go: Rappor.cppCohort: hmac.New"},
		},
		{
			Kind: Secret, Purpose: "secrets of clients under one key", Key: "the key of the devices, by HKDF", Message: "label, the client's id",
			Labels: []string{"noren ldp device "},
			Once:   "two clients have two ids; what one secret answers is separated by the streams above",
			Places: []string{"ldp/survey/randomise.go: Devices.secret: hkdf.Key"},
		},
		{
			Kind: Secret, Purpose: "answers of the first version, to finish one survey", Key: "a device's secret",
			Message: "label with the mechanism, question, number of labels, label number; of RAPPOR the question, by HKDF",
			Labels:  []string{"noren ldp permanent grr", "noren ldp permanent oue", "noren rappor ", "noren ldp cohort"},
			Once:    "two surveys can share it: a key finishes one, which the file of the key notes, and an entry of a browser's store is of one",
			Places: []string{
				"ldp/finish.go: Rappor.Finishing: hkdf.Key",
				"ldp/finish.go: FinishingSecret: hkdf.Key",
				"client/ldp-ts/src/secret.ts: firstSecret",
			},
		},
		{
			Kind: Fresh, Purpose: "second steps of reports, mechanisms without memory, and secrets of devices", Key: "the system's random source",
			Message: "none",
			Once:    "each bit is used once",
			Places: []string{
				"service/ldp_randomise.go: Service.LDPRandomise: noise.NewSource", "service/ldp_devices.go: openKey: noise.NewSource",
				"ldp/evaluate/validate.go: evaluation.repeat: noise.NewSource", "client/ldp-ts/src/draw.ts: secretBytes",
			},
		},
		{
			Kind: Public, Purpose: "simulated collections", Key: "the seed of the simulation",
			Message: "the number of the point (PCG), or the seed (ChaCha8)",
			Once:    "it protects nothing: invented people, or a table whose results are private to the steward",
			Places: []string{
				"ldp/simulate/simulate.go: Run: rand.New", "ldp/simulate/simulate.go: Run: rand.NewPCG",
				"ldp/simulate/simulate.go: Run: entropy.Seeded", "ldp/simulate/simulate.go: population.point: rand.New",
				"ldp/simulate/simulate.go: population.point: rand.NewPCG", "ldp/simulate/simulate.go: population.point: entropy.Seeded",
				"service/ldp_simulate.go: seedOf: noise.NewSource",
			},
		},
		{
			Kind: Public, Purpose: "resamples of the bootstrap of reports", Key: "a constant", Message: "SplitMix64",
			Once:   "it resamples reports, which are public",
			Places: []string{"ldp/waveerrors.go: mix.float: SplitMix64"},
		},
	}
}

// tables are the streams of releases, queries and ledgers over private tables.
func tables() []Stream {
	const ledger, purposes = "the ledger's secret", "the ledger's secret, for a purpose"
	return []Stream{
		{
			Kind: Fresh, Purpose: "noise of answers, also of rehearsals", Key: "the system's random source", Message: "none",
			Once: "each bit is used once; a stored answer is released again and not drawn again; a rehearsal draws noise of its own",
			Places: []string{
				"internal/entropy/entropy.go: Secret: rand.Reader", "noise/doc.go: NewSource: entropy.Secret",
				"release/secret.go: run.source: noise.NewSource", "service/rehearse.go: Service.rehearse: noise.NewSource",
				"service/open.go: openSet.rowsKey: noise.NewSource",
			},
		},
		{
			Kind: Fresh, Purpose: "secrets from which the noise of answers with a request key is expanded", Key: "the system's random source",
			Message: "none",
			Once:    "a secret of its own for each charge; it is deleted when the answer is stored",
			Places:  []string{"release/secret.go: run.newSecret: noise.NewSource"},
		},
		{
			Kind: Secret, Purpose: "noise of answers with a request key, and the key of a job of theirs",
			Key:     "the secret of the charge, by HKDF with the identity of charge, request, version with its prints, and program as the salt",
			Message: "label and name of the stream; then AES-256 in counter mode", Labels: []string{"noren.noise/1\x00"},
			Once: "answer and job have streams of their own; a second computation after a crash that has the stream has the same request, " +
				"records and program, and so the same answer, of which the ledger stores one",
			Places: []string{"internal/entropy/expanded.go: Expanded: hkdf.Key", "internal/entropy/expanded.go: Expanded: cipher.NewCTR"},
		},
		{
			Kind: Print, Purpose: "encryption of these secrets", Key: "a file beside the signing key, by HKDF",
			Message: "label, with the identity of ledger, analyst, request key and request as the salt", Labels: []string{
				"noren.release.secret/1\x00", "noren.noise-key/1",
			},
			Once:   "each charge has a key of its own, and each encryption a random nonce (AES-256-GCM)",
			Places: []string{"release/secret.go: run.sealing: hkdf.Key", "certificate/noisekey.go: LoadOrCreateNoiseKey: hkdf.Key"},
		},
		{
			Kind: Secret, Purpose: "the order of the rows of a seeded release, of --split-rows and of shards",
			Key:     "SHA-256 of a label and the seed",
			Message: "label, SHA-256 of the source, of the request and of the groups with what they publish, the part of a release in shards",
			Labels:  []string{"noren/kanon/order/2\x00"},
			Once: "releases that differ in anything that they depend on have other messages; those that differ in nothing are one release " +
				"(docs/k-anonymity.md, \"The order of the rows\")",
			Places: []string{
				"kanon/order.go: Options.OrderKey: hmac.New", "kanon/order.go: Options.OrderKey: sha256 of a secret",
				"table/shuffle/permutation.go: Keyed: rand.New", "table/shuffle/permutation.go: Keyed: rand.NewChaCha8",
			},
		},
		{
			Kind: Secret, Purpose: "keys of the order and of the search", Key: "the seed of a release", Message: "label, seed", Labels: []string{
				"noren/kanon/order/2/insecure\x00", "noren/kanon/",
			},
			Once: "the uses are order/2 and search, with NUL after each; none begins with order/2/insecure",
			Places: []string{
				`kanon/order.go: Options.OrderKey: purpose "order/2"`,
				`kanon/seed.go: Options.SearchSeed: purpose "search"`,

				`kanon/order.go: run.order: shuffle.Keyed`,
				`kanon/shard/release.go: releasing.shuffled: shuffle.Keyed`,
				"kanon/seed.go: Options.derived: sha256 of a secret",
			},
		},
		{
			Kind: Fresh, Purpose: "the order of the rows of a release without a seed", Key: "the system's random source", Message: "none",
			Once: "a key of its own for each release", Places: []string{
				`kanon/order.go: run.order: shuffle.Permutation`,
				`kanon/shard/release.go: releasing.shuffled: shuffle.Permutation`,
				"table/shuffle/permutation.go: Permutation: rand.Read",
			},
		},
		{
			Kind: Secret, Purpose: "pseudonyms of persons in a release", Key: "drawn for each release, kept nowhere",
			Message: "the label of the person",
			Once:    "two releases have two keys, and two persons two messages; equal labels must have equal pseudonyms",
			Places: []string{
				`kanon/owners.go: run.newOwners: pseudonym.New`,
				"table/pseudonym/pseudonym.go: New: rand.Read", "table/pseudonym/pseudonym.go: New: hmac.New",
			},
		},
		{
			Kind: Print, Purpose: "digests of persons and values while a release in shards is made",
			Key: "the key of the job, drawn for each; or derived from it for a use", Message: "the label; of a derived key the use",
			Once: "digests and derived keys are of two keys: shards use the derived one for persons; nothing of it is released",
			Places: []string{
				`kanon/shard/route.go: newPersons: purpose "persons"`,
				`service/shards.go: Service.shardsJob: pseudonym.NewKey`,
				"table/pseudonym/pseudonym.go: NewKey: rand.Read", "table/pseudonym/pseudonym.go: Key.Digests: hmac.New",
				"table/pseudonym/pseudonym.go: Key.Derive: hmac.New",
			},
		},
		{
			Kind: Secret, Purpose: "the records that count for a person with more than max_rows",
			Key:     "the ledger's secret, for the purpose noren.query.rows; without a ledger drawn for each request",
			Message: "the contents of the record that the query reads",
			Once: "it draws no noise: the same records must count in each answer, whatever their order; one person more or less changes the own " +
				"records alone (docs/differential-privacy.md)",
			Places: []string{
				`service/open.go: openSet.rowsKey: purpose "noren.query.rows"`,
				"query/unit.go: boundRows: hmac.New",
			},
		},
		{
			Kind: Print, Purpose: "buckets of persons in a sharded query", Key: "drawn for each job", Message: "the label of the person",
			Once:   "it decides which task counts a person, and the answer does not depend on it",
			Places: []string{"release/shards/stages.go: Plan.bucketsOf: hmac.New"},
		},
		{
			Kind: Print, Purpose: "fingerprints, anchors, heads and checkpoints of a ledger, and keys for its purposes", Key: ledger,
			Message: "label, what is authenticated, or the purpose",
			Labels: []string{
				"noren.ledger.file/1\x00", "noren.ledger.key/1\x00", "noren.ledger.anchor/1", "noren.ledger.anchor/2",
				"noren.ledger.head/1\x00", "noren.ledger.checkpoint/1\x00",
			},
			Once: "labels differ, and end in NUL before the rest",
			Places: []string{
				"ledger/fingerprint.go: Ledger.NewFileHash: hmac.New", "ledger/fingerprint.go: Ledger.Key: hmac.New",
				"ledger/anchor.go: Ledger.anchorMAC: hmac.New", "ledger/head.go: Ledger.headMAC: hmac.New",
				"ledger/checkpoint.go: Ledger.checkpointMAC: hmac.New",
			},
		},
		{
			Kind: Print, Purpose: "prints of tables, files, columns and values; and of what a ledger keeps of them", Key: purposes,
			Message: "what is printed, in one form for each purpose",
			Labels: []string{
				"noren.query.rows", "noren.ledger.contents/1", "noren.dataset.row/1", "noren.dataset.table/1", "noren.dataset.column/1",
				"noren.dataset.value/1", "noren.dataset.values/1", "noren.dataset.shard.file/1", "noren.dataset.shard.column/1",
			},
			Once: "each purpose has a key of its own; equal tables must have equal prints",
			Places: []string{
				`dataset/prints.go: KeysOf: purpose "noren.dataset.column/1"`,
				`dataset/prints.go: KeysOf: purpose "noren.dataset.row/1"`,
				`dataset/prints.go: KeysOf: purpose "noren.dataset.table/1"`,
				`dataset/prints.go: KeysOf: purpose "noren.dataset.value/1"`,
				`dataset/prints.go: KeysOf: purpose "noren.dataset.values/1"`,
				`dataset/prints.go: ShardKeysOf: purpose "noren.dataset.shard.column/1"`,
				`dataset/prints.go: ShardKeysOf: purpose "noren.dataset.shard.file/1"`,
				`ledger/contents.go: Ledger.contentsMAC: purpose "noren.ledger.contents/1"`,
				"dataset/prints.go: ShardPrints: hmac.New", "dataset/prints.go: newTape: hmac.New", "dataset/prints.go: rowHash.part: hmac.New",
				"dataset/prints.go: rowHash.prints: hmac.New", "dataset/values.go: valueHash.values: hmac.New",
				"dataset/values.go: valueHash.hash: sha256 of a secret", "ledger/contents.go: Ledger.contentsMAC: hmac.New",
			},
		},
		{
			Kind: Public, Purpose: "tables that rehearsals and calibrations make up", Key: "none: the seed is public",
			Message: "SHA-256 of label, request or seed, and number of the question; SplitMix64", Labels: []string{"noren.rehearsal/1 "},
			Once: "they hold public values alone, and the noise over them is fresh",
			Places: []string{
				"dataset/madeup.go: splitMix.next: SplitMix64", "service/rehearse.go: pricedQuestion.madeUp: sha256 of a secret",
				"service/timeclass.go: calibrator.grant: sha256 of a secret",
			},
		},
		{
			Kind: Public, Purpose: "redraws of points from weights", Key: "a constant: 1 for answers, 2 for the fit", Message: "PCG",
			Once: "they follow from what was released (post-processing): no private figure is in them",
			Places: []string{
				"ratio/redraw/redraw.go: New: rand.New", "ratio/redraw/redraw.go: New: rand.NewPCG",
				"ratio/redraw/redraw.go: New: SplitMix64", "ratio/redraw/redraw.go: New: rand.New", "ratio/answer.go: Weights.redrawn: redraw.New",
				"ratio/fitcheck.go: Weights.distance: redraw.New",
			},
		},
	}
}

// keys are secrets of the program itself.
func keys() []Stream {
	return []Stream{
		{
			Kind: Print, Purpose: "commitments to the paths of grants, which exports leave out",
			Key: "a salt of 128 bits, drawn for each grant and stored in it", Message: "label, salt and paths as JSON", Labels: []string{
				"noren.ledger.paths/1\x00",
			},
			Once:   "a salt is in one grant alone, and is in no export",
			Places: []string{"ledger/paths.go: hide: sha256 of a secret", "ledger/paths.go: newSalt: rand.Read"},
		},
		{
			Kind: Fresh, Purpose: "the signing key, the secret and the id of a ledger; ids, tokens, sessions and seeds of a server",
			Key: "the system's random source", Message: "none", Once: "each bit is used once",
			Places: []string{
				"certificate/key.go: LoadOrCreateKey: rand.Reader", "ledger/create.go: fill: rand.Read",
				"ledger/store.go: randomID: rand.Read", "internal/server/store/store.go: random: rand.Read",
			},
		},
		{
			Kind: Public, Purpose: "names of temporary files", Key: "a seed of the Go runtime, made for each name", Message: "the folder",
			Once:   "a name protects nothing: a file is made only where none is",
			Places: []string{"internal/tempfile/named.go: Name: maphash.MakeSeed"},
		},
		{
			Kind: Print, Purpose: "tokens of quotes", Key: "the seed of the signing key, by HKDF",
			Message: "label; then the quote as canonical JSON", Labels: []string{"noren.server.quote/1"},
			Once:   "the derived key has no other use; signatures use the seed by SHA-512 (Ed25519)",
			Places: []string{"internal/server/questions/token.go: newSealer: hkdf.Key", "internal/server/questions/token.go: sealer.mac: hmac.New"},
		},
		{
			Kind: Print, Purpose: "stored forms of tokens and sessions", Key: "none: the secret is hashed",
			Message: "label with the purpose, line end, secret", Once: "it is compared; each secret has 256 random bits",
			Places: []string{"internal/server/auth/auth.go: hash: sha256 of a secret"},
		},
		{
			Kind: Print, Purpose: "addresses for limits of requests", Key: "a salt, drawn every 10 minutes", Message: "the address",
			Once:   "it is compared in memory alone",
			Places: []string{"internal/server/middleware.go: Server.addressHash: sha256 of a secret"},
		},
	}
}

// public are streams that protect nothing.
func public() []Stream {
	return []Stream{
		{
			Kind: Public, Purpose: "what searches for groups and bounds try", Key: "the seed of the search, or of the records",
			Message: "the number of the attempt",
			Once:    "the result is checked and released: its guarantee does not rest on the search",
			Places: []string{
				"kanon/bound/ascent.go: newAscent: rand.New", "kanon/bound/ascent.go: newAscent: rand.NewPCG",
				"kanon/bound/prices.go: NewPrices: rand.New", "kanon/bound/prices.go: NewPrices: rand.NewPCG",
				"kanon/bound/regions.go: Prices.region: rand.New", "kanon/bound/regions.go: Prices.region: rand.NewPCG",
				"kanon/bound/places.go: newPlaces: SplitMix64", "kanon/refine/neighbours.go: draws.next: SplitMix64",
				"kanon/refine/persons.go: cell.kick: rand.New", "kanon/refine/persons.go: cell.kick: rand.NewPCG",
			},
		},
		{
			Kind: Public, Purpose: "the order in which matching visits groups, and samples of records for cells and tests",
			Key: "the seed of the search, or none", Message: "values of the group, or the number of the record",
			Once: "no guarantee rests on it: what is published of a group follows from k records or more",
			Places: []string{
				"kanon/publish/match.go: mix: SplitMix64", "kanon/partition/celltree.go: sampled: SplitMix64",
				"kanon/gate/sample.go: mix: SplitMix64", "table/personal/sample.go: mix: SplitMix64",
			},
		},
		{
			Kind: Public, Purpose: "hash tables", Key: "drawn for each process, or a constant", Message: "the value", Once: "nothing of it leaves",
			Places: []string{
				"dataset/values.go: newValueHash: maphash.MakeSeed", "kanon/owners.go: run.newOwners: maphash.MakeSeed",
				"kanon/verify/verify.go: Verify: maphash.MakeSeed", "kanon/verify/verify.go: quasiColumn.hash: SplitMix64",
				"correlated/kernel.go: hashWord: SplitMix64",
			},
		},
		{
			Kind: Public, Purpose: "folds, trees and choices of evaluations; random questions and resamples of an assessment; seeds that are shown",
			Key: "the seed that the result states, or a constant", Message: "the number of the unit of work",
			Once: "results are private to the steward",
			Places: []string{
				"learn/rng.go: stream: rand.New", "learn/rng.go: stream: rand.NewPCG", "learn/rng.go: stream: SplitMix64",
				"learn/rng.go: mix: SplitMix64", "assess/queries.go: AskQueries: rand.New", "assess/queries.go: AskQueries: rand.NewPCG",
				"assess/uniquerange.go: sample.bootstrap: rand.New", "assess/uniquerange.go: sample.bootstrap: rand.NewPCG",
			},
		},
		{
			Kind: Public, Purpose: "the generator of tests and simulations", Key: "a whole number", Message: "ChaCha8",
			Once: "imports_test.go lists the packages that may use it", Places: []string{"internal/entropy/entropy.go: Seeded: rand.NewChaCha8"},
		},
	}
}
