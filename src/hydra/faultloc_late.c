/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_late.h"
#include "faultloc_hosts.h"

#include <stdlib.h>
#include <string.h>

#define LINES 4 /* of reasons, unless all are wanted */
#define ROOM 80 /* for hosts, or ranks, in a line */
#define ROOM_VERBOSE 16000

/* Neighbours in the list with the same reason. */
struct reason {
    int from, to; /* not included */
    int ranks;
};

static const char *plural(int n)
{
    return n == 1 ? "" : "s";
}

static int compare(const void *left, const void *right)
{
    const struct HYD_faultloc_late *a = left, *b = right;

    return strcmp(a->group.state, b->group.state);
}

static struct reason reason_at(const struct HYD_faultloc_note *note, int from)
{
    struct reason r = {.from = from, .to = from};

    do
        r.ranks += note->late[r.to].ranks;
    while (++r.to < note->lates && !compare(&note->late[from], &note->late[r.to]));
    return r;
}

/* The one with the most ranks of those that come after `last`: fewer ranks, or as many and later in
 * the list. */
static bool next_reason(const struct HYD_faultloc_note *note, const struct reason *last,
                        struct reason *next)
{
    bool found = false;

    for (struct reason r = {.to = 0}; r.to < note->lates;) {
        r = reason_at(note, r.to);
        if (last->to && (r.ranks > last->ranks || (r.ranks == last->ranks && r.from <= last->from)))
            continue;
        if (!found || r.ranks > next->ranks)
            *next = r;
        found = true;
    }
    return found;
}

static void print_hosts(const struct HYD_faultloc_note *note, const struct reason *r, FILE *out)
{
    size_t room = note->verbose ? ROOM_VERBOSE : ROOM;
    int n = r->to - r->from;
    const char **name = malloc((size_t) n * sizeof(*name));
    char *text = malloc(room);

    for (int i = 0; name && i < n; i++)
        name[i] = note->late[r->from + i].host;
    if (name && text)
        HYD_faultloc_say(out, "%s", HYD_faultloc_hosts(name, n, text, room));
    else
        HYD_faultloc_say(out, "%d host%s", n, plural(n));
    free(text);
    free(name);
}

static void print_ranks(const struct HYD_faultloc_note *note, const struct reason *r, FILE *out)
{
    size_t room = note->verbose ? ROOM_VERBOSE : ROOM;
    int most = (r->to - r->from) * FAULTLOC_LAUNCHER_RANGES, n = 0, with_range = 0;
    struct HYD_faultloc_range *range = malloc((size_t) most * sizeof(*range));
    char *text = malloc(room);

    for (int i = r->from; range && i < r->to; i++) {
        const struct faultloc_launcher_ranks *ranks = &note->late[i].group.ranks;
        for (int k = 0; k < ranks->ranges && n < most; k++, n++) {
            range[n] = (struct HYD_faultloc_range){ranks->range[k].first, ranks->range[k].last};
            with_range += range[n].last - range[n].first + 1;
        }
    }
    HYD_faultloc_say(out, "%s",
                     range && text ? HYD_faultloc_ranks(range, n, with_range < r->ranks, text, room)
                                   : "...");
    free(text);
    free(range);
}

static void print_reason(const struct HYD_faultloc_note *note, const struct reason *r, FILE *out)
{
    const struct HYD_faultloc_group *group = &note->late[r->from].group;

    if (r->ranks > 1)
        HYD_faultloc_say(out, "[faultloc]   %d ranks (", r->ranks);
    else
        HYD_faultloc_say(out, "[faultloc]   rank ");
    print_ranks(note, r, out);
    HYD_faultloc_say(out, "%s", r->ranks > 1 ? ") on " : " on ");
    print_hosts(note, r, out);
    if (r->ranks == 1 && group->pid > 0)
        HYD_faultloc_say(out, " (pid %d)", (int) group->pid);
    HYD_faultloc_say(out, ": %s\n", group->state);
}

static void print_reasons(const struct HYD_faultloc_note *note, FILE *out)
{
    struct reason last = {.to = 0}, next = last;
    int lines = 0, ranks = 0, states = 0;

    for (; next_reason(note, &last, &next); last = next)
        if (note->verbose || lines < LINES) {
            print_reason(note, &next, out);
            lines++;
        } else {
            ranks += next.ranks;
            states++;
        }
    if (states)
        HYD_faultloc_say(
            out, "[faultloc]   %d rank%s more in %d other state%s: mpiexec -verbose lists them\n",
            ranks, plural(ranks), states, plural(states));
}

static void print_call(const struct HYD_faultloc_note *note, FILE *out)
{
    HYD_faultloc_say(out, "[faultloc] %s", note->call);
    if (note->pgid)
        HYD_faultloc_say(out, " of spawned group %d", note->pgid);
    HYD_faultloc_say(out, ": ");
}

/* Who is inside MPI_Finalize has come as well, as long as another has not. */
static void drop_inside(struct HYD_faultloc_note *note)
{
    int n = 0;

    for (int i = 0; i < note->lates; i++)
        n += !note->late[i].group.inside;
    if (n == 0)
        return;
    for (int i = n = 0; i < note->lates; i++)
        if (note->late[i].group.inside)
            note->come += note->late[i].ranks;
        else
            note->late[n++] = note->late[i];
    note->lates = n;
}

static bool has_all(const struct faultloc_launcher_ranks *ranks, int32_t first, int32_t last)
{
    for (int32_t i = 0; i < ranks->ranges; i++)
        if (ranks->range[i].first <= first && last <= ranks->range[i].last)
            return true;
    return false;
}

static bool is_explained(const struct faultloc_launcher_message *verdict,
                         const struct faultloc_launcher_ranks *ranks)
{
    for (int32_t i = 0; i < ranks->ranges; i++)
        if (!has_all(&verdict->victims, ranks->range[i].first, ranks->range[i].last) &&
            !has_all(&verdict->ranks, ranks->range[i].first, ranks->range[i].last))
            return false;
    return true;
}

/* What its victims do says nothing of why they are late.  Returns how many of them there were. */
static int drop_explained(struct HYD_faultloc_note *note)
{
    int n = 0, ranks = 0;

    for (int i = 0; i < note->lates; i++)
        if (is_explained(note->verdict, &note->late[i].group.ranks))
            ranks += note->late[i].ranks;
        else
            note->late[n++] = note->late[i];
    note->lates = n;
    return ranks;
}

static void print_verdict(struct HYD_faultloc_note *note, FILE *out)
{
    int ranks = note->verdict ? drop_explained(note) : 0;

    if (ranks)
        HYD_faultloc_say(out, "[faultloc]   %d of them because of the verdict that stands: %s\n",
                         ranks, note->verdict->line);
}

static int count_late(const struct HYD_faultloc_note *note)
{
    int n = 0;

    for (int i = 0; i < note->lates; i++)
        n += note->late[i].ranks;
    return n;
}

void HYD_faultloc_late_print_left(struct HYD_faultloc_note *note, FILE *out)
{
    struct reason all = {.to = note->lates, .ranks = count_late(note)};

    if (!note->lates)
        return;
    HYD_faultloc_say(out, "[faultloc] the %d rank%s on ", note->come, plural(note->come));
    print_hosts(note, &all, out);
    HYD_faultloc_say(out, " ended or left MPI %lld s ago; mpiexec waits because of %d of them\n",
                     (long long) (note->quiet_ms + 500) / 1000, all.ranks);
    qsort(note->late, (size_t) note->lates, sizeof(*note->late), compare);
    print_reasons(note, out);
    fflush(out);
}

void HYD_faultloc_late_print(struct HYD_faultloc_note *note, FILE *out)
{
    struct reason all = {.from = 0};

    drop_inside(note);
    if (!note->lates)
        return;
    all.to = note->lates;
    all.ranks = count_late(note);
    print_call(note, out);
    HYD_faultloc_say(out, "%d of %d ranks have arrived", note->come, note->size);
    HYD_faultloc_say(out, note->come > 0 ? ", last one %lld s ago" : " after %lld s",
                     (long long) (note->quiet_ms + 500) / 1000);
    HYD_faultloc_say(out, "; %d rank%s on ", all.ranks, plural(all.ranks));
    print_hosts(note, &all, out);
    HYD_faultloc_say(out, "%s", all.ranks == 1 ? " has not\n" : " have not\n");
    print_verdict(note, out);
    qsort(note->late, (size_t) note->lates, sizeof(*note->late), compare);
    print_reasons(note, out);
    fflush(out);
}

void HYD_faultloc_late_print_over(const struct HYD_faultloc_note *note, int64_t took_ms, FILE *out)
{
    print_call(note, out);
    HYD_faultloc_say(out, "all %d ranks have arrived, after %lld s\n", note->size,
                     (long long) (took_ms + 500) / 1000);
    fflush(out);
}

void HYD_faultloc_late_print_connects(const char *host, const struct HYD_faultloc_end *who,
                                      const char *to, int tries, FILE *out)
{
    HYD_faultloc_say(out, "[faultloc] MPI_Init: rank %d on %s (pid %d) cannot connect to %s: ",
                     (int) who->rank, host, (int) who->pid, to);
    HYD_faultloc_say(out, "no answer to %d requests in %d s; look for a firewall between these hosts\n",
                     tries, (int) (who->age_ms + 500) / 1000);
    fflush(out);
}
