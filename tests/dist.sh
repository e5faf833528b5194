#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every file that git knows is in the tarball, so that a build from it lacks nothing.
: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${top_builddir:=.}"
git -C "$top_srcdir" rev-parse --show-toplevel 2>/dev/null | grep -qx "$(cd "$top_srcdir" && pwd -P)" || {
    echo "not a git checkout"
    exit 77
}
dir=$(mktemp -d) || exit 99
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
MAKEFLAGS='' make -C "$top_builddir" distdir distdir="$dir/tree" >"$dir/log" 2>&1 || {
    cat "$dir/log"
    exit 1
}
missing=$(git -C "$top_srcdir" ls-files | grep -v '^\.gitignore$' | while read -r file; do
    test -e "$top_srcdir/$file" && ! test -e "$dir/tree/$file" && echo "$file"
done)
test -z "$missing" || {
    echo "not in the tarball (add them to a local.mk):"
    echo "$missing"
    exit 1
}
find "$dir/tree" -type f | wc -l
