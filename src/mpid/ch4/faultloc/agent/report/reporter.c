/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/report/reporter.h"

#include "faultloc/agent/report/json.h"
#include "faultloc/agent/report/node_stacks.h"
#include "faultloc/base/clock.h"
#include "faultloc/base/grow.h"
#include "faultloc/base/say.h"
#include "faultloc/board/verdicts.h"
#include "faultloc/io/launcher_notify.h"
#include "faultloc/io/loop.h"
#include "ftree/base/base.h"
#include "ftree/base/text.h"
#include "ftree/report/report.h"
#include "ftree/stacks/stacks.h"
#include "ftree/topology/topo.h"

#include <json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int faultloc_reporter_open(struct faultloc_reporter *t, const struct faultloc_program *p)
{
    const struct faultloc_settings *s = &p->board->settings;
    int rc;

    t->p = p;
    t->gathered.last_told.fln = FTREE_NONE;
    rc = faultloc_writer_start(s->trace, s->report, true, &t->writer);
    return rc ? rc : faultloc_loop_add(p->epoll, faultloc_writer_fd(t->writer), FAULTLOC_TAG_WAKE);
}

/* ---- the trace ------------------------------------------------------------------------------- */

void faultloc_reporter_trace(struct faultloc_reporter *t, const char *line)
{
    char out[512];
    int64_t ms;

    snprintf(t->line[t->lines++ % FAULTLOC_REPORTER_LINES], sizeof(t->line[0]), "%s", line);
    if (!faultloc_writer_has_trace(t->writer))
        return;
    ms = faultloc_unix_ms();
    snprintf(out, sizeof(out), "%lld.%03d %s: %s\n", (long long) (ms / 1000), (int) (ms % 1000),
             t->p->job.names[t->p->self], line);
    ftree_text_clean(out, strcspn(out, "\n"), '?');
    faultloc_writer_trace(t->writer, out);
}

static void trace_port(struct faultloc_reporter *t)
{
    const struct faultloc_address *own = &faultloc_board_addresses(t->p->board)[t->p->self];
    char line[64];

    snprintf(line, sizeof(line), "listens on port %u", (unsigned) own->port[FTREE_ROLE_AGENT]);
    faultloc_reporter_trace(t, line);
}

/* Who acts for the root when it is lost is drawn by a seed: without this nobody could foresee
 * it. */
static void trace_substitutes(struct faultloc_reporter *t)
{
    struct topo topo = ftree_topo_of(&t->p->job.job);
    char line[256] = "the root's substitutes:";
    size_t len = strlen(line);
    int32_t n;

    for (int32_t k = 1; k <= 3 && len < sizeof(line); k++) {
        n = ftree_topo_root_substitute(&topo, k);
        if (n == FTREE_NONE)
            break;
        len += (size_t) snprintf(line + len, sizeof(line) - len, "%s %s", k > 1 ? "," : "",
                                 t->p->job.names[n]);
    }
    faultloc_reporter_trace(t, line);
}

void faultloc_reporter_listening(struct faultloc_reporter *t, bool first)
{
    if (!first) {
        faultloc_reporter_trace(t, "succeeds as agent");
        return;
    }
    trace_port(t);
    trace_substitutes(t);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* The verdicts known: an array of pointers, in one piece with what they point to, that must be
 * freed; NULL: out of memory. */
static const struct ftree_verdict **list_verdicts(struct ftree *ft, int32_t *n)
{
    const struct ftree_verdict **list;
    struct ftree_verdict v, *verdicts;

    for (*n = 0; ftree_verdict_at(ft, *n, &v);)
        ++*n;
    list = malloc((size_t) (*n + 1) * (sizeof(*list) + sizeof(v)));
    verdicts = (struct ftree_verdict *) (list + *n + 1);
    for (int32_t i = 0; list && i < *n; i++) {
        ftree_verdict_at(ft, i, &verdicts[i]);
        list[i] = &verdicts[i];
    }
    return list;
}

/* The last decisions, oldest first. */
static int32_t list_decisions(const struct faultloc_reporter *t,
                              const char *line[FAULTLOC_REPORTER_LINES])
{
    uint32_t n = t->lines < FAULTLOC_REPORTER_LINES ? t->lines : FAULTLOC_REPORTER_LINES;

    for (uint32_t i = 0; i < n; i++)
        line[i] = t->line[(t->lines - n + i) % FAULTLOC_REPORTER_LINES];
    return (int32_t) n;
}

static void notify_launcher(const struct faultloc_reporter *t, const struct ftree_verdict *v)
{
    struct faultloc_launcher_message w;

    faultloc_launcher_verdict(&t->p->job.job, v, &w);
    faultloc_launcher_send(t->p->board->settings.launcher, &w);
}

/* The agent that reported before is lost, and with it, perhaps, what its launcher was to forward. A
 * launcher ignores what it has already. */
static void notify_launcher_of_others(const struct faultloc_reporter *t,
                                      const struct ftree_verdict *v,
                                      const struct ftree_verdict *const *known, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (!known[i]->withdrawn && !known[i]->local_only && known[i]->located < v->located &&
            (known[i]->fln != v->fln || known[i]->id != v->id))
            notify_launcher(t, known[i]);
}

/* What every report has.  Its list of verdicts is to be freed. */
static const struct ftree_verdict **begin_report(struct faultloc_reporter *t,
                                                 const char *line[FAULTLOC_REPORTER_LINES],
                                                 struct report_job *rj)
{
    struct faultloc_board *b = t->p->board;
    const struct ftree_verdict **known;
    uint32_t n = t->changes < FAULTLOC_REPORTER_CHANGES ? t->changes : FAULTLOC_REPORTER_CHANGES;

    *rj = (struct report_job){.job = &t->p->job.job,
                              .id = b->job_id,
                              .started_ms = b->started_ms,
                              .now = faultloc_now(),
                              .now_ms = faultloc_unix_ms(),
                              .address = faultloc_board_address,
                              .interface = faultloc_board_interface,
                              .port = faultloc_board_port,
                              .address_ctx = b,
                              .verbose = b->settings.verbose,
                              .trace = line,
                              .traces = list_decisions(t, line),
                              .waiting = t->waiting_at ? &t->waiting : NULL,
                              .waiting_at = t->waiting_at,
                              .changes = (int32_t) n,
                              .abort = b->settings.action == FAULTLOC_ACTION_ABORT,
                              .walltime = b->settings.walltime};
    rj->stacks = t->stacks;
    rj->stacked = (int32_t) (t->stacked < FAULTLOC_REPORTER_STACKS ? t->stacked
                                                                   : FAULTLOC_REPORTER_STACKS);
    for (uint32_t i = 0; i < n; i++)
        rj->change[i] = &t->change[(t->changes - n + i) % FAULTLOC_REPORTER_CHANGES];
    known = list_verdicts(t->p->ft, &rj->knowns);
    rj->known = known;
    rj->knowns = known ? rj->knowns : 0;
    return known;
}

static const char *text_of(struct json_object *o, const char *key)
{
    struct json_object *value;

    return json_object_object_get_ex(o, key, &value) ? json_object_get_string(value) : "";
}

static bool has_rank(const struct ftree_verdict *v, int32_t rank)
{
    return v->component.count > 0 ? ftree_ranks_has(&v->component, rank) : v->rank == rank;
}

/* "rank 3 is in a call on /data/in, on /data (nfs4 of fs1)": what may hold a rank of the component.
 * Another thread than the first may do what it always does. */
static void add_file(struct json_object *stacks, int32_t rank, struct json_object *process)
{
    bool is_first = false;
    struct json_object *file = faultloc_stack_open_file(process, &is_first), *text;
    char line[1024], where[600] = "";
    const char *server;

    if (!file)
        return;
    server = text_of(file, "server");
    if (*text_of(file, "mount_point"))
        snprintf(where, sizeof(where), ", on %s (%s%s%s)", text_of(file, "mount_point"),
                 text_of(file, "type"), *server ? " of " : "", server);
    snprintf(line, sizeof(line), "%srank %d is in a call on %.400s%s",
             is_first ? "" : "a further thread of ", (int) rank, text_of(file, "path"), where);
    if (json_object_object_get_ex(stacks, "text", &text))
        faultloc_json_append(text, json_object_new_string(line));
}

/* State, wait channel, CPU time and file of its threads; their calls are among those of all. */
static void add_process(struct json_object *processes, int32_t rank, struct json_object *process)
{
    faultloc_stack_drop_frames(process);
    faultloc_json_set(process, "rank", json_object_new_int(rank));
    faultloc_json_append(processes, process);
}

static void add_processes(struct json_object *stacks, const struct ftree_verdict *v,
                          const struct ftree_stacks *s)
{
    struct json_object *processes = json_object_new_array();

    for (int32_t i = 0; i < s->details; i++) {
        const struct ftree_detail *d = &s->detail[i];
        struct json_object *process =
            has_rank(v, d->rank) ? faultloc_stack_check(d->text, (size_t) d->len) : NULL;
        if (faultloc_stack_pid(process) == 0) {
            json_object_put(process);
            continue;
        }
        add_file(stacks, d->rank, process);
        add_process(processes, d->rank, process);
    }
    faultloc_json_set(stacks, "processes", processes);
}

static struct report_stacks *begin_stacks(struct faultloc_reporter *t, const struct ftree_verdict *v)
{
    struct report_stacks *r = &t->stacks[t->stacked++ % FAULTLOC_REPORTER_STACKS];

    json_object_put(r->json);
    ftree_stacks_clear(t->p->ft, &r->places);
    *r = (struct report_stacks){.fln = v->fln, .id = v->id};
    return r;
}

void faultloc_reporter_stacks(struct faultloc_reporter *t, const struct ftree_verdict *v,
                              const struct ftree_stacks *s, const char *why)
{
    struct report_stacks *r = begin_stacks(t, v);

    if (s && (s->n > 0 || s->missing.count > 0 || s->details > 0))
        r->json = ftree_report_stacks_json(s, true);
    if (r->json)
        add_processes(r->json, v, s);
    else
        snprintf(r->why, sizeof(r->why), "%s", s && *s->why ? s->why : why);
}

void faultloc_reporter_places(struct faultloc_reporter *t, const struct ftree_verdict *v,
                              const struct ftree_stacks *s)
{
    struct report_stacks *r = begin_stacks(t, v);

    if (!ftree_stacks_merge(t->p->ft, &r->places, s))
        ftree_stacks_clear(t->p->ft, &r->places);
}

void faultloc_reporter_late_places(struct faultloc_reporter *t, const struct ftree_verdict *v,
                                   const struct ftree_stacks *s)
{
    const char *line[FAULTLOC_REPORTER_LINES];
    const struct ftree_verdict **known;
    struct report_job rj;
    char *text;

    faultloc_reporter_places(t, v, s);
    known = begin_report(t, line, &rj);
    text = ftree_report_places_text(&rj, v);
    if (text && t->p->board->settings.report[0])
        faultloc_writer_report(t->writer, known ? ftree_report_json(&rj) : NULL);
    if (text)
        faultloc_writer_text(t->writer, text, NULL, 0);
    free(known);
}

/* To people: one, or several that are alike. */
static void tell_people(struct faultloc_reporter *t, const struct ftree_verdict *v, int32_t n)
{
    const char *line[FAULTLOC_REPORTER_LINES], *path = t->p->board->settings.report;
    struct report_job rj;
    const struct ftree_verdict **known = begin_report(t, line, &rj);
    uint32_t report = 0;

    /* The file first: the text says that it is there.  A verdict of this node alone makes none, but
     * stands in one that others have made, and so is withdrawn there. */
    if (path[0] && (!v->local_only || t->reported))
        report = faultloc_writer_report(t->writer, known ? ftree_report_json(&rj) : NULL);
    faultloc_writer_text(t->writer, ftree_report_text(&rj, v, n, report ? path : NULL),
                         report ? ftree_report_text(&rj, v, n, NULL) : NULL, report);
    free(known);
    for (int32_t i = 0; i < n; i++) /* from here on no successor needs to report it */
        faultloc_board_remember(t->p->board, &v[i]);
}

static void tell_launcher(struct faultloc_reporter *t, const struct ftree_verdict *v)
{
    const struct ftree_verdict **known;
    int32_t n;

    if (!t->reported && t->p->self != 0) {
        known = list_verdicts(t->p->ft, &n);
        notify_launcher_of_others(t, v, known, known ? n : 0);
        free(known);
    }
    notify_launcher(t, v);
    t->reported = true;
}

static void tell_gathered(struct faultloc_reporter *t)
{
    const struct ftree_verdict *v = t->gathered.v;
    int32_t n = t->gathered.n, together = n + t->gathered.reported < REPORT_ALIKE_MIN ? 1 : n;

    for (int32_t i = 0; i < n; i += together)
        tell_people(t, &v[i], together);
    if (n > 0)
        t->gathered.last_told = v[n - 1];
    t->gathered.reported += n;
    t->gathered.n = 0;
}

static bool is_told_with(const struct faultloc_reporter *t, const struct ftree_verdict *v,
                         const struct ftree_verdict *w)
{
    return ftree_report_are_alike(&t->p->job.job, v, w);
}

/* False: it is reported by itself. */
static bool gather(struct faultloc_reporter *t, const struct ftree_verdict *v)
{
    struct ftree_verdict *all = NULL;

    if (is_told_with(t, v, v))
        all = faultloc_one_more(t->gathered.v, t->gathered.n, sizeof(*all));
    if (!all)
        return false;
    t->gathered.v = all;
    t->gathered.last = faultloc_now();
    if (t->gathered.n == 0) {
        t->gathered.since = t->gathered.last;
        if (t->gathered.last_told.fln == FTREE_NONE || !is_told_with(t, &t->gathered.last_told, v))
            t->gathered.reported = 0;
    }
    t->gathered.v[t->gathered.n++] = *v;
    return true;
}

void faultloc_reporter_verdict(struct faultloc_reporter *t, const struct ftree_verdict *v)
{
    if (t->gathered.n > 0 && !is_told_with(t, t->gathered.v, v))
        tell_gathered(t);
    if (!gather(t, v)) {
        tell_gathered(t);
        tell_people(t, v, 1);
    }
    if (!v->local_only)
        tell_launcher(t, v);
}

ftree_time faultloc_reporter_deadline(const struct faultloc_reporter *t)
{
    ftree_time most = t->gathered.reported > 0 ? FAULTLOC_GATHER_MOST : FAULTLOC_GATHER_FIRST;

    if (t->gathered.n == 0)
        return FTREE_NEVER;
    if (ftree_is_asking(t->p->ft) || ftree_is_announcing(t->p->ft))
        return t->gathered.since + most;
    return t->gathered.reported > 0 ? faultloc_loop_earlier(t->gathered.since + most,
                                                       t->gathered.last + FAULTLOC_GATHER_QUIET)
                               : t->gathered.since;
}

void faultloc_reporter_turn(struct faultloc_reporter *t, ftree_time now, bool at_once)
{
    if (at_once || now >= faultloc_reporter_deadline(t))
        tell_gathered(t);
}

void faultloc_reporter_facts(struct faultloc_reporter *t, const struct ftree_verdict *v,
                             char **json, char ***facts)
{
    const char *line[FAULTLOC_REPORTER_LINES];
    char name[PATH_MAX];
    struct report_job rj;
    const struct ftree_verdict **known = begin_report(t, line, &rj);

    *json = known ? ftree_report_json(&rj) : NULL;
    *facts = ftree_report_facts(&rj, v, faultloc_writer_report_path(t->writer, name));
    free(known);
}

void faultloc_reporter_waiting(struct faultloc_reporter *t, const struct ftree_waiting *w)
{
    const char *line[FAULTLOC_REPORTER_LINES], *path = t->p->board->settings.report;
    const struct ftree_verdict **known;
    struct report_job rj;
    uint32_t report = 0;

    t->waiting = *w;
    t->waiting_at = faultloc_now();
    known = begin_report(t, line, &rj);
    if (path[0])
        report = faultloc_writer_report(t->writer, known ? ftree_report_json(&rj) : NULL);
    faultloc_writer_text(t->writer, ftree_report_waiting_text(&rj, report ? path : NULL),
                         report ? ftree_report_waiting_text(&rj, NULL) : NULL, report);
    free(known);
}

void faultloc_reporter_change(struct faultloc_reporter *t, ftree_time now,
                              const struct ftree_setting *s, bool reports)
{
    struct report_change *c = &t->change[t->changes++ % FAULTLOC_REPORTER_CHANGES];
    const char *line[FAULTLOC_REPORTER_LINES], *path = t->p->board->settings.report;
    const struct ftree_verdict **known;
    struct report_job rj;

    *c = (struct report_change){.at = now, .uid = s->uid};
    ftree_report_setting(s, c->what, sizeof(c->what));
    if (reports)
        faultloc_say("user %lu has set %s", (unsigned long) s->uid, c->what);
    if (!reports || !path[0] || (!t->reported && !t->waiting_at))
        return;
    known = begin_report(t, line, &rj);
    faultloc_writer_report(t->writer, known ? ftree_report_json(&rj) : NULL);
    free(known);
}

/* Each line says who prints it. */
void faultloc_reporter_status(struct faultloc_reporter *t, const char *text)
{
    char *out = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&out, &len);

    if (!f)
        return;
    for (size_t n; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        fprintf(f, "[faultloc] %.*s\n", (int) n, text);
    }
    if (fclose(f) == 0)
        faultloc_writer_text(t->writer, out, NULL, 0);
    else
        free(out);
}
