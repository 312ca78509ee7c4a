/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef ALARMS_H_INCLUDED
#define ALARMS_H_INCLUDED

#include "sim/sim_program.h"

#include "ftree/hang/hang.h"

#include <json.h>
#include <stdio.h>

/*
 * How often the test of a history (ftree_hang_test()) says that a healthy program hangs.  S_out of
 * a program's ranks is drawn at the instants of samples and tested once, whatever it is then; then
 * another job begins.  So the tests have no sample in common, and what is counted is binomial.  A
 * history has from 16 to 2048 samples; each doubling is as probable as another.
 *
 * In one of ALARMS_HANG_EACH jobs all ranks then wait for one, and the test is made after each further
 * sample, until it says so: how soon a hang is found, and how many are not.
 */

#define ALARMS_LEVELS 3
#define ALARMS_HANG_EACH 16
#define ALARMS_HANG_SAMPLES 300 /* two minutes */

struct sim_alarms {
    const struct sim_program *program; /* the caller's, and these: */
    uint64_t seed;
    uint64_t hours; /* of all histories */
    int32_t ranks;
    uint64_t tests[HANG_STATES]; /* by what they came to, at the first level */
    uint64_t alarms[ALARMS_LEVELS]; /* by sim_alphas */
    uint64_t doublings; /* of all tests */
    uint64_t hangs;
    uint64_t after[ALARMS_LEVELS][ALARMS_HANG_SAMPLES]; /* those found after k + 1 samples */
};

extern const double sim_alphas[ALARMS_LEVELS]; /* ascending severity: the largest first */

/* Purpose: fills in the rest; progress may be NULL, and is called after each test. */
void sim_alarms(struct sim_alarms *a, void (*progress)(void *ctx, uint64_t hours), void *ctx);

/* Purpose: the table on `f`, its head and a row for each level; the same as an object of JSON, to
 * be freed with json_object_put(). */
void sim_alarms_head(FILE *f);
void sim_alarms_rows(FILE *f, const struct sim_alarms *a);
struct json_object *sim_alarms_json(const struct sim_alarms *a);

/* Purpose: the 95 % confidence limits of the mean of a Poisson distribution, of which n were
 * counted; exact (Garwood 1936). */
void sim_alarms_limits(uint64_t n, double *low, double *high);

#endif /* ALARMS_H_INCLUDED */
