/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/stage.h"

#include "sim/pool.h"
#include "sim/sim_memory.h"

#include <stdint.h>
#include <string.h>

#define WORDS 512
#define LINE 8
#define MAPS (WORDS / 64)
#define MODELS_MAX 16
#define MANY 16 /* words, by which a handle differs so much that it becomes a model */
#define FREE 1u
#define SMALL_MAX 1040 /* larger blocks are the pool's */

/* The first word says how many bytes are in use.  Then there are blocks as in the pool: a word with
 * the size, which is a multiple of 16, and whether it is free, and what is used of it. */
static _Alignas(64) uint64_t stage[WORDS];
static uint64_t model[MODELS_MAX][WORDS];
static int models, near; /* near: to what was packed last */
static int from = MODELS_MAX; /* to what is on the stage, when it came; MODELS_MAX: it is new */
static int follows[MODELS_MAX + 1]; /* to what came near to each when it was packed last */

struct packed {
    uint32_t model, words; /* of the stage that are in use */
    uint64_t word[]; /* for 64 words each, which are other ones; then these */
};

bool sim_stage_exists(void)
{
#if defined(__SANITIZE_ADDRESS__)
    return false;
#else
    return true;
#endif
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static bool is_on_stage(const void *ptr)
{
    return (uintptr_t) ptr - (uintptr_t) stage < sizeof(stage);
}

/* Of 16 bytes each, but for the first word. */
static void *use(uint64_t *head, size_t whole)
{
    size_t rest = (*head & ~(uint64_t) FREE) - whole;

    *head = whole;
    if (rest)
        head[whole / 8] = rest | FREE;
    return head + 1;
}

static void *get(size_t size)
{
    size_t whole = (size + 8 + 15) & ~(size_t) 15;
    uint64_t *head = stage + 1, *end = stage + stage[0] / 8;

    for (; head < end; head += *head / 8)
        if (*head & FREE && *head >= whole)
            return use(head, whole);
    if (size + 8 > SMALL_MAX || stage[0] + whole > sizeof(stage))
        return NULL;
    stage[0] += whole;
    *end = whole;
    return end + 1;
}

/* Joins it with the free ones beside it; at the end it is no block any more. */
static void put(void *ptr)
{
    uint64_t *freed = (uint64_t *) ptr - 1, *head = stage + 1, *end = stage + stage[0] / 8, *next;

    memset(ptr, 0, *freed - 8); /* so that it differs from no other one */
    *freed |= FREE;
    for (; head < end; head = next) {
        next = head + *head / 8;
        while (*head & FREE && next < end && *next & FREE) {
            *head += *next & ~(uint64_t) FREE;
            *next = 0;
            next = head + *head / 8;
        }
        if (*head & FREE && next == end) {
            stage[0] -= *head & ~(uint64_t) FREE;
            *head = 0;
        }
    }
}

void *sim_stage_alloc(void *ptr, size_t size)
{
    size_t before = sim_pool_size(ptr);
    void *out;

    if (ptr && (!is_on_stage(ptr) || (before >= size && before / 2 < size)))
        return is_on_stage(ptr) ? ptr : sim_pool_alloc(ptr, size);
    out = size ? get(size) : NULL;
    if (size && !out && !(out = sim_pool_alloc(NULL, size)))
        return NULL;
    if (out && ptr)
        memcpy(out, ptr, before < size ? before : size);
    if (ptr)
        put(ptr);
    return out;
}

/* ---- packing --------------------------------------------------------------------------------- */

/* So many bytes are in use; all behind them is zero. */
static void set_used(uint64_t used)
{
    if (stage[0] > used)
        memset((char *) stage + used, 0, stage[0] - used);
    stage[0] = used;
}

void sim_stage_clear(void)
{
    set_used(sizeof(stage[0]));
    from = MODELS_MAX;
}

/* Which words are other ones than a model's, and these; returns how many. */
static uint32_t compare(const uint64_t *with, uint64_t *map, uint64_t *out)
{
    uint32_t n = 0, words = (uint32_t) (stage[0] / 8);

    memset(map, 0, MAPS * sizeof(*map));
    for (uint32_t i = 0; i < words; i++) {
        if (i % LINE == 0 && !memcmp(stage + i, with + i, LINE * sizeof(stage[0]))) {
            i += LINE - 1; /* most are equal */
            continue;
        }
        uint64_t differs = stage[i] != with[i];
        map[i / 64] |= differs << i % 64;
        out[n] = stage[i];
        n += (uint32_t) differs;
    }
    return n;
}

/* The nearest of all models, which may become this one.  A search in vain is not repeated soon. */
static void search(uint32_t best, uint64_t *map, uint64_t *out)
{
    static unsigned vain;
    uint32_t n;

    if (models == MODELS_MAX && vain++ % 64)
        return;
    for (int i = 0; i < models; i++) {
        n = compare(model[i], map, out);
        if (n < best) {
            best = n;
            near = i;
        }
    }
    if (best <= MANY) {
        vain = 0;
    } else if (models < MODELS_MAX) {
        near = models++;
        memcpy(model[near], stage, sizeof(stage));
    }
}

/* What became of one like this before is likely to have become of this one. */
static uint32_t choose(uint64_t *map, uint64_t *out)
{
    uint32_t n = WORDS;

    near = follows[from];
    if (models)
        n = compare(model[near], map, out);
    if (n <= MANY)
        return n;
    search(n, map, out);
    follows[from] = near;
    return compare(model[near], map, out);
}

void *sim_stage_pack(void)
{
    uint64_t map[MAPS], word[WORDS];
    uint32_t words = (uint32_t) (stage[0] / 8), maps = (words + 63) / 64, n = choose(map, word);
    struct packed *p = sim_pool_array(NULL, 1 + maps + n, sizeof(p->word[0]));

    p->model = (uint32_t) near;
    p->words = words;
    memcpy(p->word, map, maps * sizeof(map[0]));
    memcpy(p->word + maps, word, n * sizeof(word[0]));
    return p;
}

void *sim_stage_unpack(void *packed)
{
    const struct packed *p = packed;
    uint32_t maps = (p->words + 63) / 64;
    const uint64_t *word = p->word + maps;

    from = (int) p->model;
    set_used(p->words * sizeof(stage[0]));
    memcpy(stage, model[from], p->words * sizeof(stage[0]));
    for (uint32_t i = 0; i < maps; i++)
        for (uint64_t map = p->word[i]; map; map &= map - 1)
            stage[64 * i + (uint32_t) __builtin_ctzll(map)] = *word++;
    sim_pool_free(packed);
    return stage + 2;
}

void sim_stage_drop(void)
{
    models = near = 0;
    memset(follows, 0, sizeof(follows));
}
