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
finish
