/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/draw.h"
#include "sim/pool.h"
#include "sim/stage.h"
#include "suite.h"

#include <stdint.h>

#define ACTORS 40
#define BLOCKS 30

/* What an actor has: blocks of bytes of its own, and where they are. */
static struct {
    void *packed;
    uint8_t *block[BLOCKS];
    size_t size[BLOCKS];
} actor[ACTORS];

static uint8_t byte_of(int a, int i)
{
    return (uint8_t) (a * BLOCKS + i);
}

static void check_blocks(int a)
{
    int wrong = 0;

    for (int i = 0; i < BLOCKS; i++)
        for (size_t k = 0; k < actor[a].size[i]; k++)
            wrong += actor[a].block[i][k] != byte_of(a, i);
    ck_assert_int_eq(wrong, 0);
}

/* Most fit on the stage, some do not. */
static void change_block(struct draw *d, int a)
{
    int i = (int) draw_below(d, BLOCKS);
    size_t size = draw_below(d, 3) ? 1 + draw_below(d, 1 << draw_below(d, 15)) : 0;

    actor[a].block[i] = sim_stage_alloc(actor[a].block[i], size);
    actor[a].size[i] = size;
    if (!size)
        return;
    ck_assert_uint_eq((uintptr_t) actor[a].block[i] % 16, 0);
    ck_assert_uint_ge(sim_pool_size(actor[a].block[i]), size);
    memset(actor[a].block[i], byte_of(a, i), size);
}

/* They take turns: each finds all its blocks where and as they were. */
TEST_CASES(whoever_comes_on_stage_again_finds_its_blocks, 3)
{
    struct draw d = draw_stream(7, (uint64_t) _i);

    if (!sim_stage_exists())
        return;
    memset(actor, 0, sizeof(actor));
    for (int n = 0; n < 20 * ACTORS; n++) {
        int a = (int) draw_below(&d, ACTORS);
        sim_stage_clear();
        if (actor[a].packed)
            sim_stage_unpack(actor[a].packed);
        check_blocks(a);
        for (int i = 0; i < 10; i++)
            change_block(&d, a);
        check_blocks(a);
        actor[a].packed = sim_stage_pack();
    }
    sim_stage_drop();
}

/* A block that is freed leaves no trace: what is packed then is as small as before. */
TEST_CASES(what_is_freed_is_not_packed, 2)
{
    uint8_t *block[3];
    size_t before, after, size = _i ? 2000 : 100; /* large or small */
    void *packed;

    if (!sim_stage_exists())
        return;
    sim_stage_clear();
    memset(sim_stage_alloc(NULL, 64), 1, 64);
    sim_pool_free(sim_stage_pack()); /* the model */
    packed = sim_stage_pack();
    before = sim_pool_size(packed);
    sim_stage_unpack(packed);
    for (int i = 0; i < 3; i++)
        block[i] = memset(sim_stage_alloc(NULL, size), 2, size);
    for (int i = 0; i < 3; i++)
        sim_stage_alloc(block[i * 2 % 3], 0);
    packed = sim_stage_pack();
    after = sim_pool_size(packed);
    ck_assert_uint_eq(after, before);
    sim_pool_free(packed);
    sim_stage_drop();
}
