/* SPDX-License-Identifier: BSD-3-Clause
 * Point to point: every size class, order, tags, wildcards, probes, truncation, floods in both directions, exchanges that would deadlock if a send waited for its receive. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/job.h"

static const size_t sizes[] = {0, 1, 8, 23, 24, 25, 63, 64, 1000, 8191, 8192, 8193, 65536, 262145, 1 << 20, (3 << 20) + 7};
#define SIZES (sizeof sizes / sizeof sizes[0])
#define MOST ((size_t)4 << 20)

static unsigned char pattern(int from, int tag, size_t i)
{
    return (unsigned char)((size_t)from * 31 + (size_t)tag * 7 + i * 13 + (i >> 8));
}

static void fill(unsigned char *buf, size_t n, int from, int tag)
{
    for (size_t i = 0; i < n; i++)
        buf[i] = pattern(from, tag, i);
}

static int check(const unsigned char *buf, size_t n, int from, int tag)
{
    for (size_t i = 0; i < n; i++)
        CHECK(buf[i] == pattern(from, tag, i), "byte %zu of %zu from %d with tag %d is %d", i, n, from, tag, buf[i]);
    return 0;
}

static int check_status(const vccl_status_t *s, int source, int tag, size_t bytes)
{
    CHECK(s->source == source && s->tag == tag && s->bytes == bytes && s->error == VCCL_SUCCESS,
          "status %d %d %zu (%d), expected %d %d %zu", s->source, s->tag, s->bytes, (int)s->error, source, tag, bytes);
    return 0;
}

/* Every size around the ring, each way to send and receive. */
static int ring(unsigned char *out, unsigned char *in)
{
    int me = job_rank(), n = job_size(), right = (me + 1) % n, left = (me + n - 1) % n;
    vccl_status_t status;
    for (size_t k = 0; k < SIZES; k++) {
        int tag = (int)k;
        vccl_request_t reqs[2];
        fill(out, sizes[k], me, tag);
        memset(in, 0, sizes[k]);
        OK(vccl_sendrecv(out, sizes[k], VCCL_BYTE, right, tag, in, MOST, VCCL_BYTE, left, tag, VCCL_COMM_WORLD, &status));
        if (check_status(&status, left, tag, sizes[k]) || check(in, sizes[k], left, tag))
            return 1;
        memset(in, 0, sizes[k]);
        OK(vccl_isend(out, sizes[k], VCCL_BYTE, right, tag, VCCL_COMM_WORLD, &reqs[0]));
        OK(vccl_irecv(in, sizes[k], VCCL_BYTE, left, VCCL_ANY_TAG, VCCL_COMM_WORLD, &reqs[1]));
        vccl_status_t both[2];
        OK(vccl_waitall(2, reqs, both));
        CHECK(reqs[0] == VCCL_REQUEST_NULL && reqs[1] == VCCL_REQUEST_NULL, "requests are not null after waitall");
        if (check_status(&both[1], left, tag, sizes[k]) || check(in, sizes[k], left, tag))
            return 1;
    }
    return 0;
}

/* Pairs in lockstep: blocking send and receive. */
static int pairs(unsigned char *out, unsigned char *in)
{
    int me = job_rank(), peer = me ^ 1;
    if (peer >= job_size())
        return 0;
    for (size_t k = 0; k < SIZES; k++) {
        fill(out, sizes[k], me, 5);
        if (me & 1) {
            OK(vccl_recv(in, MOST, VCCL_BYTE, peer, 5, VCCL_COMM_WORLD, VCCL_STATUS_IGNORE));
            OK(vccl_send(out, sizes[k], VCCL_BYTE, peer, 5, VCCL_COMM_WORLD));
        } else {
            OK(vccl_send(out, sizes[k], VCCL_BYTE, peer, 5, VCCL_COMM_WORLD));
            OK(vccl_recv(in, MOST, VCCL_BYTE, peer, 5, VCCL_COMM_WORLD, VCCL_STATUS_IGNORE));
        }
        if (check(in, sizes[k], peer, 5))
            return 1;
    }
    return 0;
}

/* Messages with one tag arrive in order; a late tag overtakes all that were sent before it. */
static int order(void)
{
    enum { N = 2000 };
    int me = job_rank(), n = job_size(), got = -1;
    vccl_request_t *reqs = malloc(N * sizeof *reqs);
    int *values = malloc(N * sizeof *values);
    CHECK(reqs && values, "no memory");
    if (me == 0) {
        for (int dest = 1; dest < n; dest++) {
            for (int i = 0; i < N; i++) {
                values[i] = i;
                OK(vccl_isend(&values[i], 1, VCCL_INT32, dest, i == N - 1 ? 2 : 1, VCCL_COMM_WORLD, &reqs[i]));
            }
            OK(vccl_waitall(N, reqs, VCCL_STATUSES_IGNORE));
        }
    } else {
        OK(vccl_recv(&got, 1, VCCL_INT32, 0, 2, VCCL_COMM_WORLD, VCCL_STATUS_IGNORE));
        CHECK(got == N - 1, "the late tag brought %d", got);
        for (int i = 0; i < N - 1; i++) {
            OK(vccl_recv(&got, 1, VCCL_INT32, i % 2 ? VCCL_ANY_SOURCE : 0, i % 3 ? VCCL_ANY_TAG : 1, VCCL_COMM_WORLD, VCCL_STATUS_IGNORE));
            CHECK(got == i, "message %d brought %d", i, got);
        }
    }
    free(reqs);
    free(values);
    OK(vccl_barrier(VCCL_COMM_WORLD));
    return 0;
}

/* Rank 0 takes from anybody; each sender's own messages keep their order. */
static int wildcards(void)
{
    enum { N = 200 };
    int me = job_rank(), n = job_size();
    if (me) {
        for (int i = 0; i < N; i++)
            OK(vccl_send(&i, 1, VCCL_INT32, 0, i, VCCL_COMM_WORLD));
        OK(vccl_barrier(VCCL_COMM_WORLD));
        return 0;
    }
    int *next = calloc((size_t)n, sizeof *next);
    CHECK(next, "no memory");
    for (int k = 0; k < N * (n - 1); k++) {
        int value = -1;
        vccl_status_t s, p;
        if (k % 5 == 0)
            OK(vccl_probe(VCCL_ANY_SOURCE, VCCL_ANY_TAG, VCCL_COMM_WORLD, &p));
        OK(vccl_recv(&value, 1, VCCL_INT32, VCCL_ANY_SOURCE, VCCL_ANY_TAG, VCCL_COMM_WORLD, &s));
        CHECK(s.source > 0 && s.source < n && value == next[s.source] && s.tag == value, "from %d came %d, tag %d, expected %d", s.source, value,
              s.tag, next[s.source]);
        CHECK(k % 5 || (p.source == s.source && p.tag == s.tag && p.bytes == 4), "probe saw %d %d, the receive took %d %d", p.source, p.tag,
              s.source, s.tag);
        next[s.source]++;
    }
    free(next);
    OK(vccl_barrier(VCCL_COMM_WORLD)); /* nobody's next message is taken by the wildcards */
    return 0;
}

/* To oneself, before and after the receive is posted; more than can be kept early. */
static int self(unsigned char *out, unsigned char *in)
{
    int me = job_rank();
    for (size_t k = 0; k < SIZES; k++) {
        vccl_request_t req;
        fill(out, sizes[k], me, 9);
        OK(vccl_isend(out, sizes[k], VCCL_BYTE, 0, 9, VCCL_COMM_SELF, &req));
        OK(vccl_recv(in, MOST, VCCL_BYTE, 0, 9, VCCL_COMM_SELF, VCCL_STATUS_IGNORE));
        OK(vccl_wait(&req, VCCL_STATUS_IGNORE));
        if (check(in, sizes[k], me, 9))
            return 1;
        OK(vccl_irecv(in, MOST, VCCL_BYTE, me, 10, VCCL_COMM_WORLD, &req));
        OK(vccl_send(out, sizes[k], VCCL_BYTE, me, 10, VCCL_COMM_WORLD));
        OK(vccl_wait(&req, VCCL_STATUS_IGNORE));
        if (check(in, sizes[k], me, 9))
            return 1;
    }
    return 0;
}

/* What fits is delivered, the error says so, and the next message is not harmed. */
static int truncation(unsigned char *out, unsigned char *in)
{
    int me = job_rank(), n = job_size(), right = (me + 1) % n, left = (me + n - 1) % n;
    for (size_t k = 2; k < SIZES; k++) {
        vccl_status_t s;
        vccl_request_t req;
        size_t half = sizes[k] / 2;
        fill(out, sizes[k], me, 3);
        memset(in, 0xee, sizes[k]);
        OK(vccl_isend(out, sizes[k], VCCL_BYTE, right, 3, VCCL_COMM_WORLD, &req));
        FAILS(VCCL_ERR_TRUNCATE, vccl_recv(in, half, VCCL_BYTE, left, 3, VCCL_COMM_WORLD, &s));
        CHECK(s.bytes == half && s.source == left && s.error == VCCL_ERR_TRUNCATE, "status says %zu bytes", s.bytes);
        CHECK(in[half] == 0xee, "wrote past the receive buffer of %zu bytes", half);
        if (check(in, half, left, 3))
            return 1;
        OK(vccl_wait(&req, VCCL_STATUS_IGNORE));
    }
    return 0;
}

/* Everybody to everybody, all at once, mixed sizes, received in another order. */
static int flood(uint64_t seed)
{
    enum { EACH = 12 };
    int me = job_rank(), n = job_size(), k = 0;
    size_t total = (size_t)n * EACH;
    vccl_request_t *reqs = malloc(2 * total * sizeof *reqs);
    unsigned char **bufs = calloc(2 * total, sizeof *bufs);
    CHECK(reqs && bufs, "no memory");
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < EACH; i++)
            for (int d = 0; d < n; d++, k++) {
                int peer = (me + d) % n, tag = half ? i : EACH - 1 - i;
                uint64_t state = seed + (uint64_t)(half ? me : peer) * 1000003 + (uint64_t)(half ? peer : me) * 101 + (uint64_t)tag;
                size_t bytes = sizes[job_random(&state) % (SIZES - 3)];
                bufs[k] = malloc(bytes + 1);
                CHECK(bufs[k], "no memory");
                if (half) {
                    fill(bufs[k], bytes, me, tag);
                    OK(vccl_isend(bufs[k], bytes, VCCL_BYTE, peer, tag, VCCL_COMM_WORLD, &reqs[k]));
                } else {
                    OK(vccl_irecv(bufs[k], bytes, VCCL_BYTE, peer, tag, VCCL_COMM_WORLD, &reqs[k]));
                }
            }
    vccl_status_t *statuses = malloc(2 * total * sizeof *statuses);
    CHECK(statuses, "no memory");
    OK(vccl_waitall((int)(2 * total), reqs, statuses));
    for (k = 0; k < (int)total; k++)
        if (check(bufs[k], statuses[k].bytes, (me + k % n) % n, EACH - 1 - k / n))
            return 1;
    for (k = 0; k < (int)(2 * total); k++)
        free(bufs[k]);
    free(bufs);
    free(reqs);
    free(statuses);
    return 0;
}

/* waitany, testany, waitsome, testall over receives that complete one by one. */
static int completion(void)
{
    enum { N = 16 };
    int me = job_rank(), n = job_size(), peer = (me + 1) % n, from = (me + n - 1) % n, values[N], index, flag, count, indices[N];
    vccl_request_t reqs[N];
    vccl_status_t status, statuses[N];
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < N; i++)
            OK(vccl_irecv(&values[i], 1, VCCL_INT32, from, i, VCCL_COMM_WORLD, &reqs[i]));
        for (int i = N; i-- > 0;)
            OK(vccl_send(&i, 1, VCCL_INT32, peer, i, VCCL_COMM_WORLD));
        for (int left = N; left > 0;) {
            if (round == 0) {
                OK(vccl_waitany(N, reqs, &index, &status));
                CHECK(index >= 0 && index < N && values[index] == index && status.tag == index, "waitany gave %d", index);
                left--;
            } else if (round == 1) {
                OK(vccl_testany(N, reqs, &index, &flag, &status));
                left -= flag;
                CHECK(!flag || values[index] == index, "testany gave %d", index);
            } else if (round == 2) {
                OK(vccl_waitsome(N, reqs, &count, indices, statuses));
                CHECK(count > 0 && count <= left, "waitsome gave %d of %d", count, left);
                for (int i = 0; i < count; i++)
                    CHECK(values[indices[i]] == indices[i] && statuses[i].tag == indices[i], "waitsome mixed up %d", indices[i]);
                left -= count;
            } else {
                OK(vccl_testall(N, reqs, &flag, statuses));
                left = flag ? 0 : left;
            }
        }
        OK(vccl_waitany(N, reqs, &index, &status));
        CHECK(index == VCCL_UNDEFINED, "waitany of nothing gave %d", index);
        OK(vccl_testsome(N, reqs, &count, indices, statuses));
        CHECK(count == VCCL_UNDEFINED, "testsome of nothing gave %d", count);
    }
    return 0;
}

static int nobody(void)
{
    int x = 7;
    vccl_status_t s;
    vccl_request_t req;
    OK(vccl_send(&x, 1, VCCL_INT32, VCCL_PROC_NULL, 0, VCCL_COMM_WORLD));
    OK(vccl_recv(&x, 1, VCCL_INT32, VCCL_PROC_NULL, 0, VCCL_COMM_WORLD, &s));
    CHECK(x == 7 && s.source == VCCL_PROC_NULL && s.tag == VCCL_ANY_TAG && s.bytes == 0, "receive from nobody: %d %d %zu", s.source, s.tag,
          s.bytes);
    OK(vccl_irecv(&x, 1, VCCL_INT32, VCCL_PROC_NULL, 0, VCCL_COMM_WORLD, &req));
    OK(vccl_wait(&req, &s));
    CHECK(s.source == VCCL_PROC_NULL, "irecv from nobody: source %d", s.source);
    return 0;
}

static int messages(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    unsigned char *out = malloc(MOST), *in = malloc(MOST);
    CHECK(out && in, "no memory");
    if (ring(out, in) || pairs(out, in) || order() || wildcards() || self(out, in) || truncation(out, in) || flood(seed) || completion() || nobody())
        return 1;
    if (job_rank() == 0)
        printf("messages: all well on %d ranks\n", job_size());
    free(out);
    free(in);
    return 0;
}

int main(int argc, char **argv)
{
    return job_main(argc, argv, messages);
}
