#!/usr/bin/env bash
# Proves the page on a clean clone: types, tests, that dist is what the sources build,
# and the limits of its size. Needs Node 20.19 or later.
#
#   NOREN_BROWSER=1   also the browser tests, against the mock server and, where Go is
#                     installed, against the real one; needs chromium
set -euo pipefail
cd "$(dirname "$0")"
step() { printf -- '-- %s (%ds)\n' "$*" "$SECONDS"; }

step "packages, node $(node --version)"
if ! [ node_modules/.package-lock.json -nt package-lock.json ]; then
  npm ci --ignore-scripts --loglevel=error
fi

step "types"
npm run --loglevel=error --silent types

step "tests"
npm test --loglevel=error --silent

step "dist is what the sources build"
built="$(mktemp -d)"
trap 'rm -rf "$built"' EXIT
node build/build.mjs "$built/dist"
# Compressed bytes differ between versions of Node's zlib: what they hold counts.
node build/same.mjs "$built/dist" dist

step "size"
node build/size.mjs

if [ -n "${NOREN_BROWSER:-}" ]; then
  step "browser"
  npm run --loglevel=error --silent browser
  if command -v go >/dev/null; then
    step "browser and the real server"
    (cd .. && CGO_ENABLED=0 go build -o "$built/noren" ./cmd/noren)
    node test/browser/served.mjs "$built/noren"
  fi
fi

step "the page is whole"
