package cli

import "github.com/noren-privacy/noren/correlated"

// readModel reads a model for noren ledger grant.
func readModel(path string) (*correlated.ModelFile, error) {
	in, err := openSide(path, "the model")
	if err != nil {
		return nil, err
	}
	return correlated.ParseModel(in, path)
}
