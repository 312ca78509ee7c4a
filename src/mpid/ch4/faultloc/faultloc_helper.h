/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_HELPER_H_INCLUDED
#define FAULTLOC_HELPER_H_INCLUDED

#include "faultloc_agent.h"
#include "faultloc_watch.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

/*
 * What the files of the helper thread share: faultloc_helper.c (the offices and who holds them),
 * faultloc_agent.c (the agent's loop), faultloc_deputy.c (the deputy's).
 */

struct faultloc_helper {
    struct faultloc_board *board;
    int32_t slot;
    struct faultloc_settings settings;
    struct faultloc_ports ports; /* until adopted; port 0: none */
    pthread_t thread;
    sem_t ready;     /* posted once slot 0 holds its office */
    int wake;        /* eventfd: look at `stopping` */
    atomic_bool stopping;
    atomic_bool has_office;
    atomic_bool abandoned; /* set by the first of rank and thread that is done with it */
    struct faultloc_watch watch;
    struct ftree_job job;
    const char **names;
    int32_t self;
};

/* Purpose: CLOCK_MONOTONIC, ns. */
ftree_time faultloc_now(void);

/* Purpose: adds a descriptor to an epoll set with `tag` as its data.  Errors: an errno. */
int faultloc_epoll_add(int epoll, int fd, uint64_t tag);

/* Purpose: waits for the set until `deadline` (ns; UINT64_MAX: for ever); returns the tags that are
 * ready, at most `room`. */
int faultloc_epoll_wait(int epoll, ftree_time deadline, uint64_t *tags, int room);

/* Purpose: makes the channel of this node; callbacks as given.  NULL in *out and 0: the node is
 * alone and needs none.  Errors: an errno. */
int faultloc_helper_channel(struct faultloc_helper *h,
                            const struct faultloc_channel_callbacks *callbacks, void *ctx,
                            struct faultloc_channel **out);

/* Purpose: the agent's loop, until the rank stops; the office is held.  */
void faultloc_agent_serve(struct faultloc_helper *h);

/* Purpose: the deputy's loop; returns true when it has become the agent (and holds that mutex,
 * too), false when the rank stops. */
bool faultloc_deputy_serve(struct faultloc_helper *h);

/* Purpose: takes a robust mutex, in whatever state its last holder left it.  wait: sleep for it.
 * Returns 0, EBUSY (held, and not to be waited for), or an errno that will not go away. */
int faultloc_office_take(pthread_mutex_t *office, bool wait);

#endif /* FAULTLOC_HELPER_H_INCLUDED */
