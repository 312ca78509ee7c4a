/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_READER_H_INCLUDED
#define FAULTLOC_READER_H_INCLUDED

#include "faultloc/io/rule_file.h"

/*
 * A worker (io/worker.h) that reads the file of the rules for the agent, and watches it: a file
 * system whose server is away must not hold the agent.
 */

struct faultloc_reader;

/* Purpose: starts to read `path`, as faultloc_rules_init(), and does so until the process ends.
 * Errors: an errno; then *out is NULL. */
int faultloc_reader_start(const char *path, const char *node, bool confirms,
                          struct faultloc_reader **out);

/* Purpose: a descriptor that is readable when there is news. */
int faultloc_reader_fd(const struct faultloc_reader *reader);

/* Purpose: takes the news, in the order in which they came; false: there is none.  Never waits. */
bool faultloc_reader_take(struct faultloc_reader *reader, struct faultloc_rules_news *news);

#endif /* FAULTLOC_READER_H_INCLUDED */
