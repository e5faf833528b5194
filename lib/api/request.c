/* SPDX-License-Identifier: BSD-3-Clause
 * Requests: what a nonblocking call gives back, and the ways to wait for it. */
#include <stdlib.h>
#include <string.h>

#include "lib/api/ctx.h"
#include "lib/api/request.h"
#include "lib/api/result.h"

struct vcci_request *vcci_request_create(struct vcci_comm *comm, int kind)
{
    struct vcci_ctx *ctx = comm->ctx;
    pthread_mutex_lock(&ctx->lock);
    struct vcci_request *req = vcci_pool_get(&ctx->request_pool);
    pthread_mutex_unlock(&ctx->lock);
    if (!req) {
        vcci_fail(VCCL_ERR_NO_MEMORY, "out of memory for a request");
        return NULL;
    }
    memset(req, 0, sizeof *req);
    req->comm = comm;
    req->kind = (uint8_t)kind;
    if (vcci_handles_alloc(&ctx->requests_table, req, &req->handle)) {
        pthread_mutex_lock(&ctx->lock);
        vcci_pool_put(&ctx->request_pool, req);
        pthread_mutex_unlock(&ctx->lock);
        return NULL;
    }
    atomic_fetch_add(&comm->requests, 1);
    return req;
}

void vcci_request_complete(struct vcci_request *req, int status)
{
    req->status = status;
    if (status)
        req->text = strdup(vcci_err_text());
    atomic_store_explicit(&req->over, 1, memory_order_release);
}

void vcci_request_destroy(struct vcci_request *req)
{
    struct vcci_ctx *ctx = req->comm->ctx;
    vcci_handles_free(&ctx->requests_table, req->handle);
    atomic_fetch_sub(&req->comm->requests, 1);
    free(req->text);
    free(req->temp);
    pthread_mutex_lock(&ctx->lock);
    vcci_pool_put(&ctx->request_pool, req);
    pthread_mutex_unlock(&ctx->lock);
}

/* ---- looking at handles ---- */

static void empty_status(vccl_status_t *status)
{
    if (status)
        *status = (vccl_status_t){.source = VCCL_ANY_SOURCE, .tag = VCCL_ANY_TAG, .error = VCCL_SUCCESS, .bytes = 0};
}

/* What a handle stands for: 1 a request (*req_out), 0 nothing to wait for, < 0 no handle. */
static int look(struct vcci_ctx *ctx, vccl_request_t handle, const char *call, struct vcci_request **req_out)
{
    *req_out = NULL;
    if (handle == VCCL_REQUEST_NULL || handle == VCCI_REQUEST_DONE)
        return 0;
    *req_out = vcci_handles_get(&ctx->requests_table, (uint64_t)(uintptr_t)handle);
    if (*req_out)
        return 1;
    return vcci_fail(VCCL_ERR_ARG, "%s: %p is not a request, or one that has completed", call, (void *)handle);
}

static int is_over(const struct vcci_request *req)
{
    return atomic_load_explicit(&req->over, memory_order_acquire);
}

/* Takes a completed request's result and frees it. */
static int collect(struct vcci_request *req, vccl_request_t *handle, vccl_status_t *status)
{
    int err = req->status;
    empty_status(status);
    if (req->kind == VCCI_REQ_RECV && status)
        vcci_fill_status(&req->xfer, err, status);
    if (err)
        vcci_err_set_text(req->text && req->text[0] ? req->text : vccl_strerror((vccl_result_t)-err));
    if (status)
        status->error = (vccl_result_t)-err;
    vcci_request_destroy(req);
    *handle = VCCL_REQUEST_NULL;
    return err;
}

/* ---- waiting ---- */

struct set { /* requests of one call; NULL entries are nothing to wait for */
    struct vcci_request **reqs;
    int n, all;
};

static int set_ready(void *arg)
{
    const struct set *s = arg;
    for (int i = 0; i < s->n; i++) {
        if (!s->reqs[i])
            continue;
        int over = is_over(s->reqs[i]);
        if (over != s->all)
            return !s->all;
    }
    return s->all;
}

static int wait_set(struct vcci_ctx *ctx, const struct set *s, const char *call)
{
    struct vcci_waiter w = {.ready = set_ready, .arg = (void *)(uintptr_t)s};
    if (set_ready(w.arg) || !vcci_engine_wait(ctx->engine, &w, vcci_deadline(ctx)))
        return 0;
    return vcci_fail(VCCL_ERR_TIMEOUT, "%s: the operation did not complete in time; it is still under way", call);
}

/* Gives the engine a chance: the test calls' way to make progress. */
static void nudge(struct vcci_ctx *ctx)
{
    if (vcci_engine_trylock(ctx->engine)) {
        vcci_engine_poll(ctx->engine, 64);
        vcci_engine_unlock(ctx->engine);
    }
}

static int check_array(struct vcci_ctx *ctx, const char *call, int count, vccl_request_t reqs[], struct set *set_out)
{
    if (!ctx)
        return -VCCL_ERR_STATE;
    if (count < 0 || (count && !reqs))
        return vcci_fail(VCCL_ERR_ARG, "%s: count is %d%s", call, count, reqs ? "" : " and the array is NULL");
    set_out->n = count;
    set_out->reqs = calloc(count ? (size_t)count : 1, sizeof *set_out->reqs);
    if (!set_out->reqs)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "%s: out of memory for %d requests", call, count);
    for (int i = 0; i < count; i++) {
        int err = look(ctx, reqs[i], call, &set_out->reqs[i]);
        if (err < 0) {
            free(set_out->reqs);
            return err;
        }
    }
    return 0;
}

API vccl_result_t vccl_wait(vccl_request_t *handle, vccl_status_t *status)
{
    struct vcci_ctx *ctx = vcci_ctx_running("vccl_wait");
    struct vcci_request *req;
    if (!ctx)
        return VCCL_ERR_STATE;
    if (!handle)
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_wait: req is NULL"));
    int kind = look(ctx, *handle, "vccl_wait", &req);
    if (kind < 0)
        return VCCL_ERR_ARG;
    if (kind == 0) {
        empty_status(status);
        *handle = VCCL_REQUEST_NULL;
        return VCCL_SUCCESS;
    }
    struct set s = {.reqs = &req, .n = 1, .all = 1};
    int err = wait_set(ctx, &s, "vccl_wait");
    return vcci_result(err ? err : collect(req, handle, status));
}

API vccl_result_t vccl_test(vccl_request_t *handle, int *flag_out, vccl_status_t *status)
{
    struct vcci_ctx *ctx = vcci_ctx_running("vccl_test");
    struct vcci_request *req;
    if (!ctx)
        return VCCL_ERR_STATE;
    if (!handle || !flag_out)
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_test: %s is NULL", handle ? "flag_out" : "req"));
    int kind = look(ctx, *handle, "vccl_test", &req);
    if (kind < 0)
        return VCCL_ERR_ARG;
    if (kind && !is_over(req))
        nudge(ctx);
    *flag_out = !kind || is_over(req);
    if (kind && *flag_out)
        return vcci_result(collect(req, handle, status));
    if (!kind) {
        empty_status(status);
        *handle = VCCL_REQUEST_NULL;
    }
    return VCCL_SUCCESS;
}

/* Is entry i still what it was: not so if the caller gave one request twice and the first place has freed it. */
static int still_there(struct vcci_ctx *ctx, const struct set *s, const vccl_request_t reqs[], int i)
{
    return s->reqs[i] && vcci_handles_get(&ctx->requests_table, (uint64_t)(uintptr_t)reqs[i]) == s->reqs[i];
}

/* Collects every entry of a set that is over, or nothing to wait for; the first error there is. */
static int collect_all(struct vcci_ctx *ctx, struct set *s, vccl_request_t reqs[], vccl_status_t statuses[])
{
    int first = 0;
    char text[512] = "";
    for (int i = 0; i < s->n; i++) {
        vccl_status_t *status = statuses ? &statuses[i] : NULL;
        int err = 0;
        if (still_there(ctx, s, reqs, i))
            err = collect(s->reqs[i], &reqs[i], status);
        else
            empty_status(status);
        reqs[i] = VCCL_REQUEST_NULL;
        if (err && !first) {
            first = err;
            strncpy(text, vcci_err_text(), sizeof text - 1);
        }
    }
    if (first)
        vcci_err_set_text(text);
    return first;
}

API vccl_result_t vccl_waitall(int count, vccl_request_t reqs[], vccl_status_t statuses[])
{
    struct vcci_ctx *ctx = vcci_ctx_running("vccl_waitall");
    struct set s = {.all = 1};
    int err = check_array(ctx, "vccl_waitall", count, reqs, &s);
    if (err)
        return vcci_result(err);
    err = wait_set(ctx, &s, "vccl_waitall");
    if (!err)
        err = collect_all(ctx, &s, reqs, statuses);
    free(s.reqs);
    return vcci_result(err);
}

API vccl_result_t vccl_testall(int count, vccl_request_t reqs[], int *flag_out, vccl_status_t statuses[])
{
    struct vcci_ctx *ctx = vcci_ctx_running("vccl_testall");
    struct set s = {.all = 1};
    if (ctx && !flag_out)
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_testall: flag_out is NULL"));
    int err = check_array(ctx, "vccl_testall", count, reqs, &s);
    if (err)
        return vcci_result(err);
    if (!set_ready(&s))
        nudge(ctx);
    *flag_out = set_ready(&s);
    if (*flag_out)
        err = collect_all(ctx, &s, reqs, statuses);
    free(s.reqs);
    return vcci_result(err);
}

/* ---- any and some ---- */

static int any_active(const struct set *s, const vccl_request_t reqs[])
{
    for (int i = 0; i < s->n; i++)
        if (s->reqs[i] || reqs[i] == VCCI_REQUEST_DONE)
            return 1;
    return 0;
}

/* A send that was over at once has no request object: its place in the array counts as completed. */
static int has_done(const struct set *s, const vccl_request_t reqs[])
{
    for (int i = 0; i < s->n; i++)
        if (reqs[i] == VCCI_REQUEST_DONE)
            return 1;
    return 0;
}

/* Collects up to `most` that are over; indices in order. */
static int collect_some(struct vcci_ctx *ctx, struct set *s, vccl_request_t reqs[], int most, int *n_out, int indices[], vccl_status_t statuses[])
{
    int n = 0, first = 0;
    char text[512] = "";
    for (int i = 0; i < s->n && n < most; i++) {
        vccl_status_t *status = statuses ? &statuses[n] : NULL;
        int err = 0;
        if (reqs[i] == VCCI_REQUEST_DONE)
            empty_status(status);
        else if (still_there(ctx, s, reqs, i) && is_over(s->reqs[i]))
            err = collect(s->reqs[i], &reqs[i], status);
        else
            continue;
        reqs[i] = VCCL_REQUEST_NULL;
        indices[n++] = i;
        if (err && !first) {
            first = err;
            strncpy(text, vcci_err_text(), sizeof text - 1);
        }
    }
    if (first)
        vcci_err_set_text(text);
    *n_out = n;
    return first;
}

/* The four calls differ in how many they take and whether they wait. */
static int some(const char *call, int count, vccl_request_t reqs[], int most, int wait, int *n_out, int indices[],
                vccl_status_t statuses[])
{
    struct vcci_ctx *ctx = vcci_ctx_running(call);
    struct set s = {.all = 0};
    int err = check_array(ctx, call, count, reqs, &s);
    if (err)
        return err;
    if (!any_active(&s, reqs)) {
        *n_out = VCCL_UNDEFINED;
        if (most == 1)
            empty_status(statuses);
        free(s.reqs);
        return 0;
    }
    if (!has_done(&s, reqs) && !set_ready(&s)) {
        if (wait)
            err = wait_set(ctx, &s, call);
        else
            nudge(ctx);
    }
    if (!err)
        err = collect_some(ctx, &s, reqs, most, n_out, indices, statuses);
    free(s.reqs);
    return err;
}

API vccl_result_t vccl_waitany(int count, vccl_request_t reqs[], int *index_out, vccl_status_t *status)
{
    int n = 0, index = VCCL_UNDEFINED;
    if (!index_out && vcci_ctx_running("vccl_waitany"))
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_waitany: index_out is NULL"));
    int err = some("vccl_waitany", count, reqs, 1, 1, &n, &index, status);
    if (!err || n == 1)
        *index_out = index;
    return vcci_result(err);
}

API vccl_result_t vccl_testany(int count, vccl_request_t reqs[], int *index_out, int *flag_out, vccl_status_t *status)
{
    int n = 0, index = VCCL_UNDEFINED;
    if ((!index_out || !flag_out) && vcci_ctx_running("vccl_testany"))
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_testany: %s is NULL", index_out ? "flag_out" : "index_out"));
    int err = some("vccl_testany", count, reqs, 1, 0, &n, &index, status);
    if (!err || n == 1) {
        *flag_out = n != 0; /* one completed, or there is none to wait for */
        *index_out = index;
    }
    return vcci_result(err);
}

API vccl_result_t vccl_waitsome(int count, vccl_request_t reqs[], int *outcount_out, int indices[], vccl_status_t statuses[])
{
    if ((!outcount_out || (count > 0 && !indices)) && vcci_ctx_running("vccl_waitsome"))
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_waitsome: %s is NULL", outcount_out ? "indices" : "outcount_out"));
    return vcci_result(some("vccl_waitsome", count, reqs, count < 2 ? 2 : count, 1, outcount_out, indices, statuses));
}

API vccl_result_t vccl_testsome(int count, vccl_request_t reqs[], int *outcount_out, int indices[], vccl_status_t statuses[])
{
    if ((!outcount_out || (count > 0 && !indices)) && vcci_ctx_running("vccl_testsome"))
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_testsome: %s is NULL", outcount_out ? "indices" : "outcount_out"));
    return vcci_result(some("vccl_testsome", count, reqs, count < 2 ? 2 : count, 0, outcount_out, indices, statuses));
}
