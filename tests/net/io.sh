#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What goes into the ranks and what comes out of them: input, output, arguments, environment, folders, cores.
. "$(dirname "$0")/lib.sh"

# Standard input is rank 0's.
echo hello | timeout 60 "$run" -np 3 cat >"$home/out" 2>"$home/err"
test "$(cat "$home/out")" = hello || bad "stdin: rank 0 did not get it: $(cat "$home/out")"
seq 200000 >"$home/in"
timeout 60 "$run" -np 2 sh -c 'cat' <"$home/in" >"$home/out" 2>"$home/err"
cmp -s "$home/in" "$home/out" || bad "stdin: a file came out otherwise than it went in"
timeout 60 "$run" -np 2 sh -c 'cat' <&- >"$home/out" 2>"$home/err" || bad "stdin: a closed one"

# Lines stay whole, and each rank's stay in order.
cat >"$home/talk" <<'END'
i=0
while [ $i -lt 300 ]; do
    printf 'begin of a line '
    printf '%s %d end\n' "$1" $i
    i=$((i + 1))
done
END
try "$run" -np 4 sh "$home/talk" x
expect 0 "lines"
lines "$home/out" 1200 "lines"
test "$(grep -c '^begin of a line x [0-9]* end$' "$home/out")" -eq 1200 || bad "lines: some are broken"
try "$run" -np 3 --tag-output sh "$home/talk" x
for r in 0 1 2; do
    sed -n "s/^\[$r\] begin of a line x \([0-9]*\) end\$/\1/p" "$home/out" >"$home/rank"
    seq 0 299 | cmp -s - "$home/rank" || bad "--tag-output: rank $r's lines"
done
try "$run" -np 2 --tag-output sh -c 'echo oops >&2'
test "$(sort "$home/err" | tr '\n' ,)" = "[0] oops,[1] oops," || bad "--tag-output on stderr"
# Both on one file: no line may be torn by one of the other stream.
timeout 60 "$run" -np 2 sh -c "sh '$home/talk' out & sh '$home/talk' err >&2; wait" >"$home/out" 2>&1 </dev/null
test "$(grep -c '^begin of a line [a-z]* [0-9]* end$' "$home/out")" -eq 1200 || bad "lines of stdout and stderr in one file"
# A last line without a newline; bytes that are no text.
try "$run" -np 1 printf 'no newline'
test "$(cat "$home/out")" = 'no newline' || bad "an unfinished last line"
test "$(wc -c <"$home/out")" -eq 10 || bad "an unfinished last line: bytes were added"
try "$run" -np 3 printf 'x'
test "$(sort "$home/out" | tr -d '\n')" = xxx || bad "three unfinished last lines"
head -c 3000000 /dev/urandom >"$home/in"
try "$run" -np 2 sh -c "test \$PMIX_RANK = 1 || cat '$home/in'"
cmp -s "$home/in" "$home/out" || bad "binary output of one rank"

# A large burst, and a reader that is slower.
try "$run" -np 2 sh -c "yes 0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnop | head -c 50400000"
expect 0 "100 MB"
test "$(wc -c <"$home/out")" -eq 100800000 || bad "100 MB: $(wc -c <"$home/out") bytes came"
test "$(sort -u "$home/out" | wc -l)" -eq 1 || bad "100 MB: broken lines"
rm -f "$home/out"
timeout 60 "$run" -np 2 sh -c "yes 0123456789 | head -c 5500000" 2>"$home/err" </dev/null | (
    sleep 1
    test "$(wc -c)" -eq 11000000
) || bad "a slow reader did not get all"
# A reader that goes away ends the job as it ends any program.
timeout 60 sh -c "'$run' -np 2 yes; echo \$? >'$home/status'" 2>"$home/err" </dev/null | head -1 >/dev/null
test "$(cat "$home/status")" -eq 141 || bad "a closed pipe: status $(cat "$home/status") instead of 141"

# --output-dir
try "$run" -np 3 --output-dir "$home/logs/deep" sh -c 'echo out $PMIX_RANK; echo err $PMIX_RANK >&2'
expect 0 "--output-dir"
for r in 0 1 2; do
    test "$(cat "$home/logs/deep/rank.$r.out" "$home/logs/deep/rank.$r.err")" = "out $r
err $r" || bad "--output-dir: rank $r's files"
done
test ! -s "$home/out" || bad "--output-dir: there is output elsewhere"
try "$run" -np 1 --output-dir /proc/none true
expect 1 "--output-dir that cannot be made"
lines "$home/err" 1 "--output-dir that cannot be made"

# Several programs, variables, folders, arguments.
A=inherited
export A
try "$run" -np 2 -x B=1 -x A sh -c 'echo $PMIX_RANK $A $B "$@"' sh one 'two  words' : -np 1 -x A=own --wdir / sh -c 'echo $PMIX_RANK $A ${B:-unset} $PWD' :  -n 1 -- echo last
test "$(sort "$home/out")" = "0 inherited 1 one two  words
1 inherited 1 one two  words
2 own unset /
last" || bad "several programs: $(cat "$home/out")"
try "$run" -np 1 -x NOT_SET_HERE true
expect 0 "-x of an unset variable"
lines "$home/err" 1 "-x of an unset variable"
try "$run" -np 1 --wdir "$home/none" true
expect 2 "--wdir that is not there"
lines "$home/err" 1 "--wdir that is not there"
try "$run" -np 1 ls --version
expect 0 "options after the program's name are its own"
cp /bin/true "$home/here"
try "$run" -np 1 --wdir "$home" ./here
expect 0 "a program in --wdir"
try "$run" -np 2 sh -c 'ulimit -n'
test "$(sort -u "$home/out")" = "$(ulimit -n)" || bad "the ranks' limit of descriptors is another"
VCCL_LOG=debug VCCL_SPIN=7 timeout 60 "$run" -np 1 sh -c 'echo $VCCL_LOG $VCCL_SPIN' >"$home/out" 2>"$home/err"
test "$(cat "$home/out")" = "debug 7" || bad "VCCL_ variables do not pass"
# Nothing of ours stays open in the ranks.
exec 9>/dev/null
try "$run" -np 1 sh -c 'for fd in /proc/$$/fd/*; do test ! -e "$fd" || echo "${fd##*/}"; done'
exec 9>&-
for fd in $(cat "$home/out"); do
    test -e "/proc/$$/fd/$fd" -o "$fd" -eq 9 || bad "descriptor $fd is open in a rank"
done

# Cores.
cores=$(nproc)
try "$run" -np 1 --report-bindings true
says "$home/err" '^vcclrun: rank 0 on host .*: bound to core, cpus [0-9]' "--report-bindings"
try "$run" -np $((cores + 1)) --report-bindings true
test "$(grep -c ': not bound$' "$home/err")" -eq $((cores + 1)) || bad "more ranks than cores are not unbound"
try "$run" -np 2 --bind-to core grep Cpus_allowed_list /proc/self/status
expect 0 "--bind-to core"
test "$cores" -lt 2 || test "$(sort -u "$home/out" | wc -l)" -eq 2 || bad "--bind-to core: both on one"
try "$run" -np 3 --bind-to none grep Cpus_allowed_list /proc/self/status
test "$(sort -u "$home/out")" = "$(grep Cpus_allowed_list /proc/self/status)" || bad "--bind-to none"
try "$run" -np 2 --bind-to numa --report-bindings true
test "$(grep -c 'bound to NUMA node, cpus [0-9]' "$home/err")" -eq 2 || bad "--bind-to numa: $(cat "$home/err")"
for map in slot core numa node; do
    try "$run" -np 2 --map-by $map --bind-to core --report-bindings true
    test "$(grep -c 'bound to core, cpus [0-9]' "$home/err")" -eq 2 || bad "--map-by $map: $(cat "$home/err")"
done
timeout 60 taskset -c "$(taskset -cp $$ | sed 's/.*[ ,-]//')" "$run" -np 1 --bind-to core grep Cpus_allowed_list /proc/self/status >"$home/out" 2>"$home/err" ||
    bad "--bind-to core within the last core only: $(cat "$home/err")"
try "$run" -v -np 2 true
says "$home/err" '^vcclrun: rank 1 .* pid [0-9]+, true' "-v"
says "$home/err" '^vcclrun: rank 1 .* exited with status 0' "-v"
clean "input and output"
