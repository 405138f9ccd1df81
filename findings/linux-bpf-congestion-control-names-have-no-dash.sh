#!/bin/sh
# Linux 6.18 (BPF struct_ops): a congestion control in BPF may not have a dash in its name.
#
# Guess:     any name of up to 15 characters that a module may have, such as hyphenated ones.
# Behaviour: the update of the map fails with EINVAL. Names of BPF objects have letters, digits, "_" and ".", and
#            the kernel checks the congestion control's name by the same rule. No log says so, and bpftool 7.1
#            prints "can't register struct_ops probe: Success".
# Seen:      probe_a registered, probe.a registered, probe-a refused
# So variants of a control ("name-bbr") need an underscore. Needs root, clang and bpftool.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
bpftool btf dump file /sys/kernel/btf/vmlinux format c > vmlinux.h
cat > probe.bpf.c <<'C'
#include "vmlinux.h"

#define SEC(name) __attribute__((section(name), used))

char _license[] SEC("license") = "GPL";

SEC("struct_ops")
int probe_ssthresh(unsigned long long *arguments)
{
	return 2;
}

SEC("struct_ops")
int probe_avoid(unsigned long long *arguments)
{
	return 0;
}

SEC("struct_ops")
int probe_undo(unsigned long long *arguments)
{
	return 10;
}

SEC(".struct_ops")
struct tcp_congestion_ops probe = {
	.ssthresh = (void *)probe_ssthresh,
	.cong_avoid = (void *)probe_avoid,
	.undo_cwnd = (void *)probe_undo,
	.name = CONTROL,
};
C
seen=""
for name in probe_a probe.a probe-a; do
    clang -target bpf -D__TARGET_ARCH_x86 -g -O2 "-DCONTROL=\"$name\"" -c probe.bpf.c -o "$name.o"
    if bpftool struct_ops register "$name.o" > log 2>&1; then
        result=registered
        bpftool struct_ops unregister name probe > /dev/null
    elif grep -q "can't register" log; then
        result=refused
    else
        cat log >&2
        result=unknown
    fi
    seen="$seen${seen:+, }$name $result"
done
echo "$seen"
[ "$seen" = "probe_a registered, probe.a registered, probe-a refused" ]
