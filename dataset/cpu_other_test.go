//go:build !unix

package dataset

import "time"

func cpu() time.Duration { return 0 }
