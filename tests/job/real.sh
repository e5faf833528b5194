#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Real jobs of few ranks: the whole matrix where a rank has a core, samples beyond.
. "${top_srcdir:-.}/tests/job/common.sh"
for n in 1 2 3 4 5 7 8; do
    real $n errors
    real $n comms
    real $n messages $n
done
real 1 matrix 1
real 2 matrix 1
for n in 3 4 5 7 8; do
    real $n matrix $n 4
done
finish
