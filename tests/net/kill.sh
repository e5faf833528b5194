#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Whichever single process of a job is killed, nothing is left: no process, no file.
. "$(dirname "$0")/lib.sh"

# The job: four ranks, each with three children that ignore what can be ignored; 18 processes. Their pids come out one a line.
children() {
    echo $(cat "/proc/$1/task/$1/children" 2>/dev/null)
}

start() {
    : >"$home/pids" # the shell that starts vcclrun may take its time to do so
    "$run" -np 4 "$brat" >"$home/pids" 2>"$home/err" &
    outer=$!
    await_lines "$home/pids" 16
    test "$(wc -l <"$home/pids")" -eq 16 || bad "the job did not start: $(cat "$home/pids" "$home/err")"
    inner=$(children $outer)
}

finish() { # what, statuses it may have
    wait $outer 2>/dev/null
    status=$?
    case " $2 " in
    *" $status "*) ;;
    *) bad "$1: status $status instead of one of $2" ;;
    esac
    clean "$1"
}

start
test "$(ls -d "$TMPDIR"/vcclrun.* | wc -l)" -eq 1 || bad "there is not one temporary folder: $(ls "$TMPDIR")"
kill -9 $outer
finish "the guardian is killed" 137

start
kill -9 $inner
finish "the launcher is killed" 137
says "$home/err" "launcher \(pid $inner\) died of signal 9" "the launcher is killed"

# In each group of four lines the last is the rank. What only a rank waits for may die without consequence, a rank may not.
for line in 1 2 3 4 8 16; do
    start
    pid=$(sed -n ${line}p "$home/pids")
    kill -9 "$pid"
    if test $((line % 4)) -ne 0; then
        sleep 0.3
        kill -0 $outer 2>/dev/null || bad "the death of a rank's child $line ended the job"
        kill -TERM $outer
        finish "a child is killed ($line)" 143
    else
        finish "a rank is killed ($line)" 137
    fi
done

# The moment of the kill varies over the whole start.
for ms in 0 2 4 6 8 10 15 20 25 30 40 50 70 100; do
    for which in outer inner; do
        "$run" -np 4 "$brat" >"$home/pids" 2>"$home/err" &
        outer=$!
        sleep "$(printf '0.%03d' $ms)"
        victim=$outer
        test $which = outer || victim=$(children $outer)
        kill -9 ${victim:-$outer} 2>/dev/null # there may be no inner one yet
        finish "$which killed after $ms ms" 137
    done
done

# What ranks leave behind when all have done well.
"$run" -np 3 "$brat" leave >"$home/pids" 2>"$home/err" &
outer=$!
finish "children are left behind" 0
lines "$home/pids" 12 "children are left behind"
