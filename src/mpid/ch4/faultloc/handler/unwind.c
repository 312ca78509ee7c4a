/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/handler/handler.h"

#include "ftree/base/text.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LIBDW

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* From registers and a copy of the stack to frames; memory that is not in the copy (constants of a
 * library) is read from the process, which runs meanwhile. */

struct unwinding {
    struct handler_process *p;
    struct handler_thread *t; /* that is unwound */
    Dwfl *dwfl;
    int mem, next;
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

static bool read_word(Dwfl *dwfl, Dwarf_Addr at, Dwarf_Word *word, void *arg)
{
    const struct unwinding *u = arg;
    const struct handler_thread *t = u->t;

    (void) dwfl;
    if (t && at >= t->stack_at && at - t->stack_at + sizeof(*word) <= t->stack_bytes) {
        memcpy(word, t->stack + (at - t->stack_at), sizeof(*word));
        return true;
    }
    return u->mem >= 0 && pread(u->mem, word, sizeof(*word), (off_t) at) == sizeof(*word);
}

/* Where only two registers are known, the others are undefined to libdwfl, too. */
static bool set_registers(Dwfl_Thread *thread, void *arg)
{
    const struct handler_thread *t = ((struct unwinding *) arg)->t;
    Dwarf_Word sp = t->sp, pc = t->pc, all[HANDLER_REGISTERS];

    for (int i = 0; i < HANDLER_REGISTERS; i++)
        all[i] = t->registers[i];
#if defined(__x86_64__)
    if (t->has_registers)
        return dwfl_thread_state_registers(thread, 0, 17, all);
    return dwfl_thread_state_registers(thread, 7, 1, &sp) &&
           dwfl_thread_state_registers(thread, 16, 1, &pc);
#else
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
static char executable_at[64]; /* where it is to be had */

static void find_executable(pid_t pid)
{
    ssize_t n;

    snprintf(executable_at, sizeof(executable_at), "/proc/%d/exe", (int) pid);
    n = readlink(executable_at, executable, sizeof(executable) - 1);
    executable[n > 0 ? n : 0] = '\0';
}

/* The file of a program that was built anew while it ran is "PATH (deleted)", but the process still has
 * it. */
static int find_elf(Dwfl_Module *m, void **userdata, const char *name, Dwarf_Addr base, char **file,
                    Elf **elf)
{
    int fd = -1;

    if (name && *executable && !strcmp(name, executable))
        fd = open(executable_at, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return dwfl_linux_proc_find_elf(m, userdata, name, base, file, elf);
    *file = strdup(name);
    return fd;
}

static const Dwfl_Callbacks modules = {.find_elf = find_elf,
                                       .find_debuginfo = dwfl_standard_find_debuginfo};

/* ---- frames ---------------------------------------------------------------------------------- */

static void name_frame(Dwfl *dwfl, Dwarf_Addr at, struct handler_frame *f)
{
    Dwfl_Module *m = dwfl_addrmodule(dwfl, at);
    Dwfl_Line *line = m ? dwfl_module_getsrc(m, at) : NULL;
    const char *slash, *module, *symbol;

    if (!m)
        return;
    module = dwfl_module_info(m, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    slash = module ? strrchr(module, '/') : NULL;
    ftree_text_copy(f->module, sizeof(f->module), slash ? slash + 1 : module);
    symbol = dwfl_module_addrname(m, at);
    handler_function(symbol ? symbol : "", f->function, sizeof(f->function));
    ftree_text_ascii(f->function);
    if (line)
        ftree_text_copy(f->file, sizeof(f->file), dwfl_lineinfo(line, NULL, &f->line, NULL, NULL, NULL));
}

static int take_frame(Dwfl_Frame *state, void *arg)
{
    struct unwinding *u = arg;
    struct handler_thread *t = u->t;
    struct handler_frame *f;
    bool is_activation;
    Dwarf_Addr pc;

    if (t->frames == HANDLER_FRAMES_MAX) {
        t->is_cut = true;
        return DWARF_CB_ABORT;
    }
    if (!dwfl_frame_pc(state, &pc, &is_activation))
        return DWARF_CB_ABORT;
    f = &t->frame[t->frames++];
    f->pc = pc;
    /* a return address may be behind the last instruction of its function */
    name_frame(u->dwfl, is_activation ? pc : pc - 1, f);
    return DWARF_CB_OK;
}

static void unwind_thread(struct unwinding *u, struct handler_thread *t)
{
    if (t->why || t->stack_bytes == 0)
        return;
    t->frame = calloc(HANDLER_FRAMES_MAX, sizeof(*t->frame));
    if (!t->frame) {
        t->why = "out of memory";
        return;
    }
    u->t = t;
    if (dwfl_getthread_frames(u->dwfl, t->tid, take_frame, u) && t->frames == 0)
        t->why = "libdw cannot unwind it";
}

void handler_unwind(struct handler_process *p)
{
    struct unwinding u = {.p = p, .dwfl = dwfl_begin(&modules), .mem = -1};
    char path[64];

    p->done = true;
    if (p->why || !u.dwfl)
        return;
    unsetenv("DEBUGINFOD_URLS"); /* nothing is to be fetched */
    find_executable(p->pid);
    snprintf(path, sizeof(path), "/proc/%d/mem", (int) p->pid);
    u.mem = open(path, O_RDONLY | O_CLOEXEC);
    if (dwfl_linux_proc_report(u.dwfl, p->pid) == 0 && dwfl_report_end(u.dwfl, NULL, NULL) == 0 &&
        dwfl_attach_state(u.dwfl, NULL, p->pid, &threads, &u))
        for (int i = 0; i < p->threads; i++)
            unwind_thread(&u, &p->thread[i]);
    else
        for (int i = 0; i < p->threads; i++)
            if (!p->thread[i].why)
                p->thread[i].why = "libdw cannot read its modules";
    if (u.mem >= 0)
        close(u.mem);
    dwfl_end(u.dwfl);
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

bool handler_can_unwind(void)
{
    return false;
}

#endif
