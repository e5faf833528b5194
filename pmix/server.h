/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The PMIx server that vcclrun carries inside: it tells ranks who they are, holds what they publish and passes on who died. It runs in threads of
 * PMIx; what they learn comes to the owner as events in a queue behind one descriptor. All calls are for one thread, the owner's.
 */
#ifndef VCCI_PMIX_SERVER_H
#define VCCI_PMIX_SERVER_H

struct vcci_server;

enum vcci_server_kind {
    VCCI_SERVER_JOINED, /* the rank's process (or a child of it) has opened the bootstrap */
    VCCI_SERVER_LEFT,   /* it has closed it in good order                                 */
    VCCI_SERVER_ABORT   /* it asks for the end of the job, with code and text             */
};
struct vcci_server_event {
    enum vcci_server_kind kind;
    int rank, code;
    char text[512];
};

/* Starts the server of a job with `size` ranks on this host. `dir` is a folder of the caller (0700), `host` this host's name. Takes inherited PMIx
 * variables out of this process's environment, so that a job inside another job does not mix with it. One server per process, once. Errors:
 * VCCL_ERR_BOOTSTRAP, VCCL_ERR_NO_MEMORY, VCCL_ERR_SYSTEM. */
int vcci_server_open(const char *dir, const char *host, int size, struct vcci_server **server_out);
/* Ends it and the clients' connections. The folder is left to the caller. */
void vcci_server_close(struct vcci_server *server);

/* What a rank needs in its environment: a NULL-ended copy of `base` with PMIx's variables added; freed by vcci_server_env_free. */
int vcci_server_env(struct vcci_server *server, int rank, char *const *base, char ***env_out);
void vcci_server_env_free(char **env);

int vcci_server_fd(const struct vcci_server *server); /* readable while there are events */
/* 1: *event_out is the next one; 0: there is none. What a rank did before it exited is there before it can be waited for. */
int vcci_server_next(struct vcci_server *server, struct vcci_server_event *event_out);

/* Tells the living ranks that `rank` died with the waitpid status given: their on_death handlers are called. */
int vcci_server_tell_death(struct vcci_server *server, int rank, int status);

#endif
