/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_START_H_INCLUDED
#define FAULTLOC_START_H_INCLUDED

#include "faultloc/base/sock.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * How the first rank of a node and the agent that it starts come together.  Between them is a pair
 * of Unix sockets of type SEQPACKET:
 *
 *     rank -> agent start: the job's key, the ports; with the descriptors of the board and of the
 *                      sockets that listen
 *     agent -> rank    ready, or why not
 *     rank -> agent    standard output and error, for reports; a program that is never ready does
 *                      not keep them open
 *     rank -> agent    go, or quit where the job does without; the end of the connection alone says
 *                      that the rank has ended
 *
 * Both are of one build: a start of another one is refused, and says so.
 */

#define FAULTLOC_PROGRAM_NAME "faultloc-agent"

struct faultloc_start {
    uint8_t key[FAULTLOC_KEY_SIZE];
    int board_fd;
    struct faultloc_ports ports[FTREE_ROLES]; /* port 0: none; where the node is the whole job */
};

/* Purpose: for the rank: starts the program at `path` and sends it *start, whose descriptors stay
 * the caller's. *sock is the caller's, for the functions below.
 * Errors: those of socketpair(2) and faultloc_spawn(). */
int faultloc_start_send(const char *path, const struct faultloc_start *start, int *sock);

/* Purpose: for the rank: waits until the program is ready, at most `ms`, and sends it the rank's
 * standard output and error. Returns true, or false with the reason in `error`. */
bool faultloc_start_is_ready(int sock, int ms, char *error, size_t room);

/* Purpose: for the rank: lets the program run, or orders it to quit; closes the socket. */
void faultloc_start_end(int sock, bool go);

/* Purpose: for the program: takes what it is started with; the descriptors are then its own.
 * Errors: EPROTO (the process that started it is of another build, and was notified), those of
 * recvmsg(2). */
int faultloc_start_take(int sock, struct faultloc_start *start);

/* Purpose: for the program: says that it is ready, or with an errno why it is not. */
void faultloc_start_answer(int sock, int error);

/* Purpose: for the program: what it writes to standard output and error from now on is kept for
 * those that it will get. */
void faultloc_start_keep_output(void);

enum faultloc_start_word {
    FAULTLOC_START_WAIT, /* it has its standard output and error now; more is to come */
    FAULTLOC_START_GO,
    FAULTLOC_START_QUIT,
    FAULTLOC_START_LOST /* the rank has ended before it said either */
};

/* Purpose: for the program: what has come on the socket, which is readable. */
enum faultloc_start_word faultloc_start_hear(int sock);

#endif /* FAULTLOC_START_H_INCLUDED */
