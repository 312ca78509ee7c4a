/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef RULES_H_INCLUDED
#define RULES_H_INCLUDED

#include "ftree/base/symptom.h"
#include "ftree/base/verdict.h"

#pragma GCC visibility push(hidden)

/*
 * The rule base: what follows from what.  A file of JSON (schema faultloc-rules/1, comments
 * allowed), read whole into these tables, which are then only read.
 *
 *   rules       IF symptoms THEN candidate faults with prior weights, a further symptom (forward
 *               chaining), and the strategy by which to ask
 *   strategies  which probe, of whom, over which path, when, on what condition
 *   models      the faults: class, component, origin, what they cause and mask, and the signs:
 *               conditions on what the probes found that decide for this fault
 *   well        the signs that nothing is wrong with the suspect
 *
 * A verdict's rule is "model/sign", for example node-outage/both-paths-silent.
 */

#define RULES_SCHEMA "faultloc-rules/1" /* "schema" of a file */
#define RULES_MODELS_MAX 64 /* sets of models are a word */
#define RULES_MAX 256
#define RULES_STRATEGIES_MAX 32
#define RULES_PATTERNS_MAX 4 /* of one rule */
#define RULES_CANDIDATES_MAX 12 /* of one rule */
#define RULES_STEPS_MAX 32 /* of one strategy; bits of a word */
#define RULES_SIGNS_MAX 16 /* of one model, or of "well"; each alternative counts */
#define RULES_CONDITIONS_MAX 8 /* of one sign */
#define RULES_FILE_MAX (1 << 20) /* bytes */

/* ---- facts: what is known of a suspect while it is asked ------------------------------------- */

/* Facts with a value out of a few; faultloc-rules(5), FACTS, has what each means.  A condition on one
 * is a set of values. */
#define RULES_FACTS(X) \
    X(RULES_FACT_AGENT, "agent", reach_values) \
    X(RULES_FACT_DEPUTY, "deputy", reach_values) \
    X(RULES_FACT_MAIN, "main", reach_values) \
    X(RULES_FACT_DATA, "data", reach_values) \
    X(RULES_FACT_MGMT, "mgmt", reach_values) \
    X(RULES_FACT_WITNESSED, "witnessed", witnessed_values) \
    X(RULES_FACT_DATA_WITNESSED, "data-witnessed", no_yes_values) \
    X(RULES_FACT_OTHERS, "others", no_yes_values) \
    X(RULES_FACT_OWN_SIDE, "own-side", side_values) \
    X(RULES_FACT_PROCESS, "process", process_values) \
    X(RULES_FACT_SEEN_BY, "seen-by", seen_by_values) \
    X(RULES_FACT_LINK, "link", link_values) \
    X(RULES_FACT_STATE_KNOWN, "state-known", no_yes_values) \
    X(RULES_FACT_DEPUTY_CONNECTS, "deputy-connects", no_yes_values) \
    X(RULES_FACT_ELSEWHERE, "elsewhere", reach_values) \
    X(RULES_FACT_ELSEWHERE_DATA, "elsewhere-data", reach_values) \
    X(RULES_FACT_BEHIND, "behind", behind_values) \
    X(RULES_FACT_BEHIND_DATA, "behind-data", behind_values) \
    X(RULES_FACT_LAUNCHER, "launcher", launcher_values) \
    X(RULES_FACT_POWER, "power", power_values) \
    X(RULES_FACT_PORT, "port", port_values) \
    X(RULES_FACT_TRANSPORT, "transport", transport_values) \
    X(RULES_FACT_CONNECTION, "connection", connection_values) \
    X(RULES_FACT_WAITS, "waits", waits_values) \
    X(RULES_FACT_OUTSIDE, "outside", outside_values) \
    X(RULES_FACT_IN_MPI, "in-mpi", no_yes_values) \
    X(RULES_FACT_OTHERS_GO_ON, "others-go-on", no_yes_values) \
    X(RULES_FACT_SLOWED, "slowed", slowed_values) \
    X(RULES_FACT_WAY_OUT, "way-out", way_values) \
    X(RULES_FACT_WAY_IN, "way-in", way_values) \
    X(RULES_FACT_WAYS_OF_OTHERS, "ways-of-others", ways_values) \
    X(RULES_FACT_FABRIC, "fabric", fabric_values)

enum rules_fact { RULES_FACTS(FTREE_ENUM) RULES_FACT_COUNT };

/* reach_values are enum ftree_reach in this order, in words of a rule file: "not-asked", "silent",
 * "local-down", "unreachable", "connected", "refused", "answered", and this one more: */
#define RULES_REACH_NO_PATH FTREE_REACH_COUNT /* "no-path": the job has no such path */

enum { RULES_WITNESSED_NONE, RULES_WITNESSED_ONE, RULES_WITNESSED_BOTH }; /* none one both */
enum { RULES_NO, RULES_YES }; /* no yes */
enum { RULES_SIDE_UP, RULES_SIDE_DOWN }; /* up down */
enum { /* none running stopped traced disk-sleep gone memory-limit */
    RULES_PROCESS_NONE, /* nothing was said */
    RULES_PROCESS_RUNNING,
    RULES_PROCESS_STOPPED, /* T */
    RULES_PROCESS_TRACED, /* t */
    RULES_PROCESS_DISK_SLEEP, /* D */
    RULES_PROCESS_GONE, /* gone, Z or X, without MPI_Finalize */
    RULES_PROCESS_MEMORY /* D, until its control group has memory */
};
enum { RULES_SEEN_BY_NOBODY, RULES_SEEN_BY_AGENT, RULES_SEEN_BY_DEPUTY }; /* nobody agent deputy */
enum { /* none some-answer all-silent cut-off */
    RULES_BEHIND_NONE,
    RULES_BEHIND_SOME,
    RULES_BEHIND_SILENT,
    RULES_BEHIND_CUT_OFF
};
enum { RULES_LAUNCHER_NONE, RULES_LAUNCHER_ENDED, RULES_LAUNCHER_LOST }; /* none ended lost */
enum { RULES_POWER_NONE, RULES_POWER_ON, RULES_POWER_OFF }; /* none on off */
enum { /* none up down disabled */
    RULES_PORT_NONE,
    RULES_PORT_UP,
    RULES_PORT_DOWN,
    RULES_PORT_DISABLED
};
enum { RULES_TRANSPORT_NONE, RULES_TRANSPORT_RESET }; /* none reset */
enum { /* none stuck not-made silent */
    RULES_CONNECTION_NONE,
    RULES_CONNECTION_STUCK,
    RULES_CONNECTION_NOT_MADE,
    RULES_CONNECTION_SILENT
};
enum { /* none self cycle knot missing-partner behind different ahead uneven order library absent */
    RULES_WAITS_NONE,
    RULES_WAITS_SELF,
    RULES_WAITS_CYCLE,
    RULES_WAITS_KNOT,
    RULES_WAITS_MISSING_PARTNER,
    RULES_WAITS_BEHIND,
    RULES_WAITS_DIFFERENT,
    RULES_WAITS_AHEAD,
    RULES_WAITS_UNEVEN,
    RULES_WAITS_ORDER,
    RULES_WAITS_LIBRARY,
    RULES_WAITS_ABSENT
};
enum { /* none burning pausing awaiting-answer blocked disk-sleep unknown */
    RULES_OUTSIDE_NONE,
    RULES_OUTSIDE_BURNING,
    RULES_OUTSIDE_PAUSING,
    RULES_OUTSIDE_AWAITING,
    RULES_OUTSIDE_BLOCKED,
    RULES_OUTSIDE_DISK_SLEEP,
    RULES_OUTSIDE_UNKNOWN
};
enum { /* none quota shared-core preempted stolen paging slow-clock, as enum lag_cause */
    RULES_SLOWED_NONE,
    RULES_SLOWED_QUOTA, /* its cgroup's quota of CPU time is used up */
    RULES_SLOWED_SHARED_CORE, /* bound to the same core as another rank */
    RULES_SLOWED_PREEMPTED, /* others run on its core */
    RULES_SLOWED_STOLEN, /* another virtual machine has its core */
    RULES_SLOWED_PAGING, /* pages from a disk, or memory pressure */
    RULES_SLOWED_SLOW_CLOCK
};
enum { /* unknown well silent lossy late no-large */
    RULES_WAY_UNKNOWN,
    RULES_WAY_WELL,
    RULES_WAY_SILENT,
    RULES_WAY_LOSSY,
    RULES_WAY_LATE,
    RULES_WAY_NO_LARGE /* small packets come, large ones do not */
};
/* unknown well worse switch */
enum { RULES_WAYS_UNKNOWN, RULES_WAYS_WELL, RULES_WAYS_WORSE, RULES_WAYS_SWITCH };
enum { RULES_FABRIC_NONE, RULES_FABRIC_SILENT, RULES_FABRIC_BETWEEN }; /* none silent between */
/* link_values are enum ftree_link: "unknown" "up" "down" "no-carrier" "gone"
 * "flapping" "slow" */

/* Facts that are numbers, from a state probe but for the last seven, of which five go with `outside`
 * (struct rules_stay), two with `slowed`: percent of their time outside MPI that the others have
 * lost, and how much slower than the others it is. NAN: not known, then no condition on it holds. */
#define RULES_NUMBERS(X) \
    X(RULES_NUMBER_LOAD, "load-per-cpu") \
    X(RULES_NUMBER_CPU_PRESSURE, "cpu-pressure-percent") \
    X(RULES_NUMBER_MEMORY_PRESSURE, "memory-pressure-percent") \
    X(RULES_NUMBER_IO_PRESSURE, "io-pressure-percent") \
    X(RULES_NUMBER_MEMORY_AVAILABLE, "memory-available-percent") \
    X(RULES_NUMBER_SWAP_USED, "swap-used-percent") \
    X(RULES_NUMBER_FREQUENCY, "frequency-percent") \
    X(RULES_NUMBER_THROTTLES, "throttles") \
    X(RULES_NUMBER_LINK_ERRORS, "link-errors") \
    X(RULES_NUMBER_LINK_DROPS, "link-drops") \
    X(RULES_NUMBER_STAY, "stay-percent") \
    X(RULES_NUMBER_STAY_OF_ANY, "stay-of-any-percent") \
    X(RULES_NUMBER_STAY_SECONDS, "stay-seconds") \
    X(RULES_NUMBER_FAMILIAR, "familiar-percent") \
    X(RULES_NUMBER_STILL, "still-seconds") \
    X(RULES_NUMBER_LOST, "lost-percent") \
    X(RULES_NUMBER_SLOWED, "slowed-percent")

enum rules_number { RULES_NUMBERS(FTREE_ENUM) RULES_NUMBER_COUNT };

struct rules_facts {
    uint8_t value[RULES_FACT_COUNT];
    double number[RULES_NUMBER_COUNT];
};

/* Purpose: facts about nothing yet; and what is said of a process, by whom. */
void ftree_rules_no_facts(struct rules_facts *facts);
void ftree_rules_process(struct rules_facts *facts, uint8_t phase, char proc_state, int seen_by);

/* ---- the tables ------------------------------------------------------------------------------ */

struct rules_condition {
    bool is_number;
    uint8_t fact; /* enum rules_fact or enum rules_number */
    uint16_t values; /* bit v: value v fits; of a fact */
    double above, below; /* holds if above < number < below; -INFINITY and INFINITY where open */
};

/* A sign decides: when all its conditions hold, its model is the verdict.  One that is written with
 * alternatives is here once for each of them, under the same name. */
struct rules_sign {
    char name[FTREE_NAME_MAX]; /* "model/sign"; of "well": "well/sign" */
    char text[FTREE_DETAIL_MAX]; /* the finding in words */
    uint16_t confidence; /* 1/1000 */
    bool at_once; /* need not wait for answers that may still come */
    bool about_asker; /* what is at fault is the node that asks */
    int32_t conditions;
    struct rules_condition condition[RULES_CONDITIONS_MAX];
    int32_t candidates; /* what else it leaves open or rules out, for the report */
    struct ftree_candidate candidate[FTREE_CANDIDATE_MAX];
};

struct rules_model {
    char name[FTREE_NAME_MAX];
    uint8_t class_; /* enum ftree_class, which says the component's kind and the origin */
    bool even_if_well; /* its signs are looked at before those of "well" */
    bool listed_only; /* it has no signs: it is named as possible, never decided for */
    uint64_t symptoms; /* bit k: it causes symptom k; such symptoms make it more likely */
    uint64_t causes; /* bit m: it causes fault m in turn: m's verdict is then its consequence */
    uint64_t leads_to; /* bit m: where m is found later this may be its cause: both are findings */
    double before_above, before_below; /* if it was seen so many seconds before, of the last time less */
    double high, low; /* handlers call its symptoms where a value is above or below; NAN: none */
    uint64_t masks; /* bit m: while it lasts fault m on the same node cannot be seen */
    int32_t errors; /* errno values it causes */
    int32_t error[8];
    int32_t signs;
    struct rules_sign *sign; /* [signs] */
};

/* How the component of a pattern's symptoms lies to the group's own. */
#define RULES_RELATIONS(X) \
    X(RULES_SAME_COMPONENT, "same-component") \
    X(RULES_SAME_NODE, "same-node") \
    X(RULES_SAME_SWITCH, "same-switch") \
    X(RULES_SAME_SUBTREE, "same-subtree") \
    X(RULES_PARENT_OF, "parent-of") \
    X(RULES_CHILD_OF, "child-of") \
    X(RULES_SAME_CHAIN, "same-chain") \
    X(RULES_ANY, "any")

enum rules_relation { RULES_RELATIONS(FTREE_ENUM) RULES_RELATION_COUNT };

struct rules_pattern {
    uint64_t kinds; /* bit k: a symptom of kind k fits */
    uint32_t count; /* at least so many (counting merged ones) */
    uint32_t components; /* about at least so many components */
    ftree_time window; /* last seen within; 0: the time window T of the group */
    uint8_t relation; /* enum rules_relation */
    uint8_t severity; /* at least */
    int32_t error; /* errno, 0: any */
};

struct rules_candidate {
    uint8_t model;
    uint16_t prior; /* 1/1000 */
};

struct rules_rule {
    char name[FTREE_NAME_MAX];
    int32_t patterns; /* all must fit */
    struct rules_pattern pattern[RULES_PATTERNS_MAX];
    int32_t candidates;
    struct rules_candidate candidate[RULES_CANDIDATES_MAX];
    int32_t derives; /* enum ftree_symptom_kind of a further symptom on the component, or -1 */
    int32_t strategy; /* index, -1: it asks nothing */
};

enum rules_ask { /* response state log burst */
    RULES_ASK_RESPONSE,
    RULES_ASK_STATE,
    RULES_ASK_LOG,
    RULES_ASK_BURST,
    RULES_ASKS
};
enum rules_whom { /* agent deputy witnesses neighbours handlers */
    RULES_OF_AGENT,
    RULES_OF_DEPUTY,
    RULES_OF_WITNESSES,
    RULES_OF_NEIGHBOURS, /* others behind the switches above the suspect and the asking node */
    RULES_OF_HANDLERS, /* the site's services, about the suspect */
    RULES_WHOMS
};
enum rules_from { /* here elsewhere: other nodes ask for the one that examines */
    RULES_FROM_HERE,
    RULES_FROM_ELSEWHERE,
    RULES_FROMS
};
enum rules_over { /* all data mgmt main answered: paths on which the suspect has answered */
    RULES_OVER_ALL,
    RULES_OVER_DATA,
    RULES_OVER_MGMT,
    RULES_OVER_MAIN,
    RULES_OVER_ANSWERED,
    RULES_OVERS
};
/* always kernel-spoke unwitnessed answered silent one-sided */
enum rules_if {
    RULES_IF_ALWAYS,
    RULES_IF_KERNEL_SPOKE, /* ... for its agent */
    RULES_IF_UNWITNESSED, /* no other node was heard yet on some path */
    RULES_IF_ANSWERED, /* the agent has answered on some path */
    RULES_IF_SILENT, /* neither the agent nor the kernel was heard on some path */
    RULES_IF_ONE_SIDED, /* ... on some path, and the agent has answered on another */
    RULES_IFS
};

struct rules_step {
    uint32_t at_milli_rto; /* after the suspect was opened, in 1/1000 of the probe timeout */
    uint8_t ask, of, over, from, if_;
    bool fresh; /* by a connection of its own */
};

struct rules_strategy {
    char name[FTREE_NAME_MAX];
    int32_t steps; /* ascending by time */
    struct rules_step step[RULES_STEPS_MAX];
};

struct ftree_rules {
    char name[FTREE_NAME_MAX]; /* the file's own "name", for messages */
    int32_t rules, models, strategies, wells;
    struct rules_rule *rule; /* in the order of the file, and so are all */
    struct rules_model *model;
    struct rules_strategy *strategy;
    struct rules_sign *well;
};

/* ---- reading --------------------------------------------------------------------------------- */

/* Line and column from 1, 0 where it is about the whole. */
struct ftree_rules_error {
    int line, column;
    char text[240]; /* "rules[3].then.derive: there is no symptom \"cariier-lost\"; ..." */
};

/* Purpose: reads and checks a rule base of `len` bytes; *out is freed by ftree_rules_free(), and
 * NULL on error.  A name that is not known, a number out of range, a rule without effect: all are
 * errors, found before anything is used.
 * Errors: FTREE_ERR_INVALID (*e says what is wrong, where and what would be right),
 * FTREE_ERR_NOMEM. */
int ftree_rules_read(const char *text, size_t len, struct ftree_rules **out,
                     struct ftree_rules_error *e);

void ftree_rules_free(struct ftree_rules *rules);

/* Purpose: the text of the built-in base; terminated, *len without the zero (NULL: not wanted). */
const char *ftree_rules_builtin(size_t *len);

/* ---- using ----------------------------------------------------------------------------------- */

/* Purpose: the first sign that decides, in this order: of the models in the set `models` (bit m)
 * that are `even_if_well`; of "well" (*well is set); of the other models in the set; each in the
 * order of the file; NULL: none does.  Signs that are not `at_once` are only looked at when
 * `at_end`.  While a sign of an `even_if_well` model in the set may still come to hold nothing is
 * well: one that is `at_once` until the node's state is known (RULES_FACT_STATE_KNOWN), for it is
 * about that, any other until the end.
 * *well and *model (-1: none) are always set.  Pure. */
const struct rules_sign *ftree_rules_decide(const struct ftree_rules *rules,
                                            const struct rules_facts *facts, uint64_t models,
                                            bool at_end, bool *well, int32_t *model);

/* Purpose: the same where all is known that will be; NULL also where all is well.  Pure. */
const struct rules_sign *ftree_rules_decide_at_end(const struct ftree_rules *rules,
                                                   const struct rules_facts *facts,
                                                   uint64_t models, int32_t *model);

/* Purpose: the same where ranks wait for each other, which is found without a rule and without an
 * examination: `waits` (RULES_WAITS_CYCLE and so on) is all that is known, and only models of its
 * class count.  NULL: none decides, and *model is not of use.  Pure. */
const struct rules_sign *ftree_rules_decide_waits(const struct ftree_rules *rules, int waits,
                                                  int32_t *model);

/* How long ranks that seem to hang have been outside MPI: the one that came out last. */
struct rules_stay {
    double percent; /* of the longest such stay that it had before, */
    double of_any_percent; /* that any rank of the job had */
    double seconds;
    double still_seconds; /* for so long the kernel has not seen it do anything at all */
    double familiar_percent; /* of the ranks that wait: in a call that was seen on their node before */
    bool others_go_on; /* the rest of the job ends calls */
    bool in_mpi; /* those that seem to hang are in a call that makes no progress */
};

/* Purpose: the same where ranks seem to hang outside MPI: RULES_OUTSIDE_BURNING and so on; only
 * models of user-code-hang, mpi-hang and io-hang count; where others go on only a sign that says
 * so.  Pure. */
const struct rules_sign *ftree_rules_decide_outside(const struct ftree_rules *rules, int outside,
                                                    const struct rules_stay *stay, int32_t *model);

/* Purpose: the words of a fact of which the sign of that name ("model/sign") needs one, bit v: value v;
 * 0: it does not need the fact.  Pure. */
uint32_t ftree_rules_needs(const struct ftree_rules *rules, const char *sign, int fact);

/* Purpose: the same where others wait again and again for ranks that are slow:
 * RULES_SLOWED_QUOTA and so on; only models of straggler count.  Pure. */
const struct rules_sign *ftree_rules_decide_slowed(const struct ftree_rules *rules, int slowed,
                                                   double lost, double percent, int32_t *model);

/* Purpose: all models that lead to this one in the end, bit m: model m; all that symptoms of a kind are
 * of which lead to anything; and to what model m leads in the end, or what it causes.  Pure. */
uint64_t ftree_rules_leading_to(const struct ftree_rules *rules, int32_t model);
uint64_t ftree_rules_leading_by(const struct ftree_rules *rules, int kind);
uint64_t ftree_rules_follow(const struct ftree_rules *rules, int32_t m, bool causes);

/* Purpose: the limits of all models, "temperature-high>95,fan-failed<500", for handlers; what does not fit is
 * left out.  Pure. */
void ftree_rules_limits(const struct ftree_rules *rules, char *text, size_t room);

/* Purpose: true if model m may be decided for in one of these ways.  Pure. */
bool ftree_rules_by_waits(const struct ftree_rules *rules, int32_t m);

/* Purpose: the number of a model by its name, or of a rule; -1: there is none. */
int32_t ftree_rules_model(const struct ftree_rules *rules, const char *name);
int32_t ftree_rules_rule(const struct ftree_rules *rules, const char *name);

/* Names of the numbers above, for programs; "?" for what is none. */
const char *ftree_rules_fact_name(int fact);
const char *ftree_rules_number_name(int number);
const char *ftree_rules_value_name(int fact, int value);
int ftree_rules_values(int fact); /* how many a fact has; 0: no such fact */
const char *ftree_rules_relation_name(int relation);
const char *ftree_rules_ask_name(int ask);
const char *ftree_rules_whom_name(int whom);
const char *ftree_rules_over_name(int over);
const char *ftree_rules_from_name(int from);
const char *ftree_rules_if_name(int if_);

#pragma GCC visibility pop

#endif /* RULES_H_INCLUDED */
