/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A file system whose server never answers a read, for tests of ranks that hang in one; no MPI.
 *
 * stuck_fs FOLDER
 *
 * Mounts it on FOLDER, prints "ready", and serves the file FOLDER/data until it gets SIGTERM.
 * Those who read wait in request_wait_answer until this process ends.  Needs root and /dev/fuse; 77
 * where they are missing.
 *
 * Source: fuse(4), the kernel's include/uapi/linux/fuse.h. */

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILE_NODE 2 /* the root folder is 1 */

static int dev;

static void reply(const struct fuse_in_header *in, int error, const void *data, size_t len)
{
    struct fuse_out_header out = {.len = (uint32_t) (sizeof(out) + len), .error = error, .unique = in->unique};
    struct iovec parts[2] = {{&out, sizeof(out)}, {(void *) (uintptr_t) data, len}};

    (void) !writev(dev, parts, 2);
}

static struct fuse_attr attr_of(uint64_t node)
{
    return (struct fuse_attr){.ino = node,
                              .mode = node == FILE_NODE ? S_IFREG | 0444 : S_IFDIR | 0555,
                              .nlink = 1,
                              .size = 1 << 20,
                              .blksize = 4096};
}

static void begin(const struct fuse_in_header *in, const struct fuse_init_in *init)
{
    struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
                                .minor = init->minor < FUSE_KERNEL_MINOR_VERSION ? init->minor
                                                                                : FUSE_KERNEL_MINOR_VERSION,
                                .max_readahead = init->max_readahead,
                                .max_write = 4096};

    reply(in, 0, &out, sizeof(out));
}

static void look_up(const struct fuse_in_header *in, const char *name)
{
    struct fuse_entry_out out = {.nodeid = FILE_NODE, .attr = attr_of(FILE_NODE)};

    if (strcmp(name, "data"))
        reply(in, -ENOENT, NULL, 0);
    else
        reply(in, 0, &out, sizeof(out));
}

static void serve(const struct fuse_in_header *in, const void *body)
{
    struct fuse_attr_out attr = {.attr = attr_of(in->nodeid)};
    struct fuse_open_out opened = {.open_flags = FOPEN_DIRECT_IO};

    switch (in->opcode) {
        case FUSE_INIT:
            begin(in, body);
            break;
        case FUSE_LOOKUP:
            look_up(in, body);
            break;
        case FUSE_GETATTR:
            reply(in, 0, &attr, sizeof(attr));
            break;
        case FUSE_OPEN:
        case FUSE_OPENDIR:
            reply(in, 0, &opened, sizeof(opened));
            break;
        case FUSE_READ: /* never */
        case FUSE_FORGET: /* wants no answer, nor do the next two */
        case FUSE_BATCH_FORGET:
        case FUSE_INTERRUPT:
            break;
        default:
            reply(in, -ENOSYS, NULL, 0);
    }
}

static void nothing(int sig)
{
    (void) sig;
}

int main(int argc, char **argv)
{
    static char request[1 << 17] __attribute__((aligned(8)));
    const struct fuse_in_header *in = (const void *) request;
    struct sigaction end = {.sa_handler = nothing}; /* which interrupts the read */
    char options[96];

    if (argc != 2) {
        fprintf(stderr, "usage: stuck_fs FOLDER\n");
        return 2;
    }
    dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof(options), "fd=%d,rootmode=40555,user_id=0,group_id=0,allow_other", dev);
    if (dev < 0 || mount("stuck:/data", argv[1], "fuse.stuck", MS_NOSUID | MS_NODEV, options)) {
        perror("stuck_fs");
        return 77;
    }
    sigaction(SIGTERM, &end, NULL);
    printf("ready\n");
    fflush(stdout);
    while (read(dev, request, sizeof(request)) > 0)
        serve(in, in + 1);
    umount2(argv[1], MNT_DETACH);
    return 0;
}
