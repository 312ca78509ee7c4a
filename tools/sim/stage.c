/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/stage.h"

#include "sim/pool.h"
#include "sim/sim_memory.h"

#include <stdint.h>
#include <string.h>

#define WORDS 8192 /* room for 100 verdicts twice: an array that grows is copied */
#define SMALL_WORDS 512
#define SMALL_MAX 1040 /* a larger block takes a free place among the small ones, but adds none */
#define LINE 8
#define MAPS (WORDS / 64)
#define MODELS_MAX 16
#define MANY(words) ((words) / 8) /* by which a handle differs so much that it becomes a model */
#define FREE 1u

/* Two areas: SMALL_WORDS words of small blocks, and behind them what finds no room there.  The first
 * word of each says how many bytes of blocks follow.  These are as in the pool: a word with the size,
 * which is a multiple of 16, and whether it is free, and what is used of it. */
static _Alignas(64) uint64_t stage[WORDS];
static uint64_t *const large = stage + SMALL_WORDS;
static uint64_t model[MODELS_MAX][WORDS];
static int32_t packed_by[MODELS_MAX]; /* how many handles are kept as what differs from each */
static unsigned unsearched; /* how many handles are still to be packed without a search */
static int near; /* to what was packed last */
static int from = MODELS_MAX; /* to what is on the stage, when it came; MODELS_MAX: it is new */
static int follows[MODELS_MAX + 1]; /* to what came near to each when it was packed last */

/* What is packed: a word with the model and how many words of the stage are in use; for 64 of these
 * each, which are other ones; then these.  Unless that is short it is kept in pieces.  A handle that
 * learns more takes more of them; the block that it had would be too small the next time, and for
 * all others, for they learn as much. */
#define PIECE 62
#define PACKED_MAX (1 + MAPS + WORDS + PIECE) /* the last piece is not full */

struct piece {
    struct piece *next;
    uint64_t word[PIECE];
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

/* Of 16 bytes each, but for the first word. */
static void *use(uint64_t *head, size_t whole)
{
    size_t rest = (*head & ~(uint64_t) FREE) - whole;

    *head = whole;
    if (rest)
        head[whole / 8] = rest | FREE;
    return head + 1;
}

static void *get(uint64_t *area, size_t words, size_t whole, bool at_end)
{
    uint64_t *head = area + 1, *end = head + area[0] / 8;

    for (; head < end; head += *head / 8)
        if (*head & FREE && *head >= whole)
            return use(head, whole);
    if (!at_end || 1 + (area[0] + whole) / 8 > words)
        return NULL;
    area[0] += whole;
    *end = whole;
    return end + 1;
}

static bool is_on_stage(const void *ptr)
{
    return (uintptr_t) ptr - (uintptr_t) stage < sizeof(stage);
}

static bool is_large(const void *ptr)
{
    return is_on_stage(ptr) && (const uint64_t *) ptr > large;
}

/* What was large once does not come back among the small ones. */
static void *get_any(const void *before, size_t size)
{
    void *ptr = NULL;

    if (!is_large(before))
        ptr = get(stage, SMALL_WORDS, (size + 8 + 15) & ~(size_t) 15, size + 8 <= SMALL_MAX);
    return ptr ? ptr : get(large, WORDS - SMALL_WORDS, sim_pool_whole(size), true);
}

/* Joins it with the free ones beside it; at the end it is no block any more. */
static void put(void *ptr)
{
    uint64_t *freed = (uint64_t *) ptr - 1, *area = is_large(ptr) ? large : stage;
    uint64_t *head = area + 1, *end = head + area[0] / 8, *next;

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
            area[0] -= *head & ~(uint64_t) FREE;
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
    out = size ? get_any(ptr, size) : NULL;
    if (size && !out && !(out = sim_pool_alloc(NULL, size)))
        return NULL;
    if (out && ptr)
        memcpy(out, ptr, before < size ? before : size);
    if (ptr)
        put(ptr);
    return out;
}

/* ---- packing --------------------------------------------------------------------------------- */

/* So many words are in use; all behind them is zero. */
static uint32_t words_used(void)
{
    return (uint32_t) (large[0] ? SMALL_WORDS + 1 + large[0] / 8 : 1 + stage[0] / 8);
}

static void clear_behind(uint32_t words)
{
    if (words_used() > words)
        memset(stage + words, 0, (words_used() - words) * sizeof(stage[0]));
}

void sim_stage_clear(void)
{
    clear_behind(0);
    from = MODELS_MAX;
}

/* Which words are other ones than a model's, and these; returns how many. */
static uint32_t compare(const uint64_t *with, uint64_t *map, uint64_t *out)
{
    uint32_t n = 0, words = words_used();

    memset(map, 0, (words + 63) / 64 * sizeof(*map));
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

/* The nearest of all models; where that is far this becomes one, in place of one that nothing is
 * packed by.  A search in vain is not repeated soon. */
static void search(uint32_t best, uint64_t *map, uint64_t *out)
{
    int unused = MODELS_MAX;
    uint32_t n;

    for (int i = 0; i < MODELS_MAX; i++) {
        n = compare(model[i], map, out);
        if (n < best) {
            best = n;
            near = i;
        }
        if (!packed_by[i])
            unused = i;
    }
    if (best <= MANY(words_used()))
        return;
    if (unused == MODELS_MAX) {
        unsearched = 63;
        return;
    }
    near = unused;
    memcpy(model[near], stage, sizeof(stage));
}

/* What became of one like this before is likely to have become of this one. */
static uint32_t choose(uint64_t *map, uint64_t *out)
{
    uint32_t n;

    near = follows[from];
    n = compare(model[near], map, out);
    if (n <= MANY(words_used()) || (unsearched && unsearched--))
        return n;
    search(n, map, out);
    follows[from] = near;
    return compare(model[near], map, out);
}

static void *store(const uint64_t *word, uint32_t n)
{
    struct piece *first, **next = &first;

    if (n < PIECE)
        return memcpy(sim_pool_array(NULL, n, sizeof(*word)), word, n * sizeof(*word));
    for (uint32_t i = 0; i < n; i += PIECE, next = &(*next)->next) {
        *next = sim_pool_array(NULL, 1, sizeof(**next));
        memcpy((*next)->word, word + i, (n - i < PIECE ? n - i : PIECE) * sizeof(*word));
    }
    *next = NULL;
    return first;
}

/* And frees it. */
static void load(void *stored, uint64_t *word)
{
    struct piece *p = stored, *next;

    if (sim_pool_size(p) < sizeof(*p)) {
        memcpy(word, p, sim_pool_size(p));
        sim_pool_free(p);
        return;
    }
    for (; p; p = next, word += PIECE) {
        next = p->next;
        for (size_t i = 0; i < sizeof(*p); i += LINE * sizeof(*word))
            __builtin_prefetch((const char *) next + i);
        memcpy(word, p->word, sizeof(p->word));
        sim_pool_free(p);
    }
}

void *sim_stage_pack(void)
{
    uint64_t word[PACKED_MAX];
    uint32_t words = words_used(), maps = (words + 63) / 64, n = choose(word + 1, word + 1 + maps);

    packed_by[near]++;
    word[0] = (uint64_t) words << 32 | (uint32_t) near;
    return store(word, 1 + maps + n);
}

void *sim_stage_unpack(void *packed)
{
    uint64_t all[PACKED_MAX], *maps = all + 1, *word;
    uint32_t words;

    load(packed, all);
    from = (int) (uint32_t) all[0];
    words = (uint32_t) (all[0] >> 32);
    word = maps + (words + 63) / 64;
    packed_by[from]--;
    clear_behind(words);
    memcpy(stage, model[from], words * sizeof(stage[0]));
    for (uint32_t i = 0; 64 * i < words; i++)
        for (uint64_t map = maps[i]; map; map &= map - 1)
            stage[64 * i + (uint32_t) __builtin_ctzll(map)] = *word++;
    return stage + 2;
}

void sim_stage_drop(void)
{
    unsearched = 0;
    memset(packed_by, 0, sizeof(packed_by));
    memset(follows, 0, sizeof(follows));
}
