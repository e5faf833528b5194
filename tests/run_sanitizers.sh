#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: run_sanitizers.sh BUILD [JOBS]. Builds the tree with ASan+UBSan in BUILD/asan and with TSan in BUILD/tsan and runs the tests of SAN_TESTS (see
# tests/local.mk) in each, those of ASAN_TESTS in the first only. Where this machine cannot run a sanitizer, that is said and counts as one skipped test.
set -u
src=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd) || exit 1
jobs=${2:-2}
status=0
# TSan's fixed address layout and strong randomisation of addresses exclude each other on some kernels.
fixed=''
setarch "$(uname -m)" -R true 2>/dev/null && fixed="setarch $(uname -m) -R"

runs_here() { # kind: can a program of this kind be built and run at all?
    echo 'int main(void) { return 0; }' >"$build/probe.c"
    ${CC:-gcc} -fsanitize="$1" "$build/probe.c" -o "$build/probe" && $fixed "$build/probe"
}

sanitize() { # name, kind, further tests
    dir=$build/$1
    mkdir -p "$dir" && cd "$dir" || return 1
    find . -name '*.trs' -exec rm -f {} +
    if ! runs_here "$2" >probe.log 2>&1; then
        echo "SKIP: $1: programs built with -fsanitize=$2 do not run here: $(tail -n 1 probe.log)"
        printf ':test-result: SKIP %s\n' "$1" >sanitizer.trs
        return 0
    fi
    if ! test -e Makefile; then
        echo "configuring with -fsanitize=$2"
        "$src/configure" --enable-sanitize="$2" CFLAGS='-O1 -g' </dev/null >configure.log 2>&1 || return 1
    fi
    echo "building with -fsanitize=$2"
    make -j "$jobs" sanitizer-programs SAN_MORE="$3" </dev/null >make.log 2>&1 || {
        tail -n 40 make.log
        return 1
    }
    $fixed make -k -j "$jobs" sanitizer-check TEST_SECONDS=900 SAN_MORE="$3" </dev/null 2>&1 | tee check.log |
        sed -n "s/^\(PASS\|FAIL\|SKIP\|ERROR\): /\1: $1: /p"
    grep -q '^# FAIL:  *0$' check.log && grep -q '^# ERROR:  *0$' check.log
}

(sanitize asan address,undefined '$(ASAN_TESTS)') || status=1
(sanitize tsan thread '') || status=1
rm -f "$build/probe" "$build/probe.c"
exit $status
