/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/node/rank_lag.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/proc.h"
#include "faultloc/base/text_file.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX 4096 /* bytes of a file */
#define ROUND (100 * FTREE_MS) /* questions of one round come within */
#define CLOCKS_MAX (20 * FTREE_MS) /* some kernels take 10 ms for the frequency of one core */
#define LEAST 2 /* samples between two questions that measure, */
#define MOST (25000 * FTREE_MS) /* and at the most, for each begun 400 ms of a sample */
#define CPUS 8192

/* The number behind `key` at the beginning of a line; 0: there is none. */
static uint64_t number_of(const char *text, const char *key)
{
    const char *at = faultloc_text_line(text, key);

    return at ? strtoull(at, NULL, 10) : 0;
}

static uint16_t share(uint64_t part, uint64_t whole)
{
    if (part >= whole)
        return whole ? 1000 : 0;
    return (uint16_t) ((double) part * 1000 / (double) whole);
}

static void add_level(void *ctx, const char *dir, const char *path)
{
    struct faultloc_lag_seen *s = ctx;
    char text[TEXT_MAX];

    if (s->levels == FAULTLOC_CGROUP_LEVELS)
        return;
    faultloc_text_read(dir, text, sizeof(text), "%s/cpu.stat", path);
    s->level[s->levels].periods = number_of(text, "nr_periods ");
    s->level[s->levels++].throttled = number_of(text, "nr_throttled ");
}

/* ---- the node, once a round ------------------------------------------------------------------ */

/* user nice system idle iowait irq softirq steal; guests are in user. */
static void read_ticks(struct faultloc_lags *l)
{
    unsigned long long t[8] = {0};
    char text[TEXT_MAX];

    faultloc_text_read(l->watch->proc_root, text, sizeof(text), "stat");
    if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3],
               &t[4], &t[5], &t[6], &t[7]) != 8)
        return;
    l->stolen = t[7];
    l->busy = t[0] + t[1] + t[2] + t[5] + t[6] + t[7];
}

/* "some avg10=1.23 ...", in percent of the time. */
static void read_stall(struct faultloc_lags *l)
{
    char text[TEXT_MAX];
    double percent;

    l->stall = 0;
    faultloc_text_read(l->watch->proc_root, text, sizeof(text), "pressure/memory");
    if (sscanf(text, "some avg10=%lf", &percent) == 1 && percent > 0 && percent <= 100)
        l->stall = (uint16_t) (10 * percent);
}

/* Those of processes that have ended and of which the number is another's tell nothing false: they
 * are not measured. */
static int32_t core_of(int32_t pid)
{
    cpu_set_t *set = CPU_ALLOC(CPUS);
    size_t size = CPU_ALLOC_SIZE(CPUS);
    int32_t core = -1;

    if (!set)
        return -1;
    if (pid > 0 && sched_getaffinity(pid, size, set) == 0 && CPU_COUNT_S(size, set) == 1)
        while (!CPU_ISSET_S(++core, size, set))
            ;
    CPU_FREE(set);
    return core;
}

static void begin_round(struct faultloc_lags *l, ftree_time now)
{
    const struct faultloc_board *b = l->watch->board;

    if (l->at && now < l->at + ROUND)
        return;
    l->at = now;
    l->clocks = 0;
    read_ticks(l);
    read_stall(l);
    for (int32_t i = 0; i < b->slots; i++)
        l->core[i] = core_of(faultloc_board_slot(b, i)->pid);
}

/* ---- a rank ---------------------------------------------------------------------------------- */

static uint64_t read_khz(const struct faultloc_lags *l, int32_t cpu, const char *name)
{
    uint64_t khz = faultloc_text_number(l->sys_root ? l->sys_root : "/sys",
                                        "devices/system/cpu/cpu%d/cpufreq/%s", (int) cpu, name);

    return khz == UINT64_MAX ? 0 : khz;
}

/* 0: not known. */
static uint16_t read_clock(struct faultloc_lags *l, int32_t cpu)
{
    ftree_time began = faultloc_now();
    uint64_t nominal;
    uint16_t clock;

    if (cpu < 0 || l->clocks > CLOCKS_MAX)
        return 0;
    nominal = read_khz(l, cpu, "base_frequency");
    if (!nominal)
        nominal = read_khz(l, cpu, "cpuinfo_max_freq");
    clock = nominal ? share(read_khz(l, cpu, "scaling_cur_freq"), nominal) : 0;
    l->clocks += faultloc_now() - began;
    return clock;
}

static int32_t find_beside(const struct faultloc_lags *l, int32_t i)
{
    const struct faultloc_board *b = l->watch->board;

    for (int32_t k = 0; k < b->slots && l->core[i] >= 0; k++)
        if (k != i && l->core[k] == l->core[i] &&
            faultloc_board_slot(b, k)->state < FAULTLOC_SLOT_LEFT)
            return faultloc_board_slot(b, k)->rank;
    return FTREE_NONE;
}

/* False: nothing is known of it. */
static bool read_rank(const struct faultloc_lags *l, ftree_time now, int32_t i,
                      struct faultloc_lag_seen *s, int32_t *cpu)
{
    const struct faultloc_slot *slot = faultloc_board_slot(l->watch->board, i);
    struct faultloc_proc_sched sched;
    struct faultloc_proc proc;

    if (slot->state >= FAULTLOC_SLOT_LEFT ||
        faultloc_proc_read(l->watch->proc_root, slot->pid, &proc) ||
        (slot->start && proc.start != slot->start) ||
        !faultloc_proc_sched(l->watch->proc_root, slot->pid, &sched))
        return false;
    *cpu = proc.processor;
    *s = (struct faultloc_lag_seen){.at = now,
                                    .ran = sched.ran,
                                    .waited = sched.waited,
                                    .faults = proc.major,
                                    .busy = l->busy,
                                    .stolen = l->stolen};
    faultloc_cgroups(l->watch->proc_root, l->sys_root, slot->pid, "cpu", add_level, s);
    return true;
}

static uint64_t grown(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

/* Of the quota that is used up most often: its own, or that of a cgroup above. */
static uint16_t throttled_of(const struct faultloc_lag_seen *b, const struct faultloc_lag_seen *s)
{
    uint16_t most = 0, one;

    for (int32_t i = 0; i < b->levels && i < s->levels; i++) {
        one = share(grown(s->level[i].throttled, b->level[i].throttled),
                    grown(s->level[i].periods, b->level[i].periods));
        most = one > most ? one : most;
    }
    return most;
}

static void compare(const struct faultloc_lag_seen *b, const struct faultloc_lag_seen *s,
                    struct ftree_lag *lag)
{
    uint64_t time = s->at - b->at, ran = grown(s->ran, b->ran);
    uint64_t waited = grown(s->waited, b->waited);
    uint64_t faults = grown(s->faults, b->faults) * 1000 * FTREE_MS / time;

    lag->measured = true;
    lag->wants = share(ran + waited, time);
    lag->gets = ran + waited ? share(ran, ran + waited) : 1000;
    lag->throttled = throttled_of(b, s);
    lag->stolen = share(grown(s->stolen, b->stolen), grown(s->busy, b->busy));
    lag->faults = faults < FTREE_LAG_FAULTS_MAX ? (uint32_t) faults : FTREE_LAG_FAULTS_MAX;
}

/* False: out of memory. */
static bool begin(struct faultloc_lags *l)
{
    size_t slots = (size_t) l->watch->board->slots;

    if (!l->seen)
        l->seen = calloc(slots, sizeof(*l->seen) + sizeof(*l->core));
    l->core = l->seen ? (int32_t *) (void *) (l->seen + slots) : NULL;
    return l->seen;
}

void faultloc_lag_look(struct faultloc_lags *l, ftree_time now, int32_t i, struct ftree_lag *lag)
{
    ftree_time sample = l->watch->board->settings.sample;
    struct faultloc_lag_seen s, *before;
    int32_t cpu;

    if (!begin(l))
        return;
    begin_round(l, now);
    before = &l->seen[i];
    if (!read_rank(l, now, i, &s, &cpu))
        return;
    if (before->at && now < before->at + LEAST * sample)
        return;
    if (before->at && now <= before->at + MOST * (sample / (400 * FTREE_MS) + 1)) {
        compare(before, &s, lag);
        lag->stall = l->stall;
        lag->beside = find_beside(l, i);
        lag->clock = lag->wants ? read_clock(l, cpu) : 0;
    }
    *before = s;
}
