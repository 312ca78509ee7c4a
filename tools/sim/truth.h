/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef TRUTH_H_INCLUDED
#define TRUTH_H_INCLUDED

#include "ftree.h"

/*
 * The truth, which is known here, against the verdicts.  The one that injects a fault says what is
 * to be found; what an acting root tells people is compared with that.
 */

#define SIM_CLASS(c) ((uint32_t) 1 << (c))

/* What a fault should be called, once. */
struct sim_expectation {
    uint32_t classes; /* a set: any of them is right */
    int32_t node, switch_; /* FTREE_NONE: of another kind; both: whatever it is */
    int32_t fault; /* line of the script, from 0 */
    bool must; /* else it may go unnoticed */
    bool over; /* the fault is: no verdict may stand at the end */
    int32_t sides; /* how many acting roots may tell it: 1, of a partition 2 */
    int32_t reporters; /* how many of them must report, where a report is required */
    int32_t sibling; /* a switch that may be named instead, for there is nothing but these two */
    int32_t *rank; /* [ranks] that the verdict names, ascending; the truth's; 0: whichever */
    int32_t ranks;
    int32_t waiters; /* no verdict, but a note that so many ranks wait for rank[0]; 0: a verdict */
    ftree_time noted;
    ftree_time known; /* when the root knew who waits for whom, of a note; 0: not yet */
    ftree_time bound; /* after `since`: when ranks are to be named; of others none */
    ftree_time since; /* it began; of ranks that wait for each other: the last of them did */
    int32_t reported, standing; /* reports of it, and those not withdrawn */
    ftree_time first_stall; /* when somebody's wait for it first reached the limit; 0: not yet */
};

/* A report. */
struct sim_report {
    struct ftree_verdict v; /* as it was reported; local_only: neither right nor wrong */
    int32_t reporter;
    ftree_time at;
    ftree_time withdrawn; /* 0: it stands */
    int32_t expectation; /* FTREE_NONE: it is wrong */
    int32_t unaware; /* nodes that at the end do not know it, and could */
};

struct sim_truth {
    struct sim_expectation *expectation;
    int32_t expectations;
    struct sim_report *report;
    int32_t reports;
    struct sim_report *mistake; /* wrong verdicts that some node came to, reported or not: v and at */
    int32_t mistakes;
    int32_t notes;
    uint64_t withdrawals;
};

/* Purpose: one more that is to be found. */
void sim_truth_expect(struct sim_truth *t, const struct sim_expectation *e);

/* Purpose: the faults of that line are over. */
void sim_truth_over(struct sim_truth *t, int32_t fault);

/* Purpose: all faults of that node are over. */
void sim_truth_well(struct sim_truth *t, int32_t node, int32_t switch_);

/* Purpose: node `reporter` reports a verdict, or its withdrawal. */
void sim_truth_report(struct sim_truth *t, ftree_time now, int32_t reporter,
                    const struct ftree_verdict *v);

/* Purpose: node v->fln comes to a verdict, which the acting root may tell people later, or not. */
void sim_truth_raise(struct sim_truth *t, ftree_time now, const struct ftree_verdict *v);

/* Purpose: a wait for that node has reached the stall limit. */
void sim_truth_stall(struct sim_truth *t, ftree_time now, int32_t node);

/* Purpose: the root tells whom ranks wait for that nothing is wrong with; and what it knows of
 * that. */
void sim_truth_note(struct sim_truth *t, ftree_time now, const struct ftree_waiting *w);
void sim_truth_waits(struct sim_truth *t, ftree_time now, const struct ftree *root);

/* Purpose: true once nothing is missing and nothing stands that is over. */
bool sim_truth_is_complete(const struct sim_truth *t);

enum sim_problem_kind {
    SIM_MISSING, /* no report */
    SIM_TWICE, /* reported more than once */
    SIM_NOT_WITHDRAWN, /* it is over, and the verdict stands */
    SIM_TAKEN_BACK, /* it was withdrawn, and is not over */
    SIM_WRONG, /* there is no such fault */
    SIM_NOT_KNOWN, /* it stands, and a node that could has not heard of it */
    SIM_PROBLEMS
};

struct sim_problem {
    uint8_t kind; /* enum sim_problem_kind */
    int32_t expectation; /* FTREE_NONE: it is about a report */
    int32_t report; /* FTREE_NONE: it is about an expectation */
};

/* Purpose: the i-th thing that is wrong with the run; false: there are no more. */
bool sim_truth_problem(const struct sim_truth *t, int32_t i, struct sim_problem *p);

const char *sim_problem_name(int kind);
void sim_truth_free(struct sim_truth *t);

#endif /* TRUTH_H_INCLUDED */
