#!/usr/bin/env bash
# Makes a git work tree of real code, more than 20 000 files, for the benchmarks
# of finding things. It holds Go's own sources and one large module, pinned, so
# that two machines with one Go version search the same text.
#
#	tree.sh DIRECTORY
set -euo pipefail
module=k8s.io/kubernetes@v1.34.1
tree=$1

if [ -d "$tree/.git" ] && [ "$(git -C "$tree" log -1 --format=%s)" = "$module $(go env GOVERSION)" ]; then
	exit 0
fi
echo "making $tree of $module and Go's sources"
rm -rf "$tree"
mkdir -p "$tree"
source=$(cd / && GOWORK=off GOFLAGS=-mod=mod go mod download -json $module | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
cp -r "$source" "$tree/kubernetes"
cp -r "$(go env GOROOT)/src" "$(go env GOROOT)/test" "$tree/"
chmod -R u+w "$tree"
git -C "$tree" init -q
git -C "$tree" -c core.autocrlf=false add -A
git -C "$tree" -c user.name=bench -c user.email=bench@localhost -c commit.gpgsign=false commit -q -m "$module $(go env GOVERSION)"
