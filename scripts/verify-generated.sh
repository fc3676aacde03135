#!/bin/sh
# Fails when "make generate" changes a file: generated code has to be committed
# as its source says. Uncommitted work is no obstacle; before and after are
# compared, not the last commit. Usage: scripts/verify-generated.sh [MAKE]
set -eu
cd "$(dirname "$0")/.."
make=${1:-make}
before=$(mktemp)
after=$(mktemp)
trap 'rm -f "$before" "$after"' EXIT

# One line per file that git knows or would add: its hash and its name.
snapshot() {
	git ls-files --cached --others --exclude-standard | sort -u | while IFS= read -r file; do
		[ ! -f "$file" ] || printf '%s %s\n' "$(git hash-object -- "$file")" "$file"
	done
}

snapshot >"$before"
"$make" generate
snapshot >"$after"
if ! diff "$before" "$after"; then
	echo "generated files are out of date: run make generate and commit the result" >&2
	exit 1
fi
