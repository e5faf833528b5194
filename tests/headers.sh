#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The public header is clean in strict C11, C++11 and C++17; every header of the tree compiles alone.
: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${CC:=cc}" "${CXX:=c++}"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
bad=0

try() { # what, command...
    what=$1
    shift
    if ! "$@" >"$dir/out" 2>&1; then
        echo "$what:"
        cat "$dir/out"
        bad=1
    fi
}

warnings="-Wall -Wextra -Werror -fsyntax-only -I$top_srcdir"
printf '#include "include/vccl.h"\n#include "include/vccl.h"\nint used;\n' >"$dir/vccl.c"
cp "$dir/vccl.c" "$dir/vccl.cc"
try "vccl.h in C11" $CC $warnings -std=c11 -pedantic-errors -Wstrict-prototypes -Wconversion "$dir/vccl.c"
for std in c++11 c++17; do
    try "vccl.h in $std" $CXX $warnings -std=$std -pedantic-errors -Wold-style-cast "$dir/vccl.cc"
done

n=0
for header in $(cd "$top_srcdir" && find lib p2p coll pmix launcher tools bench tests -name '*.h' 2>/dev/null | sort); do
    case $header in *_template.h) continue ;; esac # meant to be included several times, with macros set
    printf '#include "%s"\n#include "%s"\nint used;\n' "$header" "$header" >"$dir/one.c"
    try "$header alone" $CC $warnings $TEST_CPPFLAGS -std=gnu11 -D_GNU_SOURCE= -Wstrict-prototypes "$dir/one.c"
    n=$((n + 1))
done
echo "$n headers compiled alone"
exit $bad
