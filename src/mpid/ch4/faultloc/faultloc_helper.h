/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_HELPER_H_INCLUDED
#define FAULTLOC_HELPER_H_INCLUDED

#include "faultloc_agent.h"
#include "faultloc_clock.h"
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
    sem_t ready; /* posted once slot 0 serves, or cannot */
    int error; /* why it cannot, 0: it does */
    int wake; /* eventfd: look at `stopping` */
    atomic_bool stopping;
    atomic_bool quitting; /* in the middle of the job: as soon as those around it know */
    atomic_bool has_office;
    atomic_bool abandoned; /* set by the first of rank and thread that is done with it */
    _Atomic(struct faultloc_channel *) channel; /* for a forked child */
    atomic_int door; /* the agent's for symptoms, -1: none; likewise */
    struct faultloc_watch watch;
    struct ftree_job job;
    struct ftree_tree *tree; /* the FLT from outside, over the board; NULL: there is none */
    const char **names;
    int32_t self;
};

/* Purpose: starts a thread in which no signal is delivered: they are the program's, and hydra's.
 * Errors: an errno. */
int faultloc_thread_start(pthread_t *thread, void *(*body)(void *), void *arg);

/* Purpose: adds a descriptor to an epoll set with `tag` as its data.  Errors: an errno. */
int faultloc_epoll_add(int epoll, int fd, uint64_t tag);

/* Purpose: waits for the set until `deadline` (ns; UINT64_MAX: for ever); returns how many tags are
 * ready, at most `room`, or -1: there is nothing to wait on any more. */
int faultloc_epoll_wait(int epoll, ftree_time deadline, uint64_t *tags, int room);

/* Purpose: makes the channel of this node; callbacks as given.  NULL in *out and 0: the node is
 * alone and needs none.  Errors: an errno. */
int faultloc_helper_channel(struct faultloc_helper *h,
                            const struct faultloc_channel_callbacks *callbacks, void *ctx,
                            struct faultloc_channel **out);

/* Purpose: ends that channel; NULL is allowed. */
void faultloc_helper_channel_end(struct faultloc_helper *h, struct faultloc_channel *channel);

/* Purpose: tells who waits in faultloc_helper_start() that the agent serves (0), or why not. */
void faultloc_helper_ready(struct faultloc_helper *h, int error);

/* Purpose: listens for `role`, if it is time to: at *at, which is then set to when to try again,
 * FTREE_NEVER: it listens.  *pause is the caller's, 0 at first: tries become rarer.  Returns true
 * when it has just begun to listen on all paths. */
bool faultloc_helper_listen(struct faultloc_channel *channel, enum faultloc_role role,
                            ftree_time now, ftree_time *at, ftree_time *pause);

/* Purpose: the agent's loop, until the rank stops; the office is held.  */
void faultloc_agent_serve(struct faultloc_helper *h);

/* Purpose: does the agent's work while its process is stopped, without its office or its port; for
 * a node that is the whole job, where nobody else would ask.  Returns when the agent runs again or
 * is gone, or the rank stops. */
void faultloc_agent_stand_in(struct faultloc_helper *h);

/* Purpose: the deputy's loop; returns true when it has become the agent (and holds that mutex,
 * too), false when the rank stops. */
bool faultloc_deputy_serve(struct faultloc_helper *h);

/* Purpose: takes a robust mutex, in whatever state its last holder left it.  wait: sleep for it.
 * Returns 0, EBUSY (held, and not to be waited for), or an errno that will not go away. */
int faultloc_office_take(pthread_mutex_t *office, bool wait);

#endif /* FAULTLOC_HELPER_H_INCLUDED */
