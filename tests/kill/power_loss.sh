#!/usr/bin/env bash
# Power loss without a virtual machine: runs COMMAND on a real file system in a loop-mounted image, shuts that file system
# down without writing what it still holds in memory (what xfstests calls "godown"), mounts it again and runs CHECK.
#
#   power_loss.sh ext4|xfs FOLDER SECONDS SETUP COMMAND CHECK
#
# All run through `sh -c` with $MNT set. What SETUP writes is on the disk before COMMAND starts. COMMAND is killed with its whole group after SECONDS, or has ended by then; what
# it acknowledged should be noted outside of $MNT. Exit: CHECK's status; 3, in words, when this machine cannot do it.
set -euo pipefail
(($# == 6)) || {
    echo "usage: power_loss.sh ext4|xfs FOLDER SECONDS SETUP COMMAND CHECK" >&2
    exit 2
}
kind=$1 seconds=$3 setup=$4 command=$5 check=$6
mkdir -p "$2"
folder=$(cd "$2" && pwd -P)
image=$folder/$kind.img
export MNT=$folder/mnt

cannot() {
    echo "$1"
    exit 3
}

case $kind in
    # The journal is written every ten minutes, which is never, unless somebody asks for it.
    ext4) options=loop,commit=600 make=(mkfs.ext4 -q -F -E 'lazy_itable_init=0,lazy_journal_init=0') ;;
    xfs) options=loop make=(mkfs.xfs -q -f) ;;
    *) cannot "no such file system: $kind" ;;
esac
[[ $(id -u) == 0 ]] || cannot 'mounting needs root'
for program in "${make[0]}" python3 setsid mount umount; do
    command -v "$program" >/dev/null || cannot "no $program on PATH (Debian: apt-get install e2fsprogs xfsprogs python3)"
done

mkdir -p "$MNT"
rm -f "$image"
truncate -s 512M "$image"
"${make[@]}" "$image"
mount -o "$options" "$image" "$MNT" 2>/dev/null || cannot "a $kind image cannot be mounted here"
trap 'umount "$MNT" 2>/dev/null || true; rm -f "$image"' EXIT
sh -c "$setup"
sync -f "$MNT"

setsid sh -c "$command" &
pid=$!
for _ in $(seq "$(awk "BEGIN { print int($seconds * 50) + 1 }")"); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.02
done
python3 - "$MNT" <<'PY'
import fcntl, os, struct, sys

# FS_IOC_SHUTDOWN, without writing the log
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack("I", 2))
PY
kill -KILL -- "-$pid" 2>/dev/null || true
wait "$pid" 2>/dev/null || true
for _ in $(seq 200); do
    umount "$MNT" 2>/dev/null && break
    sleep 0.05
done
mount -o "$options" "$image" "$MNT"
sh -c "$check"
