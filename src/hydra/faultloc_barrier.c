/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#define _GNU_SOURCE
#include "hydra_server.h"
#include "pmiserv.h"
#include "faultloc_arrival.h"
#include "faultloc_base.h"
#include "faultloc_barrier.h"
#include "faultloc_children.h"
#include "faultloc_incident.h"
#include "faultloc_late.h"
#include "faultloc_lost.h"

#define SOON_MS 500 /* all proxies whose processes are through with MPI say so */

/* A proxy, in the present barrier. */
struct seat {
    bool come; /* all of its ranks have */
    bool asked; /* and it has not answered since */
    int64_t answered; /* when it did, last */
    struct HYD_faultloc_arrivals *answer; /* NULL: never */
    bool left; /* its processes are through with MPI, as the answer says */
};

/* A process group. */
struct world {
    int pgid, proxies;
    struct HYD_faultloc_arrival arrival;
    struct seat *seat; /* by the number of the proxy */
    const char *call; /* in which the barrier is, as the last note said */
    int64_t left_at; /* when to say what the processes have left; 0: there is nothing to say */
    struct world *next;
};

static struct world *worlds;

static struct HYD_pg *pg_of(const struct world *w)
{
    return HYD_faultloc_pg(w->pgid);
}

/* NULL: there is no memory, and no note. */
static struct world *world_of(const struct HYD_proxy *proxy)
{
    struct world *w = worlds;

    while (w && w->pgid != HYD_faultloc_pgid(proxy))
        w = w->next;
    if (w || !(w = MPL_calloc(1, sizeof(*w), MPL_MEM_PM)))
        return w;
    w->pgid = HYD_faultloc_pgid(proxy);
    w->proxies = pg_of(w)->proxy_count;
    w->seat = MPL_calloc((size_t) w->proxies, sizeof(*w->seat), MPL_MEM_PM);
    if (!w->seat) {
        MPL_free(w);
        return NULL;
    }
    w->next = worlds;
    worlds = w;
    return w;
}

/* ---- what is known --------------------------------------------------------------------------- */

static bool is_fresh(const struct world *w, const struct seat *s)
{
    return s->answer && s->answered >= w->arrival.asked && s->answer->barrier == w->arrival.barrier;
}

static bool have_answered(const struct world *w)
{
    HYD_FAULTLOC_EACH_OF(pg_of(w), p)
        if (w->seat[p->proxy_id].asked && HYD_faultloc_is_connected(p))
            return false;
    return true;
}

/* Only in MPI_Init values are put into PMI's store, and agents are started at its end.  Where they
 * are not, because FaultLoc is disabled, it may be unknown. */
static const char *call_of(const struct world *w)
{
    bool put = w->arrival.barrier == 1, agent = false;

    for (int i = 0; i < w->proxies; i++)
        if (is_fresh(w, &w->seat[i])) {
            put |= w->seat[i].answer->put != 0;
            agent |= w->seat[i].answer->agent != 0;
        }
    return agent ? "MPI_Finalize" : put ? "MPI_Init" : "MPI_Init or MPI_Finalize";
}

/* ---- who is late ----------------------------------------------------------------------------- */

static struct HYD_faultloc_late *add(struct HYD_faultloc_note *note, const struct HYD_proxy *proxy)
{
    struct HYD_faultloc_late *late = &note->late[note->lates++];

    *late = (struct HYD_faultloc_late){.host = proxy->node->hostname};
    return late;
}

static void add_answered(struct HYD_faultloc_note *note, const struct HYD_proxy *proxy,
                         const struct HYD_faultloc_arrivals *answer)
{
    note->come += answer->come;
    for (int i = 0; i < answer->groups; i++) {
        struct HYD_faultloc_late *late = add(note, proxy);
        late->group = answer->group[i];
        late->ranks = answer->group[i].ranks.count;
    }
}

static void add_ended(struct HYD_faultloc_note *note, const struct HYD_proxy *proxy)
{
    char how[64];

    for (int i = 0; i < proxy->proxy_process_count; i++) {
        struct HYD_faultloc_late *late = add(note, proxy);
        struct HYD_faultloc_end end = {.status = proxy->exit_status[i]};
        late->ranks = 1;
        late->group.pid = proxy->pid ? proxy->pid[i] : 0;
        faultloc_launcher_add_rank(&late->group.ranks, HYD_faultloc_rank_of(proxy, i));
        snprintf(late->group.state, sizeof(late->group.state), "ended, %s",
                 HYD_faultloc_how(&end, how, sizeof(how)));
    }
}

static const char *state_of(const struct HYD_proxy *proxy)
{
    if (proxy->control_fd == HYD_FD_UNSET)
        return "hydra's proxy has not connected";
    if (!HYD_faultloc_is_connected(proxy))
        return "lost with hydra's proxy";
    return HYD_faultloc_is_silent(proxy->control_fd)
               ? "neither hydra's proxy nor the kernel of the host answers"
               : "hydra's proxy does not answer, the kernel of the host does";
}

/* Nothing is known of its processes. */
static void add_unknown(struct HYD_faultloc_note *note, const struct HYD_proxy *proxy)
{
    struct HYD_faultloc_late *late = add(note, proxy);

    late->ranks = proxy->proxy_process_count;
    for (int i = 0; i < proxy->proxy_process_count; i++)
        faultloc_launcher_add_rank(&late->group.ranks, HYD_faultloc_rank_of(proxy, i));
    snprintf(late->group.state, sizeof(late->group.state), "%s", state_of(proxy));
}

static void add_proxy(struct HYD_faultloc_note *note, const struct world *w,
                      const struct HYD_proxy *proxy)
{
    const struct seat *s = &w->seat[proxy->proxy_id];

    if (s->come)
        note->come += proxy->proxy_process_count;
    else if (HYD_faultloc_is_connected(proxy) && is_fresh(w, s))
        add_answered(note, proxy, s->answer);
    else if (proxy->control_fd == HYD_FD_CLOSED && proxy->exit_status)
        add_ended(note, proxy);
    else
        add_unknown(note, proxy);
}

static size_t count_most(const struct world *w)
{
    size_t n = 0;

    HYD_FAULTLOC_EACH_OF(pg_of(w), p)
        if (!w->seat[p->proxy_id].come)
            n += (size_t) p->proxy_process_count + HYD_FAULTLOC_GROUPS;
    return n;
}

static struct HYD_faultloc_note begin_note(const struct world *w)
{
    return (struct HYD_faultloc_note){.call = w->call,
                                      .pgid = w->pgid,
                                      .size = pg_of(w)->pg_process_count,
                                      .verbose = HYD_server_info.user_global.debug != 0};
}

static void say(struct world *w, const struct HYD_faultloc_incident *incident, int64_t now)
{
    struct HYD_faultloc_note note;

    w->call = call_of(w);
    note = begin_note(w);
    note.quiet_ms = now - w->arrival.last;
    note.late = MPL_malloc(count_most(w) * sizeof(*note.late), MPL_MEM_PM);
    if (!note.late)
        return;
    HYD_FAULTLOC_EACH_OF(pg_of(w), p)
        add_proxy(&note, w, p);
    note.verdict = HYD_faultloc_incident_standing(incident, w->pgid);
    HYD_faultloc_late_print(&note, stderr);
    MPL_free(note.late);
}

/* Of those proxies whose processes are through with MPI. */
static void say_left(struct world *w)
{
    struct HYD_faultloc_note note = begin_note(w);

    w->left_at = 0;
    note.late = MPL_malloc(count_most(w) * sizeof(*note.late), MPL_MEM_PM);
    if (!note.late)
        return;
    HYD_FAULTLOC_EACH_OF(pg_of(w), p)
    {
        const struct seat *s = &w->seat[p->proxy_id];
        if (!HYD_faultloc_is_connected(p) || !s->left)
            continue;
        add_answered(&note, p, s->answer);
        note.quiet_ms = s->answer->last_ms > note.quiet_ms ? s->answer->last_ms : note.quiet_ms;
    }
    HYD_faultloc_late_print_left(&note, stderr);
    MPL_free(note.late);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void ask_proxy(struct world *w, struct HYD_proxy *proxy)
{
    struct HYD_faultloc_msg msg = {.what = HYD_FAULTLOC_WHO_IS_LATE, .ref = w->arrival.barrier};

    if (!w->seat[proxy->proxy_id].asked)
        w->seat[proxy->proxy_id].asked = HYD_faultloc_send(proxy, &msg);
}

/* Those that are late; and one of the others, which may know in which call the barrier is.  One
 * that has not answered gets no second question: it may be stopped. */
static void ask_late(struct world *w)
{
    bool others = w->arrival.barrier > 1;

    HYD_FAULTLOC_EACH_OF(pg_of(w), p)
    {
        bool come = w->seat[p->proxy_id].come;
        if (!HYD_faultloc_is_connected(p) || (come && !others))
            continue;
        ask_proxy(w, p);
        others &= !come;
    }
}

/* ---- what comes ------------------------------------------------------------------------------ */

static void all_have_come(struct world *w, int64_t now)
{
    struct HYD_faultloc_note note = begin_note(w);

    if (HYD_faultloc_arrival_all(&w->arrival))
        HYD_faultloc_late_print_over(&note, now - w->arrival.first, stderr);
    for (int i = 0; i < w->proxies; i++)
        w->seat[i].come = false;
}

static int count_come(const struct world *w)
{
    int n = 0;

    for (int i = 0; i < w->proxies; i++)
        n += w->seat[i].come;
    return n;
}

void HYD_faultloc_barrier_came(const struct HYD_proxy *proxy)
{
    int64_t now = HYD_faultloc_now_ms();
    struct world *w = world_of(proxy);

    if (!w)
        return;
    w->seat[proxy->proxy_id].come = true;
    HYD_faultloc_arrival_come(&w->arrival, now, now);
    if (count_come(w) == w->proxies)
        all_have_come(w, now);
}

bool HYD_faultloc_barrier_holds(const struct HYD_pg *pg)
{
    const struct world *w = worlds;
    int connected = 0;

    while (w && w->pgid != pg->pgid)
        w = w->next;
    HYD_FAULTLOC_EACH_OF(pg, p)
    connected += HYD_faultloc_is_connected(p);
    return w && count_come(w) > 0 && count_come(w) >= connected;
}

/* NULL: it is none, or there is no memory. */
static struct seat *keep_answer(struct world *w, const struct HYD_proxy *proxy,
                                const struct HYD_faultloc_arrivals *answer)
{
    struct seat *s = w ? &w->seat[proxy->proxy_id] : NULL;

    if (!s || !HYD_faultloc_is_arrivals(answer, pg_of(w)->pg_process_count))
        return NULL;
    s->asked = false;
    if (!s->answer)
        s->answer = MPL_malloc(sizeof(*s->answer), MPL_MEM_PM);
    if (!s->answer)
        return NULL;
    *s->answer = *answer;
    s->answered = HYD_faultloc_now_ms();
    s->left = false;
    return s;
}

/* Others say the same soon. */
void HYD_faultloc_barrier_left(const struct HYD_proxy *proxy,
                               const struct HYD_faultloc_arrivals *answer)
{
    struct world *w = world_of(proxy);
    struct seat *s = keep_answer(w, proxy, answer);

    if (!s || w->arrival.open) /* those that have not come are waited for, and they are named */
        return;
    s->left = true;
    if (!w->left_at)
        w->left_at = s->answered + SOON_MS;
}

void HYD_faultloc_barrier_answer(const struct HYD_proxy *proxy,
                                 const struct HYD_faultloc_arrivals *answer)
{
    struct world *w = world_of(proxy);
    int64_t now = HYD_faultloc_now_ms();

    if (!keep_answer(w, proxy, answer))
        return;
    if (answer->last_ms >= 0 && answer->barrier == (w->arrival.barrier ? w->arrival.barrier : 1))
        HYD_faultloc_arrival_come(&w->arrival, now - answer->first_ms, now - answer->last_ms);
}

int64_t HYD_faultloc_barrier_due(void)
{
    int64_t due = HYD_FAULTLOC_NEVER;

    for (struct world *w = worlds; w; w = w->next) {
        int64_t at = HYD_faultloc_arrival_due(&w->arrival);
        due = at < due ? at : due;
        if (w->left_at && w->left_at < due)
            due = w->left_at;
    }
    return due;
}

void HYD_faultloc_barrier_turn(const struct HYD_faultloc_incident *incident, int64_t now)
{
    enum HYD_faultloc_arrival_step step;

    for (struct world *w = worlds; w; w = w->next) {
        if (w->left_at && w->left_at <= now)
            say_left(w);
        while ((step = HYD_faultloc_arrival_step(&w->arrival, now, have_answered(w))) !=
               HYD_FAULTLOC_ARRIVAL_WAIT) {
            if (step == HYD_FAULTLOC_ARRIVAL_ASK)
                ask_late(w);
            else
                say(w, incident, now);
        }
    }
}
