//! Tests of `attach` and `detach`.

use std::collections::BTreeSet;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::{is_registered, lacks, turn, turn_with_cgroups};
use crate::{UNRUFFLED, script, text};

/// A shell function that prints the default, the pins and the state, without the lock, which stays.
const PRINT_STATE: &str = "print_state() {
    cat /proc/sys/net/ipv4/tcp_congestion_control /proc/sys/net/ipv4/tcp_timestamps
    ls --ignore=unruffled.lock /sys/fs/bpf/unruffled /run 2>/dev/null
}";

#[test]
fn detach_restores_what_attach_found() {
    let Some(_turn) = turn() else { return };
    let output = script(&format!(
        "{PRINT_STATE}
        echo reno > /proc/sys/net/ipv4/tcp_congestion_control
        print_state > /tmp/unruffled-before.$$
        $U attach --default && cat /proc/sys/net/ipv4/tcp_congestion_control
        cat /proc/sys/net/ipv4/tcp_timestamps
        $U attach --default
        $U detach
        print_state > /tmp/unruffled-after.$$
        diff /tmp/unruffled-before.$$ /tmp/unruffled-after.$$ && echo as before
        rm /tmp/unruffled-before.$$ /tmp/unruffled-after.$$
        $U detach; echo $?"
    ));
    let printed = text(&output);
    let expected = [
        "unruffled is in the kernel now, the default of this network namespace, without timestamps",
        "unruffled",
        "0",
        "unruffled was in the kernel already; it is now the default of this network namespace, without timestamps",
        "unruffled is detached",
        "as before",
        "nothing is attached",
        "0",
    ];
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
    assert!(!is_registered());
}

#[test]
fn attach_reports_another_build() {
    let Some(_turn) = turn() else { return };
    let output = script(
        "$U attach
        $U attach
        sed -i 's/\"build\": [0-9]*/\"build\": 1/' /run/unruffled/attached.json
        $U attach
        $U detach",
    );
    let printed = text(&output);
    let choose = "; programs may choose it (TCP_CONGESTION)";
    let expected = [
        format!("unruffled is in the kernel now{choose}"),
        format!("unruffled was in the kernel already{choose}"),
        format!(
            "unruffled was in the kernel already, by another build, whose it stays until \
             `unruffled detach`{choose}"
        ),
        "unruffled is detached".to_owned(),
    ];
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn an_attach_that_is_killed_is_undone_by_detach() {
    let Some(_turn) = turn() else { return };
    let output = script(
        "for delay in 0.00 0.02 0.05 0.08 0.1 0.12 0.14 0.16 0.18 0.2 0.25 0.3 0.4; do
            timeout -s KILL $delay $U attach --default >/dev/null 2>&1
            $U detach >/dev/null 2>&1
            echo $(cat /proc/sys/net/ipv4/tcp_congestion_control /proc/sys/net/ipv4/tcp_timestamps) \
                $(ls /sys/fs/bpf/unruffled /run/unruffled 2>/dev/null)
        done | sort | uniq -c | wc -l",
    );
    // All lines are the same.
    assert_eq!(text(&output).trim(), "1");
    assert!(!is_registered());
}

/// BTF is hidden, which the programs need.
#[test]
fn detach_needs_no_programs_where_nothing_is_attached() {
    let Some(_turn) = turn() else { return };
    let output = script(
        "$U detach; echo $?; $U detach; echo $?
        $U attach --default >&2
        mount -t tmpfs none /sys/kernel/btf || exit 99
        $U detach; echo $?
        umount /sys/kernel/btf
        $U detach; echo $?
        mount -t tmpfs none /sys/kernel/btf
        $U detach; echo $?",
    );
    if output.status.code() == Some(99) {
        script("$U detach");
        eprintln!("skipped: BTF cannot be hidden");
        return;
    }
    let nothing = "nothing is attached\n0\n";
    let expected = format!("{nothing}{nothing}2\nunruffled is detached\n0\n{nothing}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{output:?}");
    assert!(!is_registered());
}

#[test]
fn detach_reports_a_command_that_uses_it() {
    let Some(_turn) = turn_with_cgroups() else { return };
    let output = script(
        "$U run sh -c ': > /run/began; until [ -e /run/ends ]; do sleep 0.05; done' &
        until [ -e /run/began ]; do sleep 0.05; done
        $U detach; echo $?
        : > /run/ends; wait",
    );
    let expected = "nothing is attached; a `run` or `race` that goes on has unruffled in the \
                    kernel until it ends\n0\n";
    assert_eq!(text(&output), expected);
    assert!(!is_registered());
}

#[test]
fn attach_reports_a_command_that_uses_it() {
    let Some(_turn) = turn_with_cgroups() else { return };
    let output = script(
        "$U run -- sh -c ': > /run/began; until [ -e /run/ends ]; do sleep 0.05; done' &
        until [ -e /run/began ]; do sleep 0.05; done
        $U attach; echo $?
        : > /run/ends; wait
        $U attach && $U detach",
    );
    let printed = text(&output);
    assert!(printed.contains("a command that goes on has registered it: expected"), "{printed}");
    assert!(printed.contains("unruffled is detached"), "{printed}");
    assert!(!is_registered());
}

/// Returns the ids of the registrations in the kernel, or `None` without bpftool.
fn registrations() -> Option<BTreeSet<u32>> {
    let list = Command::new("bpftool").args(["map", "list"]).output().ok()?;
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    let ours = list.lines().filter(|line| line.contains(": struct_ops  name unruffled"));
    Some(ours.filter_map(|line| line.split(':').next()?.parse().ok()).collect())
}

/// Time for which sockets of a dying namespace, and their programs, may live. They send the remaining data
/// nine times, first after 0.2 s and then after twice as long each time: two minutes in all.
const ORPHAN_TIMEOUT: Duration = Duration::from_secs(300);

#[test]
fn no_registration_is_left_in_the_kernel() {
    let Some(turn) = turn_with_cgroups() else { return };
    let Some(before) = registrations() else {
        eprintln!("skipped: bpftool is not installed");
        return;
    };
    let path = "--set bottleneck.delay=1ms --set bottleneck.rate=100Mbit/s";
    let race = format!("$U race in-order {path} --duration 1s --variants none --no-report");
    let output = script(&format!(
        "$U attach && $U attach --growth bbr --default && $U detach && $U run -- true &&
        $U run --growth bbr -- true && {race} --kernel unruffled,unruffled+bbr &&
        {race} --kernel unruffled,unruffled+bbr,reno --together && echo all"
    ));
    let printed = text(&output);
    if lacks(&printed) {
        return;
    }
    assert!(printed.ends_with("all\n"), "{printed}");
    let now = registrations().expect("bpftool is installed");
    let ours: BTreeSet<_> = now.difference(&before).copied().collect();
    drop(turn);
    let deadline = Instant::now() + ORPHAN_TIMEOUT;
    let left = || registrations().is_some_and(|now| !now.is_disjoint(&ours));
    while left() {
        assert!(Instant::now() < deadline, "some of these are left: {ours:?}");
        thread::sleep(Duration::from_millis(200));
    }
}

/// Runs only with QEMU, which boots machines of its own.
#[test]
fn other_kernels_accept_the_same_programs() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../kernel/qemu/run");
    let output = Command::new(script).arg(UNRUFFLED).output().expect("bash");
    let printed = text(&output);
    match output.status.code() {
        Some(77) => eprintln!("skipped: {}", printed.lines().last().unwrap_or_default()),
        status => assert_eq!(status, Some(0), "{printed}"),
    }
}

/// There are fifty namespaces, of which the last is attached. The command may open 40 files.
#[test]
fn detach_finds_more_namespaces_than_it_may_open_files() {
    let Some(_turn) = turn() else { return };
    let output = script(
        "d=/proc/sys/net/ipv4/tcp_congestion_control
        mkdir /run/began
        for n in $(seq 50); do
            unshare --net sh -c \"echo reno > $d; : > /run/began/\\$\\$; exec sleep 60\" &
            pids=\"$pids $!\" last=$!
        done
        until [ $(ls /run/began | wc -l) = 50 ]; do sleep 0.05; done
        nsenter --target $last --net $U attach --default >&2
        (ulimit -n 40; $U detach) >&2; echo $?
        nsenter --target $last --net cat $d
        kill $pids",
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0\nreno\n", "{output:?}");
    assert!(!is_registered());
}

/// Inode numbers are reused. Timestamps are off in the second namespace, but not by `attach`.
#[test]
fn detach_does_not_change_a_namespace_with_a_reused_number() {
    let Some(_turn) = turn() else { return };
    let output = script(
        "t=/proc/sys/net/ipv4/tcp_timestamps
        unshare --net sleep 60 &
        first=$! pids=$!
        until [ \"$(cat /proc/$first/comm)\" = sleep ]; do sleep 0.05; done
        inode=$(stat -Lc %i /proc/$first/ns/net)
        nsenter --target $first --net $U attach --default >&2
        kill $first; wait $first
        for n in $(seq 50); do
            unshare --net sh -c \"echo 0 > $t; exec sleep 60\" &
            pids=\"$pids $!\"
            until [ \"$(cat /proc/$!/comm)\" = sleep ]; do sleep 0.05; done
            [ $(stat -Lc %i /proc/$!/ns/net) = $inode ] && break
        done
        [ $(stat -Lc %i /proc/$!/ns/net) = $inode ] || echo skipped
        $U detach >&2
        nsenter --target $! --net cat $t
        kill $pids 2>/dev/null",
    );
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if printed.starts_with("skipped") {
        eprintln!("skipped: no number was reused");
        return;
    }
    assert_eq!(printed, "0\n", "{output:?}");
    assert!(!is_registered());
}

/// A default that was changed since, one that is not available, and one that was never set.
#[test]
fn detach_restores_what_it_can() {
    let Some(_turn) = turn() else { return };
    let output = script(
        "d=/proc/sys/net/ipv4/tcp_congestion_control
        echo reno > $d
        $U attach --default >&2
        echo reno > $d
        $U attach --default >&2
        $U detach >&2
        cat $d /proc/sys/net/ipv4/tcp_timestamps
        $U attach --default >&2
        sed -i s/reno/gone/ /run/unruffled/attached.json
        # A namespace that was created since has this default.
        unshare --net sh -c 'echo unruffled > '$d'; exec sleep 60' &
        until nsenter --target $! --net grep -q unruffled $d; do :; done
        $U detach >&2
        nsenter --target $! --net cat $d
        cat $d
        kill $!",
    );
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines.len(), 4, "{output:?}");
    assert_eq!(lines[..2], ["reno", "1"], "{output:?}");
    // The first one may be restricted to the first namespace.
    assert!(lines[2..].iter().all(|line| ["cubic", "reno"].contains(line)), "{output:?}");
    assert!(!is_registered());
}

#[test]
fn detach_works_without_the_state_file() {
    let Some(_turn) = turn() else { return };
    let output = script(
        "d=/proc/sys/net/ipv4/tcp_congestion_control
        $U attach --default >&2
        echo nonsense > /run/unruffled/attached.json
        $U detach; echo $?
        rm /run/unruffled/attached.json
        $U detach; echo $?
        grep -xE 'cubic|reno' $d >/dev/null; echo $?",
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2\nunruffled is detached\n0\n0\n");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = printed.lines().last().unwrap_or_default();
    assert!(last.starts_with("unruffled: detach: /run/unruffled/attached.json: "), "{printed}");
    assert!(
        last.contains("without the file `detach` sets the default to cubic or reno"),
        "{printed}"
    );
    assert!(!is_registered());
}

#[test]
fn concurrent_attaches_wait_for_each_other() {
    let Some(_turn) = turn() else { return };
    let output = script(
        "control() { nsenter --target $1 --net cat /proc/sys/net/ipv4/tcp_congestion_control; }
        for n in 1 2 3 4 5 6 7 8; do
            unshare --net sh -c 'echo reno > /proc/sys/net/ipv4/tcp_congestion_control
                $U attach --default >&2; exec sleep 60' &
            pids=\"$pids $!\"
        done
        for pid in $pids; do until [ $(cat /proc/$pid/comm) = sleep ]; do :; done; control $pid; done
        $U detach >&2
        for pid in $pids; do control $pid; done
        kill $pids",
    );
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let expected: Vec<_> = ["unruffled"; 8].into_iter().chain(["reno"; 8]).collect();
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected, "{output:?}");
    assert!(!is_registered());
}

#[test]
fn a_cgroup_has_it_until_detach() {
    let Some(_turn) = turn_with_cgroups() else { return };
    let output = script(
        "root=$(grep -m1 ' cgroup2 ' /proc/self/mounts | cut -d' ' -f2)
        group=$root/unruffled-test-$$
        mkdir $group
        link=$(mktemp -d)/group
        ln -s $group $link
        $U attach --cgroup $link
        rm -r $(dirname $link)
        $U status --json
        ls /sys/fs/bpf/unruffled | sed 's/-[0-9]*-/-N-/' | sort | tr '\\n' ' '
        $U attach --cgroup /no/such/group; echo $?
        $U detach
        rmdir $group
        ls /sys/fs/bpf",
    );
    let printed = text(&output);
    assert!(printed.contains(r#""registered":true,"#), "{printed}");
    assert!(printed.contains("cgroup-N-choose congestion_control"), "{printed}");
    assert!(printed.contains("no such cgroup: expected the path of one of version 2"), "{printed}");
    assert!(printed.contains("unruffled is detached"), "{printed}");
    assert!(!is_registered());
}

/// Sysctls are read-only, so the registration succeeds and the default cannot be set.
#[test]
fn a_partial_attach_reports_what_stays() {
    let Some(_turn) = turn() else { return };
    let output = script(
        "mount --bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys || exit 99
        $U attach --default; echo $?; $U detach; echo $?",
    );
    if output.status.code() == Some(99) {
        eprintln!("skipped: {}", text(&output).trim());
        return;
    }
    let printed = text(&output);
    let stays = "; what was attached before stays until `unruffled detach`\n";
    assert!(printed.contains(stays) && printed.contains("Read-only file system"), "{printed}");
    assert!(!is_registered(), "{printed}");
}

/// A hundred pairs of interfaces disappear one after another, while `attach` lists interfaces.
#[test]
fn attach_skips_an_interface_that_disappears() {
    let Some(_turn) = turn_with_cgroups() else { return };
    let output = script(
        "group=$(grep -m1 ' cgroup2 ' /proc/self/mounts | cut -d' ' -f2)/unruffled-test-$$
        mkdir $group
        for n in $(seq 100); do echo link add v$n type veth peer name w$n; done > /run/add
        for n in $(seq 100); do echo link del v$n; done > /run/del
        for round in 1 2 3; do
            ip -batch /run/add && ip -batch /run/del &
            until ip link show v99 >/dev/null 2>&1; do sleep 0.01; done
            $U attach --cgroup $group >&2; echo $?
            wait
        done
        $U detach >&2
        rmdir $group",
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0\n0\n0\n", "{output:?}");
    assert!(!is_registered());
}
