/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/engine/engine.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include "lib/base/err.h"
#include "tests/unit/engine_mail.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SCALE 10
#else
#define SCALE 1
#endif

static const struct vcci_engine_conf sleepy = {.threaded = 1, .spin_ns = 0, .yields = 0};
static const struct vcci_engine_conf yielding = {.threaded = 1, .spin_ns = 0, .yields = 8};
static const struct vcci_engine_conf spinning = {.threaded = 1, .spin_ns = 20000, .yields = 2};
static const struct vcci_engine_conf by_caller = {.threaded = 0, .spin_ns = 0, .yields = 1};
static const struct vcci_engine_conf by_caller_spinning = {.threaded = 0, .spin_ns = 20000, .yields = 1};

static int64_t in_ms(int ms)
{
    return vcci_now_ns() + (int64_t)ms * 1000000;
}
#define LONG in_ms(60000) /* no wait of these tests may hang */

static int flag_set(void *arg)
{
    return atomic_load((_Atomic int *)arg) != 0;
}

static int wait_flag(struct vcci_engine *engine, _Atomic int *flag, int64_t deadline_ns)
{
    struct vcci_waiter w = {.ready = flag_set, .arg = flag};
    return vcci_engine_wait(engine, &w, deadline_ns);
}

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static unsigned random_next(unsigned *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state >> 16;
}

/* ---- between processes ---- */

/* Two ranks hand one token to and fro, now and then after a pause of a random length. */
static void ping_pong(struct mail *m, void *arg)
{
    int rounds = *(int *)arg;
    unsigned seed = (unsigned)m->me + 1;
    int last = 0;
    for (int i = 1; !last; i++) {
        if (m->me == 0) {
            last = mail_drive(m, (uint64_t)i, (uint64_t)rounds);
            mail_send(m, 1);
        }
        UNIT_HOLDS(mail_wait(m, (uint64_t)i, LONG) == 0);
        if (m->me)
            last = mail_ended(m, (uint64_t)i);
        if (m->me == 1)
            mail_send(m, 0);
        if (random_next(&seed) % 256 == 0)
            usleep(random_next(&seed) % 200);
    }
}

START_TEST(ping_pong_asleep)
{
    int rounds = 50000 / SCALE;
    mail_job(2, &sleepy, ping_pong, &rounds);
}
END_TEST

START_TEST(ping_pong_yielding)
{
    int rounds = 50000 / SCALE;
    mail_job(2, &yielding, ping_pong, &rounds);
}
END_TEST

START_TEST(ping_pong_spinning)
{
    int rounds = 50000 / SCALE;
    mail_job(2, &spinning, ping_pong, &rounds);
}
END_TEST

START_TEST(ping_pong_by_caller)
{
    int rounds = 50000 / SCALE;
    mail_job(2, &by_caller, ping_pong, &rounds);
    mail_job(2, &by_caller_spinning, ping_pong, &rounds);
}
END_TEST

/* A token runs round a ring of more ranks than cores. */
static void ring(struct mail *m, void *arg)
{
    int rounds = *(int *)arg, last = 0;
    for (int i = 1; !last; i++) {
        if (m->me == 0) {
            last = mail_drive(m, (uint64_t)i, (uint64_t)rounds);
            mail_send(m, 1);
        }
        UNIT_HOLDS(mail_wait(m, (uint64_t)i, LONG) == 0);
        if (m->me) {
            last = mail_ended(m, (uint64_t)i);
            mail_send(m, (m->me + 1) % m->board.n);
        }
    }
}

START_TEST(ring_of_eight)
{
    int rounds = 2000 / SCALE;
    mail_job(8, &sleepy, ring, &rounds);
    mail_job(8, &spinning, ring, &rounds);
    mail_job(8, &by_caller, ring, &rounds);
}
END_TEST

/* Rank 0 has operations under way and computes (never enters the engine): its background thread must answer. */
static void answer(struct mail *m, uint64_t n)
{
    while (n--)
        mail_send(m, 1);
}

static void computing(struct mail *m, void *arg)
{
    int rounds = *(int *)arg;
    unsigned seed = 5;
    if (m->me == 0) {
        vcci_engine_lock(m->engine);
        m->on_mail = answer;
        vcci_engine_hold(m->engine);
        vcci_engine_unlock(m->engine);
        while (!mail_ended(m, atomic_load(&m->got)))
            usleep(1000);
        vcci_engine_lock(m->engine);
        vcci_engine_release(m->engine);
        vcci_engine_unlock(m->engine);
        return;
    }
    for (int i = 1, last = 0; !last; i++) {
        last = mail_drive(m, (uint64_t)i, (uint64_t)rounds);
        mail_send(m, 0);
        UNIT_HOLDS(mail_wait(m, (uint64_t)i, LONG) == 0);
        if (random_next(&seed) % 64 == 0)
            usleep(random_next(&seed) % 200);
    }
}

START_TEST(background)
{
    int rounds = 20000 / SCALE;
    mail_job(2, &spinning, computing, &rounds);
}
END_TEST

struct beyond {
    struct mail *m;
    uint64_t seen;
};

static int beyond(void *arg)
{
    struct beyond *b = arg;
    uint64_t got = atomic_load(&b->m->got);
    return got > b->seen || mail_ended(b->m, got);
}

static void hold(struct mail *m, void (*way)(struct vcci_engine *engine))
{
    vcci_engine_lock(m->engine);
    way(m->engine);
    vcci_engine_unlock(m->engine);
}

/* As before, but rank 0's application also goes in and out of the engine, sometimes in a loop of tests, so the duty changes hands
 * all the time. */
static void in_and_out(struct mail *m, void *arg)
{
    struct beyond b = {.m = m};
    struct vcci_waiter w = {.ready = beyond, .arg = &b};
    unsigned seed = 9;
    if (m->me) {
        computing(m, arg);
        return;
    }
    vcci_engine_lock(m->engine);
    m->on_mail = answer;
    vcci_engine_unlock(m->engine);
    while (!mail_ended(m, atomic_load(&m->got))) {
        hold(m, vcci_engine_hold);
        for (unsigned i = random_next(&seed) % 4 ? 0 : random_next(&seed) % 5000; i > 0; i--) {
            vcci_engine_lock(m->engine);
            vcci_engine_poll(m->engine, 1);
            vcci_engine_unlock(m->engine);
        }
        b.seen = atomic_load(&m->got) + random_next(&seed) % 3;
        UNIT_HOLDS(vcci_engine_wait(m->engine, &w, LONG) == 0);
        if (random_next(&seed) % 16 == 0)
            usleep(random_next(&seed) % 100);
        b.seen = atomic_load(&m->got); /* one more must come by the background thread alone */
        for (int i = 0; i < 60000 && !beyond(&b); i++)
            usleep(i < 10 ? 0 : 1000);
        UNIT_HOLDS(beyond(&b));
        hold(m, vcci_engine_release);
    }
}

START_TEST(duty_changes_hands)
{
    int rounds = 10000 / SCALE;
    mail_job(2, &spinning, in_and_out, &rounds);
    mail_job(2, &sleepy, in_and_out, &rounds);
}
END_TEST

/* ---- several callers ---- */

#define CALLERS 4
struct party {
    struct mail *m;
    int rounds;
};

static void *party_main(void *arg)
{
    struct party *p = arg;
    for (uint64_t i = 1; i == 1 || !mail_ended(p->m, i - 1); i++)
        UNIT_HOLDS(mail_wait(p->m, i, LONG) == 0);
    return NULL;
}

/* Every thread of rank 0 waits for every mail. */
static void callers(struct mail *m, void *arg)
{
    struct party p = {.m = m, .rounds = *(int *)arg};
    unsigned seed = 3;
    if (m->me) {
        for (int i = 1, last = 0; !last; i++) {
            last = mail_drive(m, (uint64_t)i, (uint64_t)p.rounds);
            mail_send(m, 0);
            if (random_next(&seed) % 8 == 0)
                usleep(random_next(&seed) % 100);
        }
        return;
    }
    pthread_t threads[CALLERS];
    for (int i = 0; i < CALLERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, party_main, &p), 0);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(threads[i], NULL);
}

START_TEST(many_callers)
{
    int rounds = 10000 / SCALE;
    mail_job(2, &sleepy, callers, &rounds);
    mail_job(2, &spinning, callers, &rounds);
    mail_job(2, &by_caller, callers, &rounds);
}
END_TEST

/* Threads of one process pass a token among them by kick alone: no peer, no poller. */
struct token {
    struct vcci_engine *engine;
    _Atomic int turn;
    int rounds;
};
struct player {
    struct token *token;
    int me;
};

static int my_turn(void *arg)
{
    struct player *p = arg;
    return atomic_load(&p->token->turn) % CALLERS == p->me;
}

static void *player_main(void *arg)
{
    struct player *p = arg;
    struct vcci_waiter w = {.ready = my_turn, .arg = p};
    for (int i = 0; i < p->token->rounds; i++) {
        UNIT_HOLDS(vcci_engine_wait(p->token->engine, &w, LONG) == 0);
        atomic_fetch_add(&p->token->turn, 1);
        vcci_engine_kick(p->token->engine);
    }
    return NULL;
}

static void play(const struct vcci_engine_conf *conf)
{
    struct token t = {.rounds = 5000 / SCALE};
    struct player players[CALLERS];
    pthread_t threads[CALLERS];
    ck_assert_int_eq(vcci_engine_create(conf, &t.engine), 0);
    for (int i = 0; i < CALLERS; i++) {
        players[i] = (struct player){.token = &t, .me = i};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, player_main, &players[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(vcci_engine_lost(t.engine), 0);
    vcci_engine_destroy(t.engine);
}

START_TEST(kick)
{
    play(&sleepy);
    play(&spinning);
    play(&by_caller);
}
END_TEST

/* A thread makes work for a poller under the baton and rings nobody: callers asleep, or the background thread, must see to it all
 * the same. */
static void *make_work(void *arg)
{
    struct party *p = arg;
    for (int i = 1; i <= p->rounds; i++) {
        usleep(100);
        vcci_engine_lock(p->m->engine);
        atomic_fetch_add(&p->m->slots[0].sent, 1);
        vcci_engine_unlock(p->m->engine);
        while (atomic_load(&p->m->got) < (uint64_t)i)
            sched_yield();
    }
    return NULL;
}

static void work_made(struct mail *m, void *arg)
{
    struct party p = {.m = m, .rounds = *(int *)arg};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, make_work, &p), 0);
    for (int i = 1; i <= p.rounds; i++)
        UNIT_HOLDS(mail_wait(m, (uint64_t)i, LONG) == 0);
    pthread_join(thread, NULL);
}

static void work_made_alone(struct mail *m, void *arg)
{
    struct party p = {.m = m, .rounds = *(int *)arg};
    hold(m, vcci_engine_hold);
    make_work(&p);
    hold(m, vcci_engine_release);
}

START_TEST(work_made_here)
{
    int rounds = 1000 / SCALE;
    mail_job(1, &sleepy, work_made, &rounds);
    mail_job(1, &by_caller, work_made, &rounds);
    mail_job(1, &sleepy, work_made_alone, &rounds);
}
END_TEST

/* ---- posts, timers, descriptors ---- */

struct tally {
    struct vcci_engine *engine;
    int n, per_thread; /* n: under the baton */
    _Atomic int full;
};

static void count(void *arg)
{
    struct tally *t = arg;
    UNIT_HOLDS(vcci_engine_locked(t->engine));
    if (++t->n == CALLERS * t->per_thread)
        atomic_store(&t->full, 1);
}

static void *poster(void *arg)
{
    struct tally *t = arg;
    for (int i = 0; i < t->per_thread; i++)
        UNIT_HOLDS(vcci_engine_post(t->engine, count, t) == 0);
    return NULL;
}

static void post_all(const struct vcci_engine_conf *conf)
{
    struct tally t = {.per_thread = 5000 / SCALE};
    pthread_t threads[CALLERS];
    ck_assert_int_eq(vcci_engine_create(conf, &t.engine), 0);
    for (int i = 0; i < CALLERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, poster, &t), 0);
    ck_assert_int_eq(wait_flag(t.engine, &t.full, LONG), 0);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(vcci_engine_lost(t.engine), 0);
    vcci_engine_destroy(t.engine);
}

START_TEST(posts)
{
    post_all(&sleepy);
    post_all(&spinning);
    post_all(&by_caller);
}
END_TEST

/* Without anybody inside, the background thread runs them; what is left at the end runs then. */
START_TEST(posts_alone)
{
    struct tally t = {.per_thread = 1};
    ck_assert_int_eq(vcci_engine_create(&sleepy, &t.engine), 0);
    for (int i = 0; i < CALLERS; i++)
        ck_assert_int_eq(vcci_engine_post(t.engine, count, &t), 0);
    while (!atomic_load(&t.full))
        usleep(100);
    vcci_engine_destroy(t.engine);
    t = (struct tally){.per_thread = 1};
    ck_assert_int_eq(vcci_engine_create(&by_caller, &t.engine), 0);
    for (int i = 0; i < CALLERS; i++)
        ck_assert_int_eq(vcci_engine_post(t.engine, count, &t), 0);
    ck_assert_int_eq(t.n, 0);
    vcci_engine_destroy(t.engine);
    ck_assert_int_eq(t.n, CALLERS);
}
END_TEST

struct chain {
    struct vcci_engine *engine;
    int left;
};

static void post_next(void *arg)
{
    struct chain *c = arg;
    if (c->left-- > 0)
        ck_assert_int_eq(vcci_engine_post(c->engine, post_next, c), 0);
}

START_TEST(posts_of_posts)
{
    for (int threaded = 0; threaded < 2; threaded++) {
        struct vcci_engine_conf conf = {.threaded = threaded};
        struct chain c = {.left = 10};
        ck_assert_int_eq(vcci_engine_create(&conf, &c.engine), 0);
        ck_assert_int_eq(vcci_engine_post(c.engine, post_next, &c), 0);
        vcci_engine_destroy(c.engine);
        ck_assert_int_eq(c.left, -1);
    }
}
END_TEST

struct clockwork {
    struct vcci_engine *engine;
    struct vcci_timer *timer, *once;
    int ticks, tocks;
    _Atomic int enough;
};

static void tick(void *arg)
{
    struct clockwork *c = arg;
    ck_assert(vcci_engine_locked(c->engine));
    if (++c->ticks == 5)
        atomic_store(&c->enough, 1);
}

static void tock(void *arg)
{
    struct clockwork *c = arg;
    c->tocks++;
    vcci_timer_stop(c->once);
}

static void run_timers(const struct vcci_engine_conf *conf)
{
    struct clockwork c = {0};
    ck_assert_int_eq(vcci_engine_create(conf, &c.engine), 0);
    usleep(20000); /* the loop sleeps by now */
    int64_t start = vcci_now_ns();
    vcci_engine_lock(c.engine);
    ck_assert_int_eq(vcci_timer_start(c.engine, 5000000, tick, &c, &c.timer), 0);
    ck_assert_int_eq(vcci_timer_start(c.engine, 3000000, tock, &c, &c.once), 0);
    vcci_engine_unlock(c.engine);
    ck_assert_int_eq(wait_flag(c.engine, &c.enough, LONG), 0);
    ck_assert_int_ge(vcci_now_ns() - start, 20000000); /* five periods, less libev's grain */
    vcci_engine_lock(c.engine);
    int ticks = c.ticks;
    vcci_timer_stop(c.timer);
    vcci_engine_unlock(c.engine);
    usleep(20000);
    vcci_engine_lock(c.engine);
    ck_assert_int_eq(c.ticks, ticks);
    ck_assert_int_eq(c.tocks, 1);
    ck_assert_int_eq(vcci_timer_start(c.engine, 1000000000, tick, &c, &c.timer), 0); /* left for destroy to free */
    vcci_engine_unlock(c.engine);
    vcci_engine_destroy(c.engine);
}

START_TEST(timers)
{
    run_timers(&sleepy);
    run_timers(&spinning);
    run_timers(&by_caller);
    run_timers(&by_caller_spinning);
}
END_TEST

/* A transport with a descriptor: counts the bytes of a pipe. */
struct tap {
    struct vcci_engine *engine;
    struct vcci_poller poller;
    int pipe[2];
    _Atomic int bytes;
    int want;
};

static int tap_fd(struct vcci_poller *poller)
{
    return VCCI_CONTAINER(poller, struct tap, poller)->pipe[0];
}

static int tap_arm(struct vcci_poller *poller)
{
    (void)poller;
    return 0;
}

static int tap_progress(struct vcci_poller *poller, int budget)
{
    struct tap *tap = VCCI_CONTAINER(poller, struct tap, poller);
    char buf[16];
    ssize_t n = read(tap->pipe[0], buf, budget < 16 ? (size_t)budget : sizeof buf);
    if (n > 0)
        atomic_fetch_add(&tap->bytes, (int)n);
    return n > 0 ? (int)n : 0;
}

static const struct vcci_poller_ops tap_ops = {.name = "tap", .fd = tap_fd, .arm = tap_arm, .progress = tap_progress};

static int tap_full(void *arg)
{
    struct tap *tap = arg;
    return atomic_load(&tap->bytes) >= tap->want;
}

static void *tap_writer(void *arg)
{
    struct tap *tap = arg;
    unsigned seed = 1;
    for (int i = 0; i < tap->want; i++) {
        UNIT_HOLDS(write(tap->pipe[1], "x", 1) == 1);
        if (random_next(&seed) % 16 == 0)
            usleep(random_next(&seed) % 200);
    }
    return NULL;
}

static void tap_run(const struct vcci_engine_conf *conf, int alone)
{
    struct tap tap = {.want = 5000 / SCALE};
    struct vcci_waiter w = {.ready = tap_full, .arg = &tap};
    pthread_t writer;
    ck_assert_int_eq(vcci_engine_create(conf, &tap.engine), 0);
    ck_assert_int_eq(pipe2(tap.pipe, O_NONBLOCK | O_CLOEXEC), 0);
    tap.poller.ops = &tap_ops;
    vcci_engine_lock(tap.engine);
    ck_assert_int_eq(vcci_engine_add(tap.engine, &tap.poller), 0);
    vcci_engine_unlock(tap.engine);
    for (int round = 0; round < 3; round++) {
        atomic_store(&tap.bytes, 0);
        ck_assert_int_eq(pthread_create(&writer, NULL, tap_writer, &tap), 0);
        if (alone)
            while (!tap_full(&tap))
                usleep(100);
        else
            ck_assert_int_eq(vcci_engine_wait(tap.engine, &w, LONG), 0);
        pthread_join(writer, NULL);
    }
    vcci_engine_lock(tap.engine);
    vcci_engine_remove(tap.engine, &tap.poller);
    vcci_engine_unlock(tap.engine);
    ck_assert_uint_eq(vcci_engine_lost(tap.engine), 0);
    vcci_engine_destroy(tap.engine);
    close(tap.pipe[0]);
    close(tap.pipe[1]);
}

START_TEST(descriptors)
{
    tap_run(&sleepy, 0);
    tap_run(&spinning, 0);
    tap_run(&sleepy, 1);
    tap_run(&by_caller, 0);
}
END_TEST

/* ---- ends and bounds ---- */

static void expire(const struct vcci_engine_conf *conf)
{
    struct vcci_engine *engine;
    _Atomic int never = 0;
    ck_assert_int_eq(vcci_engine_create(conf, &engine), 0);
    for (int ms = 0; ms < 300; ms = ms * 2 + 1) {
        int64_t deadline = in_ms(ms);
        ck_assert_int_eq(wait_flag(engine, &never, deadline), -VCCL_ERR_TIMEOUT);
        ck_assert_int_ge(vcci_now_ns(), deadline);
    }
    ck_assert_uint_eq(vcci_engine_lost(engine), 0);
    vcci_engine_destroy(engine);
}

START_TEST(deadlines)
{
    expire(&sleepy);
    expire(&spinning);
    expire(&by_caller);
}
END_TEST

struct parking {
    int parked;
    _Atomic int times, over;
    struct vcci_engine *engine;
};

static int parking_over(void *arg)
{
    return atomic_load(&((struct parking *)arg)->over);
}

static void parking_in(void *arg)
{
    struct parking *p = arg;
    ck_assert_int_eq(p->parked++, 0);
    p->times++;
}

static void parking_out(void *arg)
{
    struct parking *p = arg;
    ck_assert_int_eq(--p->parked, 0);
}

static void *end_parking(void *arg)
{
    struct parking *p = arg;
    for (int i = 0; i < 20000 && !atomic_load(&p->times); i++)
        usleep(1000);
    atomic_store(&p->over, 1);
    vcci_engine_kick(p->engine);
    return NULL;
}

static void park_once(const struct vcci_engine_conf *conf)
{
    struct parking p = {0};
    struct vcci_waiter w = {.ready = parking_over, .park = parking_in, .unpark = parking_out, .arg = &p};
    pthread_t thread;
    ck_assert_int_eq(vcci_engine_create(conf, &p.engine), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, end_parking, &p), 0);
    ck_assert_int_eq(vcci_engine_wait(p.engine, &w, LONG), 0);
    ck_assert_int_eq(p.parked, 0);
    ck_assert_int_ge(p.times, 1);
    pthread_join(thread, NULL);
    vcci_engine_destroy(p.engine);
}

START_TEST(parks_around_sleep)
{
    park_once(&sleepy);
    park_once(&by_caller);
}
END_TEST

/* The bell is armed for peers exactly while operations are held and nobody is inside. */
START_TEST(hold_arms_the_bell)
{
    struct vcci_engine *engine;
    _Atomic uint32_t bell = 0;
    _Atomic int never = 0;
    ck_assert_int_eq(vcci_engine_create(&spinning, &engine), 0);
    vcci_engine_set_bell(engine, &bell);
    ck_assert_uint_eq(atomic_load(&bell) & VCCI_BELL_BITS, 0);
    vcci_engine_lock(engine);
    vcci_engine_hold(engine);
    vcci_engine_hold(engine);
    vcci_engine_unlock(engine);
    ck_assert_uint_eq(atomic_load(&bell) & VCCI_BELL_BITS, VCCI_BELL_POLL);
    ck_assert_int_eq(wait_flag(engine, &never, in_ms(5)), -VCCL_ERR_TIMEOUT);
    ck_assert_uint_eq(atomic_load(&bell) & VCCI_BELL_BITS, VCCI_BELL_POLL);
    vcci_engine_lock(engine);
    vcci_engine_release(engine);
    vcci_engine_unlock(engine);
    ck_assert_uint_eq(atomic_load(&bell) & VCCI_BELL_BITS, VCCI_BELL_POLL);
    vcci_engine_lock(engine);
    vcci_engine_release(engine);
    vcci_engine_unlock(engine);
    ck_assert_uint_eq(atomic_load(&bell) & VCCI_BELL_BITS, 0);
    vcci_engine_set_bell(engine, NULL);
    vcci_engine_destroy(engine);
    ck_assert_uint_eq(atomic_load(&bell) & VCCI_BELL_BITS, 0);
}
END_TEST

START_TEST(come_and_go)
{
    for (int i = 0; i < 200 / SCALE; i++) {
        struct vcci_engine *engine;
        ck_assert_int_eq(vcci_engine_create(i % 4 ? &spinning : &by_caller, &engine), 0);
        if (i % 3 == 0)
            usleep(200);
        vcci_engine_destroy(engine);
    }
}
END_TEST

/* Neither a waiting caller nor an idle background thread uses a core: both sleep. 1 % is generous, a spinning thread would show
 * 100. */
START_TEST(waiting_is_free)
{
    static const struct vcci_engine_conf *const confs[] = {&sleepy, &spinning, &by_caller};
    for (int i = 0; i < 3; i++) {
        struct vcci_engine *engine;
        _Atomic int never = 0;
        ck_assert_int_eq(vcci_engine_create(confs[i], &engine), 0);
        double cpu = cpu_seconds();
        ck_assert_int_eq(wait_flag(engine, &never, in_ms(1000)), -VCCL_ERR_TIMEOUT);
        cpu = cpu_seconds() - cpu;
        ck_assert_msg(cpu < 0.01 * SCALE, "a wait of 1 s used %.1f ms of a core", cpu * 1e3);
        vcci_engine_destroy(engine);
    }
}
END_TEST

/* ---- the baton ---- */

struct relay {
    struct vcci_engine *engine;
    int n, inside; /* under the baton */
    int rounds;
};

static void *relay_main(void *arg)
{
    struct relay *r = arg;
    for (int i = 0; i < r->rounds; i++) {
        if (i % 2 || !vcci_engine_trylock(r->engine))
            vcci_engine_lock(r->engine);
        UNIT_HOLDS(vcci_engine_locked(r->engine));
        UNIT_HOLDS(r->inside++ == 0);
        r->n++;
        r->inside--;
        vcci_engine_unlock(r->engine);
        UNIT_HOLDS(!vcci_engine_locked(r->engine));
    }
    return NULL;
}

START_TEST(baton)
{
    struct relay r = {.rounds = 50000 / SCALE};
    pthread_t threads[CALLERS];
    ck_assert_int_eq(vcci_engine_create(&sleepy, &r.engine), 0);
    for (int i = 0; i < CALLERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, relay_main, &r), 0);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(r.n, CALLERS * r.rounds);
    vcci_engine_destroy(r.engine);
}
END_TEST

UNIT_MAIN("engine", ping_pong_asleep, ping_pong_yielding, ping_pong_spinning, ping_pong_by_caller, ring_of_eight, background,
          duty_changes_hands, many_callers, kick, work_made_here, posts, posts_alone, posts_of_posts, timers, descriptors,
          deadlines, parks_around_sleep, hold_arms_the_bell, come_and_go, waiting_is_free, baton)
