/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef CORPUS_H_INCLUDED
#define CORPUS_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

/* Seeds for a fuzzer, which the test of its harness writes. */

/* Writes one; false: it cannot, which is said. */
bool corpus_put(const char *dir, const char *name, const void *bytes, size_t len);

/* What main() returns of such a test: it runs its tests, or with --corpus DIR makes DIR and has `write`
 * put the seeds there. */
int corpus_main(int argc, char **argv, bool (*write)(const char *dir));

#endif /* CORPUS_H_INCLUDED */
