/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "sim/units.h"

#include "faultloc/base/say.h"
#include "ftree/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_MAX (10.0 * 366 * 24 * 3600 * 1e9)

/* A decimal fraction at the beginning of the text; how many bytes it has, 0: there is none.
 * (strtod() follows the locale, and takes "inf" and hexadecimal numbers.) */
static size_t read_decimal(const char *text, size_t len, double *out)
{
    double value = 0, unit = 1;
    bool point = false, digit = false;
    size_t i;

    for (i = 0; i < len && i < 20; i++) {
        if (text[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (text[i] < '0' || text[i] > '9')
            break;
        digit = true;
        value = 10 * value + (text[i] - '0');
        unit *= point ? 10 : 1;
    }
    *out = value / unit;
    return digit ? i : 0;
}

bool sim_read_time(const char *text, size_t len, ftree_time *out)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
    double value;
    size_t digits = read_decimal(text, len, &value);

    for (size_t u = 0; digits && u < sizeof(units) / sizeof(units[0]); u++)
        if (strlen(units[u].name) == len - digits &&
            !memcmp(units[u].name, text + digits, len - digits)) {
            if (value * units[u].ns > NS_MAX)
                return false;
            *out = (ftree_time) (value * units[u].ns + 0.5);
            return true;
        }
    return false;
}

bool sim_read_share(const char *text, size_t len, double *out)
{
    size_t digits = read_decimal(text, len, out);

    if (digits && digits + 1 == len && text[digits] == '%')
        *out /= 100;
    else if (!digits || digits != len)
        return false;
    return *out <= 1;
}

bool sim_read_number(const char *text, size_t len, int64_t min, int64_t max, int64_t *out)
{
    int64_t n = 0;

    if (len == 0 || len > 18)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        n = 10 * n + (text[i] - '0');
    }
    *out = n;
    return n >= min && n <= max;
}

void sim_complain(const char *format, ...)
{
    char line[8192];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    ftree_text_ascii(line);
    fprintf(stderr, "%s\n", line);
}

#define FILE_MAX (256u << 20)

char *sim_read_file(const char *option, const char *file, size_t *len)
{
    char *text = NULL;
    int rc = faultloc_read_file(file, FILE_MAX, &text, len);

    if (!rc)
        return text;
    sim_complain("faultloc simulate: %s %s: %s", option, file, strerror(rc));
    free(text);
    return NULL;
}
