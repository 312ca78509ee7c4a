/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/node/samples.h"

#include "faultloc/base/ending.h"
#include "faultloc/base/proc.h"
#include "faultloc/node/log.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TRANSFERS_PER_MS 100 /* bytes: 100 kB a second */
#define TRANSFERS_AGAIN (10 * 1000 * FTREE_MS) /* what it computes in between belongs to it */

/* From one instant to the next, from half of `sample` to one and a half. */
static ftree_time step_of(const struct faultloc_board *b, uint64_t instant)
{
    uint64_t x = b->seed + instant * 0x9e3779b97f4a7c15u; /* splitmix64, Steele, Lea, Flood 2014 */

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return b->settings.sample / 2 + x % (b->settings.sample + 1);
}

static void go_on(struct faultloc_samples *s)
{
    s->out[s->instant % FAULTLOC_SAMPLES] = -1;
    s->instant++;
    s->at += step_of(s->watch->board, s->instant);
}

void faultloc_samples_begin(struct faultloc_samples *s, struct faultloc_watch *watch,
                            ftree_time now)
{
    s->watch = watch;
    s->instant = 0;
    s->at = watch->board->epoch ? watch->board->epoch : now;
    for (int i = 0; i < FAULTLOC_SAMPLES; i++)
        s->out[i] = -1;
    while (s->at <= now)
        go_on(s);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Percent of the time of this block; 0 where it is not known. */
static uint8_t waits_for_cpu(const struct faultloc_samples *s, ftree_time now, int32_t i)
{
    struct faultloc_share *share = &s->share[i];
    uint64_t before = share->waited, time = (uint64_t) (now - s->ended);
    struct faultloc_proc_sched sched;

    faultloc_proc_sched(s->watch->proc_root, faultloc_board_slot(s->watch->board, i)->pid, &sched);
    share->waited = sched.waited;
    if (!before || sched.waited <= before)
        return 0;
    return sched.waited - before < time ? (uint8_t) (100 * (sched.waited - before) / time) : 100;
}

static void end_block(struct faultloc_samples *s, ftree_time now)
{
    for (int32_t i = 0; i < s->watch->board->slots; i++) {
        struct faultloc_share *share = &s->share[i];
        share->present.waits = waits_for_cpu(s, now, i);
        memmove(share->block + 1, share->block,
                (FTREE_BLOCKS_MAX - 1) * sizeof(share->block[0]));
        share->block[0] = share->present;
        share->present = (struct ftree_block){0};
    }
    s->known = 0;
    s->ended = now;
    s->blocks += s->blocks < FTREE_BLOCKS_MAX;
}

/* Not so in an MPI call without progress: it may wait there. */
static bool is_in_user_code(const struct faultloc_seen *seen)
{
    return seen->outside && !(seen->call & FAULTLOC_CALL_MASK);
}

/* What a stay adds itself is not before it. */
static void take_stay(const struct faultloc_seen *seen, struct faultloc_share *share)
{
    if (!seen->outside)
        return;
    if (share->outside == 0 || share->stay != seen->useful)
        share->before = share->outside;
    share->stay = seen->useful;
    share->outside++;
}

static void take_share(const struct faultloc_seen *seen, struct faultloc_share *share)
{
    bool outside = is_in_user_code(seen);

    take_stay(seen, share);
    share->present.outside += outside;
    share->present.goes_on += outside || seen->useful != share->calls;
    share->calls = seen->useful;
}

/* True: a block is over. */
static bool take_shares(struct faultloc_samples *s, ftree_time now)
{
    for (int32_t i = 0; s->share && i < s->watch->board->slots; i++)
        take_share(&s->watch->seen[i], &s->share[i]);
    if (!s->share || ++s->known < FTREE_BLOCK_SAMPLES)
        return false;
    end_block(s, now);
    return true;
}

int32_t faultloc_samples_blocks(const struct faultloc_samples *s, int32_t i,
                                struct ftree_block *block, int32_t n)
{
    n = n < s->blocks ? n : s->blocks;
    if (n > 0)
        memcpy(block, s->share[i].block, (size_t) n * sizeof(*block));
    return n;
}

/* ---- instants -------------------------------------------------------------------------------- */

bool faultloc_samples_take(struct faultloc_samples *s, ftree_time now, int32_t out)
{
    bool is_over = false;
    ftree_time late;
    uint64_t taken;

    while (s->at <= now) {
        late = now - s->at;
        taken = s->instant;
        go_on(s);
        if (late >= s->watch->board->settings.sample / 2)
            continue;
        s->out[taken % FAULTLOC_SAMPLES] = out;
        is_over |= out >= 0 && take_shares(s, now);
    }
    return is_over;
}

uint64_t faultloc_samples_last(const struct faultloc_samples *s, int32_t *out, int32_t n)
{
    uint64_t last = s->instant - 1;

    for (int32_t i = 0; i < n; i++) {
        uint64_t back = (uint64_t) (n - 1 - i);
        out[i] = back < FAULTLOC_SAMPLES - 1 && back < last
                     ? s->out[(last - back) % FAULTLOC_SAMPLES]
                     : -1;
    }
    return last;
}

/* ---- what the kernel says -------------------------------------------------------------------- */

/* It may wait for what somebody sends who is no rank, as a person at a viewer, and who may take his
 * time; or for what a child writes, or for its end: do_wait tells that where the kernel does not
 * list children. */
static bool may_be_answered(const struct faultloc_watch *w, int32_t pid, const char *wchan,
                            enum faultloc_proc_place place)
{
    return place == FAULTLOC_PROC_SOCKET || place == FAULTLOC_PROC_POLL ||
           place == FAULTLOC_PROC_VFORK ||
           !strcmp(wchan, "do_wait") || faultloc_proc_has_child(w->proc_root, pid);
}

#define RANKS_MAX 1024 /* of a node that are distinguished */

/* Somebody who is no rank of the job is to do something, or to read what it prints. */
static bool find_whom(const struct faultloc_watch *w, int32_t pid, enum faultloc_proc_place place,
                      struct ftree_stay *stay)
{
    pid_t ranks[RANKS_MAX];
    int n = 0;

    for (int32_t i = 0; i < w->board->slots && n < RANKS_MAX; i++)
        ranks[n++] = faultloc_board_slot(w->board, i)->pid;
    if (faultloc_is_stuck_with_child(w->proc_root, pid, ranks, n, stay->whom, sizeof(stay->whom)))
        return false;
    return faultloc_awaits(w->proc_root, pid, ranks, n, stay->whom, sizeof(stay->whom)) ||
           may_be_answered(w, pid, stay->wchan, place);
}

/* As long as it does nothing at all that does not change. */
static bool awaits(struct faultloc_samples *s, int32_t i, int32_t pid, enum faultloc_proc_place place,
                   struct ftree_stay *stay)
{
    struct faultloc_share *share = s->share ? &s->share[i] : NULL;
    ftree_time since = s->watch->seen[i].done.since;
    bool does;

    if (share && share->awaits.since == since && since) {
        memcpy(stay->whom, share->awaits.whom, sizeof(stay->whom));
        return share->awaits.does;
    }
    does = find_whom(s->watch, pid, place, stay);
    if (share) {
        share->awaits.since = since;
        share->awaits.does = does;
        memcpy(share->awaits.whom, stay->whom, sizeof(stay->whom));
    }
    return does;
}

static uint8_t what_of_mover(const struct ftree_stay *stay)
{
    return stay->cpu < FTREE_CPU_WORKS ? FTREE_OUTSIDE_PAUSES : FTREE_OUTSIDE_RUNS;
}

/* Not every state D is a device's: what holds a rank may be its own memory limit, or a child. */
static uint8_t what_of(char letter, bool moves, bool awaits, enum faultloc_proc_place place,
                       const struct ftree_stay *stay)
{
    if (letter == 'D' && (place == FAULTLOC_PROC_MEMORY || place == FAULTLOC_PROC_VFORK))
        letter = 'S';
    if ((letter == 'S' || letter == 'I') && place == FAULTLOC_PROC_FUSE)
        letter = 'D';
    switch (letter) {
        case 'R':
            return FTREE_OUTSIDE_RUNS;
        case 'S':
        case 'I':
            return moves  ? what_of_mover(stay) :
                   awaits ? FTREE_OUTSIDE_AWAITS :
                            FTREE_OUTSIDE_SLEEPS;
        case 'D':
            return FTREE_OUTSIDE_DISK;
        case 'T':
        case 't':
        case FTREE_PROC_FROZEN:
        case FTREE_PROC_MEMORY:
            return FTREE_OUTSIDE_STOPPED;
        default:
            return FTREE_OUTSIDE_UNKNOWN;
    }
}

/* When it last was seen to have read or written much, as of a checkpoint; 0: it was not in this stay.
 * A rank that asks now and then moves a few bytes. */
static ftree_time transferred(const struct faultloc_done *before, const struct faultloc_done *now)
{
    uint64_t ms = (now->at - before->at) / FTREE_MS;

    return before->moved && now->moved > before->moved &&
                   now->moved - before->moved >= TRANSFERS_PER_MS * ms
               ? now->at
               : before->transferred;
}

/* Since it was last asked, in the same stay: whether it has done anything, and what it has used of
 * a CPU.  Somebody may have asked just before, and it moved before that. */
static bool moves(struct faultloc_samples *s, ftree_time now, int32_t i, int32_t pid,
                  struct ftree_stay *stay)
{
    struct faultloc_done *last = &s->watch->seen[i].done, before = *last;
    struct faultloc_proc_sched sched;
    struct faultloc_proc proc;
    double used, hz = (double) sysconf(_SC_CLK_TCK);
    ftree_time sample = s->watch->board->settings.sample;

    if (faultloc_proc_read(s->watch->proc_root, pid, &proc))
        return false;
    faultloc_proc_sched(s->watch->proc_root, pid, &sched);
    *last = (struct faultloc_done){.ticks = proc.ticks,
                                   .done = proc.done,
                                   .turns = sched.turns,
                                   .moved = faultloc_proc_moved(s->watch->proc_root, pid),
                                   .at = now,
                                   .since = now,
                                   .first = proc.ticks};
    if (before.at < s->watch->seen[i].outside || now <= before.at || last->ticks < before.ticks)
        return false;
    used = (double) (last->ticks - before.ticks) * 1e11 / hz / (double) (now - before.at);
    stay->cpu = used < INT32_MAX ? (int32_t) used : INT32_MAX; /* soon after the look before */
    last->transferred = transferred(&before, last);
    stay->transfers = last->transferred && now - last->transferred < TRANSFERS_AGAIN;
    last->first = before.first;
    stay->used = (ftree_time) ((double) (last->ticks - last->first) * 1e9 / hz);
    if (last->done == before.done && last->turns == before.turns) {
        last->since = before.since;
        last->acted = before.acted;
    } else {
        last->acted = now;
    }
    return last->acted && now - last->acted < sample;
}

/* UCX's own thread waits for events all the time.  Where the kernel does not tell the call (Yama),
 * the wait channel may. */
static enum ftree_ending ending_of(const struct faultloc_watch *w, int32_t pid,
                                   enum faultloc_proc_place place)
{
    pid_t ucx = faultloc_proc_thread(w->proc_root, pid, "async");
    enum ftree_ending ending = faultloc_ending(w->proc_root, pid, &ucx, ucx != pid);

    return ending == FTREE_ENDING_UNKNOWN && place == FAULTLOC_PROC_SLEEP ? FTREE_ENDING_TIMEOUT
                                                                          : ending;
}

/* Calls that wait for the message that their rank has begun last. */
static bool is_of_a_message(uint32_t call)
{
    static const char *const calls[] = {"MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Recv",
                                        "MPI_Wait"}; /* and what begins so */
    const char *name = faultloc_call_name(call);

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (!strncmp(name, calls[i], strlen(calls[i])))
            return true;
    return false;
}

/* A small message is sent at once, and a rank that is never late is hardly ever waited for: nobody is
 * seen in such a call until a rank hangs. */
static bool is_familiar(const struct faultloc_watch *w, int32_t i,
                        const struct ftree_rank_state *state)
{
    return state->phase >= FTREE_PHASE_LEFT || faultloc_watch_is_familiar(w, state->call) ||
           (faultloc_log_repeats(w->board, i) && is_of_a_message(state->call));
}

/* Seen before this stay. */
static ftree_time before_of(const struct faultloc_samples *s, int32_t i)
{
    const struct faultloc_share *share = s->share ? &s->share[i] : NULL;

    if (!share)
        return 0;
    return s->watch->board->settings.sample *
           (share->stay == s->watch->seen[i].useful ? share->before : share->outside);
}

bool faultloc_samples_stay(struct faultloc_samples *s, ftree_time now, int32_t i,
                           struct ftree_stay *stay)
{
    struct faultloc_watch *w = s->watch;
    const struct faultloc_seen *seen = &w->seen[i];
    ftree_time longest = faultloc_board_slot(w->board, i)->longest_ns;
    struct ftree_rank_state state;
    enum faultloc_proc_place place = FAULTLOC_PROC_ELSEWHERE;
    bool did, does_await = false;

    faultloc_watch_look(w, now, i, true, &state);
    *stay = (struct ftree_stay){.rank = state.rank,
                                .calls = seen->useful,
                                .longest = longest < now ? longest : now, /* ranks can write it */
                                .cpu = FTREE_CPU_UNKNOWN,
                                .ending = FTREE_ENDING_UNKNOWN,
                                .familiar = is_familiar(w, i, &state)};
    if (!faultloc_watch_is_outside(w, i, &state))
        return false;
    stay->call = state.call;
    stay->before = before_of(s, i);
    stay->stay = seen->looked - seen->counts;
    stay->away = seen->looked - seen->outside;
    did = moves(s, now, i, state.pid, stay);
    stay->still = seen->done.at == now ? now - seen->done.since : 0;
    if (state.proc_state != 'R') {
        faultloc_proc_wchan(w->proc_root, state.pid, stay->wchan, sizeof(stay->wchan));
        place = faultloc_proc_waits_in(stay->wchan);
        snprintf(stay->waits_in, sizeof(stay->waits_in), "%s", faultloc_proc_place_name(place));
        if (state.proc_state == 'S' || state.proc_state == 'I')
            stay->ending = (uint8_t) ending_of(w, state.pid, place);
        faultloc_proc_sleeps_on(w->proc_root, state.pid, stay->wchan, stay->on, sizeof(stay->on));
        does_await = !did && awaits(s, i, state.pid, place, stay);
    }
    stay->what = what_of(state.proc_state, did, does_await, place, stay);
    return true;
}
