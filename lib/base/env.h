/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCCI_BASE_ENV_H
#define VCCI_BASE_ENV_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Every VCCL_ variable stands in this one table: the parser, vccl_info, vccl_env(7) and the checks all read it.
 * X(field, "NAME", kind, "default", "choices or range", "meaning")   kinds: ENUM (value = index in choices, '|' between), INT, BYTES (k m g
 * suffixes), SECONDS (double), LIST (comma between words from choices; field is a bit mask), TEXT (field is const char *) */
#define VCCI_ENV_TABLE(X)                                                                                                           \
    X(log, "VCCL_LOG", ENUM, "warn", "error|warn|info|debug", "how much goes to stderr")                                            \
    X(links, "VCCL_LINKS", LIST, "self,shm", "self|shm|tcp|rdma|cuda", "links that may be used")                                    \
    X(progress, "VCCL_PROGRESS", ENUM, "thread", "thread|caller",                                                                   \
      "who moves nonblocking operations on: a background thread, or only calls into VCCL")                                          \
    X(timeout, "VCCL_TIMEOUT", SECONDS, "0", "0..31536000", "seconds a call waits for its peers before VCCL_ERR_TIMEOUT; 0: for ever") \
    X(spin_us, "VCCL_SPIN", INT, "-1", "-1..1000000",                                                                               \
      "microseconds a waiting call spins before it yields and sleeps; -1: 50 where every rank has a core, else 0")                  \
    X(yields, "VCCL_YIELDS", INT, "8", "0..1000000", "sched_yield calls between spinning and sleeping")                             \
    X(eager_bytes, "VCCL_EAGER", BYTES, "32k", "0..64k", "largest message sent before the receiver asked for it")                    \
    X(credit_bytes, "VCCL_CREDIT", BYTES, "256k", "4k..1g", "eager bytes a receiver holds per sender before senders wait")          \
    X(single_copy, "VCCL_SINGLE_COPY", ENUM, "auto", "auto|off|always",                                                             \
      "process_vm_readv for large messages: where it measures faster, never, or wherever it works")                                 \
    X(coll, "VCCL_COLL", TEXT, "", "coll:algorithm[@min-max],...",                                                                  \
      "overrides the choice of algorithm, e.g. allreduce:ring@64k-1g,bcast:chain")                                                   \
    X(explain, "VCCL_EXPLAIN", ENUM, "0", "0|1", "say on stderr, once per kind of call, which algorithm ran and why")

/* Beginnings of names that vcclrun sets for its ranks and a user never does; no warning is given for them. */
#define VCCI_ENV_INTERNAL "VCCL_JOB_"

struct vcci_env {
#define VCCI_ENV_T_ENUM int
#define VCCI_ENV_T_INT int64_t
#define VCCI_ENV_T_BYTES uint64_t
#define VCCI_ENV_T_SECONDS double
#define VCCI_ENV_T_LIST uint32_t
#define VCCI_ENV_T_TEXT const char *
#define VCCI_ENV_FIELD(field, name, kind, dflt, choices, text) VCCI_ENV_T_##kind field;
    VCCI_ENV_TABLE(VCCI_ENV_FIELD)
#undef VCCI_ENV_FIELD
};

/* Parses the environment into *env (may be NULL) and makes it the process's; sets vcci_log's limit. An empty value means the default. A bad
 * value: vcci_fail(VCCL_ERR_CONFIG, names variable, value and the good ones), nothing changed. Unknown VCCL_ variables are warned of once per
 * process with the nearest known name; those that begin as VCCI_ENV_INTERNAL says are known. Any thread; texts stay valid for ever. */
int vcci_env_load(struct vcci_env *env);
/* The parsed environment of this process, defaults before vcci_env_load. Any thread; what it points to never changes. */
const struct vcci_env *vcci_env(void);
/* Table as text for vccl_info: a line of headings, then NAME value default choices meaning, one a line, aligned; "-" is empty. The value is the
 * environment's own text, good or not. Returns the length as snprintf does. */
int vcci_env_report(char *buf, size_t cap);
/* The nearest known variable to name by edit distance. */
const char *vcci_env_nearest(const char *name);
/* "64k", "1m", "2G", "123" -> bytes; 0 or -1 on nonsense. */
int vcci_bytes_parse(const char *text, uint64_t *bytes_out);

#endif
