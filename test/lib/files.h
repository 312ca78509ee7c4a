/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FILES_H_INCLUDED
#define FILES_H_INCLUDED

#include "suite.h"

#include <ftw.h>
#include <sys/stat.h>

/* Files like those of /proc and /sys, in a folder of the test's own, which ends with it. */

static char files_root[64];

static inline int files_remove_one(const char *path, const struct stat *s, int flag, struct FTW *f)
{
    (void) s, (void) flag, (void) f;
    return remove(path);
}

static inline void files_end(void *root)
{
    suite_forget(root);
    nftw(files_root, files_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline void files_begin(void)
{
    snprintf(files_root, sizeof(files_root), "/tmp/faultloc-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(files_root));
    suite_keep(files_root, files_end);
}

/* The path of a file, until the next call; the folders on the way are there then. */
static inline const char *files_path(const char *name)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/%s", files_root, name);
    for (char *p = path + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
    return path;
}

static inline void files_write(const char *name, const char *text)
{
    FILE *f = fopen(files_path(name), "w");

    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

#endif /* FILES_H_INCLUDED */
