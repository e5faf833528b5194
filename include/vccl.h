/* SPDX-License-Identifier: BSD-3-Clause
 *
 * VCCL: a message-passing library with a collectives-first API.
 *
 * Rules that hold for every call, unless its own comment says otherwise:
 *
 *  - Result. VCCL_SUCCESS (0) or a code of vccl_result_t. Outputs are written only on success. vccl_strerror() gives the
 *    class of a code, vccl_last_error() the sentence about the calling thread's last failure.
 *  - Counts and displacements are in elements of the datatype, size_t; `bytes` always means bytes. Ranks, roots and tags are int.
 *  - Buffers belong to the caller. A blocking call is done with them when it returns; a nonblocking one when its request has
 *    completed, and until then a send buffer must not be written and a receive buffer not touched.
 *  - Collectives are called by every rank of the communicator, in the same order, with the same datatype, op, root and
 *    (but where stated) count. Send and receive buffers must not overlap; use VCCL_IN_PLACE where it is allowed.
 *  - A collective's result is the same on every rank, bit by bit. Ops are applied in an order that may depend on count,
 *    rank count and algorithm.
 *  - Threads. Any thread may call any function at any time between vccl_init and vccl_finalize. Collectives on one
 *    communicator must be issued by one thread at a time; different communicators may be used by different threads at once.
 *  - Handles carry a generation: a null, freed or foreign handle is an error (VCCL_ERR_ARG), not a crash.
 *  - Every call may return VCCL_ERR_STATE (before vccl_init or after vccl_finalize), VCCL_ERR_ARG (an argument that cannot be
 *    right, named in vccl_last_error), VCCL_ERR_NO_MEMORY and VCCL_ERR_SYSTEM. A call that moves data may return
 *    VCCL_ERR_TIMEOUT (see VCCL_TIMEOUT), VCCL_ERR_MISMATCH, VCCL_ERR_PROC_FAILED, VCCL_ERR_REVOKED.
 */
#ifndef VCCL_H
#define VCCL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VCCL_VERSION_MAJOR 0
#define VCCL_VERSION_MINOR 1
#define VCCL_VERSION_PATCH 0

/* ---- results: grouped by what dies ---- */
typedef enum {
    VCCL_SUCCESS = 0,
    /* the request: nothing else is harmed */
    VCCL_ERR_ARG = 1,          /* an argument cannot be right                                     */
    VCCL_ERR_STATE = 2,        /* called before vccl_init, after vccl_finalize, or twice          */
    VCCL_ERR_TRUNCATE = 3,     /* the message is longer than the receive buffer                   */
    VCCL_ERR_NO_MEMORY = 4,
    VCCL_ERR_SYSTEM = 5,       /* a system call failed; errno's text is in vccl_last_error        */
    VCCL_ERR_UNSUPPORTED = 6,  /* this build or machine cannot do it                              */
    VCCL_ERR_CONFIG = 7,       /* a VCCL_ environment variable has a bad value                    */
    VCCL_ERR_CANCELED = 8,     /* the operation was called off before it moved data               */
    /* the link or the peer */
    VCCL_ERR_LINK = 100,       /* no link reaches the peer, or the last one broke                 */
    VCCL_ERR_PROC_FAILED = 200, /* a peer process died                                            */
    /* the communicator */
    VCCL_ERR_MISMATCH = 300,   /* ranks called different collectives or with different arguments  */
    VCCL_ERR_TIMEOUT = 301,    /* a peer did not come within VCCL_TIMEOUT                         */
    VCCL_ERR_REVOKED = 302,    /* the communicator failed earlier; only freeing it works          */
    /* the job */
    VCCL_ERR_PARTITIONED = 400,
    VCCL_ERR_BOOTSTRAP = 401,  /* the launcher's PMIx server cannot be reached or refused         */
    VCCL_ERR_INTERNAL = 402    /* a bug in VCCL                                                   */
} vccl_result_t;

/* ---- handles and constants ---- */
typedef struct vccl_comm *vccl_comm_t;       /* never dereferenced: an index and a generation */
typedef struct vccl_request *vccl_request_t; /* likewise                                       */

#define VCCL_COMM_NULL ((vccl_comm_t)0)
#define VCCL_COMM_WORLD ((vccl_comm_t)(uintptr_t)1) /* all ranks of the job    */
#define VCCL_COMM_SELF ((vccl_comm_t)(uintptr_t)2)  /* the calling rank alone  */
#define VCCL_REQUEST_NULL ((vccl_request_t)0)

#define VCCL_IN_PLACE ((void *)(uintptr_t)-1)
#define VCCL_ANY_SOURCE (-1)
#define VCCL_PROC_NULL (-2) /* send to and receive from it do nothing: source VCCL_PROC_NULL, tag VCCL_ANY_TAG, 0 bytes */
#define VCCL_ANY_TAG (-1)
#define VCCL_TAG_MAX 0x7fffffff
#define VCCL_UNDEFINED (-32766) /* vccl_comm_split: "no communicator for me"; vccl_waitany: "no active request" */

/* Element types. Complex is two adjacent reals. A pair is { value, index } laid out as the C struct of its two members. */
typedef enum {
    VCCL_DATATYPE_NULL = 0,
    VCCL_INT8 = 1,
    VCCL_INT16,
    VCCL_INT32,
    VCCL_INT64,
    VCCL_UINT8,
    VCCL_UINT16,
    VCCL_UINT32,
    VCCL_UINT64,
    VCCL_FLOAT16,     /* IEEE 754 binary16; sums round to nearest even   */
    VCCL_BFLOAT16,    /* sums round to nearest even                       */
    VCCL_FLOAT32,
    VCCL_FLOAT64,
    VCCL_FLOAT8_E4M3, /* OCP 8-bit (fn: no infinity, NaN 0x7f)            */
    VCCL_FLOAT8_E5M2, /* OCP 8-bit                                        */
    VCCL_COMPLEX64,   /* two float32 */
    VCCL_COMPLEX128,  /* two float64 */
    VCCL_BOOL,        /* one byte, zero is false                          */
    VCCL_BYTE,        /* uninterpreted; bitwise ops only                  */
    VCCL_FLOAT32_INT32, /* pairs for VCCL_MINLOC and VCCL_MAXLOC: { float, int32_t } 8 bytes   */
    VCCL_FLOAT64_INT32, /* { double, int32_t } 16 bytes                                        */
    VCCL_INT32_INT32,   /* { int32_t, int32_t } 8 bytes                                        */
    VCCL_INT64_INT32,   /* { int64_t, int32_t } 16 bytes                                       */
    VCCL_DATATYPE_NR,
    VCCL_DATATYPE_MAX_ = 0x7fffffff
} vccl_datatype_t;

typedef enum {
    VCCL_OP_NULL = 0,
    VCCL_SUM = 1,
    VCCL_PROD,
    VCCL_MIN,    /* NaN if any operand is NaN */
    VCCL_MAX,
    VCCL_LAND,   /* logical ops: integers, bool */
    VCCL_LOR,
    VCCL_LXOR,
    VCCL_BAND,   /* bitwise ops: integers, bool, byte */
    VCCL_BOR,
    VCCL_BXOR,
    VCCL_MINLOC, /* pairs; of equal values the lowest index */
    VCCL_MAXLOC,
    VCCL_AVG,    /* sum divided by the number of ranks; integers truncate towards zero */
    VCCL_OP_NR,
    VCCL_OP_MAX_ = 0x7fffffff /* larger values name ops made by vccl_op_create_premul_sum */
} vccl_op_t;

typedef struct {
    int source;          /* rank of the sender, or VCCL_PROC_NULL                */
    int tag;             /* its tag                                              */
    vccl_result_t error; /* how this one operation ended                        */
    size_t bytes;        /* bytes received                                       */
} vccl_status_t;

#define VCCL_STATUS_IGNORE ((vccl_status_t *)0)
#define VCCL_STATUSES_IGNORE ((vccl_status_t *)0)

/* ---- start and end ---- */

/* Joins the job: under vcclrun (or srun --mpi=pmix) as one of its ranks, without a launcher as rank 0 of 1. Starts the
 * progress thread (VCCL_PROGRESS=thread). Prints nothing on stdout. Errors: VCCL_ERR_STATE when called twice,
 * VCCL_ERR_CONFIG for a bad VCCL_ variable, VCCL_ERR_BOOTSTRAP. Not safe against a concurrent vccl_init. */
vccl_result_t vccl_init(void);

/* Leaves the job. Waits, as MPI does, until this rank's part of all communication is done: a send that was started is delivered, so
 * every request must have completed (else VCCL_ERR_STATE and the job goes on). Frees all communicators. Collective over
 * VCCL_COMM_WORLD. No other thread may be inside VCCL. vccl_init cannot be called again. */
vccl_result_t vccl_finalize(void);

/* *flag_out = 1 once vccl_init has succeeded (it stays 1) / once vccl_finalize has. At any time, any thread; never an error but a
 * null pointer. */
vccl_result_t vccl_initialized(int *flag_out);
vccl_result_t vccl_finalized(int *flag_out);

/* Ends the whole job: vcclrun stops all ranks and exits with `code` (1 to 255; others become 1). `text`, may be NULL, is printed
 * once on stderr. Does not return. May be called before vccl_init: it then ends the calling process alone. */
void vccl_abort(int code, const char *text);

/* Library version; each pointer may be NULL. At any time, any thread. */
vccl_result_t vccl_get_version(int *major_out, int *minor_out, int *patch_out);

/* Class of a result in a few words; never NULL, static. At any time, any thread. */
const char *vccl_strerror(vccl_result_t result);

/* One sentence on the calling thread's last failed call, naming values, ranks and errno; "" if none failed. Valid until
 * the thread's next VCCL call; owned by the library. At any time. */
const char *vccl_last_error(void);

/* Seconds since an arbitrary point in the past (CLOCK_MONOTONIC). At any time, any thread. */
double vccl_wtime(void);

/* ---- communicators ---- */
vccl_result_t vccl_comm_rank(vccl_comm_t comm, int *rank_out); /* local */
vccl_result_t vccl_comm_size(vccl_comm_t comm, int *size_out); /* local */

/* A communicator with the same ranks and its own message space. Collective over comm. The caller owns *newcomm_out and gives it
 * back with vccl_comm_free. */
vccl_result_t vccl_comm_dup(vccl_comm_t comm, vccl_comm_t *newcomm_out);

/* Splits comm: ranks that give the same `color` (>= 0) form one communicator, ordered by key, then by rank in comm.
 * VCCL_UNDEFINED as color gives VCCL_COMM_NULL. Collective over comm. Ownership as vccl_comm_dup. */
vccl_result_t vccl_comm_split(vccl_comm_t comm, int color, int key, vccl_comm_t *newcomm_out);

/* Splits comm into groups of ranks that share memory (a host). Otherwise as vccl_comm_split. */
vccl_result_t vccl_comm_split_shared(vccl_comm_t comm, int key, vccl_comm_t *newcomm_out);

/* Frees *comm and sets it to VCCL_COMM_NULL. Collective over comm. Every request on it must have completed
 * (else VCCL_ERR_STATE). VCCL_COMM_WORLD and VCCL_COMM_SELF cannot be freed (VCCL_ERR_ARG). */
vccl_result_t vccl_comm_free(vccl_comm_t *comm);

/* ---- datatypes and ops ---- */
vccl_result_t vccl_type_size(vccl_datatype_t datatype, size_t *bytes_out); /* bytes of one element; any time, any thread */
const char *vccl_type_name(vccl_datatype_t datatype);                      /* "float32"; NULL for no type               */
const char *vccl_op_name(vccl_op_t op);                                    /* "sum"; NULL for no op                     */

/* An op that multiplies this rank's input by *scalar (one element of `datatype`, read during the call), then sums. Numeric types
 * but the pairs. Local; ranks may give different scalars. The op works only with `datatype`. Freed with vccl_op_free. */
vccl_result_t vccl_op_create_premul_sum(const void *scalar, vccl_datatype_t datatype, vccl_op_t *op_out);
/* Frees *op and sets it to VCCL_OP_NULL; operations already begun with it go on. Built-in ops: VCCL_ERR_ARG. */
vccl_result_t vccl_op_free(vccl_op_t *op);

/* ---- memory ---- */

/* `bytes` of memory, aligned to a page, that ranks on the same host can map: the fastest source and target for large messages. Zeroed.
 * Freed with vccl_mem_free, at the latest by vccl_finalize. bytes 0 gives a valid pointer that must be freed. */
vccl_result_t vccl_mem_alloc(size_t bytes, void **ptr_out);
/* No operation on the memory may be under way. NULL does nothing; a pointer that vccl_mem_alloc did not give is VCCL_ERR_ARG. */
vccl_result_t vccl_mem_free(void *ptr);

/* ---- collectives (blocking) ----
 * n is the size of comm. VCCL_IN_PLACE goes where each comment says and means that the rank's contribution already lies in recvbuf at the place
 * the result (or its part of it) takes. Buffers that a rank does not use (recvbuf on non-roots of reduce, ...) are ignored. Algorithms and
 * their sources: vccl_coll(7). */

/* Returns once every rank has entered. */
vccl_result_t vccl_barrier(vccl_comm_t comm);

/* buf[count] of `root` to everybody's buf[count]. */
vccl_result_t vccl_bcast(void *buf, size_t count, vccl_datatype_t datatype, int root, vccl_comm_t comm);

/* recvbuf[i] on root = op over all ranks of sendbuf[i], i < count. VCCL_IN_PLACE as sendbuf on root. */
vccl_result_t vccl_reduce(const void *sendbuf, void *recvbuf, size_t count, vccl_datatype_t datatype, vccl_op_t op, int root,
                          vccl_comm_t comm);

/* recvbuf[i] on every rank = op over all ranks of sendbuf[i], i < count. VCCL_IN_PLACE as sendbuf on all ranks. */
vccl_result_t vccl_allreduce(const void *sendbuf, void *recvbuf, size_t count, vccl_datatype_t datatype, vccl_op_t op,
                             vccl_comm_t comm);

/* recvbuf[n * recvcount] on root = every rank's sendbuf[sendcount], by rank. sendcount * size of sendtype must equal recvcount * size of recvtype.
 * recvcount is per rank and counts on root only. VCCL_IN_PLACE as sendbuf on root. */
vccl_result_t vccl_gather(const void *sendbuf, size_t sendcount, vccl_datatype_t sendtype, void *recvbuf, size_t recvcount,
                          vccl_datatype_t recvtype, int root, vccl_comm_t comm);

/* The reverse of gather: root's sendbuf[n * sendcount], part r to rank r's recvbuf[recvcount]. VCCL_IN_PLACE as recvbuf on root. */
vccl_result_t vccl_scatter(const void *sendbuf, size_t sendcount, vccl_datatype_t sendtype, void *recvbuf, size_t recvcount,
                           vccl_datatype_t recvtype, int root, vccl_comm_t comm);

/* recvbuf[n * recvcount] on every rank = every rank's sendbuf[sendcount], by rank. VCCL_IN_PLACE as sendbuf on all ranks. */
vccl_result_t vccl_allgather(const void *sendbuf, size_t sendcount, vccl_datatype_t sendtype, void *recvbuf, size_t recvcount,
                             vccl_datatype_t recvtype, vccl_comm_t comm);

/* Part r of sendbuf[n * sendcount] to part `me` of rank r's recvbuf[n * recvcount]. VCCL_IN_PLACE as sendbuf on all ranks. */
vccl_result_t vccl_alltoall(const void *sendbuf, size_t sendcount, vccl_datatype_t sendtype, void *recvbuf, size_t recvcount,
                            vccl_datatype_t recvtype, vccl_comm_t comm);

/* recvbuf[i] on rank r = op over all ranks of sendbuf[r * recvcount + i], i < recvcount; sendbuf holds n * recvcount.
 * VCCL_IN_PLACE as sendbuf on all ranks: recvbuf then holds n * recvcount and the result is its first recvcount elements. */
vccl_result_t vccl_reduce_scatter_block(const void *sendbuf, void *recvbuf, size_t recvcount, vccl_datatype_t datatype,
                                        vccl_op_t op, vccl_comm_t comm);

/* ---- collectives (nonblocking): as the blocking twin; *req_out completes when it would have returned ---- */
vccl_result_t vccl_ibarrier(vccl_comm_t comm, vccl_request_t *req_out);
vccl_result_t vccl_ibcast(void *buf, size_t count, vccl_datatype_t datatype, int root, vccl_comm_t comm, vccl_request_t *req_out);
vccl_result_t vccl_ireduce(const void *sendbuf, void *recvbuf, size_t count, vccl_datatype_t datatype, vccl_op_t op, int root,
                           vccl_comm_t comm, vccl_request_t *req_out);
vccl_result_t vccl_iallreduce(const void *sendbuf, void *recvbuf, size_t count, vccl_datatype_t datatype, vccl_op_t op,
                              vccl_comm_t comm, vccl_request_t *req_out);
vccl_result_t vccl_igather(const void *sendbuf, size_t sendcount, vccl_datatype_t sendtype, void *recvbuf, size_t recvcount,
                           vccl_datatype_t recvtype, int root, vccl_comm_t comm, vccl_request_t *req_out);
vccl_result_t vccl_iscatter(const void *sendbuf, size_t sendcount, vccl_datatype_t sendtype, void *recvbuf, size_t recvcount,
                            vccl_datatype_t recvtype, int root, vccl_comm_t comm, vccl_request_t *req_out);
vccl_result_t vccl_iallgather(const void *sendbuf, size_t sendcount, vccl_datatype_t sendtype, void *recvbuf, size_t recvcount,
                              vccl_datatype_t recvtype, vccl_comm_t comm, vccl_request_t *req_out);
vccl_result_t vccl_ialltoall(const void *sendbuf, size_t sendcount, vccl_datatype_t sendtype, void *recvbuf, size_t recvcount,
                             vccl_datatype_t recvtype, vccl_comm_t comm, vccl_request_t *req_out);
vccl_result_t vccl_ireduce_scatter_block(const void *sendbuf, void *recvbuf, size_t recvcount, vccl_datatype_t datatype,
                                         vccl_op_t op, vccl_comm_t comm, vccl_request_t *req_out);

/* ---- point to point ----
 * Messages between two ranks on one communicator are received in the order sent. Tags are 0 to VCCL_TAG_MAX. The receive buffer may be larger
 * than the message; a smaller one gives VCCL_ERR_TRUNCATE (what fits is delivered, status.bytes says how much). */

/* Returns when buf may be used again; the message may still be on its way. */
vccl_result_t vccl_send(const void *buf, size_t count, vccl_datatype_t datatype, int dest, int tag, vccl_comm_t comm);
/* source may be VCCL_ANY_SOURCE, tag VCCL_ANY_TAG. status may be VCCL_STATUS_IGNORE. */
vccl_result_t vccl_recv(void *buf, size_t count, vccl_datatype_t datatype, int source, int tag, vccl_comm_t comm,
                        vccl_status_t *status);
vccl_result_t vccl_isend(const void *buf, size_t count, vccl_datatype_t datatype, int dest, int tag, vccl_comm_t comm,
                         vccl_request_t *req_out);
vccl_result_t vccl_irecv(void *buf, size_t count, vccl_datatype_t datatype, int source, int tag, vccl_comm_t comm,
                         vccl_request_t *req_out);
/* Both at once, without deadlock. The buffers must not overlap. */
vccl_result_t vccl_sendrecv(const void *sendbuf, size_t sendcount, vccl_datatype_t sendtype, int dest, int sendtag, void *recvbuf,
                            size_t recvcount, vccl_datatype_t recvtype, int source, int recvtag, vccl_comm_t comm,
                            vccl_status_t *status);
/* Waits for a message that would match, without receiving it / looks for one: *flag_out 1 and status set if there is. */
vccl_result_t vccl_probe(int source, int tag, vccl_comm_t comm, vccl_status_t *status);
vccl_result_t vccl_iprobe(int source, int tag, vccl_comm_t comm, int *flag_out, vccl_status_t *status);
/* status->bytes in elements; VCCL_ERR_ARG if it is not a whole number of them. Local, any thread. */
vccl_result_t vccl_get_count(const vccl_status_t *status, vccl_datatype_t datatype, size_t *count_out);

/* ---- requests ----
 * A completed request is freed and its handle set to VCCL_REQUEST_NULL. A null request is complete at once, with an empty status (source
 * VCCL_ANY_SOURCE, tag VCCL_ANY_TAG, 0 bytes). Each call returns the operation's own error; those on several requests return the first
 * error there is and leave every status filled. `statuses` may be VCCL_STATUSES_IGNORE. One request must not be waited for by two
 * threads at once. */
vccl_result_t vccl_wait(vccl_request_t *req, vccl_status_t *status);
vccl_result_t vccl_test(vccl_request_t *req, int *flag_out, vccl_status_t *status);
vccl_result_t vccl_waitall(int count, vccl_request_t reqs[], vccl_status_t statuses[]);
vccl_result_t vccl_testall(int count, vccl_request_t reqs[], int *flag_out, vccl_status_t statuses[]); /* all or nothing */
/* One that completed; *index_out = VCCL_UNDEFINED when all are null. */
vccl_result_t vccl_waitany(int count, vccl_request_t reqs[], int *index_out, vccl_status_t *status);
vccl_result_t vccl_testany(int count, vccl_request_t reqs[], int *index_out, int *flag_out, vccl_status_t *status);
/* At least one (test: any number): indices[*outcount_out] and statuses in that order; VCCL_UNDEFINED when all are null. */
vccl_result_t vccl_waitsome(int count, vccl_request_t reqs[], int *outcount_out, int indices[], vccl_status_t statuses[]);
vccl_result_t vccl_testsome(int count, vccl_request_t reqs[], int *outcount_out, int indices[], vccl_status_t statuses[]);

/* ---- looking inside ----
 * Writes the report `what` as text (always terminated; cut at cap) and its full length without the terminator to *len_out (may be NULL);
 * buf may be NULL with cap 0 to ask for the length. At any time, any thread. Unknown `what`: VCCL_ERR_ARG, the sentence lists them.
 *   "version" "build" "links" "limits" "env"
 *   "selection"  [":coll=allreduce:np=8"]                    which algorithm runs for which size
 *   "schedule:coll=allreduce:alg=ring:np=4:rank=0:count=1024:type=float32:op=sum:root=0:format=text|dot"
 *   "counters"   this process's messages, bytes, copies, allocations and system calls on the data path */
vccl_result_t vccl_query(const char *what, char *buf, size_t cap, size_t *len_out);

#ifdef __cplusplus
}
#endif
#endif
