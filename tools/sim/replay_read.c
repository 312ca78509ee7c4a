/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/replay.h"

#include "sim/sim_memory.h"
#include "ftree/base/text.h"
#include "ftree/topology/tree_int.h"
#include "ftree/wire/wire.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES (2 * FTREE_MESSAGE_MAX + 1024)
#define HEAD_MAX_BYTES (16u << 20) /* the first line may have a topology file in it */
#define DEPTH_MAX 5
#define NODES_MAX (1 << 24)
#define CUT_OFF "the trace is cut off here; make it again with faultloc simulate --trace"

static bool wrong(struct replay_file *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What is wrong with the line; the first thing holds.  Bytes of the file may be in it. */
static bool wrong(struct replay_file *f, const char *format, ...)
{
    va_list args;

    if (f->wrong[0])
        return false;
    va_start(args, format);
    vsnprintf(f->wrong, sizeof(f->wrong), format, args);
    va_end(args);
    ftree_text_ascii(f->wrong);
    return false;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* One line without its end into f->buf; false: the file is over, or the line is no good. */
static bool read_line(struct replay_file *f, size_t most, size_t *len)
{
    int c = 0;

    f->line++;
    for (*len = 0; (c = getc(f->f)) != EOF && c != '\n'; (*len)++) {
        if (*len == most)
            return wrong(f, "a line of more than %zu bytes; this is not a trace", most);
        if (*len + 1 >= f->room) {
            f->room = f->room ? 2 * f->room : 4096;
            f->buf = sim_realloc(f->buf, f->room, 1);
        }
        f->buf[*len] = (char) c;
    }
    if (ferror(f->f))
        return wrong(f, "the file cannot be read");
    if (c == EOF)
        return wrong(f, f->line == 1 && *len == 0 ? "the file is empty" : CUT_OFF);
    if (*len == 0)
        return wrong(f, "an empty line; a trace has a JSON object on each line");
    f->buf[*len] = 0;
    return true;
}

/* The line as an object, the caller's; NULL: it is none. */
static struct json_object *read_object(struct replay_file *f, size_t most)
{
    struct json_object *o = NULL;
    struct json_tokener *t;
    size_t len;

    if (!read_line(f, most, &len))
        return NULL;
    t = json_tokener_new_ex(DEPTH_MAX);
    if (t) {
        json_tokener_set_flags(t, JSON_TOKENER_STRICT);
        o = json_tokener_parse_ex(t, f->buf, (int) len);
        if (!o && json_tokener_get_error(t) == json_tokener_continue)
            wrong(f, "the JSON object does not end on its line; see --help");
        else if (!o)
            wrong(f, "not JSON: %s", json_tokener_error_desc(json_tokener_get_error(t)));
        else if (!json_object_is_type(o, json_type_object))
            wrong(f, "not a JSON object");
        json_tokener_free(t);
    } else
        wrong(f, "out of memory");
    if (o && f->wrong[0]) {
        json_object_put(o);
        o = NULL;
    }
    return o;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool take_int(struct replay_file *f, struct json_object *o, const char *key, int64_t min,
                     int64_t max, int64_t *out)
{
    struct json_object *v = NULL;

    json_object_object_get_ex(o, key, &v);
    if (!json_object_is_type(v, json_type_int))
        return wrong(f, "\"%s\" must be a whole number", key);
    *out = json_object_get_int64(v);
    if (*out < min || *out > max)
        return wrong(f, "\"%s\" is %lld, outside %lld to %lld", key, (long long) *out,
                     (long long) min, (long long) max);
    return true;
}

static bool take_int32(struct replay_file *f, struct json_object *o, const char *key, int64_t min,
                       int64_t max, int32_t *out)
{
    int64_t n = 0;
    bool good = take_int(f, o, key, min, max, &n);

    *out = (int32_t) n;
    return good;
}

static bool take_byte(struct replay_file *f, struct json_object *o, const char *key, int below,
                      uint8_t *out)
{
    int64_t n = 0;
    bool good = take_int(f, o, key, 0, below - 1, &n);

    *out = (uint8_t) n;
    return good;
}

static bool take_time(struct replay_file *f, struct json_object *o, const char *key,
                      ftree_time *out)
{
    int64_t n = 0;
    bool good = take_int(f, o, key, 0, INT64_MAX / 4, &n);

    *out = (ftree_time) n;
    return good;
}

static const char *take_string(struct replay_file *f, struct json_object *o, const char *key,
                               size_t *len)
{
    struct json_object *v = NULL;

    json_object_object_get_ex(o, key, &v);
    if (!json_object_is_type(v, json_type_string)) {
        wrong(f, "\"%s\" must be a string", key);
        return NULL;
    }
    *len = (size_t) json_object_get_string_len(v);
    if (strlen(json_object_get_string(v)) != *len) {
        wrong(f, "\"%s\" has a zero byte", key);
        return NULL;
    }
    return json_object_get_string(v);
}

static bool take_uint64(struct replay_file *f, struct json_object *o, const char *key, int base,
                        uint64_t *out)
{
    size_t len;
    const char *text = take_string(f, o, key, &len);
    char *end;

    if (!text)
        return false;
    if (len == 0 || len > 20 || strspn(text, base == 16 ? "0123456789abcdef" : "0123456789") != len)
        return wrong(f, "\"%s\" is not a number", key);
    *out = strtoull(text, &end, base);
    return true;
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_bytes(struct replay_file *f, struct json_object *o, struct replay_record *r)
{
    size_t len;
    const char *text = take_string(f, o, "bytes", &len);

    if (!text)
        return false;
    if (len % 2 || len > 2 * FTREE_MESSAGE_MAX)
        return wrong(f, "\"bytes\" has %zu digits, not an even number up to %d", len,
                     2 * FTREE_MESSAGE_MAX);
    r->len = len / 2;
    for (size_t i = 0; i < r->len; i++) {
        if (hex(text[2 * i]) < 0 || hex(text[2 * i + 1]) < 0)
            return wrong(f, "\"bytes\" is not hexadecimal (0-9, a-f) at %zu", 2 * i);
        r->bytes[i] = (uint8_t) (hex(text[2 * i]) << 4 | hex(text[2 * i + 1]));
    }
    return true;
}

static bool take_letter(struct replay_file *f, const char *text, size_t len, char *out)
{
    if (!text || len != 1 || *text < ' ' || *text > '~')
        return wrong(f, "the state of a process must be a letter");
    *out = *text;
    return true;
}

/* ---- the first line -------------------------------------------------------------------------- */

static bool take_config(struct replay_file *f, struct json_object *head, struct ftree_config *cfg)
{
    struct json_object *o = NULL;

    json_object_object_get_ex(head, "config", &o);
    if (!json_object_is_type(o, json_type_object))
        return wrong(f, "\"config\" must be an object");
#define TAKE(name) &&take_time(f, o, #name, &cfg->name)
    return true SIM_TRACE_CONFIG(TAKE) &&
           take_int32(f, o, "pending_max", 1, INT32_MAX, &cfg->pending_max);
#undef TAKE
}

/* A string, or null. */
static bool take_optional(struct replay_file *f, struct json_object *head, const char *key,
                          const char **out, size_t *len)
{
    struct json_object *v = NULL;

    *out = NULL;
    if (json_object_object_get_ex(head, key, &v) && !v)
        return true;
    *out = take_string(f, head, key, len);
    return *out != NULL;
}

static bool make_job(struct replay_file *f, struct json_object *head, struct sim_topology *t)
{
    int32_t nodes, fanout, ranks;
    const char *string, *file;
    uint64_t job_seed;
    size_t len = 0;

    if (!take_int32(f, head, "nodes", 1, NODES_MAX, &nodes) ||
        !take_int32(f, head, "fanout", 1, NODES_MAX, &fanout) ||
        !take_int32(f, head, "ranks", 1, 1024, &ranks) ||
        !take_uint64(f, head, "job_seed", 10, &job_seed) ||
        !take_optional(f, head, "topology", &string, &len) ||
        !take_optional(f, head, "topology_file", &file, &len))
        return false;
    if ((int64_t) nodes * ranks > TREE_NAMES_MAX)
        return wrong(f, "%d nodes of %d ranks are too many", (int) nodes, (int) ranks);
    if (string && file)
        return wrong(f, "\"topology\" and \"topology_file\": only one is possible");
    if (string && (strchr(string, '/') || !strchr(string, ':')))
        return wrong(f, "\"topology\" is not a string such as 'switch:2 node:4'");
    if (file ? sim_topology_make_of_text(t, "in the trace", file, len, fanout, ranks, job_seed)
             : sim_topology_make(t, string, string ? 0 : nodes, fanout, ranks, job_seed))
        return wrong(f, "invalid topology (see above)");
    return t->job.nodes == nodes ||
           wrong(f, "\"nodes\" is %d, but the topology has %d", (int) nodes, (int) t->job.nodes);
}

bool sim_replay_read_head(struct replay_file *f, struct sim_topology *topology,
                          struct ftree_config *cfg, uint64_t *rules_hash)
{
    struct json_object *rules = NULL, *head = read_object(f, HEAD_MAX_BYTES);
    const char *schema = NULL;
    int64_t wire;
    size_t len;
    bool good = head && (schema = take_string(f, head, "schema", &len)) != NULL;

    if (good && strcmp(schema, SIM_TRACE_SCHEMA))
        good = wrong(f, "\"schema\" is \"%.40s\", not \"" SIM_TRACE_SCHEMA "\"", schema);
    good = good && take_int(f, head, "wire", 0, 255, &wire);
    if (good && wire != WIRE_VERSION)
        good = wrong(f, "its messages have version %d, this program's %d; record the trace again",
                     (int) wire, WIRE_VERSION);
    if (good && (!json_object_object_get_ex(head, "rules", &rules) ||
                 !json_object_is_type(rules, json_type_object)))
        good = wrong(f, "\"rules\" must be an object");
    good = good && take_uint64(f, rules, "hash", 16, rules_hash) && take_config(f, head, cfg) &&
           take_time(f, head, "begins", &f->at) && make_job(f, head, topology);
    json_object_put(head);
    f->topology = topology;
    return good;
}

/* ---- the others ------------------------------------------------------------------------------ */

static bool is_own_rank(const struct replay_file *f, int32_t node, int32_t rank)
{
    int32_t first = sim_first_rank(f->topology, node);

    return rank >= first && rank < first + f->topology->ranks_per_node;
}

static bool take_rank(struct replay_file *f, struct json_object *o, const char *key,
                      struct replay_record *r)
{
    if (!take_int32(f, o, key, 0, f->topology->job.size - 1, &r->rank.rank))
        return false;
    return is_own_rank(f, r->node, r->rank.rank) ||
           wrong(f, "rank %d is not on node %d", (int) r->rank.rank, (int) r->node);
}

static bool take_look(struct replay_file *f, struct json_object *o, struct replay_record *r)
{
    size_t len = 0;
    const char *letter;

    return take_rank(f, o, "look", r) &&
           take_byte(f, o, "phase", FTREE_PHASE_COUNT, &r->rank.phase) &&
           take_int32(f, o, "peer", FTREE_LOCAL, f->topology->job.size - 1, &r->rank.peer) &&
           take_time(f, o, "waiting", &r->rank.waiting) &&
           (letter = take_string(f, o, "state", &len)) != NULL &&
           take_letter(f, letter, len, &r->rank.proc_state);
}

static bool take_waits(struct replay_file *f, struct json_object *o, struct replay_record *r)
{
    int64_t look = 0;

    if (!take_rank(f, o, "waits", r) || !take_int(f, o, "look", 0, UINT32_MAX, &look) ||
        !take_byte(f, o, "said", FTREE_WAITS_UNABLE + 1, &r->said))
        return false;
    r->look = (uint32_t) look;
    return take_bytes(f, o, r);
}

/* One of the ranks of a state: [rank, phase, letter]. */
static bool take_state_rank(struct replay_file *f, struct json_object *o, struct replay_record *r)
{
    struct json_object *part[3];
    int32_t i = r->state.ranks++;

    if (!json_object_is_type(o, json_type_array) || json_object_array_length(o) != 3)
        return wrong(f, "an element of \"ranks\" is not [rank, phase, letter]");
    for (size_t k = 0; k < 3; k++)
        part[k] = json_object_array_get_idx(o, k);
    if (!json_object_is_type(part[0], json_type_int) ||
        !json_object_is_type(part[1], json_type_int) ||
        !json_object_is_type(part[2], json_type_string))
        return wrong(f, "an element of \"ranks\" is not [rank, phase, letter]");
    r->state.rank[i].rank = json_object_get_int(part[0]);
    if (!is_own_rank(f, r->node, r->state.rank[i].rank) || json_object_get_int(part[1]) < 0 ||
        json_object_get_int(part[1]) >= FTREE_PHASE_COUNT)
        return wrong(f, "\"ranks\": a rank of another node, or an invalid phase");
    r->state.rank[i].phase = (uint8_t) json_object_get_int(part[1]);
    r->state.rank[i].pid = 0;
    return take_letter(f, json_object_get_string(part[2]),
                       (size_t) json_object_get_string_len(part[2]), &r->state.rank[i].proc_state);
}

static bool take_state(struct replay_file *f, struct json_object *o, struct replay_record *r)
{
    struct json_object *ranks = NULL;

    memset(&r->state, 0xff, sizeof(r->state));
    r->state.ranks = 0;
    if (!take_byte(f, o, "state", FTREE_LINK_COUNT, &r->state.link))
        return false;
    json_object_object_get_ex(o, "ranks", &ranks);
    if (!json_object_is_type(ranks, json_type_array) ||
        json_object_array_length(ranks) > FTREE_STATE_RANKS_MAX)
        return wrong(f, "\"ranks\" must be an array of up to %d", FTREE_STATE_RANKS_MAX);
    for (size_t i = 0; i < json_object_array_length(ranks); i++)
        if (!take_state_rank(f, json_object_array_get_idx(ranks, i), r))
            return false;
    return true;
}

static bool take_send(struct replay_file *f, struct json_object *o, struct replay_record *r)
{
    struct json_object *fresh = NULL;
    int64_t conn = 0;

    json_object_object_get_ex(o, "fresh", &fresh);
    r->fresh = json_object_get_boolean(fresh);
    if (!take_int32(f, o, "send", 0, f->topology->job.nodes - 1, &r->other) ||
        !take_byte(f, o, "path", FTREE_PATHS, &r->path) ||
        !take_byte(f, o, "role", FTREE_ROLES, &r->role) ||
        !take_int(f, o, "conn", 0, INT64_MAX, &conn))
        return false;
    r->conn = (uint64_t) conn;
    return take_bytes(f, o, r);
}

static bool take_says(struct replay_file *f, struct json_object *o, struct replay_record *r)
{
    const char *text = take_string(f, o, "says", &r->len);

    if (!text)
        return false;
    if (r->len >= sizeof(r->bytes))
        return wrong(f, "\"says\" is longer than %zu bytes", sizeof(r->bytes) - 1);
    memcpy(r->bytes, text, r->len + 1);
    return true;
}

static bool take_receive(struct replay_file *f, struct json_object *o, struct replay_record *r)
{
    return take_int32(f, o, "from", 0, f->topology->job.nodes - 1, &r->other) &&
           take_byte(f, o, "path", FTREE_PATHS, &r->path) && take_bytes(f, o, r);
}

static bool take_reached(struct replay_file *f, struct json_object *o, struct replay_record *r)
{
    return take_int32(f, o, "about", 0, f->topology->job.nodes - 1, &r->other) &&
           take_byte(f, o, "path", FTREE_PATHS, &r->path) &&
           take_byte(f, o, "role", FTREE_ROLES, &r->role) &&
           take_byte(f, o, "reach", FTREE_REACH_COUNT, &r->reach) &&
           take_int32(f, o, "error", 0, 4095, &r->error);
}

static bool take_in(struct replay_file *f, struct json_object *o, struct replay_record *r)
{
    static const char *const words[] = {"receive", "reached", "stall", "stall-over",
                                        "gone",    "leave",   "tick"};
    size_t len;
    const char *word = take_string(f, o, "in", &len);

    if (!word)
        return false;
    for (r->kind = 0; r->kind <= REPLAY_LAST_IN; r->kind++)
        if (!strcmp(word, words[r->kind]))
            break;
    switch (r->kind) {
        case REPLAY_RECEIVE:
            return take_receive(f, o, r);
        case REPLAY_REACHED:
            return take_reached(f, o, r);
        case REPLAY_STALL:
            return take_rank(f, o, "rank", r) &&
                   take_int32(f, o, "peer", FTREE_LOCAL, f->topology->job.size - 1,
                              &r->rank.peer) &&
                   take_time(f, o, "waiting", &r->waiting);
        case REPLAY_STALL_OVER:
        case REPLAY_GONE:
            return take_rank(f, o, "rank", r);
        case REPLAY_LEAVE:
        case REPLAY_TICK:
            return true;
        default:
            return wrong(f, "\"in\" is \"%.20s\", not a known input", word);
    }
}

static bool take_record(struct replay_file *f, struct json_object *o, struct replay_record *r)
{
    static const struct {
        const char *key;
        uint8_t kind;
        bool (*take)(struct replay_file *f, struct json_object *o, struct replay_record *r);
    } kinds[] = {{"in", REPLAY_TICK, take_in},
                 {"waits", REPLAY_WAITS, take_waits},
                 {"look", REPLAY_LOOK, take_look},
                 {"send", REPLAY_SEND, take_send},
                 {"says", REPLAY_SAYS, take_says}};

    if (!take_time(f, o, "t", &r->at))
        return false;
    if (r->at < f->at)
        return wrong(f, "\"t\" is less than on the line before: time goes back");
    f->at = r->at;
    r->kind = REPLAY_END;
    if (json_object_object_get_ex(o, "end", NULL))
        return true;
    if (!take_int32(f, o, "node", 0, f->topology->job.nodes - 1, &r->node))
        return false;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (json_object_object_get_ex(o, kinds[i].key, NULL)) {
            r->kind = kinds[i].kind;
            return kinds[i].take(f, o, r);
        }
    r->kind = REPLAY_STATE;
    if (json_object_object_get_ex(o, "state", NULL))
        return take_state(f, o, r);
    return wrong(
        f, "one of \"in\", \"look\", \"waits\", \"state\", \"send\", \"says\", \"end\" must be "
           "there");
}

bool sim_replay_read(struct replay_file *f, struct replay_record *r)
{
    struct json_object *o = read_object(f, LINE_MAX_BYTES);
    bool good = o && take_record(f, o, r);

    r->line = f->line;
    json_object_put(o);
    return good;
}
