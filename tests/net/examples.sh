#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every example under vcclrun with one and with four ranks, and without vcclrun: its status and what it prints.
: "${top_builddir:=.}"
bad=0 ran=0

expect() { # ranks (0: no vcclrun), example, lines it prints
    if test "$1" = 0; then
        got=$("$top_builddir/examples/$2" 2>"$2.err")
    else
        got=$("$top_builddir/launcher/vcclrun" -np "$1" "$top_builddir/examples/$2" 2>"$2.err")
    fi
    status=$?
    ran=$((ran + 1))
    if test $status != 0 || test "$got" != "$3"; then
        printf '%s with %s ranks: status %s\n--- stdout\n%s\n--- expected\n%s\n--- stderr\n' "$2" "$1" $status "$got" "$3"
        cat "$2.err"
        bad=1
    fi
    rm -f "$2.err"
}

top_builddir=$(cd "$top_builddir" && pwd) || exit 99
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
host=$(uname -n)

hello() {
    for i in $(seq 0 $(($1 - 1))); do
        echo "hello from rank $i of $1 on $host"
    done
}
for np in 0 1; do
    expect $np hello "$(hello 1)"
    expect $np allreduce "1 ranks: 0 1 2 3"
    expect $np ring "the token came back from rank 0 with 0"
    expect $np overlap "1048576 elements summed, 0 wrong"
    expect $np pi "pi is about 3.1415926536"
    expect $np heat1d "after 2000 steps the rod's heat is 1000.000000"
    expect $np split "even ranks sum up to 0, odd ones to 0"
    expect $np bfloat16 "averages 0 and 0.5; the largest value, 0, is on rank 0"
done
expect 4 hello "$(hello 4)"
expect 4 allreduce "4 ranks: 6 10 14 18"
expect 4 ring "the token came back from rank 3 with 6"
expect 4 overlap "1048576 elements summed, 0 wrong"
expect 4 pi "pi is about 3.1415926536"
expect 4 heat1d "after 2000 steps the rod's heat is 1000.000000"
expect 4 split "even ranks sum up to 2, odd ones to 4"
expect 4 bfloat16 "averages 3 and 0.5; the largest value, 3, is on rank 1"
echo "$ran runs of examples"
exit $bad
