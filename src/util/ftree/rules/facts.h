/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_RULES_FACTS_H_INCLUDED
#define FTREE_RULES_FACTS_H_INCLUDED

#include "ftree/rules/rules.h"

#pragma GCC visibility push(hidden)

/* Facts about nothing yet. */
void ftree_facts_init(struct rules_facts *facts);
void ftree_facts_process(struct rules_facts *facts, uint8_t phase, char proc_state, int seen_by);

#pragma GCC visibility pop

#endif /* FTREE_RULES_FACTS_H_INCLUDED */
