/* SPDX-License-Identifier: BSD-3-Clause
 * A PMIx client. Every request is the nonblocking one with a callback that copies, posts and returns, so that each wait has an end of ours: a stopped
 * server or one of another make must not hang a rank for ever. A request that was given up is freed by its late callback.
 */
#include "pmix/boot.h"

#include <pmix.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/env.h"
#include "lib/base/err.h"
#include "lib/base/futex.h"

#define SERVER_SECONDS 60     /* a server that does not answer a local request for so long is gone */
#define ABORT_SECONDS 10      /* likewise, when there is nothing to lose */
#define RETRY_FIRST_NS 500000 /* pauses between questions for data that is not there yet */
#define RETRY_LAST_NS 20000000

struct pmix_boot {
    struct vcci_boot boot; /* first */
    pmix_proc_t self;
    int *host_ranks;
    size_t handlers[2]; /* event handlers' references */
    int n_handlers;
};

/* One answer that somebody waits for. Two owners: who asked and the callback. */
struct reply {
    _Atomic uint32_t done;
    _Atomic int owners;
    pmix_status_t status;
    size_t ref;              /* of an event handler */
    pmix_byte_object_t data; /* a copy of what a get brought */
};

/* The one death handler of this process: PMIx calls event handlers without an argument of ours. */
static struct {
    pthread_mutex_t mutex;
    void (*fn)(void *arg, int rank);
    void *arg;
    char nspace[PMIX_MAX_NSLEN + 1];
} death = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static struct pmix_boot *pmix_boot(struct vcci_boot *boot)
{
    return (struct pmix_boot *)boot;
}

static struct reply *reply_create(void)
{
    struct reply *reply = calloc(1, sizeof *reply);

    if (reply)
        reply->owners = 2;
    return reply;
}

static void reply_release(struct reply *reply)
{
    if (atomic_fetch_sub(&reply->owners, 1) > 1)
        return;
    free(reply->data.bytes);
    free(reply);
}

/* The request was refused before it began: no callback will come. */
static void reply_drop(struct reply *reply)
{
    reply_release(reply);
    reply_release(reply);
}

static void raise_flag(_Atomic uint32_t *flag)
{
    atomic_store_explicit(flag, 1, memory_order_release);
    vcci_futex_wake_all(flag);
}

/* 1 when the flag is up, 0 at deadline_ns (0: never). */
static int wait_flag(_Atomic uint32_t *flag, int64_t deadline_ns)
{
    while (!atomic_load_explicit(flag, memory_order_acquire)) {
        int64_t left = deadline_ns ? deadline_ns - vcci_now_ns() : -1;
        if (deadline_ns && left <= 0)
            return 0;
        vcci_futex_wait(flag, 0, left);
    }
    return 1;
}

static void reply_done(pmix_status_t status, void *arg)
{
    struct reply *reply = arg;

    reply->status = status;
    raise_flag(&reply->done);
    reply_release(reply);
}

static void reply_registered(pmix_status_t status, size_t ref, void *arg)
{
    ((struct reply *)arg)->ref = ref;
    reply_done(status, arg);
}

static void reply_value(pmix_status_t status, pmix_value_t *value, void *arg)
{
    struct reply *reply = arg;

    if (status == PMIX_SUCCESS && (!value || value->type != PMIX_BYTE_OBJECT))
        status = PMIX_ERR_TYPE_MISMATCH;
    if (status == PMIX_SUCCESS && value->data.bo.size > 0) {
        reply->data.bytes = malloc(value->data.bo.size);
        if (!reply->data.bytes)
            status = PMIX_ERR_NOMEM;
        else
            memcpy(reply->data.bytes, value->data.bo.bytes, value->data.bo.size);
        reply->data.size = value->data.bo.size;
    }
    reply_done(status, reply);
}

static int64_t deadline_in(double seconds)
{
    return vcci_now_ns() + (int64_t)(seconds * 1e9);
}

static int pmix_failed(pmix_status_t status, const char *what)
{
    return vcci_fail(VCCL_ERR_BOOTSTRAP, "%s: PMIx says %s (%d)", what, PMIx_Error_string(status), status);
}

/* --- who and where ------------------------------------------------------------------------------------------------------------------- */

static int job_number(const pmix_proc_t *proc, const char *key, int *out)
{
    pmix_value_t *value = NULL;
    pmix_status_t status = PMIx_Get(proc, key, NULL, 0, &value);

    if (status == PMIX_SUCCESS) {
        PMIX_VALUE_GET_NUMBER(status, value, *out, int);
        PMIX_VALUE_RELEASE(value);
    }
    return status == PMIX_SUCCESS ? 0 : pmix_failed(status, key);
}

static int rank_compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

/* "0,1,5" into host_ranks, sorted. */
static int parse_peers(struct pmix_boot *self, const char *text)
{
    size_t commas = 0;
    struct vcci_boot *boot = &self->boot;

    for (const char *c = text; *c; c++)
        commas += *c == ',';
    self->host_ranks = malloc((commas + 1) * sizeof *self->host_ranks);
    if (!self->host_ranks)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for the %zu ranks of this host", commas + 1);
    for (const char *at = text; boot->local_size <= (int)commas; at++) {
        char *end;
        long rank = strtol(at, &end, 10);
        if (end == at || (*end && *end != ',') || rank < 0 || rank >= boot->size)
            return vcci_fail(VCCL_ERR_BOOTSTRAP, "the launcher's list of local ranks makes no sense: %s", text);
        self->host_ranks[boot->local_size++] = (int)rank;
        at = end;
    }
    qsort(self->host_ranks, (size_t)boot->local_size, sizeof *self->host_ranks, rank_compare);
    boot->host_ranks = self->host_ranks;
    for (int i = 0; i < boot->local_size; i++)
        if (self->host_ranks[i] == boot->rank) {
            boot->local_rank = i;
            return 0;
        }
    return vcci_fail(VCCL_ERR_BOOTSTRAP, "rank %d is not in the launcher's list of local ranks: %s", boot->rank, text);
}

static int learn_job(struct pmix_boot *self)
{
    struct vcci_boot *boot = &self->boot;
    pmix_value_t *peers = NULL;
    pmix_status_t status;
    pmix_proc_t job;
    int rc;

    PMIX_LOAD_PROCID(&job, self->self.nspace, PMIX_RANK_WILDCARD);
    boot->rank = (int)self->self.rank;
    snprintf(boot->job_id, sizeof boot->job_id, "%.63s", self->self.nspace);
    rc = job_number(&job, PMIX_JOB_SIZE, &boot->size);
    if (rc)
        return rc;
    if (boot->size < 1 || boot->rank < 0 || boot->rank >= boot->size)
        return vcci_fail(VCCL_ERR_BOOTSTRAP, "the launcher says that this is rank %d of %d", boot->rank, boot->size);
    status = PMIx_Get(&job, PMIX_LOCAL_PEERS, NULL, 0, &peers);
    if (status != PMIX_SUCCESS)
        return pmix_failed(status, "asking for the ranks of this host");
    rc = peers->type == PMIX_STRING && peers->data.string ? parse_peers(self, peers->data.string)
                                                          : pmix_failed(PMIX_ERR_TYPE_MISMATCH, "asking for the ranks of this host");
    PMIX_VALUE_RELEASE(peers);
    return rc;
}

/* --- data ----------------------------------------------------------------------------------------------------------------------------- */

static int pmix_put(struct vcci_boot *boot, const char *key, const void *blob, size_t bytes)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT};
    pmix_status_t status;

    (void)boot;
    if (strlen(key) > PMIX_MAX_KEYLEN)
        return vcci_fail(VCCL_ERR_ARG, "the key %s is longer than %d", key, PMIX_MAX_KEYLEN);
    value.data.bo.bytes = (char *)(uintptr_t)blob; /* only read */
    value.data.bo.size = bytes;
    status = PMIx_Put(PMIX_GLOBAL, key, &value);
    return status == PMIX_SUCCESS ? 0 : pmix_failed(status, key);
}

static int pmix_commit(struct vcci_boot *boot)
{
    pmix_status_t status = PMIx_Commit();

    (void)boot;
    return status == PMIX_SUCCESS ? 0 : pmix_failed(status, "publishing this rank's addresses");
}

/* Asks once. PMIX_ERR_TIMEOUT when the answer did not come by deadline_ns. */
static pmix_status_t get_once(const pmix_proc_t *proc, const char *key, int64_t deadline_ns, struct reply **reply_out)
{
    struct reply *reply = reply_create();
    pmix_status_t status;

    *reply_out = NULL;
    if (!reply)
        return PMIX_ERR_NOMEM;
    status = PMIx_Get_nb(proc, key, NULL, 0, reply_value, reply);
    if (status != PMIX_SUCCESS) {
        reply_drop(reply);
        return status;
    }
    status = wait_flag(&reply->done, deadline_ns) ? reply->status : PMIX_ERR_TIMEOUT;
    if (status == PMIX_SUCCESS)
        *reply_out = reply;
    else
        reply_release(reply);
    return status;
}

/* A server holds a question for a rank that has published nothing (PMIx 4.2: two seconds), but says NOT-FOUND at once when the rank has published
 * something else, or lives on a host whose data have not come. So: ask again, with growing pauses, until the caller's time is over. */
static int pmix_get(struct vcci_boot *boot, int rank, const char *key, void *blob, size_t *bytes, int timeout_ms)
{
    int64_t deadline = vcci_now_ns() + (int64_t)timeout_ms * 1000000, pause = RETRY_FIRST_NS;
    struct reply *reply;
    pmix_status_t status;
    pmix_proc_t proc;
    int rc = 0;

    if (rank < 0 || rank >= boot->size)
        return vcci_fail(VCCL_ERR_ARG, "there is no rank %d in a job of %d", rank, boot->size);
    PMIX_LOAD_PROCID(&proc, pmix_boot(boot)->self.nspace, (pmix_rank_t)rank);
    for (;;) {
        status = get_once(&proc, key, deadline, &reply);
        int64_t left = deadline - vcci_now_ns();
        if ((status != PMIX_ERR_NOT_FOUND && status != PMIX_ERR_TIMEOUT) || left <= 0)
            break;
        struct timespec rest = {.tv_nsec = pause < left ? pause : left};
        nanosleep(&rest, NULL);
        pause = pause * 2 < RETRY_LAST_NS ? pause * 2 : RETRY_LAST_NS;
    }
    if (status == PMIX_ERR_NOT_FOUND || status == PMIX_ERR_TIMEOUT)
        return vcci_fail(VCCL_ERR_TIMEOUT, "rank %d did not publish %s within %d ms", rank, key, timeout_ms);
    if (status != PMIX_SUCCESS)
        return vcci_fail(VCCL_ERR_BOOTSTRAP, "asking for %s of rank %d: PMIx says %s (%d)", key, rank, PMIx_Error_string(status), status);
    if (reply->data.size > *bytes)
        rc = vcci_fail(VCCL_ERR_BOOTSTRAP, "%s of rank %d has %zu bytes, there is room for %zu", key, rank, reply->data.size, *bytes);
    else {
        if (reply->data.size)
            memcpy(blob, reply->data.bytes, reply->data.size);
        *bytes = reply->data.size;
    }
    reply_release(reply);
    return rc;
}

/* With COLLECT_DATA: under Slurm a bare fence does not wait for other hosts. */
static int pmix_fence(struct vcci_boot *boot)
{
    struct reply *reply = reply_create();
    double seconds = vcci_env()->timeout;
    bool collect = true;
    pmix_status_t status;
    pmix_info_t info;
    pmix_proc_t job;

    if (!reply)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for a fence");
    PMIX_LOAD_PROCID(&job, pmix_boot(boot)->self.nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    status = PMIx_Fence_nb(&job, 1, &info, 1, reply_done, reply);
    if (status != PMIX_SUCCESS) {
        reply_drop(reply);
        return status == PMIX_OPERATION_SUCCEEDED ? 0 : pmix_failed(status, "fence");
    }
    if (!wait_flag(&reply->done, seconds > 0 ? deadline_in(seconds) : 0)) {
        reply_release(reply);
        return vcci_fail(VCCL_ERR_TIMEOUT, "the %d ranks did not all come to the fence within %g s", boot->size, seconds);
    }
    status = reply->status;
    reply_release(reply);
    if (status == PMIX_ERR_PARTIAL_SUCCESS)
        return vcci_fail(VCCL_ERR_PROC_FAILED, "a rank died before it came to the fence");
    return status == PMIX_SUCCESS ? 0 : pmix_failed(status, "fence");
}

/* --- deaths --------------------------------------------------------------------------------------------------------------------------- */

static int event_rank(pmix_status_t status, const pmix_proc_t *source, const pmix_info_t *info, size_t n_info)
{
    const pmix_proc_t *proc = source;

    for (size_t i = 0; i < n_info; i++)
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC) && info[i].value.type == PMIX_PROC)
            proc = info[i].value.data.proc;
    if (!proc || strncmp(proc->nspace, death.nspace, PMIX_MAX_NSLEN) != 0) /* a server is not in our name space */
        return status == PMIX_ERR_LOST_CONNECTION ? -1 : -2;
    return proc->rank <= PMIX_RANK_VALID ? (int)proc->rank : -2;
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[], size_t n_info, pmix_info_t *results,
                     size_t n_results, pmix_event_notification_cbfunc_fn_t done, void *done_arg)
{
    int rank;

    (void)id, (void)results, (void)n_results;
    pthread_mutex_lock(&death.mutex);
    rank = event_rank(status, source, info, n_info);
    if (death.fn && rank >= -1)
        death.fn(death.arg, rank);
    pthread_mutex_unlock(&death.mutex);
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, done_arg);
}

static int register_events(struct pmix_boot *self, pmix_status_t *codes, size_t n)
{
    struct reply *reply = reply_create();
    pmix_status_t status;

    if (!reply)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory to listen for deaths");
    status = PMIx_Register_event_handler(codes, n, NULL, 0, on_event, reply_registered, reply);
    if (status < 0) {
        reply_drop(reply);
        return pmix_failed(status, "listening for deaths");
    }
    status = wait_flag(&reply->done, deadline_in(SERVER_SECONDS)) ? reply->status : PMIX_ERR_TIMEOUT;
    if (status == PMIX_SUCCESS)
        self->handlers[self->n_handlers++] = reply->ref;
    reply_release(reply);
    return status == PMIX_SUCCESS ? 0 : pmix_failed(status, "listening for deaths");
}

static int pmix_on_death(struct vcci_boot *boot, void (*fn)(void *arg, int rank), void *arg)
{
    static pmix_status_t codes[] = {PMIX_ERR_PROC_ABORTED, PMIX_ERR_PROC_TERM_WO_SYNC, PMIX_ERR_PROC_ABORTING,
                                    PMIX_ERR_PROC_REQUESTED_ABORT, PMIX_ERR_LOST_CONNECTION};
    struct pmix_boot *self = pmix_boot(boot);

    pthread_mutex_lock(&death.mutex);
    death.fn = fn;
    death.arg = arg;
    memcpy(death.nspace, self->self.nspace, sizeof death.nspace);
    pthread_mutex_unlock(&death.mutex);
    return self->n_handlers ? 0 : register_events(self, codes, sizeof codes / sizeof *codes);
}

/* --- ends ----------------------------------------------------------------------------------------------------------------------------- */

struct abort_args {
    int code;
    const char *text;
    _Atomic uint32_t done;
};

static void *abort_thread(void *arg)
{
    struct abort_args *args = arg;

    PMIx_Abort(args->code, args->text, NULL, 0);
    raise_flag(&args->done);
    return NULL;
}

/* PMIx_Abort only comes as a call that blocks, so a thread makes it. Once the server has it (or does not answer) this process may go. */
static void pmix_abort(struct vcci_boot *boot, int code, const char *text)
{
    struct abort_args args = {.code = code, .text = text ? text : ""};
    pthread_t thread;

    (void)boot;
    if (pthread_create(&thread, NULL, abort_thread, &args))
        abort_thread(&args);
    wait_flag(&args.done, deadline_in(ABORT_SECONDS));
    _exit(code & 0xff ? code & 0xff : 1);
}

static void pmix_fini(struct vcci_boot *boot)
{
    struct pmix_boot *self = pmix_boot(boot);

    pthread_mutex_lock(&death.mutex);
    death.fn = NULL;
    pthread_mutex_unlock(&death.mutex);
    PMIx_Finalize(NULL, 0);
    free(self->host_ranks);
    free(self);
}

static const struct vcci_boot_ops pmix_ops = {
    .name = "pmix",
    .put = pmix_put,
    .commit = pmix_commit,
    .get = pmix_get,
    .fence = pmix_fence,
    .on_death = pmix_on_death,
    .abort = pmix_abort,
    .fini = pmix_fini,
};

int vcci_boot_open_pmix(struct vcci_boot **boot_out)
{
    struct pmix_boot *self = calloc(1, sizeof *self);
    sigset_t all, old;
    pmix_status_t status;
    int rc;

    if (!self)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory to join the job");
    self->boot.ops = &pmix_ops;
    sigfillset(&all); /* PMIx starts a thread: the application's signals are not its business */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    status = PMIx_Init(&self->self, NULL, 0);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (status != PMIX_SUCCESS) {
        free(self);
        return vcci_fail(VCCL_ERR_BOOTSTRAP, "the launcher's PMIx server cannot be reached: PMIx says %s (%d)", PMIx_Error_string(status),
                         status);
    }
    rc = learn_job(self);
    if (rc) {
        pmix_fini(&self->boot);
        return rc;
    }
    *boot_out = &self->boot;
    return 0;
}
