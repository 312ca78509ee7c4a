/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_story.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define MORE_MS 250 /* after the last verdict: who ended 50 ms later is to be heard, too */
#define SILENT_MS 300 /* there is no agent: this long others that end are heard */
#define ABORT_MS 50 /* who aborts because of another may be heard before that one */

bool HYD_faultloc_story_grace(struct HYD_faultloc_story *s, const char *text)
{
    char *end = NULL;
    long long ms;

    s->grace_ms = HYD_FAULTLOC_GRACE_MS;
    if (!text)
        return true;
    errno = 0;
    ms = strtoll(text, &end, 10);
    if (errno || end == text || *end || ms < 0 || ms > 60000)
        return false;
    s->grace_ms = ms;
    return true;
}

/* Room for one more in an array that doubles when its number is a power of two. */
static void *one_more(void *array, int used, size_t size)
{
    if (used & (used - 1))
        return array;
    return realloc(array, (used ? 2 * (size_t) used : 1) * size);
}

static bool is_of(const struct HYD_faultloc_fact *f, int pgid, int rank)
{
    return f->pgid == pgid && f->end.rank == rank;
}

bool HYD_faultloc_story_add(struct HYD_faultloc_story *s, const struct HYD_faultloc_fact *fact)
{
    struct HYD_faultloc_fact *more;

    for (int i = 0; i < s->facts; i++)
        if (s->fact[i].end.unsure && is_of(&s->fact[i], fact->pgid, fact->end.rank)) {
            s->fact[i] = *fact;
            return true;
        }
    more = one_more(s->fact, s->facts, sizeof(*more));
    if (!more)
        return false;
    s->fact = more;
    s->fact[s->facts++] = *fact;
    return true;
}

void HYD_faultloc_story_confirm_lost(struct HYD_faultloc_story *s, int pgid, int64_t ms)
{
    for (int i = 0; i < s->facts; i++)
        if (s->fact[i].kind == HYD_FAULTLOC_FACT_LOST && s->fact[i].end.unsure &&
            s->fact[i].pgid == pgid) {
            s->fact[i].end.unsure = 0;
            s->fact[i].ms = ms;
        }
}

bool HYD_faultloc_story_has_end(const struct HYD_faultloc_story *s, int pgid, int rank)
{
    for (int i = 0; i < s->facts; i++)
        if (is_of(&s->fact[i], pgid, rank) && !s->fact[i].end.unsure &&
            (s->fact[i].kind == HYD_FAULTLOC_FACT_END || s->fact[i].kind == HYD_FAULTLOC_FACT_LOST))
            return true;
    return false;
}

static bool is_abort(const struct HYD_faultloc_fact *f)
{
    return f->kind == HYD_FAULTLOC_FACT_ABORT || f->kind == HYD_FAULTLOC_FACT_ENDING;
}

bool HYD_faultloc_story_has_abort(const struct HYD_faultloc_story *s)
{
    for (int i = 0; i < s->facts; i++)
        if (is_abort(&s->fact[i]))
            return true;
    return false;
}

static struct HYD_faultloc_ruling *find_ruling(const struct HYD_faultloc_story *s, int pgid,
                                               const struct faultloc_launcher_word *word)
{
    for (int i = 0; i < s->rulings; i++)
        if (s->ruling[i].pgid == pgid && s->ruling[i].word.fln == word->fln &&
            s->ruling[i].word.id == word->id)
            return &s->ruling[i];
    return NULL;
}

bool HYD_faultloc_story_rule(struct HYD_faultloc_story *s, int pgid, int64_t ms,
                             const struct faultloc_launcher_word *word)
{
    struct HYD_faultloc_ruling *r = find_ruling(s, pgid, word), *more;

    if (word->kind == FAULTLOC_LAUNCHER_WITHDRAWN) {
        if (r)
            r->withdrawn = true;
        return true;
    }
    if (r && word->victims.count < r->word.victims.count)
        return true; /* told again by another agent, which knows no more of it */
    if (!r) {
        more = one_more(s->ruling, s->rulings, sizeof(*more));
        if (!more)
            return false;
        s->ruling = more;
        r = &s->ruling[s->rulings++];
    }
    *r = (struct HYD_faultloc_ruling){.pgid = pgid, .ms = ms, .word = *word};
    return true;
}

void HYD_faultloc_story_free(struct HYD_faultloc_story *s)
{
    free(s->fact);
    free(s->ruling);
    s->fact = NULL;
    s->ruling = NULL;
    s->facts = s->rulings = 0;
}

/* ---- who because of whom --------------------------------------------------------------------- */

static bool has_rank(const struct faultloc_launcher_ranks *ranks, int32_t rank)
{
    for (int32_t i = 0; i < ranks->ranges; i++)
        if (ranks->range[i].first <= rank && rank <= ranks->range[i].last)
            return true;
    return false;
}

static bool is_about(const struct HYD_faultloc_ruling *r, const struct HYD_faultloc_fact *f)
{
    return !r->withdrawn && r->pgid == f->pgid;
}

static const struct HYD_faultloc_ruling *as_component(const struct HYD_faultloc_story *s,
                                                      const struct HYD_faultloc_fact *f)
{
    for (int i = 0; i < s->rulings; i++)
        if (is_about(&s->ruling[i], f) && has_rank(&s->ruling[i].word.ranks, f->end.rank))
            return &s->ruling[i];
    return NULL;
}

bool HYD_faultloc_story_is_located(const struct HYD_faultloc_story *s, int pgid, int rank)
{
    const struct HYD_faultloc_fact f = {.pgid = pgid, .end = {.rank = rank}};

    return as_component(s, &f) != NULL;
}

bool HYD_faultloc_story_ends(const struct HYD_faultloc_story *s, int pgid, int rank)
{
    const struct HYD_faultloc_fact f = {.pgid = pgid, .end = {.rank = rank}};

    for (int i = 0; i < s->rulings; i++)
        if (is_about(&s->ruling[i], &f) && s->ruling[i].word.ends_ranks &&
            has_rank(&s->ruling[i].word.ranks, rank))
            return true;
    return false;
}

/* Nobody dies by a signal because another is stopped, slow or cut off. */
static bool can_follow(const struct HYD_faultloc_fact *f, const struct HYD_faultloc_ruling *r)
{
    return r->word.ends_ranks || f->kind != HYD_FAULTLOC_FACT_END || !WIFSIGNALED(f->end.status);
}

/* Who was a victim long before it ended did not end because of that. */
static const struct HYD_faultloc_ruling *as_victim(const struct HYD_faultloc_story *s,
                                                   const struct HYD_faultloc_fact *f)
{
    for (int i = 0; i < s->rulings; i++)
        if (is_about(&s->ruling[i], f) && can_follow(f, &s->ruling[i]) &&
            has_rank(&s->ruling[i].word.victims, f->end.rank) &&
            (is_abort(f) || s->ruling[i].ms + s->grace_ms >= f->ms))
            return &s->ruling[i];
    return NULL;
}

/* A process that was ended because somebody asked mpiexec to. */
static bool was_asked_for(const struct HYD_faultloc_fact *f)
{
    return f->kind == HYD_FAULTLOC_FACT_END && f->end.killed && WIFSIGNALED(f->end.status) &&
           WTERMSIG(f->end.status) != SIGKILL;
}

/* What all others cannot go on without: those that ended before their time. */
static bool is_grave(const struct HYD_faultloc_story *s, const struct HYD_faultloc_fact *f)
{
    if (f->end.unsure && !HYD_faultloc_story_ends(s, f->pgid, f->end.rank))
        return false;
    return f->kind != HYD_FAULTLOC_FACT_END || HYD_faultloc_is_crash(&f->end) || was_asked_for(f);
}

/* After MPI_Finalize the others do not need it; but mpiexec's exit code is to tell of it. */
static bool is_late(const struct HYD_faultloc_fact *f)
{
    return f->kind == HYD_FAULTLOC_FACT_END && !f->end.killed && !f->end.unsure && f->end.finalized &&
           WIFEXITED(f->end.status) && WEXITSTATUS(f->end.status);
}

bool HYD_faultloc_story_is_consequence(const struct HYD_faultloc_story *s, int fact)
{
    return !as_component(s, &s->fact[fact]) && as_victim(s, &s->fact[fact]);
}

/* The better, the sooner: a located fault, then who is nobody's victim, then who is. */
static int grade(const struct HYD_faultloc_story *s, const struct HYD_faultloc_fact *f)
{
    if (is_late(f))
        return 4;
    if (!is_grave(s, f))
        return 0;
    if (was_asked_for(f))
        return 5;
    if (as_component(s, f))
        return 1;
    /* an end beside an MPI_Abort is the reason for it, whichever was heard of first */
    return is_abort(f) || as_victim(s, f) ? 3 : 2;
}

int HYD_faultloc_story_first(const struct HYD_faultloc_story *s)
{
    int first = -1, best = INT32_MAX;

    for (int i = 0; i < s->facts; i++) {
        int g = grade(s, &s->fact[i]);
        if (g && g < best) {
            best = g;
            first = i;
        }
    }
    return first;
}

/* ---- how long to wait ------------------------------------------------------------------------ */

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A verdict about it can come: it had an agent, and others did not think it had finished. */
static bool can_be_located(const struct HYD_faultloc_fact *f)
{
    return !is_abort(f) && f->end.agent && !f->end.finalized &&
           !f->end.killed;
}

/* Since when it is explained; HYD_FAULTLOC_NEVER: it is not. */
static int64_t explained(const struct HYD_faultloc_story *s, const struct HYD_faultloc_fact *f)
{
    const struct HYD_faultloc_ruling *r = as_component(s, f);

    if (!r)
        r = as_victim(s, f);
    if (!r)
        return HYD_FAULTLOC_NEVER;
    return r->ms > f->ms ? r->ms : f->ms;
}

int64_t HYD_faultloc_story_deadline(const struct HYD_faultloc_story *s, bool listening)
{
    int64_t limit = HYD_FAULTLOC_NEVER, plain = HYD_FAULTLOC_NEVER, last = 0;
    bool locating = false;

    for (int i = 0; i < s->facts; i++) {
        const struct HYD_faultloc_fact *f = &s->fact[i];
        int64_t since;
        if (!is_grave(s, f))
            continue;
        since = explained(s, f);
        limit = earlier(limit, (f->end.unsure ? since : f->ms) + s->grace_ms);
        if (can_be_located(f) && listening) {
            locating = true;
            last = since > last ? since : last;
        } else {
            plain = earlier(plain, f->ms + (is_abort(f) ? ABORT_MS : SILENT_MS));
        }
    }
    if (!locating)
        return earlier(limit, plain);
    return last == HYD_FAULTLOC_NEVER ? limit : earlier(limit, last + MORE_MS);
}
