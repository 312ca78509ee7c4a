/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef BASE_H_INCLUDED
#define BASE_H_INCLUDED

#include "ftree/rules/rules.h"

/* The built-in rule base, read once for a test program and kept until it ends. */
const struct ftree_rules *base_rules(void);

/* The rule base of that text, in which ' stands for ", to be freed by ftree_rules_free(). */
struct ftree_rules *base_read(const char *text);

/* Writes the built-in rule base to a file, with `name` as its name, which is how tests tell one
 * base from another. */
void base_write(const char *file, const char *name);

/* The sign of that name ("model/sign"), which there must be; *class_ is its model's. */
const struct rules_sign *base_sign(const char *name, int *class_);

/* The verdict as the sign makes it, about `node` and `rank`; times, fln and id are 0. */
struct ftree_verdict base_verdict(const char *sign, int32_t node, int32_t rank);

/* True if a fault that causes such symptoms is decided for by what was reported, though the node
 * answers: no question refutes it. */
bool base_accuses(int symptom);

#endif /* BASE_H_INCLUDED */
