/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/run.h"

#include "sim/replay.h"
#include "ftree/waitfor/waitfor.h"
#include "ftree/wire/wire.h"

#include <inttypes.h>
#include <string.h>

/*
 * A trace is a JSON object a line.  The first says what the run was, the last that it has ended:
 *
 *     {"schema": "faultloc-trace/1", "wire": 3, "nodes": 8, "fanout": 32, "ranks": 1,
 *      "begins": 1000000000000, "seed": "1", "job_seed": "...", "topology": null,
 *      "topology_file": null, "rules": {"name": "builtin", "hash": "..."},
 *      "config": {"stall": 1000000000, ...}}
 *     {"t": 4000000000, "end": 1234}
 *
 * Each other is an input of one handle ("in"), and, directly behind that, what its node answered
 * when it looked at a rank ("look"), asked it what it waits for ("waits") or looked at itself
 * ("state"), what it sent ("send") and a line of its own ("says"), in the order in which it did so;
 * times in ns of the run's clock, messages in hexadecimal.  A program that makes new handles and
 * gives them the same input, in this order, gets the same messages and lines again: replay.c does.
 */

static void begin_line(const struct sim_run *r, int32_t node, const char *what)
{
    fprintf(r->options->trace, "{\"t\": %" PRIu64 ", \"node\": %d, \"%s\": ", r->now, (int) node,
            what);
}

static void put_hex(FILE *f, const uint8_t *bytes, size_t len)
{
    fputs("\"bytes\": \"", f);
    for (size_t i = 0; i < len; i++)
        fprintf(f, "%02x", bytes[i]);
    fputs("\"}\n", f);
}

static void put_string(FILE *f, const char *text)
{
    if (!text) {
        fputs("null", f);
        return;
    }
    putc('"', f);
    for (; *text; text++) {
        if ((unsigned char) *text < ' ' || *text == '"' || *text == '\\' || *text == 0x7f)
            fprintf(f, "\\u%04x", (unsigned char) *text);
        else
            putc(*text, f);
    }
    putc('"', f);
}

static void put_config(FILE *f, const struct ftree_config *cfg)
{
    fputs("\"config\": {", f);
#define PUT(name) fprintf(f, "\"%s\": %" PRIu64 ", ", #name, (uint64_t) cfg->name);
    SIM_TRACE_CONFIG(PUT)
#undef PUT
    fprintf(f, "\"pending_max\": %d}", (int) cfg->pending_max);
}

uint64_t sim_trace_rules_hash(void)
{
    size_t len;
    const char *text = ftree_rules_builtin(&len);
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char) text[i]) * 0x100000001b3u;
    return hash;
}

void sim_trace_begin(const struct sim_run *r)
{
    const struct sim_topology *t = r->options->topology;
    FILE *f = r->options->trace;

    fprintf(f,
            "{\"schema\": \"" SIM_TRACE_SCHEMA "\", \"wire\": %d, \"nodes\": %d, \"fanout\": %d, "
            "\"ranks\": %d, \"begins\": %" PRIu64 ", \"seed\": \"%" PRIu64
            "\", \"job_seed\": \"%" PRIu64 "\", \"topology\": ",
            WIRE_VERSION, (int) r->job.nodes, (int) r->job.fanout, (int) t->ranks_per_node,
            (uint64_t) SIM_BEGINS, r->seed, r->job.seed);
    put_string(f, t->string);
    fputs(", \"topology_file\": ", f);
    put_string(f, t->file_text);
    fprintf(f, ", \"rules\": {\"name\": \"builtin\", \"hash\": \"%016" PRIx64 "\"}, ",
            sim_trace_rules_hash());
    put_config(f, &r->cfg);
    fputs("}\n", f);
}

void sim_trace_end(const struct sim_run *r)
{
    fprintf(r->options->trace, "{\"t\": %" PRIu64 ", \"end\": %" PRIu64 "}\n", r->now, r->events);
}

void sim_trace_message(const struct sim_run *r, const struct sim_event *e)
{
    begin_line(r, e->to, "in");
    fprintf(r->options->trace, "\"receive\", \"from\": %d, \"path\": %d, ", (int) e->from, e->path);
    put_hex(r->options->trace, e->bytes, e->len);
}

void sim_trace_send(const struct sim_run *r, int32_t node, const struct ftree_route *to,
                    const void *bytes, size_t len)
{
    begin_line(r, node, "send");
    fprintf(r->options->trace,
            "%d, \"path\": %d, \"role\": %d, \"fresh\": %s, \"conn\": %" PRIu64 ", ",
            (int) to->node, to->path, to->role, to->fresh ? "true" : "false", to->conn);
    put_hex(r->options->trace, bytes, len);
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

void sim_trace_in(const struct sim_run *r, int32_t node, const char *what, int32_t rank)
{
    begin_line(r, node, "in");
    fprintf(r->options->trace, "\"%s\"", what);
    if (rank != FTREE_NONE)
        fprintf(r->options->trace, ", \"rank\": %d", (int) rank);
    fputs("}\n", r->options->trace);
}

void sim_trace_look(const struct sim_run *r, int32_t node, const struct ftree_rank_state *s)
{
    begin_line(r, node, "look");
    fprintf(r->options->trace,
            "%d, \"phase\": %d, \"state\": \"%c\", \"peer\": %d, \"waiting\": %" PRIu64 "}\n",
            (int) s->rank, s->phase, s->proc_state, (int) s->peer, s->waiting);
}

/* In the bytes in which it is sent to another node. */
void sim_trace_waits(const struct sim_run *r, int32_t node, int32_t rank, uint32_t look,
                     enum ftree_waits_look said, const struct waits_page *page,
                     const int32_t *with, int32_t n)
{
    struct ftree *ft = r->node[node].ft;
    waitfor_bytes bytes = {0};

    if (page)
        waitfor_answer_put(ft, r->now, &bytes, rank, WAITFOR_READY, 0, page, with, n);
    begin_line(r, node, "waits");
    fprintf(r->options->trace, "%d, \"look\": %" PRIu32 ", \"said\": %d, ", (int) rank, look, said);
    put_hex(r->options->trace, bytes.items, (size_t) bytes.n);
    ftree_alloc(ft, bytes.items, 0);
}

void sim_trace_state(const struct sim_run *r, int32_t node, const struct ftree_node_state *s)
{
    begin_line(r, node, "state");
    fprintf(r->options->trace, "%d, \"ranks\": [", s->link);
    for (int32_t i = 0; i < s->ranks; i++)
        fprintf(r->options->trace, "%s[%d, %d, \"%c\"]", i ? ", " : "", (int) s->rank[i].rank,
                s->rank[i].phase, s->rank[i].proc_state);
    fputs("]}\n", r->options->trace);
}

void sim_trace_line(const struct sim_run *r, int32_t node, const char *line)
{
    begin_line(r, node, "says");
    put_string(r->options->trace, line);
    fputs("}\n", r->options->trace);
}
