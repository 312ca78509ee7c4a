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
    return &q->block[slot / SIM_BLOCK][slot % SIM_BLOCK];
}

static bool ends_part(uint32_t slot)
{
    return slot % SIM_PART == SIM_PART - 1;
}

static uint32_t slot_after(const struct sim_queue *q, uint32_t slot)
{
    return ends_part(slot) ? q->next[slot / SIM_PART] * SIM_PART : slot + 1;
}

static void free_part(struct sim_queue *q, uint32_t part)
{
    q->next[part] = q->free;
    q->free = part;
}

/* By one block more: an array that is copied would need its memory twice. */
static void grow(struct sim_queue *q)
{
    uint32_t blocks = q->room / SIM_BLOCK;

    if (q->room > UINT32_MAX - SIM_BLOCK) {
        fprintf(stderr, "faultloc simulate: too many events at once\n");
        exit(2);
    }
    if (!q->level)
        q->level = sim_pool_zeroed(SIM_LEVELS, sizeof(*q->level));
    q->block = sim_realloc(q->block, blocks + 1, sizeof(*q->block));
    q->block[blocks] = sim_pool_array(NULL, SIM_BLOCK, sizeof(**q->block));
    q->room += SIM_BLOCK;
    q->next = sim_realloc(q->next, q->room / SIM_PART, sizeof(*q->next));
    for (uint32_t i = q->room / SIM_PART - 1; i > 0 && i >= blocks * (SIM_BLOCK / SIM_PART); i--)
        free_part(q, i);
}

/* The first slot of a part. */
static uint32_t new_part(struct sim_queue *q)
{
    uint32_t part;

    if (!q->free)
        grow(q);
    part = q->free;
    q->free = q->next[part];
    return part * SIM_PART;
}

/* At the end of its list. */
static void put(struct sim_queue *q, const struct sim_event *e)
{
    uint64_t key = key_of(e);
    uint32_t digit, slot, last;
    int level;

    if (key < q->last) /* it is for now, and a tick of now was first */
        key = q->last;
    level = level_of(q, key);
    digit = digit_of(key, level);
    last = q->level[level].list[digit].last;
    if (!q->level[level].list[digit].first) {
        slot = q->level[level].list[digit].first = new_part(q);
        q->level[level].used[digit / 64] |= (uint64_t) 1 << digit % 64;
    } else if (ends_part(last)) {
        slot = new_part(q);
        q->next[last / SIM_PART] = slot / SIM_PART;
    } else {
        slot = last + 1;
    }
    q->level[level].list[digit].last = slot;
    *slot_of(q, slot) = *e;
}

void sim_queue_push(struct sim_queue *q, const struct sim_event *e)
{
    if (!q->level)
        grow(q);
    put(q, e);
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

static void empty_list(struct sim_queue *q, int level, int digit)
{
    q->level[level].list[digit].first = 0;
    q->level[level].used[digit / 64] &= ~((uint64_t) 1 << digit % 64);
}

static void fetch_part(const struct sim_queue *q, uint32_t part)
{
    for (uint32_t i = 0; i < SIM_PART; i += 2)
        __builtin_prefetch(slot_of(q, part * SIM_PART + i));
}

/* The next ones become those of the lowest level. */
static void come_near(struct sim_queue *q)
{
    int level = 0, digit = -1;
    uint32_t slot, next, last;

    while (digit < 0)
        digit = first_digit(q, ++level, 0);
    q->last = (q->last >> level * SIM_DIGIT >> SIM_DIGIT << SIM_DIGIT | (uint64_t) digit)
              << level * SIM_DIGIT;
    slot = q->level[level].list[digit].first;
    last = q->level[level].list[digit].last;
    empty_list(q, level, digit);
    fetch_part(q, q->next[slot / SIM_PART]);
    for (;; slot = next) {
        put(q, slot_of(q, slot));
        next = slot_after(q, slot);
        if (slot == last || ends_part(slot))
            free_part(q, slot / SIM_PART);
        if (slot == last)
            return;
        if (ends_part(slot))
            fetch_part(q, q->next[next / SIM_PART]);
    }
}

#define AHEAD 16 /* events: what one needs is fetched while these are worked on */

/* The next one that is near is seen, if there is one. */
static void look_ahead(struct sim_queue *q)
{
    uint32_t next;
    int digit = (int) q->seen_digit;

    if (q->seen && q->seen != q->level[0].list[digit].last) {
        next = slot_after(q, q->seen);
    } else {
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

/* The first one of a list of the lowest level goes. */
static void drop(struct sim_queue *q, int digit)
{
    uint32_t slot = q->level[0].list[digit].first;

    q->level[0].list[digit].first = slot_after(q, slot);
    if (slot == q->level[0].list[digit].last)
        empty_list(q, 0, digit);
    else if (!ends_part(slot))
        return;
    free_part(q, slot / SIM_PART);
}

bool sim_queue_pop(struct sim_queue *q, struct sim_event *e)
{
    uint32_t slot;
    int digit;

    if (q->n == 0)
        return false;
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
    drop(q, digit);
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
        sim_pool_unshare(e.bytes);
    for (uint32_t i = 0; i < q->room / SIM_BLOCK; i++)
        sim_pool_free(q->block[i]);
    free(q->block);
    free(q->next);
    sim_pool_free(q->level);
    *q = (struct sim_queue){0};
}
