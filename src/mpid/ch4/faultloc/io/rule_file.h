/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_RULES_H_INCLUDED
#define FAULTLOC_RULES_H_INCLUDED

#include "faultloc/board/board.h"
#include "ftree/rules/rules.h"

#include <sys/stat.h>

/*
 * The file of a rule base, and what becomes of it: it is read, and read anew when it changes.  A
 * change is seen within two seconds, by the file's time, size and number: inotify would not report one
 * that is made on another host.
 *
 * A new base is checked whole before anybody gets it; a bad one is refused, and the one before
 * stays.
 *
 * Where the file system hangs all of this does: see io/reader.h.
 */

#define FAULTLOC_RULES_ROOM 1024

/* What is to be reported about the file. */
struct faultloc_rules_news {
    struct ftree_rules *base; /* to be used from now on, the receiver's; NULL: as before */
    char text[FAULTLOC_RULES_ROOM]; /* for faultloc_say(); "": nothing */
};

struct faultloc_rules_mark {
    dev_t dev;
    ino_t ino;
    off_t size;
    struct timespec time;
};

struct faultloc_rules {
    char path[FAULTLOC_RULES_ROOM];
    char node[FAULTLOC_NAME_SIZE]; /* for messages */
    bool confirms; /* also that a base is in use */
    bool begun; /* it was read, or tried to be */
    bool has_base; /* that came of the file */
    ftree_time look_at; /* when the file is to be looked at */
    struct faultloc_rules_mark read; /* the file as it was last read */
    struct faultloc_rules_mark seen; /* ... and last looked at */
    int missing; /* looks at which there was no file */
};

/* Purpose: prepares for the file `path`, an absolute one, for the agent of `node`.  Touches no file
 * and cannot fail. */
void faultloc_rules_init(struct faultloc_rules *r, const char *path, const char *node,
                         bool confirms);

/* Purpose: the first time, reads the file; later looks whether it has changed, and if so reads it.
 * To be called at `look_at`, harmless at any other time.  Returns true when there is news. */
bool faultloc_rules_refresh(struct faultloc_rules *r, ftree_time now,
                            struct faultloc_rules_news *news);

/* Purpose: the base that is used where there is no file, or a bad one; the caller's.
 * Errors: an errno. */
int faultloc_rules_builtin(struct ftree_rules **base);

#endif /* FAULTLOC_RULES_H_INCLUDED */
