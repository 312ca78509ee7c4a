#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# libunwind 1.6.2 (Debian 1.6.2-3): in a program without a symbol table a static function has the name of another function,
# which may not have run at all.
#
# unw_get_proc_name(3) has the name of a frame's procedure, and an error, UNW_ENOINFO, where there is none.  A guess: of a
# program that is stripped, static functions, whose names are gone, are that error; backtrace_symbols(3) prints
# their addresses alone.
# Seen: success, with the exported function that begins before it, however far, and an offset beyond its size: the stack
# of inner() below outer(), both static, shows unrelated() twice, which did not run.  With the symbol table the names are
# right.  So: a name of libunwind's is true only where the offset is within the size of the symbol.  eu-stack, as
# FaultLoc by libdw, leaves the name out.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no compiler or no x86-64.
. "$(dirname "$0")/lib/packages.sh"
[ "$(uname -m)" = x86_64 ] && command -v gcc >/dev/null && command -v strip >/dev/null ||
    { echo "SKIP: not x86-64, or no compiler"; exit 77; }
unpack 'libunwind 1.6.2-3 and elfutils' libunwind8=1.6.2-3 libunwind-dev=1.6.2-3 \
    elfutils=0.188-2.1 libdw1=0.188-2.1 libelf1=0.188-2.1 libasm1=0.188-2.1
export LD_LIBRARY_PATH=$libraries
cat >names.c <<'END'
#define UNW_LOCAL_ONLY
#include <execinfo.h>
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void unrelated(void)
{
    puts("unrelated() runs");
}

__attribute__((noinline)) static void inner(void)
{
    unw_context_t context;
    unw_cursor_t cursor;
    unw_word_t offset;
    void *frames[3];
    char name[64], **symbols;
    int i, rc;

    unw_getcontext(&context);
    unw_init_local(&cursor, &context);
    symbols = backtrace_symbols(frames, backtrace(frames, 3));
    for (i = 0; i < 3; i++) {
        char *symbol = strchr(symbols[i], '(') + 1;
        rc = unw_get_proc_name(&cursor, name, sizeof(name), &offset);
        printf("frame %d: libunwind %d \"%s\", glibc \"%.*s\"\n", i, rc, rc ? "" : name, (int) strcspn(symbol, "+"), symbol);
        unw_step(&cursor);
    }
    fflush(stdout);
    pause();
}

__attribute__((noinline)) static void outer(void)
{
    inner();
    puts("end");
}

int main(int argc, char **argv)
{
    if (argc > 1)
        unrelated();
    outer();
    return 0;
}
END
include=$PWD/usr/include
gcc -w -O1 -fno-toplevel-reorder -fno-optimize-sibling-calls -rdynamic -I"$include" -I"$include/x86_64-linux-gnu" \
    -o names names.c -L"$libraries" -l:libunwind.so.8
cp names stripped
strip stripped
for program in names stripped; do
    echo "$program:"
    ./$program >$program.out &
    pid=$!
    for ((i = 0; i < 300; i++)); do [ "$(wc -l <$program.out)" = 3 ] && break; sleep 0.1; done
    cat $program.out
    # What is above the C library's pause().
    echo "eu-stack: $(DEBUGINFOD_URLS='' usr/bin/eu-stack -p $pid 2>eu.err |
        awk 'above { print((NF > 2) ? $3 : "no name") } $3 ~ /pause/ { above = 1 }' | head -n 3 | paste -sd, | sed 's/,/, /g')"
    { kill $pid && wait $pid; } 2>/dev/null || :
done | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
names:
frame 0: libunwind 0 "inner", glibc ""
frame 1: libunwind 0 "outer", glibc ""
frame 2: libunwind 0 "main", glibc "main"
eu-stack: inner, outer, main
stripped:
frame 0: libunwind 0 "unrelated", glibc ""
frame 1: libunwind 0 "unrelated", glibc ""
frame 2: libunwind 0 "main", glibc "main"
eu-stack: no name, no name, main
END
echo "as seen with libunwind 1.6.2"
