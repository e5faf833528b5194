#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libvccl.so exports exactly the functions that vccl.h declares, and inside the library every external name begins with vcci_ or vccl_.
: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${top_builddir:=.}" "${CC:=cc}"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
bad=0

$CC -E -P "$top_srcdir/include/vccl.h" | grep -Eo '\bvccl_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u >"$dir/declared"
nm -D --defined-only --format=posix "$top_builddir/lib/.libs/libvccl.so" | awk '$2 != "A" { sub(/@.*/, "", $1); print $1 }' |
    sort -u >"$dir/exported"
test -s "$dir/declared" && test -s "$dir/exported" || {
    echo "no functions declared, or none exported"
    exit 99
}
for wrong in $(comm -23 "$dir/declared" "$dir/exported"); do
    echo "$wrong is declared in vccl.h and not exported"
    bad=1
done
for wrong in $(comm -13 "$dir/declared" "$dir/exported"); do
    echo "$wrong is exported and not declared in vccl.h"
    bad=1
done

# Sanitizers and compilers add names of their own, which begin with an underscore.
for wrong in $(nm --defined-only --extern-only --format=posix "$top_builddir/lib/.libs/libvcci.a" |
    awk 'NF >= 3 { print $1 }' | grep -Ev '^(vcci_|vccl_|_)' | sort -u); do
    echo "$wrong is an external name without the prefix vcci_"
    bad=1
done
echo "$(wc -l <"$dir/declared") functions declared, $(wc -l <"$dir/exported") exported"
exit $bad
