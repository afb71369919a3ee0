#!/usr/bin/env bash
# Brings what the tests run against onto this machine, each at its pinned
# version, and leaves alone what is there already:
#   - Debian packages, when their command is missing and this is root with apt;
#   - npm components of package-lock.json, into node_modules beside it.
# Language servers are installed by the tests, as prism-ls itself does it.
set -euo pipefail
cd "$(dirname "$0")/../.."

# command → Debian package
declare -A packages=(
	[git]=git [bash]=bash [cc]="gcc libc6-dev" [node]=nodejs [npm]=npm [python3]=python3-minimal
)
missing=()
for name in "${!packages[@]}"; do
	command -v "$name" >/dev/null || missing+=(${packages[$name]})
done
if ((${#missing[@]})); then
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		echo "missing, please install: ${missing[*]}" >&2
		exit 1
	fi
	echo "installing Debian packages: ${missing[*]}"
	apt-get update -q >/dev/null
	DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" >/dev/null
fi

# npm writes this file last, so it is newer than the lock file only after a
# complete installation of it.
cd testdata/servers
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
	echo "installing the npm components"
	# The inspector asks for a newer Node than the system's; it is run under the
	# one that comes with these components.
	npm ci --ignore-scripts --no-progress --loglevel=error
fi
