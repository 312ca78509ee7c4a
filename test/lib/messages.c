/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "messages.h"

#include <string.h>

static const int32_t rank_node[MESSAGES_SIZE] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7};
static const int32_t node_first[MESSAGES_NODES + 1] = {0, 2, 4, 6, 8, 10, 12, 14, 16};
static const int32_t node_ranks[MESSAGES_SIZE] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                  8, 9, 10, 11, 12, 13, 14, 15};

static const struct ftree_job job = {.nodes = MESSAGES_NODES,
                                     .size = MESSAGES_SIZE,
                                     .fanout = 2,
                                     .seed = 7,
                                     .has_path = {true, true},
                                     .rank_node = rank_node,
                                     .node_first = node_first,
                                     .node_ranks = node_ranks};

const struct ftree_job *messages_job(void)
{
    return &job;
}

static void fill_ranks(struct ftree_ranks *set)
{
    /* every second rank: as many ranges as there can be */
    for (int32_t r = 0; r < MESSAGES_SIZE; r += 2)
        ftree_verdict_ranks_add(set, r, r);
    set->count = MESSAGES_SIZE; /* some found no room */
}

static void fill_answer(struct wire_answer *a)
{
    static const char states[] = "RSDTtZXxKWPI";

    a->nonce = 77;
    a->role = FTREE_ROLE_DEPUTY;
    a->leaving = true;
    a->asked_phase = FTREE_PHASE_WAITING;
    a->troubles = WIRE_TROUBLES_MAX;
    for (int32_t i = 0; i < a->troubles; i++)
        a->trouble[i] = (struct wire_trouble){.rank = i % MESSAGES_SIZE,
                                              .pid = 4000 + i,
                                              .phase = (uint8_t) (i % FTREE_PHASE_COUNT),
                                              .proc_state = states[i % (int) strlen(states)]};
    fill_ranks(&a->waiting);
}

static void fill_verdict(struct ftree_verdict *v, ftree_time now, enum ftree_rule rule)
{
    ftree_verdict_init(v, rule, 3, FTREE_NONE);
    v->fln = 1;
    v->symptoms = 5;
    v->pid = 4711;
    v->first_symptom = now - 900 * FTREE_MS;
    v->located = now - FTREE_MS;
    v->evidences = FTREE_EVIDENCE_MAX;
    for (int32_t i = 0; i < v->evidences; i++)
        v->evidence[i] = (struct ftree_evidence){.path = (uint8_t) (i % (FTREE_PATHS + 1)),
                                                 .role = (uint8_t) (i % FTREE_ROLES),
                                                 .reach = (uint8_t) (i % FTREE_REACH_COUNT),
                                                 .proc_state = i % 2 ? 'T' : 0,
                                                 .target = 3,
                                                 .by = i % MESSAGES_NODES,
                                                 .error = 11 * i,
                                                 .at = now - (ftree_time) i * FTREE_MS};
    v->candidates = FTREE_CANDIDATE_MAX;
    for (int32_t i = 0; i < v->candidates; i++)
        v->candidate[i] = (struct ftree_candidate){FTREE_CLASS_LINK_FAULT, 100, i % 2 == 0};
    fill_ranks(&v->victims);
}

bool messages_make(int i, ftree_time now, struct wire_message *m)
{
    memset(m, 0, sizeof(*m));
    m->id = 0x01020304u + (uint32_t) i;
    if (i < WIRE_TYPE_COUNT) { /* the smallest of each type */
        m->type = (uint8_t) i;
        if (m->type == WIRE_VERDICT_UP || m->type == WIRE_VERDICT_DOWN)
            m->u.verdict.first_symptom = m->u.verdict.located = now;
        return true;
    }
    switch (i - WIRE_TYPE_COUNT) {
        case 0:
            m->type = WIRE_ACK;
            m->u.ack = UINT32_MAX;
            return true;
        case 1:
            m->type = WIRE_SYMPTOM;
            m->flags = WIRE_FLAG_SUBSTITUTE;
            m->u.symptom =
                (struct wire_symptom){SYMPTOM_SILENT, 3, FTREE_NONE, 5, 9, 1000 * FTREE_MS};
            return true;
        case 2:
            m->type = WIRE_SYMPTOM;
            m->u.symptom = (struct wire_symptom){SYMPTOM_STALL, 7, 15, 1, 1, 0};
            return true;
        case 3:
            m->type = WIRE_PROBE;
            m->u.probe = (struct wire_probe){12, 3, FTREE_NONE, 1000 * FTREE_MS};
            return true;
        case 4:
            m->type = WIRE_ANSWER;
            fill_answer(&m->u.answer);
            return true;
        case 5:
            m->type = WIRE_SWEEP;
            m->u.round = 9;
            return true;
        case 6:
            m->type = WIRE_VERDICT_UP;
            fill_verdict(&m->u.verdict, now, FTREE_RULE_BOTH_PATHS_SILENT);
            return true;
        case 7:
            m->type = WIRE_VERDICT_DOWN;
            fill_verdict(&m->u.verdict, now, FTREE_RULE_STATE_T);
            m->u.verdict.rank = 7;
            return true;
        case 8:
            m->type = WIRE_VICTIMS;
            m->u.victims.class_ = FTREE_CLASS_NODE_OUTAGE;
            m->u.victims.node = 3;
            m->u.victims.rank = FTREE_NONE;
            fill_ranks(&m->u.victims.ranks);
            return true;
        default:
            return false;
    }
}
