/* SPDX-License-Identifier: BSD-3-Clause
 *
 * libev, loaded at run time and seen by loop.c alone. It must not be linked: libev also exports libevent's names (event_add and so on, as a
 * compatibility layer), and libpmix, which wants the real libevent, would be bound to those and crash.
 */
#ifndef VCCI_ENGINE_LIBEV_H
#define VCCI_ENGINE_LIBEV_H

#include <ev.h>

#define VCCI_LIBEV_CALLS(X)                                                                                                         \
    X(ev_async_send) X(ev_async_start) X(ev_break) X(ev_check_start) X(ev_idle_start) X(ev_idle_stop) X(ev_io_start) X(ev_io_stop)  \
    X(ev_loop_destroy) X(ev_loop_new) X(ev_now_update) X(ev_prepare_start) X(ev_run) X(ev_set_loop_release_cb)                      \
    X(ev_set_userdata) X(ev_timer_start) X(ev_timer_stop) X(ev_userdata)

struct vcci_libev {
#define VCCI_LIBEV_FIELD(name) __typeof__(name) *name;
    VCCI_LIBEV_CALLS(VCCI_LIBEV_FIELD)
#undef VCCI_LIBEV_FIELD
};
extern struct vcci_libev vcci_libev;

/* Before any other call. VCCL_ERR_SYSTEM where there is no libev. Any thread, any number of times. */
int vcci_libev_load(void);

#define ev_async_send(...) vcci_libev.ev_async_send(__VA_ARGS__)
#define ev_async_start(...) vcci_libev.ev_async_start(__VA_ARGS__)
#define ev_break(...) vcci_libev.ev_break(__VA_ARGS__)
#define ev_check_start(...) vcci_libev.ev_check_start(__VA_ARGS__)
#define ev_idle_start(...) vcci_libev.ev_idle_start(__VA_ARGS__)
#define ev_idle_stop(...) vcci_libev.ev_idle_stop(__VA_ARGS__)
#define ev_io_start(...) vcci_libev.ev_io_start(__VA_ARGS__)
#define ev_io_stop(...) vcci_libev.ev_io_stop(__VA_ARGS__)
#define ev_loop_destroy(...) vcci_libev.ev_loop_destroy(__VA_ARGS__)
#define ev_loop_new(...) vcci_libev.ev_loop_new(__VA_ARGS__)
#define ev_now_update(...) vcci_libev.ev_now_update(__VA_ARGS__)
#define ev_prepare_start(...) vcci_libev.ev_prepare_start(__VA_ARGS__)
#define ev_run(...) vcci_libev.ev_run(__VA_ARGS__)
#define ev_set_loop_release_cb(...) vcci_libev.ev_set_loop_release_cb(__VA_ARGS__)
#define ev_set_userdata(...) vcci_libev.ev_set_userdata(__VA_ARGS__)
#define ev_timer_start(...) vcci_libev.ev_timer_start(__VA_ARGS__)
#define ev_timer_stop(...) vcci_libev.ev_timer_stop(__VA_ARGS__)
#define ev_userdata(...) vcci_libev.ev_userdata(__VA_ARGS__)

#endif
