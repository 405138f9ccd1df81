#!/bin/sh
# Linux 6.18 and lsns of util-linux 2.38.1: a network namespace that was opened through its mount has no `net:[…]` link.
#
# Guess:     /proc/PID/fd shows `net:[INODE]` for every open namespace, as it does for one opened in /proc/PID/ns.
# Behaviour: the link is the path of the mount, and "/" once the mount is detached (`umount -l`), as container
#            runtimes do. Only the device and the inode of the open file identify the namespace. lsns, which looks at
#            /proc/PID/ns alone, lists it at no time, although it can be entered and its interfaces work.
# Seen:      opened in /proc: net:[4026532177]
#            mounted: the path of the mount; lsns lists 0
#            detached: /; lsns lists 0; entered: lo
# Programs that search /proc/PID/fd for `net:[` miss such namespaces. Needs root.
set -eu
[ "$(id -u)" = 0 ] || { echo "skipped: not root"; exit 0; }
work=$(mktemp -d)
trap 'umount -l "$work" 2>/dev/null || true; rmdir "$work"' EXIT
mount -t tmpfs none "$work"
: > "$work/net"
unshare --net sh -c "mount --bind /proc/self/ns/net $work/net"
inode=$(stat -c %i "$work/net")
listed() { lsns -n -t net -o NS | grep -c "$inode" || true; }

exec 8< /proc/self/ns/net 9< "$work/net"
in_proc=$(readlink "/proc/$$/fd/8")
mounted=$(readlink "/proc/$$/fd/9")
echo "opened in /proc: $in_proc"
echo "mounted: $mounted; lsns lists $(listed)"
[ "$mounted" = "$work/net" ]
[ "$(listed)" = 0 ]

umount -l "$work/net"
detached=$(readlink "/proc/$$/fd/9")
entered=$(nsenter --net="/proc/$$/fd/9" sh -c 'ip -o link show lo | cut -d: -f2 | tr -d " "')
echo "detached: $detached; lsns lists $(listed); entered: $entered"
[ "${in_proc%%:*}" = net ]
[ "$detached" = / ]
[ "$(listed)" = 0 ]
[ "$(stat -L -c %i "/proc/$$/fd/9")" = "$inode" ]
[ "$entered" = lo ]
