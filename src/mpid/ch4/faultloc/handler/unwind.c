/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/handler/handler.h"

#include "faultloc/base/proc.h"
#include "ftree/base/text.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* From registers and a copy of the inner stack to frames.  What is not on the stack (constants of a
 * library) is read from the process, which runs meanwhile; the outer stack only of a thread that
 * waits, if it has not run until all is read. */

struct unwinding {
    struct handler_process *p;
    struct handler_thread *t; /* that is unwound */
    Dwfl *dwfl;
    int mem, next;
    uint64_t frame_pointer; /* of the innermost function that keeps one; 0: not known */
    bool waits, beyond; /* the thread; the outer stack was read */
    int wait_ms;
    struct handler_copy copy;
};

/* ---- what libdwfl asks for ------------------------------------------------------------------- */

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
    struct unwinding *u = arg;

    (void) dwfl;
    if (*thread_arg == NULL)
        u->next = 0;
    if (u->next == u->p->threads)
        return 0;
    u->t = &u->p->thread[u->next++];
    *thread_arg = u;
    return u->t->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
    struct unwinding *u = arg;

    (void) dwfl;
    *thread_arg = u;
    for (int i = 0; i < u->p->threads; i++)
        if (u->p->thread[i].tid == tid) {
            u->t = &u->p->thread[i];
            return true;
        }
    return false;
}

static size_t read_bytes(void *arg, uint64_t at, void *buf, size_t len)
{
    struct unwinding *u = arg;
    const struct handler_copy *c = &u->copy;
    ssize_t n;

    if (at >= c->at && at - c->at + len <= c->bytes) {
        memcpy(buf, c->stack + (at - c->at), len);
        return len;
    }
    if (at >= c->at && at < c->end) {
        u->beyond = true;
        if (!u->waits)
            return 0;
    }
    n = pread(u->mem, buf, len, (off_t) at);
    return n > 0 ? (size_t) n : 0;
}

static bool read_word(Dwfl *dwfl, Dwarf_Addr at, Dwarf_Word *word, void *arg)
{
    (void) dwfl;
    return read_bytes(arg, at, word, sizeof(*word)) == sizeof(*word);
}

/* Where not all registers are known, the others are undefined to libdwfl, too. */
static bool set_registers(Dwfl_Thread *thread, void *arg)
{
    const struct unwinding *u = arg;
    const struct handler_thread *t = u->t;
    Dwarf_Word sp = t->sp, pc = t->pc, fp = u->frame_pointer, all[HANDLER_REGISTERS];

    for (int i = 0; i < HANDLER_REGISTERS; i++)
        all[i] = t->registers[i];
#if defined(__x86_64__)
    if (t->has_registers)
        return dwfl_thread_state_registers(thread, 0, 17, all);
    return dwfl_thread_state_registers(thread, 7, 1, &sp) &&
           dwfl_thread_state_registers(thread, 16, 1, &pc) &&
           (fp == 0 || dwfl_thread_state_registers(thread, 6, 1, &fp));
#else
    (void) fp;
    dwfl_thread_state_register_pc(thread, pc);
    if (t->has_registers)
        return dwfl_thread_state_registers(thread, 0, 32, all);
    return dwfl_thread_state_registers(thread, 31, 1, &sp);
#endif
}

static const Dwfl_Thread_Callbacks threads = {.next_thread = next_thread,
                                              .get_thread = get_thread,
                                              .memory_read = read_word,
                                              .set_initial_registers = set_registers};

static char executable[PATH_MAX + 16]; /* of the process, as its mappings name it */
static char executable_at[64], root_at[64]; /* where it is to be had, and all other files */

static void find_executable(pid_t pid)
{
    ssize_t n;

    snprintf(executable_at, sizeof(executable_at), "/proc/%d/exe", (int) pid);
    snprintf(root_at, sizeof(root_at), "/proc/%d/root", (int) pid);
    n = readlink(executable_at, executable, sizeof(executable) - 1);
    executable[n > 0 ? n : 0] = '\0';
}

/* The file as the process sees it, which may be in a container.  That of a program that was built anew
 * while it ran is "PATH (deleted)", but the process still has it. */
static int find_elf(Dwfl_Module *m, void **userdata, const char *name, Dwarf_Addr base, char **file,
                    Elf **elf)
{
    char path[PATH_MAX + 64];
    int fd = -1;

    if (name && *executable && !strcmp(name, executable)) {
        fd = open(executable_at, O_RDONLY | O_CLOEXEC);
    } else if (name && name[0] == '/') {
        snprintf(path, sizeof(path), "%s%s", root_at, name);
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (fd < 0)
        return dwfl_linux_proc_find_elf(m, userdata, name, base, file, elf);
    *file = strdup(name);
    return fd;
}

static const Dwfl_Callbacks modules = {.find_elf = find_elf,
                                       .find_debuginfo = dwfl_standard_find_debuginfo};

/* ---- frames ---------------------------------------------------------------------------------- */

static Dwfl_Module *name_module(Dwfl *dwfl, Dwarf_Addr at, struct handler_frame *f)
{
    Dwfl_Module *m = dwfl_addrmodule(dwfl, at);
    const char *slash, *module;

    module = m ? dwfl_module_info(m, NULL, NULL, NULL, NULL, NULL, NULL, NULL) : NULL;
    slash = module ? strrchr(module, '/') : NULL;
    ftree_text_copy(f->module, sizeof(f->module), slash ? slash + 1 : module);
    return m;
}

static void name_frame(Dwfl *dwfl, Dwarf_Addr at, struct handler_frame *f)
{
    Dwfl_Module *m = name_module(dwfl, at, f);
    Dwfl_Line *line = m ? dwfl_module_getsrc(m, at) : NULL;
    const char *symbol;

    if (!m)
        return;
    symbol = dwfl_module_addrname(m, at);
    handler_function(symbol ? symbol : "", f->function, sizeof(f->function));
    ftree_text_ascii(f->function);
    if (line)
        ftree_text_copy(f->file, sizeof(f->file), dwfl_lineinfo(line, NULL, &f->line, NULL, NULL, NULL));
}

/* Ranks run the same program, and many are at the same place; reading debugging information is what
 * takes the time.  A place is known by the module's build ID. */

#define PLACES 512
#define BUILD_ID_BYTES 20

struct place {
    uint8_t id[BUILD_ID_BYTES];
    Dwarf_Addr offset;
    struct handler_frame frame;
};

/* NULL: the module has no build ID. */
static struct place *find_place(Dwfl *dwfl, Dwarf_Addr at, bool *is_known)
{
    static struct place places[PLACES];
    Dwfl_Module *m = dwfl_addrmodule(dwfl, at);
    const unsigned char *id = NULL;
    struct place key = {.offset = 0}, *p;
    Dwarf_Addr start, vaddr;

    if (!m || dwfl_module_build_id(m, &id, &vaddr) != BUILD_ID_BYTES)
        return NULL;
    dwfl_module_info(m, NULL, &start, NULL, NULL, NULL, NULL, NULL);
    memcpy(key.id, id, BUILD_ID_BYTES);
    key.offset = at - start;
    p = &places[(key.offset ^ key.id[0]) % PLACES];
    *is_known = p->offset == key.offset && !memcmp(p->id, key.id, BUILD_ID_BYTES);
    memcpy(p->id, key.id, BUILD_ID_BYTES);
    p->offset = key.offset;
    return p;
}

static void name_once(Dwfl *dwfl, Dwarf_Addr at, struct handler_frame *f)
{
    struct handler_frame named = {.line = 0};
    bool is_known = false;
    struct place *p = find_place(dwfl, at, &is_known);

    if (is_known)
        named = p->frame;
    else
        name_frame(dwfl, at, &named);
    named.pc = f->pc;
    named.is_activation = f->is_activation;
    *f = named;
    if (p)
        p->frame = named;
}

/* ---- call frame information ------------------------------------------------------------------ */

/* Of the instruction at `at`; the caller's, for free(3).  NULL: there is none. */
static Dwarf_Frame *frame_information(Dwfl *dwfl, Dwarf_Addr at)
{
    Dwfl_Module *m = dwfl_addrmodule(dwfl, at);
    Dwarf_Frame *frame = NULL;
    Dwarf_Addr bias = 0;
    Dwarf_CFI *cfi;

    for (int i = 0; m && i < 2 && !frame; i++) {
        cfi = i == 0 ? dwfl_module_eh_cfi(m, &bias) : dwfl_module_dwarf_cfi(m, &bias);
        if (cfi && dwarf_cfi_addrframe(cfi, at - bias, &frame))
            frame = NULL;
    }
    return frame;
}

#if defined(__x86_64__)
#define RETURN_ADDRESS 16
#else
#define RETURN_ADDRESS 30
#endif

/* Nobody has called the outermost function. */
static bool is_outermost(Dwfl *dwfl, Dwarf_Addr at)
{
    Dwarf_Frame *frame = frame_information(dwfl, at);
    Dwarf_Op room[3], *ops;
    size_t n = 1;
    bool is = frame && dwarf_frame_register(frame, RETURN_ADDRESS, room, &ops, &n) == 0 && n == 0 &&
              ops == room;

    free(frame);
    return is;
}

/* A return address may be behind the last instruction of its function. */
static Dwarf_Addr inside(const struct handler_frame *f)
{
    return f->is_activation ? f->pc : f->pc - 1;
}

/* Without information libdwfl would follow the frame pointer, which may be of another function. */
static int take_frame(Dwfl_Frame *state, void *arg)
{
    struct unwinding *u = arg;
    struct handler_thread *t = u->t;
    struct handler_frame *f;
    Dwarf_Frame *frame;
    Dwarf_Addr pc;

    if (t->frames == HANDLER_FRAMES_MAX) {
        t->is_cut = true;
        return DWARF_CB_ABORT;
    }
    if (!dwfl_frame_pc(state, &pc, &t->frame[t->frames].is_activation))
        return DWARF_CB_ABORT;
    f = &t->frame[t->frames++];
    f->pc = pc;
    frame = frame_information(u->dwfl, inside(f));
    free(frame);
    return frame ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static void walk(struct unwinding *u, struct handler_thread *t)
{
    t->frames = 0;
    dwfl_getthread_frames(u->dwfl, t->tid, take_frame, u);
}

/* libdwfl takes a frame that it cannot find for the end of the stack. */
static bool is_whole(const struct unwinding *u, const struct handler_thread *t)
{
    return t->is_cut || (t->frames > 0 && is_outermost(u->dwfl, inside(&t->frame[t->frames - 1])));
}

/* ---- the frame pointer ----------------------------------------------------------------------- */

#if defined(__x86_64__)

/* The frame of the function that `at` is in is found by it. */
static bool needs_frame_pointer(Dwfl *dwfl, Dwarf_Addr at)
{
    Dwarf_Frame *frame = frame_information(dwfl, at);
    Dwarf_Op *ops;
    size_t n = 0;
    bool needs = frame && dwarf_frame_cfa(frame, &ops, &n) == 0 && n > 0 &&
                 (ops[0].atom == DW_OP_breg6 || (ops[0].atom == DW_OP_bregx && ops[0].number == 6));

    free(frame);
    return needs;
}

/* 0: not known. */
static Dwarf_Addr function_start(Dwfl *dwfl, Dwarf_Addr at)
{
    Dwfl_Module *m = dwfl_addrmodule(dwfl, at);
    GElf_Off offset = 0;
    GElf_Sym sym;

    return m && dwfl_module_addrinfo(m, at, &offset, &sym, NULL, NULL, NULL) ? at - offset : 0;
}

/* Of the frame that was reached last: behind the address to which its callee returns. */
static uint64_t stack_pointer(struct unwinding *u, const struct handler_thread *t)
{
    uint64_t to = t->frame[t->frames - 1].pc, word = 0, at = t->sp;

    if (t->frames == 1)
        return at;
    while (read_bytes(u, at, &word, sizeof(word)) == sizeof(word) && word != to &&
           at - t->sp < HANDLER_COPY_BYTES)
        at += sizeof(word);
    return word == to ? at + sizeof(word) : 0;
}

/* No function between that one and the innermost has changed it, for its frame would tell. */
static void find_frame_pointer(struct unwinding *u, const struct handler_thread *t)
{
    Dwarf_Addr at = inside(&t->frame[t->frames - 1]), start = function_start(u->dwfl, at);
    uint64_t sp;

    if (t->has_registers || !needs_frame_pointer(u->dwfl, at) || start == 0)
        return;
    sp = stack_pointer(u, t);
    if (sp > 0)
        u->frame_pointer = handler_frame_pointer(read_bytes, u, start, sp);
}

#else

static void find_frame_pointer(struct unwinding *u, const struct handler_thread *t)
{
    (void) u;
    (void) t;
}

#endif

/* ---- all threads ----------------------------------------------------------------------------- */

#define ATTEMPTS 8 /* it may run and wait in turns */
#define MISS 4 /* so many attempts one counts for that waited until the thread runs */

/* False: not of one moment. */
static bool take_stack(struct unwinding *u, struct handler_thread *t)
{
    struct handler_frame *frame = t->frame;
    bool taken = handler_snapshot(u->p->pid, u->mem, t, &u->copy, &u->wait_ms);

    t->frame = frame;
    if (!taken || t->why)
        return taken;
    u->t = t;
    u->frame_pointer = 0;
    u->waits = !t->has_registers;
    u->beyond = false;
    walk(u, t);
    if (t->frames > 0 && !is_whole(u, t)) {
        find_frame_pointer(u, t);
        if (u->frame_pointer)
            walk(u, t);
    }
    return !u->beyond || !u->waits || handler_still_waits(u->p->pid, t);
}

static const char *why_not_whole(const struct unwinding *u, const struct handler_thread *t)
{
    return t->frames == 0           ? "libdw cannot unwind it"
           : u->beyond && !u->waits ? "the outer part of its stack, beyond 64 KiB, changes while it runs"
                                    : "the outer part of its stack is not found";
}

static bool make_room(struct handler_thread *t)
{
    t->frame = calloc(HANDLER_FRAMES_MAX, sizeof(*t->frame));
    if (!t->frame)
        t->why = "out of memory";
    return t->frame;
}

static void take_thread(struct unwinding *u, struct handler_thread *t)
{
    bool taken = false;

    for (int i = 0; i < ATTEMPTS && !taken; i += t->state == 'R' ? MISS : 1)
        taken = take_stack(u, t);
    if (taken)
        return;
    t->frames = 0;
    if (!t->why)
        t->why = t->sp ? "it ran meanwhile" : "the kernel does not say where it waits";
}

static void unwind_thread(struct unwinding *u, struct handler_thread *t)
{
    if (!make_room(t))
        return;
    take_thread(u, t);
    if (!t->why && !is_whole(u, t))
        t->why = why_not_whole(u, t);
    for (int i = 0; i < t->frames; i++)
        name_once(u->dwfl, inside(&t->frame[i]), &t->frame[i]);
}

static const char *why_not(int error)
{
    return error == EACCES || error == EPERM
               ? "its memory may not be read: the system forbids it (kernel.yama.ptrace_scope), or it "
                 "is not dumpable"
               : "the process, or its first thread, has ended";
}

/* NULL: they are not known.  For dwfl_end(). */
static Dwfl *open_modules(pid_t pid)
{
    Dwfl *dwfl;

    unsetenv("DEBUGINFOD_URLS"); /* nothing is to be fetched */
    find_executable(pid);
    dwfl = dwfl_begin(&modules);
    if (dwfl && dwfl_linux_proc_report(dwfl, pid) == 0 && dwfl_report_end(dwfl, NULL, NULL) == 0)
        return dwfl;
    dwfl_end(dwfl);
    return NULL;
}

/* NULL: its modules are known. */
static const char *open_process(struct unwinding *u)
{
    pid_t pid = u->p->pid;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/mem", (int) pid);
    u->mem = open(path, O_RDONLY | O_CLOEXEC);
    if (u->mem < 0)
        return why_not(errno);
    u->dwfl = open_modules(pid);
    if (u->dwfl && dwfl_attach_state(u->dwfl, NULL, pid, &threads, u))
        return NULL;
    return "libdw cannot read its modules";
}

/* What was read of the modules is not of another program that the process has executed since. */
static bool is_same_program(pid_t pid)
{
    char before[sizeof(executable)];

    memcpy(before, executable, sizeof(before));
    find_executable(pid);
    return !strcmp(before, executable);
}

typedef void unwind_one(struct unwinding *u, struct handler_thread *t);

static void unwind_threads(struct handler_process *p, unwind_one *unwind)
{
    static struct unwinding u; /* too large for a stack */
    const char *why;

    p->done = true;
    if (p->why)
        return;
    u = (struct unwinding){.p = p, .mem = -1, .wait_ms = HANDLER_WAIT_MS};
    why = open_process(&u);
    for (int i = 0; i < p->threads && !why; i++)
        unwind(&u, &p->thread[i]);
    if (!why && !is_same_program(p->pid))
        why = "it has executed another program meanwhile";
    for (int i = 0; i < p->threads && why; i++) {
        p->thread[i].frames = 0;
        p->thread[i].why = why;
    }
    if (u.mem >= 0)
        close(u.mem);
    dwfl_end(u.dwfl);
}

void handler_unwind(struct handler_process *p)
{
    unwind_threads(p, unwind_thread);
}

/* ---- the caller of MPI alone ----------------------------------------------------------------- */

/* What the frame is in that was inlined there, as its line is; NULL: nothing. */
static const char *inlined_function(Dwfl *dwfl, Dwarf_Addr at)
{
    Dwfl_Module *m = dwfl_addrmodule(dwfl, at);
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = m ? dwfl_module_addrdie(m, at, &bias) : NULL, *scopes = NULL;
    int n = unit ? dwarf_getscopes(unit, at - bias, &scopes) : 0, i = 0;
    const char *name = NULL;

    while (i < n && dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine &&
           dwarf_tag(&scopes[i]) != DW_TAG_subprogram)
        i++;
    if (i < n && dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine)
        name = dwarf_diename(&scopes[i]);
    free(scopes);
    return name;
}

static void name_call(Dwfl *dwfl, struct handler_frame *f)
{
    const char *inlined;

    if (handler_is_script(f))
        return;
    name_once(dwfl, inside(f), f);
    inlined = f->line > 0 ? inlined_function(dwfl, inside(f)) : NULL;
    if (inlined)
        ftree_text_copy(f->function, sizeof(f->function), inlined);
}

/* True: there is one. */
static bool name_own(struct unwinding *u, struct handler_thread *t)
{
    bool any = false;

    for (int i = 0; i < t->frames; i++) {
        struct handler_frame *f = &t->frame[i];
        name_module(u->dwfl, inside(f), f);
        if (faultloc_proc_is_library(f->module))
            continue;
        any = true;
        name_call(u->dwfl, f);
    }
    return any;
}

/* Where its line is not known, the nearest one around it whose line is stays, too; or the interpreter's,
 * whose script has one. */
static void keep_caller(struct handler_thread *t, pid_t pid)
{
    int own = handler_caller(t->frame, t->frames), with_line = own, kept = 0;

    while (with_line < t->frames && !handler_is_script(&t->frame[with_line]) &&
           (t->frame[with_line].line == 0 || faultloc_proc_is_library(t->frame[with_line].module)))
        with_line++;
    if (own < t->frames)
        t->frame[kept++] = t->frame[own];
    if (own < with_line && with_line < t->frames)
        t->frame[kept++] = t->frame[with_line];
    t->frames = kept;
    for (int i = 0; i < kept; i++)
        if (handler_is_script(&t->frame[i]))
            handler_name_script(&t->frame[i], pid);
    if (kept == 0 && !t->why)
        t->why = "no function of the program is found on its stack";
}

/* The stack that the wait returns to stays as it is until it does. */
static void take_wait(struct unwinding *u, struct handler_thread *t)
{
    t->sp = u->p->sp;
    t->pc = u->p->pc;
    if (!handler_snapshot_wait(u->p->pid, u->mem, t, &u->copy)) {
        t->why = "its stack cannot be read";
        return;
    }
    u->t = t;
    u->waits = true;
    walk(u, t);
    t->frame[0].is_activation = false;
}

static void unwind_caller(struct unwinding *u, struct handler_thread *t)
{
    if (!make_room(t))
        return;
    if (u->p->sp)
        take_wait(u, t);
    else
        take_thread(u, t);
    if (!name_own(u, t) && t->frames > 0 && u->frame_pointer == 0) {
        find_frame_pointer(u, t);
        if (u->frame_pointer)
            walk(u, t);
        name_own(u, t);
    }
    keep_caller(t, u->p->pid);
}

void handler_unwind_caller(struct handler_process *p)
{
    if (p->threads > 1)
        p->threads = 1; /* the first */
    unwind_threads(p, unwind_caller);
}

void handler_name_address(pid_t pid, struct handler_frame *f)
{
    Dwfl *dwfl = open_modules(pid);

    if (dwfl && name_module(dwfl, f->pc, f)) {
        name_call(dwfl, f);
        if (handler_is_script(f))
            handler_name_script(f, pid);
    }
    dwfl_end(dwfl);
}

bool handler_can_unwind(void)
{
    return true;
}

#else /* HAVE_LIBDW */

void handler_unwind(struct handler_process *p)
{
    for (int i = 0; i < p->threads; i++)
        p->thread[i].why = "faultloc-handler was built without libdw";
    p->done = true;
}

void handler_unwind_caller(struct handler_process *p)
{
    handler_unwind(p);
}

void handler_name_address(pid_t pid, struct handler_frame *f)
{
    (void) pid;
    (void) f;
}

bool handler_can_unwind(void)
{
    return false;
}

#endif
