/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/report/report_int.h"
#include "ftree/base/base.h"
#include "ftree/base/text.h"
#include "ftree/topology/tree.h"

#include <json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- errno ----------------------------------------------------------------------------------- */

const char *ftree_report_errno(int error, char *buf, size_t len)
{
    const char *name;
    int number;

    if (error == 0)
        return "";
    for (int i = 0; (name = ftree_errno_at(i, &number)); i++)
        if (number == error)
            return name;
    snprintf(buf, len, "errno %d", error);
    return buf;
}

int ftree_report_errno_number(const char *name)
{
    const char *known;
    char *end;
    int number;
    long n;

    for (int i = 0; (known = ftree_errno_at(i, &number)); i++)
        if (!strcmp(known, name))
            return number;
    if (*name < '0' || *name > '9')
        return 0;
    n = strtol(name, &end, 10);
    return *end || n < 1 || n > 4095 ? 0 : (int) n;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

void ftree_report_ranks(const struct ftree_ranks *set, char *buf, size_t len)
{
    static const char more[] = ", ...";
    char piece[32];

    buf[0] = '\0';
    for (int32_t i = 0; i < set->ranges; i++) {
        int32_t first = set->range[i].first, last = set->range[i].last;
        snprintf(piece, sizeof(piece), "%s%d", i ? ", " : "", (int) first);
        if (first < last)
            ftree_text_add(piece, sizeof(piece), "-%d", (int) last);
        if (strlen(buf) + strlen(piece) + sizeof(more) > len) {
            ftree_text_add(buf, len, "%s", *buf ? more : "...");
            return;
        }
        ftree_text_add(buf, len, "%s", piece);
    }
    if (ftree_ranks_listed(set) < set->count)
        ftree_text_add(buf, len, "%s", *buf ? more : "...");
}

/* The node that a rank is on, without a search. */
static bool is_on(const struct ftree_job *job, const struct ftree_verdict *v, int32_t rank)
{
    int32_t node = job->rank_node ? job->rank_node[rank] : rank;

    if (v->kind == FTREE_KIND_SWITCH && job->tree && v->switch_ != FTREE_NONE)
        return ftree_tree_is_behind(job->tree, v->switch_, node);
    return node == v->node;
}

static int32_t next_of(const struct ftree_ranks *set, int32_t before)
{
    for (int32_t i = 0; i < set->ranges; i++)
        if (set->range[i].last > before)
            return set->range[i].first > before ? set->range[i].first : before + 1;
    return FTREE_NONE;
}

int32_t report_next_rank(const struct ftree_job *job, const struct ftree_verdict *v, int32_t before)
{
    if (v->component.count > 0)
        return next_of(&v->component, before);
    if (v->rank != FTREE_NONE)
        return before < v->rank ? v->rank : FTREE_NONE;
    for (int32_t r = before + 1; r < job->size; r++)
        if (is_on(job, v, r))
            return r;
    return FTREE_NONE;
}

void ftree_report_component_ranks(const struct ftree_job *job, const struct ftree_verdict *v,
                                  struct ftree_ranks *set)
{
    if (v->component.count > 0) {
        *set = v->component;
        return;
    }
    memset(set, 0, sizeof(*set));
    for (int32_t r = report_next_rank(job, v, -1); r != FTREE_NONE;
         r = report_next_rank(job, v, r))
        ftree_ranks_add(set, r, r);
}

/* ---- components ------------------------------------------------------------------------------ */

static const char *switch_name(const struct ftree_job *job, int32_t switch_, char *buf, size_t len)
{
    if (job->tree && switch_ >= 0 && switch_ < job->tree->switches)
        return job->tree->switch_name[switch_];
    snprintf(buf, len, "%d", (int) switch_);
    return buf;
}

static bool has_rank_of(const struct ftree_job *job, const struct ftree_ranks *set, int32_t node)
{
    if (!job->rank_node)
        return next_of(set, node - 1) == node;
    for (int32_t i = job->node_first[node]; i < job->node_first[node + 1]; i++)
        if (next_of(set, job->node_ranks[i] - 1) == job->node_ranks[i])
            return true;
    return false;
}

/* How many nodes the ranks of the component are on, where it is a set of ranks; 0: not all of them
 * are listed.  Else 1. */
static int32_t nodes_of(const struct ftree_job *job, const struct ftree_verdict *v)
{
    bool listed = ftree_ranks_listed(&v->component) == v->component.count;
    int32_t nodes = 0;

    if (v->component.count == 0)
        return 1;
    for (int32_t n = 0; listed && n < job->nodes; n++)
        nodes += has_rank_of(job, &v->component, n);
    return nodes;
}

/* Of "unknown" those of what is left. */
unsigned report_tickets(const struct ftree_verdict *v)
{
    unsigned all = 0;

    if (v->ticket != FTREE_TICKET_OF_CLASS)
        return 1u << v->ticket;
    for (int32_t i = 0; v->class_ == FTREE_CLASS_UNKNOWN && i < v->candidates; i++)
        if (!v->candidate[i].ruled_out)
            all |= 1u << ftree_class_ticket(v->candidate[i].class_);
    return all ? all : 1u << ftree_class_ticket(v->class_);
}

static const char *list_tickets(unsigned all, char *buf, size_t len)
{
    buf[0] = '\0';
    for (int t = 0; t < FTREE_TICKET_COUNT; t++)
        if (all >> t & 1)
            ftree_report_ticket_add(ftree_ticket_name(t), buf, len);
    return buf;
}

static const char *first_cause(const struct ftree_verdict *v, char *buf, size_t len)
{
    const struct ftree_evidence *e = &v->evidence[0];

    buf[0] = '\0';
    if (v->evidences > 0 && e->source == FTREE_EVIDENCE_CAUSE)
        ftree_report_cause(e->detail, ((double) v->first_symptom - (double) e->at) / 1e9, buf, len);
    return buf;
}

static const char *leaf_of(const struct ftree_job *job, int32_t node)
{
    int32_t leaf = job->tree ? job->tree->node_switch[node] : FTREE_NONE;

    return leaf == FTREE_NONE ? "" : job->tree->switch_name[leaf];
}

void report_about(const struct ftree_job *job, const struct ftree_verdict *v,
                  struct report_room *room, struct report_about *about)
{
    struct ftree_ranks set;
    char list[200];

    ftree_report_component_ranks(job, v, &set);
    ftree_report_ranks(&set, list, sizeof(list));
    snprintf(room->ranks, sizeof(room->ranks), "%s %s", set.count == 1 ? "rank" : "ranks", list);
    *about =
        (struct report_about){.class_ = ftree_class_name(v->class_),
                              .origin = ftree_origin_name(ftree_class_origin(v->class_)),
                              .kind = ftree_kind_name(v->kind),
                              .node = ftree_node_name(job, v->node, room->node, sizeof(room->node)),
                              .rule = v->rule,
                              .because = v->because,
                              .fln = ftree_node_name(job, v->fln, room->fln, sizeof(room->fln)),
                              .ranks = room->ranks,
                              .leaf = leaf_of(job, v->node),
                              .at = (double) v->located / 1e9,
                              .nodes = nodes_of(job, v),
                              .pid = v->pid,
                              .percent = (v->confidence + 5) / 10,
                              .ticket = list_tickets(report_tickets(v), room->ticket,
                                                     sizeof(room->ticket)),
                              .cause = first_cause(v, room->cause, sizeof(room->cause))};
    for (int32_t i = 0; i < v->candidates; i++)
        if (!v->candidate[i].ruled_out)
            ftree_report_open_add(&about->open, ftree_class_name(v->candidate[i].class_),
                                  (v->candidate[i].confidence + 5) / 10);
    about->name = about->node;
    if (v->kind == FTREE_KIND_SWITCH)
        about->name = switch_name(job, v->switch_, room->name, sizeof(room->name));
    if (v->kind != FTREE_KIND_RANK)
        return;
    snprintf(room->name, sizeof(room->name), "%s", list);
    about->name = room->name;
}

const struct report_stacks *report_stacks(const struct report_job *rj,
                                          const struct ftree_verdict *v)
{
    for (int32_t i = 0; i < rj->stacked; i++)
        if (rj->stacks[i].fln == v->fln && rj->stacks[i].id == v->id)
            return &rj->stacks[i];
    return NULL;
}

/* "ranks 4-7": what is said of them is in the plural. */
static bool are_several(const struct report_about *a)
{
    return a->alike > 0 || (report_is(a->kind, "rank") && strncmp(a->ranks, "ranks", 5) == 0);
}

/* "node h2", "16 nodes c[01-16]" */
static void subject(const struct report_about *a, char *buf, size_t len)
{
    if (a->alike > 0)
        snprintf(buf, len, "%d %ss%s%s", a->alike, a->kind, *a->name ? " " : "", a->name);
    else
        snprintf(buf, len, "%s %s", a->kind, a->name);
}

/* "link, NIC or switch": the parts of the network that the explanations left name; "" where one of
 * them is no part of it, or there is none. */
static void network_parts(const struct report_open *open, char *buf, size_t len)
{
    static const struct {
        const char *class_, *part;
    } rows[] = {{"nic-fault", "NIC"}, {"link-fault", "link"}, {"switch-fault", "switch"}};

    buf[0] = '\0';
    for (int i = 0; i < open->n; i++) {
        size_t r = 0;
        while (r < 3 && !report_is(rows[r].class_, open->candidate[i].class_))
            r++;
        if (r == 3) {
            buf[0] = '\0';
            return;
        }
        ftree_text_add(buf, len, "%s%s",
                       i == 0             ? ""
                       : i == open->n - 1 ? " or "
                                          : ", ",
                       rows[r].part);
    }
}

/* What takes packets of some connections only may also be a firewall's rule. */
static bool is_of_connection(const struct report_about *a)
{
    static const char begin[] = "unknown/connection-";

    return a->rule && !strncmp(a->rule, begin, strlen(begin));
}

static void unknown_headline(const struct report_about *a, char *buf, size_t len)
{
    char parts[64], what[REPORT_LABEL];

    subject(a, what, sizeof(what));
    network_parts(&a->open, parts, sizeof(parts));
    if (is_of_connection(a) && !report_is(a->fln, a->name))
        snprintf(buf, len, "network fault between node %s and node %s (%s)", a->fln, a->name,
                 a->ranks);
    else if (is_of_connection(a))
        snprintf(buf, len, "network fault at node %s (%s)", a->name, a->ranks);
    else if (parts[0])
        snprintf(buf, len, "network fault at %s (%s), part not identified: %s", what, a->ranks, parts);
    else
        snprintf(buf, len, "%s (%s): cause not identified", what, a->ranks);
}

/* Where ranks are. */
static void place(const struct report_about *a, char *buf, size_t len)
{
    if (a->nodes == 1)
        snprintf(buf, len, "node %s", a->node);
    else if (a->nodes > 1)
        snprintf(buf, len, "on %d nodes", a->nodes);
    else
        snprintf(buf, len, "on several nodes");
}

/* The words of its class, or those of a sign that say more. */
static const char *headline(const struct report_about *a)
{
    static const struct {
        const char *rule, *one, *several;
    } rows[] = {
        {"user-code-hang/awaits-answer", "waits outside MPI for another process",
         "wait outside MPI for other processes"},
        {"deadlock/order", "has begun collectives in another order than the ranks that wait for it",
         "have begun collectives in another order than the ranks that wait for them"},
        {"deadlock/absent", "waits in a collective for ranks that need its messages",
         ""},
        {"deadlock/library", "",
         "wait for each other inside MPI, in a collective called with matching arguments"},
        {"deadlock/missing-partner", "has called MPI_Finalize, and others wait for it",
         "have called MPI_Finalize, and others wait for them"},
        {"collective-mismatch/behind",
         "has called MPI_Finalize, and others wait for it in a collective",
         "have called MPI_Finalize, and others wait for them in a collective"},
        {"collective-mismatch/ahead",
         "has begun one more collective than the others, which have called MPI_Finalize",
         "have begun one more collective than the others, which have called MPI_Finalize"},
        {"collective-mismatch/uneven", "",
         "have begun different numbers of collectives, and some have called MPI_Finalize"},
    };
    bool several = are_several(a);

    for (size_t i = 0; a->rule && i < sizeof(rows) / sizeof(rows[0]); i++)
        if (report_is(rows[i].rule, a->rule))
            return several ? rows[i].several : rows[i].one;
    if (report_is(a->class_, "process-crash") && a->because && !strncmp(a->because, "it ", 3))
        return a->because + 3;
    return ftree_class_headline(ftree_class_by_name(a->class_), several);
}

void ftree_report_headline(const struct report_about *a, char *buf, size_t len)
{
    char pid[32] = "", where[REPORT_LABEL], what[REPORT_LABEL];
    const char *words = headline(a), *gap = *words == ':' ? "" : " ";

    if (report_is(a->class_, "unknown")) {
        unknown_headline(a, buf, len);
        return;
    }
    if (a->pid > 0)
        snprintf(pid, sizeof(pid), "pid %d on ", a->pid);
    place(a, where, sizeof(where));
    subject(a, what, sizeof(what));
    if (report_is(a->kind, "rank"))
        snprintf(buf, len, "%s (%s%s)%s%s", a->ranks, pid, where, gap, words);
    else
        snprintf(buf, len, "%s (%s)%s%s", what, a->ranks, gap, words);
}

void ftree_report_line(const struct ftree_job *job, const struct ftree_verdict *v, char *buf,
                       size_t len)
{
    struct report_about about;
    struct report_room room;
    char headline[2 * REPORT_LABEL];

    report_about(job, v, &room, &about);
    ftree_report_headline(&about, headline, sizeof(headline));
    snprintf(buf, len, "%s: %s", about.class_, headline);
    ftree_text_clean(buf, strlen(buf), '?');
}

void ftree_report_component(const struct report_about *a, char *buf, size_t len)
{
    char where[REPORT_LABEL];

    place(a, where, sizeof(where));
    if (report_is(a->kind, "rank"))
        snprintf(buf, len, "%s (%s)", a->ranks, where);
    else
        subject(a, buf, len);
}

/* ---- the conclusion -------------------------------------------------------------------------- */

void ftree_report_open_add(struct report_open *open, const char *class_, int percent)
{
    int i = open->n < REPORT_OPEN_MAX ? open->n++ : REPORT_OPEN_MAX;

    for (; i > 0 && open->candidate[i - 1].percent < percent; i--)
        if (i < REPORT_OPEN_MAX)
            open->candidate[i] = open->candidate[i - 1];
    if (i == REPORT_OPEN_MAX)
        return;
    open->candidate[i].class_ = class_;
    open->candidate[i].percent = percent;
}

/* A rank is no hardware, but what it uses is. */
void report_guilty(const struct report_about *a, char *buf, size_t len)
{
    char component[REPORT_LABEL];

    ftree_report_component(a, component, sizeof(component));
    if (a->rule && report_is(a->rule, "deadlock/library"))
        snprintf(buf, len, "the MPI library, in which %s wait", component);
    else if ((report_is(a->origin, "hardware") && report_is(a->kind, "rank")) ||
             (a->rule && report_is(a->rule, "user-code-hang/awaits-answer")))
        snprintf(buf, len, "what %s %s for", component, are_several(a) ? "wait" : "waits");
    else
        snprintf(buf, len, "%s", component);
}

/* ---- evidence -------------------------------------------------------------------------------- */

static const char *process_words(const char *state, char *buf, size_t len)
{
    if (report_is(state, "X"))
        return "gone";
    if (report_is(state, "t"))
        return "held by a debugger (state t)";
    if (report_is(state, "T"))
        return "stopped (state T)";
    if (*state == FTREE_PROC_FROZEN)
        return "frozen by its control group";
    if (*state == FTREE_PROC_MEMORY)
        return "held by the memory limit of its control group";
    snprintf(buf, len, "in state %s", state);
    return buf;
}

static void probe_words(struct json_object *e, char *buf, size_t len)
{
    const char *address = report_string(e, "address"), *error = report_string(e, "errno");
    const char *state = report_string(e, "process_state"), *detail = report_string(e, "detail");
    bool is_indirect = report_is(report_string(e, "source"), "visit");

    snprintf(buf, len, "%s%s on %s%s%s%s%s: %s%s%s%s%s%s%s%s", report_string(e, "target"),
             report_is(report_string(e, "role"), "deputy") ? "'s deputy" : "",
             report_string(e, "path"), *address ? " " : "", address,
             is_indirect ? ", asked by " : "", is_indirect ? report_string(e, "by") : "",
             report_string(e, "result"), *error ? " (" : "", error, *error ? ")" : "",
             *state ? ", reports state " : "", state, *detail ? ", " : "", detail);
}

static void time_words(double before_s, char *buf, size_t len)
{
    if (before_s >= 120)
        snprintf(buf, len, "%.0f min before", before_s / 60);
    else if (before_s > -1)
        snprintf(buf, len, before_s < 1 ? "just before" : "%.0f s before", before_s);
    else
        snprintf(buf, len, "seen %.0f s after the first symptom", -before_s);
}

void ftree_report_ticket_add(const char *name, char *buf, size_t len)
{
    ftree_text_add(buf, len, "%s%s", *buf ? " or " : "", name);
}

void ftree_report_cause(const char *detail, double before_s, char *buf, size_t len)
{
    char when[48];

    time_words(before_s, when, sizeof(when));
    snprintf(buf, len, "%.*s %s", (int) strcspn(detail, ":"), detail, when);
}

static void process_evidence(struct json_object *e, const char *detail, char *buf, size_t len)
{
    const char *state = report_string(e, "process_state");
    bool has_limit = *state == FTREE_PROC_MEMORY && *detail;
    char room[32];

    snprintf(buf, len, "the kernel of %s says the process is %s%s%s", report_string(e, "target"),
             process_words(state, room, sizeof(room)), has_limit ? ": " : "",
             has_limit ? detail : "");
}

void ftree_report_evidence(struct json_object *e, char *buf, size_t len)
{
    const char *source = report_string(e, "source"), *detail = report_string(e, "detail");
    const char *target = report_string(e, "target"), *by = report_string(e, "by");
    const char *error = report_string(e, "errno"), *place = report_string(e, "place");
    char when[48];

    time_words(json_object_get_double(json_object_object_get(e, "before_s")), when, sizeof(when));
    if (report_is(source, "proc"))
        process_evidence(e, detail, buf, len);
    else if (report_is(source, "state"))
        snprintf(buf, len, "the state of %s: %s", target, detail);
    else if (report_is(source, "log"))
        snprintf(buf, len, "messages of %s: %s", target, detail);
    else if (report_is(source, "cause"))
        snprintf(buf, len, "cause: %s, %s (reported to %s)", detail, when, by);
    else if (report_is(source, "unknown"))
        snprintf(buf, len, "not known: %s", detail);
    else if (report_is(source, "symptom") || report_is(source, "handler"))
        snprintf(buf, len, "reported to %s about %s: %s%s%s%s", by, target, detail,
                 *error ? " (" : "", error, *error ? ")" : "");
    else if (report_is(source, "wait") || report_is(source, "sample") ||
             report_is(source, "connection") || report_is(source, "burst") ||
             report_is(source, "fabric"))
        snprintf(buf, len, "%s%s%s", detail, *place ? " at " : "", place);
    else
        probe_words(e, buf, len);
}

/* ---- places ---------------------------------------------------------------------------------- */

#define PIECES_MAX 4 /* of a line */

/* The ranks that a line of evidence is about: "<- rank 3 (h1) ...", "ranks 0-1, 5 (3 of 4) ...".
 * False: it begins otherwise, or says what one has done before. */
static bool read_ranks(const char *line, struct ftree_ranks *out)
{
    const char *at = !strncmp(line, "<- ", 3) ? line + 3 : line;
    char *end;

    *out = (struct ftree_ranks){0};
    if (strncmp(at, "rank", 4))
        return false;
    at += at[4] == 's' ? 6 : 5;
    for (;; at = end + 2) {
        long first = strtol(at, &end, 10), last = first;
        if (end > at && *end == '-')
            last = strtol(end + 1, &end, 10);
        if (end > at)
            ftree_ranks_add(out, (int32_t) first, (int32_t) last);
        if (end == at || strncmp(end, ", ", 2))
            return out->count > 0 && (end == at || !strncmp(end, " (", 2));
    }
}

#define PLACES_OF_LINE 16 /* of a line about others than the component */

void ftree_report_ranks_of_places(const struct ftree_verdict *v, struct ftree_ranks *out)
{
    struct ftree_ranks of;

    *out = v->component;
    if (out->count == 0)
        ftree_ranks_add(out, v->rank, v->rank);
    for (int32_t i = 0; i < v->evidences; i++) {
        int32_t more = 0;
        if (v->evidence[i].source != FTREE_EVIDENCE_WAIT || !read_ranks(v->evidence[i].detail, &of))
            continue;
        for (int32_t k = 0; k < of.ranges; k++)
            for (int32_t r = of.range[k].first; r <= of.range[k].last && more < PLACES_OF_LINE; r++, more++)
                ftree_ranks_add(out, r, r);
    }
}

/* "and 8 more ranks": those of the component that have no line of their own. */
static bool is_rest(const char *line)
{
    return !strncmp(line, "and ", 4) && strstr(line, " more ranks");
}

static bool has_line(const struct ftree_verdict *v, int32_t rank)
{
    struct ftree_ranks of;

    for (int32_t i = 0; i < v->evidences; i++)
        if (v->evidence[i].source == FTREE_EVIDENCE_WAIT && read_ranks(v->evidence[i].detail, &of) &&
            ftree_ranks_has(&of, rank))
            return true;
    return false;
}

/* It is there itself, and in nothing that was called from there. */
static bool is_at(const struct ftree_stacks *s, int32_t i, int32_t rank)
{
    if (!ftree_spans_has(&s->items[i].ranks, rank))
        return false;
    for (int32_t below = i + 1; below < s->n; below++)
        if (s->items[below].parent == i && ftree_spans_has(&s->items[below].ranks, rank))
            return false;
    return true;
}

/* Those of the line, or the rest of the component where `of` is NULL, that are there. */
static void ranks_at(const struct ftree_verdict *v, const struct ftree_stacks *s, int32_t i,
                     const struct ftree_ranks *of, struct ftree_ranks *out)
{
    const struct ftree_spans *all = &s->items[i].ranks;

    *out = (struct ftree_ranks){0};
    for (int32_t k = 0; k < all->n; k++)
        for (int32_t r = all->items[k].first; r <= all->items[k].last; r++)
            if ((of ? ftree_ranks_has(of, r) : ftree_ranks_has(&v->component, r) && !has_line(v, r)) &&
                is_at(s, i, r))
                ftree_ranks_add(out, r, r);
}

/* "a line of Python code": words instead of a function, which each process has its own of. */
static bool is_script(const struct ftree_stack *c)
{
    return *c->function && !*c->module && !*c->file;
}

/* "exchange(), halo.c:112"; where no line is known the library says where it is. */
static void put_place(FILE *f, const struct ftree_stack *c)
{
    fprintf(f, "%s%s", *c->function ? c->function : "?", *c->function && !is_script(c) ? "()" : "");
    if (*c->file && c->line > 0)
        fprintf(f, ", %s:%d", c->file, (int) c->line);
    else if (*c->module)
        fprintf(f, " in %s", c->module);
}

static void put_piece(FILE *f, const struct ftree_stacks *s, int32_t i)
{
    put_place(f, &s->items[i]);
    if (s->items[i].parent == FTREE_NONE)
        return;
    fputs(", called from ", f);
    put_place(f, &s->items[s->items[i].parent]);
}

static void put_pieces(FILE *f, const struct ftree_verdict *v, const struct ftree_stacks *s,
                       const struct ftree_ranks *of)
{
    struct ftree_ranks there;
    char list[100];
    int pieces = 0, scripts = 0;

    for (int32_t i = 0; i < s->n; i++) {
        ranks_at(v, s, i, of, &there);
        if (there.count == 0 || (is_script(&s->items[i]) && scripts++ > 0))
            continue; /* of scripts one is an example */
        if (++pieces > PIECES_MAX) {
            fputs("; others elsewhere", f);
            return;
        }
        fputs(pieces > 1 ? "; " : "", f);
        put_piece(f, s, i);
        ftree_report_ranks(&there, list, sizeof(list));
        if (!of || there.count < of->count)
            fprintf(f, " (%s %s)", there.count == 1 ? "rank" : "ranks", list);
    }
}

void report_place(const struct report_job *rj, const struct ftree_verdict *v, int32_t i, char *buf,
                  size_t len)
{
    const struct ftree_evidence *e = &v->evidence[i];
    const struct report_stacks *s = e->source == FTREE_EVIDENCE_WAIT ? report_stacks(rj, v) : NULL;
    struct ftree_ranks of;
    bool known;
    FILE *f;

    memset(buf, 0, len);
    if (!s || s->places.n == 0)
        return;
    known = read_ranks(e->detail, &of);
    f = known || is_rest(e->detail) ? fmemopen(buf, len - 1, "w") : NULL;
    if (!f)
        return;
    put_pieces(f, v, &s->places, known ? &of : NULL);
    fclose(f);
}

/* ---- the rest ------------------------------------------------------------------------------- */

void ftree_report_node(const char *name, const char *data, const char *mgmt, const char *state,
                       char *buf, size_t len)
{
    snprintf(buf, len, "%s: %s%s%s%s%s%s%s", name, *data ? "data " : "", data,
             *data && *mgmt ? ", " : "", *mgmt ? "mgmt " : "", mgmt, *data || *mgmt ? ": " : "",
             state);
}

bool report_ends_job(const struct report_job *rj, const struct ftree_verdict *v)
{
    return rj->abort && !v->local_only && ftree_class_ends_job(v->class_) &&
           !ftree_verdict_is_held(v);
}

void ftree_report_setting(const struct ftree_setting *s, char *buf, size_t len)
{
    buf[0] = '\0';
    if (s->changed & FTREE_SET_ACTION)
        ftree_text_add(buf, len, "action=%s", s->abort ? "abort" : "report");
    if (s->changed & FTREE_SET_STALL)
        ftree_text_add(buf, len, "%sstall-ms=%u", *buf ? ", " : "", (unsigned) s->stall_ms);
    if (s->changed & FTREE_SET_RULES && s->rules_len == 0)
        ftree_text_add(buf, len, "%srules=built-in", *buf ? ", " : "");
    else if (s->changed & FTREE_SET_RULES)
        ftree_text_add(buf, len, "%srules of %zu bytes", *buf ? ", " : "", s->rules_len);
}
