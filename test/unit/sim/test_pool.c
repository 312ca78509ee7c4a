/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/draw.h"
#include "sim/pool.h"
#include "suite.h"

#include <stdbool.h>
#include <stdint.h>

#define BLOCKS 2000

/* A size as they come: most are small. */
static size_t draw_size(struct draw *d)
{
    return 1 + draw_below(d, (uint64_t) 1 << draw_below(d, 22));
}

static void fill(uint8_t *block, size_t size, int i)
{
    memset(block, i & 0xff, size);
}

static bool is_filled(const uint8_t *block, size_t size, int i)
{
    for (size_t k = 0; k < size; k++)
        if (block[k] != (i & 0xff))
            return false;
    return true;
}

/* Blocks of all sizes are made, made larger and smaller, and given back, in any order: none ever
 * touches another. */
TEST_CASES(no_two_blocks_share_a_byte, 3)
{
    static uint8_t *block[BLOCKS];
    static size_t size[BLOCKS];
    struct draw d = draw_stream(1, (uint64_t) _i);

    for (int n = 0; n < 20 * BLOCKS; n++) {
        int i = (int) draw_below(&d, BLOCKS);
        size_t other = draw_below(&d, 3) ? draw_size(&d) : 0;
        size_t least = size[i] < other ? size[i] : other;
        block[i] = sim_pool_alloc(block[i], other);
        ck_assert_int_eq(block[i] != NULL, other > 0);
        ck_assert_uint_ge(sim_pool_size(block[i]), other);
        if (other && !size[i])
            ck_assert_uint_eq(sim_pool_size(block[i]) + 8, sim_pool_whole(other));
        ck_assert_uint_eq((uintptr_t) block[i] % 16, 0);
        ck_assert(is_filled(block[i], least, i));
        if (block[i])
            fill(block[i], sim_pool_size(block[i]), i);
        size[i] = other;
    }
    for (int i = 0; i < BLOCKS; i++) {
        ck_assert(is_filled(block[i], size[i], i));
        sim_pool_free(block[i]);
        block[i] = NULL;
        size[i] = 0;
    }
}

TEST_CASE(messages_that_are_the_same_share_a_copy)
{
    char text[] = "abc", *one = sim_pool_share(text, sizeof(text)),
         *two = sim_pool_share(text, sizeof(text)), *three;

    text[0] = 'x';
    ck_assert_ptr_eq(one, two);
    three = sim_pool_share(text, sizeof(text));
    sim_pool_unshare(one);
    ck_assert_str_eq(two, "abc");
    ck_assert_str_eq(three, "xbc");
    sim_pool_unshare(two);
    sim_pool_unshare(three);
    sim_pool_unshare(NULL);
    three = sim_pool_share(text, 1);
    ck_assert_int_eq(three[0], 'x');
    sim_pool_unshare(three);
}

TEST_CASE(a_large_block_that_becomes_small_gives_its_memory_back)
{
    char *block = sim_pool_alloc(NULL, 100000);

    memcpy(block, "abc", 4);
    block = sim_pool_alloc(block, 100);
    ck_assert_str_eq(block, "abc");
    ck_assert_uint_lt(sim_pool_size(block), 1000);
    sim_pool_free(block);
}
