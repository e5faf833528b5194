/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmix/server.h"

#include <dlfcn.h>
#include <errno.h>
#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/futex.h"
#include "lib/base/list.h"
#include "lib/base/log.h"
#include "lib/base/shm.h"

#define ANSWER_SECONDS 60 /* PMIx's own thread in this process has stopped if it takes so long */
#define N_JOB_INFO 6

struct queued {
    struct vcci_list node;
    struct vcci_server_event event;
};
struct vcci_server {
    int size, fd;
    pmix_nspace_t nspace;
    pthread_mutex_t mutex;
    struct vcci_list events;
};

/* PMIx's upcalls carry no argument of ours. Set before the server runs, cleared after. */
static struct vcci_server *the_server;

/* Requests under way in PMIx's thread, and the first one that failed. */
static struct {
    _Atomic uint32_t left;
    _Atomic int status;
} batch;

static void batch_begin(uint32_t n)
{
    atomic_store(&batch.status, PMIX_SUCCESS);
    atomic_store(&batch.left, n);
}

static void batch_done(pmix_status_t status, void *arg)
{
    (void)arg;
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
        atomic_store(&batch.status, status);
    if (atomic_fetch_sub(&batch.left, 1) == 1)
        vcci_futex_wake_all(&batch.left);
}

static int batch_wait(const char *what)
{
    int64_t deadline = vcci_now_ns() + (int64_t)ANSWER_SECONDS * 1000000000, now;
    uint32_t left;

    while ((left = atomic_load(&batch.left)) != 0 && (now = vcci_now_ns()) < deadline)
        vcci_futex_wait(&batch.left, left, deadline - now);
    if (left)
        return vcci_fail(VCCL_ERR_BOOTSTRAP, "%s: the PMIx server does not answer", what);
    if (atomic_load(&batch.status) != PMIX_SUCCESS)
        return vcci_fail(VCCL_ERR_BOOTSTRAP, "%s: PMIx says %s", what, PMIx_Error_string(atomic_load(&batch.status)));
    return 0;
}

/* --- upcalls, in PMIx's thread ------------------------------------------------------------------------------------------------------- */

static void server_push(enum vcci_server_kind kind, const pmix_proc_t *proc, int code, const char *text)
{
    struct vcci_server *server = the_server;
    struct queued *queued = malloc(sizeof *queued);
    uint64_t one = 1;

    if (!queued || !server || proc->rank >= (pmix_rank_t)server->size) {
        free(queued);
        return;
    }
    queued->event.kind = kind;
    queued->event.rank = (int)proc->rank;
    queued->event.code = code;
    snprintf(queued->event.text, sizeof queued->event.text, "%s", text ? text : "");
    pthread_mutex_lock(&server->mutex);
    vcci_list_push(&server->events, &queued->node);
    if (write(server->fd, &one, sizeof one) < 0)
        VCCI_ASSERT(errno == EAGAIN); /* the counter is full: it is readable */
    pthread_mutex_unlock(&server->mutex);
}

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object, pmix_info_t info[], size_t n_info, pmix_op_cbfunc_t done, void *arg)
{
    (void)object, (void)info, (void)n_info, (void)done, (void)arg;
    server_push(VCCI_SERVER_JOINED, proc, 0, NULL);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t done, void *arg)
{
    (void)object, (void)done, (void)arg;
    server_push(VCCI_SERVER_LEFT, proc, 0, NULL);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int code, const char text[], pmix_proc_t procs[], size_t n_procs,
                              pmix_op_cbfunc_t done, void *arg)
{
    (void)object, (void)procs, (void)n_procs;
    server_push(VCCI_SERVER_ABORT, proc, code, text);
    if (done)
        done(PMIX_SUCCESS, arg);
    return PMIX_SUCCESS;
}

/* Every rank is on this host, so the library has gathered all there is: hand it back. */
static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n_procs, const pmix_info_t info[], size_t n_info, char *data, size_t n_data,
                              pmix_modex_cbfunc_t done, void *arg)
{
    pmix_status_t status = PMIX_SUCCESS;

    (void)procs, (void)n_procs;
    for (size_t i = 0; i < n_info; i++)
        if (PMIX_CHECK_KEY(&info[i], PMIX_LOCAL_COLLECTIVE_STATUS))
            status = info[i].value.data.status;
    if (done)
        done(status, data, n_data, arg, free, data);
    else
        free(data);
    return PMIX_SUCCESS;
}

/* Asked only for a rank of another host, and there is none. */
static pmix_status_t on_direct_modex(const pmix_proc_t *proc, const pmix_info_t info[], size_t n_info, pmix_modex_cbfunc_t done, void *arg)
{
    (void)proc, (void)info, (void)n_info, (void)done, (void)arg;
    return PMIX_ERR_NOT_FOUND;
}

static pmix_status_t on_register_events(pmix_status_t *codes, size_t n, const pmix_info_t info[], size_t n_info, pmix_op_cbfunc_t done,
                                        void *arg)
{
    (void)codes, (void)n, (void)info, (void)n_info, (void)done, (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_deregister_events(pmix_status_t *codes, size_t n, pmix_op_cbfunc_t done, void *arg)
{
    (void)codes, (void)n, (void)done, (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_notify(pmix_status_t code, const pmix_proc_t *source, pmix_data_range_t range, pmix_info_t info[], size_t n_info,
                               pmix_op_cbfunc_t done, void *arg)
{
    (void)code, (void)source, (void)range, (void)info, (void)n_info, (void)done, (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_server_module_t upcalls = {
    .client_connected2 = on_connected,
    .client_finalized = on_finalized,
    .abort = on_abort,
    .fence_nb = on_fence,
    .direct_modex = on_direct_modex,
    .register_events = on_register_events,
    .deregister_events = on_deregister_events,
    .notify_event = on_notify,
};

/* --- start and end ------------------------------------------------------------------------------------------------------------------- */

/* Clients inherit these. The user's own PMIX_MCA_ variables win. */
static void server_settings(void)
{
    char name[64];

    for (char **at = environ; at && *at;) {
        size_t len = strcspn(*at, "=");
        if (len < sizeof name && strncmp(*at, "PMIX_", 5) == 0 && strncmp(*at, "PMIX_MCA_", 9) != 0) {
            memcpy(name, *at, len);
            name[len] = '\0';
            unsetenv(name);
            at = environ;
        } else {
            at++;
        }
    }
    setenv("PMIX_MCA_gds", "hash", 0);                      /* a client's start takes 2 ms instead of 9 with shared memory files */
    setenv("PMIX_MCA_psec", "native", 0);                   /* else each client looks for munge */
    setenv("PMIX_MCA_pmix_event_caching_window", "0", 0);   /* a lost server is told at once instead of after a second */
}

static void on_libevent(int severity, const char *text)
{
    VCCI_DEBUG("the PMIx server's libevent (%d): %s", severity, text);
}

/* PMIx closes the connection of a killed client before it takes the descriptor out of libevent's set, which libevent then warns of on stderr. It is
 * PMIx's library, so it is asked for by name: a PMIx without it has nothing to quieten. */
static void quieten_libevent(void)
{
    void (*set_callback)(void (*)(int, const char *));
    void *found = dlsym(RTLD_DEFAULT, "event_set_log_callback");

    if (!found)
        return;
    memcpy(&set_callback, &found, sizeof set_callback);
    set_callback(on_libevent);
}

static struct vcci_server *server_create(int size)
{
    struct vcci_server *server = calloc(1, sizeof *server);

    if (!server)
        return NULL;
    server->size = size;
    server->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    vcci_list_init(&server->events);
    pthread_mutex_init(&server->mutex, NULL);
    return server;
}

static void server_destroy(struct vcci_server *server)
{
    VCCI_LIST_EACH_SAFE(it, next, &server->events)
        free(VCCI_CONTAINER(it, struct queued, node));
    if (server->fd >= 0)
        close(server->fd);
    pthread_mutex_destroy(&server->mutex);
    free(server);
}

static int server_init(struct vcci_server *server, const char *dir, const char *host)
{
    unsigned char random[16];
    char name[64];
    bool no = false;
    pmix_info_t info[5];
    sigset_t all, old;
    pmix_status_t status;
    size_t n = 0;
    int rc = vcci_random(random, sizeof random);

    if (rc)
        return rc;
    n = (size_t)snprintf(name, sizeof name, "vccl.");
    for (size_t i = 0; i < sizeof random; i++)
        n += (size_t)snprintf(name + n, sizeof name - n, "%02x", random[i]);
    PMIX_LOAD_NSPACE(server->nspace, name);
    snprintf(name + n, sizeof name - n, ".run");
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, dir, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SYSTEM_TMPDIR, dir, PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_HOSTNAME, host, PMIX_STRING);
    PMIX_INFO_LOAD(&info[3], PMIX_SERVER_NSPACE, name, PMIX_STRING);
    PMIX_INFO_LOAD(&info[4], PMIX_SERVER_TOOL_SUPPORT, &no, PMIX_BOOL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    status = PMIx_server_init(&upcalls, info, 5);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    for (size_t i = 0; i < 5; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    return status == PMIX_SUCCESS ? 0 : vcci_fail(VCCL_ERR_BOOTSTRAP, "no PMIx server: PMIx says %s", PMIx_Error_string(status));
}

/* "0,1,2" for all ranks. */
static char *list_ranks(int size)
{
    char *text = malloc((size_t)size * 12);
    size_t n = 0;

    for (int r = 0; text && r < size; r++)
        n += (size_t)sprintf(text + n, "%s%d", r ? "," : "", r);
    return text;
}

static int server_register_job(struct vcci_server *server, const char *host)
{
    uint32_t size = (uint32_t)server->size;
    char *ranks = list_ranks(server->size), *nodes = NULL, *procs = NULL;
    pmix_info_t info[N_JOB_INFO];
    pmix_status_t status;

    if (!ranks || PMIx_generate_regex(host, &nodes) != PMIX_SUCCESS || PMIx_generate_ppn(ranks, &procs) != PMIX_SUCCESS) {
        free(ranks), free(nodes), free(procs);
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for the map of %d ranks", server->size);
    }
    PMIX_INFO_LOAD(&info[0], PMIX_JOB_SIZE, &size, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], PMIX_UNIV_SIZE, &size, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[2], PMIX_MAX_PROCS, &size, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[3], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[4], PMIX_PROC_MAP, procs, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[5], PMIX_JOBID, server->nspace, PMIX_STRING);
    batch_begin(1);
    status = PMIx_server_register_nspace(server->nspace, server->size, info, N_JOB_INFO, batch_done, NULL);
    if (status != PMIX_SUCCESS)
        batch_done(status, NULL);
    int rc = batch_wait("registering the job");
    for (size_t i = 0; i < N_JOB_INFO; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    free(ranks), free(nodes), free(procs);
    return rc;
}

static int server_register_ranks(struct vcci_server *server)
{
    pmix_proc_t proc;

    batch_begin((uint32_t)server->size);
    for (int r = 0; r < server->size; r++) {
        PMIX_LOAD_PROCID(&proc, server->nspace, (pmix_rank_t)r);
        pmix_status_t status = PMIx_server_register_client(&proc, getuid(), getgid(), NULL, batch_done, NULL);
        if (status != PMIX_SUCCESS)
            batch_done(status, NULL);
    }
    return batch_wait("registering the ranks");
}

int vcci_server_open(const char *dir, const char *host, int size, struct vcci_server **server_out)
{
    struct vcci_server *server = server_create(size);
    int rc;

    if (!server || server->fd < 0) {
        rc = vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "starting a PMIx server for %d ranks", size);
        if (server)
            server_destroy(server);
        return rc;
    }
    server_settings();
    quieten_libevent();
    the_server = server;
    rc = server_init(server, dir, host);
    if (rc) {
        the_server = NULL;
        server_destroy(server);
        return rc;
    }
    rc = server_register_job(server, host);
    if (rc == 0)
        rc = server_register_ranks(server);
    if (rc) {
        vcci_server_close(server);
        return rc;
    }
    *server_out = server;
    return 0;
}

void vcci_server_close(struct vcci_server *server)
{
    PMIx_server_finalize();
    the_server = NULL;
    server_destroy(server);
}

/* --- the owner's calls --------------------------------------------------------------------------------------------------------------- */

int vcci_server_env(struct vcci_server *server, int rank, char *const *base, char ***env_out)
{
    char **env;
    pmix_status_t status;
    pmix_proc_t proc;
    size_t n = 0;

    while (base[n])
        n++;
    env = calloc(n + 1, sizeof *env);
    for (size_t i = 0; env && i < n; i++)
        if (!(env[i] = strdup(base[i]))) {
            vcci_server_env_free(env);
            env = NULL;
        }
    if (!env)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for the environment of rank %d", rank);
    PMIX_LOAD_PROCID(&proc, server->nspace, (pmix_rank_t)rank);
    status = PMIx_server_setup_fork(&proc, &env); /* may move it: it grows by realloc */
    if (status != PMIX_SUCCESS) {
        vcci_server_env_free(env);
        return vcci_fail(VCCL_ERR_BOOTSTRAP, "making the environment of rank %d: PMIx says %s", rank, PMIx_Error_string(status));
    }
    *env_out = env;
    return 0;
}

void vcci_server_env_free(char **env)
{
    for (size_t i = 0; env && env[i]; i++)
        free(env[i]);
    free(env);
}

int vcci_server_fd(const struct vcci_server *server)
{
    return server->fd;
}

int vcci_server_next(struct vcci_server *server, struct vcci_server_event *event_out)
{
    struct vcci_list *node;
    uint64_t count;

    pthread_mutex_lock(&server->mutex);
    node = vcci_list_pop(&server->events);
    if (node) {
        struct queued *queued = VCCI_CONTAINER(node, struct queued, node);
        *event_out = queued->event;
        free(queued);
    } else if (read(server->fd, &count, sizeof count) < 0) {
        VCCI_ASSERT(errno == EAGAIN); /* nothing was there at all */
    }
    pthread_mutex_unlock(&server->mutex);
    return node != NULL;
}

int vcci_server_tell_death(struct vcci_server *server, int rank, int status)
{
    bool yes = true;
    pmix_info_t info[3];
    pmix_proc_t proc;
    pmix_status_t rc;

    PMIX_LOAD_PROCID(&proc, server->nspace, (pmix_rank_t)rank);
    PMIX_INFO_LOAD(&info[0], PMIX_EVENT_AFFECTED_PROC, &proc, PMIX_PROC);
    PMIX_INFO_LOAD(&info[1], PMIX_EXIT_CODE, &status, PMIX_INT);
    PMIX_INFO_LOAD(&info[2], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    rc = PMIx_Notify_event(PMIX_ERR_PROC_ABORTED, &proc, PMIX_RANGE_NAMESPACE, info, 3, NULL, NULL);
    for (size_t i = 0; i < 3; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED)
        return vcci_fail(VCCL_ERR_BOOTSTRAP, "telling of the death of rank %d: PMIx says %s", rank, PMIx_Error_string(rc));
    return 0;
}
