/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree_inspect.h"

#include "ftree/ftree_int.h"

/*
 * What a handle knows, for those who test it.  Where the parts of a handle change, this file does,
 * and the tests do not.
 */

/* ---- the node and the network ---------------------------------------------------------------- */

int32_t ftree_inspect_parent(const struct ftree *ft, int32_t node)
{
    return ftree_topo_parent(ft->topo, node);
}

int32_t ftree_inspect_root_substitute(const struct ftree *ft, int32_t k)
{
    return ftree_topo_root_substitute(ft->topo, k);
}

struct ftree_inspect_round_trip ftree_inspect_round_trip(const struct ftree *ft)
{
    return (struct ftree_inspect_round_trip){ft->net->srtt, ft->net->rttvar, ft->net->rto};
}

bool ftree_inspect_was_heard(const struct ftree *ft, enum ftree_path path)
{
    return ft->examine->heard[path][0].at > 0;
}

int32_t ftree_inspect_unresponsive(const struct ftree *ft)
{
    int32_t n = 0;

    FTREE_EACH(const struct peer, p, ft->state->peers)
        n += p->unresponsive > 0;
    return n;
}

/* ---- the own ranks --------------------------------------------------------------------------- */

int32_t ftree_inspect_stalls(const struct ftree *ft)
{
    return ft->observe->stalls.n;
}

int32_t ftree_inspect_findings(const struct ftree *ft)
{
    return ft->observe->findings.n;
}

/* ---- symptoms -------------------------------------------------------------------------------- */

uint32_t ftree_inspect_flood_round(const struct ftree *ft)
{
    return ft->intake->flood_round;
}

int32_t ftree_inspect_forwards(const struct ftree *ft)
{
    return ft->intake->forwards.room;
}

int32_t ftree_inspect_cases(const struct ftree *ft)
{
    return ft->state->cases.n;
}

bool ftree_inspect_case(const struct ftree *ft, int32_t node, int32_t switch_,
                        struct ftree_inspect_case *out)
{
    const struct ftree_case *c = ftree_case_find(ft, node, switch_);

    if (c && out)
        *out = (struct ftree_inspect_case){.first = c->first,
                                           .count = c->count,
                                           .symptoms = c->symptoms,
                                           .candidates = c->candidates,
                                           .chain = c->chain,
                                           .doubtful = c->state == CASE_DOUBTFUL,
                                           .again = c->state == CASE_AGAIN};
    return c != NULL;
}

bool ftree_inspect_symptom(const struct ftree *ft, int32_t node, enum ftree_symptom_kind kind,
                           struct ftree_symptom *out)
{
    const struct ftree_case *c = ftree_case_find(ft, node, FTREE_NONE);

    for (int32_t i = 0; c && i < c->symptoms; i++)
        if (c->symptom[i].kind == kind) {
            if (out)
                *out = c->symptom[i];
            return true;
        }
    return false;
}

int ftree_inspect_prior(const struct ftree *ft, int32_t node, const char *model)
{
    const struct ftree_case *c = ftree_case_find(ft, node, FTREE_NONE);

    for (int32_t i = 0; c && i < c->candidates; i++)
        if (c->candidate[i].model == ftree_rules_model(ft->rules, model))
            return c->candidate[i].prior;
    return 0;
}

/* ---- questions ------------------------------------------------------------------------------- */

int32_t ftree_inspect_suspects(const struct ftree *ft)
{
    int32_t n = 0;

    FTREE_EACH_SUSPECT(su, ft)
        n++;
    return n;
}

bool ftree_inspect_is_suspect(const struct ftree *ft, int32_t node)
{
    return ftree_suspect(ft, node) != NULL;
}

bool ftree_inspect_suspect(const struct ftree *ft, int32_t node, struct ftree_inspect_suspect *out)
{
    const struct suspect *su = ftree_suspect(ft, node);

    if (!su || !out)
        return su != NULL;
    *out = (struct ftree_inspect_suspect){.question = su->nonce,
                                          .tries = su->tries,
                                          .until = su->deadline,
                                          .waits = su->waits,
                                          .has_log = su->has_log,
                                          .named = su->deputy_word.rank};
    for (int path = 0; path < FTREE_PATHS; path++)
        for (int role = 0; role < FTREE_ROLES; role++) {
            out->reach[path][role] = su->reach[path][role];
            out->error[path][role] = su->error[path][role];
        }
    return true;
}

uint32_t ftree_inspect_question(const struct ftree *ft, int32_t node)
{
    const struct suspect *su = ftree_suspect(ft, node);

    return su ? su->nonce : 0;
}

bool ftree_inspect_facts(const struct ftree *ft, int32_t node, bool at_end, struct rules_facts *out)
{
    const struct suspect *su = ftree_suspect(ft, node);

    if (su)
        ftree_facts_find(ft, su, at_end, out);
    return su != NULL;
}

bool ftree_inspect_evidence(const struct ftree *ft, ftree_time now, int32_t node,
                            struct ftree_verdict *v)
{
    const struct suspect *su = ftree_suspect(ft, node);

    if (su)
        ftree_facts_add_evidence(ft, now, su, v);
    return su != NULL;
}

int32_t ftree_inspect_neighbours(const struct ftree *ft)
{
    return ft->examine->neighbours.n;
}

bool ftree_inspect_neighbour(const struct ftree *ft, int32_t node,
                             struct ftree_inspect_neighbour *out)
{
    FTREE_EACH(const struct neighbour, nb, ft->examine->neighbours)
        if (nb->node == node) {
            if (out)
                *out = (struct ftree_inspect_neighbour){nb->nonce,
                                                        nb->asked,
                                                        nb->heard[FTREE_PATH_DATA] > 0,
                                                        {nb->seen[0], nb->seen[1]}};
            return true;
        }
    return false;
}

int32_t ftree_inspect_helpers(const struct ftree *ft, int32_t max, int32_t *node, int32_t *far)
{
    for (int32_t i = 0; i < ft->examine->helpers && i < max; i++)
        node[i] = ft->examine->helper[i];
    if (far)
        *far = ft->examine->helpers_far;
    return ft->examine->helpers;
}

int32_t ftree_inspect_indirect_probes(const struct ftree *ft)
{
    return ft->examine->indirect_probes.n;
}

/* ---- verdicts -------------------------------------------------------------------------------- */

int32_t ftree_inspect_verdicts(const struct ftree *ft)
{
    return ft->state->known.n;
}

static enum ftree_inspect_up up(const struct announcing *a)
{
    static const uint8_t names[] = {[UP_NOTHING] = FTREE_INSPECT_UP_NOTHING,
                                    [UP_HELD] = FTREE_INSPECT_UP_HELD,
                                    [UP_PENDING] = FTREE_INSPECT_UP_PENDING,
                                    [UP_SENT] = FTREE_INSPECT_UP_SENT};

    return (enum ftree_inspect_up) names[a->up];
}

bool ftree_inspect_verdict(const struct ftree *ft, int32_t i, struct ftree_inspect_verdict *out)
{
    const struct announcing *a;
    const struct known *k;

    if (i < 0 || i >= ft->state->known.n)
        return false;
    k = &ft->state->known.items[i];
    a = ftree_announcing(ft, k);
    if (out)
        *out = (struct ftree_inspect_verdict){.node = k->v.node,
                                              .switch_ = k->v.switch_,
                                              .fln = k->v.fln,
                                              .id = k->v.id,
                                              .withdrawn = k->v.withdrawn,
                                              .up = up(a),
                                              .announced = a->announced,
                                              .is_whole = k->full != NULL,
                                              .gathers = a->announcement != 0,
                                              .parts = k->cuts,
                                              .is_rechecked = k->recheck && k->recheck->again != FTREE_NEVER,
                                              .recheck = k->recheck ? k->recheck->again : FTREE_NEVER,
                                              .question = k->recheck ? k->recheck->check : 0};
    return true;
}

bool ftree_inspect_knows(const struct ftree *ft, int32_t node, int32_t fln, uint32_t id)
{
    return ftree_verdict_by_id(ft, &(struct summary){.node = node, .fln = fln, .id = id}) != NULL;
}

int32_t ftree_inspect_rule_names(const struct ftree *ft)
{
    return ft->state->rule_names.n;
}

int32_t ftree_inspect_queued(const struct ftree *ft)
{
    return ft->announce->queued;
}

ftree_time ftree_inspect_announces_at(const struct ftree *ft)
{
    return ft->announce->next_at;
}

ftree_time ftree_inspect_announce_pause(const struct ftree *ft)
{
    return ft->announce->pause;
}

int32_t ftree_inspect_announcements(const struct ftree *ft)
{
    int32_t n = 0;

    SURVEY_EACH(r, ft, SURVEY_VICTIMS)
        n++;
    return n;
}

int32_t ftree_inspect_owed(const struct ftree *ft)
{
    int32_t n = 0;

    SURVEY_EACH(r, ft, SURVEY_VICTIMS)
        n += r->due.n;
    return n;
}

uint32_t ftree_inspect_owes(const struct ftree *ft, int32_t node)
{
    SURVEY_EACH(r, ft, SURVEY_VICTIMS)
        FTREE_EACH(const struct survey_due, d, r->due)
            if (d->node == node)
                return d->number;
    return 0;
}

/* ---- what waits to be acknowledged ----------------------------------------------------------- */

int32_t ftree_inspect_outbox(const struct ftree *ft)
{
    return ft->net->outbox.n;
}

int32_t ftree_inspect_outbox_to(const struct ftree *ft, int32_t node)
{
    int32_t n = 0;

    FTREE_EACH(const struct message, m, ft->net->outbox)
        n += m->to == node;
    return n;
}

bool ftree_inspect_message(const struct ftree *ft, int32_t i, struct ftree_inspect_message *out)
{
    const struct message *m;

    if (i < 0 || i >= ft->net->outbox.n)
        return false;
    m = &ft->net->outbox.items[i];
    if (out)
        *out = (struct ftree_inspect_message){.to = m->to,
                                              .id = m->id,
                                              .tries = m->tries,
                                              .bytes = m->payload->bytes,
                                              .len = m->payload->len};
    return true;
}
