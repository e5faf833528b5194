/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCCI_API_RESULT_H
#define VCCI_API_RESULT_H

#include "lib/base/err.h"

/* Before every function of vccl.h: all others are hidden. */
#define API __attribute__((visibility("default")))

/* From the inside's 0 or -(code) to the public code. */
static inline vccl_result_t vcci_result(int err)
{
    return (vccl_result_t)-err;
}

#endif
