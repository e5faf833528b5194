/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCCI_API_RESULT_H
#define VCCI_API_RESULT_H

#include "lib/base/err.h"

/* From the inside's 0 or -(code) to the public code. */
static inline vccl_result_t vcci_result(int err)
{
    return (vccl_result_t)-err;
}

#endif
