#!/usr/bin/env bash
# Brings what the tests run against onto this machine, each at its pinned
# version, and leaves alone what is there already:
#   - Debian packages, when their command is missing and this is root with apt;
#   - npm components of package-lock.json, into node_modules beside it;
#   - the language servers of language/package-lock.json, into the user's cache,
#     where all checkouts share them, with a link to them beside that file.
# The Go server is installed by the tests, as prism-ls itself does it.
set -euo pipefail
cd "$(dirname "$0")/../.."

# command → Debian package
declare -A packages=(
	[git]=git [bash]=bash [strace]=strace [cc]="gcc libc6-dev" [g++]=g++ [node]=nodejs [npm]=npm [python3]=python3-minimal
	[clangd-14]=clangd-14 [clangd-22]=clangd-22
	# What sessions are tried with. pydoc3 comes with the whole standard library.
	[/usr/bin/pydoc3]=python3 [bc]=bc [sqlite3]=sqlite3 [gdb]=gdb [vim]=vim [less]=less [top]=procps
	# What stores of a fleet are tried with: this major version.
	[/usr/lib/postgresql/15/bin/initdb]=postgresql-15
	# By their paths: what rustup puts into PATH under these names only looks for
	# toolchains.
	[/usr/bin/rust-analyzer]="rust-web-analyzer rust-web-src" [/usr/bin/cargo]=cargo-web [/usr/bin/rustc]=rustc-web
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

# The language servers. Their own scripts are not run: what they need of their
# platform comes as optional dependencies. A directory is complete when it has its
# name, which is the lock file's digest.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/prism-ls-test
servers=$cache/npm-$(sha256sum testdata/servers/language/package-lock.json | cut -c 1-16)
mkdir -p "$cache"
(
	flock 9
	if [ ! -d "$servers" ]; then
		echo "installing the npm language servers"
		rm -rf "$servers.new"
		mkdir "$servers.new"
		cp testdata/servers/language/{package.json,package-lock.json,.npmrc} "$servers.new"
		(cd "$servers.new" && npm ci --ignore-scripts --no-progress --loglevel=error)
		mv "$servers.new" "$servers"
	fi
) 9>"$cache/npm.lock"
ln -sfn "$servers/node_modules" testdata/servers/language/node_modules

# npm writes this file last, so it is newer than the lock file only after a
# complete installation of it.
cd testdata/servers
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
	echo "installing the npm components"
	# The inspector asks for a newer Node than the system's; it is run under the
	# one that comes with these components.
	npm ci --ignore-scripts --no-progress --loglevel=error
fi
