#!/bin/sh
# Lints api/openapi.yaml with Redocly and Spectral at the versions that
# tools/openapi/package-lock.json pins; brings Node.js and the linters where they
# are missing. Exit status 69: they cannot be had here, so nothing was linted;
# any other but 0: something was found, or is wrong with the pins.
set -eu
cd "$(dirname "$0")/.."
unavailable=69
tools=tools/openapi
exec </dev/null # no linter and no installer may wait for an answer

give_up() {
	echo "api/openapi.yaml was NOT linted: $1" >&2
	exit $unavailable
}

# Node.js from Debian, by the script that also installs the servers.
if ! command -v npm >/dev/null 2>&1; then
	command -v apt-get >/dev/null 2>&1 || give_up "install Node.js with npm"
	root=
	[ "$(id -u)" = 0 ] || root="sudo -n"
	$root sh internal/localstack/install.sh nodejs npm >&2 || give_up "nodejs and npm could not be installed"
fi

# The linters, unless the ones installed are those of the lock file.
if ! cmp -s $tools/package-lock.json $tools/node_modules/.installed; then
	if ! output=$(npm ci --prefix $tools --ignore-scripts --no-audit --no-fund --fetch-retries=1 2>&1); then
		echo "$output" >&2
		case $output in
		*EUSAGE* | *EINTEGRITY* | *EJSONPARSE*) exit 1 ;; # the pins themselves are at fault
		esac
		give_up "npm could not fetch the linters"
	fi
	cp $tools/package-lock.json $tools/node_modules/.installed
fi

# Spectral finds its second ruleset only in a node_modules above its settings.
work=$tools/node_modules/.lint
bin=$PWD/$tools/node_modules/.bin
rm -rf $work
mkdir $work
cp api/openapi.yaml api/redocly.yaml api/.redocly.lint-ignore.yaml api/.spectral.yaml $work
cd $work
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
failed=0
"$bin/redocly" lint openapi.yaml --config redocly.yaml || failed=1
"$bin/spectral" lint openapi.yaml --ruleset .spectral.yaml --fail-severity hint || failed=1
exit $failed
