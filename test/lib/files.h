/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FILES_H_INCLUDED
#define FILES_H_INCLUDED

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Files like those of /proc and /sys, in a folder of the test's own. */

static char files_root[64];

static inline void files_begin(void)
{
    snprintf(files_root, sizeof(files_root), "/tmp/faultloc-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(files_root));
}

/* Also makes the folders on the way. */
static inline void files_write(const char *name, const char *text)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", files_root, name);
    for (char *p = path + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static inline int files_remove_one(const char *path, const struct stat *s, int flag, struct FTW *f)
{
    (void) s, (void) flag, (void) f;
    return remove(path);
}

static inline void files_end(void)
{
    nftw(files_root, files_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif /* FILES_H_INCLUDED */
