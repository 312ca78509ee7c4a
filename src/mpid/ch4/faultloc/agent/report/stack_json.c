/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/agent/report/json.h"
#include "faultloc/agent/report/node_stacks.h"
#include "faultloc/base/json_text.h"
#include "faultloc/base/proc.h"
#include "ftree/base/text.h"
#include "ftree/stacks/stacks.h"

#include <string.h>

/* What faultloc-handler prints, of which nothing is believed: it has read another program's memory
 * and debugging information, and may be another program altogether. */

#define DEPTH_MAX 8
#define THREADS_MAX 64
#define WHY_MAX 160

struct member {
    const char *name;
    json_type type;
    int longest; /* of a string */
};

static const struct member of_process[] = {
    {"pid", json_type_int, 0},      {"stacks", json_type_boolean, 0},
    {"why_not", json_type_string, WHY_MAX}, {"state", json_type_string, 1},
    {"name", json_type_string, 63}, {"cpu_s", json_type_double, 0},
    {"thread_count", json_type_int, 0}, {NULL, json_type_null, 0}};
static const struct member of_thread[] = {
    {"tid", json_type_int, 0},         {"name", json_type_string, 63},
    {"state", json_type_string, 1},    {"wait_channel", json_type_string, 63},
    {"cpu_s", json_type_double, 0},    {"syscall", json_type_string, 32},
    {"syscall_number", json_type_int, 0},
    {"cut", json_type_boolean, 0},     {"why_not", json_type_string, WHY_MAX},
    {NULL, json_type_null, 0}};
static const struct member of_file[] = {
    {"fd", json_type_int, 0},           {"path", json_type_string, 255},
    {"mount_point", json_type_string, 255}, {"type", json_type_string, 63},
    {"source", json_type_string, 255},  {"server", json_type_string, 255},
    {NULL, json_type_null, 0}};
static const struct member of_frame[] = {
    {"function", json_type_string, 255}, {"file", json_type_string, 255},
    {"line", json_type_int, 0},          {"module", json_type_string, 127},
    {"pc", json_type_string, 20},        {NULL, json_type_null, 0}};

/* ---- checking -------------------------------------------------------------------------------- */

static struct json_object *get(struct json_object *o, const char *key, json_type type)
{
    struct json_object *member;

    return json_object_is_type(o, json_type_object) && json_object_object_get_ex(o, key, &member) &&
                   json_object_is_type(member, type)
               ? member
               : NULL;
}

static struct json_object *copy_string(struct json_object *from, int longest)
{
    char text[256];
    size_t room = longest < (int) sizeof(text) ? (size_t) longest + 1 : sizeof(text);

    ftree_text_copy(text, room, json_object_get_string(from));
    return json_object_new_string(text);
}

static struct json_object *copy_number(struct json_object *from, json_type type)
{
    double d = json_object_get_double(from);
    char text[32];

    if (type == json_type_int)
        return json_object_new_int64(json_object_get_int64(from));
    if (!(d >= 0 && d < 1e12))
        return NULL;
    snprintf(text, sizeof(text), "%.3f", d);
    return json_object_new_double_s(d, text);
}

static struct json_object *copy(struct json_object *from, const struct member *m)
{
    switch (m->type) {
        case json_type_string:
            return copy_string(from, m->longest);
        case json_type_boolean:
            return json_object_new_boolean(json_object_get_boolean(from));
        default:
            return copy_number(from, m->type);
    }
}

/* NULL: it is no object. */
static struct json_object *check_members(struct json_object *from, const struct member *members)
{
    struct json_object *o, *value;

    if (!json_object_is_type(from, json_type_object))
        return NULL;
    o = json_object_new_object();
    for (const struct member *m = members; m->name; m++)
        if ((value = get(from, m->name, m->type)) && (value = copy(value, m)))
            faultloc_json_set(o, m->name, value);
    return o;
}

static size_t length(struct json_object *list, size_t most)
{
    size_t n = list ? json_object_array_length(list) : 0;

    return n < most ? n : most;
}

static struct json_object *check_frames(struct json_object *from)
{
    struct json_object *list = json_object_new_array(), *frame;

    for (size_t i = 0; i < length(from, FAULTLOC_STACK_CALLS_MAX); i++)
        if ((frame = check_members(json_object_array_get_idx(from, i), of_frame)))
            faultloc_json_append(list, frame);
    return list;
}

static struct json_object *check_thread(struct json_object *from)
{
    struct json_object *o = check_members(from, of_thread), *part;

    if (o && (part = check_members(get(from, "open_file", json_type_object), of_file)))
        faultloc_json_set(o, "open_file", part);
    if (o && (part = get(from, "frames", json_type_array)))
        faultloc_json_set(o, "frames", check_frames(part));
    return o;
}

static struct json_object *check_process(struct json_object *from)
{
    struct json_object *schema = get(from, "schema", json_type_string);
    struct json_object *threads = get(from, "threads", json_type_array);
    struct json_object *o, *list = json_object_new_array(), *thread;

    if (!schema || strcmp(json_object_get_string(schema), "faultloc-handler/1") ||
        !(o = check_members(from, of_process))) {
        json_object_put(list);
        return NULL;
    }
    for (size_t i = 0; i < length(threads, THREADS_MAX); i++)
        if ((thread = check_thread(json_object_array_get_idx(threads, i))))
            faultloc_json_append(list, thread);
    faultloc_json_string(o, "schema", "faultloc-handler/1");
    faultloc_json_set(o, "threads", list);
    return o;
}

struct json_object *faultloc_stack_check(const char *line, size_t len)
{
    struct json_tokener *t = json_tokener_new_ex(DEPTH_MAX);
    struct json_object *from = NULL, *o = NULL;

    if (t && len < INT32_MAX)
        from = json_tokener_parse_ex(t, line, (int) len);
    if (from && json_tokener_get_parse_end(t) == len)
        o = check_process(from);
    json_object_put(from);
    if (t)
        json_tokener_free(t);
    return o;
}

/* ---- what it says ---------------------------------------------------------------------------- */

struct json_object *faultloc_stack_open_file(struct json_object *process, bool *is_first)
{
    struct json_object *threads = get(process, "threads", json_type_array), *thread, *file;

    for (size_t i = 0; i < length(threads, THREADS_MAX); i++) {
        thread = json_object_array_get_idx(threads, i);
        file = get(thread, "open_file", json_type_object);
        *is_first = json_object_get_int64(get(thread, "tid", json_type_int)) ==
                    faultloc_stack_pid(process);
        if (file)
            return file;
    }
    return NULL;
}

void faultloc_stack_drop_frames(struct json_object *process)
{
    struct json_object *threads = get(process, "threads", json_type_array);

    for (size_t i = 0; i < length(threads, THREADS_MAX); i++)
        json_object_object_del(json_object_array_get_idx(threads, i), "frames");
}

pid_t faultloc_stack_pid(struct json_object *process)
{
    int64_t pid = json_object_get_int64(get(process, "pid", json_type_int));

    return pid > 0 && pid <= INT32_MAX ? (pid_t) pid : 0;
}

bool faultloc_stack_is_whole(struct json_object *process)
{
    return json_object_get_boolean(get(process, "stacks", json_type_boolean));
}

static struct json_object *thread_at(struct json_object *process, int32_t i)
{
    struct json_object *threads = get(process, "threads", json_type_array);

    return i >= 0 && (size_t) i < length(threads, THREADS_MAX)
               ? json_object_array_get_idx(threads, (size_t) i)
               : NULL;
}

bool faultloc_stack_is_helper(struct json_object *process, int32_t i)
{
    const char *name = faultloc_text(thread_at(process, i), "name");

    return name && !strcmp(name, "async");
}

static void read_call(struct json_object *frame, struct ftree_call *c)
{
    int64_t line = json_object_get_int64(get(frame, "line", json_type_int));
    const char *function = faultloc_text(frame, "function");

    if (function && !strncmp(function, "PMPI_", 5))
        function++; /* the same function by its other name */
    *c = (struct ftree_call){.function = function,
                             .file = faultloc_text(frame, "file"),
                             .module = faultloc_text(frame, "module"),
                             .line = line > 0 && line <= INT32_MAX ? (int32_t) line : 0};
}

/* What begins a process or a thread, around the program's own. */
static bool is_start(const struct ftree_call *c)
{
    static const char *const starts[] = {"_start", "__libc_start", "__clone",
                                         "clone",  "start_thread", "generic_start_main"};

    for (size_t i = 0; c->function && i < sizeof(starts) / sizeof(starts[0]); i++)
        if (!strncmp(c->function, starts[i], strlen(starts[i])))
            return true;
    return false;
}

static bool is_mpi(const struct ftree_call *c)
{
    return c->function && !strncmp(c->function, "MPI_", 4);
}

/* What is inside of an MPI function is of no interest to its caller, unless MPI has called the
 * program or a driver, or a signal has come.  (An MPI_ function alone does not tell the MPI library:
 * tools wrap it, in a library of their own or in the program.) */
static bool is_all_of_mpi(struct json_object *frames, size_t inside)
{
    struct ftree_call c;

    for (size_t f = 0; f < inside; f++) {
        read_call(json_object_array_get_idx(frames, f), &c);
        if (!faultloc_proc_is_library(c.module) || (c.function && !strcmp(c.function, "__restore_rt")))
            return false;
    }
    return true;
}

/* An interpreter's functions in a row, and the glue by which it calls, are one call: of its language.
 * True: the call is of the same row as the one before, NULL: there is none. */
static bool fold(struct ftree_call *c, const struct ftree_call *before)
{
    const char *tool, *language = faultloc_proc_language(c->module, &tool);
    bool in_row = before && faultloc_proc_language(before->module, &tool);

    if (language)
        *c = (struct ftree_call){.function = language, .module = c->module};
    return in_row && (language || faultloc_proc_is_glue(c->module));
}

int32_t faultloc_stack_calls(struct json_object *process, int32_t i, struct ftree_call *call,
                             int32_t room)
{
    struct json_object *thread = thread_at(process, i), *frames;
    int32_t n = 0;

    if (!thread)
        return -1;
    frames = get(thread, "frames", json_type_array);
    for (size_t f = length(frames, FAULTLOC_STACK_CALLS_MAX); f > 0 && n < room; f--) {
        read_call(json_object_array_get_idx(frames, f - 1), &call[n]);
        if ((n > 0 || !is_start(&call[n])) && !fold(&call[n], n > 0 ? &call[n - 1] : NULL))
            n++;
        if (n > 0 && is_mpi(&call[n - 1]) && is_all_of_mpi(frames, f - 1))
            break;
    }
    return n;
}

/* ---- the core's form ------------------------------------------------------------------------- */

/* Threads are left out from the end until it fits. */
static void add_detail(struct ftree *ft, struct json_object *process, int32_t rank,
                       struct ftree_stacks *out)
{
    struct json_object *threads = get(process, "threads", json_type_array);
    const char *text;
    size_t n;

    while ((text = json_object_to_json_string_ext(process, JSON_C_TO_STRING_PLAIN)) &&
           strlen(text) > FTREE_DETAIL_BYTES && (n = length(threads, THREADS_MAX)) > 1)
        json_object_array_del_idx(threads, n / 2, n - n / 2);
    if (text)
        ftree_stacks_add_detail(ft, out, rank, text, strlen(text));
}

/* False: it has no stack. */
static bool add_threads(struct ftree *ft, struct json_object *process, int32_t rank,
                        struct ftree_stacks *out)
{
    struct ftree_call call[FAULTLOC_STACK_CALLS_MAX];
    bool any = false;
    int32_t n;

    for (int32_t i = 0; (n = faultloc_stack_calls(process, i, call, FAULTLOC_STACK_CALLS_MAX)) >= 0;
         i++) {
        if (n == 0 || faultloc_stack_is_helper(process, i))
            continue;
        any = true;
        ftree_stacks_add(ft, out, rank, call, n);
    }
    return any;
}

static const char *why_none(const struct faultloc_stack *stack)
{
    const char *why = stack->why;

    if (!why)
        why = faultloc_text(thread_at(stack->process, 0), "why_not");
    return why ? why : "its stack is not known";
}

void faultloc_stacks_collect(struct ftree *ft, const struct ftree_job *job, int32_t self,
                             const struct faultloc_stack *stack, int32_t n, bool details,
                             struct ftree_stacks *out)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t rank = job->node_ranks[job->node_first[self] + stack[i].local];
        if (!stack[i].process || !add_threads(ft, stack[i].process, rank, out)) {
            ftree_spans_add(ft, &out->missing, rank, rank);
            snprintf(out->why, sizeof(out->why), "%s", why_none(&stack[i]));
        }
        if (details && stack[i].process)
            add_detail(ft, stack[i].process, rank, out);
    }
}

/* ---- for people ------------------------------------------------------------------------------ */

static void write_line(const struct ftree_call *call, int32_t n, char *buf, size_t len)
{
    size_t at = 0;

    buf[0] = '\0';
    for (int32_t i = 0; i < n && at < len; i++) {
        const char *slash = call[i].file ? strrchr(call[i].file, '/') : NULL;
        int rc = snprintf(buf + at, len - at, "%s%s", i > 0 ? " > " : "",
                          call[i].function ? call[i].function : "?");
        at += rc > 0 ? (size_t) rc : 0;
        if (at >= len)
            return;
        if (call[i].file && call[i].line > 0)
            rc = snprintf(buf + at, len - at, " %s:%d", slash ? slash + 1 : call[i].file,
                          (int) call[i].line);
        else if (!call[i].function && call[i].module)
            rc = snprintf(buf + at, len - at, " in %s", call[i].module);
        else
            rc = 0;
        at += rc > 0 ? (size_t) rc : 0;
    }
}

/* Where an interpreter runs a script: how to see its line. */
static void write_tool(const struct ftree_call *call, int32_t n, pid_t pid, char *buf, size_t len)
{
    const char *tool = NULL;
    size_t at = strlen(buf);

    for (int32_t i = 0; i < n && !tool; i++)
        faultloc_proc_language(call[i].module, &tool);
    if (tool)
        snprintf(buf + at, len - at, " (%s %d shows the line)", tool, (int) pid);
}

void faultloc_stack_add_lines(struct json_object *process)
{
    struct ftree_call call[FAULTLOC_STACK_CALLS_MAX];
    char line[4096];
    int32_t n;

    for (int32_t i = 0; (n = faultloc_stack_calls(process, i, call, FAULTLOC_STACK_CALLS_MAX)) >= 0;
         i++) {
        write_line(call, n, line, sizeof(line));
        write_tool(call, n, faultloc_stack_pid(process), line, sizeof(line));
        if (n > 0)
            faultloc_json_string(thread_at(process, i), "stack", line);
    }
}
