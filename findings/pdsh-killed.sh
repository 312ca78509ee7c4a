#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# pdsh 2.34 (Debian 2.34-0.2): with -S a command that a signal has ended counts as exit code 0.
#
# pdsh(1) says of -S: "Return the largest of the remote command return values", and of -R exec that it runs any command
# for each host (ipmipower -h %h, nsenter, srun -w %h).  A guess: a command that the kernel has killed on one of the hosts
# has 128 + N, as in a shell and with clush -S (137), so that the result of all is not 0.
# Seen: "n2: sh killed by signal 9" is printed on standard error, and the exit code is 0, or that of the largest other
# one.  A command that -u has ended (-u 1: by SIGTERM) does count: 254.  So: run a shell for each host that
# makes an exit code of the signal, sh -c 'command; exit $?', or look for "killed by signal".
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/pdsh.sh"

run() {
    local code=0
    pdsh -S "${@:1:$#-1}" -w 'n[1-3]' sh -c "case %h in ${*: -1} esac" >out 2>err || code=$?
    echo "$*: $(grep -cE 'killed by signal 9|exited with' err || :) lines of errors, exit code $code"
}
{
    run 'n1) exit 3;; n3) exit 2;;'
    run 'n2) kill -9 $$;;'
    run 'n2) kill -9 $$;; n3) exit 2;;'
    run 'n2) sh -c "kill -9 \$\$"; exit $?;;'
    run -u 1 'n2) exec sleep 30;;'
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
n1) exit 3;; n3) exit 2;;: 2 lines of errors, exit code 3
n2) kill -9 $$;;: 1 lines of errors, exit code 0
n2) kill -9 $$;; n3) exit 2;;: 2 lines of errors, exit code 2
n2) sh -c "kill -9 \$\$"; exit $?;;: 1 lines of errors, exit code 137
-u 1 n2) exec sleep 30;;: 0 lines of errors, exit code 254
END
echo "as seen with pdsh 2.34"
