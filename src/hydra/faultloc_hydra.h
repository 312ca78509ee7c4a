/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_HYDRA_H_INCLUDED
#define FAULTLOC_HYDRA_H_INCLUDED

#include "mpid/ch4/faultloc/base/number.h"
#include "mpid/ch4/faultloc/board/launcher.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * FaultLoc in the process manager.  If it is on, the others are not killed at once when a process
 * ends badly: hydra informs the agents, waits for their verdict, cleans up, and reports which
 * process was the first.  If it is off, nothing here is used but HYD_faultloc_on.
 *
 *     faultloc_hydra.c      both programs: texts
 *     faultloc_base.h       both: what differs between releases of hydra
 *     faultloc_children.c   both: the end of a child
 *     faultloc_message.c    both: checks messages.  Pure
 *     faultloc_proxy.c      the proxy: which process ended, and how; the agent of its node
 *     faultloc_cgroup.c     the proxy: was a process killed for memory
 *     faultloc_pending.c    the proxy: symptoms that its agent has not answered.  Pure
 *     faultloc_process.c    the proxy: who has come to a barrier of PMI, and how the others are
 *     faultloc_connect.c    the proxy: who asks whom in vain for a connection
 *     faultloc_holders.c    the proxy: who still holds the output of ended processes open
 *     faultloc_cleanup.c    the proxy: removes sockets that agents left
 *     faultloc_incident.c   mpiexec: the first process, the consequences, how long to wait.  Pure
 *     faultloc_summary.c    mpiexec: the incident as text, and mpiexec's exit code.  Pure
 *     faultloc_server.c     mpiexec: messages of the proxies; cleaning up
 *     faultloc_lost.c       mpiexec: proxies and launchers that do not answer
 *     faultloc_keepalive.c  mpiexec: a connection that is watched, and its options before
 *     faultloc_barrier.c    mpiexec: a barrier of PMI to which not all come
 *     faultloc_arrival.c    mpiexec: when to ask about those, and when to say so.  Pure
 *     faultloc_late.c       mpiexec: what is said of them.  Pure
 *     faultloc_hosts.c      mpiexec: lists of hosts and of ranks as text.  Pure
 */

/* The command of a header between proxy and mpiexec, both ways: none of hydra's own. */
#define HYD_FAULTLOC_CMD 0x4c46

/* What travels behind it.  Both are of one build, as for all that hydra sends. */
enum HYD_faultloc_what {
    HYD_FAULTLOC_END, /* to mpiexec: a process ended */
    HYD_FAULTLOC_ABORT, /* to mpiexec: a process called MPI_Abort; `status` is its code */
    HYD_FAULTLOC_REPLY, /* to mpiexec: whether an agent accepted the symptom about `rank`, see
                         * `accepted` and `pending` */
    HYD_FAULTLOC_LAUNCHER_MESSAGE, /* to mpiexec: an agent's message about a verdict */
    HYD_FAULTLOC_SYMPTOM_FOR_AGENT, /* to a proxy: send this symptom about `rank` to your agent */
    HYD_FAULTLOC_ALL_CAME, /* to mpiexec: all processes have come to the next barrier of PMI */
    HYD_FAULTLOC_WHO_IS_LATE, /* to a proxy: who has not come to barrier `ref` of PMI? */
    HYD_FAULTLOC_ARRIVALS, /* to mpiexec: the answer; also unasked, where some have come and others
                            * have not */
    HYD_FAULTLOC_LEFT, /* to mpiexec: all processes have ended or left MPI, and some keep mpiexec
                        * waiting */
    HYD_FAULTLOC_CONNECTS, /* to mpiexec: process `end` has asked `ref` times in vain for a
                            * connection, in end.age_ms; `symptom` says to whom */
    HYD_FAULTLOC_WHATS
};

/* As a symptom: the agent prints the job's status. */
#define HYD_FAULTLOC_STATUS "{\"status\": \"print\"}"
#define HYD_FAULTLOC_SYMPTOM 512 /* bytes of a symptom as JSON, at most */

/* How a process ended, as its proxy knows it. */
struct HYD_faultloc_end {
    int32_t rank, pid;
    int32_t status; /* of wait(); of an abort: its code */
    int32_t age_ms; /* of an end: for how long the proxy has known of it */
    int64_t rss_kib, cpu_ms;
    uint8_t inited, finalized; /* it had called MPI_Init, MPI_Finalize */
    uint8_t killed; /* by the proxy itself */
    uint8_t oom; /* by the kernel, for memory */
    uint8_t inner; /* the rank is not `pid` but was started by it: `status` is not the rank's */
    uint8_t unsure; /* it counts only while a verdict stands that says the same */
    uint8_t agent; /* the node has had an agent */
    uint8_t accepted; /* an agent has accepted the symptom */
    uint8_t pending; /* it was sent to an agent, which has not answered yet */
    uint8_t others; /* there are more processes here, of which one may become the agent */
};

#define HYD_FAULTLOC_GROUPS 8 /* of processes of one proxy; the last one is of all others */
#define HYD_FAULTLOC_STATE 112 /* bytes of the state of a process as text, at most */

/* Processes of one proxy that have not come to a barrier, and are in the same state. */
struct HYD_faultloc_group {
    int32_t pid; /* 0: of several */
    uint8_t inside; /* they are in MPI_Finalize, and close their connections */
    struct faultloc_launcher_ranks ranks;
    char state[HYD_FAULTLOC_STATE]; /* "MPI_Init not called; app stopped" */
};

/* Who of a proxy has come to a barrier of PMI. */
struct HYD_faultloc_arrivals {
    int32_t barrier; /* which one, counted from 1 */
    int32_t come; /* how many */
    int32_t first_ms, last_ms; /* for how long the first and the last of these have been there, or
                                * have been inside MPI_Finalize; -1: there is none */
    uint8_t agent; /* the node has had an agent: all were in MPI_Init */
    uint8_t put; /* some put a value into PMI's store before they came, which is for MPI_Init */
    int32_t groups;
    struct HYD_faultloc_group group[HYD_FAULTLOC_GROUPS];
};

struct HYD_faultloc_msg {
    int32_t what; /* enum HYD_faultloc_what */
    int32_t ref; /* of a symptom for an agent, and of its reply: which one; else 0 */
    struct HYD_faultloc_end end;
    union { /* as `what` says */
        struct HYD_faultloc_arrivals arrivals;
        struct faultloc_launcher_message message;
        char symptom[HYD_FAULTLOC_SYMPTOM];
    };
};

/* Purpose: how many bytes of such a message travel to mpiexec: many have nothing in the last part. */
size_t HYD_faultloc_msg_size(int what);

/* Whether FaultLoc is on in this job; in mpiexec after HYD_faultloc_server_init, in a proxy after
 * HYD_faultloc_proxy_begin. */
extern int HYD_faultloc_on;

/* mpiexec informs the proxies by this variable, which is for all processes, that FaultLoc is on. */
#define HYD_FAULTLOC_ENV "HYDI_FAULTLOC"

/* Purpose: how a process ended, for people: "signal 11 (SIGSEGV), core dumped", "exit code 3
 * before MPI_Finalize", "killed for memory, signal 9 (SIGKILL)".  Returns `out`. */
const char *HYD_faultloc_how(const struct HYD_faultloc_end *end, char *out, size_t room);

/* Purpose: a piece of a line, or its end, safe for a terminal whatever the names in it are.  Where
 * nobody reads it any more, nothing happens. */
void HYD_faultloc_say(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Purpose: a text as it may stand between quotation marks in JSON, and on a terminal: what is not
 * printable is '?'.  Cut where it does not fit.  Returns `out`. */
const char *HYD_faultloc_escape(const char *text, char *out, size_t room);

/* Purpose: the symptom of a process that ended, as the agent's symptom socket reads it. */
void HYD_faultloc_symptom(const struct HYD_faultloc_end *end, char *out, size_t room);

/* Purpose: true if this is the end of a process that had more to do: by a signal, or between
 * MPI_Init and MPI_Finalize. */
bool HYD_faultloc_is_crash(const struct HYD_faultloc_end *end);

/* Purpose: true if `len` bytes are a valid message: of this build, with a known kind, terminated
 * texts, an ended rank below `size` (INT32_MAX: any), and ranges of such ranks in ascending order.
 * Pure. */
bool faultloc_launcher_is_message(const void *bytes, size_t len, int32_t size);

/* Purpose: true if a proxy in a process group of `size` ranks can have answered this.  Pure. */
bool HYD_faultloc_is_arrivals(const struct HYD_faultloc_arrivals *a, int32_t size);

#endif /* FAULTLOC_HYDRA_H_INCLUDED */
