/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/engine/libev.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "lib/base/err.h"

struct vcci_libev vcci_libev;

static const struct {
    const char *name;
    size_t offset;
} calls[] = {
#define X(name) {#name, offsetof(struct vcci_libev, name)},
    VCCI_LIBEV_CALLS(X)
#undef X
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int loaded;

/* Never unloaded: a thread may still be on its way out of it. A load that failed, for want of memory perhaps, is tried anew by the next caller. */
static int load(void)
{
    void *lib = dlopen("libev.so.4", RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; lib && i < sizeof calls / sizeof *calls; i++) {
        void *call = dlsym(lib, calls[i].name);
        if (!call)
            return 0;
        memcpy((char *)&vcci_libev + calls[i].offset, &call, sizeof call);
    }
    return lib != NULL;
}

int vcci_libev_load(void)
{
    int rc = 0;

    pthread_mutex_lock(&mutex);
    if (!loaded)
        loaded = load();
    if (!loaded)
        rc = vcci_fail(VCCL_ERR_SYSTEM, "libev, the event loop of the progress engine, cannot be loaded: %s", dlerror());
    pthread_mutex_unlock(&mutex);
    return rc;
}
