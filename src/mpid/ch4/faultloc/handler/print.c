/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/base/json_text.h"
#include "faultloc/handler/handler.h"

#include <stdio.h>

/* What a thread waits in says more than its state alone: composed here, judged elsewhere. */

static void add_text(struct json_object *o, const char *key, const char *text)
{
    if (*text)
        faultloc_json_set(o, key, json_object_new_string(text));
}

static void add_state(struct json_object *o, char state)
{
    const char text[2] = {state, '\0'};

    add_text(o, "state", text);
}

static struct json_object *json_file(const struct handler_file *f)
{
    struct json_object *o = json_object_new_object();

    if (f->fd >= 0)
        faultloc_json_set(o, "fd", json_object_new_int(f->fd));
    add_text(o, "path", f->path);
    add_text(o, "mount_point", f->mount.point);
    add_text(o, "type", f->mount.type);
    add_text(o, "source", f->mount.source);
    add_text(o, "server", f->mount.server);
    return o;
}

static struct json_object *json_frame(const struct handler_frame *f)
{
    struct json_object *o = json_object_new_object();
    char pc[32];

    snprintf(pc, sizeof(pc), "0x%llx", (unsigned long long) f->pc);
    add_text(o, "function", f->function);
    add_text(o, "file", f->file);
    if (f->line > 0)
        faultloc_json_set(o, "line", json_object_new_int(f->line));
    add_text(o, "module", f->module);
    if (!*f->function)
        add_text(o, "pc", pc);
    return o;
}

static void add_call(struct json_object *o, const struct handler_thread *t)
{
    const struct handler_syscall *s = handler_syscall(t->syscall);

    if (s)
        add_text(o, "syscall", s->name);
    else if (t->syscall >= 0)
        faultloc_json_set(o, "syscall_number", json_object_new_int64(t->syscall));
    if (*t->file.path)
        faultloc_json_set(o, "open_file", json_file(&t->file));
}

static struct json_object *json_thread(const struct handler_process *p,
                                       const struct handler_thread *t)
{
    struct json_object *o = json_object_new_object(), *frames;

    faultloc_json_set(o, "tid", json_object_new_int(t->tid));
    add_text(o, "name", t->name);
    if (t->state)
        add_state(o, t->state);
    add_text(o, "wait_channel", t->wait_channel);
    if (t->cpu_s >= 0)
        faultloc_json_decimal(o, "cpu_s", t->cpu_s, 3);
    add_call(o, t);
    if (!p->done)
        return o;
    frames = json_object_new_array();
    for (int i = 0; i < t->frames; i++)
        faultloc_json_append(frames, json_frame(&t->frame[i]));
    faultloc_json_set(o, "frames", frames);
    if (t->is_cut)
        faultloc_json_set(o, "cut", json_object_new_boolean(true));
    if (t->why)
        add_text(o, "why_not", t->why);
    return o;
}

static double cpu_of(const struct handler_process *p)
{
    double sum = 0;

    for (int i = 0; i < p->threads; i++)
        sum += p->thread[i].cpu_s > 0 ? p->thread[i].cpu_s : 0;
    return sum;
}

struct json_object *handler_json(const struct handler_process *p)
{
    struct json_object *o = json_object_new_object(), *list = json_object_new_array();

    add_text(o, "schema", "faultloc-handler/1");
    faultloc_json_set(o, "pid", json_object_new_int(p->pid));
    faultloc_json_set(o, "stacks", json_object_new_boolean(p->done));
    if (p->why)
        add_text(o, "why_not", p->why);
    else
        add_state(o, p->state);
    add_text(o, "name", p->name);
    faultloc_json_decimal(o, "cpu_s", cpu_of(p), 3);
    faultloc_json_set(o, "thread_count", json_object_new_int(p->all_threads));
    for (int i = 0; i < p->threads; i++)
        faultloc_json_append(list, json_thread(p, &p->thread[i]));
    faultloc_json_set(o, "threads", list);
    return o;
}
