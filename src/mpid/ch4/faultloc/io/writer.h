/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_WRITER_H_INCLUDED
#define FAULTLOC_WRITER_H_INCLUDED

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * All that agent and deputy write for people and programs: lines and reports on stderr, the JSON
 * report, the trace.  Each of the three has a worker of its own (io/worker.h), so a dead file
 * system holds back neither messages nor the loop.  No function here blocks, and none of them
 * touches a path or stderr in the caller's thread, except that faultloc_writer_end() waits within
 * limits.
 *
 * What waits to be written is bounded; what is dropped is counted, and the count is written as soon
 * as the rest has been.
 */

struct faultloc_writer;

/* Purpose: makes the writer of this process; from then on faultloc_say() of any file goes through
 * it, until it ends.  trace, report: paths, copied; "": there is none.  ready: starts the thread
 * of messages at once, while threads can be had (the agent); it writes the report, too, where that
 * one's cannot be started. Each is started when there is something to write, in the deputy also the
 * first.
 * Errors: an errno; then *out is NULL. */
int faultloc_writer_start(const char *trace, const char *report, bool ready,
                          struct faultloc_writer **out);

/* Purpose: a descriptor that becomes readable when a worker has written all it had; for epoll. */
int faultloc_writer_fd(const struct faultloc_writer *w);

/* Purpose: to be called when that is readable, and now and then: tries again to start a thread that
 * could not be started.  True: all that was to be written on stderr has been. */
bool faultloc_writer_done(struct faultloc_writer *w);

/* Purpose: true if no thread does anything: a good moment for faultloc_writer_fork(). */
bool faultloc_writer_idle(struct faultloc_writer *w);

/* Purpose: fork(2).  The child has no writer; what the parent's has to write is not the child's. */
pid_t faultloc_writer_fork(void);

/* Purpose: where the report is, as far as that is known before the first one is written: a report
 * of another start of the job may have the plain name. */
const char *faultloc_writer_report_path(const struct faultloc_writer *w, char name[PATH_MAX]);

/* Purpose: a new JSON report, taken over, to be freed by free(3); NULL: out of memory.  It replaces
 * one that waits.  That it cannot be written is said on stderr, once.  Returns its number, for
 * faultloc_writer_text(); 0: there is no report file. */
uint32_t faultloc_writer_report(struct faultloc_writer *w, char *json);

/* Purpose: the text of a verdict, for stderr, in order with what faultloc_say() says.  Two
 * versions, both taken over (NULL: out of memory): `text` is written if report number `report` (0:
 * none) is in its file, or becomes so within 200 ms, and may name the file; else `otherwise`, and
 * behind it a line that says that the report is still being written; a line that names the file
 * comes when it is there.  Where `report` is 0, `text` is written, and `otherwise` may be NULL. */
void faultloc_writer_text(struct faultloc_writer *w, char *text, char *otherwise, uint32_t report);

/* Purpose: appends `line`, which is copied and has its newline, to the trace, if there is one.  The
 * file is opened with the first line: made, or one of the user's own that has one name; or a named
 * pipe of the user's own that somebody reads; or a character device; /dev/stdout and /dev/stderr
 * are this process's.  No symbolic link is followed.  If it cannot be opened, that is said once and
 * there is no trace. */
void faultloc_writer_trace(struct faultloc_writer *w, const char *line);

/* Purpose: true if there is a trace (a path was given). */
bool faultloc_writer_has_trace(const struct faultloc_writer *w);

/* Purpose: waits until all is written, at most patience_ms, and gives the writer up (NULL is
 * allowed).  False: something was not written; a thread that still hangs is left behind.  Then the
 * process must end by close_range(2) of all descriptors and _exit(2): a thread that is held in the
 * kernel would keep them open. */
bool faultloc_writer_end(struct faultloc_writer *w, int patience_ms);

#endif /* FAULTLOC_WRITER_H_INCLUDED */
