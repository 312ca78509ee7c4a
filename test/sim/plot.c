/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "plot.h"

#include "sim_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The terminal of gnuplot for a file; NULL: it has none. */
static const char *terminal_for(const char *file)
{
    const char *dot = strrchr(file, '.');

    if (dot && !strcmp(dot, ".svg"))
        return "svg size 900,1000 dynamic background rgb 'white'";
    if (dot && !strcmp(dot, ".png"))
        return "png size 900,1000";
    return NULL;
}

bool sim_plot_can(const char *file)
{
    if (!terminal_for(file) || strpbrk(file, "'\\\n"))
        fprintf(
            stderr,
            "faultloc simulate: --plot %s: the name must end in .svg or .png, without ' and \\\n",
            file);
    else if (system("command -v gnuplot >/dev/null 2>&1"))
        fprintf(stderr,
                "faultloc simulate: --plot: no program gnuplot (Debian package gnuplot-nox)\n");
    else
        return true;
    return false;
}

void sim_plot_add(struct sim_plot *p, const struct sim_result *r)
{
    double faults = r->faults ? r->faults : 1;
    struct sim_point *last = p->points ? &p->point[p->points - 1] : NULL;

    if (!last || last->nodes != r->nodes) {
        p->point = sim_realloc(p->point, (size_t) p->points + 1, sizeof(*p->point));
        last = &p->point[p->points++];
        *last = (struct sim_point){.nodes = r->nodes};
    }
    last->runs++;
    last->latency += r->latency_max;
    if (r->latency_max > last->latency_max)
        last->latency_max = r->latency_max;
    last->messages += (double) r->messages / faults;
    last->busiest += (double) r->busiest_messages / faults;
}

static bool write_data(const struct sim_plot *p, const char *file)
{
    FILE *f = fopen(file, "w");

    if (!f)
        return false;
    fprintf(f, "# nodes, seconds until people were told (mean, most), messages per fault, of the "
               "busiest node\n");
    for (int32_t i = 0; i < p->points; i++) {
        const struct sim_point *q = &p->point[i];
        fprintf(f, "%d %.6f %.6f %.1f %.1f\n", (int) q->nodes, q->latency / q->runs, q->latency_max,
                q->messages / q->runs, q->busiest / q->runs);
    }
    return !fclose(f);
}

static void write_script(FILE *f, const char *file, const char *data)
{
    fprintf(f,
            "set terminal %s\nset output '%s'\nset logscale x\nset format x '10^{%%L}'\n"
            "set grid\nset key top left\nset xlabel 'nodes'\nset multiplot layout 3,1\n"
            "set yrange [0:*]\nset ylabel 'seconds'\n"
            "plot '%s' using 1:2 with linespoints title 'fault to report, mean', "
            "'' using 1:3 with linespoints title 'most'\n"
            "set yrange [*:*]\nset logscale y\nset ylabel 'messages per fault'\n"
            "plot '%s' using 1:4 with linespoints title 'all nodes'\n"
            "unset logscale y\nset yrange [0:*]\n"
            "plot '%s' using 1:5 with linespoints title 'busiest node'\nunset multiplot\n",
            terminal_for(file), file, data, data, data);
}

bool sim_plot_draw(const struct sim_plot *p, const char *file)
{
    size_t len = strlen(file) + sizeof(".dat");
    char *data = sim_realloc(NULL, len, 1);
    FILE *gnuplot = NULL;
    int rc = -1;

    snprintf(data, len, "%s.dat", file);
    if (write_data(p, data))
        gnuplot = popen("gnuplot", "w");
    if (gnuplot) {
        write_script(gnuplot, file, data);
        rc = pclose(gnuplot);
    }
    if (rc)
        fprintf(stderr, "faultloc simulate: --plot %s: %s\n", file,
                gnuplot ? "gnuplot failed" : strerror(errno));
    free(data);
    return rc == 0;
}

void sim_plot_free(struct sim_plot *p)
{
    free(p->point);
    *p = (struct sim_plot){0};
}
