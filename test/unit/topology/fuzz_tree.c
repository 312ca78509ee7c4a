/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "must.h"
#include "ftree/topology/tree_int.h"

#include <stdio.h>

/*
 * A topology file, or a string in its place, with anything in it. The input is
 *
 *     1 byte    bits 0-3: fan-out less 1; bit 7: a string
 *     the rest  the text
 *
 * and the job's nodes are those of job_name[]. Either there is a tree of which every invariant
 * holds, also of what comes out of its bytes again, or there is an error with a place in the text.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -Isrc/util -Isrc/util/ftree \
 *         test/unit/topology/fuzz_tree.c $(find src/util/ftree/topology -name '*.c') -o fuzz_tree
 *     test/unit/topology/test_fuzz_tree --corpus corpus && ./fuzz_tree corpus
 *
 * test_fuzz_tree runs it with files changed at random, from a fixed seed.
 */

#define NAMES_MOST 4096 /* in all lists of a file: a fuzzer is to be quick */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const job_name[] = {"c1", "c2", "c5", "c03", "r1n2", "c1.org", "10.0.0.7", "x"};
#define JOB_NODES ((int32_t) (sizeof(job_name) / sizeof(job_name[0])))

static void check_tree(const struct ftree_tree *t)
{
    const char *broken = ftree_tree_check(t);

    if (broken)
        fprintf(stderr, "invariant broken: %s\n", broken);
    MUST(!broken);
}

static void check_bytes(const struct ftree_tree *t)
{
    size_t len = ftree_tree_packed_size(t);
    void *bytes = malloc(len);
    struct ftree_tree *again;

    ftree_tree_pack(t, bytes);
    MUST(ftree_tree_unpack(bytes, len, &again) == FTREE_OK);
    MUST(again->nodes == t->nodes && again->switches == t->switches);
    ftree_tree_free(again);
    free(bytes);
}

static void check_order(const int32_t *order)
{
    uint32_t seen = 0;

    for (int32_t n = 0; n < JOB_NODES; n++) {
        MUST(order[n] >= 0 && order[n] < JOB_NODES && !(seen & 1u << order[n]));
        seen |= 1u << order[n];
    }
}

static void check_error(const struct ftree_tree_error *e, const char *text, size_t len)
{
    int lines = 1;

    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    MUST(e->line >= 0 && e->line <= lines);
    MUST((e->line == 0) == (e->column == 0) && e->column >= 0 && (size_t) e->column <= len + 1);
    MUST(e->text[0] && memchr(e->text, '\0', sizeof(e->text)));
    for (const char *c = e->text; *c; c++)
        MUST(*c >= ' ' && *c <= '~');
}

static void check_result(int rc, struct ftree_tree *t, const struct ftree_tree_error *e,
                         const char *text, size_t len)
{
    MUST(rc == FTREE_OK || rc == FTREE_ERR_INVALID);
    MUST((rc == FTREE_OK) == (t != NULL));
    if (t) {
        check_tree(t);
        check_bytes(t);
    } else {
        check_error(e, text, len);
    }
    ftree_tree_free(t);
}

static void read_file(const char *text, size_t len, int32_t fanout)
{
    struct ftree_tree_error e;
    struct ftree_tree *t;
    int32_t order[JOB_NODES];
    int rc;

    rc = ftree_tree_read_most(text, len, NAMES_MOST, job_name, JOB_NODES, fanout, &t, order, &e);
    if (rc == FTREE_OK)
        check_order(order);
    check_result(rc, t, &e, text, len);
}

/* How large a tree the numbers of a string may make, at most: large ones only take long. */
static double product(const char *string)
{
    double all = 1;

    for (const char *p = string; *p; p++)
        if (*p >= '0' && *p <= '9') {
            char *end;
            double n = strtod(p, &end);
            all *= n > 1 ? n : 1;
            p = end - 1;
        }
    return all;
}

static void read_string(const char *string, size_t len, int32_t fanout)
{
    struct ftree_tree_error e;
    struct ftree_tree *t;
    int32_t ranks, order[JOB_NODES];
    int rc;

    if (product(string) > 100000)
        return;
    rc = ftree_tree_synthetic(string, fanout, &t, &ranks, &e);
    check_result(rc, t, &e, string, len);
    rc = ftree_tree_synthetic_job(string, JOB_NODES, fanout, &t, order, &e);
    if (rc == FTREE_OK)
        check_order(order);
    check_result(rc, t, &e, string, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* a copy of its own size, so that the sanitizers see a read behind it */
    char *text = malloc(size + 1);
    int32_t fanout = 1;

    if (size > 0) {
        fanout += data[0] & 15;
        memcpy(text, data + 1, size - 1);
    }
    if (size > 0 && data[0] & 0x80) {
        text[size - 1] = '\0';
        read_string(text, strlen(text), fanout);
    } else if (size > 0) {
        text = realloc(text, size - 1 ? size - 1 : 1);
        read_file(text, size - 1, fanout);
    }
    free(text);
    return 0;
}
