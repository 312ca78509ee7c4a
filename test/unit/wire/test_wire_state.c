/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * What state and log probes bring, on the wire: it comes back as it was, it is bounded, and nothing
 * that a peer could send instead is taken for it.
 */

#include "ftree/ftree.h"
#include "suite.h"
#include "ftree/wire/codec.h"

#include <string.h>

#define NOW (5000 * FTREE_MS)
#define SIZE 64
#define STATE_MOST 400
#define LOG_MOST 1024

static const struct ftree_job job = {.nodes = 8, .size = SIZE, .fanout = 2};

/* ---- samples --------------------------------------------------------------------------------- */

static void make_unknown_state(struct ftree_node_state *s)
{
    memset(s, 0xff, sizeof(*s));
    s->link = FTREE_LINK_UNKNOWN;
    s->losses[0] = '\0';
    s->ranks = 0;
}

static void make_full_state(struct ftree_node_state *s)
{
    static const char letters[] = FTREE_PROC_STATES;

    *s = (struct ftree_node_state){.cpus = 128,
                                   .load_centi = 12750,
                                   .cpu_pressure_centi = 9999,
                                   .memory_pressure_centi = 1,
                                   .io_pressure_centi = 0,
                                   .memory_total = 1ull << 40,
                                   .memory_available = 123456789012,
                                   .swap_total = UINT64_MAX - 1,
                                   .swap_free = 4096,
                                   .frequency_max_mhz = 5200,
                                   .frequency_nominal_mhz = 2600,
                                   .throttles = 77,
                                   .link = FTREE_LINK_GONE,
                                   .link_errors = 3,
                                   .link_drops = UINT64_MAX,
                                   .ranks = FTREE_STATE_RANKS_MAX};
    memset(s->losses, 'e', FTREE_LOSSES_MAX - 1);
    for (int i = 0; i < s->ranks; i++) {
        s->rank[i].rank = SIZE - 1 - i;
        s->rank[i].pid = i == 0 ? 0 : 4194303 + i;
        s->rank[i].proc_state = i < (int) strlen(letters) ? letters[i] : '\0';
        s->rank[i].phase = (uint8_t) (i % FTREE_PHASE_COUNT);
    }
}

static void make_full_log(struct ftree_log *log)
{
    static const int32_t tags[] = {0, -1, INT32_MAX, INT32_MIN};

    memset(log, 0, sizeof(*log));
    log->rank = SIZE - 1;
    log->entries = FTREE_LOG_MAX;
    for (int i = 0; i < log->entries; i++) {
        log->entry[i].type = i % 2 ? FTREE_LOG_RECV : FTREE_LOG_SEND;
        log->entry[i].at = NOW - (ftree_time) i * FTREE_MS;
        log->entry[i].peer = i % 4 == 3 ? FTREE_NONE : i == 4 ? INT32_MAX : i;
        log->entry[i].tag = tags[i % 4];
        log->entry[i].context = i == 5 ? UINT32_MAX : (uint32_t) i;
        log->entry[i].bytes = i == 6 ? UINT64_MAX : (uint64_t) i << 20;
    }
}

/* ---- reading as the decoder does ------------------------------------------------------------- */

enum what {
    STATE,
    LOG,
    WHATS
};

union any {
    struct ftree_node_state state;
    struct ftree_log log;
};

static size_t code_any(enum what what, union any *any, struct wire_codec *c)
{
    if (what == STATE)
        ftree_wire_state(c, &any->state);
    else
        ftree_wire_log(c, &any->log);
    return c->at;
}

static size_t write_any(enum what what, const union any *any, uint8_t *buf)
{
    return code_any(what, (union any *) any, &(struct wire_codec){.p = buf, .now = NOW});
}

/* True where all of the bytes, and no more, are one.  From a copy of the exact length, so that the
 * sanitizers see a read behind it. */
static bool read_any(enum what what, const uint8_t *bytes, size_t len, union any *any)
{
    uint8_t *exact = malloc(len ? len : 1);
    struct wire_codec r = {.reads = true, .p = exact, .len = len, .job = &job, .now = NOW};

    memcpy(exact, bytes, len);
    memset(any, 0, sizeof(*any));
    code_any(what, any, &r);
    free(exact);
    return !r.bad && r.at == len;
}

static void make_full(enum what what, union any *any)
{
    memset(any, 0, sizeof(*any));
    if (what == STATE)
        make_full_state(&any->state);
    else
        make_full_log(&any->log);
}

/* Whatever came, nothing that is later used as an index or a letter is out of its bounds. */
static void require_sane(enum what what, const union any *any)
{
    const struct ftree_node_state *s = &any->state;
    const struct ftree_log *log = &any->log;

    if (what == STATE) {
        REQUIRE(s->link < FTREE_LINK_COUNT);
        REQUIRE(strnlen(s->losses, FTREE_LOSSES_MAX) < FTREE_LOSSES_MAX);
        REQUIRE(s->ranks >= 0 && s->ranks <= FTREE_STATE_RANKS_MAX);
        for (int i = 0; i < s->ranks; i++) {
            REQUIRE(s->rank[i].rank >= 0 && s->rank[i].rank < SIZE && s->rank[i].pid >= 0);
            REQUIRE(s->rank[i].phase < FTREE_PHASE_COUNT);
            REQUIRE(!s->rank[i].proc_state || strchr(FTREE_PROC_STATES, s->rank[i].proc_state));
        }
    } else {
        REQUIRE(log->rank >= 0 && log->rank < SIZE);
        REQUIRE(log->entries >= 0 && log->entries <= FTREE_LOG_MAX);
        for (int i = 0; i < log->entries; i++) {
            REQUIRE(log->entry[i].type < FTREE_LOG_TYPES && log->entry[i].peer >= FTREE_NONE);
            REQUIRE(log->entry[i].at <= NOW);
        }
    }
}

/* ---- tests ----------------------------------------------------------------------------------- */

TEST_CASES(it_comes_back_as_it_was, WHATS)
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    union any any, back;
    size_t len;

    make_full(_i, &any);
    len = write_any(_i, &any, buf);
    ck_assert(read_any(_i, buf, len, &back));
    ck_assert_mem_eq(&back, &any, sizeof(any));
    require_sane(_i, &back);
    ck_assert_uint_le(len, _i == STATE ? STATE_MOST : LOG_MOST);
    ck_assert_uint_gt(len, _i == STATE ? 250 : 900); /* the full ones are full */
}

TEST_CASE(what_is_not_known_stays_so)
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    union any any, back;

    memset(&any, 0, sizeof(any));
    make_unknown_state(&any.state);
    ck_assert(read_any(STATE, buf, write_any(STATE, &any, buf), &back));
    ck_assert_uint_eq(back.state.cpus, UINT32_MAX);
    ck_assert_uint_eq(back.state.load_centi, UINT32_MAX);
    ck_assert_uint_eq(back.state.memory_available, UINT64_MAX);
    ck_assert_uint_eq(back.state.throttles, UINT64_MAX);
    ck_assert_uint_eq(back.state.link_drops, UINT64_MAX);
    ck_assert_int_eq(back.state.link, FTREE_LINK_UNKNOWN);
    ck_assert_int_eq(back.state.ranks, 0);
}

TEST_CASE(an_empty_log_comes_back)
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    union any any, back;

    memset(&any, 0, sizeof(any));
    any.log.rank = 3;
    ck_assert_uint_eq(write_any(LOG, &any, buf), 5);
    ck_assert(read_any(LOG, buf, 5, &back));
    ck_assert_int_eq(back.log.rank, 3);
    ck_assert_int_eq(back.log.entries, 0);
}

/* Clocks need not agree: the reader's time of a message is as long ago as the writer's was. */
TEST_CASE(ages_travel_and_not_times)
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    struct wire_codec w = {.p = buf, .now = NOW};
    struct wire_codec r = {.reads = true, .p = buf, .job = &job, .now = 100 * FTREE_MS};
    struct ftree_log log = {.rank = 1, .entries = 4}, back = {0};

    log.entry[0].at = NOW;
    log.entry[1].at = NOW - 7 * FTREE_MS;
    log.entry[2].at = NOW + 7 * FTREE_MS; /* from the future: of now */
    log.entry[3].at = NOW - 200 * FTREE_MS; /* before the reader's clock began */
    ftree_wire_log(&w, &log);
    r.len = w.at;
    ftree_wire_log(&r, &back);
    ck_assert(!r.bad);
    ck_assert_uint_eq(back.entry[0].at, 100 * FTREE_MS);
    ck_assert_uint_eq(back.entry[1].at, 93 * FTREE_MS);
    ck_assert_uint_eq(back.entry[2].at, 100 * FTREE_MS);
    ck_assert_uint_eq(back.entry[3].at, 0);
}

TEST_CASE(a_table_that_claims_too_much_is_cut)
{
    static const int32_t claims[] = {-1, INT32_MIN, 1000, INT32_MAX};
    uint8_t buf[FTREE_MESSAGE_MAX];
    union any any, back;

    for (int i = 0; i < COUNT(claims); i++) {
        make_full(STATE, &any);
        any.state.ranks = claims[i];
        ck_assert(read_any(STATE, buf, write_any(STATE, &any, buf), &back));
        ck_assert_int_eq(back.state.ranks, claims[i] < 0 ? 0 : FTREE_STATE_RANKS_MAX);
        make_full(LOG, &any);
        any.log.entries = claims[i];
        ck_assert(read_any(LOG, buf, write_any(LOG, &any, buf), &back));
        ck_assert_int_eq(back.log.entries, claims[i] < 0 ? 0 : FTREE_LOG_MAX);
    }
}

TEST_CASES(every_truncation_is_bad, WHATS)
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    union any any, back;
    size_t len;

    make_full(_i, &any);
    len = write_any(_i, &any, buf);
    for (size_t cut = 0; cut < len; cut++) {
        REQUIRE(!read_any(_i, buf, cut, &back));
        REQUIRE((_i == STATE ? back.state.ranks : back.log.entries) == 0);
    }
    buf[len] = 0;
    ck_assert(!read_any(_i, buf, len + 1, &back)); /* nor is one with a byte left over */
}

/* Each byte replaced by each other value: refused, or read as something within its bounds that
 * says the same bytes again. */
TEST_CASES(every_changed_byte_is_survived, WHATS)
{
    uint8_t buf[FTREE_MESSAGE_MAX], again[FTREE_MESSAGE_MAX];
    union any any, back;
    int refused = 0, taken = 0;
    size_t len;

    make_full(_i, &any);
    len = write_any(_i, &any, buf);
    for (size_t at = 0; at < len; at++) {
        uint8_t was = buf[at];
        for (int value = 0; value < 256; value++) {
            buf[at] = (uint8_t) value;
            if (!read_any(_i, buf, len, &back)) {
                refused++;
                continue;
            }
            taken++;
            require_sane(_i, &back);
            REQUIRE(write_any(_i, &back, again) == len);
            /* an age beyond the reader's clock becomes its beginning: the only thing not kept */
            if (_i == STATE)
                REQUIRE(memcmp(again, buf, len) == 0);
        }
        buf[at] = was;
    }
    ck_assert_int_gt(refused, 0);
    ck_assert_int_gt(taken, 0);
}

/* One field each beyond its bounds, by its place in a full one. */
static const struct {
    const char *what;
    enum what of;
    size_t at;
    int bytes;
    uint64_t value;
} bad_fields[] = {
    {"link", STATE, 68, 1, FTREE_LINK_COUNT},
    {"number of ranks", STATE, 101, 1, FTREE_STATE_RANKS_MAX + 1},
    {"rank", STATE, 102, 4, SIZE},
    {"no rank", STATE, 102, 4, UINT32_MAX},
    {"pid", STATE, 106, 4, 0x80000000u},
    {"state of the process", STATE, 110, 1, 0x1b},
    {"phase", STATE, 111, 1, FTREE_PHASE_COUNT},
    {"rank of the log", LOG, 0, 4, SIZE},
    {"no rank of the log", LOG, 0, 4, UINT32_MAX},
    {"number of entries", LOG, 4, 1, FTREE_LOG_MAX + 1},
    {"type", LOG, 5, 1, FTREE_LOG_TYPES},
    {"peer", LOG, 14, 4, (uint32_t) -2},
};

TEST_CASES(a_field_out_of_its_bounds_is_bad, COUNT(bad_fields))
{
    uint8_t buf[FTREE_MESSAGE_MAX];
    union any any, back;
    size_t len;

    make_full(bad_fields[_i].of, &any);
    len = write_any(bad_fields[_i].of, &any, buf);
    ck_assert(read_any(bad_fields[_i].of, buf, len, &back));
    for (int i = 0; i < bad_fields[_i].bytes; i++)
        buf[bad_fields[_i].at + (size_t) i] = (uint8_t) (bad_fields[_i].value >> (8 * i));
    ck_assert_msg(!read_any(bad_fields[_i].of, buf, len, &back), "%s was taken",
                  bad_fields[_i].what);
}
