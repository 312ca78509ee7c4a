#!/bin/sh
# To be run now and then (cron; HealthCheckProgram, though Slurm does nothing where that fails) on a
# node whose health DCGM watches (dcgmi health --set a): tells the jobs of the first failure, or else
# of the first warning, of a GPU.
said=$(dcgmi health --check 2>&1) || exit 1
line() { echo "$said" | grep -v 'Overall Health' | grep -m1 "$1" | tr -s '|+-' ' '; }
case $said in
    *Failure*) kind=gpu-failed what=$(line Failure) ;;
    *Warning*) kind=gpu-slow what=$(line Warning) ;;
    *) exit 0 ;;
esac
exec "$(dirname "$0")/symptom-tell.sh" $kind "dcgmi: $(echo "$what" | tr -s ' ')"
