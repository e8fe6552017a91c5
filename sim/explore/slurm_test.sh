#!/usr/bin/env bash
# Runs a sweep as a job array on a real one-node Slurm, kills a task in the middle and checks that
# nothing is lost. Needs root and the Debian packages slurm-wlm and munge; ends with 77, which ctest
# counts as skipped, where they are not to be had.
#
#     sim/explore/slurm_test.sh build/tilesim
set -euo pipefail
if [ "$(id -u)" -ne 0 ] || ! command -v slurmctld slurmd munged > /dev/null; then
    echo "skipped: needs root, slurm-wlm and munge"
    exit 77
fi
program=$(realpath "${1:?the program must be named}")
source_folder=$(realpath "$(dirname "$0")/../..")
host=$(hostname -s)
work=$(mktemp -d)
export SLURM_CONF=$work/slurm.conf
started=()
trap 'kill "${started[@]}" 2> /dev/null || true; wait; rm -rf "$work"' EXIT

mkdir -p /run/munge "$work/state" "$work/spool"
chown munge /run/munge
if ! munge -n > /dev/null 2>&1; then
    su -s /bin/sh munge -c "munged --pid-file=/run/munge/munged.pid"
    started+=("$(cat /run/munge/munged.pid)")
fi
cat > "$SLURM_CONF" << END
ClusterName=test
SlurmctldHost=$host
SlurmUser=root
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MaxArraySize=5
NodeName=$host CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP
END
slurmctld -D 2> "$work/slurmctld.out" &
started+=($!)
slurmd -D -N "$host" 2> "$work/slurmd.out" &
started+=($!)
for _ in $(seq 50); do
    [ "$(sinfo -h -o %t 2> /dev/null)" = idle ] && break
    sleep 0.2
done

cat > "$work/sweep.yaml" << END
base: $source_folder/configs/scenarios/xdna_functional.yaml
axes: [{seeds: 200}]
END
cd "$work"
"$program" sweep sweep.yaml --slurm --folder array --submit
# A task that is killed and started again, as a site's requeue would, goes on where its store ends.
until [ -f array/shard-1.db ]; do sleep 0.05; done
sleep 0.3
scancel --signal=KILL --state=RUNNING "$(squeue -h -o %F | head -1)_1" ||
    echo "the task had ended before it could be killed"
until [ -z "$(squeue -h)" ]; do sleep 0.2; done
SLURM_ARRAY_TASK_ID=1 array/job.sh
array/merge.sh
"$program" sweep --show array/results.db | tee show.txt
grep -q " 200/200  200 ok" show.txt
