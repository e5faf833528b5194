#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sh quickstart.sh          installs what is missing, builds, installs into _install/ and runs a job of four ranks
# sh quickstart.sh check    the same, then all tests
# Made for Debian 12 and Ubuntu 24.04. Both may be run at once and again; what is up to date is left alone.
set -u
cd "$(dirname "$0")" || exit 1
top=$(pwd)
mode=${1:-run}
case $mode in
run | check) ;;
*)
    echo "usage: sh quickstart.sh [check]" >&2
    exit 2
    ;;
esac
jobs=$(nproc 2>/dev/null || echo 2)

say() { echo "quickstart: $*"; }
die() {
    echo "quickstart: $*" >&2
    exit 1
}

# --- what is missing ---
packages='' reasons=''
need() { # package, why, test...
    package=$1 why=$2
    shift 2
    "$@" >/dev/null 2>&1 && return
    packages="$packages $package"
    reasons="$reasons
    $package: $why"
}
find_missing() {
    packages='' reasons=''
    need gcc "compiles the library" command -v gcc
    need libc6-dev "the C library's headers" test -e /usr/include/stdio.h
    need g++ "checks that vccl.h is clean in C++" command -v g++
    need make "runs the build" command -v make
    need autoconf "makes configure" command -v autoconf
    need automake "makes the Makefile" command -v automake
    need libtool "builds the shared library" command -v libtoolize
    need pkg-config "finds the libraries below" command -v pkg-config
    need libev-dev "the event loop of the progress engine" sh -c 'ls /usr/include/ev.h || ls /usr/local/include/ev.h'
    need libpmix-dev "starts and connects the ranks" pkg-config --exists 'pmix >= 4.1'
    need libhwloc-dev "binds ranks to cores" pkg-config --exists 'hwloc >= 2.0'
    need check "the framework of the unit tests" pkg-config --exists 'check >= 0.15'
}
install_missing() {
    find_missing
    test -n "$packages" || return 0
    say "these packages are missing:$reasons"
    command="apt-get install -y --no-install-recommends$packages"
    command -v apt-get >/dev/null || die "there is no apt-get here; install them with this system's own package manager and run this again"
    test "$(id -u)" = 0 || die "installing needs root; run this, then quickstart again:

    sudo apt-get update && sudo $command
"
    say "installing: $command"
    export DEBIAN_FRONTEND=noninteractive
    # Package lists are fetched only where there are none, or where those that are there are too old.
    if ! $command </dev/null >_build/apt.log 2>&1; then
        apt-get update </dev/null >>_build/apt.log 2>&1
        $command </dev/null >>_build/apt.log 2>&1 || {
            tail -n 20 _build/apt.log >&2
            die "the installation failed (whole log: _build/apt.log)"
        }
    fi
    find_missing
    test -z "$packages" || die "still missing after the installation:$packages"
    rm -f _build/configured
}

# --- build and install ---
step() { # what, command...: quiet unless it fails
    what=$1
    shift
    say "$what"
    "$@" </dev/null >_build/step.log 2>&1 && return
    tail -n 60 _build/step.log >&2
    die "$what failed (whole log: _build/step.log)"
}
up_to_date() { # has nothing that is installed changed since the last installation?
    test -e _build/installed && test -z "$(find _build/config.status _build/lib _build/launcher _build/tools include man \
        -type f -newer _build/installed 2>/dev/null | head -n 1)"
}
build() {
    test -x configure || step "making configure" sh autogen.sh
    # The prefix is an absolute path: a tree that was moved is configured anew.
    if ! test -e _build/Makefile || test "$(cat _build/configured 2>/dev/null)" != "$top"; then
        step "configuring" sh -c "cd _build && ../configure --prefix='$top/_install'"
        echo "$top" >_build/configured
    fi
    step "building in _build/ with $jobs jobs" make -C _build -j "$jobs"
    up_to_date && return
    step "installing into _install/" make -C _build install
    touch _build/installed
}

# --- tests ---
failed_logs() { # the end of what each failed test said
    find _build -name '*.trs' | sort | while read -r trs; do
        grep -Eq '^:test-result: (FAIL|ERROR|XPASS)' "$trs" || continue
        echo "--- ${trs%.trs}.log"
        tail -n 60 "${trs%.trs}.log"
    done
}
count() { find _build -name '*.trs' -exec cat {} + | grep -Ec "^:test-result: ($1)"; }
run_tests() {
    find _build \( -name '*.trs' -o -name 'test-suite.log' \) -exec rm -f {} +
    status=0
    say "running the tests"
    make -C _build -k -j "$jobs" check </dev/null 2>&1 9>&- | tee _build/check.log | grep -E '^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR|# )'
    grep -q '^# FAIL:  *0$' _build/check.log && grep -q '^# ERROR:  *0$' _build/check.log || status=1
    sh tests/run_sanitizers.sh _build "$jobs" 9>&- || status=1
    passed=$(count 'PASS|XFAIL') failed=$(count 'FAIL|ERROR|XPASS') skipped=$(count SKIP)
    if test "$failed" != 0; then
        failed_logs
    elif test $status != 0; then
        tail -n 40 _build/check.log
        failed=1 # a test that could not even be built
    fi
    echo "$passed passed, $failed failed, $skipped skipped"
    return $status
}

# One at a time builds and installs; jobs may run side by side, but not while the files they use are replaced.
mkdir -p _build || exit 1
exec 9>_build/lock || exit 1
flock -n 9 || {
    say "another quickstart is building here, waiting for it"
    flock 9
}
install_missing
build
flock -s 9
say "_install/bin/vcclrun -np 4 _install/bin/vccl_perf allreduce"
_install/bin/vcclrun -np 4 _install/bin/vccl_perf allreduce 9>&- || die "the job failed with status $?"
flock -u 9
test "$mode" = check || exit 0

exec 9>_build/check.lock || exit 1
flock -n 9 || {
    say "another quickstart is testing here, waiting for it"
    flock 9
}
run_tests
