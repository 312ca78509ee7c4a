/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/plot.h"

#include "sim/sim_memory.h"
#include "sim/units.h"

#include <errno.h>
#include <json.h>
#include <stdlib.h>
#include <string.h>

/* The terminal of gnuplot for a file; NULL: it has none. */
static const char *terminal_for(const char *file)
{
    const char *dot = strrchr(file, '.');

    if (dot && !strcmp(dot, ".svg"))
        return "svg size 800,1000 font 'sans,13' background rgb 'white'";
    if (dot && !strcmp(dot, ".png"))
        return "png size 800,1000 font 'sans,11'";
    return NULL;
}

bool sim_plot_can(const char *file)
{
    if (!terminal_for(file) || strpbrk(file, "'\\\n"))
        sim_complain("faultloc simulate: --plot %s: the name must end in .svg or .png, "
                     "without ' and \\",
                     file);
    else if (system("command -v gnuplot >/dev/null 2>&1"))
        fprintf(stderr,
                "faultloc simulate: --plot: no program gnuplot; 'apt-get install gnuplot-nox' "
                "installs it on Debian and Ubuntu\n");
    else
        return true;
    return false;
}

/* ---- points ---------------------------------------------------------------------------------- */

static struct sim_point *point_for(struct sim_plot *p, const char *label, int32_t nodes)
{
    struct sim_point *point;

    for (int32_t i = 0; i < p->points; i++)
        if (p->point[i].nodes == nodes && !strcmp(p->point[i].label, label))
            return &p->point[i];
    p->point = sim_realloc(p->point, (size_t) p->points + 1, sizeof(*p->point));
    point = &p->point[p->points++];
    *point = (struct sim_point){.nodes = nodes};
    snprintf(point->label, sizeof(point->label), "%s", label);
    return point;
}

static void add(struct sim_point *point, double latency, double faults, double messages,
                double busiest)
{
    faults = faults > 0 ? faults : 1;
    point->runs++;
    point->latency += latency;
    if (latency > point->latency_max)
        point->latency_max = latency;
    point->messages += messages / faults;
    point->busiest += busiest / faults;
}

void sim_plot_add(struct sim_plot *p, const struct sim_result *r)
{
    add(point_for(p, "", r->nodes), r->latency_max, r->faults, (double) r->messages,
        (double) r->busiest_messages);
}

/* ---- points from files ----------------------------------------------------------------------- */

/* A number from 0 that a run must have; false: it has none. */
static bool take_number(struct json_object *run, const char *key, double *out)
{
    struct json_object *v = NULL;

    json_object_object_get_ex(run, key, &v);
    *out = json_object_get_double(v);
    return (json_object_is_type(v, json_type_int) || json_object_is_type(v, json_type_double)) &&
           *out >= 0;
}

/* When the last of its faults was reported. */
static double latency_of(struct json_object *run)
{
    struct json_object *verdicts = NULL;
    double one, most = 0;

    json_object_object_get_ex(run, "verdicts", &verdicts);
    if (!json_object_is_type(verdicts, json_type_array))
        return 0;
    for (size_t i = 0; i < json_object_array_length(verdicts); i++)
        if (take_number(json_object_array_get_idx(verdicts, i), "latency_s", &one) && one > most)
            most = one;
    return most;
}

static bool read_run(struct sim_plot *p, const char *label, struct json_object *run)
{
    double nodes, faults, messages, busiest;

    if (!json_object_is_type(run, json_type_object) || !take_number(run, "nodes", &nodes) ||
        nodes < 1 || nodes > INT32_MAX || !take_number(run, "expected", &faults) ||
        !take_number(run, "messages_total", &messages) ||
        !take_number(run, "messages_busiest_node", &busiest))
        return false;
    add(point_for(p, label, (int32_t) nodes), latency_of(run), faults, messages, busiest);
    return true;
}

/* "folder/node-1000.json" is of the curve "node"; what gnuplot would read as more than letters is
 * left out. */
static void label_of(const char *file, char *out, size_t len)
{
    const char *slash = strrchr(file, '/');
    size_t n = 0;

    for (const char *c = slash ? slash + 1 : file; *c && *c != '.' && n + 1 < len; c++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-", *c))
            out[n++] = *c;
    while (n > 0 && out[n - 1] >= '0' && out[n - 1] <= '9')
        n--;
    while (n > 0 && out[n - 1] == '-')
        n--;
    out[n] = 0;
}

bool sim_plot_read(struct sim_plot *p, const char *file)
{
    struct json_object *all = json_object_from_file(file), *runs = NULL;
    char label[sizeof(p->point->label)];
    bool good = all && json_object_object_get_ex(all, "runs", &runs) &&
                json_object_is_type(runs, json_type_array);

    label_of(file, label, sizeof(label));
    for (size_t i = 0; good && i < json_object_array_length(runs); i++)
        good = read_run(p, label, json_object_array_get_idx(runs, i));
    if (!good)
        sim_complain("faultloc simulate: --plot: %s is not a file that faultloc simulate --json "
                     "has written",
                     file);
    json_object_put(all);
    return good;
}

/* ---- drawing --------------------------------------------------------------------------------- */

static int by_curve(const void *a, const void *b)
{
    const struct sim_point *p = a, *q = b;
    int order = strcmp(p->label, q->label);

    return order ? order : p->nodes < q->nodes ? -1 : p->nodes > q->nodes;
}

static bool is_new_curve(const struct sim_plot *p, int32_t i)
{
    return i == 0 || strcmp(p->point[i].label, p->point[i - 1].label) != 0;
}

static bool write_data(const struct sim_plot *p, const char *file)
{
    FILE *f = fopen(file, "w");

    if (!f)
        return false;
    fprintf(f, "# nodes, seconds until the report (mean, most), messages per fault, of the "
               "busiest node, runs\n");
    for (int32_t i = 0; i < p->points; i++) {
        const struct sim_point *q = &p->point[i];
        if (is_new_curve(p, i))
            fprintf(f, "%s# %s\n", i ? "\n\n" : "", q->label);
        fprintf(f, "%d %.6f %.6f %.1f %.1f %d\n", (int) q->nodes, q->latency / q->runs,
                q->latency_max, q->messages / q->runs, q->busiest / q->runs, (int) q->runs);
    }
    return !fclose(f);
}

/* One of the three: a curve for each label, of column y. */
static void write_panel(FILE *f, const struct sim_plot *p, const char *data, int y,
                        const char *title, const char *axis, bool most)
{
    int32_t curve = 0;

    fprintf(f, "set title '%s'\nset ylabel '%s'\nplot ", title, axis);
    for (int32_t i = 0; i < p->points; i++) {
        if (!is_new_curve(p, i))
            continue;
        /* a thinner one on a thicker one: both are seen where they are the same */
        fprintf(f, "%s'%s' index %d using 1:%d with linespoints lw %.1f pt 7 ps 0.6 title '%s'",
                curve ? ", " : "", data, (int) curve, y, curve < 3 ? 5.1 - 1.2 * curve : 1.5,
                *p->point[i].label ? p->point[i].label
                : most             ? "mean"
                                   : "");
        curve++;
    }
    if (most && curve == 1)
        fprintf(f, ", '%s' using 1:3 with linespoints lw 2 pt 6 ps 0.6 title 'most'", data);
    fputc('\n', f);
}

static void write_script(FILE *f, const struct sim_plot *p, const char *file, const char *data)
{
    fprintf(f,
            "set terminal %s\nset output '%s'\nset logscale x\nset format x '10^{%%L}'\n"
            "set grid lc rgb '#cccccc'\nset key outside right top\nset tics nomirror\n"
            "set border 3\nset lmargin 11\nset xlabel 'nodes of the job'\n"
            "set multiplot layout 3,1\nset yrange [0:*]\n",
            terminal_for(file), file);
    write_panel(f, p, data, 2, "From the fault to the report", "seconds", true);
    fputs("set yrange [*:*]\nset logscale y\nset format y '10^{%L}'\n", f);
    write_panel(f, p, data, 4, "Messages of all nodes", "messages per fault", false);
    fputs("unset logscale y\nset format y '%g'\nset yrange [0:*]\n", f);
    write_panel(f, p, data, 5, "Messages of the busiest node", "messages per fault", false);
    fputs("unset multiplot\n", f);
}

bool sim_plot_draw(struct sim_plot *p, const char *file)
{
    size_t len = strlen(file) + sizeof(".dat");
    char *data = sim_realloc(NULL, len, 1);
    FILE *gnuplot = NULL;
    int rc = -1;

    snprintf(data, len, "%s.dat", file);
    if (p->points)
        qsort(p->point, (size_t) p->points, sizeof(*p->point), by_curve);
    if (write_data(p, data))
        gnuplot = popen("gnuplot", "w");
    if (gnuplot) {
        write_script(gnuplot, p, file, data);
        rc = pclose(gnuplot);
    }
    if (rc)
        sim_complain("faultloc simulate: --plot %s: %s", file,
                     gnuplot ? "gnuplot failed" : strerror(errno));
    free(data);
    return rc == 0;
}

void sim_plot_free(struct sim_plot *p)
{
    free(p->point);
    *p = (struct sim_plot){0};
}
