package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// trimLists drops the blanks around the entries of lists that commas part, as in
// --quasi "age, sex".
func trimLists(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		list, ok := f.Value.(pflag.SliceValue)
		if !ok || f.Value.Type() != "stringSlice" || err != nil {
			return
		}
		entries := slices.Clone(list.GetSlice())
		for i := range entries {
			entries[i] = strings.TrimSpace(entries[i])
		}
		err = list.Replace(entries)
	})
	return err
}
