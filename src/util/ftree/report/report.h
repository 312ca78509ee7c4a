/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef REPORT_H_INCLUDED
#define REPORT_H_INCLUDED

#include "ftree/base/verdict.h"
#include "ftree/ftree.h"
#include "ftree/survey/query.h"

#include <stdio.h>

#pragma GCC visibility push(hidden)

/*
 * Verdicts for a person (a few lines of text) and for a program (JSON, schema faultloc-report/1).
 * Nothing is written here: the caller gets strings.
 *
 *     report_words.c   the words: what both, and the program `faultloc`, say alike
 *     report_text.c    what lines are made by
 *     report_waiting.c those of a note, which is no verdict
 *     report_stacks.c  stacks of ranks, which a status has, too
 *     report_json.c    the JSON
 *     report_alike.c   many nodes lost at once, reported as one
 *     report.c         the text, from the JSON, so that the program `faultloc` says the same
 */

/* A report that was not asked for verbosely has a table of nodes up to this many of them; one of a
 * job whose nodes have no names has none. */
#define REPORT_NODES_MAX 1024

#define FTREE_WAITING_ENDS_MAX 4
#define FTREE_WAITING_CLASSES_MAX 4
#define FTREE_WAITING_STATE_MAX 192

/* A note, no verdict: who waits for whom, where every rank and node is well.  Texts are printable
 * ASCII. */
struct ftree_waiting {
    ftree_time waiting; /* for how long, ns */
    int32_t count; /* ranks that wait */
    int32_t ends; /* the ranks that do not wait, those most waited for first: */
    struct {
        int32_t rank;
        int32_t count; /* of those that wait for it in the end; 0: not known */
        char state[FTREE_WAITING_STATE_MAX]; /* what it is: "outside MPI", "in MPI_Bcast" */
        ftree_time still; /* for so long it has used no CPU; 0: it has, or that is not known */
    } end[FTREE_WAITING_ENDS_MAX];
    int32_t classes; /* those that wait by what they are in, the largest first: */
    struct {
        char call[FTREE_WAITING_NAME_MAX]; /* "MPI_Recv"; "": they are outside MPI */
        char comm[FTREE_WAITING_NAME_MAX]; /* name of the communicator, "": it has none; of those
                                            * that are asleep: in what */
        int32_t count;
        int32_t example; /* a rank of them */
        char on[FTREE_ON_MAX]; /* the file or process for which that one sleeps, "": not known */
    } class_[FTREE_WAITING_CLASSES_MAX];
    bool asleep; /* no rank waits: all here are asleep, and have ended no call for so long */
};

#define REPORT_CHANGES_MAX 16

/* What a person has set while the job ran. */
struct report_change {
    ftree_time at;
    uint32_t uid;
    char what[160]; /* ftree_report_setting() */
};

/* What the scheduler gives the job. */
struct report_walltime {
    int64_t end_ms; /* Unix time at which it is to end; 0: not known */
    int64_t limit_s; /* since it began; 0: not known */
    bool at_most; /* it will end before: the time is too late by what was before MPI_Init */
};

/* Where ranks were in their code when a verdict was found. */
struct report_stacks {
    int32_t fln; /* of the verdict, */
    uint32_t id;
    struct json_object *json; /* ftree_report_stacks_json() and the text; NULL: there are none, */
    char why[96]; /* and why */
    struct ftree_stacks places; /* where its ranks call MPI, the program's own code alone */
};

struct report_job {
    const struct ftree_job *job;
    const char *id;
    int64_t started_ms; /* Unix time */
    ftree_time now; /* the clock of the verdicts' times ... */
    int64_t now_ms; /* ... and the Unix time at that moment */
    /* The address of a node on a path, written to buf; NULL, or a function that returns NULL,
     * leaves addresses out. */
    const char *(*address)(void *ctx, int32_t node, enum ftree_path path, char *buf, size_t len);
    /* Its data interface and the adapter's port that the data pass, likewise: "mlx5_0:1 LID 17". */
    const char *(*interface)(void *ctx, int32_t node, char *buf, size_t len);
    const char *(*port)(void *ctx, int32_t node, char *buf, size_t len);
    void *address_ctx;
    bool verbose; /* with the table of nodes and the trace, and these are whole */
    const struct ftree_verdict *const *known; /* [knowns]; from which the states of nodes follow */
    int32_t knowns;
    const char *const *trace; /* [traces]; the last decisions, oldest first; NULL: none */
    int32_t traces;
    const struct ftree_waiting *waiting; /* the last note on a stall; NULL: none */
    ftree_time waiting_at;
    const struct report_stacks *stacks; /* [stacked] */
    int32_t stacked;
    const struct report_change *change[REPORT_CHANGES_MAX]; /* [changes], the oldest first */
    int32_t changes;
    bool abort; /* the action: a verdict ends the job */
    struct report_walltime walltime;
};

/* Purpose: the verdict as a person reads it, several lines, each beginning "[faultloc] "; the last
 * says whether hardware or software is at fault.  Of one that is withdrawn: that it is.  Of
 * v[0 .. n-1], which are alike (ftree_report_is_alike()), as one: all names, and the evidence of the
 * first.
 * json_file: named in the line before; NULL or "": no such line.  Returns a string to be freed by
 * free(3); NULL: out of memory. */
char *ftree_report_text(const struct report_job *rj, const struct ftree_verdict *v, int32_t n,
                        const char *json_file);

/* Purpose: of a verdict that was reported before its places were known, the evidence that has one,
 * likewise.  NULL also where none has. */
char *ftree_report_places_text(const struct report_job *rj, const struct ftree_verdict *v);

/* Purpose: the ranks whose places that evidence would have: those of the component, and of each line that
 * is about others the first. */
void ftree_report_ranks_of_places(const struct ftree_verdict *v, struct ftree_ranks *out);

/* Purpose: the note rj->waiting as a person reads it, likewise. */
char *ftree_report_waiting_text(const struct report_job *rj, const char *json_file);

/* Purpose: the whole report of a job, of the verdicts known.  Returns a string to be freed by
 * free(3); NULL: out of memory. */
char *ftree_report_json(const struct report_job *rj);

/* Purpose: the main facts of a verdict as an environment, "FAULTLOC_CLASS=node-outage" and so on,
 * the values as the JSON has them and safe for a terminal; NULL ends it.  json_file: as above.  One
 * piece, to be freed by free(3); NULL: out of memory. */
char **ftree_report_facts(const struct report_job *rj, const struct ftree_verdict *v,
                          const char *json_file);

/* Purpose: writes a run of a set of ranks or nodes, at equal distances, to f: "3", "0-99",
 * "200-298:2". */
void ftree_report_run(FILE *f, int32_t first, int32_t step, int32_t count);

/* Purpose: merged stacks as an indented tree, a line for each place where ranks part, each
 * beginning with `indent`:
 *     5 ranks (2-6)  main app.c:40
 *       3 ranks (2, 5-6)  solve solver.c:120 > MPI_Recv
 *       2 ranks (3-4)  compute solver.c:77
 * Returns a string to be freed by free(3); NULL: out of memory. */
char *ftree_report_stacks(const struct ftree_stacks *s, const char *indent);

/* Purpose: the same as JSON: a list of calls, each of which names the one around it by its place;
 * with_text: and the lines of the text.  NULL: out of memory. */
struct json_object;
struct json_object *ftree_report_stacks_json(const struct ftree_stacks *s, bool with_text);

/* ---- words ----------------------------------------------------------------------------------- */

/* Purpose: ranks as a person writes them, "0-1, 3"; buf is always terminated, and what does not
 * fit ends in "...". */
void ftree_report_ranks(const struct ftree_ranks *set, char *buf, size_t len);

/* Purpose: the symbolic name of an errno that networks and file systems cause; "" for 0, "errno N"
 * for others. */
const char *ftree_report_errno(int error, char *buf, size_t len);

/* Purpose: the number of such a name, or of a number from 1 to 4095 as text; 0: it is none. */
int ftree_report_errno_number(const char *name);

/* Purpose: an object as text, with json-c's flags, to be freed by free(3).  JSON leaves more in its
 * strings than is safe for a terminal (ftree/base/text.h): that is escaped, so a program reads what
 * it was; what is no UTF-8 becomes U+FFFD.  NULL: out of memory, or there is no object. */
char *ftree_report_json_text(struct json_object *o, int flags);

/* The flags of a report. */
#define FTREE_REPORT_JSON_FLAGS \
    (JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE)

#define REPORT_OPEN_MAX 8

/* Explanations that are still possible. */
struct report_open {
    int n;
    struct {
        const char *class_;
        int percent;
    } candidate[REPORT_OPEN_MAX];
};

/* Purpose: adds one; the most likely ones stay, in that order. */
void ftree_report_open_add(struct report_open *open, const char *class_, int percent);

/* What a report is about, in words; all strings are names as the JSON has them. */
struct report_about {
    const char *class_, *origin, *kind, *name, *node;
    const char *rule; /* "deadlock/cycle" */
    const char *because; /* the sign in words; "it ..." are the component's own of its end; NULL */
    const char *fln; /* the node that decided */
    const char *ranks; /* "rank 3", "ranks 4-7" */
    const char *leaf; /* the switch behind which the node is; NULL or "": not known */
    double at; /* when it was located, s since any moment */
    int alike; /* so many are reported as one, and `name` is a list; 0: one */
    int nodes; /* on which its ranks are; 0: more than one, and not known how many */
    int pid; /* 0: not known */
    int percent; /* the confidence */
    const char *ticket; /* whom to call: "node", "network or node" */
    const char *cause; /* the first one: ftree_report_cause(); NULL or "": not known */
    struct report_open open;
};

/* A rack loses its power: verdicts of one class on nodes, or on the way to them, by one rule, with one
 * first cause and within this time are one happening.  Fewer are reported each by itself. */
#define REPORT_ALIKE_MIN 4
#define REPORT_ALIKE_S 10

/* Purpose: true if two verdicts can be reported as one; of one and itself: whether it can be with
 * others. */
bool ftree_report_is_alike(const struct report_about *a, const struct report_about *b);
bool ftree_report_are_alike(const struct ftree_job *job, const struct ftree_verdict *v,
                            const struct ftree_verdict *w);

#define REPORT_LABEL 512

struct report_room {
    char node[16], fln[16], name[REPORT_LABEL], ranks[REPORT_LABEL], ticket[48], cause[64];
};

/* A verdict that is to be reported: in words, and as the JSON has it. */
struct report_entry {
    struct report_about about;
    struct report_room room; /* for strings of it */
    struct ftree_ranks ranks, victims; /* the first of its component, and of those that wait */
    struct json_object *json;
    const char *no_places; /* why not one rank's place in the code is known; NULL: some are, or none is
                            * to be */
    double over_s; /* so long after the verdict it was over */
    const struct report_entry *next; /* one that is alike, of which the JSON is not needed; NULL: none */
};

/* Purpose: the text of a verdict and those behind it, or that it is over, from that alone.  report:
 * the table of nodes and the trace that it has are there, too; NULL: they are not. */
char *ftree_report_lines(const struct report_entry *v, struct json_object *report,
                         const char *json_file);
char *ftree_report_over_lines(const struct report_entry *v, struct json_object *report,
                              const char *json_file);

/* Purpose: that of a note, as the JSON has it, in a job of `size` ranks. */
char *ftree_report_waiting_lines(struct json_object *waiting, int size, const char *json_file);

/* Purpose: "node h2 (ranks 4-5) is down", "rank 4 (pid 5004 on node h2) is stopped". */
void ftree_report_headline(const struct report_about *a, char *buf, size_t len);

/* Purpose: what the last change of a setting was: "action=abort, stall-ms=500, rules=NAME". */
void ftree_report_setting(const struct ftree_setting *s, char *buf, size_t len);

/* Purpose: the first line of a verdict, with its class, safe for a terminal: "node-outage: node h2
 * (ranks 4-5) is down". */
void ftree_report_line(const struct ftree_job *job, const struct ftree_verdict *v, char *buf,
                       size_t len);

/* Purpose: the ranks that a verdict's component consists of. */
void ftree_report_component_ranks(const struct ftree_job *job, const struct ftree_verdict *v,
                                  struct ftree_ranks *set);

/* Purpose: "node h2", "rank 4 (node h2)". */
void ftree_report_component(const struct report_about *a, char *buf, size_t len);

/* Purpose: a line of the table of nodes; addresses may be "". */
void ftree_report_node(const char *name, const char *data, const char *mgmt, const char *state,
                       char *buf, size_t len);

/* Purpose: the words of one piece of evidence, as the JSON has it. */
void ftree_report_evidence(struct json_object *e, char *buf, size_t len);

/* Purpose: the first cause in short, "fan-failed 40 s before"; below 0: seen after the first symptom.  And
 * one more whom to call: "network or node". */
void ftree_report_cause(const char *detail, double before_s, char *buf, size_t len);
void ftree_report_ticket_add(const char *name, char *buf, size_t len);

#pragma GCC visibility pop

#endif /* REPORT_H_INCLUDED */
