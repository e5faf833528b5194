#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Signals are passed on; the second one ends the job at once.
. "$(dirname "$0")/lib.sh"

start() { # command...
    : >"$home/out" # the shell that starts vcclrun may take its time to do so
    "$run" "$@" >"$home/out" 2>"$home/err" &
    outer=$!
    await_lines "$home/out" 2
}

finish() { # what, status
    wait $outer
    status=$?
    expect "$2" "$1"
    clean "$1"
}

for signal in INT:130 TERM:143; do
    name=${signal%:*}
    start -np 2 "$talk" end
    kill -$name $outer
    finish "SIG$name" ${signal#*:}
    test "$(grep -c "got $name" "$home/out")" -eq 2 || bad "SIG$name did not reach both ranks"
    lines "$home/err" 1 "SIG$name"

    # Not deaf, but in no hurry.
    start -np 2 "$talk"
    kill -$name $outer
    await_lines "$home/out" 4
    sleep 0.3
    kill -0 $outer || bad "SIG$name: the job ended, though its ranks did not"
    kill -$name $outer
    finish "SIG$name twice" ${signal#*:}

    start -np 2 sh -c 'echo ready; exec sleep 1000'
    kill -$name $outer
    finish "SIG$name without a handler" ${signal#*:}
    lines "$home/err" 1 "SIG$name without a handler"
done

# One rank ends, the other does not want to.
start -np 1 sh -c 'echo ready; exec sleep 1000' : -np 1 "$brat"
await_lines "$home/out" 5
kill -INT $outer
finish "SIGINT, one rank is deaf" 130

start -np 2 "$talk" end
kill -HUP $outer
finish "SIGHUP" 129

start -np 2 "$talk" end
kill -USR1 $outer
await_lines "$home/out" 4
kill -TERM $outer
finish "SIGUSR1" 143
test "$(grep -c "got USR1" "$home/out")" -eq 2 || bad "SIGUSR1 did not reach both ranks"

# As timeout(1) does it: to the process and to its group.
timeout -s TERM 1 "$run" -np 2 sh -c "echo ready; exec sleep 1000" >"$home/out" 2>"$home/err"
test $? -eq 124 || bad "timeout"
lines "$home/err" 1 "timeout"
clean "timeout"

# Stop and go on.
state() { sed 's/.*) //;s/ .*//' "/proc/$1/stat"; }
start -np 1 sh -c 'echo $$; echo; exec sleep 1000'
rank=$(head -1 "$home/out")
kill -TSTP $outer
for i in $(seq 100); do
    test "$(state $rank)$(state $outer)" = TT && break
    sleep 0.1
done
test "$(state $rank)$(state $outer)" = TT || bad "SIGTSTP does not stop: $(state $rank)$(state $outer)"
kill -CONT $outer
for i in $(seq 100); do
    test "$(state $rank)" != T && break
    sleep 0.1
done
test "$(state $rank)" != T || bad "SIGCONT does not continue"
kill -TERM $outer
finish "SIGTSTP and SIGCONT" 143
