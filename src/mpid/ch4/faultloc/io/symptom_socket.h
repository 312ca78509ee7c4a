/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_SYMPTOM_SOCKET_H_INCLUDED
#define FAULTLOC_SYMPTOM_SOCKET_H_INCLUDED

#include "ftree.h"

#include <sys/types.h>

/*
 * The symptom socket: how other middleware (a scheduler's prolog, a hardware monitor, a network
 * manager, a user) reports what it observed to the agent of a node.  A Unix datagram socket, one
 * JSON object for each datagram:
 *
 *     {"kind": "power-off", "component": "node h2", "severity": "fatal", "detail": "...",
 *      "errno": "EHOSTUNREACH", "age_ms": 120, "count": 1}
 *
 * Only "kind" must be there.  A component is "node NAME", "rank N", "nic NAME[:IFACE]",
 * "link NAME[:IFACE]" or "switch NAME"; left out: the agent's own node.
 *
 * The job's own user and root are heard, nobody else.  A sender gets a line back, "ok" or what is
 * wrong, on the Unix socket that it sent along as a descriptor (SCM_RIGHTS), or else at the name
 * that it is bound to, a path or an abstract one.  The descriptor needs no name, leaves nothing
 * behind, and works from another network namespace.  What is wrong is also said on the job's
 * stderr, a few times.
 *
 * Datagrams that begin with {"status":, {"ask": or {"set": are requests, which may be answered
 * later, on the descriptor that was sent along (agent/serve).
 *
 * A folder of symptom sockets, and each socket in it, belongs to the user whose jobs they are of;
 * the folder is closed to all others and no symbolic link. Both are examined by descriptor, and
 * what was examined is what is used, so that nothing can be put in its place in between.
 *
 *     symptom_socket.c        the socket
 *     symptom_parse.c   from a datagram to a symptom
 */

#define FAULTLOC_SYMPTOM_BYTES 1024 /* of a datagram */
#define FAULTLOC_SYMPTOM_ERROR 256
#define FAULTLOC_SYMPTOM_PATH 108 /* as long as the address of a Unix socket can be */
#define FAULTLOC_STATUS_REQUEST "{\"status\": "
#define FAULTLOC_ASK_QUESTION "{\"ask\": \""
#define FAULTLOC_SET_REQUEST "{\"set\": "
#define FAULTLOC_STATUS_BYTES (128 * 1024) /* of its answer, at most */
#define FAULTLOC_REPLY_BYTES (64 * 1024) /* of an answer in one datagram */
#define FAULTLOC_REPLY_IN_FILE "in a file"
#define FAULTLOC_SYMPTOM_TURN 64 /* datagrams read in one turn of the agent's loop */

struct faultloc_symptom_socket {
    const struct ftree_job *job;
    int32_t self;
    uid_t uid; /* who may send, besides root */
    int fd; /* -1: closed */
    char path[FAULTLOC_SYMPTOM_PATH];
    ftree_time first_try; /* 0: none yet */
    int number; /* in its name: 1: that is the plain one; 0: not known yet */
    bool given_up, refusal_reported;
    int complaints;
    uint32_t taken; /* datagrams that were not refused; it wraps */
    /* Takes a request from this user, and the socket for the answer, which is then -1 here (-1:
     * none was sent).  Returns what is to be answered at once, "": nothing.  NULL: none are
     * taken. */
    const char *(*request)(void *ctx, ftree_time now, const char *text, size_t len, uid_t uid,
                           int *reply, char *error);
    void *request_ctx;
};

/* Purpose: the folder of the symptom sockets of a user's jobs: $XDG_RUNTIME_DIR/faultloc where that
 * is a directory of this user, else /tmp/faultloc-UID. Returns false where it does not fit. */
bool faultloc_symptom_socket_folder(uid_t uid, char *out, size_t room);

/* Purpose: opens a folder of symptom sockets (O_PATH), if it is a directory of `owner` with mode
 * 0700 and no symbolic link. Returns a descriptor, to be closed by the caller, or -1 with errno;
 * EPERM: it is another's, or open to others. */
int faultloc_symptom_socket_open_folder(const char *path, uid_t owner);

/* Purpose: a datagram socket that is connected to socket `name` of an opened folder, if that is a
 * socket of `owner`; no symbolic link is followed.  Returns a descriptor, to be closed by the
 * caller, or -1 with errno; ECONNREFUSED: nobody is bound to it any more. */
int faultloc_symptom_socket_connect(int folder, const char *name, uid_t owner);

/* Purpose: begins; nothing is opened yet.  An agent that succeeds another one sets the number that
 * that one had. */
void faultloc_symptom_socket_init(struct faultloc_symptom_socket *d, const struct ftree_job *job,
                                  int32_t self);

/* Purpose: opens the symptom socket where it is not open and can be: makes the folder, replaces the
 * socket of an agent that is dead, and removes those that other dead agents of this node left
 * behind. One that the kernel has not closed yet is waited for by calling again; one that stays is
 * of another start of a job of this name, and then its own has a number, JOB.2@NODE.sock. What
 * cannot be is said, once.
 * Returns true when it has just been opened. */
bool faultloc_symptom_socket_open(struct faultloc_symptom_socket *d, ftree_time now,
                                  const char *job_id);

/* Purpose: the next symptom that was received, with times by the clock of `now`; false: there is
 * none, or `FAULTLOC_SYMPTOM_TURN` datagrams were read for this `*budget`, which the caller sets to
 * 0 before the first call of a turn. */
bool faultloc_symptom_socket_next(struct faultloc_symptom_socket *d, ftree_time now, int *budget,
                                  struct ftree_symptom *s);

/* Purpose: closes it and removes its name. */
void faultloc_symptom_socket_close(struct faultloc_symptom_socket *d);

/* Purpose: reads one datagram; `self` is the agent's own node.  Returns false and says why in
 * `error`, which has FAULTLOC_SYMPTOM_ERROR bytes.  Pure. */
bool faultloc_symptom_parse(const struct ftree_job *job, int32_t self, ftree_time now,
                            const char *text, size_t len, struct ftree_symptom *s, char *error);

/* Purpose: reads the name of a component, "node h2"; `self` is the agent's own node.  Returns false
 * and says why in `error`, which has FAULTLOC_SYMPTOM_ERROR bytes.  Pure. */
bool faultloc_component_parse(const struct ftree_job *job, int32_t self, const char *name,
                              struct ftree_component *out, char *error);

/* Purpose: answers a request on the socket that it came with, if that is a Unix one; never waits.
 * What is longer than FAULTLOC_REPLY_BYTES goes in a file without a name, whose descriptor goes
 * with the text FAULTLOC_REPLY_IN_FILE. */
void faultloc_symptom_socket_reply(int fd, const char *text);

#endif /* FAULTLOC_SYMPTOM_SOCKET_H_INCLUDED */
