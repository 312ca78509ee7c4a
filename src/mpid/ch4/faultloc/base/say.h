/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_SAY_H_INCLUDED
#define FAULTLOC_SAY_H_INCLUDED

#include "ftree/report/report.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Telling: lines on stderr, the JSON file.  Writes with write(2) only, so the program's own
 * buffered output is left alone.  All but names may block for a while: agent and deputy use
 * io/writer.h.
 */

/* Purpose: writes all of `text` to descriptor fd, whatever write(2) does in between; -1: for as
 * long as that takes, else ETIMEDOUT where nothing is taken for patience_ms.  May raise SIGPIPE.
 * Errors: an errno. */
int faultloc_write_all(int fd, const char *text, int patience_ms);

/* Purpose: a file in memory that has the text, to be read from its begin; flags: memfd_create(2)'s.
 * Returns a descriptor of the caller's; -1: errno. */
int faultloc_memory_file(const char *name, unsigned flags, const char *text);

/* Purpose: writes all in a process of a program: gives up where nothing is taken for a second, or
 * nobody reads any more, and raises no SIGPIPE. */
void faultloc_write(int fd, const char *text);

/* Purpose: one line on stderr, "[faultloc] " before it, safe for a terminal whatever the names and
 * paths in it are: ftree_text_clean(). */
void faultloc_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Purpose: makes a name (of a node, of a job) one word, in place: blanks, control characters and
 * what is no valid UTF-8 become '_'.  It gets no longer. */
void faultloc_clean_name(char *name);

/* Purpose: another is to write the lines of faultloc_say(); it gets each whole, with its newline,
 * and returns false where it cannot, and the line is written directly.  It may be called by any
 * thread.  NULL: all are written directly. */
typedef bool (*faultloc_line_writer)(const char *line);
void faultloc_say_by(faultloc_line_writer by);

/*
 * A program may close standard output and error and open files of its own, which then have their
 * numbers: nothing of FaultLoc's may get there.  What it was given is noted as soon as libmpi is
 * loaded; a regular file only if that is before the program's own code runs, for later it may be
 * the program's.
 */

/* Purpose: notes what standard output and error are; until then neither counts as given. */
void faultloc_output_note(bool before_program);

/* Purpose: true if `fd`, standard output or error, still is what was noted. */
bool faultloc_output_is_given(int fd);

/* Purpose: `pattern` with %j replaced by the job's id and %h by the node's name, and %% by %, into
 * out.  Characters of the two that do not belong into a file name become '_'.
 * Returns false, and an empty string, where it does not fit or has another % in it. */
bool faultloc_expand(const char *pattern, const char *job_id, const char *node, char *out,
                     size_t room);

/* Purpose: reads all that an open file has, at most `most` bytes, and puts a zero behind it. *text
 * is NULL at first, and the caller's, who frees it also after an error.
 * Errors: EFBIG: it is larger; ENOMEM; those of read(2). */
int faultloc_read_whole(int fd, size_t most, char **text, size_t *len);

/* Purpose: the same of a file, "-": standard input.  Errors: also those of open(2). */
int faultloc_read_file(const char *file, size_t most, char **text, size_t *len);

/* Purpose: the descriptor of this process that /dev/stdout or /dev/stderr stands for; -1: it is
 * another path.  (Such a path cannot be opened where it is a socket, and must not be replaced by a
 * file.) */
int faultloc_own_descriptor(const char *path);

/* Purpose: `path` itself for number 1, else with the number before the last dot of its name:
 * "faultloc-7.2.json".  Returns false where it does not fit. */
bool faultloc_number_path(const char *path, int number, char *out, size_t room);

/* Purpose: replaces file `path` by `text` so that it is whole at every moment: a temporary file
 * beside it, fsync, rename, which also takes the place of a symbolic link.  A device, or a pipe
 * that somebody reads, is written into; so is one behind a link, if link and pipe are the user's or
 * root's.  Blocks where the file system does.
 * A file that does not begin with the first `head` bytes of the text is somebody else's, unless it
 * is empty, and stays: the next number is taken, and is in *number afterwards.  *number is 1 at
 * first, then that of the text before; head 0: it stays.
 * Errors: an errno; the old file is then untouched.  EEXIST: all numbers are taken. */
int faultloc_replace_file(const char *path, const char *text, size_t head, int *number);

#endif /* FAULTLOC_SAY_H_INCLUDED */
