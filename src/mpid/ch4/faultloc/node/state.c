/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/node/state.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/iface.h"
#include "faultloc/base/proc.h"
#include "faultloc/base/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_NS 20000000u
#define SMALL 256 /* a file with a number or a line */
#define CPUS_MAX 8192
#define CORE_THROTTLES "devices/system/cpu/cpu%u/thermal_throttle/core_throttle_count"
#define KHZ_PER_MHZ 1000

struct cpus {
    uint64_t word[CPUS_MAX / 64];
    uint32_t count;
};

/* ---- files and numbers --------------------------------------------------------------------- */

/* A number at *at, which is moved behind it.  False: there is none, or it does not fit. */
static bool take_number(const char **at, uint64_t *number)
{
    const char *p = *at;

    for (*number = 0; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t) (*p - '0');
        if (*number > (UINT64_MAX - 1 - digit) / 10) /* the greatest stands for "not known" */
            return false;
        *number = *number * 10 + digit;
    }
    if (p == *at)
        return false;
    *at = p;
    return true;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

static uint32_t narrow(uint64_t number)
{
    return number < UINT32_MAX ? (uint32_t) number : UINT32_MAX;
}

/* "12.34" in hundredths; further digits are cut off. */
static uint32_t take_centi(const char *at)
{
    uint64_t number, unit = 100;

    if (!take_number(&at, &number) || number > UINT32_MAX / 100)
        return UINT32_MAX;
    number *= 100;
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9' && unit > 1; at++) {
            unit /= 10;
            number += (uint64_t) (*at - '0') * unit;
        }
    return narrow(number);
}

/* ---- load, pressure, memory ---------------------------------------------------------------- */

static void read_load(const char *proc, struct ftree_node_state *s)
{
    char text[SMALL];

    faultloc_text_read(proc, text, sizeof(text), "loadavg");
    s->load_centi = take_centi(text);
}

/* Pressure stall information: "some avg10=1.23 avg60=...", in percent of the time. */
static uint32_t read_pressure(const char *proc, const char *of)
{
    char text[SMALL];
    const char *at;

    faultloc_text_read(proc, text, sizeof(text), "pressure/%s", of);
    at = faultloc_text_line(text, "some avg10=");
    return at ? take_centi(at) : UINT32_MAX;
}

static uint64_t take_memory(const char *text, const char *key)
{
    const char *at = faultloc_text_line(text, key);
    uint64_t kib;

    if (!at)
        return UINT64_MAX;
    at = skip_blanks(at);
    if (!take_number(&at, &kib) || strncmp(at, " kB", 3) != 0 || kib >= UINT64_MAX / 1024)
        return UINT64_MAX;
    return kib * 1024;
}

static void read_memory(const char *proc, struct ftree_node_state *s)
{
    char text[4096];

    faultloc_text_read(proc, text, sizeof(text), "meminfo");
    s->memory_total = take_memory(text, "MemTotal:");
    s->memory_available = take_memory(text, "MemAvailable:");
    s->swap_total = take_memory(text, "SwapTotal:");
    s->swap_free = take_memory(text, "SwapFree:");
}

/* ---- cores --------------------------------------------------------------------------------- */

static bool has_cpu(const struct cpus *cpus, uint32_t cpu)
{
    return cpu < CPUS_MAX && (cpus->word[cpu / 64] >> cpu % 64 & 1);
}

static void add_cpus(struct cpus *cpus, uint64_t first, uint64_t last)
{
    for (uint64_t cpu = first; cpu <= last && cpu < CPUS_MAX; cpu++)
        if (!has_cpu(cpus, (uint32_t) cpu)) {
            cpus->word[cpu / 64] |= (uint64_t) 1 << cpu % 64;
            cpus->count++;
        }
}

/* True where it was there; then it is no more. */
static bool take_cpu(struct cpus *cpus, uint32_t cpu)
{
    if (!has_cpu(cpus, cpu))
        return false;
    cpus->word[cpu / 64] &= ~((uint64_t) 1 << cpu % 64);
    return true;
}

/* "0-3,8,10-11" */
static bool take_cpus(const char *at, struct cpus *cpus)
{
    uint64_t first, last;

    for (;; at++) {
        if (!take_number(&at, &first))
            return false;
        last = first;
        if (*at == '-') {
            at++;
            if (!take_number(&at, &last) || last < first)
                return false;
        }
        add_cpus(cpus, first, last);
        if (*at != ',')
            return *at == '\n' || *at == '\0';
    }
}

/* A file of cpufreq in MHz, UINT32_MAX: not known. */
static uint32_t read_mhz(const char *sys, uint32_t cpu, const char *name)
{
    uint64_t khz = faultloc_text_number(sys, "devices/system/cpu/cpu%u/cpufreq/%s", cpu, name);

    return khz == UINT64_MAX ? UINT32_MAX : narrow(khz / KHZ_PER_MHZ);
}

static void read_frequency(const char *sys, uint32_t cpu, struct ftree_node_state *s)
{
    uint32_t mhz = read_mhz(sys, cpu, "scaling_cur_freq");

    if (mhz != UINT32_MAX && (s->frequency_max_mhz == UINT32_MAX || mhz > s->frequency_max_mhz))
        s->frequency_max_mhz = mhz;
}

/* Some kernels take 10 ms for the frequency of one core, so there is an end to it; and the cores
 * that the ranks last ran on come first. */
static void read_frequencies(const char *sys, struct cpus *left, const int32_t *of_rank,
                             uint64_t until, struct ftree_node_state *s)
{
    for (int32_t i = 0; i < s->ranks && (i == 0 || faultloc_now() < until); i++)
        if (of_rank[i] >= 0 && take_cpu(left, (uint32_t) of_rank[i]))
            read_frequency(sys, (uint32_t) of_rank[i], s);
    for (uint32_t cpu = 0; cpu < CPUS_MAX; cpu++)
        if (take_cpu(left, cpu)) {
            if (faultloc_now() >= until)
                return;
            read_frequency(sys, cpu, s);
        }
}

static void read_nominal(const char *sys, struct ftree_node_state *s)
{
    s->frequency_nominal_mhz = read_mhz(sys, 0, "base_frequency");
    if (s->frequency_nominal_mhz == UINT32_MAX)
        s->frequency_nominal_mhz = read_mhz(sys, 0, "cpuinfo_max_freq");
}

/* A sum of some cores would look like a change when it is asked for again: all or none. */
static void read_throttles(const char *sys, const struct cpus *online, uint64_t until,
                           struct ftree_node_state *s)
{
    uint64_t sum = 0, one;
    bool any = false;

    for (uint32_t cpu = 0; cpu < CPUS_MAX; cpu++) {
        if (!has_cpu(online, cpu))
            continue;
        if (faultloc_now() >= until)
            return;
        one = faultloc_text_number(sys, CORE_THROTTLES, cpu);
        if (one == UINT64_MAX || sum + one < sum)
            continue;
        sum += one;
        any = true;
    }
    if (any)
        s->throttles = sum;
}

static void read_cores(const char *sys, const int32_t *of_rank, uint64_t until,
                       struct ftree_node_state *s)
{
    struct cpus online = {.count = 0};
    char text[4096];

    faultloc_text_read(sys, text, sizeof(text), "devices/system/cpu/online");
    if (!take_cpus(text, &online))
        online = (struct cpus){.count = 0};
    if (online.count)
        s->cpus = online.count;
    read_nominal(sys, s);
    read_throttles(sys, &online, until, s);
    read_frequencies(sys, &online, of_rank, until, s);
}

/* ---- the data interface -------------------------------------------------------------------- */

static bool is_name(const char *iface)
{
    return iface && iface[0] && !strchr(iface, '/') && strcmp(iface, ".") && strcmp(iface, "..");
}

static void read_port(const struct faultloc_state *st, struct ftree_node_state *s)
{
    enum ftree_link link = faultloc_port_link(st->sys_root, st->port);

    if (link != FTREE_LINK_UNKNOWN && (s->link == FTREE_LINK_UP || s->link == FTREE_LINK_UNKNOWN))
        s->link = (uint8_t) link;
}

static void read_link(const struct faultloc_state *st, ftree_time now, struct ftree_node_state *s)
{
    if (is_name(st->iface))
        s->link = (uint8_t) faultloc_iface_link(st->iface);
    if (st->port && *st->port)
        read_port(st, s);
    if (st->losses)
        faultloc_losses_read(st->losses, now, s);
}

/* ---- ranks --------------------------------------------------------------------------------- */

/* The CPU that it runs on or last ran on; -1: not known. */
static int32_t cpu_of(const struct faultloc_state *st, const struct ftree_rank_state *r)
{
    struct faultloc_proc proc;

    if (r->phase == FTREE_PHASE_LEFT || r->phase == FTREE_PHASE_GONE ||
        faultloc_proc_read(st->watch->proc_root, r->pid, &proc))
        return -1;
    return proc.processor;
}

/* False: its slot says nonsense, which nobody would take from us. */
static bool read_rank(struct faultloc_state *st, ftree_time now, int32_t i, int32_t at,
                      int32_t *cpu, struct ftree_node_state *s)
{
    struct ftree_rank_state r;

    faultloc_watch_look(st->watch, now, i, true, &r);
    if (r.rank < 0 || r.rank >= st->watch->board->size || r.pid < 0)
        return false;
    *cpu = cpu_of(st, &r);
    s->rank[at].rank = r.rank;
    s->rank[at].pid = r.pid;
    s->rank[at].proc_state = r.proc_state && strchr(FTREE_PROC_STATES, r.proc_state) ? r.proc_state : 0;
    s->rank[at].phase = r.phase;
    return true;
}

static void read_ranks(struct faultloc_state *st, ftree_time now, int32_t *cpu,
                       struct ftree_node_state *s)
{
    int32_t slots = st->watch->board->slots;

    for (int32_t i = 0; i < slots && s->ranks < FTREE_STATE_RANKS_MAX; i++)
        if (read_rank(st, now, i, s->ranks, &cpu[s->ranks], s))
            s->ranks++;
}

/* ---- all of it ----------------------------------------------------------------------------- */

static void know_nothing(struct ftree_node_state *s)
{
    memset(s, 0, sizeof(*s));
    s->cpus = s->load_centi = UINT32_MAX;
    s->cpu_pressure_centi = s->memory_pressure_centi = s->io_pressure_centi = UINT32_MAX;
    s->memory_total = s->memory_available = s->swap_total = s->swap_free = UINT64_MAX;
    s->frequency_max_mhz = s->frequency_nominal_mhz = UINT32_MAX;
    s->throttles = UINT64_MAX;
    s->link = FTREE_LINK_UNKNOWN;
    s->link_errors = s->link_drops = UINT64_MAX;
}

void faultloc_state_read(struct faultloc_state *st, ftree_time now, struct ftree_node_state *out)
{
    const char *proc = st->watch->proc_root;
    const char *sys = st->sys_root ? st->sys_root : "/sys";
    uint64_t until = faultloc_now() + (st->patience ? st->patience : PATIENCE_NS);
    int32_t cpu[FTREE_STATE_RANKS_MAX];

    know_nothing(out);
    read_load(proc, out);
    out->cpu_pressure_centi = read_pressure(proc, "cpu");
    out->memory_pressure_centi = read_pressure(proc, "memory");
    out->io_pressure_centi = read_pressure(proc, "io");
    read_memory(proc, out);
    read_link(st, now, out);
    read_ranks(st, now, cpu, out);
    read_cores(sys, cpu, until, out);
}
