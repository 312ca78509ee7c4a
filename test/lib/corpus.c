/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "corpus.h"

#include "suite.h"

#include <errno.h>
#include <sys/stat.h>

bool corpus_put(const char *dir, const char *name, const void *bytes, size_t len)
{
    char path[4096];
    FILE *f;
    bool ok;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "wb");
    ok = f && fwrite(bytes, 1, len, f) == len;
    if (f && fclose(f))
        ok = false;
    if (!ok)
        fprintf(stderr, "%s: cannot write %s: %s\n", program_invocation_short_name, path,
                strerror(errno));
    return ok;
}

int corpus_main(int argc, char **argv, bool (*write)(const char *dir))
{
    if (argc == 1)
        return suite_run();
    if (argc != 3 || strcmp(argv[1], "--corpus")) {
        fprintf(stderr, "Usage: %s [--corpus DIR]\n", program_invocation_short_name);
        return 2;
    }
    if (mkdir(argv[2], 0777) && errno != EEXIST) {
        fprintf(stderr, "%s: cannot make %s: %s\n", program_invocation_short_name, argv[2],
                strerror(errno));
        return EXIT_FAILURE;
    }
    return write(argv[2]) ? EXIT_SUCCESS : EXIT_FAILURE;
}
