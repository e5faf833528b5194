#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make install into an empty folder; a program built against it with pkg-config, as C and as C++, runs.
: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${top_builddir:=.}" "${CC:=cc}" "${CXX:=c++}"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
MAKEFLAGS='' make -C "$top_builddir" install DESTDIR="$dir" >"$dir/log" 2>&1 || {
    cat "$dir/log"
    exit 1
}
pc=$(find "$dir" -name vccl.pc)
test -n "$pc" || {
    echo "vccl.pc was not installed"
    exit 1
}
PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$dir
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
test "$(pkg-config --modversion vccl)" = "$VERSION" || {
    echo "vccl.pc says version $(pkg-config --modversion vccl), the build is $VERSION"
    exit 1
}
flags=$(pkg-config --cflags --libs vccl) || exit 1
lib=$(find "$dir" -name libvccl.so)
LD_LIBRARY_PATH=${lib%/*}
export LD_LIBRARY_PATH
cp "$top_srcdir/tests/install_client.c" "$dir/client.c"
cp "$top_srcdir/tests/install_client.c" "$dir/client.cc"
set -x
$CC -std=c11 -pedantic -Wall -Wextra -Werror "$dir/client.c" $flags -o "$dir/client_c" && "$dir/client_c" || exit 1
$CXX -std=c++11 -pedantic -Wall -Wextra -Werror "$dir/client.cc" $flags -o "$dir/client_cc" && "$dir/client_cc" || exit 1
set +x
others=$(find "$dir" -path '*/include/*' -name '*.h' ! -name vccl.h)
test -z "$others" || {
    echo "more headers than vccl.h were installed: $others"
    exit 1
}
