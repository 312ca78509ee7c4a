/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_VERDICT_H_INCLUDED
#define FTREE_VERDICT_H_INCLUDED

#include "ftree/base/types.h"
#include "ftree/fault_classes.h"

#pragma GCC visibility push(hidden)

/* Verdicts: what comes out of a handle. */

/* The classes of verdicts; their table is fault_classes.h. */
enum ftree_class { FTREE_CLASSES(FTREE_ENUM) FTREE_CLASS_COUNT };

enum ftree_origin {
    FTREE_ORIGIN_HARDWARE,
    FTREE_ORIGIN_SOFTWARE,
    FTREE_ORIGIN_UNKNOWN,
    FTREE_ORIGIN_COUNT
};

enum ftree_ticket { FTREE_TICKETS(FTREE_ENUM) FTREE_TICKET_COUNT };

#define FTREE_EVIDENCE_MAX 10
#define FTREE_CANDIDATE_MAX 3

enum ftree_evidence_source {
    FTREE_EVIDENCE_PROBE, /* a response probe: path, role, reach, error */
    FTREE_EVIDENCE_PROC, /* the node's own agent read /proc: proc_state, and of a limit detail */
    FTREE_EVIDENCE_STATE, /* a state probe: detail */
    FTREE_EVIDENCE_LOG, /* a log probe: detail */
    FTREE_EVIDENCE_SYMPTOM, /* a symptom of other middleware: detail */
    FTREE_EVIDENCE_INDIRECT, /* a response probe by another node: path, reach, by */
    FTREE_EVIDENCE_WAIT, /* what a rank waits for, or a hint: detail, as people read it; of a cycle
                          * each line after the first begins with "<- " */
    FTREE_EVIDENCE_CONNECTION, /* what a kernel says of ranks' own connections, or a hint: detail */
    FTREE_EVIDENCE_SAMPLE, /* what the job's samples say, or a rank's stay outside MPI: detail */
    FTREE_EVIDENCE_BURST, /* what came of packets that two nodes sent each other: detail */
    FTREE_EVIDENCE_FABRIC, /* whether the library that data go by brings messages: detail */
    FTREE_EVIDENCE_HANDLER, /* what a handler says of the node, or why it says nothing: detail */
    FTREE_EVIDENCE_CAUSE, /* a symptom that led to the fault: detail; `at` is when it was first seen */
    FTREE_EVIDENCE_UNKNOWN, /* what could not be asked: detail, a list */
    FTREE_EVIDENCE_SOURCES
};

struct ftree_evidence {
    uint8_t source; /* enum ftree_evidence_source */
    uint8_t path; /* enum ftree_path; FTREE_PATHS: by none */
    uint8_t role; /* enum ftree_role */
    uint8_t reach; /* enum ftree_reach */
    char proc_state; /* what the target's node said of the process, 0: nothing */
    int32_t target; /* node asked about */
    int32_t by; /* node that asked */
    int32_t error; /* errno, 0: none */
    ftree_time at;
    char detail[FTREE_DETAIL_MAX]; /* what a probe brought, a symptom or a rank said; or "" */
};

struct ftree_candidate {
    uint8_t class_; /* enum ftree_class */
    uint16_t confidence; /* 1/1000 */
    bool ruled_out; /* else: could not be distinguished */
};

#define FTREE_STATISTICS_SAMPLES 128

/* By what a verdict on ranks that never come was found; doc/hangs.md has the formulas.  A
 * significance is the probability, at most, that a healthy job shows the like. */
struct ftree_statistics {
    double alpha; /* a smaller significance suffices; 0: the verdict was found otherwise */
    struct {
        bool known; /* false: there were too few samples, or they were not random */
        int32_t n; /* samples */
        int32_t t; /* one of up to that is suspicious */
        int32_t run; /* so many in a row were suspicious, up to the last one */
        int32_t needed; /* so many would have sufficed */
        double q; /* no less than the probability of a suspicious one */
        ftree_time interval; /* mean distance of the samples that were used, ns */
        double significance;
    } s_out;
    struct {
        ftree_time stay; /* outside MPI, the shortest of all ranks that are; of the component where
                          * others go on; ns */
        ftree_time longest; /* of any rank before, */
        ftree_time before; /* of all time for which ranks were there; ns */
        int32_t exponent; /* a: stays have a tail as heavy as 1 / x^a */
        int32_t ranks; /* of the job, where `longest` and `before` are of the rank alone; 1: of all ranks */
        double significance;
    } stay;
    int32_t samples; /* of S_out, the newest ones, in the order of time: */
    int32_t sample[FTREE_STATISTICS_SAMPLES]; /* -1: not known */
    struct { /* of the ranks that wait for slow ones; percent 0: the verdict is no straggler */
        int32_t percent; /* that they have lost of their time outside MPI, */
        int32_t before, now; /* share of the time, 1/1000 */
    } lost;
};

#define FTREE_HOLDS_FOR_EVER (UINT32_MAX * FTREE_MS) /* as much as a message can say */

struct ftree_verdict {
    uint8_t class_; /* enum ftree_class */
    uint8_t kind; /* enum ftree_kind of the component */
    uint16_t confidence; /* 1/1000 */
    char rule[FTREE_NAME_MAX]; /* "model/sign" of the rule base that decided */
    char because[FTREE_DETAIL_MAX]; /* the sign in words */
    char raised_by[FTREE_NAME_MAX]; /* rule that made it a candidate; "": none was needed */
    uint32_t id; /* with `fln`: this verdict and no other */
    int32_t node;
    int32_t rank; /* FTREE_NONE where the component is the node, or all its ranks */
    int32_t switch_; /* FTREE_NONE where the component is no switch */
    int32_t pid; /* 0: not known */
    int32_t fln; /* node that decided */
    uint32_t symptoms; /* how many were merged into this finding */
    uint64_t symptom_kinds; /* of those that the case had when it was decided */
    ftree_time first_symptom;
    ftree_time located;
    ftree_time withdrawn; /* 0: it stands; else when it turned out to be over or wrong */
    ftree_time holds_back; /* how long it must have stood before the action "abort" may end the job because of
                            * it, whole ms; 0: no longer than any; FTREE_HOLDS_FOR_EVER: it never may */
    bool local_only; /* this node reaches nobody: only its own readers learn it; never travels */
    bool unreported; /* people may not have heard of it: see ftree_restore(); never travels */
    struct ftree_statistics statistics; /* the deciding node's; never travels */
    uint8_t ticket; /* enum ftree_ticket: of its first cause */
    int32_t evidences, candidates;
    struct ftree_evidence evidence[FTREE_EVIDENCE_MAX];
    struct ftree_candidate candidate[FTREE_CANDIDATE_MAX];
    struct ftree_ranks victims;
    struct ftree_ranks component; /* its ranks, ascending, where these are more than one, of
                                   * which `rank` is the lowest, on `node`; count 0: `rank`, or
                                   * what `kind` says of `node` */
};

/* Purpose: true if the verdict says that the ranks of its component are gone for good; not of one
 * that is withdrawn. */
bool ftree_verdict_ends_ranks(const struct ftree_verdict *v);

/* Purpose: true if the action "abort" ends the job because of the verdict: its class says so, it is
 * not withdrawn, and no evidence has a process that a debugger holds. */
bool ftree_verdict_ends_job(const struct ftree_verdict *v);

const char *ftree_class_name(int class_);
const char *ftree_origin_name(int origin);
const char *ftree_ticket_name(int ticket);
int ftree_class_origin(int class_);
int ftree_class_kind(int class_);
int ftree_class_ticket(int class_);
bool ftree_class_says(int class_, unsigned what); /* any of FTREE_ENDS_NODE and so on */
enum ftree_explains ftree_class_explains(int class_);
bool ftree_class_ends_job(int class_);
const char *ftree_class_headline(int class_, bool several); /* after the component */
const char *ftree_class_over(int class_); /* that the fault is over */

/* Purpose: the number of a name, -1: there is no such. */
int ftree_class_by_name(const char *name);

#pragma GCC visibility pop

#endif /* FTREE_VERDICT_H_INCLUDED */
