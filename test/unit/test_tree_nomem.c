/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "suite.h"
#include "tree_int.h"

#include <stdio.h>

/*
 * The n-th allocation fails, for n = 1, 2, 3, ... until a tree is made without: each time it is
 * FTREE_ERR_NOMEM and nothing else.
 *
 * The C library's allocator is replaced for that, which does not go together with a sanitizer's;
 * what is lost is found there by running the same texts, from test_tree_read.c.
 */

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define __SANITIZE_ADDRESS__ 1 /* as gcc says it */
#endif
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define CAN_FAIL 0
#else
#define CAN_FAIL 1

static long countdown = -1; /* -1: none fails */
static long taken; /* and not given back */

extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *ptr, size_t size);
extern void __libc_free(void *ptr);

static bool fails(void)
{
    return countdown >= 0 && countdown-- == 0;
}

void *malloc(size_t size)
{
    void *p = fails() ? NULL : __libc_malloc(size);

    taken += p != NULL;
    return p;
}

void *realloc(void *ptr, size_t size)
{
    void *p = fails() ? NULL : __libc_realloc(ptr, size);

    taken += p != NULL && ptr == NULL;
    return p;
}

void free(void *ptr)
{
    taken -= ptr != NULL;
    __libc_free(ptr);
}
#endif

#define NAMES 200

static char text[8192];
static const char *name[NAMES];

/* More names than the tables begin with, a domain, and two levels of switches. */
static void make_text(void)
{
    static char names[NAMES][16];
    char *p = text;

    p += sprintf(p, "SwitchName=top Switches=s[0-99]\n");
    for (int i = 0; i < 100; i++)
        p += sprintf(p, "SwitchName=s%d Nodes=c[%d-%d].org\n", i, 2 * i, 2 * i + 1);
    for (int i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof(names[i]), "c%d", i);
        name[i] = names[i];
    }
}

static int read_it(struct ftree_tree **t)
{
    struct ftree_tree_error e;
    int32_t order[NAMES];

    return ftree_tree_read(text, strlen(text), name, NAMES, 4, t, order, &e);
}

static int make_it(struct ftree_tree **t)
{
    struct ftree_tree_error e;
    int32_t ranks;

    return ftree_tree_synthetic("switch:3 switch:40 node:2", 4, t, &ranks, &e);
}

static char packed[65536];
static size_t packed_len;

static int unpack_it(struct ftree_tree **t)
{
    return ftree_tree_unpack(packed, packed_len, t);
}

static int (*const stories[])(struct ftree_tree **) = {read_it, make_it, unpack_it};

/* rows: an_allocation_fails */
START_TEST(an_allocation_fails)
{
    struct ftree_tree *t;

    make_text();
    ck_assert_int_eq(make_it(&t), FTREE_OK);
    packed_len = ftree_tree_packed_size(t);
    ck_assert_uint_le(packed_len, sizeof(packed));
    ftree_tree_pack(t, packed);
    ftree_tree_free(t);
#if CAN_FAIL
    for (long n = 0;; n++) {
        long before = taken, left;
        int rc;
        countdown = n;
        rc = stories[_i](&t);
        left = countdown;
        countdown = -1;
        if (rc == FTREE_OK && left >= 0) {
            ftree_tree_free(t);
            ck_assert_int_eq(taken, before);
            ck_assert_int_gt(n, 0);
            break;
        }
        REQUIRE(rc == FTREE_ERR_NOMEM && t == NULL && taken == before && n < 1000);
    }
#else
    ck_assert_int_eq(stories[_i](&t), FTREE_OK);
    ftree_tree_free(t);
#endif
}
END_TEST

SUITE("tree_nomem")
{
    TEST_ROWS(an_allocation_fails, COUNT(stories));
}
