/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/queue.h"

#include "sim/pool.h"
#include "sim/sim_memory.h"

#include <stdio.h>
#include <stdlib.h>

/* Of two events of one time the one that is no tick comes first. */
static uint64_t key_of(const struct sim_event *e)
{
    return e->at << 1 | (e->kind == SIM_TICK);
}

static int level_of(const struct sim_queue *q, uint64_t key)
{
    return key == q->last ? 0 : (63 - __builtin_clzll(key ^ q->last)) / SIM_DIGIT;
}

static uint32_t digit_of(uint64_t key, int level)
{
    return key >> level * SIM_DIGIT & (SIM_DIGITS - 1);
}

static struct sim_event *slot_of(const struct sim_queue *q, uint32_t slot)
{
    return &q->part[slot / SIM_PART][slot % SIM_PART];
}

/* By one part more: an array that is copied would need its memory twice. */
static void grow(struct sim_queue *q)
{
    uint32_t parts = q->room / SIM_PART;

    if (q->room > UINT32_MAX - SIM_PART) {
        fprintf(stderr, "faultloc simulate: too many events at once\n");
        exit(2);
    }
    if (!q->level)
        q->level = sim_pool_zeroed(SIM_LEVELS, sizeof(*q->level));
    q->part = sim_realloc(q->part, parts + 1, sizeof(*q->part));
    q->part[parts] = sim_pool_array(NULL, SIM_PART, sizeof(**q->part));
    q->room += SIM_PART;
    for (uint32_t i = q->room - 1; i > 0 && i >= parts * SIM_PART; i--) {
        slot_of(q, i)->next = q->free;
        q->free = i;
    }
}

/* At the end of its list. */
static void put(struct sim_queue *q, uint32_t slot)
{
    uint64_t key = key_of(slot_of(q, slot));
    int level;
    uint32_t digit;

    if (key < q->last) /* it is for now, and a tick of now was first */
        key = q->last;
    level = level_of(q, key);
    digit = digit_of(key, level);
    slot_of(q, slot)->next = 0;
    if (q->level[level].list[digit].first)
        slot_of(q, q->level[level].list[digit].last)->next = slot;
    else
        q->level[level].list[digit].first = slot;
    q->level[level].list[digit].last = slot;
    q->level[level].used[digit / 64] |= (uint64_t) 1 << digit % 64;
}

void sim_queue_push(struct sim_queue *q, const struct sim_event *e)
{
    uint32_t slot;

    if (!q->free)
        grow(q);
    slot = q->free;
    q->free = slot_of(q, slot)->next;
    *slot_of(q, slot) = *e;
    put(q, slot);
    q->n++;
}

/* The first list of a level that has events, from `least` on; -1: none has. */
static int first_digit(const struct sim_queue *q, int level, uint32_t least)
{
    uint64_t before = ((uint64_t) 1 << least % 64) - 1;

    for (uint32_t i = least / 64; i < SIM_DIGITS / 64; i++, before = 0)
        if (q->level[level].used[i] & ~before)
            return (int) (64 * i) + __builtin_ctzll(q->level[level].used[i] & ~before);
    return -1;
}

/* Time never goes back. */
static int next_digit(const struct sim_queue *q)
{
    return first_digit(q, 0, digit_of(q->last, 0));
}

static uint32_t empty_list(struct sim_queue *q, int level, int digit)
{
    uint32_t first = q->level[level].list[digit].first;

    q->level[level].list[digit].first = 0;
    q->level[level].used[digit / 64] &= ~((uint64_t) 1 << digit % 64);
    return first;
}

/* The next ones become those of the lowest level. */
static void come_near(struct sim_queue *q)
{
    int level = 0, digit = -1;
    uint32_t slot, next;

    while (digit < 0)
        digit = first_digit(q, ++level, 0);
    q->last = (q->last >> level * SIM_DIGIT >> SIM_DIGIT << SIM_DIGIT | (uint64_t) digit)
              << level * SIM_DIGIT;
    for (slot = empty_list(q, level, digit); slot; slot = next) {
        next = slot_of(q, slot)->next;
        put(q, slot);
    }
    digit = first_digit(q, 1, 0);
    q->walk = digit < 0 ? 0 : q->level[1].list[digit].first;
}

/* One step: to wait for memory is what a list costs. */
static void walk_on(struct sim_queue *q)
{
    if (!q->walk)
        return;
    q->walk = slot_of(q, q->walk)->next;
    __builtin_prefetch(slot_of(q, q->walk));
}

#define AHEAD 16 /* events: what one needs is fetched while these are worked on */

/* The next one that is near is seen, if there is one. */
static void look_ahead(struct sim_queue *q)
{
    uint32_t next = q->seen ? slot_of(q, q->seen)->next : 0;
    int digit = (int) q->seen_digit;

    if (!next) {
        digit = first_digit(q, 0, q->seen ? q->seen_digit + 1 : digit_of(q->last, 0));
        if (digit < 0)
            return;
        next = q->level[0].list[digit].first;
    }
    q->seen = next;
    q->seen_digit = (uint32_t) digit;
    q->ahead++;
    q->near(q->ctx, slot_of(q, next));
}

bool sim_queue_pop(struct sim_queue *q, struct sim_event *e)
{
    uint32_t slot;
    int digit;

    if (q->n == 0)
        return false;
    walk_on(q);
    while ((digit = next_digit(q)) < 0)
        come_near(q);
    for (int i = 0; i < 2 && q->near && q->ahead < AHEAD; i++)
        look_ahead(q);
    slot = q->level[0].list[digit].first;
    q->ahead = slot == q->seen || !q->ahead ? 0 : q->ahead - 1;
    if (slot == q->seen)
        q->seen = 0;
    *e = *slot_of(q, slot);
    q->last = q->last >> SIM_DIGIT << SIM_DIGIT | (uint64_t) digit;
    q->level[0].list[digit].first = e->next;
    if (!e->next)
        empty_list(q, 0, digit);
    slot_of(q, slot)->next = q->free;
    q->free = slot;
    q->n--;
    return true;
}

const struct sim_event *sim_queue_peek(const struct sim_queue *q)
{
    int digit = q->n ? next_digit(q) : -1;

    return digit < 0 ? NULL : slot_of(q, q->level[0].list[digit].first);
}

void sim_queue_free(struct sim_queue *q)
{
    struct sim_event e;

    while (sim_queue_pop(q, &e))
        sim_pool_free(e.bytes);
    for (uint32_t i = 0; i < q->room / SIM_PART; i++)
        sim_pool_free(q->part[i]);
    free(q->part);
    sim_pool_free(q->level);
    *q = (struct sim_queue){0};
}
