/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/base/event.h"
#include "ftree/examine/examine.h"

#include <string.h>

/*
 * Bursts of packets.  A connection hides what a link does to packets: it sends again what was lost,
 * and where one direction is dead it knows of neither.  So two nodes send each other numbered
 * packets, small ones and large ones, on every path at the same time, and say over their
 * connections which of them came: that gives each direction of each path by itself.
 *
 *     asks:     PROBE (burst) --> the other begins to take packets, and says so: HEARD
 *               both send for 400 ms, in eight groups
 *     answers:  HEARD <-- once all have come, or after a second
 *
 * A packet is late if it was on its way for longer than the quickest one of this burst in that
 * direction, on any path: clocks need not agree, and since the kernel says when it came, a busy host
 * makes none late.  A loss is one that goes on: packets of half of the groups are missing.
 *
 * A burst begins where a path is silent on which the node should answer, and where somebody has
 * waited for a node that turns out to be well, or has sent to it again and again; in a healthy job
 * there are none.  Others are asked at the same time: the direction that is bad to all of them is bad
 * on this side.  Where it is bad to a node behind another switch, others behind that one are asked,
 * and behind a third one: what is bad to all behind a switch is so between switches.
 *
 * Of 5 % a quarter of all bursts meets less than two packets: so where kernels say that some are
 * lost, and one is, there is a second burst at once.
 *
 * Who has had no packet from the node for long may know no address of its interface, and cannot ask
 * for one over a link that is dead in one direction: it looks dead in both from there.  So a node
 * that has reported it, since its ranks wait for it, is asked for a burst as well.
 */

#define PACE (50 * FTREE_MS) /* between two groups */
#define LASTS (1000 * FTREE_MS) /* then what has not come is lost, */
#define LASTS_SLOW (3 * LASTS) /* or now, where nothing has come but data of ranks do */
#define REST (LASTS / 2) /* for what is still under way when the other one has all */
#define PATIENCE (LASTS_SLOW + LASTS) /* for what the other one says */
#define KEPT (3000 * FTREE_MS) /* as long no other burst of the same node begins */
#define SETTLES (2000 * FTREE_MS) /* a link that is back: switches and neighbour tables learn it anew */
#define BURSTS_MAX 48
#define NEAR 4096 /* nodes that are looked at, for one behind a switch */
#define LATE (50 * FTREE_MS) /* longer than queues of healthy networks delay a packet */
#define LARGE 4 /* large packets that must have left before their loss says something */
#define LOSSY_GROUPS 4 /* of 8 */
#define FAR_MORE 6 /* times as many packets */
#define LOSSY_LITTLE 2 /* packets, each of another group, where kernels say that some are lost, too */

static uint64_t bit(int number)
{
    return (uint64_t) 1 << number;
}

static bool is_large(int number)
{
    return number % WIRE_BURST_EACH == WIRE_BURST_EACH - 1;
}

static uint64_t large_ones(void)
{
    uint64_t all = 0;

    for (int i = WIRE_BURST_EACH - 1; i < WIRE_BURST_PACKETS; i += WIRE_BURST_EACH)
        all |= bit(i);
    return all;
}

static int count(uint64_t packets)
{
    return __builtin_popcountll(packets);
}

/* ---- what a burst came to -------------------------------------------------------------------- */

/* Groups of which packets are missing. */
static int lossy_groups(uint64_t missing)
{
    int n = 0;

    for (int i = 0; i < WIRE_BURST_GROUPS; i++)
        n += (missing >> i * WIRE_BURST_EACH & (bit(WIRE_BURST_EACH) - 1)) != 0;
    return n;
}

/* Nothing came for some time, and all before and after it: an outage that began or ended, and no loss. */
static bool is_outage(uint64_t came, uint64_t missing)
{
    int first = missing ? __builtin_ctzll(missing) : 0;
    int last = missing ? 63 - __builtin_clzll(missing) : 0;

    return last - first + 1 >= WIRE_BURST_EACH && !(came >> first & (bit(last - first) - 1));
}

/* RULES_WAY_WELL and so on, from what was sent at one end and heard at the other. */
static uint8_t judge_way(uint64_t sent, uint64_t heard, uint64_t late, bool resent, int before)
{
    uint64_t large = large_ones(), came = sent & heard, missing = sent & ~heard;

    if (count(sent) < WIRE_BURST_PACKETS / 2)
        return RULES_WAY_UNKNOWN;
    if (!came)
        return RULES_WAY_SILENT;
    if (is_outage(came, missing))
        return RULES_WAY_UNKNOWN;
    if (count(came & late) * 2 >= count(came))
        return RULES_WAY_LATE;
    if (!(came & large) && count(sent & large) >= LARGE &&
        count(missing & ~large) * 5 <= count(sent & ~large))
        return RULES_WAY_NO_LARGE;
    if ((count(missing) * 8 >= count(sent) && lossy_groups(missing) >= LOSSY_GROUPS) ||
        (resent && missing && lossy_groups(missing) + before >= LOSSY_LITTLE))
        return RULES_WAY_LOSSY;
    return RULES_WAY_WELL;
}

static uint64_t missing_packets(const struct burst *b, int path, bool out)
{
    const struct wire_way *from = out ? &b->here[path] : &b->there[path];
    const struct wire_way *to = out ? &b->there[path] : &b->here[path];

    return from->sent & ~to->heard;
}

static int missing_on(const struct burst *b, int path, bool out)
{
    return b->before[out] + count(missing_packets(b, path, out));
}

static int missing_at_most(const struct burst *b, int path)
{
    int out = missing_on(b, path, true), in = missing_on(b, path, false);

    return out > in ? out : in;
}

/* What was well before the fault, or after it, says nothing of it. */
static bool is_as_new(const struct burst *other, const struct burst *b)
{
    return other->began + REST >= b->began && other->began <= b->ended + REST;
}

/* Another one loses far more at the same time, in either direction: what kernels say is of that. */
static bool is_outdone(const struct ftree *ft, const struct burst *b, int path)
{
    int own = missing_at_most(b, path);

    return FTREE_ANY(struct burst, other, ft->examine->bursts,
                      other->asked && other->said && other->over && is_as_new(other, b) &&
                          missing_at_most(other, path) > FAR_MORE * own);
}

static uint8_t way_on(const struct burst *b, int path, bool out, bool resent)
{
    const struct wire_way *from = out ? &b->here[path] : &b->there[path];
    const struct wire_way *to = out ? &b->there[path] : &b->here[path];

    return b->said ? judge_way(from->sent, to->heard, to->late, resent, b->before[out])
                   : RULES_WAY_UNKNOWN;
}

static bool is_degraded(const struct ftree *ft, int32_t node)
{
    FTREE_EACH_STANDING(k, ft, node)
        if (k->v.class_ == FTREE_CLASS_NETWORK_DEGRADED)
            return true;
    return false;
}

/* What is late on every path has waited in a host; what the own link has lost says nothing.  Of a link
 * that is known to be degraded packets may come later than a burst lasts: it is not silent. */
static uint8_t way_of(const struct ftree *ft, const struct burst *b, bool out)
{
    enum ftree_path path = ftree_main_path(ft);
    bool resent = b->resent && !is_outdone(ft, b, path);
    uint8_t way = way_on(b, path, out, resent);

    if (b->began < ft->examine->link_settles)
        return RULES_WAY_UNKNOWN;
    if (way == RULES_WAY_SILENT && is_degraded(ft, b->node))
        return RULES_WAY_LOSSY;
    if (way == RULES_WAY_LATE && path == FTREE_PATH_DATA && ft->job->has_path[FTREE_PATH_MGMT] &&
        way_on(b, FTREE_PATH_MGMT, out, false) == RULES_WAY_LATE)
        return RULES_WAY_UNKNOWN;
    return way;
}

static bool is_bad(uint8_t way)
{
    return way > RULES_WAY_WELL;
}

/* The burst that the node was asked for last; NULL: it was not. */
static struct burst *find_asked(const struct ftree *ft, int32_t node)
{
    return FTREE_FIND(struct burst, b, ft->examine->bursts, b->node == node && b->asked);
}

static struct burst *find_over(const struct ftree *ft, int32_t node)
{
    struct burst *b = find_asked(ft, node);

    return b && b->over ? b : NULL;
}

/* The way of another node beside that of b, which is bad: if both lose some, it may be on this side,
 * and one of them had luck.  It is not where b's loses far more. */
static uint8_t way_beside(const struct ftree *ft, const struct burst *other, const struct burst *b,
                          bool out)
{
    enum ftree_path path = ftree_main_path(ft);
    uint8_t way = way_of(ft, other, out);

    if (way_of(ft, b, out) != RULES_WAY_LOSSY || (way != RULES_WAY_WELL && way != RULES_WAY_LOSSY))
        return way;
    return missing_on(other, path, out) * FAR_MORE >= missing_on(b, path, out) ? RULES_WAY_LOSSY
                                                                              : RULES_WAY_WELL;
}

/* Nothing came, and nothing arrived there. */
static bool is_silent(const struct ftree *ft, const struct burst *b)
{
    enum ftree_path path = ftree_main_path(ft);

    return !b->here[path].heard && !b->there[path].heard;
}

/* Nothing passes from here, and one way does from where ranks have exchanged data with it. */
static bool sees_more(const struct ftree *ft, const struct burst *b)
{
    const struct burst *r = b->reporter == FTREE_NONE ? NULL : find_over(ft, b->reporter);

    return is_silent(ft, b) && b->seen[0] && b->seen[1] &&
           (b->seen[0] == RULES_WAY_SILENT) != (b->seen[1] == RULES_WAY_SILENT) && r &&
           way_of(ft, r, false) == RULES_WAY_WELL && way_of(ft, r, true) == RULES_WAY_WELL;
}

/* In the directions that are bad to this node: how those of most others are.  What happens here for a
 * moment is bad to most, but not to who was asked at another time. */
static uint8_t find_others(const struct ftree *ft, const struct burst *b)
{
    int well = 0, bad = 0;

    FTREE_EACH(struct burst, other, ft->examine->bursts)
        for (int out = 0; out < 2; out++) {
            uint8_t way = way_beside(ft, other, b, out);
            if (other->node == b->node || !other->asked || !other->over ||
                !is_as_new(other, b) || !is_bad(way_of(ft, b, out)))
                continue;
            well += way == RULES_WAY_WELL;
            bad += is_bad(way);
        }
    return well && well >= bad ? RULES_WAYS_WELL : bad ? RULES_WAYS_WORSE : RULES_WAYS_UNKNOWN;
}

/* ---- switches ---------------------------------------------------------------------------------- */

/* The largest switch that has the node behind it, and not the other one; FTREE_NONE: none. */
static int32_t switch_between(const struct ftree *ft, int32_t node, int32_t other)
{
    const struct ftree_tree *t = ft->job->tree;
    int32_t found = FTREE_NONE;

    for (int32_t s = t ? t->node_switch[node] : FTREE_NONE;
         s != FTREE_NONE && !ftree_tree_is_behind(t, s, other); s = t->switch_parent[s])
        found = s;
    return found;
}

/* What others say of the direction that is bad between b's node and here. */
struct beyond {
    bool same_bad, same_well; /* behind the same switch as that node, */
    bool own_well; /* behind the own one, */
    bool third_bad, third_well; /* and elsewhere */
};

static void add_beyond(const struct ftree *ft, int32_t there, int32_t here, int32_t node,
                       uint8_t way, struct beyond *o)
{
    if (ftree_is_behind(ft, there, node)) {
        o->same_bad |= is_bad(way);
        o->same_well |= way == RULES_WAY_WELL;
    } else if (here != FTREE_NONE && ftree_is_behind(ft, here, node)) {
        o->own_well |= way == RULES_WAY_WELL;
    } else {
        o->third_bad |= is_bad(way);
        o->third_well |= way == RULES_WAY_WELL;
    }
}

/* The switch between which and others packets are lost; FTREE_NONE: none.  Which of two it is only a
 * third one can tell: else it is the same for all who find it. */
static int32_t find_bad_switch(const struct ftree *ft, const struct burst *b)
{
    int32_t there = switch_between(ft, b->node, ft->self);
    int32_t here = switch_between(ft, ft->self, b->node);
    struct beyond o = {false};

    if (there == FTREE_NONE)
        return FTREE_NONE;
    FTREE_EACH(struct burst, other, ft->examine->bursts)
        for (int out = 0; out < 2 && other->asked && other->over && other->node != b->node; out++)
            if (is_bad(way_of(ft, b, out)) && is_as_new(other, b))
                add_beyond(ft, there, here, other->node, way_beside(ft, other, b, out), &o);
    if (!o.same_bad || o.same_well || !(o.own_well || o.third_well))
        return FTREE_NONE;
    return o.third_bad ? here : o.third_well || here == FTREE_NONE || there > here ? there : here;
}

static void add_facts(const struct ftree *ft, const struct burst *b, struct rules_facts *facts)
{
    bool more = sees_more(ft, b);

    facts->value[RULES_FACT_WAY_OUT] = more ? b->seen[1] : way_of(ft, b, true);
    facts->value[RULES_FACT_WAY_IN] = more ? b->seen[0] : way_of(ft, b, false);
    facts->value[RULES_FACT_WAYS_OF_OTHERS] = more ? RULES_WAYS_WELL
                                              : find_bad_switch(ft, b) != FTREE_NONE
                                                  ? RULES_WAYS_SWITCH
                                                  : find_others(ft, b);
}

static bool any_runs(const struct ftree *ft)
{
    return FTREE_ANY(struct burst, b, ft->examine->bursts, b->asked && !b->over);
}

/* Others tell a node's link from what is between switches; of silence in both directions nothing is said. */
static bool is_to_compare(const struct ftree *ft, const struct burst *b)
{
    return b->asked && b->over && !is_silent(ft, b) &&
           (is_bad(way_of(ft, b, true)) || is_bad(way_of(ft, b, false))) &&
           switch_between(ft, b->node, ft->self) != FTREE_NONE &&
           switch_between(ft, ft->self, b->node) != FTREE_NONE;
}

/* There are others behind its switch, and not one could be asked. */
static bool lacks_others(const struct ftree *ft, const struct burst *b)
{
    int32_t there = switch_between(ft, b->node, ft->self);
    const struct burst *other;
    bool any = false;

    for (int32_t i = 1; i < ft->job->nodes && i < NEAR; i++) {
        int32_t n = (int32_t) (((int64_t) b->node + i) % ft->job->nodes);
        if (!ftree_is_behind(ft, there, n) || ftree_has_failed(ft, n))
            continue;
        other = find_over(ft, n);
        if (other && other->said && is_as_new(other, b))
            return false;
        any = true;
    }
    return any;
}

/* Until then nothing is said of it. */
static bool awaits_others(const struct ftree *ft, const struct burst *b)
{
    return is_to_compare(ft, b) && (!b->compared || any_runs(ft) || lacks_others(ft, b));
}

/* Where the own link is known to be bad they say nothing of the node's. */
void ftree_burst_facts(const struct ftree *ft, int32_t node, struct rules_facts *facts)
{
    const struct burst *b = find_over(ft, node);

    if (b && !awaits_others(ft, b) && !ftree_verdict_path_is_known(ft, ft->self))
        add_facts(ft, b, facts);
}

/* ---- evidence -------------------------------------------------------------------------------- */

/* "13 of 48 small and 2 of 8 large packets lost, up to 812 ms late" */
static void add_figures(const struct wire_way *from, const struct wire_way *to, char *text,
                        size_t room)
{
    uint64_t large = large_ones(), missing = from->sent & ~to->heard;

    if (missing)
        ftree_text_add(text, room, "%d of %d small and %d of %d large packets lost",
                       count(missing & ~large), count(from->sent & ~large), count(missing & large),
                       count(from->sent & large));
    else
        ftree_text_add(text, room, "all %d packets came", count(from->sent));
    if (to->late)
        ftree_text_add(text, room, ", %d late by %u ms at most", count(to->late & to->heard),
                       (unsigned) (to->worst_us / 1000));
}

static void add_way(const struct ftree *ft, ftree_time now, const struct burst *b, int path,
                    bool out, struct ftree_verdict *v)
{
    const struct wire_way *from = out ? &b->here[path] : &b->there[path];
    const struct wire_way *to = out ? &b->there[path] : &b->here[path];
    int32_t sender = out ? ft->self : b->node, receiver = out ? b->node : ft->self;
    char text[FTREE_DETAIL_MAX] = "";

    if (way_on(b, path, out, false) == RULES_WAY_UNKNOWN)
        return;
    add_figures(from, to, text, sizeof(text));
    ftree_verdict_add_line(ft, now, FTREE_EVIDENCE_BURST, b->node, v, "%.40s %s %.40s (%s): %s",
                           ftree_name(ft, receiver),
                           from->sent & to->heard ? "hears" : "does not hear",
                           ftree_name(ft, sender), ftree_path_name(path), text);
}

void ftree_burst_add_losses(const struct ftree *ft, ftree_time now, int32_t node,
                            struct ftree_verdict *v)
{
    const struct suspect *su = ftree_suspect(ft, node);
    const struct burst *b = find_over(ft, node);
    const char *losses = b ? b->losses : "";

    if (!*losses && su && su->has_state)
        losses = su->node_state.losses;
    ftree_verdict_add_losses(ft, now, node, losses, v);
    ftree_verdict_add_own_losses(ft, now, v);
}

/* Where it says something. */
void ftree_burst_add_evidence(const struct ftree *ft, ftree_time now, int32_t node,
                              struct ftree_verdict *v)
{
    const struct burst *b = find_over(ft, node);
    int paths[2] = {ftree_main_path(ft), FTREE_PATH_MGMT};
    bool bad = b && (is_bad(way_of(ft, b, true)) || is_bad(way_of(ft, b, false)));

    for (int out = 1; b && sees_more(ft, b) && out >= 0; out--)
        ftree_verdict_add_line(ft, now, FTREE_EVIDENCE_BURST, node, v, "%.40s %s %.40s (%s)",
                               ftree_name(ft, out ? node : b->reporter),
                               b->seen[out] == RULES_WAY_SILENT ? "does not hear" : "hears",
                               ftree_name(ft, out ? b->reporter : node),
                               ftree_path_name(ftree_main_path(ft)));
    for (int i = 0; bad && i < 2; i++)
        for (int out = 1; out >= 0 && (i == 0 || paths[1] != paths[0]); out--)
            add_way(ft, now, b, paths[i], out, v);
}

/* One of the others, in the direction that is bad to this one. */
static void add_other(const struct ftree *ft, ftree_time now, const struct burst *b,
                      struct ftree_verdict *v)
{
    FTREE_EACH(struct burst, other, ft->examine->bursts)
        if (other->node != b->node && other->asked && other->over) {
            add_way(ft, now, other, ftree_main_path(ft), is_bad(way_of(ft, b, true)), v);
            return;
        }
}

/* ---- deciding -------------------------------------------------------------------------------- */

static bool is_known(const struct ftree *ft, int32_t node)
{
    return ftree_verdict_path_is_known(ft, node) || ftree_has_failed(ft, node) ||
           ftree_verdict_between(ft, node, ft->self);
}

/* Nothing but what the burst brought counts: of a link that carries less than it should. */
static uint64_t models_of_bursts(const struct ftree_rules *rules)
{
    uint64_t models = 0;

    for (int32_t m = 0; m < rules->models; m++)
        if (rules->model[m].class_ == FTREE_CLASS_NETWORK_DEGRADED)
            models |= (uint64_t) 1 << m;
    return models;
}

void ftree_burst_name(const struct ftree *ft, int32_t node, struct ftree_verdict *v)
{
    const struct burst *b = v->class_ == FTREE_CLASS_NETWORK_DEGRADED ? find_over(ft, node) : NULL;
    int32_t switch_ = b ? find_bad_switch(ft, b) : FTREE_NONE;

    if (switch_ == FTREE_NONE)
        return;
    v->kind = FTREE_KIND_SWITCH;
    v->switch_ = switch_;
    v->rank = FTREE_NONE;
    if (ft->job->tree->switch_head[switch_] != FTREE_NONE)
        v->node = ft->job->tree->switch_head[switch_]; /* the same for all that find it */
}

static void decide(struct ftree *ft, ftree_time now, const struct burst *b)
{
    const struct rules_sign *sign;
    struct rules_facts facts;
    struct ftree_verdict v;
    int32_t model, node;

    ftree_rules_no_facts(&facts);
    add_facts(ft, b, &facts);
    sign = ftree_rules_decide_at_end(ft->rules, &facts, models_of_bursts(ft->rules), &model);
    node = sign && sign->about_asker ? ft->self : b->node;
    if (!sign || is_known(ft, node) || is_known(ft, ft->self) ||
        ftree_verdict_between(ft, b->node, ft->self))
        return;
    ftree_verdict_init(ft, now, &v, sign, ft->rules->model[model].class_, node, FTREE_NONE);
    ftree_burst_name(ft, b->node, &v);
    v.first_symptom = ftree_min(b->first, now);
    ftree_burst_add_evidence(ft, now, b->node, &v);
    add_other(ft, now, b, &v);
    ftree_burst_add_losses(ft, now, b->node, &v);
    ftree_emit_verdict(ft, &v);
}

static bool ask_burst(struct ftree *ft, ftree_time now, int32_t node, ftree_time first);

/* What is too old to compare with makes room for what is not. */
static void forget(struct ftree *ft, int32_t node)
{
    for (int32_t i = ft->examine->bursts.n - 1; node != FTREE_NONE && i >= 0; i--)
        if (ft->examine->bursts.items[i].node == node && ft->examine->bursts.items[i].asked &&
            ft->examine->bursts.items[i].over)
            FTREE_DROP(ft->examine->bursts, i);
}

/* Another node behind `there`, or one that is behind neither, unless one is asked already. */
static void ask_one(struct ftree *ft, ftree_time now, const struct burst *b, int32_t there,
                    int32_t here, bool behind)
{
    int32_t found = FTREE_NONE;

    for (int32_t i = 1; i < ft->job->nodes && i < NEAR; i++) {
        int32_t n = (int32_t) (((int64_t) b->node + i) % ft->job->nodes);
        bool is_there = ftree_is_behind(ft, there, n), is_here = ftree_is_behind(ft, here, n);
        if (behind ? !is_there : is_there || is_here)
            continue;
        if (find_asked(ft, n) && is_as_new(find_asked(ft, n), b))
            return;
        if (found == FTREE_NONE && ftree_can_help(ft, now, n))
            found = n;
    }
    forget(ft, found);
    ask_burst(ft, now, found, b->first);
}

static void note_compared(const struct ftree *ft)
{
    FTREE_EACH(struct burst, b, ft->examine->bursts)
        b->compared |= !b->over;
}

/* Those that are asked for it ask no more. */
static void ask_beyond(struct ftree *ft, ftree_time now, struct burst *b)
{
    int32_t there = switch_between(ft, b->node, ft->self);
    int32_t here = switch_between(ft, ft->self, b->node);
    const struct burst asker = *b; /* the array may move */

    b->compared = true;
    b->until = now + PATIENCE;
    ask_one(ft, now, &asker, there, here, true);
    ask_one(ft, now, &asker, there, here, false);
    note_compared(ft);
}

/* One that is examined is decided about there. */
static void judge(struct ftree *ft, ftree_time now, struct burst *b)
{
    if (!b->asked || b->judged || ftree_suspect(ft, b->node) || awaits_others(ft, b))
        return;
    b->judged = true;
    decide(ft, now, b);
}

static void judge_next(struct ftree *ft, ftree_time now)
{
    FTREE_EACH_IF(!any_runs(ft), struct burst, b, ft->examine->bursts) {
        if (ftree_events_wait(ft))
            return;
        judge(ft, now, b);
    }
}

/* ---- sending --------------------------------------------------------------------------------- */

static void send_one(struct ftree *ft, ftree_time now, struct burst *b, int path, int number)
{
    const struct ftree_route to = {.node = b->node, .path = (uint8_t) path};
    struct wire_message m = {.type = WIRE_PACKET,
                             .u.packet = {b->nonce, (uint8_t) number, !b->asked, now}};
    uint8_t buf[FTREE_MESSAGE_MAX];

    if (ft->job->has_path[path] && !ft->io->packet(ft->io_ctx, &to, is_large(number), buf,
                                                   ftree_wire_encode(&m, now, buf)))
        b->here[path].sent |= bit(number);
}

static void send_group(struct ftree *ft, ftree_time now, struct burst *b)
{
    for (int i = 0; i < WIRE_BURST_EACH; i++)
        for (int path = 0; path < FTREE_PATHS; path++)
            send_one(ft, now, b, path, b->group * WIRE_BURST_EACH + i);
    b->group++;
    b->next = b->group < WIRE_BURST_GROUPS ? now + PACE : FTREE_NEVER;
}

static void say_heard(struct ftree *ft, ftree_time now, const struct burst *b)
{
    struct wire_message m = {.type = WIRE_HEARD, .u.heard = {.nonce = b->nonce, .over = b->over}};

    memcpy(m.u.heard.way, b->here, sizeof(b->here));
    if (b->over && ft->io->losses)
        ft->io->losses(ft->io_ctx, m.u.heard.losses, sizeof(m.u.heard.losses));
    ftree_send_all_paths(ft, now, &(struct ftree_route){.node = b->node}, &m);
}

/* To who wants to know: what came of a burst of another node. */
static void say_seen(struct ftree *ft, ftree_time now, struct burst *b)
{
    struct wire_message m = {.type = WIRE_INDIRECT_RESULT,
                             .u.indirect_result = {.target = b->node,
                                                   .path = (uint8_t) ftree_main_path(ft)}};

    for (int out = 0; out < 2; out++)
        m.u.indirect_result.way[out] = way_of(ft, b, out);
    for (int i = 0; i < FTREE_HELPERS; i++) {
        m.u.indirect_result.nonce = b->asker_nonce[i];
        if (b->asker[i] != FTREE_NONE)
            ftree_send_all_paths(ft, now, &(struct ftree_route){.node = b->asker[i]}, &m);
        b->asker[i] = FTREE_NONE;
    }
}

static struct burst *find_burst(const struct ftree *ft, int32_t node, uint32_t nonce, bool asked)
{
    return FTREE_FIND(struct burst, b, ft->examine->bursts,
                      b->node == node && b->nonce == nonce && b->asked == asked);
}

static struct burst *begin(struct ftree *ft, ftree_time now, int32_t node, uint32_t nonce,
                           bool asked)
{
    struct burst *b;

    if (!ft->io->packet || ftree_is_leaving(ft) || ft->examine->bursts.n >= BURSTS_MAX)
        return NULL;
    b = FTREE_PUSH(ft, ft->examine->bursts);
    if (!b)
        return NULL;
    ft->io->packets(ft->io_ctx, true);
    b->node = node;
    b->nonce = nonce;
    b->asked = asked;
    b->reporter = FTREE_NONE;
    for (int i = 0; i < FTREE_HELPERS; i++)
        b->asker[i] = FTREE_NONE;
    b->began = now;
    b->next = asked ? FTREE_NEVER : now;
    b->until = now + (asked ? PATIENCE : LASTS);
    return b;
}

void ftree_burst_asked(struct ftree *ft, ftree_time now, int32_t from, uint32_t nonce)
{
    struct burst *b =
        find_burst(ft, from, nonce, false) ? NULL : begin(ft, now, from, nonce, false);

    if (!b)
        return;
    ftree_trace(ft, "  a burst with %s begins", ftree_name(ft, from));
    say_heard(ft, now, b);
}

static void send_question(struct ftree *ft, ftree_time now, const struct burst *b)
{
    struct wire_message m = {
        .type = WIRE_PROBE,
        .u.probe = {
            .nonce = b->nonce, .rank = FTREE_NONE, .ask = RULES_ASK_BURST, .first = now}};

    ftree_send_all_paths(ft, now, &(struct ftree_route){.node = b->node}, &m);
}

/* True: one begins. */
static bool ask_burst(struct ftree *ft, ftree_time now, int32_t node, ftree_time first)
{
    struct burst *b = node == FTREE_NONE ? NULL : find_asked(ft, node);

    if (node == FTREE_NONE || node == ft->self || b || ftree_has_failed(ft, node))
        return false;
    b = begin(ft, now, node, ++ft->next_id, true);
    if (!b)
        return false;
    b->first = first;
    ftree_trace(ft, "  asks %s: burst on every path", ftree_name(ft, node));
    send_question(ft, now, b);
    return true;
}

/* With another node, to compare with, at the same time; `third`: also with that. */
static void ask_with_others(struct ftree *ft, ftree_time now, int32_t node, int32_t third,
                            ftree_time first)
{
    int32_t looks = FTREE_LOOKS, far = 0, other = ftree_topo_parent(ft->topo, ft->self);
    bool begins = ask_burst(ft, now, node, first);

    if (other == FTREE_NONE || other == node || !ftree_can_help(ft, now, other))
        other = ftree_helper(ft, now, ft->self, &far, &looks, node);
    if (begins) {
        forget(ft, other);
        forget(ft, third == node ? FTREE_NONE : third);
    }
    ask_burst(ft, now, other, first);
    ask_burst(ft, now, third, first);
}

/* Who waits for the node, if that is not this one: data have passed between the two. */
static int32_t find_reporter(const struct ftree *ft, ftree_time now, const struct ftree_case *g)
{
    int32_t found = FTREE_NONE;

    for (int32_t i = 0; g && i < g->symptoms; i++) {
        int32_t n = g->symptom[i].reporter[0];
        if (n == ft->self)
            return FTREE_NONE;
        if (found == FTREE_NONE && n != g->node && ftree_can_help(ft, now, n))
            found = n;
    }
    return found;
}

/* Again at each question, for it may be lost. */
static void ask_reporter(struct ftree *ft, ftree_time now, const struct burst *b)
{
    struct wire_message m = {.type = WIRE_INDIRECT_PROBE,
                             .u.indirect_probe = {b->nonce, b->node, true}};

    ftree_send_all_paths(ft, now, &(struct ftree_route){.node = b->reporter}, &m);
}

void ftree_burst_ask(struct ftree *ft, ftree_time now, int32_t node)
{
    const struct ftree_case *g = ftree_case_find(ft, node, FTREE_NONE);
    const struct suspect *su = ftree_suspect(ft, node);
    int32_t reporter = find_reporter(ft, now, g);
    struct burst *b = find_asked(ft, node);

    if (b && b->over && su && b->ended < su->opened) {
        forget(ft, node); /* it could be gone before this examination ends */
        b = NULL;
    }
    if (b && b->group == 0 && b->next == FTREE_NEVER && !b->over)
        send_question(ft, now, b); /* that, or what it said, may be lost */
    else
        ask_with_others(ft, now, node, reporter, g ? g->first : now);
    ask_burst(ft, now, reporter, g ? g->first : now); /* it may be known since then */
    b = find_asked(ft, node);
    if (b && b->reporter == FTREE_NONE)
        b->reporter = reporter;
    if (b && !b->over && b->reporter != FTREE_NONE && !b->seen[0])
        ask_reporter(ft, now, b);
}

/* What comes of it is decided by who asks; one that is over for long says nothing of now. */
void ftree_burst_indirect(struct ftree *ft, ftree_time now, int32_t from,
                          const struct wire_indirect_probe *w)
{
    struct burst *b = find_over(ft, w->target);
    bool begins;
    int i = 0;

    if (b && b->ended + LASTS < now)
        forget(ft, w->target);
    begins = ask_burst(ft, now, w->target, now);
    b = find_asked(ft, w->target);
    if (!b)
        return;
    b->judged |= begins;
    b->compared |= begins;
    while (i < FTREE_HELPERS - 1 && b->asker[i] != FTREE_NONE && b->asker[i] != from)
        i++;
    b->asker[i] = from;
    b->asker_nonce[i] = w->nonce;
    if (b->over)
        say_seen(ft, now, b);
}

void ftree_burst_seen(struct ftree *ft, ftree_time now, int32_t from,
                      const struct wire_indirect_result *s)
{
    struct burst *b = find_asked(ft, s->target);

    if (!b || b->nonce != s->nonce || b->reporter != from)
        return;
    memcpy(b->seen, s->way, sizeof(b->seen));
    b->looked_at = false;
    if (b->over || !(b->awaited || sees_more(ft, b)))
        return;
    b->prolonged = b->awaited = true;
    b->until = now;
}


/* ---- hearing --------------------------------------------------------------------------------- */

/* The other one does: it says so, or sends some, which comes where that was lost. */
static void takes_packets(struct burst *b, ftree_time now)
{
    if (b->group == 0 && b->next == FTREE_NEVER && !b->said)
        b->next = now;
}

/* All that the other one has sent is there; of one that has not said what, all that it may. */
static bool has_all(const struct ftree *ft, const struct burst *b)
{
    for (int path = 0; path < FTREE_PATHS; path++) {
        uint64_t sent = b->said ? b->there[path].sent : bit(WIRE_BURST_PACKETS) - 1;
        if (ft->job->has_path[path] && sent & ~b->here[path].heard)
            return false;
    }
    return b->said || (!b->asked && b->group == WIRE_BURST_GROUPS);
}

void ftree_burst_packet(struct ftree *ft, ftree_time now, ftree_time arrived, int32_t from,
                        enum ftree_path path, const struct wire_packet *p)
{
    struct burst *b = find_burst(ft, from, p->nonce, p->back);

    if (!b || b->over || b->here[path].heard & bit(p->number))
        return;
    takes_packets(b, now);
    b->here[path].heard |= bit(p->number);
    b->took[path][p->number] = (int64_t) (arrived - p->sent);
    if (has_all(ft, b))
        b->until = now;
}

void ftree_burst_heard(struct ftree *ft, ftree_time now, int32_t from, const struct wire_heard *h)
{
    struct burst *b = find_burst(ft, from, h->nonce, true);

    if (!b || b->over)
        return;
    if (!h->over) {
        takes_packets(b, now);
        return;
    }
    b->next = FTREE_NEVER; /* it takes no more */
    b->said = true;
    memcpy(b->there, h->way, sizeof(b->there));
    memcpy(b->losses, h->losses, sizeof(b->losses));
    b->until = has_all(ft, b) ? now : now + REST;
}

static int64_t quickest(const struct burst *b)
{
    int64_t least = INT64_MAX;

    for (int path = 0; path < FTREE_PATHS; path++)
        for (int i = 0; i < WIRE_BURST_PACKETS; i++)
            if (b->here[path].heard & bit(i) && b->took[path][i] < least)
                least = b->took[path][i];
    return least;
}

static void find_late(struct burst *b)
{
    int64_t least = quickest(b);

    for (int path = 0; path < FTREE_PATHS; path++)
        for (int i = 0; i < WIRE_BURST_PACKETS; i++) {
            struct wire_way *w = &b->here[path];
            uint64_t more = w->heard & bit(i) ? (uint64_t) b->took[path][i] - (uint64_t) least : 0;
            if (more < LATE)
                continue;
            w->late |= bit(i);
            w->worst_us =
                (uint32_t) ftree_max(w->worst_us, ftree_min(more / 1000, PATIENCE / 1000));
        }
}

/* Nothing came on a path on which data of ranks do. */
static bool is_slow(const struct ftree *ft, const struct burst *b)
{
    for (int path = 0; path < FTREE_PATHS && ft->io->delivers; path++)
        if (ft->job->has_path[path] && !b->here[path].heard &&
            ft->io->delivers(ft->io_ctx, FTREE_NONE, (enum ftree_path) path, LASTS, 0))
            return true;
    return false;
}

static void end(struct ftree *ft, ftree_time now, struct burst *b)
{
    b->over = true;
    b->ended = now;
    b->next = FTREE_NEVER;
    b->until = now + (b->asked ? KEPT : 0);
    find_late(b);
    if (!b->asked)
        say_heard(ft, now, b);
    say_seen(ft, now, b);
    if (b->asked)
        ftree_trace(ft, "  burst of %s: out %s, in %s", ftree_name(ft, b->node),
                    ftree_rules_value_name(RULES_FACT_WAY_OUT, way_of(ft, b, true)),
                    ftree_rules_value_name(RULES_FACT_WAY_IN, way_of(ft, b, false)));
}

bool ftree_burst_runs(const struct ftree *ft, int32_t node)
{
    const struct burst *b = find_asked(ft, node);

    return b && (!b->over || (awaits_others(ft, b) && any_runs(ft)));
}

bool ftree_burst_is_news(const struct ftree *ft, int32_t node)
{
    struct burst *b = find_over(ft, node);
    bool news = b && !b->looked_at && !awaits_others(ft, b);

    if (news)
        b->looked_at = true;
    return news;
}

/* ---- time ------------------------------------------------------------------------------------ */

static bool loses_little(const struct ftree *ft, const struct burst *b)
{
    enum ftree_path path = ftree_main_path(ft);

    return b->asked && b->said && b->resent && !b->repeated && missing_at_most(b, path) > 0 &&
           way_of(ft, b, false) == RULES_WAY_WELL && way_of(ft, b, true) == RULES_WAY_WELL;
}

static void begin_again(struct ftree *ft, ftree_time now, struct burst *b)
{
    enum ftree_path path = ftree_main_path(ft);

    for (int out = 0; out < 2; out++)
        b->before[out] = (uint8_t) lossy_groups(missing_packets(b, path, out));
    b->repeated = true;
    b->over = b->said = b->prolonged = false;
    b->nonce = ++ft->next_id;
    b->group = 0;
    b->next = FTREE_NEVER;
    b->until = now + PATIENCE;
    memset(b->here, 0, sizeof(b->here));
    memset(b->there, 0, sizeof(b->there));
    send_question(ft, now, b);
}

/* Together with those that it is compared with: else these would have had half of the chances. */
static void repeat(struct ftree *ft, ftree_time now, const struct burst *b)
{
    FTREE_EACH(struct burst, other, ft->examine->bursts)
        if (other == b || (other->asked && other->said && other->over && !other->repeated &&
                           other->began + REST >= b->began))
            begin_again(ft, now, other);
}

/* What a kernel says may come later than the burst. */
static void note_resent(struct ftree *ft, ftree_time now, int32_t node)
{
    struct burst *b = find_asked(ft, node);

    if (!b || b->resent)
        return;
    b->resent = true;
    b->judged = b->looked_at = false;
    if (b->over && loses_little(ft, b))
        repeat(ft, now, b);
}

static const struct ftree_symptom *find_symptom(const struct ftree_case *g, bool resent)
{
    for (int32_t i = 0; g && i < g->symptoms; i++)
        if (resent ? g->symptom[i].kind == FTREE_SYMPTOM_LINK_ERRORS
                   : ftree_symptom_is_stall(&g->symptom[i]))
            return &g->symptom[i];
    return NULL;
}

/* Somebody waits for it, or sends again and again, though it is well: what lies between the two may
 * not be. */
void ftree_burst_after(struct ftree *ft, ftree_time now, int32_t node)
{
    const struct ftree_case *g = ftree_case_find(ft, node, FTREE_NONE);
    const struct ftree_symptom *stall = find_symptom(g, false), *resent = find_symptom(g, true);

    if ((!stall && !resent) || is_known(ft, node))
        return;
    ask_with_others(ft, now, node, (stall ? stall : resent)->reporter[0], g->first);
    if (!resent)
        return;
    note_resent(ft, now, node);
    note_resent(ft, now, resent->reporter[0]);
}

static void step(struct ftree *ft, ftree_time now, struct burst *b)
{
    if (b->next <= now)
        send_group(ft, now, b);
    if (b->over || (b->until > now && !has_all(ft, b)))
        return;
    if (!b->prolonged && (b->said || !b->asked) && is_slow(ft, b)) {
        b->prolonged = true;
        b->until = now + LASTS_SLOW - LASTS;
    } else if (b->reporter != FTREE_NONE && !b->seen[0] && !b->awaited && is_silent(ft, b)) {
        b->awaited = true;
        b->until = now + REST;
    } else if (loses_little(ft, b)) {
        repeat(ft, now, b);
    } else {
        end(ft, now, b);
    }
}

void ftree_burst_tick(struct ftree *ft, ftree_time now)
{
    int32_t before = ft->examine->bursts.n;

    if (before == 0)
        return;
    for (int32_t i = before - 1; i >= 0 && !ftree_events_wait(ft); i--) {
        struct burst *b = &ft->examine->bursts.items[i];
        if (i >= ft->examine->bursts.n)
            continue; /* others were forgotten meanwhile */
        step(ft, now, b);
        if (is_to_compare(ft, b) && !b->compared) {
            ask_beyond(ft, now, b);
            continue;
        }
        if (!b->over || b->until > now)
            continue;
        judge(ft, now, b); /* whatever the others have to say */
        FTREE_DROP(ft->examine->bursts, i);
    }
    judge_next(ft, now);
    if (ft->examine->bursts.n == 0)
        ft->io->packets(ft->io_ctx, false);
}

void ftree_burst_link(struct ftree *ft, ftree_time now, bool up)
{
    ft->examine->link_settles = up ? now + SETTLES : FTREE_NEVER;
}

void ftree_burst_stop(struct ftree *ft)
{
    if (ft->examine->bursts.n > 0)
        ft->io->packets(ft->io_ctx, false);
    ft->examine->bursts.n = 0;
}

ftree_time ftree_burst_deadline(const struct ftree *ft)
{
    return FTREE_EARLIEST(struct burst, b, ft->examine->bursts, ftree_min(b->next, b->until));
}
