#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks find each other through vcclrun's PMIx server.
. "$(dirname "$0")/lib.sh"

for np in 1 2 3 5 8 16 33; do
    try "$run" -np $np "$boot_check" -a -f -p
    expect 0 "np $np"
    lines "$home/out" $np "np $np"
    lines "$home/err" 0 "np $np"
    test "$(sed 's/.* //' "$home/out" | sort -u | wc -l)" -eq 1 || bad "np $np: not one job"
done
try "$run" -np 128 "$boot_check" -f -p
expect 0 "np 128"
test "$(sort -u "$home/out" | wc -l)" -eq 128 || bad "np 128: some ranks are missing"
try "$run" -np 3 "$boot_check" -a : -np 2 "$boot_check" -a
expect 0 "two programs"

# A get waits for a rank that is late: for one that has not published, and beyond the two seconds that PMIx itself waits.
try "$run" -np 4 "$boot_check" -a -r 2 -l 300
expect 0 "rank 2 is late"
try "$run" -np 3 "$boot_check" -a -r 0 -l 3000
expect 0 "rank 0 is very late"

# Two jobs at once, and one inside another, do not mix.
timeout 60 "$run" -np 3 "$boot_check" -a -p >"$home/one" 2>&1 &
try "$run" -np 2 "$run" -np 3 "$boot_check" -a -p
expect 0 "jobs within a job"
wait $! || bad "a job beside another: $(cat "$home/one")"
test "$(sed 's/.* //' "$home/out" "$home/one" | sort | uniq -c | grep -c '^ *3 ')" -eq 3 || bad "jobs are mixed: $(cat "$home/out" "$home/one")"

# The folder is the owner's alone, and the job's name is not to be guessed.
try "$run" -np 1 sh -c 'stat -c "%a %u" $TMPDIR/vcclrun.*; find $TMPDIR -mindepth 2 ! -user $(id -u) -o -mindepth 2 -perm /077 ! -type d; echo $PMIX_NAMESPACE'
expect 0 "the temporary folder"
test "$(head -1 "$home/out")" = "700 $(id -u)" || bad "the temporary folder: $(cat "$home/out")"
says "$home/out" '^vccl[.][0-9a-f]{32}$' "the name of the job"

# Without a launcher; in a Slurm step without PMIx.
timeout 60 env -u PMIX_NAMESPACE "$boot_check" -p >"$home/out" 2>"$home/err" || bad "alone: $(cat "$home/err")"
says "$home/out" '^rank 0 of 1 solo' "alone"
try env SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=1 "$boot_check"
expect 99 "a Slurm step without PMIx"
says "$home/err" 'srun --mpi=pmix' "a Slurm step without PMIx"
try env PMIX_NAMESPACE=nobody PMIX_RANK=0 "$boot_check"
expect 99 "no server behind the variables"
says "$home/err" 'PMIx server cannot be reached' "no server behind the variables"

try "$top_builddir/tests/net/boot_death"
expect 0 "deaths"
lines "$home/err" 0 "deaths"
clean "bootstrap"
