/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/base/text_file.h"
#include "suite.h"

#include "files.h"

BEFORE_EACH
{
    files_begin();
}

TEST_CASE(a_file_is_read_as_far_as_there_is_room)
{
    char text[8];

    files_write("40/line", "word\n");
    files_write("40/long", "0123456789");
    ck_assert_uint_eq(faultloc_text_read(files_root, text, sizeof(text), "%d/line", 40), 5);
    ck_assert_str_eq(text, "word\n");
    ck_assert_uint_eq(faultloc_text_read(files_root, text, sizeof(text), "40/%s", "long"), 7);
    ck_assert_str_eq(text, "0123456");
}

TEST_CASE(what_cannot_be_read_is_empty)
{
    char text[8] = "before", path[600];

    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    ck_assert_uint_eq(faultloc_text_read(files_root, text, sizeof(text), "none"), 0);
    ck_assert_str_eq(text, "");
    ck_assert_uint_eq(faultloc_text_read(files_root, text, sizeof(text), "%s", path), 0);
    ck_assert_uint_eq(faultloc_text_read(path, text, sizeof(text), "file"), 0);
    ck_assert_int_eq(mkfifo(files_path("fifo"), 0600), 0); /* that nobody writes to */
    ck_assert_uint_eq(faultloc_text_read(files_root, text, sizeof(text), "fifo"), 0);
}
