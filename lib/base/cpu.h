/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCCI_BASE_CPU_H
#define VCCI_BASE_CPU_H

/* Cores this process may use at once: affinity mask and cgroup (v1 and v2) CPU quota, at least 1. */
int vcci_cpu_usable(void);
/* Cores that the job's ranks on this host have together: what vcclrun counted before it bound each to its own (it sets VCCL_JOB_CORES), else
 * vcci_cpu_usable. */
int vcci_cpu_of_job(void);

enum vcci_cpu_isa { VCCI_ISA_BASE, VCCI_ISA_AVX2, VCCI_ISA_AVX512, VCCI_ISA_NR }; /* AVX2: with FMA and F16C; AVX512: F BW DQ VL */
/* The best level this processor and kernel offer. */
enum vcci_cpu_isa vcci_cpu_isa(void);
const char *vcci_cpu_isa_name(enum vcci_cpu_isa isa);

#endif
