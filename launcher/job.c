/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/child.h"
#include "launcher/guard.h"
#include "launcher/iof.h"
#include "launcher/place.h"
#include "launcher/rank.h"
#include "launcher/scratch.h"
#include "launcher/start.h"
#include "launcher/sweep.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/map.h"
#include "pmix/server.h"

#define MS 1000000LL
#define GRACE_NS (1000 * MS)   /* from SIGTERM to SIGKILL */
#define KILL_TICK_NS (10 * MS) /* between looks for descendants that are new */
#define KILL_TICKS 1000        /* then what is left cannot be killed */
#define CUT_NS (500 * MS)      /* for outputs that someone outside the job holds open */
#define DRAIN_NS (5000 * MS)   /* for a reader that does not read, once the job is to end at a given time */
#define STARTS_A_TURN 16

enum job_stage {
    JOB_RUNNING,
    JOB_ENDING,  /* SIGTERM was sent */
    JOB_KILLING, /* SIGKILL is sent until there is no child */
    JOB_DRAINING /* all are gone, their last output is on its way */
};

struct job {
    const struct vcci_job_conf *conf;
    const struct vcci_opt *opt;
    char host[256];
    struct vcci_child_old old;
    struct vcci_place place;
    struct vcci_server *server;
    struct vcci_iof *iof;
    struct vcci_start start;
    struct vcci_rank *ranks;
    struct vcci_map by_pid; /* pid -> rank of those that run */
    int epoll, signal_fd;
    int n_started, n_live;
    enum job_stage stage;
    int childless;         /* waitpid has nobody left to wait for */
    int decided, status;   /* vcclrun's exit status */
    int in_hurry;          /* the end may cost output that nobody reads */
    int kill_ticks;
    struct vcci_guard_last last_signal;
    int passed_on;                                   /* SIGINT and the like: the first is passed on, the next ends the job */
    int64_t timeout_at, step_at, cut_at, drain_until; /* 0: none */
};

/* --- ends ----------------------------------------------------------------------------------------------------------------------------- */

/* To the process groups of the ranks that have not been waited for; a group of a rank that has been may be another's by now. */
static void job_signal(struct job *job, int signo)
{
    for (int r = 0; r < job->n_started; r++)
        if (job->ranks[r].pid > 0 && !job->ranks[r].exited)
            kill(-job->ranks[r].pid, signo);
}

static void job_kill(struct job *job)
{
    if (job->stage >= JOB_DRAINING)
        return;
    job->stage = JOB_KILLING;
    job_signal(job, SIGKILL);
    vcci_sweep_signal(SIGKILL);
    job->step_at = vcci_now_ns() + KILL_TICK_NS;
}

/* Asks all to end; those that have not after a while are killed. */
static void job_end(struct job *job)
{
    if (job->stage != JOB_RUNNING)
        return;
    job->stage = JOB_ENDING;
    job_signal(job, SIGTERM);
    vcci_sweep_signal(SIGTERM);
    job_signal(job, SIGCONT);
    job->step_at = vcci_now_ns() + GRACE_NS;
}

/* The first reason counts. Returns 1 if this is it. */
static int job_decide(struct job *job, int status)
{
    if (job->decided)
        return 0;
    job->decided = 1;
    job->status = status;
    return 1;
}

/* --- ranks ---------------------------------------------------------------------------------------------------------------------------- */

static void job_start_some(struct job *job)
{
    for (int n = 0; n < STARTS_A_TURN && job->n_started < job->opt->size && job->stage == JOB_RUNNING; n++) {
        int r = job->n_started, status;
        struct vcci_rank *rank = &job->ranks[r];
        char where[512];

        rank->pid = vcci_start_rank(&job->start, rank->app, r, &status);
        if (rank->pid < 0) {
            if (job_decide(job, status))
                vcci_iof_say(job->iof, "%s", vcci_err_text());
            job_end(job);
            return;
        }
        job->n_started++;
        job->n_live++;
        job->childless = 0;
        if (vcci_map_put(&job->by_pid, (uint64_t)rank->pid, rank) < 0) {
            if (job_decide(job, VCCI_EXIT_FAILURE))
                vcci_iof_say(job->iof, "%s", vcci_err_text());
            job_kill(job);
        }
        vcci_place_text(&job->place, r, where, sizeof where);
        if (job->opt->report_bindings)
            vcci_iof_say(job->iof, "rank %d on host %s: %s", r, job->host, where);
        if (job->opt->verbose)
            vcci_iof_say(job->iof, "rank %d on host %s: pid %d, %s", r, job->host, (int)rank->pid, rank->app->argv[0]);
    }
}

/* What became of the rank, as the end of a sentence; vcclrun's status for it. 0: it is well. */
static int rank_verdict(const struct vcci_rank *rank, int st, char *text, size_t cap)
{
    if (WIFSIGNALED(st)) {
        snprintf(text, cap, "died of signal %d (%s%s)", WTERMSIG(st), strsignal(WTERMSIG(st)), WCOREDUMP(st) ? ", core dumped" : "");
        return 128 + WTERMSIG(st);
    }
    if (WEXITSTATUS(st)) {
        snprintf(text, cap, "exited with status %d", WEXITSTATUS(st));
        return WEXITSTATUS(st);
    }
    if (rank->joined) {
        snprintf(text, cap, "exited with status 0 but without vccl_finalize");
        return VCCI_EXIT_FAILURE;
    }
    snprintf(text, cap, "exited with status 0");
    return 0;
}

static void rank_exited(struct job *job, struct vcci_rank *rank, int st)
{
    char text[128];
    int r = (int)(rank - job->ranks), status = rank_verdict(rank, st, text, sizeof text);
    int first = status && job_decide(job, status);

    vcci_map_del(&job->by_pid, (uint64_t)rank->pid);
    rank->exited = 1;
    job->n_live--;
    if (first || job->opt->verbose)
        vcci_iof_say(job->iof, "rank %d (pid %d on host %s) %s%s", r, (int)rank->pid, job->host, text,
                     first && job->n_live > 0 ? "; the other ranks are ended" : "");
    if (status)
        job_end(job);
}

static void job_abort(struct job *job, const struct vcci_server_event *event)
{
    const struct vcci_rank *rank = &job->ranks[event->rank];

    if (job_decide(job, event->code & 0xff ? event->code & 0xff : VCCI_EXIT_FAILURE))
        vcci_iof_say(job->iof, "rank %d (pid %d on host %s) aborted the job with code %d%s%s", event->rank, (int)rank->pid, job->host, event->code,
                     event->text[0] ? ": " : "", event->text);
    job_end(job);
}

static void job_server_events(struct job *job)
{
    struct vcci_server_event event;

    while (vcci_server_next(job->server, &event))
        switch (event.kind) {
        case VCCI_SERVER_JOINED:
        case VCCI_SERVER_LEFT:
            job->ranks[event.rank].joined = event.kind == VCCI_SERVER_JOINED;
            break;
        case VCCI_SERVER_ABORT:
            job_abort(job, &event);
            break;
        }
}

/* Also orphans that the kernel gave us. */
static void job_reap(struct job *job)
{
    pid_t pid;
    int st;

    while ((pid = waitpid(-1, &st, WNOHANG)) > 0) {
        struct vcci_rank *rank = vcci_map_get(&job->by_pid, (uint64_t)pid);

        /* What it told the server came before its exit, but perhaps after the loop's last look. */
        job_server_events(job);
        if (rank)
            rank_exited(job, rank, st);
    }
    job->childless = pid < 0 && errno == ECHILD;
}

/* --- signals -------------------------------------------------------------------------------------------------------------------------- */

static void job_interrupt(struct job *job, int signo)
{
    if (vcci_guard_echo(&job->last_signal, signo))
        return;
    job->in_hurry = 1;
    if (job->passed_on++ == 0 && job->stage == JOB_RUNNING) {
        if (job_decide(job, 128 + signo))
            vcci_iof_say(job->iof, "SIG%s is passed on to the ranks; the next one ends them at once", sigabbrev_np(signo));
        job_signal(job, signo);
    } else {
        job_decide(job, 128 + signo);
        job->drain_until = vcci_now_ns();
        job_kill(job);
    }
}

static void job_on_signal(struct job *job, int signo)
{
    switch (signo) {
    case SIGCHLD:
        break; /* the loop waits for whoever it was */
    case SIGTSTP:
        job_signal(job, SIGSTOP);
        raise(SIGSTOP);
        break;
    case SIGCONT:
        job_signal(job, SIGCONT);
        vcci_iof_input(job->iof);
        break;
    case SIGUSR1:
    case SIGUSR2:
        job_signal(job, signo);
        break;
    default:
        job_interrupt(job, signo);
    }
}

static void job_signals(struct job *job)
{
    struct signalfd_siginfo info[16];
    ssize_t n = read(job->signal_fd, info, sizeof info);

    for (ssize_t i = 0; i < n / (ssize_t)sizeof info[0]; i++)
        job_on_signal(job, (int)info[i].ssi_signo);
}

static void job_guard_died(struct job *job)
{
    epoll_ctl(job->epoll, EPOLL_CTL_DEL, job->conf->guard_fd, NULL);
    if (job_decide(job, VCCI_EXIT_FAILURE))
        vcci_iof_say(job->iof, "the guardian process was killed; the ranks are ended");
    job->in_hurry = 1;
    job_kill(job);
}

/* --- the loop ------------------------------------------------------------------------------------------------------------------------- */

static void job_timers(struct job *job, int64_t now)
{
    if (job->timeout_at && now >= job->timeout_at && job->stage == JOB_RUNNING) {
        if (job_decide(job, VCCI_EXIT_TIMEOUT))
            vcci_iof_say(job->iof, "the job did not end within %g seconds (--timeout); its %d ranks are ended", job->opt->timeout,
                         job->n_live);
        job->in_hurry = 1;
        job_end(job);
    }
    if (job->step_at && now >= job->step_at && (job->stage == JOB_ENDING || job->stage == JOB_KILLING)) {
        if (job->stage == JOB_KILLING && ++job->kill_ticks > KILL_TICKS) {
            vcci_iof_say(job->iof, "some processes of the job cannot be killed");
            job_decide(job, VCCI_EXIT_FAILURE);
            job->childless = 1;
            job->n_live = 0;
        } else {
            job_kill(job);
        }
    }
}

/* All ranks are gone: so must be what they left behind, and then their output. Returns 1 when the job is over. */
static int job_wind_up(struct job *job, int64_t now)
{
    if (job->n_live > 0 || (job->stage == JOB_RUNNING && job->n_started < job->opt->size))
        return 0;
    if (job->stage != JOB_DRAINING) {
        if (!job->childless) {
            job_end(job); /* does nothing if that has begun */
            return 0;
        }
        job->stage = JOB_DRAINING;
        job->step_at = 0;
        if (job->in_hurry && !job->drain_until)
            job->drain_until = now + DRAIN_NS;
    }
    if (job->drain_until && now >= job->drain_until)
        return 1;
    if (!vcci_iof_idle(job->iof)) {
        job->cut_at = 0;
        return 0;
    }
    if (vcci_iof_ended(job->iof))
        return 1;
    if (!job->cut_at)
        job->cut_at = now + CUT_NS;
    else if (now >= job->cut_at)
        vcci_iof_cut(job->iof);
    return 0;
}

static int job_wait_ms(struct job *job)
{
    int64_t at[] = {job->timeout_at, job->step_at, job->cut_at, job->drain_until}, now = vcci_now_ns(), wait = -1;

    if (job->stage == JOB_RUNNING && job->n_started < job->opt->size)
        return 0;
    if (job->stage != JOB_RUNNING)
        at[0] = 0;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        if (at[i] && (wait < 0 || at[i] - now < wait))
            wait = at[i] > now ? at[i] - now : 0;
    int64_t prompt = vcci_iof_timeout_ms(job->iof) * MS;
    if (prompt >= 0 && (wait < 0 || prompt < wait))
        wait = prompt;
    return wait < 0 ? -1 : wait > 1000000 * MS ? 1000000 : (int)((wait + MS - 1) / MS);
}

static void job_loop(struct job *job)
{
    int over = 0;

    while (!over) {
        struct epoll_event events[8];
        int n = epoll_wait(job->epoll, events, 8, job_wait_ms(job));

        if (n == 0)
            vcci_iof_flush(job->iof);
        for (int i = 0; i < n; i++) {
            if (events[i].data.fd == job->signal_fd)
                job_signals(job);
            else if (events[i].data.fd == job->conf->guard_fd)
                job_guard_died(job);
            else if (events[i].data.fd == vcci_iof_fd(job->iof))
                vcci_iof_serve(job->iof);
        }
        job_server_events(job);
        job_reap(job);
        job_start_some(job);
        job_timers(job, vcci_now_ns());
        over = job_wind_up(job, vcci_now_ns());
    }
}

/* --- set-up --------------------------------------------------------------------------------------------------------------------------- */

/* Room for three descriptors per rank and what PMIx wants. The ranks get the old limit back. */
static void raise_limits(struct job *job)
{
    struct rlimit files;

    getrlimit(RLIMIT_NOFILE, &job->old.files);
    files = job->old.files;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

static int job_listen(struct job *job)
{
    int fds[4];
    sigset_t signals;

    vcci_guard_signals(&signals);
    job->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    job->epoll = epoll_create1(EPOLL_CLOEXEC);
    fds[0] = job->signal_fd;
    fds[1] = job->conf->guard_fd;
    fds[2] = vcci_iof_fd(job->iof);
    fds[3] = vcci_server_fd(job->server);
    for (int i = 0; i < 4; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fds[i]};
        if (epoll_ctl(job->epoll, EPOLL_CTL_ADD, fds[i], &event) < 0)
            return vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "setting up the loop");
    }
    return 0;
}

/* hwloc's plugins look for GPUs and displays, which nobody here asks for: they are switched off while hwloc starts, here and in PMIx (8 ms and more).
 * The ranks are told how many cores there were before they were bound: a bound rank sees only its own. */
static int job_open_services(struct job *job)
{
    static const char name[] = "HWLOC_PLUGINS_PATH";
    char cores[16], terminals[4]; /* which outputs of ours a person sees: the ranks' are pipes */
    int quiet = !getenv(name) && setenv(name, "/nonexistent", 0) == 0;
    int rc = vcci_place_ranks(&job->place, job->opt, job->opt->size, job->conf->cores);

    if (rc == 0)
        rc = vcci_scratch_make(job->conf->scratch);
    if (rc == 0)
        rc = vcci_server_open(job->conf->scratch, job->host, job->opt->size, &job->server);
    if (quiet)
        unsetenv(name);
    snprintf(cores, sizeof cores, "%d", job->conf->cores);
    snprintf(terminals, sizeof terminals, "%s%s", isatty(STDOUT_FILENO) ? "1" : "", isatty(STDERR_FILENO) ? "2" : "");
    if (rc == 0 && (setenv("VCCL_JOB_CORES", cores, 1) < 0 || setenv("VCCL_JOB_TERMINALS", terminals, 1) < 0))
        rc = vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for the environment");
    return rc;
}

static int job_open(struct job *job)
{
    const struct vcci_opt *opt = job->opt;
    struct vcci_iof_conf iof = {.size = opt->size, .tag = opt->tag_output, .output_dir = opt->output_dir};
    int rc;

    job->ranks = calloc((size_t)opt->size, sizeof *job->ranks);
    if (!job->ranks)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for %d ranks", opt->size);
    for (int i = 0; i < opt->n_apps; i++)
        for (int r = 0; r < opt->apps[i].np; r++)
            job->ranks[opt->apps[i].first_rank + r].app = &opt->apps[i];
    gethostname(job->host, sizeof job->host - 1);
    rc = job_open_services(job);
    if (rc == 0)
        rc = vcci_iof_create(&iof, &job->iof);
    if (rc == 0)
        rc = job_listen(job);
    job->start = (struct vcci_start){
        .server = job->server, .iof = job->iof, .place = &job->place, .old = &job->old, .env = environ};
    return rc;
}

static void job_close(struct job *job)
{
    if (job->iof) {
        int err = vcci_iof_error(job->iof);
        if (err && job_decide(job, VCCI_EXIT_FAILURE))
            fprintf(stderr, "vcclrun: the ranks' output could not be written: %s\n", strerror(err));
        vcci_iof_destroy(job->iof, !vcci_iof_idle(job->iof));
    }
    if (job->server)
        vcci_server_close(job->server);
    vcci_scratch_remove(job->conf->scratch);
    vcci_start_fini(&job->start);
    vcci_place_free(&job->place);
    vcci_map_fini(&job->by_pid);
    free(job->ranks);
    if (job->signal_fd >= 0)
        close(job->signal_fd);
    if (job->epoll >= 0)
        close(job->epoll);
}

int vcci_job_run(const struct vcci_job_conf *conf)
{
    struct job job = {.conf = conf, .opt = conf->opt, .epoll = -1, .signal_fd = -1};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old_pipe;
    sigset_t signals;
    int rc;

    sigaction(SIGPIPE, &ignore, &old_pipe);
    job.old.ignores_pipe = old_pipe.sa_handler == SIG_IGN;
    vcci_guard_signals(&signals);
    pthread_sigmask(SIG_BLOCK, NULL, &job.old.mask);
    for (int signo = 1; signo < SIGRTMAX; signo++)
        if (sigismember(&signals, signo) == 1)
            sigdelset(&job.old.mask, signo);
    raise_limits(&job);
    vcci_map_init(&job.by_pid);
    rc = job_open(&job);
    if (rc == 0) {
        if (conf->opt->timeout > 0)
            job.timeout_at = vcci_now_ns() + (int64_t)(conf->opt->timeout * 1e9);
        job_loop(&job);
    } else {
        fprintf(stderr, "vcclrun: %s\n", vcci_err_text());
        job.status = VCCI_EXIT_FAILURE;
    }
    job_close(&job);
    return job.status;
}
