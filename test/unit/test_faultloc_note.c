/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "suite.h"

#include "faultloc/agent/note.h"

/* What a note says of the ranks that wait. */

static struct ftree_rank_class classes[] = {
    {.state = FTREE_DOES_WAIT, .comm = "MPI_COMM_WORLD", .count = 40, .example = 2},
    {.state = FTREE_DOES_COMPUTE, .count = 9, .example = 1},
    {.state = FTREE_DOES_WAIT, .count = 5, .example = 7},
    {.state = FTREE_DOES_LEAVE, .count = 4, .example = 60},
    {.state = FTREE_DOES_WAIT, .comm = "x", .count = 3, .example = 8},
    {.state = FTREE_DOES_WAIT, .comm = "y", .count = 2, .example = 9},
    {.state = FTREE_DOES_WAIT, .comm = "z", .count = 1, .example = 10},
};

START_TEST(those_that_wait_are_told_as_far_as_there_is_room)
{
    struct ftree_rank_classes all = {.items = classes, .n = 7};
    struct ftree_waiting w = {.count = 51, .classes = 2};

    faultloc_note_classes(&w, &all);
    ck_assert_int_eq(w.classes, FTREE_WAITING_CLASSES_MAX);
    ck_assert_int_eq(w.class_[0].count, 40);
    ck_assert_str_eq(w.class_[0].comm, "MPI_COMM_WORLD");
    ck_assert_str_eq(w.class_[0].call, "MPI");
    ck_assert_int_eq(w.class_[1].count, 5);
    ck_assert_int_eq(w.class_[1].example, 7);
    ck_assert_int_eq(w.class_[3].count, 2);
}
END_TEST

START_TEST(nobody_waits_any_more)
{
    struct ftree_rank_classes none = {.items = classes + 1, .n = 1};
    struct ftree_waiting w = {.count = 51, .classes = 2};

    faultloc_note_classes(&w, &none);
    ck_assert_int_eq(w.classes, 0);
}
END_TEST

SUITE("note")
{
    TEST(those_that_wait_are_told_as_far_as_there_is_room);
    TEST(nobody_waits_any_more);
}
