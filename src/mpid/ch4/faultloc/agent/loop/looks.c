/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/loop/looks.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/proc.h"
#include "faultloc/board/wakeup.h"
#include "faultloc/io/launcher_notify.h"
#include "faultloc/io/loop.h"
#include "faultloc/node/log.h"
#include "ftree/base/base.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELD_PATIENCE (1000 * FTREE_MS) /* until who ends all has ended all */
#define HELD_LOOK (5 * FTREE_MS)
#define CHILD_PATIENCE (5000 * FTREE_MS) /* for one that was forked to run, on a busy machine */

int faultloc_looks_open(struct faultloc_looks *l, struct faultloc_program *p,
                        struct faultloc_reporter *reporter)
{
    size_t slots = (size_t) p->board->slots;

    *l = (struct faultloc_looks){.p = p,
                                 .reporter = reporter,
                                 .pid_fd = malloc(slots * sizeof(*l->pid_fd)),
                                 .heard = calloc(slots, sizeof(*l->heard)),
                                 .stalled = calloc(slots, sizeof(*l->stalled)),
                                 .waited = calloc(slots, sizeof(*l->waited)),
                                 .heir = calloc(slots, sizeof(*l->heir)),
                                 .held = calloc(slots, sizeof(*l->held)),
                                 .begun = p->start < 0 || !p->board->settings.launcher[0],
                                 .known_at = p->start < 0 ? faultloc_now() + HELD_PATIENCE : 0,
                                 .wakeup = -1};
    l->samples.share = calloc(slots, sizeof(*l->samples.share));
    faultloc_samples_begin(&l->samples, &p->watch, faultloc_now());
    faultloc_wait_limit_begin(&l->limit, faultloc_now());
    faultloc_watch_take_over(&p->watch);
    for (size_t i = 0; l->pid_fd && i < slots; i++)
        l->pid_fd[i] = -1;
    p->watch.pid_fd = l->pid_fd;
    return l->pid_fd && l->heard && l->stalled && l->waited && l->heir && l->held &&
                   l->samples.share
               ? 0
               : ENOMEM;
}

int faultloc_looks_restore(struct faultloc_looks *l, ftree_time now)
{
    const struct faultloc_board *b = l->p->board;
    struct ftree_verdict v;
    int rc = FTREE_OK;

    if (l->withdrawals != b->withdrawals)
        l->restored = 0;
    l->withdrawals = b->withdrawals;
    /* one that the agent before was just writing when it ended is known to others */
    for (; !rc && l->restored < b->verdicts; l->restored++)
        if (faultloc_board_read(b, l->restored, &v))
            rc = ftree_restore(l->p->ft, now, &v);
    return rc;
}

/* ---- ends of processes ----------------------------------------------------------------------- */

/* A descriptor that reports the end of local rank i; -1: there is none, and /proc is to be
 * asked. */
static int watch_process(struct faultloc_looks *l, int32_t i)
{
    const struct faultloc_slot *slot = faultloc_board_slot(l->p->board, i);
    int fd = faultloc_proc_pidfd(slot->pid);

    if (fd < 0)
        return -1;
    /* its number may be another's already */
    if (faultloc_proc_fate(NULL, slot->pid, slot->start) == FAULTLOC_PROC_GONE ||
        faultloc_loop_add(l->p->epoll, fd, FAULTLOC_TAG_RANK + (uint64_t) i)) {
        close(fd);
        return -1;
    }
    return fd;
}

void faultloc_looks_wake(struct faultloc_looks *l)
{
    for (int32_t i = 0; i < l->p->board->slots; i++)
        l->pid_fd[i] = watch_process(l, i);
    if (faultloc_wakeup_open(l->p->board, &l->wakeup) == 0)
        faultloc_loop_add(l->p->epoll, l->wakeup, FAULTLOC_TAG_WAKEUP_SOCKET);
}

static bool lives(pid_t pid, uint64_t start)
{
    return pid > 0 && faultloc_proc_fate(NULL, pid, start) == FAULTLOC_PROC_LIVES;
}

/* Its start is read while the rank lives: by the rank's end another process may have its number. */
static void note_heir(struct faultloc_looks *l, int32_t i)
{
    struct faultloc_heir *h = &l->heir[i];
    int32_t pid = faultloc_board_wait_area(l->p->board, i)->heir;
    struct faultloc_proc proc = {.start = 0};

    if (pid == h->pid)
        return;
    (void) faultloc_proc_read(NULL, pid, &proc);
    *h = (struct faultloc_heir){.pid = pid, .start = proc.start};
}

/* The child that the rank has forked last has the board still. */
static bool inherits(struct faultloc_looks *l, int32_t i)
{
    struct faultloc_slot *slot = faultloc_board_slot(l->p->board, i);
    struct faultloc_heir *h = &l->heir[i];

    note_heir(l, i);
    if (h->refused || !h->start || !lives(h->pid, h->start))
        return false;
    h->refused = !faultloc_board_is_mapped_by(l->p->board_fd, h->pid);
    if (h->refused)
        return false;
    slot->start = h->start;
    slot->pid = h->pid;
    return true;
}

/* The process of a rank has ended, which has not left.  A program that becomes a daemon goes on in
 * a child: that is the rank then, and may have said so in the slot already.  known: so is how it
 * ended. */
static bool goes_on(struct faultloc_looks *l, int32_t i, bool known)
{
    const struct faultloc_slot *slot = faultloc_board_slot(l->p->board, i);

    if (!lives(slot->pid, slot->start) && !inherits(l, i))
        return false;
    if (slot->rank >= 0 && slot->rank < l->p->board->size)
        faultloc_board_rank_pid(l->p->board)[slot->rank] = slot->pid;
    faultloc_watch_goes_on(&l->p->watch, i, !known);
    l->pid_fd[i] = watch_process(l, i);
    return true;
}

/* A child that was forked may not have run yet.  Where fork() has failed there is none. */
static bool awaits_child(struct faultloc_looks *l, ftree_time now, int32_t i)
{
    ftree_time until = l->p->watch.seen[i].unborn;

    if (until && now >= until)
        return false;
    if (!until)
        faultloc_watch_await(&l->p->watch, i, now + CHILD_PATIENCE);
    return true;
}

/* An heir may fork again and end while it is looked at. */
static bool has_heir(struct faultloc_looks *l, ftree_time now, int32_t i, bool known)
{
    const struct faultloc_wait_area *area = faultloc_board_wait_area(l->p->board, i);
    uint32_t forks, born;

    do {
        forks = area->forks;
        born = area->born;
        if (goes_on(l, i, known))
            return true;
    } while (area->forks != forks || area->born != born);
    return forks != born && awaits_child(l, now, i);
}

/* How the rank's process ended; the slot may name the one that goes on. */
static bool read_status(const struct faultloc_looks *l, int32_t i, int *status)
{
    const struct faultloc_slot *slot = faultloc_board_slot(l->p->board, i);
    bool fits = slot->rank >= 0 && slot->rank < l->p->board->size;
    int32_t pid = fits ? faultloc_board_rank_pid(l->p->board)[slot->rank] : slot->pid;

    return faultloc_proc_status(l->pid_fd[i], pid, status);
}

/* True: it has ended with exit code 0, and goes on in a child, or may.  Where the kernel does not
 * tell how it ended, hydra does, later; other launchers do not, and no crash is to be missed. */
static bool may_go_on(struct faultloc_looks *l, ftree_time now, int32_t i)
{
    int status = 0, fd = l->pid_fd[i];
    bool known = read_status(l, i, &status);

    if (faultloc_board_slot(l->p->board, i)->state >= FAULTLOC_SLOT_LEFT || l->ending ||
        l->p->watch.seen[i].decided || status || (!known && !l->p->board->settings.launcher[0]))
        return false;
    l->pid_fd[i] = -1;
    if (!has_heir(l, now, i, known)) {
        l->pid_fd[i] = fd;
        return false;
    }
    if (fd >= 0)
        close(fd);
    return true;
}

/* Slurm ends all processes of a step when it is cancelled, and when a rank calls MPI_Abort, without a
 * word to an agent, which is no task of its.  hydra tells the agents that it knows, and this one may
 * have followed another a moment ago. */
static bool may_be_ended_with_all(const struct faultloc_looks *l, ftree_time now, int32_t i)
{
    int status, by;

    if (l->p->board->settings.launcher[0])
        return now < l->known_at;
    if (!read_status(l, i, &status) || !WIFSIGNALED(status))
        return false;
    by = WTERMSIG(status);
    return by == SIGTERM || by == SIGINT || by == SIGKILL;
}

static void process_gone(struct faultloc_looks *l, ftree_time now, int32_t i)
{
    struct faultloc_slot *slot = faultloc_board_slot(l->p->board, i);
    bool is_consequence = faultloc_watch_is_consequence(&l->p->watch, now, i);

    if (is_consequence)
        faultloc_launcher_send_reason(l->p->board->settings.launcher, slot->rank, slot->pid,
                                      FAULTLOC_REASON_LOSS, "");
    if (slot->state >= FAULTLOC_SLOT_LEFT || !l->begun)
        return;
    if (l->ending || is_consequence)
        slot->state = FAULTLOC_SLOT_VICTIM;
    else if ((l->held[i] = may_be_ended_with_all(l, now, i)))
        slot->state = FAULTLOC_SLOT_ABORTED;
    else
        ftree_rank_gone(l->p->ft, now, slot->rank);
}

void faultloc_looks_ended(struct faultloc_looks *l, ftree_time now, int32_t i)
{
    epoll_ctl(l->p->epoll, EPOLL_CTL_DEL, l->pid_fd[i], NULL);
    if (may_go_on(l, now, i))
        return;
    faultloc_watch_gone(&l->p->watch, i);
    process_gone(l, now, i);
}

void faultloc_looks_job_begins(struct faultloc_looks *l, ftree_time now)
{
    l->begun = true;
    for (int32_t i = 0; i < l->p->board->slots; i++)
        if (l->p->watch.seen[i].gone)
            process_gone(l, now, i);
}

void faultloc_looks_woken(struct faultloc_looks *l)
{
    faultloc_wakeup_clear(l->wakeup);
    l->woken = true;
}

void faultloc_looks_peer_errors(struct faultloc_looks *l, ftree_time now)
{
    const struct faultloc_board *b = l->p->board;
    struct ftree_symptom s;
    bool news = false;

    for (int32_t i = 0; i < b->slots; i++) {
        const struct faultloc_page *page = (const void *) faultloc_board_slot(b, i);
        while (
            faultloc_peer_errors_next(&page->peer_errors, &l->p->job.job, now, &l->heard[i], &s)) {
            ftree_symptom(l->p->ft, now, &s);
            news = true;
        }
    }
    faultloc_pause_turn(&l->pause, now, l->p->epoll, l->wakeup, FAULTLOC_TAG_WAKEUP_SOCKET);
    if (l->woken && !news)
        faultloc_pause_begin(&l->pause, now, l->p->epoll, l->wakeup);
    l->woken = false;
}

/* ---- looks ----------------------------------------------------------------------------------- */

static void end_stall(struct faultloc_looks *l, ftree_time now, int32_t i, int32_t rank)
{
    if (l->stalled[i])
        ftree_stall_over(l->p->ft, now, rank);
    l->stalled[i] = false;
}

static void trace_stall(struct faultloc_looks *l, int32_t i, const struct ftree_rank_state *s)
{
    char line[128];

    if (l->stalled[i] || !faultloc_writer_has_trace(l->reporter->writer))
        return;
    snprintf(line, sizeof(line), "rank %d waits in %s", (int) s->rank,
             faultloc_call_name((uint32_t) faultloc_board_slot(l->p->board, i)->call));
    faultloc_reporter_trace(l->reporter, line);
}

#define CALLS 64 /* that a rank has ended; before, what it waits for tells nothing */

/* For a peer that is known: to search for one that is not takes a question to every node. */
static ftree_time limit_of(const struct faultloc_looks *l, ftree_time now, int32_t i,
                           const struct ftree_rank_state *s)
{
    const struct faultloc_settings *set = &l->p->board->settings;

    if (set->stall_is_set || s->phase != FTREE_PHASE_WAITING || s->peer == FTREE_NONE ||
        faultloc_slot_call(faultloc_board_slot(l->p->board, i)) >> FAULTLOC_CALL_BITS < CALLS)
        return set->stall;
    return faultloc_wait_limit(&l->limit, now, s->waiting, set->stall);
}

/* The next look is due at the next instant, or sooner: when a wait that goes on reaches the limit.
 * True: the rank is outside MPI. */
static bool look(struct faultloc_looks *l, ftree_time now, int32_t i)
{
    struct ftree_rank_state s;
    const struct faultloc_seen *seen = &l->p->watch.seen[i];
    ftree_time limit;

    faultloc_log_tick(l->p->board, i, now);
    note_heir(l, i);
    faultloc_watch_look(&l->p->watch, now, i, l->pid_fd[i] < 0, &s);
    l->waits = s.waiting > l->waits ? s.waiting : l->waits;
    faultloc_wait_limit_look(&l->limit, &l->waited[i], now, s.waiting);
    limit = limit_of(l, now, i, &s);
    if ((s.phase == FTREE_PHASE_GONE || seen->unborn) && l->pid_fd[i] < 0) {
        if (!may_go_on(l, now, i)) {
            faultloc_watch_gone(&l->p->watch, i);
            process_gone(l, now, i);
        }
    } else if (s.phase == FTREE_PHASE_LEFT || s.phase == FTREE_PHASE_GONE) {
        end_stall(l, now, i, s.rank);
    } else if (s.waiting >= limit) {
        trace_stall(l, i, &s);
        l->waited[i].asked |= s.waiting < l->p->board->settings.stall;
        l->stalled[i] = true;
        ftree_stall(l->p->ft, now, s.rank, s.peer, s.waiting);
    } else {
        end_stall(l, now, i, s.rank);
        if (s.waiting > 0 && now + limit - s.waiting < l->at)
            l->at = now + limit - s.waiting;
    }
    return faultloc_watch_is_outside(&l->p->watch, i, &s);
}

/* The launcher knows of those alone that have closed their connections, which may take an answer of
 * a rank that is not there yet. */
static void tell_finalizing(struct faultloc_looks *l, ftree_time now)
{
    const struct faultloc_board *b = l->p->board;
    struct faultloc_launcher_message w;

    faultloc_launcher_finalizing(&w);
    for (int32_t i = 0; i < b->slots; i++)
        if (faultloc_board_slot(b, i)->state == FAULTLOC_SLOT_FINALIZING)
            faultloc_launcher_add_rank(&w.ranks, faultloc_board_slot(b, i)->rank);
    if (!l->finalizing || !w.ranks.count)
        l->finalizing = w.ranks.count ? now : 0;
    if (w.ranks.count <= l->finalizing_notified ||
        now - l->finalizing < FAULTLOC_LAUNCHER_FINALIZING_MS * FTREE_MS)
        return;
    if (!faultloc_launcher_send(b->settings.launcher, &w))
        l->finalizing_notified = w.ranks.count;
}

/* ---- who may have been ended together with all others ---------------------------------------- */

static bool lives_here(struct faultloc_looks *l, ftree_time now)
{
    struct ftree_rank_state s;

    for (int32_t i = 0; i < l->p->board->slots; i++) {
        faultloc_watch_look(&l->p->watch, now, i, true, &s);
        if (s.phase != FTREE_PHASE_LEFT && s.phase != FTREE_PHASE_GONE && s.proc_state != 'X')
            return true;
    }
    return false;
}

/* One stands for all others, for they would be ended, too. */
static void ask_elsewhere(struct faultloc_looks *l, ftree_time now)
{
    const struct ftree_job *job = &l->p->job.job;
    int32_t node = (l->p->self + 1) % job->nodes;

    if (job->nodes > 1)
        ftree_inquire(l->p->ft, now, node, ftree_rank_at(job, node, 0), &l->inquiry);
}

/* False: that is not known yet. */
static bool knows_others(struct faultloc_looks *l, ftree_time now, bool *live)
{
    const struct ftree_inquiry *q;

    *live = lives_here(l, now);
    if (*live)
        return true;
    if (!l->inquiry)
        ask_elsewhere(l, now);
    q = l->inquiry ? ftree_inquired(l->p->ft, l->inquiry) : NULL;
    if (q && !q->answered && !q->over)
        return false;
    *live = q && q->answered && !q->leaving && q->phase != FTREE_PHASE_LEFT &&
            q->phase != FTREE_PHASE_GONE;
    return true;
}

static void release_held(struct faultloc_looks *l, ftree_time now, bool alone)
{
    for (int32_t i = 0; i < l->p->board->slots; i++) {
        struct faultloc_slot *slot = faultloc_board_slot(l->p->board, i);
        if (l->held[i] && alone) {
            slot->state = FAULTLOC_SLOT_RUNNING;
            ftree_rank_gone(l->p->ft, now, slot->rank);
        }
        l->held[i] = false;
    }
    if (l->inquiry)
        ftree_inquire_no_more(l->p->ft, l->inquiry);
    l->inquiry = 0;
}

static void look_at_held(struct faultloc_looks *l, ftree_time now)
{
    ftree_time due = 0;
    bool live;

    for (int32_t i = 0; i < l->p->board->slots; i++)
        if (l->held[i] && l->p->watch.seen[i].left + HELD_PATIENCE > due)
            due = l->p->watch.seen[i].left + HELD_PATIENCE;
    if (!due)
        return;
    if (now >= due && knows_others(l, now, &live))
        release_held(l, now, live);
    else
        l->at = faultloc_loop_earlier(l->at, now < due ? due : now + HELD_LOOK);
}

bool faultloc_looks_are_open(const struct faultloc_looks *l)
{
    for (int32_t i = 0; i < l->p->board->slots; i++)
        if (l->held[i])
            return true;
    return false;
}

/* ---- all looks ------------------------------------------------------------------------------- */

static void look_sooner(struct faultloc_looks *l, ftree_time now)
{
    ftree_time at;

    for (int32_t i = 0; i < l->p->board->slots; i++) {
        at = faultloc_watch_again(&l->p->watch, now, i, l->sampled);
        l->at = at < l->at ? at : l->at;
    }
}

void faultloc_looks_all(struct faultloc_looks *l, ftree_time now)
{
    bool stopped = faultloc_watch_is_stopped(&l->p->watch, now);
    uint64_t instant = l->samples.instant;
    int32_t out = 0;

    if (stopped)
        ftree_rank_stopped(l->p->ft, now);
    l->at = FTREE_NEVER;
    l->waits = 0;
    faultloc_looks_restore(l, now);
    faultloc_board_settle(l->p->board, now);
    for (int32_t i = 0; i < l->p->board->slots; i++)
        out += look(l, now, i);
    if (faultloc_samples_take(&l->samples, now,
                              stopped || faultloc_watch_any_stopped(&l->p->watch) ? -1 : out))
        ftree_block_over(l->p->ft, now);
    if (l->samples.at < l->at)
        l->at = l->samples.at;
    if (l->samples.instant != instant)
        l->sampled = now;
    look_sooner(l, now);
    look_at_held(l, now);
    tell_finalizing(l, now);
}
