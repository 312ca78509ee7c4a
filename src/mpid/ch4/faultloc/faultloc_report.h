/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_REPORT_H_INCLUDED
#define FAULTLOC_REPORT_H_INCLUDED

#include "report.h"

/*
 * Telling: lines on stderr, the JSON file, the trace.  Used from the helper thread: writes with
 * write(2) only, so the program's own buffered output is left alone.
 */

/* Purpose: writes all of `text` to descriptor fd, whatever write(2) does in between; gives up where
 * nothing is taken for a second, or nobody reads any more.  Raises no SIGPIPE. */
void faultloc_write(int fd, const char *text);

/* Purpose: one line on stderr, "[faultloc] " before it, safe for a terminal whatever the names and
 * paths in it are: ftree_report_clean(). */
void faultloc_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Purpose: makes a name (of a node, of a job) one word, in place: blanks, control characters and
 * what is no valid UTF-8 become '_'.  It gets no longer. */
void faultloc_clean_name(char *name);

/* Purpose: `pattern` with %j replaced by the job's id and %h by the node's name, and %% by %, into
 * out.  Characters of the two that do not belong into a file name become '_'.
 * Returns false, and an empty string, where it does not fit or has another % in it. */
bool faultloc_expand(const char *pattern, const char *job_id, const char *node, char *out,
                     size_t room);

/* Purpose: replaces file `path` by `text` so that it is whole at every moment: a temporary file
 * beside it, fsync, rename.  A path that is no regular file (/dev/null, a pipe) is written into.
 * Errors: an errno; the old file is then untouched. */
int faultloc_replace_file(const char *path, const char *text);

#endif /* FAULTLOC_REPORT_H_INCLUDED */
