#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Environment Modules 5.2.0 and Lmod 8.6.19 (Debian 5.2.0-1, 8.6.19-1): prepend-path of a folder that PATH has already
# leaves it behind the others with the one, and puts it first with the other; unloading does not undo that.
#
# modulefile(4) has prepend-path prepend a value, and says at its end that one that is there already is not added.  A guess:
# after "module load tool" the folder of the module is the first of PATH, whatever was there, with both; after
# "module unload" PATH is as it was before.
# Seen: where the user's profile has the folder at the end, Environment Modules leaves it there, and what an earlier
# folder has is run, with exit code 0 and no word.  Lmod moves it to the front, and append-path moves it to the end.
# After unload Lmod leaves it there, so that the user's own order is lost.  So: a module that is loaded is no
# evidence for which mpiexec runs; "command -v mpiexec" is.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/modules.sh"
echo 'prepend-path FOLDERS /opt/tool' | modulefile before/1
echo 'append-path FOLDERS /opt/tool' | modulefile after/1
with_both <<'END' | tee seen
for name in before after; do
    export FOLDERS=/opt/other:/opt/tool:/opt/third
    module load $name
    echo "$name loaded: exit code $?, $FOLDERS"
    module unload $name
    echo "$name unloaded: exit code $?, $FOLDERS"
done
END
diff - seen <<'END' || { cat errors; echo "it is otherwise now"; exit 1; }
environment-modules:
before loaded: exit code 0, /opt/other:/opt/tool:/opt/third
before unloaded: exit code 0, /opt/other:/opt/tool:/opt/third
after loaded: exit code 0, /opt/other:/opt/tool:/opt/third
after unloaded: exit code 0, /opt/other:/opt/tool:/opt/third
lmod:
before loaded: exit code 0, /opt/tool:/opt/other:/opt/third
before unloaded: exit code 0, /opt/tool:/opt/other:/opt/third
after loaded: exit code 0, /opt/other:/opt/third:/opt/tool
after unloaded: exit code 0, /opt/other:/opt/third:/opt/tool
END
echo "as seen with Environment Modules 5.2.0 and Lmod 8.6.19"
