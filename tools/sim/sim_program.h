/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef SIM_PROGRAM_H_INCLUDED
#define SIM_PROGRAM_H_INCLUDED

#include "ftree.h"
#include "ftree/hang/hang.h"

/*
 * What simulated ranks do while all is well: iterations of one length, in each of which a rank is
 * outside MPI for a share of it that is drawn, and then in MPI until the iteration ends.  So S_out,
 * the number of ranks outside, has a distribution and a memory that follow from a few numbers.
 * What a rank does at some time is a function of the seed, and nothing is kept.
 *
 * The names are those of the programs by which ParaStack was measured (Li, Chen, Gupta, SC 2017),
 * and each behaves as that one is known to in kind; the numbers are this project's, for the paper
 * shows S_out in figures alone.
 */

struct sim_run;

struct sim_program {
    const char *name;
    ftree_time period; /* of an iteration */
    double out; /* share of it that a rank is outside MPI, on the average; that differs by up to */
    double common; /* from one iteration to another, for all ranks, */
    double own; /* from rank to rank, */
    double drift; /* from the begin of an hour to its end, which is smaller */
    bool shifted; /* its ranks are at different places of it, as in a pipeline of 16 stages */
};

#define SIM_PROGRAMS 8
extern const struct sim_program sim_programs[SIM_PROGRAMS];

/* Purpose: by its name; NULL: there is none. */
const struct sim_program *sim_program_find(const char *name, size_t len);

/* Purpose: how many of n ranks from `first` on are outside MPI, so long after the program began. */
int32_t sim_program_outside(const struct sim_program *p, uint64_t seed, int32_t first, int32_t n,
                            ftree_time t);

/* Purpose: from one instant of samples to the k-th, from 1: half of `sample` to one and a half, as
 * with agents. */
ftree_time sim_program_step(uint64_t seed, ftree_time sample, uint64_t k);

/* ---- in a run -------------------------------------------------------------------------------- */

/* A phase in which all ranks wait for one. */
struct sim_phase {
    ftree_time begin, end; /* end FTREE_NEVER: not yet */
    int32_t rank;
};

/* The last instants of a run. */
#define SIM_INSTANTS 2048
struct sim_instants {
    uint64_t last; /* number of the last one, 0: there was none */
    ftree_time at[SIM_INSTANTS]; /* by number, since the program began */
};

/* Purpose: a phase begins; it ends. */
void sim_program_waits_for(struct sim_run *r, int32_t rank);
void sim_program_goes_on(struct sim_run *r);

/* Purpose: as io->samples and io->stay, of a node. */
uint64_t sim_program_samples(struct sim_run *r, int32_t node, int32_t *out, int32_t n);
bool sim_program_stay(const struct sim_run *r, int32_t rank, struct ftree_stay *stay);

/* Purpose: the longest stay outside MPI of a rank that is over. */
ftree_time sim_program_longest(const struct sim_run *r, int32_t rank);

/* What the root has asked and decided, by the lines that it says. */
struct sim_program_tests {
    uint64_t tests; /* of a history, */
    uint64_t likely; /* of which so many say that S_out hardly ever is so in a healthy program */
    uint64_t early; /* of these: nobody has been outside MPI for long enough, */
    uint64_t slow; /* or sweeps have shown that a rank goes on */
};

void sim_program_note(struct sim_program_tests *t, const char *line);

#endif /* SIM_PROGRAM_H_INCLUDED */
