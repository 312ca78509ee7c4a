/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/program.h"

#include "faultloc/board/bell.h"
#include "faultloc/node/calls.h"
#include "faultloc/base/clock.h"
#include "faultloc/io/door.h"
#include "faultloc/base/iface.h"
#include "faultloc/io/launcher_tell.h"
#include "faultloc/node/log.h"
#include "faultloc/io/loop.h"
#include "faultloc/base/proc.h"
#include "faultloc/io/reader.h"
#include "faultloc/base/say.h"
#include "faultloc/node/state.h"
#include "faultloc/board/verdicts.h"
#include "faultloc/io/writer.h"
#include "topo.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The agent: looks at the board from time to time, feeds the core, moves its messages, tells its
 * verdicts.  While the job is well it wakes once per `sample` on the average and sends nothing.
 */

/* Hydra does not drain stderr when a job is aborted: the report gets a head start. */
#define REPORT_DELAY (250 * FTREE_MS)
#define ABORT_PATIENCE (300 * FTREE_MS) /* for a rank to see that the job is to end */
#define LEAVE_PATIENCE (2000 * FTREE_MS) /* when the ranks have ended, for what is asked and told */
#define ENDING_PATIENCE (500 * FTREE_MS) /* the same where the job is being ended from outside */
#define ENDING_FOR (120000 * FTREE_MS) /* a job that was sent SIGTERM and lives is not being ended */
#define LEAVE_LOOK (5 * FTREE_MS)
#define WRITE_PATIENCE_MS 500 /* at the end, for report and trace */
#define FORK_PAUSE (1000 * FTREE_MS) /* between two deputies */
#define FORK_PATIENCE (1000 * FTREE_MS) /* for threads that do something; then it may take long */
#define CONSEQUENCE_NS (5000 * FTREE_MS) /* in which a rank may end because it has lost a peer */
#define RULES_PATIENCE (500 * FTREE_MS) /* at start, for a file system to give the rules */
#define UNTOLD_MAX 32
#define TRACE_LINES 64 /* that a report can have */
#define TRACE_BYTES 256

enum tag {
    TAG_CHANNEL,
    TAG_START,
    TAG_SIGNAL,
    TAG_DEPUTY,
    TAG_RULES,
    TAG_DOOR,
    TAG_BELL,
    TAG_WRITER,
    TAG_RANK
};

/* What a send said at once; the core hears of it when it has returned. */
struct untold {
    int32_t node;
    uint8_t path, role, reach;
    int error;
};

struct agent {
    struct faultloc_program *p;
    struct faultloc_channel *channel; /* NULL: the node is alone */
    struct ftree *ft;
    struct faultloc_writer *writer;
    int epoll, signal_fd;
    int *pid_fd; /* [slots], -1: none */
    int bell; /* -1: there is none */
    struct faultloc_partner deputy;
    uint32_t *heard; /* [slots]; of what the ranks' transports told */
    bool *stalled; /* [slots] */
    struct faultloc_state state; /* for state probes */
    struct untold untold[UNTOLD_MAX];
    int untold_n;
    struct ftree_rules *rules; /* that are used */
    struct faultloc_reader *reader; /* of others; NULL: there is no file of them */
    struct faultloc_door door;
    char decision[TRACE_LINES][TRACE_BYTES]; /* a ring */
    uint32_t decisions; /* so far */
    int32_t restored; /* of the board's verdicts */
    int32_t withdrawals; /* of the board, when they were */
    ftree_time look_at;
    ftree_time abort_at; /* FTREE_NEVER: nothing is to end the job */
    struct ftree_verdict fatal; /* that is, because of this */
    ftree_time forked; /* when the deputy was */
    ftree_time fork_at; /* when the next deputy may be forked; FTREE_NEVER: there is one */
    ftree_time fork_by; /* since then whatever other threads do; 0: it is not yet time for one */
    ftree_time ending_until; /* see `ending`; 0: never told */
    ftree_time leave_by; /* since all ranks have left or ended; FTREE_NEVER: not all have */
    struct faultloc_retry listen;
    uint64_t random;
    bool malformed_said, fork_failed;
    bool told; /* people, of a verdict */
    bool ending; /* the job is being ended from outside: no end of a process is a fault */
    bool leaving; /* the tree has been told */
    bool confirming; /* it is asked whether `fatal` still stands */
    bool quit; /* the job does without */
};

/* ---- out: the core's callbacks ------------------------------------------------------------- */

static enum ftree_reach core_reach(enum faultloc_channel_reach reach, int error)
{
    switch (reach) {
        case FAULTLOC_CHANNEL_LOST:
            /* who listens there now is not of this job: the agent is as gone as if nobody did */
            return error == EPROTO ? FTREE_REACH_REFUSED : FTREE_REACH_NOT_ASKED;
        case FAULTLOC_CHANNEL_CONNECTED:
            return FTREE_REACH_CONNECTED;
        case FAULTLOC_CHANNEL_REFUSED:
            return FTREE_REACH_REFUSED;
        case FAULTLOC_CHANNEL_UNREACHABLE:
            return FTREE_REACH_UNREACHABLE;
        case FAULTLOC_CHANNEL_LOCAL_DOWN:
            return FTREE_REACH_LOCAL_DOWN;
        default:
            return FTREE_REACH_NOT_ASKED;
    }
}

static int send_message(void *ctx, const struct ftree_route *to, const void *bytes, size_t len)
{
    struct agent *a = ctx;
    ftree_time now = faultloc_now();
    int rc = EDESTADDRREQ;

    if (!a->channel)
        return rc;
    if (to->conn)
        rc = faultloc_channel_reply(a->channel, now, to->conn, bytes, len);
    if (rc)
        rc = faultloc_channel_send(a->channel, now, to->node, (enum faultloc_path) to->path,
                                   (enum faultloc_role) to->role,
                                   to->fresh ? FAULTLOC_SEND_FRESH : 0, bytes, len);
    if (rc && a->untold_n < UNTOLD_MAX)
        a->untold[a->untold_n++] =
            (struct untold){.node = to->node,
                            .path = to->path,
                            .role = to->role,
                            .reach = (uint8_t) core_reach(faultloc_channel_reach_of(rc), rc),
                            .error = rc};
    return rc;
}

static void look(void *ctx, int32_t i, struct ftree_rank_state *state)
{
    struct agent *a = ctx;

    faultloc_watch_look(&a->p->watch, faultloc_now(), i, true, state);
}

static void look_at_node(void *ctx, struct ftree_node_state *state)
{
    struct agent *a = ctx;

    faultloc_state_read(&a->state, faultloc_now(), state);
}

static void look_at_messages(void *ctx, int32_t i, struct ftree_log *log)
{
    struct agent *a = ctx;

    faultloc_log_look(a->p->board, i, faultloc_now(), log);
}

static void remember_verdict(void *ctx, const struct ftree_verdict *v)
{
    struct agent *a = ctx;

    /* in this order: who hears of the verdict finds the failure */
    if (v->class_ == FTREE_CLASS_PROCESS_CRASH)
        faultloc_board_give_up_of(a->p->board, v);
    faultloc_board_remember(a->p->board, v);
}

static void trace(void *ctx, const char *line)
{
    struct agent *a = ctx;
    char out[512];
    int64_t ms;

    snprintf(a->decision[a->decisions++ % TRACE_LINES], TRACE_BYTES, "%s", line);
    if (!faultloc_writer_has_trace(a->writer))
        return;
    ms = faultloc_unix_ms();
    snprintf(out, sizeof(out), "%lld.%03d %s: %s\n", (long long) (ms / 1000), (int) (ms % 1000),
             a->p->job.names[a->p->self], line);
    ftree_report_clean(out, strcspn(out, "\n"), '?');
    faultloc_writer_trace(a->writer, out);
}

/* The verdicts known: an array of pointers, in one piece with what they point to, that must be
 * freed; NULL: out of memory. */
static const struct ftree_verdict **list_verdicts(const struct agent *a, int32_t *n)
{
    const struct ftree_verdict **list;
    struct ftree_verdict v, *verdicts;

    for (*n = 0; ftree_verdict_at(a->ft, *n, &v);)
        ++*n;
    list = malloc((size_t) (*n + 1) * (sizeof(*list) + sizeof(v)));
    verdicts = (struct ftree_verdict *) (list + *n + 1);
    for (int32_t i = 0; list && i < *n; i++) {
        ftree_verdict_at(a->ft, i, &verdicts[i]);
        list[i] = &verdicts[i];
    }
    return list;
}

/* The last decisions, oldest first. */
static int32_t list_decisions(const struct agent *a, const char *line[TRACE_LINES])
{
    uint32_t n = a->decisions < TRACE_LINES ? a->decisions : TRACE_LINES;

    for (uint32_t i = 0; i < n; i++)
        line[i] = a->decision[(a->decisions - n + i) % TRACE_LINES];
    return (int32_t) n;
}

/* Whether a job with this fault can never go on: not where the fault was not found, nor where a
 * debugger holds a process. */
static bool is_fatal(const struct ftree_verdict *v)
{
    for (int32_t i = 0; i < v->evidences; i++)
        if (v->evidence[i].proc_state == 't')
            return false;
    return !v->withdrawn && v->class_ != FTREE_CLASS_UNKNOWN;
}

static void tell_launcher(const struct agent *a, const struct ftree_verdict *v)
{
    struct faultloc_launcher_word w;

    faultloc_launcher_verdict(&a->p->job.job, v, &w);
    faultloc_launcher_send(a->p->board->settings.launcher, &w);
}

/* Who told people before is lost, and with it, perhaps, what its launcher was to hand on. A launcher
 * knows what it has heard of before. */
static void tell_launcher_of_others(const struct agent *a, const struct ftree_verdict *v,
                                    const struct ftree_verdict *const *known, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (!known[i]->withdrawn && !known[i]->own_only && known[i]->located < v->located &&
            (known[i]->fln != v->fln || known[i]->id != v->id))
            tell_launcher(a, known[i]);
}

/* What is silent or stopped may be so for a moment only; a process that has ended has ended. */
static ftree_time patience_before_abort(const struct agent *a, const struct ftree_verdict *v)
{
    ftree_time patience = a->p->board->settings.patience;

    return v->class_ == FTREE_CLASS_PROCESS_CRASH || patience < REPORT_DELAY ? REPORT_DELAY
                                                                             : patience;
}

static void consider_abort(struct agent *a, const struct ftree_verdict *v, ftree_time now)
{
    ftree_time at = now + patience_before_abort(a, v);

    if (a->p->board->settings.action != FAULTLOC_ACTION_ABORT || a->confirming ||
        a->abort_at <= at || v->own_only || !is_fatal(v))
        return;
    a->fatal = *v;
    a->abort_at = at;
}

static void tell(void *ctx, const struct ftree_verdict *v)
{
    struct agent *a = ctx;
    struct report_job rj = {.job = &a->p->job.job,
                            .id = a->p->board->job_id,
                            .started_ms = a->p->board->started_ms,
                            .now = faultloc_now(),
                            .address = faultloc_board_address,
                            .address_ctx = a->p->board,
                            .verbose = a->p->board->settings.verbose};
    const struct ftree_verdict **known = list_verdicts(a, &rj.knowns);
    const char *line[TRACE_LINES], *path = a->p->board->settings.report;
    uint32_t report = 0;

    rj.known = known;
    rj.knowns = known ? rj.knowns : 0;
    rj.trace = line;
    rj.traces = list_decisions(a, line);
    rj.now_ms = faultloc_unix_ms();
    /* the file first: the text says that it is there */
    if (path[0] && !v->own_only)
        report = faultloc_writer_report(a->writer, known ? ftree_report_json(&rj) : NULL);
    faultloc_writer_text(a->writer, ftree_report_text(&rj, v, report ? path : NULL),
                         report ? ftree_report_text(&rj, v, NULL) : NULL, report);
    if (!v->own_only && !a->told && a->p->self != 0)
        tell_launcher_of_others(a, v, known, rj.knowns);
    if (!v->own_only)
        tell_launcher(a, v);
    a->told |= !v->own_only;
    free(known);
    faultloc_board_remember(a->p->board, v); /* from here on no successor need tell it */
    consider_abort(a, v, faultloc_now());
}

static const struct ftree_io io = {.send = send_message,
                                   .look = look,
                                   .state = look_at_node,
                                   .log = look_at_messages,
                                   .verdict = remember_verdict,
                                   .report = tell,
                                   .trace = trace};

/* ---- in: the channel's callbacks ------------------------------------------------------------ */

static void on_message(void *ctx, int32_t from, enum faultloc_path path, enum faultloc_role role,
                       uint64_t conn, const void *bytes, size_t len)
{
    struct agent *a = ctx;
    int rc = ftree_receive(a->ft, faultloc_now(), from, (enum ftree_path) path, conn, bytes, len);

    (void) role;
    if (rc && rc != FTREE_ERR_NOMEM && !a->malformed_said) {
        a->malformed_said = true;
        faultloc_say("node %s: a message from node %s was ignored: %s (further ones are, too)",
                     a->p->job.names[a->p->self], a->p->job.names[from], ftree_strerror(rc));
    }
}

static void on_reach(void *ctx, int32_t node, enum faultloc_path path, enum faultloc_role role,
                     enum faultloc_channel_reach reach, int error)
{
    struct agent *a = ctx;
    enum ftree_reach core = core_reach(reach, error);

    if (core != FTREE_REACH_NOT_ASKED)
        ftree_reached(a->ft, faultloc_now(), node, (enum ftree_path) path, (enum ftree_role) role,
                      core, error);
}

static void on_intruder(void *ctx, enum faultloc_intruder kind, const struct sockaddr *peer)
{
    struct agent *a = ctx;
    char text[INET6_ADDRSTRLEN] = "?";

    if (peer && peer->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *) peer)->sin_addr, text, sizeof(text));
    else if (peer && peer->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *) peer)->sin6_addr, text, sizeof(text));
    faultloc_say("node %s: refused %s, which %s (further ones are refused without a word)",
                 a->p->job.names[a->p->self], text, faultloc_intruder_text(kind));
}

static void hand_over_untold(struct agent *a, ftree_time now)
{
    int n = a->untold_n;

    a->untold_n = 0;
    for (int i = 0; i < n; i++)
        if (a->untold[i].reach != FTREE_REACH_NOT_ASKED)
            ftree_reached(a->ft, now, a->untold[i].node, a->untold[i].path, a->untold[i].role,
                          a->untold[i].reach, a->untold[i].error);
}

/* ---- the deputy ------------------------------------------------------------------------------ */

/* A lock that another thread holds at that moment would never be given back in the child.  One that is
 * held up by a file system for long holds none. */
static bool is_good_moment(struct agent *a, ftree_time now)
{
    if (!a->fork_by)
        a->fork_by = now + FORK_PATIENCE;
    if (now < a->fork_by && !faultloc_writer_idle(a->writer)) {
        a->fork_at = now + FTREE_MS;
        return false;
    }
    a->fork_by = 0;
    return true;
}

static void fork_deputy(struct agent *a, ftree_time now)
{
    int rc;

    if (now < a->fork_at || a->leaving || !is_good_moment(a, now))
        return;
    rc = faultloc_program_fork(a->p, &a->deputy);
    a->forked = now;
    a->fork_at = rc ? now + FORK_PAUSE : FTREE_NEVER;
    if (a->deputy.fd >= 0)
        faultloc_loop_add(a->epoll, a->deputy.fd, TAG_DEPUTY);
    if (rc && !a->fork_failed)
        faultloc_say("node %s: its agent has no deputy: %s; the node is monitored as long as its "
                     "agent runs",
                     a->p->job.names[a->p->self], strerror(rc));
    a->fork_failed = rc != 0;
}

static void look_at_deputy(struct agent *a, ftree_time now, ftree_time late)
{
    if (!a->deputy.pid || !faultloc_partner_look(&a->deputy, now, late))
        return;
    if (a->deputy.fd >= 0)
        close(a->deputy.fd);
    a->deputy = (struct faultloc_partner){.fd = -1};
    a->fork_at = now + (now - a->forked < FORK_PAUSE ? FORK_PAUSE : 0);
}

/* ---- the board ----------------------------------------------------------------------------- */

static uint64_t draw(struct agent *a)
{
    /* xorshift64*, Vigna 2016; good enough to keep nodes from looking in step */
    a->random ^= a->random >> 12;
    a->random ^= a->random << 25;
    a->random ^= a->random >> 27;
    return a->random * 2685821657736338717u;
}

/* Verdicts of the agent before this one, or of who acted for it while it was stopped. */
static int restore_verdicts(struct agent *a, ftree_time now)
{
    const struct faultloc_board *b = a->p->board;
    struct ftree_verdict v;
    int rc = FTREE_OK;

    if (a->withdrawals != b->withdrawals)
        a->restored = 0;
    a->withdrawals = b->withdrawals;
    /* one that the agent before was just writing when it ended is known to others */
    for (; !rc && a->restored < b->verdicts; a->restored++)
        if (faultloc_board_read(b, a->restored, &v))
            rc = ftree_restore(a->ft, now, &v);
    return rc;
}

static void end_stall(struct agent *a, ftree_time now, int32_t i, int32_t rank)
{
    if (a->stalled[i])
        ftree_stall_over(a->ft, now, rank);
    a->stalled[i] = false;
}

static void trace_stall(struct agent *a, int32_t i, const struct ftree_rank_state *s)
{
    char line[128];

    if (a->stalled[i] || !faultloc_writer_has_trace(a->writer))
        return;
    snprintf(line, sizeof(line), "rank %d waits in %s", (int) s->rank,
             faultloc_call_name(faultloc_board_slot(a->p->board, i)->call));
    trace(a, line);
}

/* It exited by itself after its transport had lost a peer: it is a victim of that. */
static bool is_consequence(const struct agent *a, ftree_time now, int32_t i)
{
    const struct faultloc_slot *slot = faultloc_board_slot(a->p->board, i);
    const struct faultloc_told *told = &((const struct faultloc_page *) (const void *) slot)->told;
    uint32_t n = told->count;
    int status;

    return n > 0 && now - told->entry[(n - 1) % FAULTLOC_TOLD].at_ns < CONSEQUENCE_NS &&
           faultloc_proc_status(a->pid_fd[i], slot->pid, &status) && WIFEXITED(status);
}

static void process_gone(struct agent *a, ftree_time now, int32_t i)
{
    struct faultloc_slot *slot = faultloc_board_slot(a->p->board, i);

    if (slot->state >= FAULTLOC_SLOT_LEFT)
        return;
    if (a->ending || is_consequence(a, now, i))
        slot->state = FAULTLOC_SLOT_VICTIM;
    else
        ftree_rank_gone(a->ft, now, slot->rank);
}

/* One look at all slots.  The next is due at a random moment, or sooner when a wait that goes on
 * will reach the limit. */
static void look_at_board(struct agent *a, ftree_time now)
{
    struct ftree_rank_state s;
    ftree_time sample = a->p->board->settings.sample, stall = a->p->board->settings.stall;
    ftree_time late = a->look_at && now > a->look_at ? now - a->look_at : 0;

    if (late)
        ftree_late(a->ft, now, late);
    look_at_deputy(a, now, late);
    if (faultloc_watch_is_stopped(&a->p->watch, now))
        ftree_rank_stopped(a->ft, now);
    a->look_at = now + sample / 2 + draw(a) % (sample + 1);
    restore_verdicts(a, now);
    faultloc_board_settle(a->p->board, now, a->p->board->settings.patience);
    for (int32_t i = 0; i < a->p->board->slots; i++) {
        faultloc_log_tick(a->p->board, i, now);
        faultloc_watch_look(&a->p->watch, now, i, a->pid_fd[i] < 0, &s);
        if (s.phase == FTREE_PHASE_GONE && a->pid_fd[i] < 0) {
            process_gone(a, now, i);
        } else if (s.phase == FTREE_PHASE_LEFT) {
            end_stall(a, now, i, s.rank);
        } else if (s.waiting >= stall) {
            trace_stall(a, i, &s);
            a->stalled[i] = true;
            ftree_stall(a->ft, now, s.rank, s.peer, s.waiting);
        } else {
            end_stall(a, now, i, s.rank);
            if (s.waiting > 0 && now + stall - s.waiting < a->look_at)
                a->look_at = now + stall - s.waiting;
        }
    }
}

static void rank_ended(struct agent *a, ftree_time now, int32_t i)
{
    epoll_ctl(a->epoll, EPOLL_CTL_DEL, a->pid_fd[i], NULL);
    faultloc_watch_gone(&a->p->watch, i);
    process_gone(a, now, i);
}

/* ---- rules and symptoms of other middleware ------------------------------------------------- */

static void use_rules(struct agent *a, ftree_time now, struct ftree_rules *rules)
{
    struct ftree_rules *old = a->rules;

    a->rules = rules;
    a->p->job.job.rules = rules;
    if (a->ft)
        ftree_use_rules(a->ft, now, rules);
    ftree_rules_free(old);
}

/* True: there was news. */
static bool take_rules(struct agent *a, ftree_time now)
{
    struct faultloc_rules_news news;

    if (!a->reader || !faultloc_reader_take(a->reader, &news))
        return false;
    if (news.base)
        use_rules(a, now, news.base);
    if (news.text[0])
        faultloc_say("%s", news.text);
    return true;
}

/* The file is given a moment, so that a job begins with its own rules. */
static void open_reader(struct agent *a)
{
    const char *node = a->p->job.names[a->p->self], *path = a->p->board->settings.rules;
    ftree_time until = faultloc_now() + RULES_PATIENCE;
    bool tells = a->p->job.job.rank_node[0] == a->p->self, taken = false;
    int rc = faultloc_reader_start(path, node, tells, &a->reader);
    uint64_t tags[4];

    if (!rc)
        rc = faultloc_loop_add(a->epoll, faultloc_reader_fd(a->reader), TAG_RULES);
    while (!rc && !taken && faultloc_now() < until) {
        faultloc_loop_wait(a->epoll, until, tags, 4);
        taken = take_rules(a, faultloc_now());
    }
    if (!taken)
        faultloc_say("node %s: rules: %s: %s; the built-in rules are used%s", node, path,
                     rc ? strerror(rc) : "no answer of its file system yet",
                     rc ? "" : " until it can be read");
}

static int open_rules(struct agent *a)
{
    struct ftree_rules *builtin;
    int rc = 0;

    if (a->p->board->settings.rules[0])
        open_reader(a);
    if (!a->rules)
        rc = faultloc_rules_builtin(&builtin);
    if (!a->rules && !rc)
        use_rules(a, faultloc_now(), builtin);
    return rc;
}

/* The launcher is told who the agent is, and where it hears symptoms, if anywhere. */
static void say_hello(const struct agent *a)
{
    struct faultloc_launcher_word w;

    faultloc_launcher_hello(a->door.fd >= 0 ? a->door.path : "", &w);
    faultloc_launcher_send(a->p->board->settings.launcher, &w);
}

static void open_door(struct agent *a, ftree_time now)
{
    if (!a->p->board->settings.symptoms || !faultloc_door_open(&a->door, now, a->p->board->job_id))
        return;
    faultloc_loop_add(a->epoll, a->door.fd, TAG_DOOR);
    say_hello(a);
}

static void hear_symptoms(struct agent *a, ftree_time now)
{
    struct ftree_symptom s;
    int budget = 0;

    while (faultloc_door_next(&a->door, now, &budget, &s))
        ftree_symptom(a->ft, now, &s);
}

/* What the transports of the own ranks say of their peers. */
static void hear_transport(struct agent *a, ftree_time now)
{
    const struct faultloc_board *b = a->p->board;
    struct ftree_symptom s;

    for (int32_t i = 0; i < b->slots; i++) {
        const struct faultloc_page *page = (const void *) faultloc_board_slot(b, i);
        while (faultloc_told_read(&page->told, &a->p->job.job, now, &a->heard[i], &s))
            ftree_symptom(a->ft, now, &s);
    }
}

static void open_bell(struct agent *a)
{
    if (faultloc_bell_open(a->p->board, &a->bell) == 0)
        faultloc_loop_add(a->epoll, a->bell, TAG_BELL);
}

/* ---- life ---------------------------------------------------------------------------------- */

static int make_core(struct agent *a)
{
    struct ftree_config cfg;
    int rc;

    ftree_config_default(&cfg);
    cfg.stall = a->p->board->settings.stall;
    cfg.silence = a->p->board->settings.silence;
    rc = ftree_create(&a->p->job.job, a->p->self, &cfg, &io, a, &a->ft);
    if (!rc)
        rc = restore_verdicts(a, faultloc_now());
    return rc ? ENOMEM : 0;
}

/* A descriptor that tells the end of local rank i; -1: there is none, and /proc is to be asked. */
static int watch_process(struct agent *a, int32_t i)
{
    const struct faultloc_slot *slot = faultloc_board_slot(a->p->board, i);
    enum faultloc_proc_fate fate;
    int fd = faultloc_proc_pidfd(slot->pid);

    if (fd < 0)
        return -1;
    /* its number may be another's already */
    if ((faultloc_proc_fate(NULL, slot->pid, slot->start, &fate) == 0 &&
         fate == FAULTLOC_PROC_GONE) ||
        faultloc_loop_add(a->epoll, fd, TAG_RANK + (uint64_t) i)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void watch_processes(struct agent *a)
{
    for (int32_t i = 0; i < a->p->board->slots; i++)
        a->pid_fd[i] = watch_process(a, i);
}

static void trace_port(struct agent *a)
{
    const struct faultloc_address *own = &faultloc_board_addresses(a->p->board)[a->p->self];
    char line[64];

    snprintf(line, sizeof(line), "listens on port %u", (unsigned) own->port[FAULTLOC_ROLE_AGENT]);
    trace(a, line);
}

/* Who acts for the root when it is lost is drawn by a seed: without this nobody could foresee it. */
static void trace_substitutes(struct agent *a)
{
    const struct ftree_job *job = &a->p->job.job;
    struct topo t = {
        .nodes = job->nodes, .fanout = job->fanout, .seed = job->seed, .tree = job->tree};
    char line[256] = "the root's substitutes:";
    size_t len = strlen(line);
    int32_t n;

    for (int32_t k = 1; k <= 3 && len < sizeof(line); k++) {
        n = ftree_topo_root_substitute(&t, k);
        if (n == FTREE_NONE)
            break;
        len += (size_t) snprintf(line + len, sizeof(line) - len, "%s %s", k > 1 ? "," : "",
                                 a->p->job.names[n]);
    }
    trace(a, line);
}

/* After succession the port is free once the kernel has done with the agent before. */
static void try_listen(struct agent *a, ftree_time now)
{
    bool first = a->p->ports[FAULTLOC_ROLE_AGENT].port;

    if (!faultloc_program_listen(a->p, a->channel, FAULTLOC_ROLE_AGENT, now, &a->listen))
        return;
    if (!first) {
        trace(a, "succeeds as agent");
        return;
    }
    trace_port(a);
    trace_substitutes(a);
}

static int open_channel(struct agent *a)
{
    static const struct faultloc_channel_callbacks callbacks = {
        .message = on_message, .reach = on_reach, .intruder = on_intruder};
    int rc = faultloc_program_channel(a->p, &callbacks, a, &a->channel);

    if (rc || !a->channel)
        return rc;
    rc = faultloc_loop_add(a->epoll, faultloc_channel_fd(a->channel), TAG_CHANNEL);
    if (!rc)
        try_listen(a, faultloc_now());
    return rc;
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
    return a->signal_fd < 0 ? errno : faultloc_loop_add(a->epoll, a->signal_fd, TAG_SIGNAL);
}

static int open_agent(struct agent *a, struct faultloc_program *p)
{
    size_t slots = (size_t) p->board->slots;
    const struct faultloc_settings *settings = &p->board->settings;
    int rc;

    *a = (struct agent){.p = p,
                        .epoll = epoll_create1(EPOLL_CLOEXEC),
                        .signal_fd = -1,
                        .bell = -1,
                        .deputy = {.fd = -1},
                        .abort_at = FTREE_NEVER,
                        .leave_by = FTREE_NEVER,
                        .fork_at = p->start >= 0 ? FTREE_NEVER : 0,
                        .state = {.watch = &p->watch, .iface = p->board->iface[FTREE_PATH_DATA]},
                        .random = faultloc_now() ^ ((uint64_t) getpid() << 32) ^ 1};
    p->board->agent_pid = (int32_t) getpid();
    a->pid_fd = malloc(slots * sizeof(*a->pid_fd));
    a->stalled = calloc(slots, sizeof(*a->stalled));
    a->heard = calloc(slots, sizeof(*a->heard));
    rc = a->epoll < 0 ? EMFILE : !a->pid_fd || !a->stalled || !a->heard ? ENOMEM : 0;
    if (!rc)
        rc = faultloc_writer_start(settings->trace, settings->report, true, &a->writer);
    if (!rc)
        rc = faultloc_loop_add(a->epoll, faultloc_writer_fd(a->writer), TAG_WRITER);
    if (!rc)
        rc = open_signal(a);
    if (!rc && p->start >= 0)
        rc = faultloc_loop_add(a->epoll, p->start, TAG_START);
    faultloc_door_init(&a->door, &p->job.job, p->self);
    if (!rc)
        rc = open_rules(a);
    if (!rc)
        rc = make_core(a);
    if (!rc)
        rc = open_channel(a);
    if (!rc)
        watch_processes(a);
    return rc;
}

/* What others can see of it; the rest ends with the process. */
static void close_agent(struct agent *a)
{
    faultloc_channel_destroy(a->channel);
    faultloc_bell_close(a->p->board, &a->bell);
    faultloc_door_close(&a->door);
    if (a->deputy.pid)
        kill(a->deputy.pid, SIGKILL);
    faultloc_writer_end(a->writer, WRITE_PATIENCE_MS);
    /* a thread that is held in the kernel would keep the others open; standard error is /dev/null */
    faultloc_program_close_others(NULL, 0);
}

static ftree_time next_event(const struct agent *a)
{
    ftree_time t = faultloc_loop_earlier(a->look_at, ftree_deadline(a->ft));

    t = faultloc_loop_earlier(t, a->abort_at);
    t = faultloc_loop_earlier(t, a->fork_at);
    if (!a->channel)
        return t;
    t = faultloc_loop_earlier(t, faultloc_channel_deadline(a->channel));
    return faultloc_loop_earlier(t, a->listen.at);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* A rank of this node whose process lives; -1: there is none. */
static int32_t find_process(const struct agent *a)
{
    for (int32_t i = 0; i < a->p->board->slots; i++)
        if (!a->p->watch.seen[i].gone)
            return i;
    return -1;
}

/* The launcher is told before, else it would take the rank for the first to crash.  Who it is the board
 * says: what its page says may be a stray write of the program. */
static void kill_rank(struct agent *a, int32_t i)
{
    const struct ftree_job *job = &a->p->job.job;
    int32_t rank = job->node_ranks[job->node_first[a->p->self] + i], pid = job->rank_pid[rank];
    struct faultloc_launcher_word w;

    if (pid <= 1)
        return;
    faultloc_board_slot(a->p->board, i)->state = FAULTLOC_SLOT_VICTIM;
    faultloc_launcher_ending(job, &a->fatal, rank, pid, &w);
    faultloc_launcher_send(a->p->board->settings.launcher, &w);
    faultloc_say("node %s: rank %d (pid %d) is ended: MPIR_CVAR_FAULTLOC_ACTION=abort, and no rank "
                 "of this node is in MPI",
                 a->p->job.names[a->p->self], (int) rank, (int) pid);
    kill(pid, SIGKILL);
}

/* First the ranks are asked to end the job.  Where none of them is in MPI to see it, one is killed,
 * which the launcher notices and cleans up after. */
static void end_job(struct agent *a, ftree_time now)
{
    int32_t i = a->p->board->abort_code ? find_process(a) : -1;

    a->abort_at = now + ABORT_PATIENCE;
    a->p->board->abort_code = 1;
    if (i >= 0)
        kill_rank(a, i);
}

/* The verdict is over: the next that would end the job, if any. */
static void find_fatal(struct agent *a, ftree_time now)
{
    struct ftree_verdict v;

    a->abort_at = FTREE_NEVER;
    for (int32_t i = 0; a->abort_at == FTREE_NEVER && ftree_verdict_at(a->ft, i, &v); i++)
        consider_abort(a, &v, now);
    if (a->abort_at == FTREE_NEVER)
        trace(a, "the job goes on: what was to end it is over");
}

/* A last question, immediately before: what cannot be undone is not done because of an old answer. */
static void abort_if_due(struct agent *a, ftree_time now)
{
    enum ftree_confirmed confirmed;

    if (now < a->abort_at && !a->confirming)
        return;
    if (a->p->board->abort_code) {
        end_job(a, now);
        return;
    }
    if (!a->confirming) {
        a->confirming = ftree_confirm(a->ft, now, a->fatal.fln, a->fatal.id) == FTREE_OK;
        a->abort_at = FTREE_NEVER; /* the core says when it knows */
    }
    confirmed = ftree_confirmed(a->ft, a->fatal.fln, a->fatal.id);
    if (a->confirming && confirmed == FTREE_CONFIRMED_PENDING)
        return;
    if (a->confirming && confirmed == FTREE_CONFIRMED_STANDS)
        end_job(a, now);
    else
        find_fatal(a, now);
    a->confirming = false;
}

static void hear_start(struct agent *a)
{
    a->quit = !faultloc_start_may_go(a->p->start);
    close(a->p->start);
    a->p->start = -1;
    a->fork_at = a->quit ? FTREE_NEVER : 0;
}

static void hear_signal(struct agent *a)
{
    struct signalfd_siginfo info;

    if (read(a->signal_fd, &info, sizeof(info)) == sizeof(info))
        a->ending_until = faultloc_now() + ENDING_FOR;
}

/* Before anything else: in the time in which this process was stopped nobody has waited. */
static void note_lateness(struct agent *a, ftree_time now)
{
    ftree_time due = faultloc_loop_earlier(a->look_at, ftree_deadline(a->ft));

    if (due && now > due + FAULTLOC_LATE)
        ftree_late(a->ft, now, now - due);
}

static void turn(struct agent *a)
{
    uint64_t tags[16];
    int n = faultloc_loop_wait(a->epoll, next_event(a), tags, 16);
    ftree_time now = faultloc_now();

    note_lateness(a, now);
    if (a->channel)
        faultloc_channel_process(a->channel, now);
    /* a signal first: it says why processes end */
    for (int i = 0; i < n; i++)
        if (tags[i] == TAG_SIGNAL)
            hear_signal(a);
    a->ending = now < a->ending_until;
    for (int i = 0; i < n; i++)
        if (tags[i] >= TAG_RANK)
            rank_ended(a, now, (int32_t) (tags[i] - TAG_RANK));
        else if (tags[i] == TAG_BELL)
            faultloc_bell_hush(a->bell);
        else if (tags[i] == TAG_START)
            hear_start(a);
        else if (tags[i] == TAG_DEPUTY)
            look_at_deputy(a, now, 0);
    faultloc_writer_done(a->writer);
    hear_transport(a, now);
    hand_over_untold(a, now);
    take_rules(a, now);
    hear_symptoms(a, now);
    if (now >= a->look_at) {
        open_door(a, now);
        look_at_board(a, now);
    }
    if (now >= ftree_deadline(a->ft))
        ftree_tick(a->ft, now);
    hand_over_untold(a, now);
    try_listen(a, now);
    fork_deputy(a, now);
    abort_if_due(a, now);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* What nobody here would go on with: a verdict that is still to be told or written, and a question
 * that may be answered soon. */
static bool has_business(const struct agent *a)
{
    return ftree_has_untold(a->ft) || ftree_has_unsaid(a->ft) ||
           !faultloc_writer_done(a->writer) || (!a->ending && ftree_is_asking(a->ft));
}

/* The launcher waits for whoever has the ranks' standard output or error, which the deputy has, too. */
static void let_go_of_output(const struct agent *a)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (null < 0 || dup2(null, fd) < 0)
            close(fd);
    if (a->deputy.pid)
        kill(a->deputy.pid, SIGKILL);
}

/* All have left, not one has crashed. */
static bool all_left_well(const struct agent *a)
{
    for (int32_t i = 0; i < a->p->board->slots; i++)
        if (faultloc_board_slot(a->p->board, i)->state != FAULTLOC_SLOT_LEFT)
            return false;
    return true;
}

/* Who leaves together with the others waits for them, so that nobody is missed. */
static void leave(struct agent *a, ftree_time now)
{
    a->leaving = true;
    let_go_of_output(a);
    if (a->ending || !all_left_well(a))
        ftree_leave_at_once(a->ft, now);
    else
        ftree_leave(a->ft, now);
}

/* The agent stays while a rank of its node has not left, then while what was found is told, then
 * while other nodes have not left, and not for ever. */
static bool may_end(struct agent *a)
{
    ftree_time now = faultloc_now();

    if (a->quit)
        return true;
    if (!faultloc_watch_all_left(&a->p->watch))
        return false;
    if (a->leave_by == FTREE_NEVER)
        a->leave_by = now + (a->ending ? ENDING_PATIENCE : LEAVE_PATIENCE);
    a->look_at = now + LEAVE_LOOK;
    if (!a->leaving && has_business(a) && now < a->leave_by)
        return false;
    if (!a->leaving)
        leave(a, now);
    return ftree_may_go(a->ft) && (!a->channel || faultloc_channel_unsent(a->channel) == 0);
}

void faultloc_program_agent(struct faultloc_program *p)
{
    struct agent *a = malloc(sizeof(*a)); /* on a stack it would be there once for each successor */
    int rc = a ? open_agent(a, p) : ENOMEM;

    if (!rc) {
        open_door(a, faultloc_now());
        open_bell(a);
        say_hello(a);
    }
    if (p->start >= 0)
        faultloc_start_answer(p->start, rc);
    else if (rc)
        faultloc_say("node %s: its agent has stopped: %s; the node is no longer monitored",
                     p->job.names[p->self], strerror(rc));
    while (!rc && !may_end(a))
        turn(a);
    if (a)
        close_agent(a);
    _exit(rc ? 1 : 0);
}
