/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#define _GNU_SOURCE
#include "hydra_server.h"
#include "hydra.h"
#include "demux.h"
#include "pmiserv.h"
#include "faultloc_base.h"
#include "faultloc_barrier.h"
#include "faultloc_children.h"
#include "faultloc_late.h"
#include "faultloc_lost.h"
#include "faultloc_server.h"
#include "faultloc_incident.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/timerfd.h>

#define CLEAN_MS 5000 /* for a proxy to end its processes and to say so */
#define SILENT_MS 1000 /* the same, where its host is lost, or does not even acknowledge that */
/* For another process of a node to become its agent; for an agent to answer. */
#define SUCCESSOR_MS 200
/* How long a verdict must have stood before its proxies are watched: two seconds more, and one that
 * is silent is given up (faultloc_keepalive.c). A host that is out of reach for five seconds in all
 * comes to no harm, though the verdict may come 0.8 s before the stall limit. */
#define WATCH_MS 3300
#define REPEATS_MAX 4 /* where many processes end, repeated symptoms are many */

/* A symptom that is to be sent to the agent of another node than its own, repeatedly if
 * necessary; or a question, which any agent can answer (`once`). */
struct retry {
    int pgid, rank;
    bool done;
    int64_t due; /* when the next proxy is to be asked */
    int asked; /* how many have been */
    bool wraps; /* after the last the first is asked once more */
    const struct HYD_proxy *origin; /* not to be asked: its agent was */
    bool accepted; /* an agent took it */
    bool once; /* that is the end of it */
    int repeats; /* how often that was not the end of it */
    char symptom[HYD_FAULTLOC_SYMPTOM];
};

static struct {
    struct HYD_faultloc_incident incident;
    struct retry *retry;
    int retries, room;
    int timer;
    int64_t watch_at; /* when proxies that verdicts speak of are to be watched */
    bool cleaning, some_lost, launch_failed;
    bool some_ended; /* of the launchers */
    int64_t cleaning_since;
    char aborts_because[24]; /* class of the verdict because of which ranks will call MPI_Abort, */
    int aborts_pgid; /* those of this group */
} me = {.timer = -1, .watch_at = HYD_FAULTLOC_NEVER, .aborts_pgid = -1};

/* All proxies of all process groups. */
#define FOR_EACH_PROXY(proxy) HYD_FAULTLOC_EACH_PG(pg) HYD_FAULTLOC_EACH_OF(pg, proxy)

/* ---- whether it is on ------------------------------------------------------------------------ */

HYD_status HYD_faultloc_server_option(char *arg, char ***argv)
{
    (void) arg;
    (void) argv;
    return HYDU_append_env_to_list("MPIR_CVAR_FAULTLOC", "1",
                                   &HYD_server_info.user_global.global_env.user);
}

void HYD_faultloc_server_help(void)
{
    printf("\n-faultloc: Turn fault localization on (MPIR_CVAR_FAULTLOC=1); after a process ends "
           "badly, wait for\n           the verdict before cleaning up\n\n");
}

static const char *lookup(const char *name, struct HYD_env *list)
{
    for (struct HYD_env *env = list; env; env = env->next)
        if (!strcmp(env->env_name, name))
            return env->env_value;
    return NULL;
}

/* "list:a,b,c" */
static bool is_listed(const char *name, const char *prop)
{
    size_t len = strlen(name);
    const char *at = strchr(prop, ':');

    while (at) {
        at++;
        if (!strncmp(at, name, len) && (at[len] == ',' || at[len] == '\0'))
            return true;
        at = strchr(at, ',');
    }
    return false;
}

/* A variable as the processes of `exec` will have it: in the order in which proxies set them. */
static const char *of_processes(const char *name, struct HYD_exec *exec)
{
    struct HYD_env_global *global = &HYD_server_info.user_global.global_env;
    const char *prop = exec->env_prop ? exec->env_prop : global->prop;
    const char *value = lookup(name, exec->user_env);

    if (!value)
        value = lookup(name, global->user);
    if (!value &&
        (!prop || !strcmp(prop, "all") || (!strncmp(prop, "list", 4) && is_listed(name, prop))))
        value = lookup(name, global->inherited);
    return value;
}

/* MPICH reads each of its variables by three names; the last of these that has a value which can be
 * read counts. */
static const char *cvar(const char *name, bool is_switch, struct HYD_exec *exec)
{
    static const char *prefixes[] = {"MPIR_CVAR_", "MPIR_PARAM_", "MPICH_"};
    const char *value;
    char full[64];
    int number;

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        snprintf(full, sizeof(full), "%s%s", prefixes[i], name);
        value = of_processes(full, exec);
        if (value && faultloc_number_read(value, is_switch, &number))
            return value;
    }
    return NULL;
}

static HYD_status timer_cb(int fd, HYD_event_t events, void *userp)
{
    uint64_t times;

    (void) events;
    (void) userp;
    if (read(fd, &times, sizeof(times)) < 0) {
        /* it was set anew meanwhile */
    }
    return HYD_SUCCESS;
}

/* Time, and the end of a launcher, are events like any other. */
static HYD_status watch_events(void)
{
    HYD_status status = HYD_SUCCESS;

    me.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (me.timer < 0)
        HYDU_ERR_SETANDJUMP(status, HYD_INTERNAL_ERROR, "timerfd_create error (%s)\n",
                            MPL_strerror(errno));
    status = HYDT_dmx_register_fd(1, &me.timer, HYD_POLLIN, NULL, timer_cb);
    HYDU_ERR_POP(status, "unable to register fd\n");
    status = HYD_faultloc_children_watch(&me.some_ended);
    HYDU_ERR_POP(status, "unable to watch the launchers\n");

fn_exit:
    return status;
fn_fail:
    goto fn_exit;
}

HYD_status HYD_faultloc_server_init(struct HYD_exec *execs)
{
    const char *grace = NULL, *on;
    HYD_status status = HYD_SUCCESS;
    int value = 0;

    for (struct HYD_exec *e = execs; e; e = e->next) {
        on = cvar("FAULTLOC", true, e);
        HYD_faultloc_on |= on && faultloc_number_read(on, true, &value) && value;
        grace = grace ? grace : cvar("FAULTLOC_GRACE_MS", false, e);
    }
    if (!HYD_faultloc_on)
        return HYD_SUCCESS;
    /* what is wrong with it rank 0 says */
    HYD_faultloc_incident_grace(&me.incident, grace);
    status = HYDU_append_env_to_list(HYD_FAULTLOC_ENV, "1",
                                     &HYD_server_info.user_global.global_env.system);
    /* libfabric may bring a library that else catches the signals of a crash, and exits with 1 */
    if (!status)
        status = HYDU_append_env_to_list("IPATH_NO_BACKTRACE", "1",
                                         &HYD_server_info.user_global.global_env.system);
    return status ? status : watch_events();
}

/* ---- symptoms for another agent -------------------------------------------------------------- */

static void add(const struct retry *what, const char *text)
{
    struct retry *more = me.retry;

    if (me.retries == me.room) {
        me.room = me.room ? 2 * me.room : 4;
        more = MPL_realloc(me.retry, (size_t) me.room * sizeof(*more), MPL_MEM_PM);
    }
    if (!more)
        return; /* the grace time ends, too */
    me.retry = more;
    me.retry[me.retries] = *what;
    snprintf(me.retry[me.retries++].symptom, HYD_FAULTLOC_SYMPTOM, "%s", text);
}

static void add_retry(const struct HYD_proxy *origin, int rank, const char *symptom, int64_t due)
{
    const struct retry e = {
        .pgid = HYD_faultloc_pgid(origin), .rank = rank, .due = due, .origin = origin};

    add(&e, symptom);
}

static bool send_retry(struct HYD_proxy *proxy, int number)
{
    struct HYD_faultloc_msg msg = {.what = HYD_FAULTLOC_SYMPTOM_FOR_AGENT, .ref = number + 1};

    snprintf(msg.symptom, sizeof(msg.symptom), "%s", me.retry[number].symptom);
    return HYD_faultloc_send(proxy, &msg);
}

/* Asks the next proxy of the group.  False: there is none any more. */
static bool ask_next(int number)
{
    struct retry *e = &me.retry[number];
    int nth = 0;

    FOR_EACH_PROXY(proxy)
    {
        if (HYD_faultloc_pgid(proxy) != e->pgid || nth++ < e->asked)
            continue;
        e->asked++;
        if (proxy != e->origin && HYD_faultloc_is_connected(proxy) && send_retry(proxy, number)) {
            e->due = HYD_faultloc_now_ms() + SUCCESSOR_MS;
            return true;
        }
    }
    return false;
}

static void run_retry(int number)
{
    struct retry *e = &me.retry[number];

    if (ask_next(number))
        return;
    if (e->once)
        HYD_faultloc_say(
            stderr, "[faultloc] status: no agent of the job answers; there is one on each host "
                    "from the end of MPI_Init to MPI_Finalize\n");
    e->done = !e->wraps;
    e->wraps = false;
    e->asked = 0;
}

static void run_retries(int64_t now)
{
    for (int i = 0; i < me.retries; i++)
        if (!me.retry[i].done && me.retry[i].due <= now)
            run_retry(i);
}

static void note_reply(const struct HYD_proxy *proxy, const struct HYD_faultloc_msg *msg)
{
    if (msg->ref > 0 && msg->ref <= me.retries) {
        struct retry *e = &me.retry[msg->ref - 1];
        e->done |= msg->end.accepted;
        e->accepted |= msg->end.accepted;
        e->due = 0;
        return;
    }
    for (int i = 0; i < me.retries; i++)
        if (me.retry[i].origin == proxy && me.retry[i].rank == msg->end.rank && msg->end.accepted)
            me.retry[i].done = me.retry[i].accepted = true;
}

/* A process ended, or several: the agent that accepted a symptom may be among them, or the one that
 * it had forwarded it to.  A symptom without a verdict is sent to the next agent, which sends it
 * another way. */
static void retry_all(void)
{
    for (int i = 0; i < me.retries; i++) {
        struct retry *e = &me.retry[i];
        if (!e->accepted || e->once || e->repeats >= REPEATS_MAX ||
            HYD_faultloc_incident_is_located(&me.incident, e->pgid, e->rank))
            continue;
        e->accepted = e->done = false;
        e->repeats++;
        e->wraps = e->asked > 0;
        e->due = 0;
    }
}

/* The agent prints it: it is what `faultloc status` shows. */
void HYD_faultloc_server_signal(int signum)
{
    if (!HYD_faultloc_on || signum != SIGUSR1 || me.cleaning)
        return;
    HYD_FAULTLOC_EACH_PG(pg)
    {
        const struct retry e = {.pgid = pg->pgid, .rank = -1, .once = true};
        if (pg->proxy_count > 0)
            add(&e, HYD_FAULTLOC_STATUS);
    }
}

/* ---- what comes from proxies ----------------------------------------------------------------- */

/* How long a message of this proxy was in the kernel before it was read here: two that have waited
 * while mpiexec did not run are read in any order. */
static int64_t waited_ms(const struct HYD_proxy *proxy)
{
    struct tcp_info t = {.tcpi_last_data_recv = 0};
    socklen_t len = sizeof(t);

    if (getsockopt(proxy->control_fd, IPPROTO_TCP, TCP_INFO, &t, &len))
        return 0;
    return t.tcpi_last_data_recv;
}

static void add_event(const struct HYD_proxy *proxy, struct HYD_faultloc_event *event)
{
    event->pgid = HYD_faultloc_pgid(proxy);
    event->ms = HYD_faultloc_now_ms();
    /* the last data from a lost proxy may be long ago: when it was lost is not known */
    if (event->kind != HYD_FAULTLOC_EVENT_LOST)
        event->ended = event->ms - waited_ms(proxy) - event->end.age_ms;
    snprintf(event->host, sizeof(event->host), "%s", proxy->node->hostname);
    if (!HYD_faultloc_incident_add(&me.incident, event))
        HYD_faultloc_say(stderr,
                         "[faultloc] mpiexec is out of memory: the end of rank %d is not listed\n",
                         (int) event->end.rank);
}

static void note(const struct HYD_proxy *proxy, int kind, const struct HYD_faultloc_end *end)
{
    struct HYD_faultloc_event event = {.kind = kind, .end = *end};

    if (kind == HYD_FAULTLOC_EVENT_ABORT && end->status == FAULTLOC_LAUNCHER_ABORT_CODE &&
        HYD_faultloc_pgid(proxy) == me.aborts_pgid)
        snprintf(event.class_, sizeof(event.class_), "%s", me.aborts_because);
    add_event(proxy, &event);
}

static void note_end(const struct HYD_proxy *proxy, const struct HYD_faultloc_end *end)
{
    char symptom[HYD_FAULTLOC_SYMPTOM];

    note(proxy, HYD_FAULTLOC_EVENT_END, end);
    retry_all();
    if (!HYD_faultloc_is_crash(end) || !end->agent || end->finalized || end->unsure)
        return;
    HYD_faultloc_symptom(end, symptom, sizeof(symptom));
    add_retry(proxy, end->rank, symptom,
              HYD_faultloc_now_ms() + (end->others || end->pending ? SUCCESSOR_MS : 0));
}

/* How many of its processes standing verdicts say are gone. */
static int count_gone(const struct HYD_proxy *proxy)
{
    int n = 0;

    for (int i = 0; i < proxy->proxy_process_count; i++)
        n += HYD_faultloc_incident_ends(&me.incident, HYD_faultloc_pgid(proxy),
                                        HYD_faultloc_rank_of(proxy, i));
    return n;
}

/* The same of all processes of the proxies that have its connection. */
static int count_gone_there(const struct HYD_proxy *proxy)
{
    int n = 0;

    FOR_EACH_PROXY(p)
    if (HYD_faultloc_connection(p) == HYD_faultloc_connection(proxy))
        n += count_gone(p);
    return n;
}

/* Where ranks are gone their proxy may be, too, without any notice.  A connection is no longer
 * watched once its verdicts are over. */
static void watch_proxies(int64_t now)
{
    bool begin = me.watch_at <= now;

    if (begin)
        me.watch_at = HYD_FAULTLOC_NEVER;

    FOR_EACH_PROXY(proxy)
    if (HYD_faultloc_is_connected(proxy) && (begin || count_gone_there(proxy) == 0))
        HYD_faultloc_watch(proxy, count_gone_there(proxy) > 0);
}

/* As an MPI_Abort, but by the agent: the process is not inside MPI. */
static void note_ending(const struct HYD_proxy *proxy,
                        const struct faultloc_launcher_message *message)
{
    struct HYD_faultloc_event event = {
        .kind = HYD_FAULTLOC_EVENT_ENDING,
        .end = {.rank = message->ended_rank, .pid = message->ended_pid, .inited = 1,
                .status = FAULTLOC_LAUNCHER_ABORT_CODE}};

    snprintf(event.class_, sizeof(event.class_), "%s", message->class_);
    add_event(proxy, &event);
}

/* Ranks that are inside MPI will call MPI_Abort; each node says so. */
static void note_aborts(const struct HYD_proxy *proxy,
                        const struct faultloc_launcher_message *message)
{
    me.aborts_pgid = HYD_faultloc_pgid(proxy);
    snprintf(me.aborts_because, sizeof(me.aborts_because), "%s", message->class_);
}

static void note_message(const struct HYD_proxy *proxy,
                         const struct faultloc_launcher_message *message)
{
    int pgid = HYD_faultloc_pgid(proxy), size = HYD_faultloc_pg(pgid)->pg_process_count;

    if (!faultloc_launcher_is_message(message, sizeof(*message), size))
        return;
    if (message->kind == FAULTLOC_LAUNCHER_REASON) {
        /* without memory the end is listed without it */
        (void) HYD_faultloc_incident_reason(&me.incident, pgid, message);
        return;
    }
    if (message->kind == FAULTLOC_LAUNCHER_ENDING && message->ended_rank < 0) {
        note_aborts(proxy, message);
        return;
    }
    if (!HYD_faultloc_incident_verdict(&me.incident, pgid, HYD_faultloc_now_ms(), message))
        HYD_faultloc_say(stderr, "[faultloc] mpiexec is out of memory: a verdict is not listed\n");
    if (message->kind == FAULTLOC_LAUNCHER_ENDING)
        note_ending(proxy, message);
    if (message->ends_ranks && message->kind == FAULTLOC_LAUNCHER_VERDICT)
        me.watch_at = HYD_faultloc_now_ms() + WATCH_MS;
    watch_proxies(HYD_faultloc_now_ms());
}

static HYD_status read_msg(const struct HYD_proxy *proxy, struct HYD_faultloc_msg *msg)
{
    size_t head = offsetof(struct HYD_faultloc_msg, arrivals), size;
    int count, closed;
    HYD_status status = HYD_SUCCESS;

    status = HYDU_sock_read(proxy->control_fd, msg, (int) head, &count, &closed,
                            HYDU_SOCK_COMM_MSGWAIT);
    HYDU_ERR_POP(status, "unable to read a FAULTLOC message\n");
    HYDU_ASSERT(!closed, status);
    size = HYD_faultloc_msg_size(msg->what);
    if (size > head)
        status = HYDU_sock_read(proxy->control_fd, (char *) msg + head, (int) (size - head), &count,
                                &closed, HYDU_SOCK_COMM_MSGWAIT);
    HYDU_ERR_POP(status, "unable to read a FAULTLOC message\n");
    HYDU_ASSERT(!closed, status);

fn_exit:
    return status;
fn_fail:
    goto fn_exit;
}

HYD_status HYD_faultloc_server_cmd(struct HYD_proxy *proxy)
{
    struct HYD_faultloc_msg msg;
    HYD_status status = read_msg(proxy, &msg);

    HYDU_ERR_POP(status, "unable to read a FAULTLOC message\n");
    switch (msg.what) {
        case HYD_FAULTLOC_END:
            note_end(proxy, &msg.end);
            break;
        case HYD_FAULTLOC_ABORT:
            note(proxy, HYD_FAULTLOC_EVENT_ABORT, &msg.end);
            break;
        case HYD_FAULTLOC_REPLY:
            note_reply(proxy, &msg);
            break;
        case HYD_FAULTLOC_LAUNCHER_MESSAGE:
            note_message(proxy, &msg.message);
            break;
        case HYD_FAULTLOC_ALL_CAME:
            HYD_faultloc_barrier_came(proxy);
            break;
        case HYD_FAULTLOC_ARRIVALS:
            HYD_faultloc_barrier_answer(proxy, &msg.arrivals);
            break;
        case HYD_FAULTLOC_LEFT:
            HYD_faultloc_barrier_left(proxy, &msg.arrivals);
            break;
        case HYD_FAULTLOC_CONNECTS:
            msg.symptom[sizeof(msg.symptom) - 1] = '\0';
            HYD_faultloc_late_print_connects(proxy->node->hostname, &msg.end, msg.symptom,
                                             msg.ref, stderr);
            break;
    }

fn_exit:
    return status;
fn_fail:
    goto fn_exit;
}

/* ---- lost proxies ---------------------------------------------------------------------------- */

/* `silent`: the host may live, and the process with it. */
static void note_lost_process(const struct HYD_proxy *proxy, int local, bool silent)
{
    struct HYD_faultloc_end end = {.rank = HYD_faultloc_rank_of(proxy, local),
                                   .pid = proxy->pid ? proxy->pid[local] : 0,
                                   .inited = 1,
                                   .agent = 1,
                                   .unsure = silent};
    char symptom[HYD_FAULTLOC_SYMPTOM];

    if (HYD_faultloc_incident_has_end(&me.incident, HYD_faultloc_pgid(proxy), end.rank))
        return;
    note(proxy, HYD_FAULTLOC_EVENT_LOST, &end);
    if (silent)
        return;
    snprintf(symptom, sizeof(symptom),
             "{\"kind\": \"process-exited\", \"component\": \"rank %d\", "
             "\"severity\": \"fatal\", \"detail\": \"lost with hydra's proxy on its host\"}",
             (int) end.rank);
    add_retry(proxy, end.rank, symptom, 0);
}

static void note_lost(const struct HYD_proxy *proxy, bool silent)
{
    char symptom[HYD_FAULTLOC_SYMPTOM], host[256];

    me.some_lost = true;
    retry_all();
    snprintf(symptom, sizeof(symptom),
             "{\"kind\": \"proxy-lost\", \"component\": \"node %s\", "
             "\"severity\": \"fatal\", \"detail\": \"%s\"}",
             HYD_faultloc_escape(proxy->node->hostname, host, sizeof(host)),
             silent ? "hydra's proxy there does not answer" : "hydra's proxy there is gone");
    add_retry(proxy, -1, symptom, 0);
    for (int i = 0; i < proxy->proxy_process_count; i++)
        note_lost_process(proxy, i, silent);
    if (silent && !count_gone(proxy))
        HYD_faultloc_say(
            stderr,
            "[faultloc] the connection to hydra's proxy on %s timed out, and there is no "
            "verdict about that host: the job continues without the output of its processes\n",
            proxy->node->hostname);
}

/* If all connected processes wait in a barrier of PMI, the job cannot continue without the lost. */
static void confirm_lost(int64_t now)
{
    HYD_FAULTLOC_EACH_PG(pg)
    if (HYD_faultloc_barrier_holds(pg))
        HYD_faultloc_incident_confirm_lost(&me.incident, pg->pgid, now);
}

/* One that was ordered to end all, and then ended itself, is not lost; nor one that ended before it
 * had read that, because the launcher of another failed while it began. */
static HYD_status close_lost(struct HYD_proxy *proxy, int error,
                             HYD_status (*close) (struct HYD_proxy *))
{
    if (!me.cleaning || (error && !me.launch_failed))
        note_lost(proxy, error && !me.cleaning);
    return close(proxy);
}

static bool reads_for_nobody(const struct HYD_proxy *proxy)
{
    if (HYD_faultloc_is_connected(proxy) && !HYD_faultloc_is_leaving(proxy->control_fd))
        return false;
    HYDT_dmx_deregister_fd(STDIN_FILENO);
    return true;
}

bool HYD_faultloc_server_is_over(int fd, struct HYD_proxy *proxy,
                                 HYD_status (*close) (struct HYD_proxy *), HYD_status *status)
{
    int error;

    if (!HYD_faultloc_on)
        return false;
    if (fd == STDIN_FILENO)
        return reads_for_nobody(proxy);
    if (!HYD_faultloc_is_closed(fd, &error))
        return false;
    FOR_EACH_PROXY(p)
    if (p->control_fd == fd && !*status)
        *status = close_lost(p, error, close);
    return true;
}

HYD_status HYD_faultloc_server_forgive(HYD_status status)
{
    if (!HYD_faultloc_on || !status)
        return status;
    if (me.cleaning || me.some_lost)
        return HYD_SUCCESS;
    FOR_EACH_PROXY(proxy)
    if (HYD_faultloc_is_connected(proxy) && HYD_faultloc_is_leaving(proxy->control_fd))
        return HYD_SUCCESS;
    return status;
}

/* ---- cleaning up ----------------------------------------------------------------------------- */

static bool is_listening(void)
{
    FOR_EACH_PROXY(proxy)
    if (HYD_faultloc_is_connected(proxy))
        return true;
    return false;
}

/* With -disable-auto-cleanup the others are ended by MPI_Abort alone. */
static int64_t clean_at(void)
{
    if (me.cleaning || (HYD_server_info.user_global.auto_cleanup == 0 &&
                        !HYD_faultloc_incident_has_abort(&me.incident)))
        return HYD_FAULTLOC_NEVER;
    return HYD_faultloc_incident_deadline(&me.incident, is_listening());
}

static void begin_cleaning(int64_t now)
{
    me.cleaning = true;
    me.cleaning_since = now;
    FOR_EACH_PROXY(proxy)
    {
        if (HYD_faultloc_is_connected(proxy)) {
            HYD_pmcd_pmiserv_send_signal(proxy, SIGKILL);
        } else { /* one that has not called yet is not waited for, and killed if it does */
            proxy->control_fd = HYD_FD_CLOSED;
            proxy->early_signal = SIGKILL;
        }
    }
}

/* When cleaning up is not waited for any longer. */
static int64_t give_up_at(void)
{
    int64_t wait = 0;

    FOR_EACH_PROXY(proxy)
    if (HYD_faultloc_is_connected(proxy)) {
        bool lost = count_gone(proxy) == proxy->proxy_process_count ||
                    HYD_faultloc_is_silent(proxy->control_fd);
        int64_t ms = lost ? SILENT_MS : CLEAN_MS;
        wait = ms > wait ? ms : wait;
    }
    return me.cleaning_since + wait;
}

static HYD_status give_up(void)
{
    FOR_EACH_PROXY(proxy)
    if (HYD_faultloc_is_connected(proxy))
        note_lost(proxy, false);
    return HYD_pmcd_pmiserv_cleanup_all_pgs();
}

/* Too early is no harm: a time that moves on with each arrival at a barrier is set once. */
static void set_timer(int64_t at, int64_t now)
{
    static int64_t set = 0;
    struct itimerspec t = {.it_value = {0, 0}};

    if (set > now && set <= at)
        return;
    set = at;
    if (at != HYD_FAULTLOC_NEVER) {
        t.it_value.tv_sec = (time_t) (at / 1000);
        t.it_value.tv_nsec = (long) (at % 1000) * 1000000 + 1;
    }
    timerfd_settime(me.timer, TFD_TIMER_ABSTIME, &t, NULL);
}

static int64_t next_due(void)
{
    int64_t at = me.cleaning ? give_up_at() : clean_at();

    at = me.watch_at < at ? me.watch_at : at;
    if (!me.cleaning && HYD_faultloc_barrier_due() < at)
        at = HYD_faultloc_barrier_due();
    for (int i = 0; i < me.retries; i++)
        if (!me.retry[i].done && me.retry[i].due < at)
            at = me.retry[i].due;
    return at;
}

/* Without it the proxy will never call, and mpiexec would wait for ever. */
static void look_at_launchers(int64_t now)
{
    int status = 0;
    const struct HYD_proxy *proxy = HYD_faultloc_failed_launcher(&status);

    me.some_ended = false;
    if (!proxy || me.cleaning)
        return;
    HYD_faultloc_say(
        stderr,
        "[faultloc] the launcher for host %s ended with %s %d before hydra's proxy there "
        "connected: the job is ended\n",
        proxy->node->hostname, WIFSIGNALED(status) ? "signal" : "exit code",
        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    me.launch_failed = true;
    begin_cleaning(now);
}

HYD_status HYD_faultloc_server_turn(HYD_status status)
{
    int64_t now;

    if (!HYD_faultloc_on || (!me.incident.events && !me.some_lost && !me.some_ended &&
                             !me.cleaning && !me.retries && me.watch_at == HYD_FAULTLOC_NEVER &&
                             HYD_faultloc_barrier_due() == HYD_FAULTLOC_NEVER))
        return status;
    now = HYD_faultloc_now_ms();
    if (me.watch_at <= now)
        watch_proxies(now);
    if (me.some_ended)
        look_at_launchers(now);
    if (me.some_lost)
        confirm_lost(now);
    if (!me.cleaning && clean_at() <= now)
        begin_cleaning(now);
    if (me.cleaning && give_up_at() <= now)
        return give_up();
    if (!me.cleaning) {
        run_retries(now);
        HYD_faultloc_barrier_turn(&me.incident, now);
    }
    set_timer(next_due(), now);
    return status;
}

bool HYD_faultloc_server_finish(void)
{
    if (HYD_faultloc_server_code() < 0)
        return false;
    HYD_faultloc_end_launchers(1000);
    fflush(stdout);
    HYD_faultloc_incident_print(&me.incident, stderr);
    return true;
}

int HYD_faultloc_server_code(void)
{
    int code = HYD_faultloc_on ? HYD_faultloc_incident_exit_code(&me.incident) : -1;

    return code < 0 && me.launch_failed ? 255 : code;
}
