/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "run.h"

#include <inttypes.h>

/*
 * A trace is a JSON object a line.  The first says what the run was:
 *
 *     {"schema": "faultloc-trace/1", "nodes": 8, "fanout": 32, "ranks": 1, "job_seed": "..."}
 *
 * Each other is what one handle was told ("in"), what its node answered when it looked at a rank
 * ("look"), or a line of its own ("says"); times in ns of the run's clock, messages in hexadecimal.
 * Whoever makes the handles anew and gives them what they were told, in this order, gets the same
 * lines again.
 */

static void begin_line(const struct sim_run *r, int32_t node, const char *what)
{
    fprintf(r->options->trace, "{\"t\": %" PRIu64 ", \"node\": %d, \"%s\": ", r->now, (int) node,
            what);
}

void sim_trace_begin(const struct sim_run *r)
{
    fprintf(r->options->trace,
            "{\"schema\": \"faultloc-trace/1\", \"nodes\": %d, \"fanout\": %d, \"ranks\": %d, "
            "\"seed\": \"%" PRIu64 "\", \"job_seed\": \"%" PRIu64 "\"}\n",
            (int) r->job.nodes, (int) r->job.fanout, (int) r->options->topology->ranks_per_node,
            r->seed, r->job.seed);
}

void sim_trace_message(const struct sim_run *r, const struct sim_event *e)
{
    begin_line(r, e->to, "in");
    fprintf(r->options->trace, "\"receive\", \"from\": %d, \"path\": %d, \"bytes\": \"",
            (int) e->from, e->path);
    for (size_t i = 0; i < e->len; i++)
        fprintf(r->options->trace, "%02x", e->bytes[i]);
    fputs("\"}\n", r->options->trace);
}

void sim_trace_reach(const struct sim_run *r, const struct sim_event *e)
{
    begin_line(r, e->to, "in");
    fprintf(r->options->trace,
            "\"reached\", \"about\": %d, \"path\": %d, \"role\": %d, \"reach\": %d, "
            "\"error\": %d}\n",
            (int) e->from, e->path, e->role, e->reach, e->error);
}

void sim_trace_stall(const struct sim_run *r, int32_t node, int32_t rank)
{
    begin_line(r, node, "in");
    fprintf(r->options->trace, "\"stall\", \"rank\": %d, \"peer\": %d, \"waiting\": %" PRIu64 "}\n",
            (int) rank, (int) r->rank[rank].peer, r->now - r->rank[rank].since);
}

void sim_trace_over(const struct sim_run *r, int32_t node, int32_t rank)
{
    begin_line(r, node, "in");
    fprintf(r->options->trace, "\"stall-over\", \"rank\": %d}\n", (int) rank);
}

void sim_trace_tick(const struct sim_run *r, int32_t node)
{
    begin_line(r, node, "in");
    fputs("\"tick\"}\n", r->options->trace);
}

void sim_trace_look(const struct sim_run *r, int32_t node, const struct ftree_rank_state *s)
{
    begin_line(r, node, "look");
    fprintf(r->options->trace,
            "%d, \"phase\": %d, \"state\": \"%c\", \"peer\": %d, \"waiting\": %" PRIu64 "}\n",
            (int) s->rank, s->phase, s->proc_state, (int) s->peer, s->waiting);
}

/* Lines of the core are printable ASCII; of that a quote and a backslash are no part of a
 * string. */
void sim_trace_line(const struct sim_run *r, int32_t node, const char *line)
{
    begin_line(r, node, "says");
    putc('"', r->options->trace);
    for (; *line; line++) {
        if (*line == '"' || *line == '\\')
            putc('\\', r->options->trace);
        putc(*line, r->options->trace);
    }
    fputs("\"}\n", r->options->trace);
}
