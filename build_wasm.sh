#!/usr/bin/env bash
# The one way to set up caveman-wasm.
#
#   ./build_wasm.sh                  set up, build, serve the demo on 127.0.0.1 and open it
#   ./build_wasm.sh --once           the same, but compress and retrieve a sample in headless Chromium,
#                                    print one JSON line and exit 0 if the bytes came back exact
#   ./build_wasm.sh build            set up and build web/dist
#   ./build_wasm.sh test [--long]    set up, build and run every check
#
# Needs git, Python >= 3.11, Node >= 20 and, as root, the system's package manager for what is missing. Everything
# else goes into .venv, web/node_modules, build and web/dist. Progress goes to stderr, results to stdout.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

VENV=$PWD/.venv
PY=$VENV/bin/python
DIST=web/dist

say() { printf '== %s\n' "$*" >&2; }
die() { printf 'build_wasm.sh: %s\n' "$*" >&2; exit 1; }
# Nothing here may hang: run a command for at most so many seconds, away from stdin, its output on stderr.
limit() { local seconds=$1; shift; timeout --kill-after=10 "$seconds" "$@" </dev/null >&2; }
# True when the files are the ones that NAME was last stamped for. Usage: fresh NAME FILE... / stamp NAME FILE...
fresh() { [ "$(cat "build/$1.stamp" 2>/dev/null)" = "$(cat "${@:2}" | sha256sum)" ]; }
stamp() { mkdir -p build; cat "${@:2}" | sha256sum >"build/$1.stamp"; }

apt_install() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
  say "installing $* from the system's packages"
  limit 300 apt-get -qq update || true
  DEBIAN_FRONTEND=noninteractive limit 900 apt-get -qq install -y --no-install-recommends "$@"
}

# ---------------------------------------------------------------- set-up

find_python() {
  local name
  for name in python3 python3.14 python3.13 python3.12 python3.11; do
    "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { command -v "$name"; return; }
  done
  die "no Python >= 3.11 found; install one and try again"
}

make_venv() {
  local python
  python=$(find_python)
  limit 120 "$python" -m venv "$VENV" && return
  apt_install python3-venv && limit 120 "$python" -m venv --clear "$VENV" && return
  die "$python cannot make a virtual environment; install python3-venv and try again"
}

setup_python() {
  "$PY" -c '' 2>/dev/null || { say "making .venv"; make_venv; rm -f build/python.stamp; }
  fresh python tests/requirements.txt && return
  say "installing the Python packages of tests/requirements.txt"
  limit 900 "$PY" -m pip install -qq --require-hashes -r tests/requirements.txt
  stamp python tests/requirements.txt
}

setup_node() {
  node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null || die "Node >= 20 is needed; install it and try again"
  [ -d web/node_modules ] && fresh node web/package-lock.json && return
  say "installing the npm packages of web/package-lock.json"
  limit 600 npm --prefix web ci --no-audit --no-fund --loglevel=error
  stamp node web/package-lock.json
}

# CHROMIUM, then the PATH, then Playwright's download, then the system's packages.
setup_browser() {
  local name
  for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome-stable google-chrome; do
    [ -n "$name" ] && CHROMIUM=$(command -v "$name") && export CHROMIUM && return
  done
  say "looking for Playwright's Chromium"
  limit 300 "$PY" -m playwright install chromium || true
  CHROMIUM=$("$PY" -c 'from playwright.sync_api import sync_playwright as start
with start() as p: print(p.chromium.executable_path)' </dev/null || true)
  if [ ! -x "$CHROMIUM" ]; then
    apt_install chromium || die "no Chromium; set CHROMIUM to one and try again"
    CHROMIUM=$(command -v chromium)
  fi
  export CHROMIUM
}

# ---------------------------------------------------------------- build

build_wheel() {
  rm -rf build/wheel
  # pyodide-build where its cross-build environment is at hand; the wheel is pure, so any front end makes the same.
  if [ -n "${PYODIDE_ROOT:-}" ] && limit 300 "$VENV/bin/pyodide" build --outdir build/wheel; then return; fi
  limit 300 "$PY" -m build --wheel --no-isolation --outdir build/wheel .
}

# Downloads the wheels of LIST, checked against its hashes, into FOLDER. Usage: fetch_wheels FOLDER LIST
fetch_wheels() {
  fresh "$(basename "$1")" "$2" && [ -d "$1" ] && return
  say "fetching the wheels of $2"
  rm -rf "$1"
  limit 300 "$PY" -m pip download -qq --require-hashes --no-deps --only-binary=:all: --python-version 3.14 \
    --dest "$1" -r "$2"
  stamp "$(basename "$1")" "$2"
}

build() {
  setup_python
  setup_node
  say "building the wheel and $DIST"
  build_wheel
  fetch_wheels build/page-wheels web/wheels.txt
  limit 120 "$PY" web/pyodide_folder.py "$DIST/pyodide" build/wheel/*.whl build/page-wheels/*.whl
  limit 60 "$PY" web/demo/make_samples.py "$DIST/samples"
  limit 120 node web/snapshot.mjs "$DIST/pyodide" "$DIST/samples"
  limit 300 node web/build.mjs "$DIST" # after all else: it lists the folder for the service worker
  limit 60 node web/vscode/build.mjs
}

# The MCP SDK wants another pydantic than pyodide-build: its tests have an environment of their own.
setup_mcp() {
  if ! { [ -x build/mcp-venv/bin/python ] && fresh mcp tests/requirements-mcp.txt; }; then
    rm -rf build/mcp-venv
    "$PY" -m venv build/mcp-venv
    limit 300 build/mcp-venv/bin/python -m pip install -qq --require-hashes -r tests/requirements-mcp.txt
    stamp mcp tests/requirements-mcp.txt
  fi
  limit 120 build/mcp-venv/bin/python -m pip install -qq --no-deps --force-reinstall build/wheel/*.whl
}

# ---------------------------------------------------------------- the commands

run_tests() {
  local long=(-m "not long")
  [ "${1:-}" = --long ] && long=()
  build
  setup_browser
  fetch_wheels build/test-wheels tests/pyodide/wheels.txt
  limit 120 "$PY" web/pyodide_folder.py build/pyodide-test build/*wheel*/*.whl
  limit 120 "$PY" -m pip install -qq --no-deps --force-reinstall build/wheel/*.whl
  check ruff limit 120 "$PY" -m ruff check .
  check "ruff format" limit 120 "$PY" -m ruff format --check .
  check mypy limit 300 "$PY" -m mypy
  check tsc limit 120 npm --prefix web run --silent typecheck
  check "native tests" pytest_for 1500 tests --ignore=tests/pyodide --ignore=tests/browser "${long[@]}"
  check "MCP set-up" setup_mcp
  check MCP limit 900 build/mcp-venv/bin/python -m pytest -q tests/doors/test_mcp_server.py
  check "Pyodide in Node" pytest_for 900 tests/pyodide --dist-dir build/pyodide-test --runtime node "${long[@]}"
  check Chromium pytest_for 1500 tests/browser "${long[@]}"
  [ -z "$failed" ] || die "failed: $failed"
  say "all checks passed"
}

# Runs one check; all of them run, whatever fails. Usage: check NAME COMMAND...
failed=
check() { say "$1"; "${@:2}" || failed="${failed:+$failed, }$1"; }

# pytest's report is this command's result, so it goes to stdout. The long tests have an hour.
pytest_for() {
  local seconds=$1
  [ ${#long[@]} -gt 0 ] || seconds=3600
  timeout --kill-after=10 "$seconds" "$PY" -m pytest -q "${@:2}" </dev/null
}

case "${1:-}" in
  "") build; exec "$PY" web/serve.py "$DIST" --open ;;
  --once) build; setup_browser; exec timeout 180 "$PY" web/once.py "$DIST" ;;
  build) build ;;
  test) run_tests "${2:-}" ;;
  *) die "unknown command '$1'; use: ./build_wasm.sh [--once | build | test [--long]]" ;;
esac
