/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/handler/handler.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The C++ library is there where a C++ program runs; where it is not, names stay as they are. */
typedef char *demangle_t(const char *symbol, char *buf, size_t *len, int *status);

static demangle_t *find_demangle(void)
{
    static demangle_t *found;
    static bool tried;
    void *lib;

    if (tried)
        return found;
    tried = true;
    lib = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (lib)
        *(void **) &found = dlsym(lib, "__cxa_demangle"); /* Itanium C++ ABI, 3.4 */
    return found;
}

/* The '(' that belongs to the last ')'; NULL: there is none. */
static char *last_list(char *name)
{
    char *end = strrchr(name, ')'), *p = end;
    int depth = 0;

    for (; p && p >= name; p--) {
        depth += *p == ')';
        depth -= *p == '(';
        if (depth == 0)
            return p;
    }
    return NULL;
}

static bool is_operator(const char *name, const char *end)
{
    return end - name >= 8 && !strncmp(end - 8, "operator", 8);
}

/* Behind the type that a template's function returns. */
static const char *without_type(const char *name)
{
    const char *begin = name;
    int depth = 0;

    for (const char *p = name; *p && !is_operator(name, p); p++) {
        depth += *p == '(' || *p == '<' || *p == '{';
        depth -= *p == ')' || *p == '>' || *p == '}';
        if (*p == ' ' && depth == 0)
            begin = p + 1;
    }
    return begin;
}

void handler_function(const char *symbol, char *buf, size_t len)
{
    demangle_t *demangle = !strncmp(symbol, "_Z", 2) ? find_demangle() : NULL;
    int status = 0;
    char *name = demangle ? demangle(symbol, NULL, NULL, &status) : NULL, *list;

    if (!name) {
        snprintf(buf, len, "%s", symbol);
        buf[strcspn(buf, "@")] = '\0'; /* the version of a symbol */
        return;
    }
    list = last_list(name);
    if (list)
        *list = '\0';
    snprintf(buf, len, "%s", without_type(name));
    free(name);
}
