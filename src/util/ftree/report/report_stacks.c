/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/report/report_int.h"

#include "ftree/base/base.h"

#include <json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stacks of many ranks, merged: text and JSON. */

/* ---- text ------------------------------------------------------------------------------------ */

#define RUNS_MAX 8 /* of the ranks of a line */
#define DEPTH_MAX 24 /* so far lines are indented */

void ftree_report_run(FILE *f, int32_t first, int32_t step, int32_t count)
{
    if (count == 1)
        fprintf(f, "%d", (int) first);
    else if (step == 1)
        fprintf(f, "%d-%d", (int) first, (int) (first + count - 1));
    else
        fprintf(f, "%d-%d:%d", (int) first, (int) (first + step * (count - 1)), (int) step);
}

static void put_ranks(FILE *f, const struct ftree_spans *s)
{
    int32_t i = 0, first, step, count, listed = 0;

    fprintf(f, "%d %s (", (int) s->count, s->count == 1 ? "rank" : "ranks");
    for (int32_t runs = 0; i < s->n && runs < RUNS_MAX; runs++) {
        fputs(i > 0 ? ", " : "", f);
        first = ftree_spans_run(s, &i, &step, &count);
        ftree_report_run(f, first, step, count);
        listed += count;
    }
    fputs(listed < s->count ? ", ...)" : ")", f);
}

/* "solve solver.c:120"; where no line is known the library says where it is. */
static void put_call(FILE *f, const struct ftree_stack *c)
{
    fputs(*c->function ? c->function : "?", f);
    if (*c->file && c->line > 0)
        fprintf(f, " %s:%d", c->file, (int) c->line);
    else if (!*c->function && *c->module)
        fprintf(f, " in %s", c->module);
}

/* The next call below `parent` behind `i`; s->n: there is none. */
static int32_t next_below(const struct ftree_stacks *s, int32_t parent, int32_t i)
{
    for (i++; i < s->n && s->items[i].parent != parent; i++)
        ;
    return i;
}

/* The only call that those of `i` have called, all of them; FTREE_NONE: they differ. */
static int32_t only_below(const struct ftree_stacks *s, int32_t i)
{
    int32_t child = next_below(s, i, i);

    return child < s->n && next_below(s, i, child) == s->n &&
                   s->items[child].ranks.count == s->items[i].ranks.count
               ? child
               : FTREE_NONE;
}

/* A line has all calls up to where the ranks part. */
static void put_below(FILE *f, const struct ftree_stacks *s, int32_t parent, int depth,
                      const char *indent)
{
    for (int32_t i = next_below(s, parent, parent < 0 ? -1 : parent); i < s->n;
         i = next_below(s, parent, i)) {
        int32_t at = i, below;
        fprintf(f, "%s%*s", indent, 2 * (depth < DEPTH_MAX ? depth : DEPTH_MAX), "");
        put_ranks(f, &s->items[i].ranks);
        fputs("  ", f);
        put_call(f, &s->items[i]);
        while ((below = only_below(s, at)) != FTREE_NONE) {
            at = below;
            fputs(" > ", f);
            put_call(f, &s->items[at]);
        }
        fputc('\n', f);
        put_below(f, s, at, depth + 1, indent);
    }
}

char *ftree_report_stacks(const struct ftree_stacks *s, const char *indent)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);

    if (!f)
        return NULL;
    put_below(f, s, FTREE_NONE, 0, indent);
    if (s->dropped > 0)
        fprintf(f, "%sand %d further calls of few ranks\n", indent, (int) s->dropped);
    if (s->missing.count > 0) {
        fputs(indent, f);
        put_ranks(f, &s->missing);
        fprintf(f, "  no stack%s%s\n", *s->why ? ": " : "", s->why);
    }
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* As in a status: runs are [first, count, step]. */
static struct json_object *json_ranks(const struct ftree_spans *s)
{
    struct json_object *o = json_object_new_object(), *runs = json_object_new_array(), *run;
    int32_t first, step, count;

    for (int32_t i = 0; i < s->n;) {
        first = ftree_spans_run(s, &i, &step, &count);
        run = json_object_new_array();
        report_append(run, json_object_new_int(first));
        report_append(run, json_object_new_int(count));
        if (step > 1)
            report_append(run, json_object_new_int(step));
        report_append(runs, run);
    }
    report_set(o, "count", json_object_new_int(s->count));
    report_set(o, "runs", runs);
    return o;
}

static struct json_object *json_call(const struct ftree_stack *c)
{
    struct json_object *o = json_object_new_object();

    report_set(o, "parent", json_object_new_int(c->parent));
    if (*c->function)
        report_set(o, "function", json_object_new_string(c->function));
    if (*c->file)
        report_set(o, "file", json_object_new_string(c->file));
    if (c->line > 0)
        report_set(o, "line", json_object_new_int(c->line));
    if (*c->module)
        report_set(o, "module", json_object_new_string(c->module));
    report_set(o, "ranks", json_ranks(&c->ranks));
    return o;
}

static struct json_object *json_lines(const struct ftree_stacks *s)
{
    struct json_object *lines = json_object_new_array();
    char *text = ftree_report_stacks(s, ""), *rest = text, *line;

    while (rest && (line = strsep(&rest, "\n")))
        if (*line)
            report_append(lines, json_object_new_string(line));
    free(text);
    return lines;
}

struct json_object *ftree_report_stacks_json(const struct ftree_stacks *s, bool with_text)
{
    struct json_object *o = json_object_new_object(), *calls = json_object_new_array();

    for (int32_t i = 0; i < s->n; i++)
        report_append(calls, json_call(&s->items[i]));
    report_set(o, "calls", calls);
    report_set(o, "further_calls", json_object_new_int(s->dropped));
    report_set(o, "missing", json_ranks(&s->missing));
    if (*s->why)
        report_set(o, "why_missing", json_object_new_string(s->why));
    if (with_text)
        report_set(o, "text", json_lines(s));
    return o;
}
