/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "nomem.h"
#include "suite.h"
#include "ftree/topology/tree_int.h"

#include <stdio.h>

/*
 * The n-th allocation fails, for n = 1, 2, 3, ... until a tree is made without: each time it is
 * FTREE_ERR_NOMEM and nothing else.
 */

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
TEST_CASES(an_allocation_fails, COUNT(stories))
{
    struct ftree_tree *t;

    make_text();
    ck_assert_int_eq(make_it(&t), FTREE_OK);
    packed_len = ftree_tree_packed_size(t);
    ck_assert_uint_le(packed_len, sizeof(packed));
    ftree_tree_pack(t, packed);
    ftree_tree_free(t);
    for (long n = 0;; n++) {
        long before = nomem_taken;
        int rc;
        nomem_begin(n);
        rc = stories[_i](&t);
        if (nomem_end()) {
            REQUIRE(rc == FTREE_OK);
            ftree_tree_free(t);
            ck_assert_int_eq(nomem_taken, before);
            ck_assert_int_gt(n, 0);
            break;
        }
        REQUIRE(rc == FTREE_ERR_NOMEM && t == NULL && nomem_taken == before && n < 1000);
    }
}
