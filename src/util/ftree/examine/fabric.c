/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/base/event.h"
#include "ftree/base/text.h"
#include "ftree/examine/examine.h"

#include <stdio.h>
#include <string.h>

/*
 * The fabric path: does the library that ranks' data go by (UCX, libfabric) bring a message from one node to
 * another, and one back?  Agents talk over TCP, which may pass on a network on which that does not.
 * It is asked where a rank has waited for some seconds for a node that is well.  Three lines are asked at
 * the same time:
 *
 *     reporter --> suspect      the one on which data do not move
 *     reporter --> third        whether the reporter's end is well,
 *     third    --> suspect      and the suspect's; the third is this node, or one that can help
 *
 * Of a line, A --> B, A's agent is asked (ASK), and has B's open an end of its own (OPEN, ADDRESS); then it
 * sends a message there, and awaits its echo.  Where none comes it asks B whether its end was there all
 * the time (CLOSE, OVER): else that says nothing.  What comes of it, it says (SAID).
 *
 * Of the first line (ASK_WAIT) the reporter asks only while a rank of it waits for one of the suspect, and
 * has all the time: else it says that it is idle, at once or when that wait ends, and whatever was found
 * is void.
 *
 * As long as such a verdict stands they are repeated: it is over when the first line passes or is idle, or
 * could not be asked for some rounds, and when the node that asked is lost.  The action abort never ends
 * a job because of it: who ends it could ask nobody once more before.
 *
 * The processes that do it are the caller's; here are the questions and what they come to.  A host that
 * is silent to two others makes a verdict, and one that is to one if a second round comes to the same; a
 * round that is well rests the question for some time.
 */

#define WAITED (2000 * FTREE_MS) /* before anybody is asked */
#define OPENS (5000 * FTREE_MS) /* an end, for so long, is announced to others: what is left is for them */
#define HELD (4000 * FTREE_MS) /* in the time of a silence its other end had not the CPU */
#define ROUND (12000 * FTREE_MS) /* what has not come by then does not */
#define ASK (11000 * FTREE_MS) /* the same of one line: to open, to ask, to close */
#define AGAIN (300 * FTREE_MS) /* a message that was lost is sent again */
#define TRIES 3 /* rounds, where one could not be asked or is to be confirmed */
#define RESTS (10000 * FTREE_MS) /* a suspect that passes is not asked about, */
#define RESTS_MOST (600000 * FTREE_MS) /* and longer each time */
#define LIVES 2 /* signs of life: the first may be older than the question */
#define STANDS_MOST (64000 * FTREE_MS) /* as long at most until it is asked whether a verdict is over, */
#define NONE_MOST 3 /* and so often in vain: then it is; */
#define IDLES (1000 * FTREE_MS) /* or if no rank waits, so long after that was said */
#define ROUNDS_MAX 64 /* suspects, of which some rest */
#define ASKS_MAX 4 /* lines that this node asks at the same time, */
#define LISTENS_MAX 16 /* nodes that ask it, */
#define WAITS_MAX 16 /* and those that ask because of own ranks */

const char *ftree_fabric_name(int says)
{
    static const char *const names[] = {"none", "passes", "silent", "idle"};

    return says >= 0 && says < FTREE_FABRIC_COUNT ? names[says] : "?";
}

static void send(struct ftree *ft, ftree_time now, int32_t to, uint8_t step, uint32_t nonce,
                 int32_t node, uint8_t says, uint32_t us, const void *bytes, size_t len)
{
    struct wire_message m = {
        .type = WIRE_FABRIC,
        .u.fabric = {.step = step, .nonce = nonce, .node = node, .says = says, .us = us,
                     .bytes = bytes, .len = len}};

    ftree_send_all_paths(ft, now, &(struct ftree_route){.node = to}, &m);
}

/* ---- who is asked to listen -------------------------------------------------------------------- */

static struct fabric_listen *find_listen(const struct ftree *ft, int32_t node, uint32_t nonce)
{
    return FTREE_FIND(struct fabric_listen, l, ftree_rare(ft)->listens,
                      l->node == node && l->nonce == nonce);
}

static void say_over(struct ftree *ft, ftree_time now, const struct fabric_listen *l, uint8_t says,
                     const char *why)
{
    send(ft, now, l->node, WIRE_FABRIC_OVER, l->nonce, ft->self, says, 0, why, strlen(why));
}

static void send_address(struct ftree *ft, ftree_time now, int32_t to, uint32_t nonce)
{
    const struct ftree_bytes *address = &ftree_rare(ft)->address;

    send(ft, now, to, WIRE_FABRIC_ADDRESS, nonce, ft->self, 0, 0, address->items,
         (size_t) address->n);
}

/* One process listens for all.  Who comes late is refused: another process may have that address when it
 * is asked there. */
static void open_end(struct ftree *ft, ftree_time now, int32_t from, uint32_t nonce)
{
    struct rare *x = ftree_rare(ft);
    struct fabric_listen *l = find_listen(ft, from, nonce), refused = {.node = from, .nonce = nonce};

    if (l && x->address.n > 0)
        send_address(ft, now, from, nonce);
    if (l) /* it came over both paths */
        return;
    if (ftree_is_leaving(ft) || x->listens.n == LISTENS_MAX || (x->address.n > 0 && now >= x->full) ||
        (x->listens.n == 0 && x->address.n == 0 &&
         !(ft->io->fabric_listen && ft->io->fabric_listen(ft->io_ctx)))) {
        say_over(ft, now, &refused, FTREE_FABRIC_NONE, "not available there");
        return;
    }
    if (!FTREE_ADD(ft, x->listens, refused))
        return;
    if (x->address.n > 0)
        send_address(ft, now, from, nonce);
}

void ftree_fabric_listens(struct ftree *ft, ftree_time now, const uint8_t *address, size_t len)
{
    struct rare *x = ftree_rare(ft);

    if (!ft->examine->rare || len == 0 || len > FTREE_FABRIC_BYTES || x->address.n > 0 ||
        !FTREE_RESERVE(ft, x->address, (int32_t) len))
        return;
    memcpy(x->address.items, address, len);
    x->address.n = (int32_t) len;
    x->full = now + OPENS;
    FTREE_EACH(struct fabric_listen, l, x->listens)
        send_address(ft, now, l->node, l->nonce);
}

void ftree_fabric_alive(struct ftree *ft, ftree_time now, bool held)
{
    struct rare *x = ftree_rare(ft);

    if (held && ft->examine->rare)
        x->held = now;
    for (int32_t i = x->listens.n - 1; i >= 0; i--)
        if (x->listens.items[i].closes && (held || --x->listens.items[i].closes == 0)) {
            say_over(ft, now, &x->listens.items[i], held ? FTREE_FABRIC_NONE : FTREE_FABRIC_PASSES,
                     held ? "was held up itself" : "");
            FTREE_DROP(x->listens, i);
        }
}

void ftree_fabric_closed(struct ftree *ft, ftree_time now, const char *why)
{
    FTREE_EACH(struct fabric_listen, l, ftree_rare(ft)->listens)
        say_over(ft, now, l, FTREE_FABRIC_NONE, why);
    ftree_rare(ft)->listens.n = 0;
    ftree_alloc(ft, ftree_rare(ft)->address.items, 0);
    memset(&ftree_rare(ft)->address, 0, sizeof(ftree_rare(ft)->address));
}

static void close_end(struct ftree *ft, ftree_time now, int32_t from, uint32_t nonce)
{
    struct rare *x = ftree_rare(ft);
    struct fabric_listen *l = find_listen(ft, from, nonce), gone = {.node = from, .nonce = nonce};

    if (!l) {
        say_over(ft, now, &gone, FTREE_FABRIC_NONE, "its end has ended");
    } else if (x->held && now - x->held < HELD) {
        say_over(ft, now, &gone, FTREE_FABRIC_NONE, "was held up itself");
        FTREE_DROP(x->listens, (int32_t) (l - x->listens.items));
    } else {
        l->closes = l->closes ? l->closes : LIVES;
    }
}

/* ---- who asks ---------------------------------------------------------------------------------- */

static void take_line(struct ftree *ft, ftree_time now, int32_t from, int32_t target,
                      uint32_t nonce, uint8_t says, uint32_t us, const char *why);

/* What came of it, to who wants to know. */
static void answer(struct ftree *ft, ftree_time now, int32_t from, uint32_t nonce, int32_t target,
                   uint8_t says, uint32_t us, const char *why)
{
    if (from == ft->self)
        take_line(ft, now, from, target, nonce, says, us, why);
    else
        send(ft, now, from, WIRE_FABRIC_SAID, nonce, target, says, us, why, strlen(why));
}

/* `why` is no part of `a`. */
static void end_ask(struct ftree *ft, ftree_time now, struct fabric_ask *a, uint8_t says,
                    const char *why)
{
    const struct fabric_ask ended = *a;

    FTREE_DROP(ftree_rare(ft)->asks, (int32_t) (a - ftree_rare(ft)->asks.items));
    ftree_trace(ft, "  fabric to %s: %s%s%s", ftree_name(ft, ended.target),
                ftree_fabric_name(says), *why ? ", " : "", why);
    answer(ft, now, ended.from, ended.their_nonce, ended.target, says, ended.us, why);
}

/* That it opens its end, or closes it. */
static void tell(struct ftree *ft, ftree_time now, struct fabric_ask *a)
{
    a->again = now + AGAIN;
    send(ft, now, a->target, a->silent ? WIRE_FABRIC_CLOSE : WIRE_FABRIC_OPEN, a->nonce, a->target,
         0, 0, NULL, 0);
}

static void begin_ask(struct ftree *ft, ftree_time now, int32_t from, uint32_t nonce,
                      int32_t target)
{
    struct fabric_ask *a;
    bool known = FTREE_ANY(struct fabric_ask, k, ftree_rare(ft)->asks,
                           k->from == from && k->their_nonce == nonce && k->target == target);

    if (known || target == ft->self)
        return;
    a = !ft->io->fabric_ask || ftree_is_leaving(ft) || ftree_rare(ft)->asks.n == ASKS_MAX
            ? NULL
            : FTREE_PUSH(ft, ftree_rare(ft)->asks);
    if (!a) {
        answer(ft, now, from, nonce, target, FTREE_FABRIC_NONE, 0, "");
        return;
    }
    *a = (struct fabric_ask){.from = from,
                             .their_nonce = nonce,
                             .nonce = ++ft->next_id,
                             .target = target,
                             .until = now + ASK};
    tell(ft, now, a);
}

/* Only as long as an own rank waits.  That is watched from now on, until it is over or another round of
 * the same suspect is asked. */
static void begin_wait(struct ftree *ft, ftree_time now, int32_t from, uint32_t nonce, int32_t target)
{
    struct rare *x = ftree_rare(ft);
    struct fabric_wait *w = FTREE_FIND(struct fabric_wait, k, x->waits,
                                       k->from == from && k->target == target);
    const ftree_time since = now > WAITED ? now - WAITED : 0;

    if (w && w->nonce == nonce) /* it came over both paths */
        return;
    if (!ft->examine->waits_for(ft, target, since)) {
        answer(ft, now, from, nonce, target, FTREE_FABRIC_IDLE, 0, "");
        return;
    }
    if (!w && (x->waits.n == WAITS_MAX || !(w = FTREE_PUSH(ft, x->waits)))) {
        answer(ft, now, from, nonce, target, FTREE_FABRIC_NONE, 0, "");
        return;
    }
    *w = (struct fabric_wait){.from = from, .target = target, .nonce = nonce, .since = since};
    begin_ask(ft, now, from, nonce, target);
}

void ftree_fabric_resumed(struct ftree *ft, ftree_time now)
{
    struct rare *x = ftree_rare(ft);

    for (int32_t i = x->waits.n - 1; i >= 0; i--) {
        const struct fabric_wait w = x->waits.items[i];
        if (ft->examine->waits_for(ft, w.target, w.since))
            continue;
        FTREE_DROP(x->waits, i);
        answer(ft, now, w.from, w.nonce, w.target, FTREE_FABRIC_IDLE, 0, "");
    }
}

static void read_why(const struct wire_fabric *w, char why[FTREE_FABRIC_WHY])
{
    snprintf(why, FTREE_FABRIC_WHY, "%.*s", (int) ftree_min(w->len, FTREE_FABRIC_WHY - 1),
             w->len > 0 ? (const char *) w->bytes : "");
    ftree_text_ascii(why);
}

static struct fabric_ask *find_ask(const struct ftree *ft, uint32_t nonce)
{
    return FTREE_FIND(struct fabric_ask, a, ftree_rare(ft)->asks, a->nonce == nonce);
}

static void take_address(struct ftree *ft, ftree_time now, int32_t from,
                         const struct wire_fabric *w)
{
    struct fabric_ask *a = find_ask(ft, w->nonce);
    uint8_t end[FABRIC_END] = {0};

    memcpy(end, w->bytes, ftree_min(w->len, sizeof(end)));
    if (!a || a->target != from)
        return;
    if (a->asked) {
        if (memcmp(a->end, end, sizeof(end))) /* of another process, which cannot speak for the one that was asked */
            end_ask(ft, now, a, FTREE_FABRIC_NONE, "its end has ended");
        return;
    }
    a->asked = true;
    memcpy(a->end, end, sizeof(end));
    a->again = FTREE_NEVER;
    if (!ft->io->fabric_ask(ft->io_ctx, a->nonce, w->bytes, w->len))
        end_ask(ft, now, a, FTREE_FABRIC_NONE, "not available");
}

/* Silence counts once the other end has said that it was there. */
void ftree_fabric_asked(struct ftree *ft, ftree_time now, uint32_t nonce, enum ftree_fabric says,
                       uint32_t us, const char *why)
{
    struct fabric_ask *a = find_ask(ft, nonce);

    if (!a)
        return;
    a->us = us;
    if (says != FTREE_FABRIC_SILENT) {
        end_ask(ft, now, a, (uint8_t) says, why);
        return;
    }
    a->silent = true;
    ftree_text_copy(a->why, sizeof(a->why), why);
    tell(ft, now, a);
}

static void take_over(struct ftree *ft, ftree_time now, int32_t from, const struct wire_fabric *w)
{
    struct fabric_ask *a = find_ask(ft, w->nonce);
    char why[FTREE_FABRIC_WHY];

    if (!a || a->target != from || (w->says == FTREE_FABRIC_PASSES && !a->silent))
        return;
    if (w->says == FTREE_FABRIC_PASSES)
        ftree_text_copy(why, sizeof(why), a->why);
    else
        read_why(w, why);
    end_ask(ft, now, a, w->says == FTREE_FABRIC_PASSES ? FTREE_FABRIC_SILENT : FTREE_FABRIC_NONE, why);
}

/* ---- rounds ------------------------------------------------------------------------------------ */

enum { TO_SUSPECT, TO_THIRD, FROM_THIRD };

static void ask_line(struct ftree *ft, ftree_time now, const struct fabric_round *r, int line)
{
    int32_t asker = line == FROM_THIRD ? r->third : r->reporter;
    int32_t target = line == TO_THIRD ? r->third : r->suspect;

    if (asker != ft->self)
        send(ft, now, asker, line == TO_SUSPECT ? WIRE_FABRIC_ASK_WAIT : WIRE_FABRIC_ASK, r->nonce, target,
             0, 0, NULL, 0);
    else if (line == TO_SUSPECT)
        begin_wait(ft, now, ft->self, r->nonce, target);
    else
        begin_ask(ft, now, ft->self, r->nonce, target);
}

static void begin_round(struct ftree *ft, ftree_time now, struct fabric_round *r)
{
    r->nonce = ++ft->next_id;
    r->until = now + ROUND;
    r->tries++;
    memset(r->line, 0, sizeof(r->line));
    r->waits = 7;
    ftree_trace(ft, "  asks for the fabric between %s, %s and %s", ftree_name(ft, r->reporter),
                ftree_name(ft, r->suspect), ftree_name(ft, r->third));
    for (int line = TO_SUSPECT; line <= FROM_THIRD && r->waits; line++) /* it may be over by the first */
        ask_line(ft, now, r, line);
}

/* This node, or another one that is well. */
static int32_t find_third(const struct ftree *ft, ftree_time now, int32_t suspect, int32_t reporter)
{
    int32_t looks = FTREE_LOOKS, far = 0, other = ftree_topo_parent(ft->topo, ft->self);

    if (ft->self != reporter)
        return ft->self;
    if (other != FTREE_NONE && other != suspect && ftree_can_help(ft, now, other))
        return other;
    return ftree_helper(ft, now, ft->self, &far, &looks, suspect);
}

static bool is_known(const struct ftree *ft, int32_t node)
{
    FTREE_EACH_STANDING(k, ft, node)
        return true;
    return ftree_has_failed(ft, node);
}

/* The own verdict because of which the round is repeated; NULL: it stands no more. */
static const struct known *find_verdict(const struct ftree *ft, const struct fabric_round *r)
{
    if (!r->stands)
        return NULL;
    FTREE_EACH_STANDING(k, ft, r->about)
        if (k->v.fln == ft->self && ftree_verdict_needs(ft, &k->v, RULES_FACT_FABRIC))
            return k;
    return NULL;
}

/* Of which nobody has asked since its rest, for as long again: how long that was need not be known. */
static void drop_one(struct ftree *ft, ftree_time now)
{
    FTREE_EACH(struct fabric_round, r, ftree_rare(ft)->rounds)
        if (!r->waits && r->until + r->rests <= now && !find_verdict(ft, r)) {
            FTREE_DROP(ftree_rare(ft)->rounds, (int32_t) (r - ftree_rare(ft)->rounds.items));
            return;
        }
}

/* In a chain the last link is asked: whose own ranks wait. */
static const struct ftree_symptom *find_stall(const struct ftree_case *g)
{
    for (int32_t i = 0; g && i < g->symptoms; i++)
        if (g->symptom[i].kind == FTREE_SYMPTOM_PEER_STALL)
            return &g->symptom[i];
    return NULL;
}

void ftree_fabric_after(struct ftree *ft, ftree_time now, const struct suspect *su)
{
    int32_t node = su->node, third;
    const struct ftree_symptom *s = find_stall(ftree_case_find(ft, node, FTREE_NONE));
    struct fabric_round *r =
        FTREE_FIND(struct fabric_round, k, ftree_rare(ft)->rounds, k->suspect == node);

    if (!ft->io->fabric_ask || !s || now - s->first < WAITED || s->reporter[0] == node ||
        is_known(ft, node) || is_known(ft, s->reporter[0]) ||
        ftree_verdict_between(ft, node, s->reporter[0]) ||
        (r && (r->waits || now < r->until || find_verdict(ft, r))) || !ftree_has_rare(ft) ||
        (third = find_third(ft, now, node, s->reporter[0])) == FTREE_NONE)
        return;
    if (!r && ftree_rare(ft)->rounds.n == ROUNDS_MAX)
        drop_one(ft, now);
    if (!r && (ftree_rare(ft)->rounds.n == ROUNDS_MAX || !(r = FTREE_PUSH(ft, ftree_rare(ft)->rounds))))
        return;
    r->suspect = node;
    r->reporter = s->reporter[0];
    r->first = s->first;
    r->third = third;
    r->came_to = RULES_FABRIC_NONE;
    r->stands = r->idle = false;
    r->nones = r->tries = 0;
    begin_round(ft, now, r);
}

/* ---- what they come to ------------------------------------------------------------------------- */

/* The fact, and of whom.  Where no line passes it may be the program that asks: ranks may have variables
 * that it does not know. */
static uint8_t judge(const struct fabric_round *r, int32_t *node)
{
    bool here = r->line[TO_THIRD].says == FTREE_FABRIC_PASSES;
    bool there = r->line[FROM_THIRD].says == FTREE_FABRIC_PASSES;

    *node = r->suspect;
    if (r->line[TO_SUSPECT].says != FTREE_FABRIC_SILENT || (!here && !there))
        return RULES_FABRIC_NONE;
    if (r->line[here ? FROM_THIRD : TO_THIRD].says != FTREE_FABRIC_SILENT)
        return RULES_FABRIC_BETWEEN;
    *node = here ? r->suspect : r->reporter;
    return RULES_FABRIC_SILENT;
}

/* One could not be asked, and would not say that it is well anyway. */
static bool is_open(const struct fabric_round *r)
{
    uint8_t says = r->line[TO_SUSPECT].says;

    return says == FTREE_FABRIC_NONE ||
           (says == FTREE_FABRIC_SILENT && (r->line[TO_THIRD].says == FTREE_FABRIC_NONE ||
                                            r->line[FROM_THIRD].says == FTREE_FABRIC_NONE));
}

static void add_line(const struct ftree *ft, ftree_time now, const struct fabric_round *r, int line,
                     struct ftree_verdict *v)
{
    int32_t asker = line == FROM_THIRD ? r->third : r->reporter;
    int32_t target = line == TO_THIRD ? r->third : r->suspect;
    const struct fabric_line *l = &r->line[line];
    char took[32] = "";

    if (l->says == FTREE_FABRIC_PASSES)
        snprintf(took, sizeof(took), ", %u us there and back", (unsigned) l->us);
    ftree_verdict_add_line(ft, now, FTREE_EVIDENCE_FABRIC, target, v, "fabric (%.24s), %.26s to %.26s: %s%s%s%s",
                           ft->io->fabric_name ? ft->io->fabric_name(ft->io_ctx) : "UCX", ftree_name(ft, asker), ftree_name(ft, target),
                           l->says == FTREE_FABRIC_NONE ? "could not be asked"
                                                        : ftree_fabric_name(l->says),
                           took, *l->why ? ", " : "", l->why);
}

/* False: it is known, of that node or another. */
static bool conclude(struct ftree *ft, ftree_time now, const struct fabric_round *r)
{
    const struct rules_sign *sign;
    struct rules_facts facts;
    struct ftree_verdict v;
    int32_t model, node;

    ftree_rules_no_facts(&facts);
    facts.value[RULES_FACT_FABRIC] = judge(r, &node);
    sign = ftree_rules_decide_at_end(ft->rules, &facts, UINT64_MAX, &model);
    if (!sign || is_known(ft, r->suspect) || is_known(ft, r->reporter) ||
        ftree_verdict_between(ft, r->suspect, r->reporter))
        return false;
    ftree_verdict_init(ft, now, &v, sign, ft->rules->model[model].class_, node, FTREE_NONE);
    v.first_symptom = ftree_min(r->first, now);
    v.holds_back = FTREE_HOLDS_FOR_EVER;
    for (int line = TO_SUSPECT; line <= FROM_THIRD; line++)
        add_line(ft, now, r, line, &v);
    ftree_emit_verdict(ft, &v);
    return true;
}

/* Longer each time that it is well. */
static void rest(ftree_time now, struct fabric_round *r, ftree_time most)
{
    bool longer = r->line[TO_SUSPECT].says != FTREE_FABRIC_NONE && r->rests > 0;

    r->rests = ftree_min(longer ? 2 * r->rests : ftree_max(r->rests, RESTS), most);
    r->waits = 0;
    r->until = now + r->rests;
}

/* Why it is; NULL: it is not. */
static const char *why_over(struct fabric_round *r)
{
    const uint8_t says = r->line[TO_SUSPECT].says;
    const bool was_idle = r->idle;

    r->nones = says == FTREE_FABRIC_NONE ? (uint8_t) (r->nones + 1) : 0;
    r->idle = says == FTREE_FABRIC_IDLE;
    return says == FTREE_FABRIC_PASSES ? "messages pass there again"
           : was_idle && r->idle       ? "nobody waits for it any more"
           : r->nones == NONE_MOST     ? "the fabric could not be asked any more"
                                       : NULL;
}

/* Data may pass again.  Ranks that are ended together with their job wait no more, either: so who is
 * idle is asked once more, if it still lives. */
static bool look_again(struct ftree *ft, ftree_time now, struct fabric_round *r)
{
    const struct known *k = find_verdict(ft, r);
    const char *why;

    if (!k)
        return false;
    if ((why = why_over(r)))
        ftree_emit_over(ft, k->v.node, k->v.fln, k->v.id, "%s", why);
    rest(now, r, STANDS_MOST);
    if (r->idle)
        r->until = now + IDLES;
    return true;
}

/* Two lines that are silent beside one that passes are enough; one line is asked once more. */
static bool is_sure(const struct fabric_round *r, uint8_t now_it_is, int32_t node)
{
    return now_it_is == RULES_FABRIC_SILENT ||
           (now_it_is != RULES_FABRIC_NONE && now_it_is == r->came_to && node == r->about);
}

static void end_round(struct ftree *ft, ftree_time now, struct fabric_round *r)
{
    int32_t node;
    uint8_t now_it_is = judge(r, &node);
    bool sure = is_sure(r, now_it_is, node);

    if (look_again(ft, now, r))
        return;
    r->came_to = now_it_is;
    r->about = node;
    if (!sure && r->tries < TRIES && (now_it_is != RULES_FABRIC_NONE || is_open(r))) {
        begin_round(ft, now, r);
        return;
    }
    r->stands = sure && conclude(ft, now, r);
    rest(now, r, RESTS_MOST);
}

/* The acting root withdraws what a lost node would: where ranks still wait another one asks. */
void ftree_fabric_learned(struct ftree *ft)
{
    if (!ftree_route_is_root(ft))
        return;
    FTREE_EACH(const struct known, k, ft->state->known)
        if (!k->v.withdrawn && k->v.fln != ft->self && ftree_has_failed(ft, k->v.fln) &&
            ftree_verdict_needs(ft, &k->v, RULES_FACT_FABRIC))
            ftree_emit_over(ft, k->v.node, k->v.fln, k->v.id, "the node that asked is lost");
}

static int line_of(const struct fabric_round *r, int32_t asker, int32_t target)
{
    return asker == r->third ? FROM_THIRD : target == r->third ? TO_THIRD : TO_SUSPECT;
}

static void take_line(struct ftree *ft, ftree_time now, int32_t from, int32_t target,
                      uint32_t nonce, uint8_t says, uint32_t us, const char *why)
{
    struct fabric_round *r =
        FTREE_FIND(struct fabric_round, k, ftree_rare(ft)->rounds, k->nonce == nonce);
    int i;

    if (!r || (from != r->reporter && from != r->third) ||
        (target != r->suspect && target != r->third))
        return;
    i = line_of(r, from, target);
    if (i == TO_SUSPECT && says == FTREE_FABRIC_IDLE && (r->waits || (!r->idle && find_verdict(ft, r))))
        r->waits = 1u << i; /* whatever the others would say; it comes over both paths */
    if (!(r->waits >> i & 1))
        return;
    r->waits &= (uint8_t) ~(1u << i);
    r->line[i].says = says;
    r->line[i].us = us;
    ftree_text_copy(r->line[i].why, sizeof(r->line[i].why), why);
    if (!r->waits)
        end_round(ft, now, r);
}

/* ---- what comes, and time ---------------------------------------------------------------------- */

void ftree_fabric(struct ftree *ft, ftree_time now, int32_t from, const struct wire_fabric *w)
{
    char why[FTREE_FABRIC_WHY];

    if (!ftree_has_rare(ft))
        return;
    switch (w->step) {
        case WIRE_FABRIC_ASK:
            begin_ask(ft, now, from, w->nonce, w->node);
            break;
        case WIRE_FABRIC_ASK_WAIT:
            begin_wait(ft, now, from, w->nonce, w->node);
            break;
        case WIRE_FABRIC_OPEN:
            open_end(ft, now, from, w->nonce);
            break;
        case WIRE_FABRIC_ADDRESS:
            take_address(ft, now, from, w);
            break;
        case WIRE_FABRIC_CLOSE:
            close_end(ft, now, from, w->nonce);
            break;
        case WIRE_FABRIC_OVER:
            take_over(ft, now, from, w);
            break;
        case WIRE_FABRIC_SAID:
            read_why(w, why);
            take_line(ft, now, from, w->node, w->nonce, w->says, w->us, why);
            break;
    }
}

/* One is over at a time: it may begin others. */
static bool end_late(struct ftree *ft, ftree_time now)
{
    FTREE_EACH(struct fabric_ask, a, ftree_rare(ft)->asks)
        if (a->until <= now) {
            end_ask(ft, now, a, FTREE_FABRIC_NONE, "no answer");
            return true;
        }
    FTREE_EACH(struct fabric_round, r, ftree_rare(ft)->rounds)
        if (r->until <= now && (r->waits || find_verdict(ft, r))) {
            if (r->waits)
                end_round(ft, now, r);
            else
                begin_round(ft, now, r);
            return true;
        }
    return false;
}

void ftree_fabric_tick(struct ftree *ft, ftree_time now)
{
    while (!ftree_events_wait(ft) && end_late(ft, now))
        ;
    FTREE_EACH(struct fabric_ask, a, ftree_rare(ft)->asks)
        if (a->again <= now)
            tell(ft, now, a);
}

ftree_time ftree_fabric_deadline(const struct ftree *ft)
{
    return ftree_min(FTREE_EARLIEST(struct fabric_ask, a, ftree_rare(ft)->asks,
                                    ftree_min(a->again, a->until)),
                     FTREE_EARLIEST(struct fabric_round, r, ftree_rare(ft)->rounds,
                                    r->waits || find_verdict(ft, r) ? r->until : FTREE_NEVER));
}

void ftree_fabric_stop(struct ftree *ft)
{
    struct rare *x = ftree_rare(ft);

    x->asks.n = x->rounds.n = x->listens.n = x->waits.n = 0;
}
