/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_PINGER_H_INCLUDED
#define FAULTLOC_PINGER_H_INCLUDED

#include "faultloc/io/child.h"
#include "faultloc/agent/process/program.h"

/*
 * Whether UCX or libfabric brings messages from one node to another.  No agent knows them: the program
 * faultloc-fabric does, which runs while that is asked, with the variables of theirs that ranks have.  It may
 * hang, die, or print anything: then nothing is concluded.
 */

#define FAULTLOC_PINGER_NAME "faultloc-fabric"
#define FAULTLOC_PINGER_ASKS 4 /* at the same time */
#define FAULTLOC_PINGER_ASK_MS 2000 /* after its start, */
#define FAULTLOC_PINGER_LISTEN_MS 8000 /* which may take as long for both ends */
#define FAULTLOC_PINGER_PATIENCE (7000 * FTREE_MS) /* to start, and to ask */

struct faultloc_pinger {
    const struct faultloc_program *p;
    char path[FAULTLOC_SPAWN_PATH]; /* of the program; "": beside this one */
    bool absent; /* there is no such program */
    struct faultloc_child listener;
    size_t read; /* bytes of what that has printed */
    struct faultloc_child child[FAULTLOC_PINGER_ASKS];
    uint32_t number[FAULTLOC_PINGER_ASKS]; /* of the question */
};

/* Purpose: begins; nothing is started. */
void faultloc_pinger_init(struct faultloc_pinger *f, const struct faultloc_program *p);

/* Purpose: the library's name for people, of what the board has (`over`). */
void faultloc_pinger_library(const char *over, char *name, size_t room);

/* Purpose: as the callbacks fabric_listen and fabric_ask; what comes of it goes to the core in a later
 * faultloc_pinger_turn(). */
bool faultloc_pinger_listen(struct faultloc_pinger *f, ftree_time now);
bool faultloc_pinger_ask(struct faultloc_pinger *f, ftree_time now, uint32_t number,
                         const uint8_t *address, size_t len);

/* Purpose: reads what has come, and ends what is over; and when to call it again. */
void faultloc_pinger_turn(struct faultloc_pinger *f, ftree_time now);
ftree_time faultloc_pinger_deadline(const struct faultloc_pinger *f);

/* Purpose: ends those that run. */
void faultloc_pinger_end(struct faultloc_pinger *f);

/* ---- what it prints -------------------------------------------------------------------------- */

enum faultloc_pinger_word {
    FAULTLOC_PINGER_GARBAGE,
    FAULTLOC_PINGER_ADDRESS, /* `bytes`, `len` */
    FAULTLOC_PINGER_LISTENS, /* it lives, and was not held up, */
    FAULTLOC_PINGER_HELD, /* or was */
    FAULTLOC_PINGER_OVER, /* its time is */
    FAULTLOC_PINGER_RESULT /* `says`, `us`, `why` */
};

struct faultloc_pinger_line {
    enum faultloc_pinger_word word;
    uint8_t bytes[FTREE_FABRIC_BYTES];
    size_t len;
    enum ftree_fabric says;
    uint32_t us;
    char why[FTREE_FABRIC_WHY]; /* printable ASCII */
};

/* Purpose: a line of the program, checked.  Pure. */
void faultloc_pinger_read(const char *line, size_t len, struct faultloc_pinger_line *out);

#endif /* FAULTLOC_PINGER_H_INCLUDED */
