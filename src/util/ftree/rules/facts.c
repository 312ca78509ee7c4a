/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/rules/facts.h"

#include <math.h>
#include <string.h>

void ftree_facts_init(struct rules_facts *facts)
{
    memset(facts, 0, sizeof(*facts));
    facts->value[RULES_FACT_DATA] = facts->value[RULES_FACT_MGMT] = RULES_REACH_NO_PATH;
    for (int i = 0; i < RULES_NUMBER_COUNT; i++)
        facts->number[i] = NAN;
}

void ftree_facts_process(struct rules_facts *facts, uint8_t phase, char proc_state, int seen_by)
{
    uint8_t process = RULES_PROCESS_RUNNING;

    if (phase == FTREE_PHASE_GONE || (proc_state && strchr("XxZ", proc_state)))
        process = RULES_PROCESS_GONE;
    else if (proc_state == 'T')
        process = RULES_PROCESS_STOPPED;
    else if (proc_state == 't')
        process = RULES_PROCESS_TRACED;
    else if (proc_state == 'D')
        process = RULES_PROCESS_DISK_SLEEP;
    facts->value[RULES_FACT_PROCESS] = process;
    facts->value[RULES_FACT_SEEN_BY] = (uint8_t) seen_by;
}
