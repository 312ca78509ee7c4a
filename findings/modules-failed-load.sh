#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Environment Modules 5.2.0 and Lmod 8.6.19 (Debian 5.2.0-1, 8.6.19-1): a modulefile that ends with "exit 1" is a success
# of Lmod's, with nothing loaded; "module load there absent" loads the first with the one, none with the other.
#
# A modulefile checks what it needs (a licence, a driver), and gives up by "error", "break" or "exit 1".  A guess: in each
# case nothing of it is loaded, and "module load" says so and has exit code 1, so that a job script with "set -e" ends;
# of a list in which one is absent both load what is there.
# Seen: so it is with Environment Modules.  With Lmod "exit 1" has exit code 0 and no message, though nothing is loaded,
# and neither is the rest of the list; "break" has that, too, unless the version is named, and only "error" ends as
# expected.  Of a list with one that is absent Environment Modules loads the others, Lmod none.  So: a modulefile for
# both gives up by "error"; a job script that must have a module asks "module is-loaded".
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/modules.sh"
modulefile there/1 </dev/null
printf 'setenv PARTLY 1\nerror "no licence"\n' | modulefile by-error/1
printf 'setenv PARTLY 1\nbreak\n' | modulefile by-break/1
printf 'setenv PARTLY 1\nexit 1\n' | modulefile by-exit/1
with_both <<'END' | tee seen
for list in there "there absent" "absent there" by-error by-break by-break/1 by-exit by-exit/1 "there by-exit"; do
    module load $list 2>message
    echo "module load $list: exit code $?, $([ -s message ] && echo a || echo no) message, loaded:${LOADEDMODULES:+ $LOADEDMODULES}${PARTLY:+ and PARTLY}"
    module purge
done
END
diff - seen <<'END' || { cat errors; echo "it is otherwise now"; exit 1; }
environment-modules:
module load there: exit code 0, no message, loaded: there/1
module load there absent: exit code 1, a message, loaded: there/1
module load absent there: exit code 1, a message, loaded: there/1
module load by-error: exit code 1, a message, loaded:
module load by-break: exit code 1, a message, loaded:
module load by-break/1: exit code 1, a message, loaded:
module load by-exit: exit code 1, a message, loaded:
module load by-exit/1: exit code 1, a message, loaded:
module load there by-exit: exit code 1, a message, loaded: there/1
lmod:
module load there: exit code 0, no message, loaded: there/1
module load there absent: exit code 1, a message, loaded:
module load absent there: exit code 1, a message, loaded:
module load by-error: exit code 1, a message, loaded:
module load by-break: exit code 0, no message, loaded:
module load by-break/1: exit code 1, a message, loaded:
module load by-exit: exit code 0, no message, loaded:
module load by-exit/1: exit code 0, no message, loaded:
module load there by-exit: exit code 0, no message, loaded:
END
echo "as seen with Environment Modules 5.2.0 and Lmod 8.6.19"
