/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef TOOL_H_INCLUDED
#define TOOL_H_INCLUDED

#include <json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * The program `faultloc`: what its files share.
 *
 *     faultloc.c      the command line
 *     input.c         a file becomes a JSON document, or a message says why it does not
 *     findings.c      what is wrong in a document, and where
 *     cmd_check.c     the document against the schema, which is part of the program
 *     meaning.c       what a schema cannot say: numbers that must fit each other
 *     text.c          the report as a person reads it
 *     cmd_symptom.c   tells the agents of a job what other middleware saw
 *     cmd_status.c    asks an agent what the nodes and ranks of its job do
 *     cmd_ask.c       has an agent ask a node or a rank now
 *     cmd_set.c       changes settings of a running job
 *     cmd_handlers.c  asks the site's services about a node
 *     agent_socket.c  how these find agents
 *     rules*.c      rule bases: checked, printed, explained, and what past reports teach of them
 *
 * A report may come from anywhere: nothing in it is believed before cmd_check.c has seen it, every
 * size is bounded, and no byte of it reaches the terminal but as printable ASCII.
 */

/* Exit codes, as the manual page has them. */
enum tool_exit {
    TOOL_OK = 0,
    TOOL_INVALID = 1, /* the file is there and is no valid report */
    TOOL_TROUBLE = 2  /* wrong usage, or the file cannot be read */
};

/* Limits of input.c: of the file in bytes, of its nesting, of the keys of an object. */
#define TOOL_BYTES_MAX (64u * 1024 * 1024)
#define TOOL_DEPTH_MAX 32
#define TOOL_KEYS_MAX 64
/* Arrays and objects in one file; each costs some hundred bytes of memory. */
#define TOOL_CONTAINERS_MAX 1000000

/* Purpose: reads `file` ("-": standard input) and parses it.  *out is the caller's, who ends it
 * with json_object_put(); NULL on error, and then a line on stderr says what is wrong and where.
 * Returns an exit code. */
enum tool_exit tool_read(const char *file, struct json_object **out);

/* What was found to be wrong in a document.  Each finding is a line on stderr: file, path, text. */
struct tool_findings {
    const char *file;
    int count;
    char path[512]; /* where the walk is, "verdicts[0].evidence[3]" */
    size_t len;
};

#define TOOL_FINDINGS_MAX 20

/* Purpose: one finding at the present path; after TOOL_FINDINGS_MAX of them they are only counted,
 * and what repeats (elements of an array) is no longer looked at. */
void tool_found(struct tool_findings *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Purpose: goes down to a member or an element; the result is for tool_leave(). */
size_t tool_enter_key(struct tool_findings *f, const char *key);
size_t tool_enter_index(struct tool_findings *f, size_t index);
void tool_leave(struct tool_findings *f, size_t where);

/* Purpose: compares a document with a JSON Schema, of the keywords that cmd_check.c knows. */
void tool_check_schema(struct tool_findings *f, struct json_object *schema,
                       struct json_object *document);

/* Purpose: compares a report with its schema, then, where it fits, with itself. */
void tool_check(struct tool_findings *f, struct json_object *report);
void tool_check_meaning(struct tool_findings *f, struct json_object *report);

/* Purpose: prints a report that tool_check() has nothing against; `file` is named in it.  verbose:
 * with the table of nodes and the trace. */
void tool_print(struct json_object *report, const char *file, bool verbose);

/* Purpose: the commands `faultloc ask` and so on, with the arguments behind them, and what --help
 * prints of each.  Return an exit code. */
enum tool_exit tool_ask(int n, char **arguments);
enum tool_exit tool_set(int n, char **arguments);
enum tool_exit tool_handlers(int n, char **arguments);
enum tool_exit tool_symptom(int n, char **arguments);
enum tool_exit tool_status(int n, char **arguments);
enum tool_exit tool_rules(int n, char **arguments);
extern const char tool_ask_usage[], tool_handlers_usage[], tool_set_usage[], tool_symptom_usage[], tool_status_usage[],
    tool_rules_usage[];

/* Purpose: makes `s` safe for a terminal: what is not printable ASCII becomes '?'.  Returns s. */
char *tool_clean(char *s);

/* Purpose: prints an object and a newline, with json-c's flags for its form; what is not safe for a
 * terminal is escaped (ftree/report/report.h).  False: out of memory. */
bool tool_print_json(struct json_object *o, int flags);

/* Purpose: one line, safe for a terminal whatever the names and texts in it are; one that is too
 * long is cut. */
void tool_say(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Purpose: says what is wrong with an argument of a command.  Returns TOOL_TROUBLE. */
enum tool_exit tool_wrong(const char *command, const char *what, const char *which);

/* Purpose: the member of an object, NULL where there is none. */
struct json_object *tool_member(struct json_object *object, const char *key);

/* Purpose: the member that is a string; "" where there is none. */
const char *tool_string(struct json_object *object, const char *key);

#endif /* TOOL_H_INCLUDED */
