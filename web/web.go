// Package web holds the page of noren serve as built files.
//
// The sources are in src; build/build.mjs makes dist from them. dist is part of the
// repository, so that a machine with Go alone builds the binary.
package web

import (
	"embed"
	"io/fs"
)

//go:embed dist
var dist embed.FS

// Files are the built files: index.html, its chunks under assets, and check.html, one
// file with everything in it, which is for download. Beside each file F stand F.br and
// F.gz, its Brotli and gzip copies. The names under assets hold a hash of the content.
func Files() (fs.FS, error) { return fs.Sub(dist, "dist") }
