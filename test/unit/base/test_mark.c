/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * A rank's mark behind its address.
 */

#include "faultloc/base/mark.h"

#include "suite.h"

#include <string.h>

#define ROOM 4096

static unsigned char card[ROOM];

TEST_CASE(a_mark_is_found_behind_an_address_of_any_length)
{
    size_t all;

    for (size_t len = 0; len + FAULTLOC_MARK_ROOM <= 600; len++) {
        memset(card, 0, sizeof(card));
        memset(card, 'a', len);
        all = faultloc_mark_put(card, len, 70000);
        ck_assert_uint_ge(all, len + FAULTLOC_MARK_STEP);
        ck_assert_uint_le(all, len + FAULTLOC_MARK_ROOM);
        ck_assert(len == 0 || card[len - 1] == 'a');
        ck_assert(faultloc_mark_find(card, ROOM, 70000));
        ck_assert(faultloc_mark_find(card, all, 70000));
        ck_assert(!faultloc_mark_find(card, all - 1, 70000));
    }
}

TEST_CASE(without_a_mark_or_with_another_ranks_none_is_found)
{
    memset(card, 0, sizeof(card));
    ck_assert(!faultloc_mark_find(card, ROOM, 0));
    memset(card, 0xff, sizeof(card));
    ck_assert(!faultloc_mark_find(card, ROOM, -1));
    memset(card, 0, sizeof(card));
    faultloc_mark_put(card, 100, 1);
    ck_assert(!faultloc_mark_find(card, ROOM, 0));
    ck_assert(!faultloc_mark_find(card, ROOM, 257));
    ck_assert(!faultloc_mark_find(card, 0, 1));
}
