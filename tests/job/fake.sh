#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Whole jobs inside one process; the sanitizer builds run this too.
. "${top_srcdir:-.}/tests/job/common.sh"
for n in 1 2 3 4 8; do
    fake $n errors
    fake $n comms
    fake $n messages $n
    fake $n matrix $n 40
done
for n in 2 3 8; do
    VCCL_TIMEOUT=1 fake $n mismatch
done
VCCL_PROGRESS=caller fake 3 messages 7
VCCL_PROGRESS=caller fake 3 comms
VCCL_PROGRESS=caller fake 3 matrix 7 60
VCCL_LINKS=self,shm VCCL_EAGER=0 fake 2 messages
VCCL_CREDIT=4k fake 3 messages
finish
