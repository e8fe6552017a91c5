#!/usr/bin/env bash
# Runs a sweep as a job array on a real one-node Slurm, kills one task and requeues another in the
# middle, and checks that the merged store is the one that one machine makes. Needs root and the
# Debian packages slurm-wlm and munge; ends with 77, which ctest counts as skipped, where they are
# not to be had.
#
#     sim/explore/slurm_test.sh build/tilesim [points]
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

points=${2:-400}
cat > "$work/sweep.yaml" << END
base: $source_folder/configs/scenarios/xdna_core_kernel.yaml
axes: [{seeds: $points}]
END
cd "$work"
"$program" sweep sweep.yaml --slurm --folder array --submit
job() { squeue -h -o %F | head -1; }
# A task that is killed and started again, as a site would, goes on where its store ends; so does
# one that is requeued.
until [ -f array/shard-1.db ] && [ -f array/shard-2.db ]; do sleep 0.05; done
sleep 0.3
id=$(job)
scancel --signal=KILL --state=RUNNING "${id}_1" ||
    echo "task 1 had ended before it could be killed"
scontrol requeue "${id}_2" || echo "task 2 had ended before it could be requeued"
until [ -z "$(squeue -h)" ]; do
    # Slurm lets a requeued task wait for two minutes unless it is told not to.
    scontrol update "jobid=${id}_2" StartTime=now 2> /dev/null || true
    sleep 0.5
done
SLURM_ARRAY_TASK_ID=1 array/job.sh
array/merge.sh
"$program" sweep --show array/results.db | tee show.txt
grep -q " $points/$points  $points ok" show.txt
# One machine makes the same store: every line but for the numbers points were stored under.
"$program" sweep sweep.yaml --quiet --store one.db
for store in one.db array/results.db; do
    "$program" export csv "$store" | cut -d, -f2- > "$store.csv"
done
cmp one.db.csv array/results.db.csv
echo "$points points in 4 tasks: the store that one machine makes"
