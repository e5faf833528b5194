/* SPDX-License-Identifier: BSD-3-Clause
 * No argument but a bad pointer crashes: each wrong call gives a code and a sentence, harms nothing, and the job goes on. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/job.h"

#define ARG(call) FAILS(VCCL_ERR_ARG, call)
#define BAD_COMM ((vccl_comm_t)(uintptr_t)0x123456789abc)
#define BAD_REQ ((vccl_request_t)(uintptr_t)0xdeadbeef0)

static _Thread_local float a[64], b[64]; /* ranks may be threads */

static int bad_comms(void)
{
    vccl_comm_t comm = VCCL_COMM_NULL, freed;
    int x;
    ARG(vccl_barrier(VCCL_COMM_NULL));
    ARG(vccl_barrier(BAD_COMM));
    ARG(vccl_comm_rank(BAD_COMM, &x));
    ARG(vccl_comm_rank(VCCL_COMM_WORLD, NULL));
    ARG(vccl_comm_size(VCCL_COMM_NULL, &x));
    ARG(vccl_comm_dup(BAD_COMM, &comm));
    ARG(vccl_comm_dup(VCCL_COMM_WORLD, NULL));
    ARG(vccl_comm_split(VCCL_COMM_WORLD, -3, 0, &comm));
    ARG(vccl_comm_free(NULL));
    ARG(vccl_comm_free(&comm));
    comm = VCCL_COMM_WORLD;
    ARG(vccl_comm_free(&comm));
    comm = VCCL_COMM_SELF;
    ARG(vccl_comm_free(&comm));
    OK(vccl_comm_dup(VCCL_COMM_WORLD, &comm));
    freed = comm;
    OK(vccl_comm_free(&comm));
    CHECK(comm == VCCL_COMM_NULL, "not null after free");
    ARG(vccl_barrier(freed));
    ARG(vccl_send(a, 1, VCCL_FLOAT32, 0, 0, freed));
    ARG(vccl_comm_free(&freed));
    return 0;
}

static int bad_collectives(void)
{
    int n = job_size(), me = job_rank();
    vccl_request_t req = VCCL_REQUEST_NULL;
    ARG(vccl_bcast(a, 1, VCCL_FLOAT32, -1, VCCL_COMM_WORLD));
    ARG(vccl_bcast(a, 1, VCCL_FLOAT32, n, VCCL_COMM_WORLD));
    ARG(vccl_bcast(a, 1, (vccl_datatype_t)999, 0, VCCL_COMM_WORLD));
    ARG(vccl_bcast(a, 1, VCCL_DATATYPE_NULL, 0, VCCL_COMM_WORLD));
    ARG(vccl_bcast(a, 1, (vccl_datatype_t)-5, 0, VCCL_COMM_WORLD));
    ARG(vccl_bcast(NULL, 1, VCCL_FLOAT32, 0, VCCL_COMM_WORLD));
    ARG(vccl_bcast(VCCL_IN_PLACE, 1, VCCL_FLOAT32, 0, VCCL_COMM_WORLD));
    ARG(vccl_bcast(a, SIZE_MAX / 2, VCCL_FLOAT32, 0, VCCL_COMM_WORLD));
    ARG(vccl_allreduce(a, b, (size_t)-1, VCCL_FLOAT32, VCCL_SUM, VCCL_COMM_WORLD));
    ARG(vccl_allreduce(a, a, 4, VCCL_FLOAT32, VCCL_SUM, VCCL_COMM_WORLD));
    ARG(vccl_allreduce(a, a + 3, 4, VCCL_FLOAT32, VCCL_SUM, VCCL_COMM_WORLD));
    ARG(vccl_allreduce(a, b, 4, VCCL_FLOAT32, VCCL_BAND, VCCL_COMM_WORLD));
    ARG(vccl_allreduce(a, b, 4, VCCL_FLOAT32, VCCL_MINLOC, VCCL_COMM_WORLD));
    ARG(vccl_allreduce(a, b, 4, VCCL_FLOAT32, (vccl_op_t)77, VCCL_COMM_WORLD));
    ARG(vccl_allreduce(a, b, 4, VCCL_FLOAT32, (vccl_op_t)(1 << 30 | 300), VCCL_COMM_WORLD));
    ARG(vccl_allreduce(a, VCCL_IN_PLACE, 4, VCCL_FLOAT32, VCCL_SUM, VCCL_COMM_WORLD));
    ARG(vccl_allreduce(NULL, b, 4, VCCL_FLOAT32, VCCL_SUM, VCCL_COMM_WORLD));
    ARG(vccl_reduce(a, a, 4, VCCL_FLOAT32, VCCL_SUM, me, VCCL_COMM_WORLD));
    ARG(vccl_reduce(a, b, 4, VCCL_FLOAT32, VCCL_SUM, n + 5, VCCL_COMM_WORLD));
    ARG(vccl_reduce_scatter_block(a, a, 1, VCCL_FLOAT32, VCCL_SUM, VCCL_COMM_WORLD));
    ARG(vccl_gather(a, 2, VCCL_FLOAT32, b, 1, VCCL_FLOAT32, me, VCCL_COMM_WORLD));
    ARG(vccl_gather(VCCL_IN_PLACE, 1, VCCL_FLOAT32, b, 1, VCCL_FLOAT32, n, VCCL_COMM_WORLD));
    ARG(vccl_scatter(VCCL_IN_PLACE, 1, VCCL_FLOAT32, b, 1, VCCL_FLOAT32, me, VCCL_COMM_WORLD));
    ARG(vccl_allgather(a, 2, VCCL_FLOAT32, b, 1, VCCL_FLOAT32, VCCL_COMM_WORLD));
    ARG(vccl_alltoall(a, 1, VCCL_FLOAT32, a, 1, VCCL_FLOAT32, VCCL_COMM_WORLD));
    ARG(vccl_iallreduce(a, b, 4, VCCL_FLOAT32, VCCL_SUM, VCCL_COMM_WORLD, NULL));
    ARG(vccl_iallreduce(a, a, 4, VCCL_FLOAT32, VCCL_SUM, VCCL_COMM_WORLD, &req));
    ARG(vccl_ibarrier(VCCL_COMM_NULL, &req));
    if (n > 1) {
        ARG(vccl_reduce(VCCL_IN_PLACE, b, 4, VCCL_FLOAT32, VCCL_SUM, (me + 1) % n, VCCL_COMM_WORLD));
        ARG(vccl_gather(VCCL_IN_PLACE, 1, VCCL_FLOAT32, b, 1, VCCL_FLOAT32, (me + 1) % n, VCCL_COMM_WORLD));
        ARG(vccl_scatter(a, 1, VCCL_FLOAT32, VCCL_IN_PLACE, 1, VCCL_FLOAT32, (me + 1) % n, VCCL_COMM_WORLD));
    }
    CHECK(strstr(vccl_last_error(), "vccl_"), "the sentence does not name the call: %s", vccl_last_error());
    return 0;
}

static int bad_messages(void)
{
    int n = job_size(), flag;
    vccl_status_t s = {.bytes = 7};
    vccl_request_t req = VCCL_REQUEST_NULL;
    size_t count;
    ARG(vccl_send(a, 1, VCCL_FLOAT32, n, 0, VCCL_COMM_WORLD));
    ARG(vccl_send(a, 1, VCCL_FLOAT32, -7, 0, VCCL_COMM_WORLD));
    ARG(vccl_send(a, 1, VCCL_FLOAT32, VCCL_ANY_SOURCE, 0, VCCL_COMM_WORLD));
    ARG(vccl_send(a, 1, VCCL_FLOAT32, 0, -1, VCCL_COMM_WORLD));
    ARG(vccl_send(NULL, 1, VCCL_FLOAT32, 0, 0, VCCL_COMM_WORLD));
    ARG(vccl_send(a, SIZE_MAX, VCCL_FLOAT32, 0, 0, VCCL_COMM_WORLD));
    ARG(vccl_recv(a, 1, VCCL_FLOAT32, n, 0, VCCL_COMM_WORLD, &s));
    ARG(vccl_recv(a, 1, VCCL_FLOAT32, 0, -2, VCCL_COMM_WORLD, &s));
    ARG(vccl_isend(a, 1, VCCL_FLOAT32, 0, 0, VCCL_COMM_WORLD, NULL));
    ARG(vccl_irecv(a, 1, (vccl_datatype_t)1000, 0, 0, VCCL_COMM_WORLD, &req));
    ARG(vccl_sendrecv(a, 4, VCCL_FLOAT32, 0, 0, a + 2, 4, VCCL_FLOAT32, 0, 0, VCCL_COMM_WORLD, &s));
    ARG(vccl_probe(n, 0, VCCL_COMM_WORLD, &s));
    ARG(vccl_iprobe(0, 0, VCCL_COMM_WORLD, NULL, &s));
    ARG(vccl_get_count(&s, VCCL_FLOAT32, &count));
    ARG(vccl_get_count(NULL, VCCL_FLOAT32, &count));
    OK(vccl_iprobe(VCCL_ANY_SOURCE, VCCL_ANY_TAG, VCCL_COMM_WORLD, &flag, &s));
    CHECK(!flag, "iprobe sees a message that nobody sent");
    return 0;
}

static int bad_requests(void)
{
    vccl_request_t bad = BAD_REQ, null = VCCL_REQUEST_NULL, twice[2], old;
    vccl_status_t s;
    int flag, index, x = 0, y = 5;
    ARG(vccl_wait(&bad, &s));
    ARG(vccl_wait(NULL, &s));
    ARG(vccl_test(&bad, &flag, &s));
    ARG(vccl_test(&null, NULL, &s));
    ARG(vccl_waitall(-1, &bad, &s));
    ARG(vccl_waitall(2, NULL, &s));
    ARG(vccl_waitall(1, &bad, &s));
    ARG(vccl_waitany(1, &bad, &index, &s));
    ARG(vccl_waitany(1, &null, NULL, &s));
    OK(vccl_wait(&null, &s));
    CHECK(s.source == VCCL_ANY_SOURCE && s.bytes == 0, "a null request's status");
    OK(vccl_waitall(0, NULL, VCCL_STATUSES_IGNORE));
    OK(vccl_irecv(&x, 1, VCCL_INT32, 0, 1, VCCL_COMM_SELF, &twice[0]));
    old = twice[1] = twice[0];
    OK(vccl_send(&y, 1, VCCL_INT32, 0, 1, VCCL_COMM_SELF));
    OK(vccl_waitall(2, twice, VCCL_STATUSES_IGNORE)); /* one request given twice */
    CHECK(x == 5, "received %d", x);
    ARG(vccl_wait(&old, &s)); /* freed */
    return 0;
}

static int bad_rest(void)
{
    vccl_op_t op = VCCL_SUM;
    void *p;
    size_t n;
    float two = 2;
    char text[8];
    ARG(vccl_op_create_premul_sum(NULL, VCCL_FLOAT32, &op));
    ARG(vccl_op_create_premul_sum(&two, VCCL_BYTE, &op));
    ARG(vccl_op_create_premul_sum(&two, VCCL_FLOAT32_INT32, &op));
    ARG(vccl_op_free(&op));
    ARG(vccl_op_free(NULL));
    OK(vccl_op_create_premul_sum(&two, VCCL_FLOAT32, &op));
    ARG(vccl_allreduce(a, b, 4, VCCL_FLOAT64, op, VCCL_COMM_SELF));
    a[0] = 3;
    OK(vccl_allreduce(a, b, 1, VCCL_FLOAT32, op, VCCL_COMM_SELF));
    CHECK(b[0] == 6, "premultiplied sum gave %g", b[0]);
    vccl_op_t old = op;
    OK(vccl_op_free(&op));
    ARG(vccl_allreduce(a, b, 1, VCCL_FLOAT32, old, VCCL_COMM_SELF));
    ARG(vccl_op_free(&old));
    ARG(vccl_type_size((vccl_datatype_t)500, &n));
    ARG(vccl_mem_alloc(SIZE_MAX, &p));
    ARG(vccl_mem_alloc(1, NULL));
    ARG(vccl_mem_free(a));
    OK(vccl_mem_free(NULL));
    ARG(vccl_query("nonsense", NULL, 0, &n));
    ARG(vccl_query(NULL, text, sizeof text, &n));
    ARG(vccl_query("schedule:coll=wrong", text, sizeof text, &n));
    ARG(vccl_query("schedule:coll=bcast:alg=wrong", text, sizeof text, &n));
    OK(vccl_query("env", text, sizeof text, &n));
    CHECK(n > sizeof text && strlen(text) == sizeof text - 1, "a cut report: %zu", n);
    FAILS(VCCL_ERR_STATE, vccl_init());
    CHECK(vccl_type_name((vccl_datatype_t)99) == NULL && vccl_op_name((vccl_op_t)99) == NULL, "names of nothing");
    CHECK(strcmp(vccl_strerror((vccl_result_t)12345), "unknown result code") == 0, "strerror");
    return 0;
}

/* Requests still open: finalize and free refuse, and work again afterwards. */
static int open_requests(void)
{
    vccl_comm_t comm;
    vccl_request_t req;
    int x = 0, y = 1, me = job_rank();
    OK(vccl_comm_dup(VCCL_COMM_WORLD, &comm));
    OK(vccl_irecv(&x, 1, VCCL_INT32, me, 4, comm, &req));
    FAILS(VCCL_ERR_STATE, vccl_comm_free(&comm));
    FAILS(VCCL_ERR_STATE, vccl_finalize());
    OK(vccl_send(&y, 1, VCCL_INT32, me, 4, comm));
    OK(vccl_wait(&req, VCCL_STATUS_IGNORE));
    OK(vccl_comm_free(&comm));
    return 0;
}

static int errors(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    if (bad_comms() || bad_collectives() || bad_messages() || bad_requests() || bad_rest() || open_requests())
        return 1;
    for (int i = 0; i < 64; i++)
        a[i] = 1;
    OK(vccl_allreduce(a, b, 64, VCCL_FLOAT32, VCCL_SUM, VCCL_COMM_WORLD));
    CHECK(b[63] == (float)job_size(), "after all that: %g", b[63]);
    if (job_rank() == 0)
        printf("errors: every bad call was refused on %d ranks\n", job_size());
    return 0;
}

int main(int argc, char **argv)
{
    int x, n;
    if (vccl_barrier(VCCL_COMM_WORLD) != VCCL_ERR_STATE || vccl_comm_rank(VCCL_COMM_WORLD, &x) != VCCL_ERR_STATE ||
        vccl_finalize() != VCCL_ERR_STATE || vccl_send(&x, 1, VCCL_INT32, 0, 0, VCCL_COMM_SELF) != VCCL_ERR_STATE) {
        fprintf(stderr, "calls before vccl_init are not refused\n");
        return 1;
    }
    int failed = job_main(argc, argv, errors);
    if (getenv("VCCL_JOB_FAKE"))
        return failed; /* this thread was no rank */
    if (vccl_finalized(&n) != VCCL_SUCCESS || vccl_barrier(VCCL_COMM_WORLD) != VCCL_ERR_STATE || vccl_init() != VCCL_ERR_STATE) {
        fprintf(stderr, "calls after vccl_finalize are not refused\n");
        return 1;
    }
    return failed;
}
