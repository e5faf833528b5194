#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vccl_perf and vccl_info: every collective is right, options and statuses are what the man pages say.
: "${top_builddir:=.}" "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
top_builddir=$(cd "$top_builddir" && pwd) || exit 99
perf=$top_builddir/tools/vccl_perf info=$top_builddir/tools/vccl_info run=$top_builddir/launcher/vcclrun
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
bad=0 ran=0

try() { # status, pattern in stdout or stderr, command...
    want=$1 pattern=$2
    shift 2
    "$@" >out 2>err </dev/null
    status=$?
    ran=$((ran + 1))
    if test $status != "$want" || ! grep -Eq -- "$pattern" out err; then
        printf '%s\nstatus %s, not %s, or nothing like "%s":\n' "$*" $status "$want" "$pattern"
        cat out err
        bad=1
    fi
}
one_line() { # the command before said one line on stderr and nothing on stdout
    if test -s out || test "$(wc -l <err)" != 1; then
        echo "not one line on stderr:"
        cat out err
        bad=1
    fi
}

# right results
try 0 'Out of bounds values : 0 OK' "$perf" all -e 4k -f 8 -n 2
for np in 2 3 4; do
    try 0 'Out of bounds values : 0 OK' "$run" -np $np "$perf" all -e 64k -f 8 -n 3
    try 0 'Out of bounds values : 0 OK' "$run" -np $np "$perf" all -z -b 24 -e 200k -f 20 -n 2 -r all --mem alloc
done
try 0 'Out of bounds values : 0 OK' "$run" -np 3 "$perf" allreduce -d all -o all -b 48 -e 5k -f 100 -n 1
try 0 'Out of bounds values : 0 OK' "$run" -np 2 "$perf" reduce_scatter_block -d all -o all -b 48 -e 5k -f 100 -n 1
try 0 'not checked' "$run" -np 2 "$perf" bcast -c 0 -e 64 -n 2 --percentiles

# output for programs
try 0 . "$run" -np 2 "$perf" allreduce -e 64 -n 2 --percentiles --json - --csv file.csv
if command -v python3 >/dev/null; then
    python3 -c 'import json; j = json.load(open("out")); assert j["size"] == 2 and len(j["ranks"]) == 2 and j["wrong"] == 0, j
assert all(r["wrong"] == 0 and r["p50_us"] <= r["max_us"] for r in j["results"]) and len(j["results"]) == 4, j' || bad=1
fi
test "$(wc -l <file.csv)" = 5 || {
    cat file.csv
    bad=1
}

# what cannot be
for words in '' 'nonesuch' 'allreduce -q' 'allreduce --nonesuch' 'allreduce -b 1x' 'allreduce -d float31' 'allreduce -b 8 -e 4' \
    'allreduce -n' 'allreduce again' 'allreduce -d complex64 -o max' 'bcast -r 7' 'allreduce --csv /nonesuch/file'; do
    try 2 '^vccl_perf: ' "$perf" $words
    one_line
done
try 2 '^vccl_perf: ' "$run" -np 3 "$perf" allreduce --nonesuch
test "$(grep -c '^vccl_perf: ' err)" = 1 || bad=1
for words in '--nonesuch' '-x' 'word' '--alg ring' '--schedule nonesuch' '--schedule'; do
    try 2 '^vccl_info: ' "$info" $words
    one_line
done
try 0 '^usage: vccl_perf' "$perf" --help
try 0 '^usage: vccl_info' "$info" --help

# what vccl_info tells
try 0 "$VERSION" "$info" --version
try 0 '^\[links\]' "$info"
try 0 shm "$info" --links
try 0 '^VCCL_TIMEOUT ' "$info" --env
try 0 . "$info" --selection allreduce --np 4
try 0 . "$info" --counters
try 0 '^\[selection\]' "$info" --all
try 0 digraph "$info" --schedule allreduce --alg ring --np 4 --rank 1 --count 1024 --format dot
try 2 '^vccl_info: ' "$info" --schedule allreduce --alg nonesuch
# the benchmarks build and run
if command -v python3 >/dev/null; then
    try 0 '^pingpong 8 .*[0-9]' python3 "$top_srcdir/bench/compare" --build "$top_builddir" --peers "$dir/peers" --contenders vccl --quick \
        --np 2 --coll allreduce,pingpong --size 8,64k --rounds 1 --ms 2
fi
echo "$ran commands"
exit $bad
