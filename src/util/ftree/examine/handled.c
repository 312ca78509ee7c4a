/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/examine/examine.h"

#include "ftree/base/text.h"

#include <stdio.h>

/*
 * Handlers ask services of the site about a suspect that is silent: has its node power, is its switch
 * port up.  They are slow, and may not answer: the window waits for them, so long and no longer, and
 * the suspect is then asked once more, for it may have come back meanwhile.
 */

#define WAITS (6000 * FTREE_MS) /* they themselves take less: this is for a caller that forgets them */

void ftree_handled_ask(struct ftree *ft, ftree_time now, struct suspect *su)
{
    struct handled *h = &su->handled;

    if (h->over || !ft->io->handlers)
        return;
    h->asked = h->over = ft->io->handlers(ft->io_ctx, su->node);
    h->until = now + WAITS;
}

bool ftree_handled_waits(ftree_time now, struct suspect *su, bool *anew)
{
    struct handled *h = &su->handled;

    *anew = false;
    if (h->asked && now < h->until) {
        h->awaited = true;
        su->deadline = h->until;
        return true;
    }
    *anew = h->awaited;
    h->awaited = h->asked = false;
    return *anew;
}

/* ---- what they say --------------------------------------------------------------------------- */

static void take_symptom(uint8_t *power, uint8_t *port, int kind)
{
    static const struct {
        uint8_t kind, power, port;
    } rows[] = {{FTREE_SYMPTOM_POWER_ON, RULES_POWER_ON, 0},
                {FTREE_SYMPTOM_POWER_OFF, RULES_POWER_OFF, 0},
                {FTREE_SYMPTOM_PORT_UP, 0, RULES_PORT_UP},
                {FTREE_SYMPTOM_PORT_DOWN, 0, RULES_PORT_DOWN},
                {FTREE_SYMPTOM_PORT_DISABLED, 0, RULES_PORT_DISABLED}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].kind == kind) {
            *power = rows[i].power ? rows[i].power : *power;
            *port = rows[i].port ? rows[i].port : *port;
        }
}

/* "bmc: fan-failed: fan 2": of later faults it may be the cause. */
static void note_cause(struct ftree *ft, ftree_time at, int32_t node, int symptom, const char *text)
{
    const char *name = ftree_symptom_info(symptom)->name, *words = strstr(text, name);
    struct ftree_symptom s;

    ftree_symptom_init(&s, (enum ftree_symptom_kind) symptom, node, FTREE_NONE, ft->self, at, at);
    words = words ? words + strlen(name) : "";
    words += strspn(words, ": ");
    snprintf(s.detail, sizeof(s.detail), "%s", words);
    ftree_cause_note(ft, &s);
}

void ftree_handler_said(struct ftree *ft, ftree_time now, ftree_time at, int32_t node, int symptom,
                        const char *text)
{
    struct suspect *su = ftree_suspect(ft, node);
    struct handled *h;

    if (!su)
        return;
    h = &su->handled;
    take_symptom(&h->power, &h->port, symptom);
    if (symptom >= 0)
        note_cause(ft, at, node, symptom, text);
    if (h->n == FTREE_HANDLED_MAX)
        return;
    h->said[h->n].at = now;
    snprintf(h->said[h->n].text, sizeof(h->said[h->n].text), "%s", text);
    ftree_text_ascii(h->said[h->n].text);
    ftree_trace(ft, "  of %s %s", ftree_name(ft, node), h->said[h->n].text);
    h->n++;
}

void ftree_handlers_done(struct ftree *ft, ftree_time now, int32_t node)
{
    struct suspect *su = ftree_suspect(ft, node);

    if (!su)
        return;
    su->handled.asked = false;
    if (su->handled.awaited)
        su->deadline = now;
}

/* ---- what it comes to ------------------------------------------------------------------------ */

/* What other software has said of itself is older: what was asked for now counts more. */
void ftree_handled_find(const struct suspect *su, const struct ftree_case *g,
                        struct rules_facts *facts)
{
    uint8_t *power = &facts->value[RULES_FACT_POWER], *port = &facts->value[RULES_FACT_PORT];

    for (int32_t i = 0; g && i < g->symptoms; i++)
        take_symptom(power, port, g->symptom[i].kind);
    if (su->handled.power)
        *power = su->handled.power;
    if (su->handled.port)
        *port = su->handled.port;
}

/* Its BMC, or who asked that before, has spoken. */
static bool power_is_known(const struct suspect *su, const struct ftree_case *g)
{
    struct rules_facts facts = {.value = {0}};

    ftree_handled_find(su, g, &facts);
    return facts.value[RULES_FACT_POWER] != RULES_POWER_NONE;
}

static void add_models(const struct ftree *ft, uint64_t models, char *text, size_t room)
{
    for (int32_t m = 0; m < ft->rules->models; m++)
        if ((models >> m & 1) && ft->rules->model[m].class_ != FTREE_CLASS_UNKNOWN)
            ftree_text_add(text, room, "%s%s", *text ? ", " : "", ft->rules->model[m].name);
}

/* Of a silent node what may have led to it, of which only a BMC could tell; of one that answers what
 * the fault masks. */
void ftree_handled_add_unknown(const struct ftree *ft, const struct suspect *su, int32_t model,
                               struct ftree_verdict *v)
{
    const struct ftree_case *g = ftree_case_find(ft, su->node, su->switch_);
    struct ftree_evidence e = {.source = FTREE_EVIDENCE_UNKNOWN,
                               .path = FTREE_PATHS,
                               .target = su->node,
                               .by = ft->self,
                               .at = v->located};
    uint64_t models = 0;

    if (ftree_facts_answered(su))
        models = ft->rules->model[model].masks & ftree_case_models(g);
    else if (!power_is_known(su, g))
        models = ftree_rules_leading_to(ft->rules, model);
    add_models(ft, models, e.detail, sizeof(e.detail));
    if (!models || !*e.detail)
        return;
    ftree_text_add(e.detail, sizeof(e.detail), " (%s)",
                   ftree_facts_answered(su) ? "cannot be asked" : "no BMC has answered");
    ftree_verdict_add_evidence(v, &e);
}

void ftree_handled_add_evidence(const struct ftree *ft, const struct suspect *su,
                                struct ftree_verdict *v)
{
    for (int32_t i = 0; i < su->handled.n; i++)
        ftree_verdict_add_line(ft, su->handled.said[i].at, FTREE_EVIDENCE_HANDLER, su->node, v, "%s",
                               su->handled.said[i].text);
}
