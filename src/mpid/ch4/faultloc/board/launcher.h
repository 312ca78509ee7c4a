/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_LAUNCHER_H_INCLUDED
#define FAULTLOC_LAUNCHER_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How the agent of a node and the process manager's daemon on the same node (hydra's proxy) inform
 * each other. The daemon sends symptoms as any other middleware does, to the agent's symptom socket
 * (io/symptom_socket.h). For the other direction each daemon has one Unix datagram socket: it makes
 * the socket before it starts the ranks, whose environment names it in FAULTLOC_LAUNCHER, and the
 * agent sends it messages of one form:
 *
 *     hello     the path of the agent's symptom socket; again from each successor
 *     verdict   what was reported to people; only from the agent that reports
 *     withdrawn that one is over
 *     ending    because of a verdict the agent ends the job: ranks of the node that are in MPI will
 *               call MPI_Abort, or it is about to kill one
 *     finalizing ranks of the node have been in MPI_Finalize for a while; again when more are
 *     reason    why a rank ends, where its end does not show it; from the rank itself, or its agent
 *
 * A name that begins with '@' is one of the kernel's (the abstract namespace): it has no file and
 * goes with its process.  It belongs to the network namespace: ranks in another one, such as those
 * of some containers, do not reach it, and their daemon gets no message.
 *
 * Both ends are of one build on one host, so a message is a struct as it is in memory; the receiver
 * checks it first.  Of the glue's headers the process manager includes this one, base/number.h and
 * base/grow.h.
 */

#define FAULTLOC_LAUNCHER_ENV "FAULTLOC_LAUNCHER"
#define FAULTLOC_LAUNCHER_MAGIC 0x464c5731u /* "FLW1" */
#define FAULTLOC_LAUNCHER_PATH 108 /* as long as the address of a Unix socket can be */
#define FAULTLOC_LAUNCHER_RANGES 16
#define FAULTLOC_LAUNCHER_LINE 256
#define FAULTLOC_LAUNCHER_FINALIZING_MS 5000 /* so long until the first message about them */
/* A key of PMI that a rank puts at the end of MPI_Finalize, where PMI_Finalize comes at its exit. */
#define FAULTLOC_LAUNCHER_KEY_OUTSIDE "faultloc-outside"
#define FAULTLOC_LAUNCHER_ABORT_CODE 1 /* with which ranks call MPI_Abort because of a verdict */

enum faultloc_launcher_kind {
    FAULTLOC_LAUNCHER_HELLO,
    FAULTLOC_LAUNCHER_VERDICT,
    FAULTLOC_LAUNCHER_WITHDRAWN,
    FAULTLOC_LAUNCHER_ENDING,
    FAULTLOC_LAUNCHER_FINALIZING,
    FAULTLOC_LAUNCHER_REASON,
    FAULTLOC_LAUNCHER_KINDS
};

enum faultloc_launcher_reason {
    FAULTLOC_REASON_NONE,
    FAULTLOC_REASON_ABORT, /* it has called MPI_Abort on a part of the job: "called MPI_Abort(7) on ..." */
    FAULTLOC_REASON_MPI, /* an error of MPI is fatal: "message truncated, in MPI_Recv(...)" */
    FAULTLOC_REASON_OTHER, /* another's MPI_Abort has: "was ended by MPI_Abort(7) of rank 3" */
    FAULTLOC_REASON_LOSS, /* an operation of it failed because another is lost; no text */
    FAULTLOC_REASONS
};
#define FAULTLOC_REASON_SIZE 224 /* bytes of its text, at most */

/* Ranks of the world as ranges; `count` counts all of them, also those for which there is no
 * room. */
struct faultloc_launcher_ranks {
    int32_t count, ranges;
    struct {
        int32_t first, last;
    } range[FAULTLOC_LAUNCHER_RANGES];
};

/* Purpose: adds a rank, which is above all in *r that have a range. */
static inline void faultloc_launcher_add_rank(struct faultloc_launcher_ranks *r, int32_t rank)
{
    r->count++;
    if (r->ranges && r->range[r->ranges - 1].last == rank - 1)
        r->range[r->ranges - 1].last = rank;
    else if (r->ranges < FAULTLOC_LAUNCHER_RANGES) {
        r->range[r->ranges].first = r->range[r->ranges].last = rank;
        r->ranges++;
    }
}

struct faultloc_launcher_message {
    uint32_t magic;
    uint32_t bytes; /* sizeof(struct faultloc_launcher_message) */
    uint32_t kind; /* enum faultloc_launcher_kind */
    char symptom_socket[FAULTLOC_LAUNCHER_PATH]; /* of a hello */

    /* of an ending, besides what a verdict has: */
    int32_t ended_rank, ended_pid; /* who is killed; -1, 0: those in MPI call MPI_Abort; of a reason:
                                    * who ends */
    uint8_t reason; /* of a reason: enum faultloc_launcher_reason; `line` is its text */

    /* of a verdict: */
    uint32_t id; /* with `fln`: this verdict and no other */
    int32_t fln;
    char class_[24]; /* its name, "process-crash" */
    char host[64]; /* name of the component's node */
    char line[FAULTLOC_LAUNCHER_LINE]; /* the first line of the report, "process-crash: rank ..." */
    uint8_t ends_ranks; /* it says that the component's ranks are gone for good */
    struct faultloc_launcher_ranks ranks; /* of the component; or those in MPI_Finalize */
    struct faultloc_launcher_ranks victims;
};

/* Purpose: sends it to the socket `path` ("": there is none; "@NAME": without a file), at once or
 * not at all: nobody waits for a launcher.  Not for the process manager.
 * Errors: an errno. */
int faultloc_launcher_send(const char *path, const struct faultloc_launcher_message *w);

/* Purpose: the message why `rank`, process `pid`, ends; sent at once. */
void faultloc_launcher_send_reason(const char *path, int32_t rank, int32_t pid,
                                   enum faultloc_launcher_reason reason, const char *text);

#endif /* FAULTLOC_LAUNCHER_H_INCLUDED */
