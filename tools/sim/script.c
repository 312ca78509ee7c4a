/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/script.h"

#include "sim/hang.h"
#include "sim/sim_memory.h"
#include "sim/network.h"
#include "sim/units.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_DEFAULT (1000 * FTREE_MS)
#define WITHIN_DEFAULT (10 * FTREE_MS)

/* ---- words ----------------------------------------------------------------------------------- */

/* One line, word by word. */
struct reader {
    const struct sim_topology *t;
    const char *begin, *at, *end; /* of the line; the word after the present one */
    const char *word; /* the present word, of `len` bytes; len 0: the line is over */
    size_t len;
    int line;
    struct sim_script_error *e;
};

static int wrong_at(struct reader *r, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int wrong_at(struct reader *r, const char *where, const char *format, ...)
{
    va_list args;

    r->e->line = r->line;
    r->e->column = (int) (where - r->begin) + 1;
    va_start(args, format);
    vsnprintf(r->e->text, sizeof(r->e->text), format, args);
    va_end(args);
    return FTREE_ERR_INVALID;
}

static int expected(struct reader *r, const char *what)
{
    if (r->len == 0)
        return wrong_at(r, r->word, "the line ends where %s is expected", what);
    return wrong_at(r, r->word, "'%.*s' where %s is expected", (int) (r->len < 40 ? r->len : 40),
                    r->word, what);
}

static void next(struct reader *r)
{
    while (r->at < r->end && strchr(" \t\r", *r->at))
        r->at++;
    r->word = r->at;
    while (r->at < r->end && !strchr(" \t\r#", *r->at))
        r->at++;
    r->len = (size_t) (r->at - r->word);
    if (r->len == 0)
        r->at = r->end; /* a comment, or the end */
}

static bool is(const struct reader *r, const char *word)
{
    return strlen(word) == r->len && !memcmp(word, r->word, r->len);
}

/* Passes over the word if it is this one. */
static bool took(struct reader *r, const char *word)
{
    if (!is(r, word))
        return false;
    next(r);
    return true;
}

static int take_time(struct reader *r, ftree_time *out)
{
    if (!sim_read_time(r->word, r->len, out))
        return expected(r, "a time such as 150ms or 2s");
    next(r);
    return FTREE_OK;
}

/* ---- targets --------------------------------------------------------------------------------- */

static int one_of(struct reader *r, const char *word, size_t len, bool nodes, int32_t *out)
{
    *out = nodes ? sim_topology_node(r->t, word, len) : sim_topology_switch(r->t, word, len);
    if (*out != FTREE_NONE)
        return FTREE_OK;
    if (!nodes && !r->t->tree)
        return wrong_at(r, word, "there are no switches; --topology names them");
    return wrong_at(r, word, "no such %s: '%.*s'; there are %d", nodes ? "node" : "switch",
                    (int) (len < 40 ? len : 40), word,
                    (int) (nodes ? r->t->job.nodes : r->t->tree->switches));
}

/* "17", "c17" or "1-4".  A name may have a '-' in it. */
static int take_range(struct reader *r, const char *word, size_t len, bool nodes,
                      struct sim_range *out)
{
    const char *dash = memchr(word, '-', len);
    int64_t n;

    if (!dash || !sim_read_number(word, (size_t) (dash - word), 0, INT32_MAX, &n)) {
        int rc = one_of(r, word, len, nodes, &out->first);
        out->last = out->first;
        return rc;
    }
    if (one_of(r, word, (size_t) (dash - word), nodes, &out->first) ||
        one_of(r, dash + 1, len - (size_t) (dash + 1 - word), nodes, &out->last))
        return FTREE_ERR_INVALID;
    if (out->last < out->first)
        return wrong_at(r, word, "a range that ends before it begins");
    return FTREE_OK;
}

static int take_list(struct reader *r, bool nodes, struct sim_target *target)
{
    const char *p = r->word, *end = r->word + r->len;

    if (r->len == 0)
        return expected(r, nodes ? "a list of nodes" : "a list of switches");
    target->kind = nodes ? SIM_NODES : SIM_SWITCHES;
    for (;;) {
        const char *comma = memchr(p, ',', (size_t) (end - p));
        size_t len = (size_t) ((comma ? comma : end) - p);
        target->range =
            sim_realloc(target->range, (size_t) target->ranges + 1, sizeof(*target->range));
        if (take_range(r, p, len, nodes, &target->range[target->ranges]))
            return FTREE_ERR_INVALID;
        target->ranges++;
        if (!comma)
            break;
        p = comma + 1;
    }
    next(r);
    return FTREE_OK;
}

/* "root", "root and 2 substitutes" */
static int take_root(struct reader *r, struct sim_target *target)
{
    int64_t n;

    target->kind = SIM_ROOT;
    if (!took(r, "and"))
        return FTREE_OK;
    if (!sim_read_number(r->word, r->len, 1, 1000, &n))
        return expected(r, "a number of substitutes");
    next(r);
    target->count = (int32_t) n;
    if (!took(r, "substitutes") && !took(r, "substitute"))
        return expected(r, "'substitutes'");
    return FTREE_OK;
}

/* "random" was read, and a number before it. */
static int take_random(struct reader *r, int32_t count, struct sim_target *target)
{
    target->count = count;
    if (took(r, "node") || took(r, "nodes"))
        target->kind = SIM_RANDOM_NODES;
    else if ((is(r, "switch") || is(r, "switches")) && !r->t->tree)
        return wrong_at(r, r->word, "there are no switches; --topology names them");
    else if (took(r, "switch") || took(r, "switches"))
        target->kind = SIM_RANDOM_SWITCHES;
    else if (count == 1 && took(r, "fln")) {
        target->kind = SIM_RANDOM_FLN;
        if (!took(r, "and") || !took(r, "child"))
            return expected(r, "'and child'");
    } else
        return expected(r, "node, switch, or fln and child");
    return FTREE_OK;
}

static int take_words(struct reader *r, const char *const *words)
{
    char what[32];

    for (; *words; words++)
        if (!took(r, *words)) {
            snprintf(what, sizeof(what), "'%s'", *words);
            return expected(r, what);
        }
    return FTREE_OK;
}

static int take_target(struct reader *r, struct sim_target *target)
{
    static const char *const of_it[] = {"of", "it", NULL};
    int64_t n;

    if (took(r, "it")) {
        target->kind = SIM_IT;
        return FTREE_OK;
    }
    if (took(r, "one")) {
        target->kind = SIM_ONE_OF_IT;
        return take_words(r, of_it);
    }
    if (took(r, "root"))
        return take_root(r, target);
    if (took(r, "random"))
        return take_random(r, 1, target);
    if (took(r, "node") || took(r, "nodes"))
        return take_list(r, true, target);
    if (took(r, "switch") || took(r, "switches"))
        return take_list(r, false, target);
    if (sim_read_number(r->word, r->len, 1, r->t->job.nodes, &n)) {
        next(r);
        if (took(r, "random"))
            return take_random(r, (int32_t) n, target);
        return expected(r, "'random'");
    }
    return expected(r, "a target (node LIST, switch LIST, root, random node, 9 random nodes, it)");
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int take_path(struct reader *r, uint8_t *paths)
{
    *paths = SIM_BOTH_PATHS;
    if (!took(r, "on"))
        return FTREE_OK;
    if (took(r, "data"))
        *paths = 1 << FTREE_PATH_DATA;
    else if (took(r, "mgmt"))
        *paths = 1 << FTREE_PATH_MGMT;
    else
        return expected(r, "data or mgmt");
    return FTREE_OK;
}

static int take_storm(struct reader *r, struct sim_fault *f)
{
    static const char *const words[] = {"all", "wait", "for", NULL};

    return take_words(r, words) ? FTREE_ERR_INVALID : take_target(r, &f->target);
}

/* "random waits every 1s of up to 5s", "random phases every 1m of up to 5s" */
static int take_random_waits(struct reader *r, struct sim_fault *f)
{
    static const char *const words[] = {"waits", "every", NULL}, *const more[] = {"of", "up", "to",
                                                                                  NULL};
    bool phases = took(r, "phases");
    const char *at;

    f->verb = phases ? SIM_RANDOM_PHASES : SIM_RANDOM_WAITS;
    if (take_words(r, phases ? words + 1 : words))
        return FTREE_ERR_INVALID;
    at = r->word;
    if (take_time(r, &f->every) || take_words(r, more) || take_time(r, &f->by))
        return FTREE_ERR_INVALID;
    return f->every ? FTREE_OK : wrong_at(r, at, "more waits than the time allows");
}

/* "stop rank 5" */
static int take_stop(struct reader *r, struct sim_fault *f)
{
    static const char *const words[] = {"rank", NULL};
    int64_t n;

    if (take_words(r, words))
        return FTREE_ERR_INVALID;
    if (!sim_read_number(r->word, r->len, 0, r->t->job.size - 1, &n))
        return expected(r, "a rank of the job");
    next(r);
    f->other = (int32_t) n;
    f->target.kind = SIM_NODES;
    f->target.range = sim_realloc(NULL, 1, sizeof(*f->target.range));
    f->target.range[0].first = f->target.range[0].last = f->other / r->t->ranks_per_node;
    f->target.ranges = 1;
    return FTREE_OK;
}

/* "cut node 5 on data", "cut node 5 from node 6" */
static int take_cut(struct reader *r, struct sim_fault *f)
{
    static const char *const words[] = {"node", NULL};

    if (take_target(r, &f->target))
        return FTREE_ERR_INVALID;
    if (took(r, "from")) {
        if (take_words(r, words) || one_of(r, r->word, r->len, true, &f->other))
            return FTREE_ERR_INVALID;
        next(r);
    }
    return take_path(r, &f->paths);
}

/* "of 1000 scattered ranks" */
static int take_crowd(struct reader *r, struct sim_fault *f, int32_t least)
{
    int32_t chains = f->chains > 0 ? f->chains : 1;
    int64_t n;

    if (!took(r, "of"))
        return expected(r, "'of' and a number of ranks");
    if (!sim_read_number(r->word, r->len, least, r->t->job.size / chains, &n))
        return expected(r, "a number of ranks that the job has");
    next(r);
    f->count = (int32_t) n * chains;
    f->scattered = took(r, "scattered");
    if (took(r, "ranks") || took(r, "rank"))
        return FTREE_OK;
    return expected(r, f->scattered ? "'ranks'" : "'ranks' or 'scattered ranks'");
}

/* "chain of 1000 ranks to node 7", of which "chain" is read. */
static int take_chains(struct reader *r, struct sim_fault *f, int32_t chains)
{
    f->chains = chains;
    if (take_crowd(r, f, 1))
        return FTREE_ERR_INVALID;
    return took(r, "to") ? take_target(r, &f->target) : expected(r, "'to' and a target");
}

/* "collective: node 7 receives", of which the first word is read. */
static int take_collective(struct reader *r, struct sim_fault *f)
{
    static const char *const but[] = {"but", NULL}, *const root[] = {"another", "root", NULL};

    if (took(r, "all"))
        return take_words(r, but) ? FTREE_ERR_INVALID : take_target(r, &f->target);
    if (take_target(r, &f->target))
        return FTREE_ERR_INVALID;
    f->sleeps = took(r, "sleeps");
    if (f->sleeps)
        return FTREE_OK;
    f->shape = SIM_ALL_BUT_RECEIVE;
    if (took(r, "receives"))
        return FTREE_OK;
    f->shape = SIM_OTHER_ROOT;
    return took(r, "has") ? take_words(r, root)
                          : expected(r, "sleeps, receives or has another root");
}

/* "ring of 5 ranks", "knot of 5 ranks", "any source of 5 ranks" */
static int take_ring(struct reader *r, struct sim_fault *f)
{
    static const char *const source[] = {"source", NULL};

    if (f->shape == SIM_ANY_SOURCE && take_words(r, source))
        return FTREE_ERR_INVALID;
    return take_crowd(r, f, 2);
}

static int take_chain(struct reader *r, struct sim_fault *f)
{
    return take_chains(r, f, 1);
}

static int take_nothing(struct reader *r, struct sim_fault *f)
{
    (void) r, (void) f;
    return FTREE_OK;
}

static int take_it(struct reader *r, struct sim_fault *f)
{
    return take_target(r, &f->target);
}

static int take_partition(struct reader *r, struct sim_fault *f)
{
    return take_target(r, &f->target) ? FTREE_ERR_INVALID : take_path(r, &f->paths);
}

static int take_down(struct reader *r, struct sim_fault *f)
{
    f->paths = 1 << FTREE_PATH_DATA;
    return take_target(r, &f->target);
}

/* By the first word; a line of chains may begin with their number. */
static const struct {
    const char *word;
    uint8_t verb, shape;
    int (*take)(struct reader *r, struct sim_fault *f);
} lines[] = {
    {"lose", SIM_LOSE, 0, take_it},
    {"kill", SIM_KILL, 0, take_it},
    {"freeze", SIM_FREEZE, 0, take_it},
    {"stop", SIM_STOP, 0, take_stop},
    {"cut", SIM_CUT, 0, take_cut},
    {"partition", SIM_PARTITION, 0, take_partition},
    {"return", SIM_RETURN, 0, take_it},
    {"heal", SIM_HEAL, 0, take_nothing},
    {"storm:", SIM_STORM, 0, take_storm},
    {"random", SIM_RANDOM_WAITS, 0, take_random_waits},
    {"down", SIM_DOWN, 0, take_down},
    {"finalize", SIM_FINALIZE, 0, take_it},
    {"ring", SIM_HANG, SIM_RING, take_ring},
    {"knot", SIM_HANG, SIM_KNOT, take_ring},
    {"any", SIM_HANG, SIM_ANY_SOURCE, take_ring},
    {"collective:", SIM_HANG, SIM_ALL_BUT, take_collective},
    {"chain", SIM_HANG, SIM_CHAIN, take_chain},
};

static int take_verb(struct reader *r, struct sim_fault *f)
{
    int64_t chains;

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (took(r, lines[i].word)) {
            f->verb = lines[i].verb;
            f->shape = lines[i].shape;
            return lines[i].take(r, f);
        }
    if (sim_read_number(r->word, r->len, 1, r->t->job.size, &chains)) {
        f->verb = SIM_HANG;
        f->shape = SIM_CHAIN;
        next(r);
        return took(r, "chains") ? take_chains(r, f, (int32_t) chains) : expected(r, "'chains'");
    }
    return expected(r,
                    "lose, kill, freeze, stop, cut, down, partition, return, heal, finalize, "
                    "storm:, collective:, ring, knot, any source, chain or random");
}

static int take_line(struct reader *r, struct sim_fault *f)
{
    if (r->len > 2 && !memcmp(r->word, "t=", 2)) {
        if (!sim_read_time(r->word + 2, r->len - 2, &f->at))
            return wrong_at(r, r->word + 2, "'%.*s' is not a time, such as 150ms or 2s",
                            (int) (r->len < 42 ? r->len - 2 : 40), r->word + 2);
        next(r);
    }
    if (take_verb(r, f))
        return FTREE_ERR_INVALID;
    if (f->verb == SIM_HANG && took(r, "within") && take_time(r, &f->within))
        return FTREE_ERR_INVALID;
    if (f->verb != SIM_RETURN && f->verb != SIM_HEAL && f->verb != SIM_FINALIZE && took(r, "for") &&
        take_time(r, &f->lasts))
        return FTREE_ERR_INVALID;
    return r->len ? expected(r, "the end of the line") : FTREE_OK;
}

static int add_line(struct sim_script *s, struct reader *r)
{
    struct sim_fault f = {
        .at = AT_DEFAULT, .lasts = FTREE_NEVER, .within = WITHIN_DEFAULT, .paths = SIM_BOTH_PATHS,
        .other = FTREE_NONE};

    next(r);
    if (r->len == 0)
        return FTREE_OK;
    if (take_line(r, &f)) {
        free(f.target.range);
        return FTREE_ERR_INVALID;
    }
    if ((f.target.kind == SIM_IT || f.target.kind == SIM_ONE_OF_IT) && s->n == 0) {
        free(f.target.range);
        return wrong_at(r, r->begin, "'it' needs a line with a target before it");
    }
    s->fault = sim_grow(s->fault, s->n, sizeof(*s->fault));
    s->fault[s->n++] = f;
    return FTREE_OK;
}

int sim_script_read(struct sim_script *s, const char *text, const struct sim_topology *t,
                    struct sim_script_error *e)
{
    struct reader r = {.t = t, .e = e};

    while (*text) {
        size_t len = strcspn(text, "\n");
        r.begin = r.at = text;
        r.end = text + len;
        r.line++;
        if (add_line(s, &r))
            return FTREE_ERR_INVALID;
        text += len + (text[len] == '\n');
    }
    return FTREE_OK;
}

void sim_script_free(struct sim_script *s)
{
    for (int32_t i = 0; i < s->n; i++)
        free(s->fault[i].target.range);
    free(s->fault);
    *s = (struct sim_script){0};
}
