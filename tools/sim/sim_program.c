/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/run.h"

#include "sim/sim_memory.h"

#include <string.h>

#define MS FTREE_MS
#define HOUR (3600 * 1000 * MS) /* what a program takes that changes */

/* bt, sp: long computation, short exchanges; cg: short iterations, much communication; ft: an
 * exchange of all with all that takes seconds; hpl: ever smaller steps, uneven ones; lu: a
 * pipeline; mg: coarse and fine grids in turn. */
const struct sim_program sim_programs[SIM_PROGRAMS] = {
    {"bt", 300 * MS, 0.85, 0.05, 0.10, 0, false},   {"cg", 60 * MS, 0.45, 0.10, 0.20, 0, false},
    {"ft", 8000 * MS, 0.35, 0.10, 0.10, 0, false},  {"hpcg", 900 * MS, 0.80, 0.10, 0.20, 0, false},
    {"hpl", 5000 * MS, 0.70, 0.10, 0.30, 0.3, false}, {"lu", 400 * MS, 0.70, 0.10, 0.20, 0, true},
    {"mg", 1700 * MS, 0.50, 0.20, 0.30, 0, false},  {"sp", 150 * MS, 0.80, 0.05, 0.10, 0, false}};

const struct sim_program *sim_program_find(const char *name, size_t len)
{
    for (int i = 0; i < SIM_PROGRAMS; i++)
        if (strlen(sim_programs[i].name) == len && !memcmp(sim_programs[i].name, name, len))
            return &sim_programs[i];
    return NULL;
}

/* ---- what ranks do --------------------------------------------------------------------------- */

/* In [-0.5, 0.5). */
static double drawn(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t x = draw_mix(seed + a * 0x9e3779b97f4a7c15u + b * 0xd1342543de82ef95u + 1);

    return (double) (x >> 11) * 0x1p-53 - 0.5;
}

#define STAGES 16 /* of a pipeline: every 16th rank is at the same place */

static int32_t stages_of(const struct sim_program *p)
{
    return p->shifted ? STAGES : 1;
}

/* The rank's own time. */
static ftree_time time_of(const struct sim_program *p, uint64_t seed, int32_t rank, ftree_time t)
{
    return p->shifted ? t + draw_mix(seed + (uint64_t) (rank % STAGES)) % p->period : t;
}

/* An iteration: which one, and how much of it is over, less the share that ranks are outside. */
struct place {
    uint64_t n;
    double past;
};

static struct place place_of(const struct sim_program *p, uint64_t seed, ftree_time t,
                             ftree_time own)
{
    double share = p->out + p->drift * (0.5 - (double) (t % HOUR) / (double) HOUR);
    struct place at = {.n = own / p->period};

    share += p->common * drawn(seed, at.n, 0);
    at.past = (double) (own - at.n * p->period) / (double) p->period - share;
    return at;
}

static bool is_outside_at(const struct sim_program *p, uint64_t seed, int32_t rank,
                          const struct place *at)
{
    return at->past < p->own * drawn(seed, at->n, 1 + (uint64_t) rank);
}

static bool is_outside(const struct sim_program *p, uint64_t seed, int32_t rank, ftree_time t)
{
    struct place at = place_of(p, seed, t, time_of(p, seed, rank, t));

    return is_outside_at(p, seed, rank, &at);
}

int32_t sim_program_outside(const struct sim_program *p, uint64_t seed, int32_t first, int32_t n,
                            ftree_time t)
{
    int32_t out = 0, stages = stages_of(p);
    struct place at[STAGES];

    for (int32_t i = 0; i < stages; i++)
        at[i] = place_of(p, seed, t, time_of(p, seed, i, t));
    if (stages == 1 && (at[0].past < -p->own / 2 || at[0].past >= p->own / 2)) /* all, or none */
        return at[0].past < 0 ? n : 0;
    for (int32_t i = first; i < first + n; i++)
        out += is_outside_at(p, seed, i, &at[i % stages]);
    return out;
}

ftree_time sim_program_step(uint64_t seed, ftree_time sample, uint64_t k)
{
    return sample / 2 + draw_mix(seed ^ draw_mix(k)) % (sample + 1);
}

/* ---- in a run -------------------------------------------------------------------------------- */

/* Of the program: it has run for a while when the simulation begins. */
static ftree_time time_in(const struct sim_run *r, ftree_time now)
{
    return now - SIM_BEGINS + r->options->ran;
}

void sim_program_waits_for(struct sim_run *r, int32_t rank)
{
    r->phase = sim_realloc(r->phase, (size_t) r->phases + 1, sizeof(*r->phase));
    r->phase[r->phases++] =
        (struct sim_phase){.begin = time_in(r, r->now), .end = FTREE_NEVER, .rank = rank};
}

void sim_program_goes_on(struct sim_run *r)
{
    struct sim_phase *p = &r->phase[r->phases - 1];
    struct sim_rank *k = &r->rank[p->rank];

    p->end = time_in(r, r->now);
    k->longest = k->longest > p->end - p->begin ? k->longest : p->end - p->begin;
    r->longest = r->longest > k->longest ? r->longest : k->longest;
    k->letter = 0;
}

/* The phase at that time, or NULL; *i: phases from there on began later. */
static const struct sim_phase *phase_at(const struct sim_run *r, ftree_time t, int32_t *i)
{
    while (*i > 0 && r->phase[*i - 1].begin > t)
        --*i;
    return *i > 0 && t < r->phase[*i - 1].end ? &r->phase[*i - 1] : NULL;
}

static int32_t count_outside(const struct sim_run *r, int32_t node, ftree_time t, int32_t *phase)
{
    int32_t per = r->options->topology->ranks_per_node;
    const struct sim_phase *p = phase_at(r, t, phase);

    if (p)
        return p->rank / per == node;
    return sim_program_outside(r->options->program, r->seed, node * per, per, t);
}

/* Those up to now. */
static void go_on(struct sim_run *r)
{
    struct sim_instants *s = &r->instants;
    ftree_time now = time_in(r, r->now), at = s->at[s->last % SIM_INSTANTS];

    while ((at += sim_program_step(r->seed, r->cfg.sample, s->last + 1)) <= now)
        s->at[++s->last % SIM_INSTANTS] = at;
}

uint64_t sim_program_samples(struct sim_run *r, int32_t node, int32_t *out, int32_t n)
{
    int32_t phase = r->phases;

    go_on(r);
    for (int32_t i = n - 1; i >= 0; i--) {
        uint64_t back = (uint64_t) (n - 1 - i);
        out[i] = -1;
        if (back >= r->instants.last || back >= SIM_INSTANTS)
            continue;
        back = (r->instants.last - back) % SIM_INSTANTS;
        out[i] = count_outside(r, node, r->instants.at[back], &phase);
    }
    return r->instants.last;
}

ftree_time sim_program_longest(const struct sim_run *r, int32_t rank)
{
    const struct sim_program *p = r->options->program;
    ftree_time t = (ftree_time) ((p->out + p->common / 2 + p->own / 2) * (double) p->period);

    return t > r->rank[rank].longest ? t : r->rank[rank].longest;
}

static uint8_t what_of(char letter)
{
    return letter == 'S' ? FTREE_OUTSIDE_SLEEPS :
           letter == 'D' ? FTREE_OUTSIDE_DISK :
                           FTREE_OUTSIDE_RUNS;
}

/* Every call is known on every node. */
bool sim_program_stay(const struct sim_run *r, int32_t rank, struct ftree_stay *stay)
{
    const struct sim_program *p = r->options->program;
    int32_t i = r->phases;
    ftree_time now = time_in(r, r->now), t;
    const struct sim_phase *phase = phase_at(r, now, &i);

    t = time_of(p, r->seed, rank, phase ? phase->begin : now);
    *stay = (struct ftree_stay){.rank = rank,
                                .calls = t / p->period + (uint64_t) r->phases,
                                .cpu = FTREE_CPU_UNKNOWN,
                                .longest = sim_program_longest(r, rank),
                                .familiar = true,
                                .what = what_of(r->rank[rank].letter)};
    stay->stay = stay->away = phase ? now - phase->begin : t % p->period;
    return phase ? phase->rank == rank : is_outside(p, r->seed, rank, now);
}

void sim_program_note(struct sim_program_tests *t, const char *line)
{
    t->tests += strstr(line, "S_out of ") != NULL;
    t->likely += strstr(line, " samples: hang,") != NULL;
    t->early += strstr(line, "long enough") != NULL;
    t->slow += strstr(line, "the job is slow") != NULL;
}
