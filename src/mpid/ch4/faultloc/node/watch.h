/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_WATCH_H_INCLUDED
#define FAULTLOC_WATCH_H_INCLUDED

#include "faultloc/board/board.h"

/*
 * Observing: what the slots of the board, seen from time to time, say about the own node's ranks.
 *
 * A rank waits since the moment its wait loop noted, where it noted one and still turns; else, in
 * a call that has been the same since an earlier look, since that look.  A loop that has not turned
 * for a second is not believed to be waiting where it says: the wait ended, and the call goes on
 * with something that notes nothing.  With many threads the call does not tell that a wait has
 * ended; then its loop must turn from look to look.
 *
 * A rank that asks again and again in vain waits, too, since the last call that came to something:
 * for nobody in particular, and only while it is seen to ask.
 *
 * A rank that was stopped, or whose loop stood still in a wait for half a second, waits since it
 * was seen to go on: nobody is late because it did not run itself.
 */

/* What a rank had done at some moment, as base/proc.h has it. */
struct faultloc_done {
    uint64_t ticks, done, turns, moved; /* moved: bytes read and written */
    ftree_time at; /* 0: not known */
    ftree_time since; /* it had done as much at all looks from then on */
    ftree_time acted; /* when it was last seen to have done more; 0: never in its present stay */
    ftree_time transferred; /* when it last was seen to have moved much in this stay; 0: it was not */
    uint64_t first; /* ticks when its present stay was first asked for */
};

struct faultloc_seen {
    uint64_t call, spins;
    ftree_time call_since, spins_since; /* when each was first seen as it is; 0: never seen */
    uint64_t useful, polls; /* calls that ended but for those that asked in vain; these */
    ftree_time useful_since, polled; /* when the former last grew, and the latter since a look; 0:
                                      * never */
    ftree_time turned; /* when the loop was last seen to have turned since a look; 0: never */
    ftree_time looked; /* at it, last */
    bool stopped; /* at the last look; then /proc is read at the next one, too */
    ftree_time lacks; /* since when it was seen to wait for memory of its control group; 0: it does not */
    uint64_t lacks_done; /* what it had done by then */
    ftree_time held; /* when it was last seen stopped, or to go on after it stood still; 0: never */
    ftree_time left; /* when it was first seen to have left; 0: never */
    ftree_time outside; /* since when it was seen outside MPI, no call having ended since; 0: it is inside */
    ftree_time gaps; /* time of that in which it was stopped, or nobody looked */
    ftree_time counts; /* from when that counts: since, or after the last interruption */
    uint64_t outside_calls; /* `useful` then */
    uint32_t visited; /* the call in which it was seen last, */
    uint64_t visited_calls; /* `useful` then */
    bool visits; /* it was in one */
    struct faultloc_done done; /* when its stay was asked for last (samples.h) */
    bool gone;
    bool decided; /* it is gone, and goes on in no other process */
    ftree_time unborn; /* its process has ended; until then a child is awaited that may go on as the
                        * rank; 0: none is */
    bool presumed; /* its process has ended, and another one goes on as the rank, as it seems */
};

/* A call in which ranks of this node were seen, and how often: each time that it was over by the
 * next look. */
struct faultloc_visit {
    uint32_t call, times; /* times 0: none */
};

#define FAULTLOC_VISITS 32 /* calls that are kept: of others those that were seen most seldom are forgotten */
#define FAULTLOC_FAMILIAR 5 /* times */

struct faultloc_watch {
    const struct faultloc_board *board;
    const char *proc_root; /* NULL: /proc */
    struct faultloc_seen *seen; /* [slots], the caller's, zeroed */
    struct faultloc_visit visit[FAULTLOC_VISITS];
    const int *pid_fd; /* [slots], descriptors of the processes, -1: none; NULL: there are none */
    int32_t turn; /* the slot of which /proc was last asked if it is stopped */
};

/* Purpose: looks at local rank i and says what it does; all of *state is filled in but proc_state,
 * which is 0 where `with_proc` is false.  A process that no longer exists is GONE for good.
 * Reads a few files of /proc at the most, and only if with_proc. */
void faultloc_watch_look(struct faultloc_watch *w, ftree_time now, int32_t i, bool with_proc,
                         struct ftree_rank_state *state);

/* Purpose: whether local rank i is outside MPI, as the look says that has just been made of it, or
 * in a call in which MPI's progress has not turned for a second: a file's, or one that hangs (not so
 * with many threads, of which it is not known which call makes no progress).  One that asks again
 * and again in vain counts as inside. */
bool faultloc_watch_is_outside(const struct faultloc_watch *w, int32_t i,
                               const struct ftree_rank_state *state);

/* Purpose: true if local rank i, whose process is gone, has exited by itself a moment after an
 * operation of it failed because another rank is lost: it is a victim of that. */
bool faultloc_watch_is_consequence(const struct faultloc_watch *w, ftree_time now, int32_t i);

/* Purpose: true if ranks of this node were seen in this call FAULTLOC_FAMILIAR times before. */
bool faultloc_watch_is_familiar(const struct faultloc_watch *w, uint32_t call);

/* Purpose: when local rank i is to be looked at again, that it is known how long its stay outside
 * MPI was, which the last sample, at `sampled`, has seen; FTREE_NEVER: that is as good at the next
 * sample. */
ftree_time faultloc_watch_again(const struct faultloc_watch *w, ftree_time now, int32_t i,
                                ftree_time sampled);

/* Purpose: asks /proc of one rank, of another one each time, whether it is stopped: to be called at
 * each look at the board, so that a suspension of all is seen by the next one, at the cost of one
 * file. True: ftree_rank_stopped() is to be called. */
bool faultloc_watch_is_stopped(struct faultloc_watch *w, ftree_time now);

/* Purpose: whether any local rank was stopped when it was last looked at; one that was is asked
 * about at each look. */
bool faultloc_watch_any_stopped(const struct faultloc_watch *w);

/* Purpose: the process of local rank i has ended, as the kernel says. */
void faultloc_watch_gone(struct faultloc_watch *w, int32_t i);

/* Purpose: that process has ended, and whether local rank i goes on in another one is not known
 * until then: meanwhile it counts as being outside MPI. */
void faultloc_watch_await(struct faultloc_watch *w, int32_t i, ftree_time until);

/* Purpose: that process has ended, but local rank i goes on in another one, which its slot names
 * by now. presumed: it is not known how the process ended. */
void faultloc_watch_goes_on(struct faultloc_watch *w, int32_t i, bool presumed);

/* Purpose: the launcher says that this rank has ended, of which it was presumed that it goes on. */
void faultloc_watch_ended(struct faultloc_watch *w, int32_t rank);

/* Purpose: for an agent that succeeds the one it was forked by: that one may have ended before it
 * had reported the ends that it saw, so each is found again; and what it saw may be long ago. */
void faultloc_watch_take_over(struct faultloc_watch *w);

/* Purpose: true if every local rank has left or is gone. */
bool faultloc_watch_all_left(struct faultloc_watch *w);

/* Purpose: the MPI function that (the low half of) a slot's `call` says the rank is in, as
 * "MPI_Recv"; a constant string.  "user code": in none; "MPI": in one that is not known by name.
 * Calls nest, and then the sum of their identifiers is nobody's. */
const char *faultloc_call_name(uint32_t call);

/* Purpose: what MPICH's handle of a builtin operator stands for, as "MPI_SUM"; a constant string.
 * "an operator": of none. */
const char *faultloc_op_name(uint32_t op);

#endif /* FAULTLOC_WATCH_H_INCLUDED */
