/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_RULES_H_INCLUDED
#define FAULTLOC_RULES_H_INCLUDED

#include "rules.h"

#include <sys/stat.h>

/*
 * The rule base that an agent uses: the built-in one, or a file, which is read anew when it
 * changes.  A change is seen at once by inotify on the file's folder (editors put a new file in the
 * old one's place), and within two seconds by its time, size and number, because inotify does not
 * tell of a change that was made on another host.
 *
 * A new base is checked whole before it is used; a bad one is refused, and the one before stays.
 */

#define FAULTLOC_RULES_ROOM 1024

struct faultloc_rules_mark {
    dev_t dev;
    ino_t ino;
    off_t size;
    struct timespec time;
};

struct faultloc_rules {
    char path[FAULTLOC_RULES_ROOM]; /* "": the built-in base */
    const char *file; /* its own name, in path */
    const char *node; /* for messages */
    bool tells; /* also that a base is in use */
    struct ftree_rules *base; /* never NULL once opened */
    int inotify; /* -1: none */
    ftree_time look_at; /* when the file is to be looked at, FTREE_NEVER: no more */
    struct faultloc_rules_mark read; /* the file as it was last read */
    struct faultloc_rules_mark seen; /* ... and last looked at */
    int missing; /* looks at which there was no file */
};

/* Purpose: reads the base from `path` ("": built in); where that cannot be, says why and takes the
 * built-in one.  `node` must outlive it.  It is ended by faultloc_rules_close(), after any error,
 * too.
 * Errors: an errno: there is no base. */
int faultloc_rules_open(struct faultloc_rules *r, const char *path, const char *node, bool tells);

/* Purpose: looks whether the file has changed, and if so reads it.  To be called when `inotify` is
 * readable and at `look_at`, harmless at any other time.  Returns true when there is a new base:
 * then *old is the caller's, who frees it by ftree_rules_free() once the new one is in use. */
bool faultloc_rules_refresh(struct faultloc_rules *r, ftree_time now, struct ftree_rules **old);

/* Purpose: frees what it has, the base, too. */
void faultloc_rules_close(struct faultloc_rules *r);

#endif /* FAULTLOC_RULES_H_INCLUDED */
