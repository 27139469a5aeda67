#!/usr/bin/env bash
# What `make demo` shows: task files go from v1 to v3 with proof that no prompt changed, and a step that does change
# prompts shows what it changes. Nothing of the checkout is written; the work is done on a copy.
set -euo pipefail
cd "$(dirname "$0")/.."

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
plain() { printf '\n%s\n' "$*"; }
if [ ! -t 1 ] || [ -n "${NO_COLOR:-}" ]; then say() { plain "$@"; }; fi

run() {
  printf '$ %s\n' "$*"
  "$@"
}

# A command that is meant to end with status 1: findings were found.
run_finding() {
  local status=0
  printf '$ %s\n' "$*"
  "$@" || status=$?
  if [ "$status" -ne 1 ]; then
    echo "demo: expected exit status 1, and it was $status" >&2
    exit 1
  fi
}

say '1. Ten good tasks, and a file in which every line but one breaks a rule'
run evalspec validate fixtures/evalspec/v1/tasks.jsonl
run_finding evalspec validate --max-findings 3 fixtures/evalspec/v1/tasks_bad.jsonl

say '2. A folder of task files, JSONL and YAML, as they are today; what one of them would become'
cp -R examples/tasks examples/acme "$work/"
cd "$work"
run evalspec current tasks
run evalspec migrate --to v3 --diff tasks/summaries.yml

say '3. All of them go from v1 to v3; each step says what it promised of prompts, and how that was proved'
run evalspec migrate --to v3 tasks
run evalspec check --require v3 tasks

say '4. A step that does change prompts says so, and shows how'
cd acme
run evalspec diff --from acme@v1 --to acme@v2

say 'Done.'
