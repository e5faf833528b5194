#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vcclrun's exit status and the one line that says why.
. "$(dirname "$0")/lib.sh"

try "$run" -np 2 true
expect 0 "two that do well"
lines "$home/err" 0 "two that do well"

try "$run" -np 3 sh -c 'exit 5'
expect 5 "exit 5"
lines "$home/err" 1 "exit 5"
says "$home/err" '^vcclrun: rank [0-2] \(pid [0-9]+ on host .+\) exited with status 5' "exit 5"

# The others wait for ever, deaf to SIGTERM.
try "$run" -np 2 "$brat" : -np 1 sh -c 'sleep 0.3; exit 7'
expect 7 "the last of three fails"
lines "$home/err" 1 "the last of three fails"
says "$home/err" '^vcclrun: rank 2 .* exited with status 7; the other ranks are ended' "the last of three fails"

try "$run" -np 2 sh -c 'kill -SEGV $$'
expect 139 "SIGSEGV"
lines "$home/err" 1 "SIGSEGV"
says "$home/err" 'died of signal 11 \(Segmentation fault' "SIGSEGV"

try "$run" -np 3 "$boot_check" -r 1 -e kill
expect 137 "rank 1 kills itself"
lines "$home/err" 1 "rank 1 kills itself"
says "$home/err" '^vcclrun: rank 1 .* died of signal 9 \(Killed\)' "rank 1 kills itself"

try "$run" -np 3 "$boot_check" -r 2 -e exit7
expect 7 "exit 7 after joining"
says "$home/err" '^vcclrun: rank 2 .* exited with status 7' "exit 7 after joining"

try "$run" -np 3 "$boot_check" -r 0 -e exit0
expect 1 "exit 0 without leaving the job"
lines "$home/err" 1 "exit 0 without leaving the job"
says "$home/err" '^vcclrun: rank 0 .* status 0 but without vccl_finalize' "exit 0 without leaving the job"

try "$run" -np 3 "$boot_check" -r 1 -e abort
expect 9 "abort"
lines "$home/err" 1 "abort"
says "$home/err" '^vcclrun: rank 1 .* aborted the job with code 9: the text of an abort' "abort"

try "$run" -np 2 "$boot_check" -r 1 -e abort0
expect 1 "abort with code 0"
says "$home/err" 'aborted the job with code 0$' "abort with code 0"

# A rank may be a script that runs several programs in turn.
try "$run" -np 2 sh -c "'$boot_check' && '$boot_check' -p"
expect 0 "two programs in turn"
lines "$home/out" 2 "two programs in turn"

try "$run" -np 2 "$home/missing"
expect 127 "a missing program"
lines "$home/err" 1 "a missing program"
try "$run" -np 2 no-such-program-anywhere
expect 127 "a missing program in PATH"
lines "$home/err" 1 "a missing program in PATH"
echo 'not a program' >"$home/plain"
try "$run" -np 2 "$home/plain"
expect 126 "a file without x"
lines "$home/err" 1 "a file without x"
try "$run" -np 1 "$home"
expect 126 "a folder"
try "$run" -np 1 sleep 100 : -np 1 ./missing
expect 127 "a missing second program"
lines "$home/err" 1 "a missing second program"

for options in --foo -np "-np 0" "-np x" "-n 2x" "-np -3" "-np 99999999" "--bind-to socket" "--map-by" "--map-by ring" "--timeout" "--timeout x" \
    "--timeout -1" "-x" "-x =3" "--tag-output=1" "--np 2" "-q"; do
    try "$run" $options true
    case $options in
    -np | --map-by | --timeout | -x) try "$run" $options ;;
    esac
    expect 2 "'$options'"
    lines "$home/err" 1 "'$options'"
    says "$home/err" '^vcclrun: .*--help' "'$options'"
done
for command in "" "-np 2" ":" "-np 1 true :" ": true" "-np 1 true : : true" "-np 1 true : true"; do
    try "$run" $command
    expect 2 "'$command'"
    lines "$home/err" 1 "'$command'"
done

try "$run" -np 2 --timeout 0.5 "$brat"
expect 124 "--timeout"
lines "$home/err" 1 "--timeout"
says "$home/err" '^vcclrun: .*0.5 seconds' "--timeout"
try "$run" -np 2 --timeout 60 true
expect 0 "--timeout not reached"

try "$run" --help
expect 0 "--help"
for option in -n -np -x --wdir --bind-to --map-by --tag-output --output-dir --timeout --report-bindings -v --version -h --help; do
    says "$home/out" "(^|[ ,])$option([ ,]|\$)" "--help"
done
try "$run" --version
expect 0 "--version"
says "$home/out" "^vcclrun .*${VERSION:-[0-9]}" "--version"
clean "exit statuses"
