/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_READER_H_INCLUDED
#define FAULTLOC_READER_H_INCLUDED

#include "faultloc_rules.h"

/*
 * A thread that reads the file of the rules for the agent, and watches it.  A file system that hangs
 * (its server is away) holds whoever touches it in the kernel, for as long as it likes: that must
 * not be the agent, which nobody would get an answer of just when something is broken.  Nor may
 * anybody wait for this thread to end: it is left behind, and what it has is freed by whichever of
 * it and its owner is done last.
 *
 * While the file does not change it sleeps in the kernel, unless changes are not told there.
 */

struct faultloc_reader;

/* Purpose: starts to read `path`, as faultloc_rules_init().  *out is the caller's, who ends it with
 * faultloc_reader_stop().
 * Errors: an errno; then *out is NULL. */
int faultloc_reader_start(const char *path, const char *node, bool tells,
                          struct faultloc_reader **out);

/* Purpose: a descriptor that is readable when there is news. */
int faultloc_reader_fd(const struct faultloc_reader *reader);

/* Purpose: takes the news, in the order in which they came; false: there is none.  Never waits. */
bool faultloc_reader_take(struct faultloc_reader *reader, struct faultloc_rules_news *news);

/* Purpose: it is not needed any more (NULL is allowed).  Returns at once. */
void faultloc_reader_stop(struct faultloc_reader *reader);

#endif /* FAULTLOC_READER_H_INCLUDED */
