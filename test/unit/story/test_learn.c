/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "base.h"
#include "files.h"
#include "ftree/report/report.h"
#include "ftree_int.h"
#include "suite.h"
#include "world.h"

#include <json.h>
#include <stdio.h>
#include <string.h>

/*
 * What `faultloc rules learn` is good for.  At a site that is drawn the data path of nodes falls
 * silent, by the NIC or by the link: no probe tells these apart.  But other symptoms come with
 * them, more often with one than with the other.  Half of the jobs are the history: people have
 * confirmed what it was.  In the other half, what is named first is compared with what it was.
 */

#define SECOND (1000 * FTREE_MS)
#define JOBS 400

/* Percent: how often it is the fault, and a symptom then comes with it. */
static const struct {
    enum ftree_class class_;
    int share, unreachable, link_errors;
} faults[] = {
    {FTREE_CLASS_NIC_FAULT, 60, 75, 10},
    {FTREE_CLASS_LINK_FAULT, 100, 15, 60},
};

static uint64_t drawn;

static int draw(int below)
{
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return (int) ((drawn >> 33) % (uint64_t) below);
}

/* One job; the same one for the same seed, whatever the rules. */
static struct world *play(int seed, const struct ftree_rules *rules, enum ftree_class *class_)
{
    struct world *w = world_of(shape_star(4, 1));
    int fault, unreachable, errors;

    drawn = (uint64_t) seed * 0x9e3779b97f4a7c15u;
    fault = draw(100) >= faults[0].share;
    unreachable = draw(100) < faults[fault].unreachable ? 1050 + draw(350) : 9999;
    errors = draw(100) < faults[fault].link_errors ? draw(1400) : 9999;
    *class_ = faults[fault].class_;
    for (int32_t i = 0; i < 4; i++)
        ftree_use_rules(w->node[i].ft, w->now, rules);
    w->node[2].path_down[FTREE_PATH_DATA] = true;
    world_all_wait(w, 2, 2);
    for (int ms = 0; ms < 8000; ms += 10) {
        if (ms / 10 == unreachable / 10)
            world_symptom(w, 1, FTREE_SYMPTOM_PEER_UNREACHABLE, 2);
        if (ms / 10 == errors / 10 || ms / 10 == errors / 10 + 5)
            world_symptom(w, 0, FTREE_SYMPTOM_LINK_ERRORS, 2);
        world_run(w, 10 * FTREE_MS);
    }
    ck_assert_int_eq(w->reports, 1);
    ck_assert_str_eq(w->report[0].rule, "unknown/data-path-silent");
    return w;
}

/* The report of the job, in which a person has said what it was. */
static void write_report(const struct world *w, int seed, enum ftree_class class_, bool symptoms)
{
    const struct ftree_verdict *known = &w->report[0];
    char name[32];
    struct report_job rj = {.job = &w->job,
                            .id = name,
                            .started_ms = 1769860800000,
                            .now = w->now,
                            .now_ms = 1769860810250,
                            .known = &known,
                            .knowns = 1};
    struct json_object *o, *verdict;
    char *text;

    snprintf(name, sizeof(name), "%d.json", seed);
    text = ftree_report_json(&rj);
    o = json_tokener_parse(text);
    verdict = json_object_array_get_idx(json_object_object_get(o, "verdicts"), 0);
    json_object_object_add(verdict, "confirmed", json_object_new_string(ftree_class_name(class_)));
    if (!symptoms)
        json_object_object_del(verdict, "symptom_kinds");
    files_write(name, json_object_to_json_string(o));
    json_object_put(o);
    free(text);
}

/* What the program learns from the first half of the jobs; without symptoms: from the rules that
 * raised the verdicts alone. */
static struct ftree_rules *learn(bool symptoms)
{
    struct ftree_rules_error e;
    struct ftree_rules *rules;
    char command[300], *text;
    size_t len;
    FILE *f;

    files_begin();
    for (int seed = 0; seed < JOBS / 2; seed++) {
        enum ftree_class class_;
        struct world *w = play(seed, base_rules(), &class_);
        write_report(w, seed, class_, symptoms);
        world_free(w);
    }
    snprintf(command, sizeof(command), "%s/tools/faultloc rules learn %s/*.json",
             getenv("top_builddir"), files_root);
    f = popen(command, "r");
    text = calloc(1, 1 << 20);
    len = fread(text, 1, (1 << 20) - 1, f);
    ck_assert_int_eq(pclose(f), 0);
    ck_assert_int_eq(ftree_rules_read(text, len, &rules, &e), FTREE_OK);
    free(text);
    files_end(files_root);
    return rules;
}

/* In how many jobs of the other half the fault that it was is named first. */
static int right(const char *what, const struct ftree_rules *rules)
{
    int n = 0;

    for (int seed = JOBS / 2; seed < JOBS; seed++) {
        enum ftree_class class_;
        struct world *w = play(seed, rules, &class_);
        n += w->report[0].candidate[0].class_ == class_;
        world_free(w);
    }
    fprintf(stderr, "%s: what it was is named first in %d of %d jobs\n", what, n, JOBS / 2);
    return n;
}

TEST_CASE(symptoms_of_the_past_tell_what_probes_cannot)
{
    struct ftree_rules *raised = learn(false), *all = learn(true);
    int without = right("built-in rules", base_rules());
    int by_rule = right("learned from what raised the verdict", raised);
    int by_symptoms = right("learned from all symptoms", all);

    ck_assert_int_gt(by_rule, without);
    ck_assert_int_gt(by_symptoms, by_rule + JOBS / 40);
    ftree_rules_free(raised);
    ftree_rules_free(all);
}
