/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/report/report_int.h"

#include "ftree/base/base.h"
#include "ftree/topology/tree.h"

#include <stdlib.h>
#include <string.h>

/*
 * A rack loses its power: a thousand verdicts of one class within a second or two are one happening,
 * and are reported as one.  No name is left out, and what has another cause is not among them.
 */

#define NAMES_MAX 200 /* characters in a headline */

/* What makes a node silent, or cuts it off; the packets of one connection are no matter of nodes. */
static bool joins(const struct report_about *a)
{
    static const char of_connection[] = "unknown/connection-";
    int class_ = ftree_class_by_name(a->class_);

    if (report_is(a->kind, "rank") || report_is(a->kind, "switch") || class_ < 0)
        return false;
    return ftree_class_says(class_, FTREE_NODE_DEAD | FTREE_NODE_UNREACHABLE) ||
           (class_ == FTREE_CLASS_UNKNOWN &&
            strncmp(a->rule, of_connection, strlen(of_connection)) != 0);
}

static bool leave_open_alike(const struct report_open *a, const struct report_open *b)
{
    for (int i = 0; i < a->n && a->n == b->n; i++)
        if (!report_is(a->candidate[i].class_, b->candidate[i].class_))
            return false;
    return a->n == b->n;
}

/* "fan-failed 40 s before": the time may differ. */
static bool have_one_cause(const char *a, const char *b)
{
    size_t len = strcspn(a, " ");

    return len == strcspn(b, " ") && strncmp(a, b, len) == 0;
}

bool ftree_report_is_alike(const struct report_about *a, const struct report_about *b)
{
    return joins(a) && report_is(a->class_, b->class_) && report_is(a->kind, b->kind) &&
           report_is(a->rule, b->rule) && a->percent == b->percent &&
           report_is(a->ticket, b->ticket) && b->at - a->at < REPORT_ALIKE_S &&
           a->at - b->at < REPORT_ALIKE_S && have_one_cause(a->cause, b->cause) &&
           leave_open_alike(&a->open, &b->open);
}

bool ftree_report_are_alike(const struct ftree_job *job, const struct ftree_verdict *v,
                            const struct ftree_verdict *w)
{
    struct report_about a, b;
    struct report_room of_a, of_b;

    report_about(job, v, &of_a, &a);
    report_about(job, w, &of_b, &b);
    return !v->withdrawn && !w->withdrawn && !v->local_only && !w->local_only &&
           ftree_report_is_alike(&a, &b);
}

/* "within 0.3 s, all behind switch leaf2; of the first, h5:" */
static void say_what_is_common(const struct report_entry *v, char *buf, size_t len)
{
    const struct report_about *a = &v->about;
    double first = a->at, last = a->at;
    bool one_leaf = a->leaf && *a->leaf;

    for (const struct report_entry *w = v->next; w; w = w->next) {
        first = w->about.at < first ? w->about.at : first;
        last = w->about.at > last ? w->about.at : last;
        one_leaf = one_leaf && report_is(a->leaf, w->about.leaf);
    }
    snprintf(buf, len, "within %.1f s%s%s; of %s, for example:", last - first,
             one_leaf ? ", all behind switch " : "", one_leaf ? a->leaf : "", a->name);
}

/* Most have the same: what finds no room in their lists is not counted for each. */
static void add_victims(struct ftree_ranks *all, const struct ftree_ranks *of)
{
    int32_t most = all->count > of->count ? all->count : of->count, listed;

    for (int32_t i = 0; i < of->ranges; i++)
        ftree_ranks_add(all, of->range[i].first, of->range[i].last);
    listed = ftree_ranks_listed(all);
    all->count = listed > most ? listed : most;
}

static char *fold(const struct report_entry *v, int32_t n)
{
    const char **name = malloc((size_t) n * sizeof(*name));
    char *list;

    for (int32_t i = 0; name && i < n; i++, v = v->next)
        name[i] = v->about.name;
    list = name ? ftree_tree_fold(name, n) : NULL;
    free(name);
    return list;
}

struct report_together *report_join(const struct report_entry *v)
{
    struct report_together *t = NULL;
    struct ftree_ranks ranks = {0}, victims = {0};
    char *names, list[200];
    int32_t n = 0;

    for (const struct report_entry *w = v; w; w = w->next, n++) {
        ftree_ranks_merge(&ranks, &w->ranks);
        add_victims(&victims, &w->victims);
    }
    names = fold(v, n);
    if (names)
        t = malloc(sizeof(*t) + strlen(names) + 1);
    if (t) {
        strcpy(t->names, names);
        say_what_is_common(v, t->line, sizeof(t->line));
        ftree_report_ranks(&ranks, list, sizeof(list));
        snprintf(t->ranks, sizeof(t->ranks), "ranks %s", list);
        t->victims = victims;
        t->about = v->about;
        t->about.alike = n;
        t->about.ranks = t->ranks;
        t->about.name = strlen(t->names) <= NAMES_MAX ? t->names : "";
    }
    free(names);
    return t;
}
