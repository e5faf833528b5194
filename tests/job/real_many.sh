#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Real jobs of many more ranks than cores: seeded samples.
. "${top_srcdir:-.}/tests/job/common.sh"
real 16 errors
real 16 comms
real 16 messages 16
real 16 matrix 16 30
real 128 errors
real 128 matrix 128 400
finish
