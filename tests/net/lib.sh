# SPDX-License-Identifier: BSD-3-Clause
# What the shell tests of vcclrun share. Each test has a temporary folder and a mark in its environment, by which every process of its jobs is known.
: "${top_builddir:=.}"
run=$top_builddir/launcher/vcclrun
boot_check=$top_builddir/tests/net/boot_check
brat=$top_builddir/tests/net/brat
talk=$top_builddir/tests/net/talk
VCCL_JOB_TEST_MARK=mark.$$.$(date +%s%N)
export VCCL_JOB_TEST_MARK
home=$(mktemp -d) || exit 99
TMPDIR=$home/tmp
export TMPDIR
mkdir "$TMPDIR"
failed=0
trap 'leave' EXIT
trap 'exit 99' INT TERM HUP

# Processes that carry the mark, apart from this shell and what it runs itself.
marked() {
    for dir in /proc/[0-9]*; do
        pid=${dir#/proc/}
        test "$pid" = $$ && continue
        grep -qzF "VCCL_JOB_TEST_MARK=$VCCL_JOB_TEST_MARK" "$dir/environ" 2>/dev/null || continue
        case $(tr '\0' ' ' <"$dir/cmdline" 2>/dev/null) in
        *launcher/vcclrun* | *boot_check* | *brat* | *talk* | *sleep*) echo "$pid" ;;
        esac
    done
}

leave() {
    status=$?
    pids=$(marked)
    test -z "$pids" || kill -9 $pids 2>/dev/null
    rm -rf "$home"
    test $status -ne 0 || status=$failed
    trap - EXIT
    exit $status
}

bad() {
    echo "FAILED: $*"
    failed=1
}

# Runs a command for at most 60 s with output in $home/out and $home/err; its status becomes $status.
try() {
    timeout -k 5 60 "$@" >"$home/out" 2>"$home/err" </dev/null
    status=$?
}

# expect STATUS "what": the last command's status.
expect() {
    test "$status" = "$1" || {
        bad "$2: status $status instead of $1; stderr:"
        head -5 "$home/err"
    }
}

lines() { # file, number of lines wanted, what
    n=$(wc -l <"$1")
    test "$n" -eq "$2" || {
        bad "$3: $n lines instead of $2:"
        head -5 "$1"
    }
}

says() { # file, pattern, what
    grep -Eq -- "$2" "$1" || {
        bad "$3: no line like '$2' in:"
        head -5 "$1"
    }
}

# Nothing may be left: no process, no file. They have a few seconds to go.
clean() {
    tries=0
    while left=$(marked) && test -n "$left" && test $tries -lt 100; do
        sleep 0.1
        tries=$((tries + 1))
    done
    test -z "$left" || {
        bad "$1: processes are left:"
        ps -o pid,ppid,stat,args -p "$(echo $left | tr ' ' ,)"
        kill -9 $left 2>/dev/null
    }
    tries=0
    while left=$(ls -A "$TMPDIR") && test -n "$left" && test $tries -lt 50; do
        sleep 0.1
        tries=$((tries + 1))
    done
    test -z "$left" || {
        bad "$1: files are left in \$TMPDIR: $left"
        rm -rf "${TMPDIR:?}"/*
    }
}

# Waits until a file has so many lines.
await_lines() {
    tries=0
    while test "$(cat "$1" 2>/dev/null | wc -l)" -lt "$2" && test $tries -lt 300; do
        sleep 0.1
        tries=$((tries + 1))
    done
}
