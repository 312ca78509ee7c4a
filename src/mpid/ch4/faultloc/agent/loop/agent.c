/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/act/exec.h"
#include "faultloc/agent/act/handlers.h"
#include "faultloc/agent/act/pinger.h"
#include "faultloc/agent/process/link.h"
#include "faultloc/agent/loop/looks.h"
#include "faultloc/agent/report/note.h"
#include "faultloc/agent/process/partner.h"
#include "faultloc/agent/loop/sources.h"
#include "faultloc/agent/report/node_stacks.h"
#include "faultloc/agent/act/stop_job.h"
#include "faultloc/agent/report/reporter.h"
#include "faultloc/base/clock.h"
#include "faultloc/base/iface.h"
#include "faultloc/base/say.h"
#include "faultloc/board/wakeup.h"
#include "faultloc/io/loop.h"
#include "faultloc/net/delivery.h"
#include "faultloc/node/cgroup.h"
#include "faultloc/node/stuck_connections.h"
#include "faultloc/node/link_watch.h"
#include "faultloc/node/rank_lag.h"
#include "faultloc/node/resends.h"
#include "faultloc/node/log.h"
#include "faultloc/node/state.h"
#include "faultloc/node/wait_page.h"
#include "ftree/base/text.h"
#include "ftree/hang/hang.h"
#include "ftree/hang/lag.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

/*
 * The agent: looks at the board from time to time, feeds the core, sends its messages, reports its
 * verdicts.  While the job is well it wakes once per `sample` on the average and sends nothing.
 */

#define LEAVE_PATIENCE (2000 * FTREE_MS) /* when the ranks have ended, for questions and reports */
#define OUTPUT_PATIENCE (2000 * FTREE_MS) /* then, with the output, for verdicts that are over */
#define CRASH_PATIENCE (10000 * FTREE_MS) /* the same where not all left well: who else knows why? */
#define ENDING_PATIENCE (500 * FTREE_MS) /* the same where the job is being ended from outside */
#define VERDICT_PATIENCE (300 * FTREE_MS) /* for the verdict because of which a rank has ended */
/* A job that was sent SIGTERM and lives for so long is not being ended. */
#define ENDING_FOR (120000 * FTREE_MS)
#define LEAVE_LOOK (5 * FTREE_MS)
#define WRITE_PATIENCE_MS 500 /* at the end, for report and trace */
#define SOCKET_CLOSE_MS 500 /* likewise, for its name to be removed */

struct agent {
    struct faultloc_program *p;
    struct faultloc_link link;
    struct faultloc_looks looks;
    struct faultloc_sources sources;
    struct faultloc_reporter reporter;
    struct faultloc_note note;
    struct faultloc_stop_job stop;
    struct faultloc_second second;
    struct faultloc_state state; /* for state probes */
    struct faultloc_losses losses;
    struct faultloc_link_watch data_link;
    struct faultloc_resends resends;
    struct faultloc_lags lags; /* what slows ranks */
    struct faultloc_wait_page waits;
    struct faultloc_stacks stacks;
    struct faultloc_exec exec;
    struct faultloc_handlers handlers;
    struct faultloc_pinger pinger;
    char fabric[64]; /* the library's name */
    int signal_fd;
    ftree_time ending_until; /* the job is being ended from outside; 0: it is not */
    ftree_time leave_by; /* since all ranks have left or ended; FTREE_NEVER: not all have */
    bool leaving; /* the tree has been notified */
    ftree_time output_until; /* then it lets go of the ranks' output; FTREE_NEVER: it has, or stays */
    bool quit; /* the job continues without FaultLoc */
};

/* ---- the core's callbacks -------------------------------------------------------------------- */

static int send_message(void *ctx, const struct ftree_route *to, const void *bytes, size_t len)
{
    struct agent *a = ctx;

    return faultloc_link_send(&a->link, to, bytes, len);
}

static int send_packet(void *ctx, const struct ftree_route *to, bool large, const void *bytes,
                       size_t len)
{
    struct agent *a = ctx;

    return faultloc_link_send_packet(&a->link, to, large, bytes, len);
}

static void take_packets(void *ctx, bool take)
{
    struct agent *a = ctx;

    faultloc_link_packets(&a->link, take);
}

static void look(void *ctx, int32_t i, struct ftree_rank_state *state)
{
    struct agent *a = ctx;

    faultloc_watch_look(&a->p->watch, faultloc_now(), i, true, state);
}

static void look_at_memory(void *ctx, int32_t i, char *text, size_t room)
{
    struct agent *a = ctx;

    faultloc_cgroup_memory(NULL, NULL, faultloc_board_slot(a->p->board, i)->pid, text, room);
}

static void look_at_node(void *ctx, struct ftree_node_state *state)
{
    struct agent *a = ctx;

    faultloc_state_read(&a->state, faultloc_now(), state);
    faultloc_handlers_ask_home(&a->handlers, faultloc_now());
}

static void look_at_losses(void *ctx, char *text, size_t room)
{
    struct agent *a = ctx;
    struct ftree_node_state state;

    faultloc_losses_read(&a->losses, faultloc_now(), &state);
    ftree_text_copy(text, room, state.losses);
}

static void look_at_messages(void *ctx, int32_t i, struct ftree_log *log)
{
    struct agent *a = ctx;

    faultloc_log_look(a->p->board, i, faultloc_now(), log);
}

/* A page of a rank is not to be trusted. */
static void look_at_reason(void *ctx, int32_t i, char *text, size_t room)
{
    struct agent *a = ctx;
    const char *reason = faultloc_board_wait_area(a->p->board, i)->reason;

    snprintf(text, room, "%.*s", FAULTLOC_REASON_SIZE - 1, reason);
}

static bool look_at_data(void *ctx, int32_t node, enum ftree_path path, ftree_time within,
                         ftree_time rtt)
{
    struct agent *a = ctx;

    return faultloc_delivers(faultloc_board_addresses(a->p->board), a->p->job.job.nodes, a->p->self,
                             node, path, within, rtt);
}

static int32_t look_at_connections(void *ctx, struct ftree_connection *c, int32_t n)
{
    struct agent *a = ctx;

    return faultloc_connections(a->p->board, NULL, c, n);
}

static enum ftree_waits_look look_at_waits(void *ctx, int32_t i, uint32_t number,
                                           const int32_t *with, int32_t n,
                                           const struct waits_page **page)
{
    struct agent *a = ctx;

    return faultloc_wait_page_look(&a->waits, faultloc_now(), i, number, with, n, page);
}

static uint64_t last_samples(void *ctx, int32_t *out, int32_t n)
{
    struct agent *a = ctx;

    return faultloc_samples_last(&a->looks.samples, out, n);
}

static bool look_at_stay(void *ctx, int32_t i, struct ftree_stay *stay)
{
    struct agent *a = ctx;

    return faultloc_samples_stay(&a->looks.samples, faultloc_now(), i, stay);
}

static int32_t last_blocks(void *ctx, int32_t i, struct ftree_block *block, int32_t n)
{
    struct agent *a = ctx;

    return faultloc_samples_blocks(&a->looks.samples, i, block, n);
}

static void look_at_lag(void *ctx, int32_t i, struct ftree_lag *lag)
{
    struct agent *a = ctx;

    faultloc_lag_look(&a->lags, faultloc_now(), i, lag);
}

static void remember_verdict(void *ctx, const struct ftree_verdict *v)
{
    struct agent *a = ctx;

    /* in this order: a rank that sees the verdict finds the failure */
    if (v->class_ == FTREE_CLASS_PROCESS_CRASH)
        faultloc_board_give_up_of(a->p->board, v);
    faultloc_board_remember(a->p->board, v);
}

static void tell_verdict(void *ctx, const struct ftree_verdict *v)
{
    struct agent *a = ctx;

    faultloc_reporter_verdict(&a->reporter, v);
    faultloc_exec_verdict(&a->exec, faultloc_now(), v);
    faultloc_stop_job_consider(&a->stop, v, faultloc_now());
}

static void report_verdict(void *ctx, const struct ftree_verdict *v)
{
    struct agent *a = ctx;

    if (!faultloc_note_verdict(&a->note, faultloc_now(), v))
        tell_verdict(a, v);
}

static void note_waiting(void *ctx, const struct ftree_waiting *w)
{
    struct agent *a = ctx;

    faultloc_note_begin(&a->note, w);
}

static void take_setting(void *ctx, const void *bytes, size_t len, bool reports)
{
    struct agent *a = ctx;

    faultloc_sets_came(&a->sources.sets, bytes, len, reports);
}

static void note_answered(void *ctx, const struct ftree_query_result *r)
{
    struct agent *a = ctx;

    if (r->kind == FTREE_QUERY_SET) {
        faultloc_sets_answered(&a->sources.sets, r);
        return;
    }
    if (r->kind == FTREE_QUERY_STACKS)
        faultloc_asks_answered(&a->sources.asks, r); /* or it is of a status */
    faultloc_statuses_answered(&a->sources.statuses, r);
    faultloc_note_answered(&a->note, r);
}

static void say_stacks(struct agent *a, uint32_t number, const struct faultloc_stack *stack,
                       int32_t n, bool details)
{
    struct ftree_stacks s = {0};

    faultloc_stacks_collect(a->p->ft, &a->p->job.job, a->p->self, stack, n, details, &s);
    ftree_stacks_taken(a->p->ft, faultloc_now(), number, &s);
}

static void stacks_taken(void *ctx, uint32_t number, const struct faultloc_stack *stack, int32_t n)
{
    say_stacks(ctx, number, stack, n, false);
}

static void details_taken(void *ctx, uint32_t number, const struct faultloc_stack *stack, int32_t n)
{
    say_stacks(ctx, number, stack, n, true);
}

static bool take_stacks(void *ctx, uint32_t number, const int32_t *local, int32_t n, int what)
{
    struct agent *a = ctx;

    faultloc_handlers_ask_home(&a->handlers, faultloc_now());
    return faultloc_stacks_take(&a->stacks, local, n, what == FTREE_STACKS_CALLERS,
                                what == FTREE_STACKS_DETAILS ? details_taken : stacks_taken, a,
                                number);
}

static bool ask_handlers(void *ctx, int32_t node)
{
    struct agent *a = ctx;

    if (node != a->p->self)
        return faultloc_handlers_ask(&a->handlers, faultloc_now(), node);
    return faultloc_handlers_ask_home(&a->handlers, faultloc_now());
}

static bool listen_on_fabric(void *ctx)
{
    struct agent *a = ctx;

    return faultloc_pinger_listen(&a->pinger, faultloc_now());
}

static bool ask_fabric(void *ctx, uint32_t number, const uint8_t *address, size_t len)
{
    struct agent *a = ctx;

    return faultloc_pinger_ask(&a->pinger, faultloc_now(), number, address, len);
}

static const char *name_fabric(void *ctx)
{
    const struct agent *a = ctx;

    return a->fabric;
}

static void trace(void *ctx, const char *line)
{
    struct agent *a = ctx;

    faultloc_reporter_trace(&a->reporter, line);
}

static const struct ftree_io io = {.send = send_message,
                                   .packet = send_packet,
                                   .packets = take_packets,
                                   .look = look,
                                   .memory = look_at_memory,
                                   .state = look_at_node,
                                   .losses = look_at_losses,
                                   .log = look_at_messages,
                                   .reason = look_at_reason,
                                   .delivers = look_at_data,
                                   .connections = look_at_connections,
                                   .waits = look_at_waits,
                                   .call_name = faultloc_call_name,
                                   .op_name = faultloc_op_name,
                                   .samples = last_samples,
                                   .stay = look_at_stay,
                                   .blocks = last_blocks,
                                   .lag = look_at_lag,
                                   .verdict = remember_verdict,
                                   .report = report_verdict,
                                   .waiting = note_waiting,
                                   .answered = note_answered,
                                   .setting = take_setting,
                                   .stacks = take_stacks,
                                   .handlers = ask_handlers,
                                   .fabric_listen = listen_on_fabric,
                                   .fabric_ask = ask_fabric,
                                   .fabric_name = name_fabric,
                                   .trace = trace};

/* ---- life ------------------------------------------------------------------------------------ */

static int set_rules(void *ctx, ftree_time now, const char *text, size_t len)
{
    struct agent *a = ctx;

    return faultloc_sources_set_rules(&a->sources, now, text, len);
}

static int make_core(struct agent *a)
{
    struct ftree_config cfg;
    int rc;

    ftree_config_default(&cfg);
    cfg.stall = a->p->board->settings.stall;
    cfg.silence = a->p->board->settings.silence;
    cfg.sample = a->p->board->settings.sample;
    cfg.alpha = a->p->board->settings.alpha;
    faultloc_pinger_library(a->p->board->over, a->fabric, sizeof(a->fabric));
    rc = ftree_create(&a->p->job.job, a->p->self, &cfg, &io, a, &a->p->ft);
    if (!rc)
        rc = faultloc_sets_restore(&a->sources.sets, faultloc_now());
    if (!rc)
        rc = faultloc_looks_restore(&a->looks, faultloc_now());
    return rc ? ENOMEM : 0;
}

/* After succession the port is free once the kernel has done with the agent before. */
static void try_listen(struct agent *a, ftree_time now)
{
    bool first = a->p->ports[FTREE_ROLE_AGENT].port;

    if (faultloc_line_listen(&a->link.line, now))
        faultloc_reporter_listening(&a->reporter, first);
}

/* SIGTERM says that the job is being ended: the launcher sends it before it kills the ranks, and a
 * scheduler sends it to all processes. */
static int open_signal(struct agent *a)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    a->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return a->signal_fd < 0 ? errno
                            : faultloc_loop_add(a->p->epoll, a->signal_fd, FAULTLOC_TAG_SIGNAL);
}

static void init_agent(struct agent *a, struct faultloc_program *p)
{
    const char *sys_root = faultloc_board_sys_root(p->board);

    *a = (struct agent){.p = p,
                        .signal_fd = -1,
                        .data_link = {.fd = -1},
                        .resends = {.board = p->board},
                        .second = {.deputy = {.fd = -1},
                                   .fork_at = p->start >= 0 ? FTREE_NEVER : 0},
                        .looks = {.wakeup = -1},
                        .sources = {.sock = {.fd = -1},
                                    .statuses = {.p = p, .reporter = &a->reporter},
                                    .asks = {.p = p},
                                    .sets = {.p = p,
                                             .use_rules = set_rules,
                                             .ctx = a,
                                             .reporter = &a->reporter,
                                             .stop = &a->stop}},
                        .note = {.reporter = &a->reporter, .tell = tell_verdict, .ctx = a},
                        .stop = {.p = p,
                                 .reporter = &a->reporter,
                                 .exec = &a->exec,
                                 .at = FTREE_NEVER},
                        .leave_by = FTREE_NEVER,
                        .output_until = FTREE_NEVER,
                        .state = {.watch = &p->watch,
                                  .sys_root = sys_root,
                                  .iface = p->board->iface[FTREE_PATH_DATA],
                                  .port = p->board->port,
                                  .losses = &a->losses},
                        .losses = {.iface = p->board->iface[FTREE_PATH_DATA],
                                   .port = p->board->port,
                                   .sys_root = sys_root,
                                   .link = &a->data_link.iface_link},
                        .lags = {.watch = &p->watch, .sys_root = sys_root},
                        .waits = {.watch = &p->watch, .job = &p->job.job, .self = p->self}};
    p->ft = NULL; /* a deputy that succeeds has its agent's */
}

static int open_agent(struct agent *a, struct faultloc_program *p)
{
    uint32_t due_mbps;
    int rc;

    init_agent(a, p);
    a->waits.asked = calloc((size_t) p->board->slots, sizeof(*a->waits.asked));
    p->board->agent_pid = (int32_t) getpid();
    p->epoll = epoll_create1(EPOLL_CLOEXEC);
    faultloc_stacks_init(&a->stacks, p->board, p->epoll);
    faultloc_exec_init(&a->exec, p, &a->reporter);
    faultloc_handlers_init(&a->handlers, p);
    faultloc_pinger_init(&a->pinger, p);
    rc = !a->waits.asked ? ENOMEM
         : p->epoll < 0  ? EMFILE
                         : faultloc_looks_open(&a->looks, p, &a->reporter);
    if (!rc)
        rc = faultloc_reporter_open(&a->reporter, p);
    if (!rc)
        rc = open_signal(a);
    if (!rc && p->start >= 0)
        rc = faultloc_loop_add(p->epoll, p->start, FAULTLOC_TAG_START);
    if (!rc)
        rc = faultloc_sources_open(&a->sources, p);
    if (!rc)
        rc = make_core(a);
    if (!rc)
        rc = faultloc_link_open(&a->link, p);
    if (rc)
        return rc;
    faultloc_stacks_ask_leave(p->board, NULL);
    try_listen(a, faultloc_now());
    faultloc_looks_wake(&a->looks);
    due_mbps = faultloc_iface_speed_due(faultloc_board_addresses(p->board), p->board->nodes, p->self);
    if (!faultloc_link_watch_open(&a->data_link, a->state.sys_root, a->state.iface, a->state.port,
                                  due_mbps))
        faultloc_loop_add(p->epoll, a->data_link.fd, FAULTLOC_TAG_LINK);
    faultloc_sources_open_socket(&a->sources);
    faultloc_sources_say_hello(&a->sources);
    return 0;
}

static void end_deputy(const struct agent *a)
{
    if (a->second.deputy.pid)
        kill(a->second.deputy.pid, SIGKILL);
}

/* The launcher waits for each process that has the ranks' standard output or error. */
static void let_go_of_output(void)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (null < 0 || dup2(null, fd) < 0)
            close(fd);
}

/* What others can see of it; the rest ends with the process. */
static void close_agent(struct agent *a)
{
    faultloc_stacks_end(&a->stacks);
    faultloc_exec_end(&a->exec);
    faultloc_handlers_end(&a->handlers);
    faultloc_pinger_end(&a->pinger);
    faultloc_channel_destroy(a->link.line.channel);
    faultloc_wakeup_close(a->p->board, &a->looks.wakeup);
    faultloc_link_watch_close(&a->data_link);
    faultloc_socket_opener_stop(a->sources.opener, SOCKET_CLOSE_MS);
    end_deputy(a);
    faultloc_writer_end(a->reporter.writer, WRITE_PATIENCE_MS);
    /* a thread that is held in the kernel would keep all of them open */
    let_go_of_output();
    faultloc_program_close_others(NULL, 0);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static ftree_time next_event(const struct agent *a)
{
    ftree_time t = faultloc_loop_earlier(a->looks.at, ftree_deadline(a->p->ft));

    t = faultloc_loop_earlier(t, faultloc_pause_deadline(&a->looks.pause));
    t = faultloc_loop_earlier(t, faultloc_pause_deadline(&a->sources.pause));
    t = faultloc_loop_earlier(t, a->stop.at);
    t = faultloc_loop_earlier(t, faultloc_asks_deadline(&a->sources.asks));
    t = faultloc_loop_earlier(t, faultloc_stacks_deadline(&a->stacks));
    t = faultloc_loop_earlier(t, faultloc_exec_deadline(&a->exec));
    t = faultloc_loop_earlier(t, faultloc_handlers_deadline(&a->handlers));
    t = faultloc_loop_earlier(t, faultloc_pinger_deadline(&a->pinger));
    t = faultloc_loop_earlier(t, faultloc_note_deadline(&a->note));
    t = faultloc_loop_earlier(t, faultloc_reporter_deadline(&a->reporter));
    t = faultloc_loop_earlier(t, a->second.fork_at);
    return faultloc_loop_earlier(t, faultloc_line_deadline(&a->link.line));
}

static void handle_start(struct agent *a)
{
    enum faultloc_start_word word = faultloc_start_hear(a->p->start);

    if (word == FAULTLOC_START_WAIT)
        return;
    a->quit = word == FAULTLOC_START_QUIT;
    close(a->p->start);
    a->p->start = -1;
    a->second.fork_at = a->quit ? FTREE_NEVER : 0;
    if (word == FAULTLOC_START_GO)
        faultloc_looks_job_begins(&a->looks, faultloc_now());
}

static void handle_signal(struct agent *a)
{
    struct signalfd_siginfo info;

    if (read(a->signal_fd, &info, sizeof(info)) == sizeof(info))
        a->ending_until = faultloc_now() + ENDING_FOR;
}

/* Before anything else: in the time in which this process was stopped nobody has waited. */
static void note_lateness(struct agent *a, ftree_time now)
{
    ftree_time due = faultloc_loop_earlier(a->looks.at, ftree_deadline(a->p->ft));

    if (due && now > due + FAULTLOC_LATE)
        ftree_late(a->p->ft, now, now - due);
}

static void look_at_link(struct agent *a, ftree_time now)
{
    struct ftree_symptom s;

    if (faultloc_link_watch_symptom(&a->data_link, now, a->p->self, a->looks.waits, &s))
        ftree_symptom(a->p->ft, now, &s);
    if (a->p->board->nodes > 1 && faultloc_resends_look(&a->resends, now, &s))
        ftree_symptom(a->p->ft, now, &s);
}

/* What the kernel tells of the link is looked at when it has lasted, with the ranks. */
static void hear_link(struct agent *a, ftree_time now)
{
    uint32_t changes = a->data_link.changes;

    faultloc_link_watch_hear(&a->data_link, now);
    if (a->data_link.changes != changes)
        ftree_own_link(a->p->ft, now, a->data_link.iface_link == FTREE_LINK_UP);
    a->looks.at =
        faultloc_loop_earlier(a->looks.at, faultloc_link_watch_deadline(&a->data_link, now));
}

static void handle_event(struct agent *a, ftree_time now, uint64_t tag)
{
    if (tag >= FAULTLOC_TAG_RANK)
        faultloc_looks_ended(&a->looks, now, (int32_t) (tag - FAULTLOC_TAG_RANK));
    else if (tag == FAULTLOC_TAG_WAKEUP_SOCKET)
        faultloc_looks_woken(&a->looks);
    else if (tag == FAULTLOC_TAG_LINK)
        hear_link(a, now);
    else if (tag == FAULTLOC_TAG_START)
        handle_start(a);
    else if (tag == FAULTLOC_TAG_PARTNER)
        faultloc_second_look(&a->second, now, 0);
}

static void periodic_look(struct agent *a, ftree_time now)
{
    ftree_time due = a->looks.at, late = due && now > due ? now - due : 0;

    if (late)
        ftree_late(a->p->ft, now, late);
    faultloc_second_look(&a->second, now, late);
    faultloc_looks_all(&a->looks, now);
    look_at_link(a, now);
    a->looks.at =
        faultloc_loop_earlier(a->looks.at, faultloc_link_watch_deadline(&a->data_link, now));
}

static void turn(struct agent *a)
{
    uint64_t tags[16];
    int n = faultloc_loop_wait(a->p->epoll, next_event(a), tags, 16);
    ftree_time now = faultloc_now();

    note_lateness(a, now);
    faultloc_line_turn(&a->link.line, now);
    /* a signal first: it says why processes end */
    for (int i = 0; i < n; i++)
        if (tags[i] == FAULTLOC_TAG_SIGNAL)
            handle_signal(a);
    a->looks.ending = now < a->ending_until || faultloc_stop_job_is_due(&a->stop, now);
    for (int i = 0; i < n; i++)
        handle_event(a, now, tags[i]);
    faultloc_writer_done(a->reporter.writer);
    faultloc_looks_peer_errors(&a->looks, now);
    faultloc_link_hand_over(&a->link, now);
    faultloc_sources_receive(&a->sources, now);
    if (now >= a->looks.at)
        periodic_look(a, now);
    if (now >= ftree_deadline(a->p->ft))
        ftree_tick(a->p->ft, now);
    faultloc_link_hand_over(&a->link, now);
    faultloc_sets_turn(&a->sources.sets, now);
    faultloc_stacks_turn(&a->stacks, now);
    faultloc_exec_turn(&a->exec, now);
    faultloc_handlers_turn(&a->handlers, now);
    faultloc_pinger_turn(&a->pinger, now);
    faultloc_asks_turn(&a->sources.asks, now);
    faultloc_note_turn(&a->note, now);
    faultloc_reporter_turn(&a->reporter, now, a->looks.ending);
    try_listen(a, now);
    faultloc_stop_job_turn(&a->stop, now);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* What no other process would continue: a verdict that is still to be announced or written, and a
 * question that may be answered soon. */
static bool has_pending_work(const struct agent *a)
{
    return ftree_has_unannounced(a->p->ft) || ftree_has_unacknowledged(a->p->ft) ||
           !faultloc_writer_done(a->reporter.writer) || faultloc_exec_runs(&a->exec) ||
           (!a->looks.ending && ftree_is_asking(a->p->ft));
}

/* A rank has ended because of another, and the verdict on that may still be on its way here, to ask for
 * victims. */
static bool awaits_verdict(const struct agent *a, ftree_time now)
{
    if (faultloc_looks_are_open(&a->looks))
        return true;
    for (int32_t i = 0; i < a->p->board->slots && !a->looks.ending; i++)
        if (faultloc_board_slot(a->p->board, i)->state >= FAULTLOC_SLOT_VICTIM &&
            now - a->p->watch.seen[i].left < VERDICT_PATIENCE)
            return true;
    return false;
}

/* All have left, not one has crashed. */
static bool all_left_well(const struct agent *a)
{
    for (int32_t i = 0; i < a->p->board->slots; i++)
        if (faultloc_board_slot(a->p->board, i)->state != FAULTLOC_SLOT_LEFT)
            return false;
    return true;
}

/* Who was asked to end may have called MPI_Abort, which counts as having left.  Where only some have
 * crashed, and the job has gone on, the last one leaves together with the others. */
static bool is_cut_short(const struct agent *a)
{
    bool is_last = false;

    for (int32_t i = 0; i < a->p->board->slots; i++) {
        uint32_t state = faultloc_board_slot(a->p->board, i)->state;
        if (state > FAULTLOC_SLOT_LEFT)
            return true;
        is_last = is_last || state == FAULTLOC_SLOT_LEFT;
    }
    return a->looks.ending || !is_last;
}

static bool any_verdict_stands(const struct agent *a)
{
    struct ftree_verdict v;

    for (int32_t i = 0; ftree_verdict_at(a->p->ft, i, &v); i++)
        if (!v.withdrawn)
            return true;
    return false;
}

/* Who leaves together with the others waits for them, so that nobody is missed. */
static void leave(struct agent *a, ftree_time now)
{
    bool cut_short = is_cut_short(a);

    a->leaving = true;
    if (cut_short)
        ftree_leave_at_once(a->p->ft, now);
    else
        ftree_leave(a->p->ft, now);
    a->output_until = cut_short ? now : now + OUTPUT_PATIENCE;
}

/* That all have left may withdraw a verdict, and people are to read that.  The deputy has the output,
 * too. */
static void let_go(struct agent *a, ftree_time now)
{
    if (a->output_until == FTREE_NEVER ||
        (now < a->output_until &&
         (any_verdict_stands(a) || !faultloc_writer_done(a->reporter.writer))))
        return;
    let_go_of_output();
    end_deputy(a);
    a->output_until = FTREE_NEVER;
}

/* The agent stays while a rank of its node has not left, then while its findings are reported, then
 * while other nodes have not left, and not for ever. */
static bool may_end(struct agent *a)
{
    const struct faultloc_channel *channel = a->link.line.channel;
    ftree_time now = faultloc_now();

    if (a->quit)
        return true;
    if (!faultloc_watch_all_left(&a->p->watch))
        return false;
    if (a->leave_by == FTREE_NEVER) {
        a->leave_by = now + (all_left_well(a) ? LEAVE_PATIENCE : CRASH_PATIENCE);
        faultloc_looks_all(&a->looks, now); /* a wait that has ended may refute a verdict */
    }
    if (a->looks.ending)
        a->leave_by = faultloc_loop_earlier(a->leave_by, now + ENDING_PATIENCE);
    a->looks.at = now + LEAVE_LOOK;
    if (is_cut_short(a))
        faultloc_note_end(&a->note);
    faultloc_reporter_turn(&a->reporter, now, true);
    if (!a->leaving && (has_pending_work(a) || awaits_verdict(a, now)) && now < a->leave_by)
        return false;
    if (!a->leaving)
        leave(a, now);
    let_go(a, now);
    if (faultloc_exec_runs(&a->exec)) /* at most until its deadline */
        return false;
    return ftree_may_go(a->p->ft) && (!channel || faultloc_channel_unsent(channel) == 0);
}

void faultloc_agent_run(struct faultloc_program *p)
{
    struct agent a;
    int rc = open_agent(&a, p);

    if (p->start >= 0)
        faultloc_start_answer(p->start, rc);
    else if (rc)
        faultloc_say("node %s: its agent has stopped: %s; the node is no longer monitored",
                     p->job.names[p->self], strerror(rc));
    if (!rc)
        faultloc_losses_begin(&a.losses, faultloc_now()); /* MPI_Init does not wait for a driver */
    while (!rc && !may_end(&a)) {
        turn(&a);
        if (!a.leaving && faultloc_second_fork(&a.second, p, a.reporter.writer, faultloc_now()))
            return;
    }
    close_agent(&a);
    _exit(rc ? 1 : 0);
}
