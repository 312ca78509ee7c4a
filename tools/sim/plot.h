/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef PLOT_H_INCLUDED
#define PLOT_H_INCLUDED

#include "sim/result.h"

/*
 * What a fault costs against the number of nodes, drawn by gnuplot: the time until the report,
 * messages per fault, and the busiest node's messages.
 */
struct sim_point {
    char label[32]; /* of its curve; "": there is one */
    int32_t nodes, runs;
    double latency, latency_max; /* sum, and greatest */
    double messages, busiest; /* of one fault, sums */
};

struct sim_plot {
    struct sim_point *point; /* [points], one for each number of nodes of each curve */
    int32_t points;
};

/* Purpose: true if a file of that name can be drawn; else says why not. */
bool sim_plot_can(const char *file);

void sim_plot_add(struct sim_plot *p, const struct sim_result *r);

/* Purpose: adds the runs of a file that --json has written; its curve has the file's name, without
 * a number of nodes at its end ("node-1000.json": node).  False: it is no such file, and says
 * so. */
bool sim_plot_read(struct sim_plot *p, const char *file);

/* Purpose: writes FILE, and the numbers in FILE.dat; false: it could not, and says so. */
bool sim_plot_draw(struct sim_plot *p, const char *file);
void sim_plot_free(struct sim_plot *p);

#endif /* PLOT_H_INCLUDED */
