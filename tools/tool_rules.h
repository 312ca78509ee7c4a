/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef TOOL_RULES_H_INCLUDED
#define TOOL_RULES_H_INCLUDED

#include "tool.h"

#include "ftree/rules/rules.h"

/*
 * The command `faultloc rules`: what its files share.
 *
 *     cmd_rules.c      its arguments; check and print
 *     rules_explain.c  a fault, a rule or a sign in words
 *     rules_learn.c    what people confirmed in reports, as a table and as priors
 */

/* A rule base with the text it is from. */
struct rules_file {
    const char *name; /* for messages */
    char *text;
    size_t len;
    struct ftree_rules *rules;
};

/* Purpose: prints what the rule base says of a class, a model, a rule or a sign. */
enum tool_exit tool_rules_explain(const struct rules_file *f, const char *what);

/* Purpose: prints the rule base with the priors that the reports speak for, and a table of what went
 * wrong. */
enum tool_exit tool_rules_learn(const struct rules_file *f, int n, char **reports);

#endif /* TOOL_RULES_H_INCLUDED */
