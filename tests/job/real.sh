#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Real jobs of few ranks: the whole matrix where a rank has a core, samples beyond.
. "${top_srcdir:-.}/tests/job/common.sh"
for n in 1 2 3 4 5 7 8; do
    real $n errors
    real $n comms
    real $n messages $n
done
for n in 2 5; do
    VCCL_TIMEOUT=1 real $n mismatch
done
for n in 1 2 4; do
    real $n counters
done
real 1 matrix 1
real 2 matrix 1
for n in 3 4 5 7 8; do
    real $n matrix $n 4
done
# Results beyond the last-level cache are written another way (coll/flat_run.c); vccl_perf checks every element.
for coll in allreduce reduce bcast allgather reduce_scatter_block; do
    ran=$((ran + 1))
    timeout -k 5 "${LIMIT:-120}" "${top_builddir:-.}/launcher/vcclrun" -np 2 "${top_builddir:-.}/tools/vccl_perf" $coll -b 48M -e 48M -n 2 -w 1 \
        >real_large.tmp 2>&1 || {
        echo "FAILED (status $?): vccl_perf $coll of 48 MiB"
        cat real_large.tmp
        failed=$((failed + 1))
    }
done
rm -f real_large.tmp
finish
