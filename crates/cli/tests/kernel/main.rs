//! `attach`, `detach`, `run` and `status`. Each command runs in a network, mount and PID namespace of its
//! own, so the machine's defaults, its /run and its pins are not touched; that the congestion control is
//! registered is seen by all. Without the rights, these say that they were skipped.
#![cfg(target_os = "linux")]

#[cfg(feature = "bpf")]
#[path = "../real/lack.rs"]
mod lack;

use std::process::{Command, Output};

const UNRUFFLED: &str = env!("CARGO_BIN_EXE_unruffled");

/// Runs a script under namespaces of its own; `$U` is the command, wherever it was built.
fn script(text: &str) -> Output {
    let folder = std::path::Path::new(UNRUFFLED).parent().expect("a program is in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    // With processes of its own: pins that are not those of process 1 are refused.
    let setting = "mount -t tmpfs none /run && mount -t bpf none /sys/fs/bpf && ip link set dev lo up || exit 99";
    Command::new("unshare")
        .args(["--net", "--mount", "--pid", "--fork", "--mount-proc"])
        .args(["sh", "-c", &format!("{setting}\n{text}")])
        .env("U", "unruffled")
        .env("PATH", format!("{}:{path}", folder.display()))
        .output()
        .expect("unshare is in util-linux")
}

fn text(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    format!("{out}{err}")
}

#[cfg(not(feature = "bpf"))]
#[test]
fn a_build_without_programs_says_how_to_get_them() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: root is asked for first");
        return;
    }
    let output = script("$U detach; echo $?; exec $U attach");
    if output.status.code() == Some(99) {
        eprintln!("skipped: no namespaces");
        return;
    }
    // There is nothing to detach, which needs no programs.
    assert_eq!(String::from_utf8_lossy(&output.stdout), "nothing is attached\n0\n", "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("unruffled: attach: ") && said.lines().count() == 1, "{said}");
}

#[test]
fn an_interval_that_shows_bursts_is_refused() {
    for interval in ["0", "1ms", "99 ms", "2 h", "61 min", "soon", ""] {
        let status = Command::new(UNRUFFLED).args(["status", "--interval", interval]).output();
        let output = status.expect("it was built");
        let said = text(&output);
        assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
        assert!(said.contains("--interval") && said.contains("expected"), "{said}");
    }
}

#[cfg(feature = "bpf")]
mod loaded {
    mod handshakes;

    use std::collections::BTreeSet;
    use std::fs::File;
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::process::Stdio;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::thread;
    use std::time::{Duration, Instant};

    use rustix::net::sockopt::{set_tcp_congestion, tcp_congestion};
    use serde_json::Value;

    use super::*;

    /// One at a time: a kernel has one congestion control of a name.
    static TURN: Mutex<()> = Mutex::new(());

    /// This process's turn among all that test on this machine, and a test's turn within it.
    struct Turn {
        _file: Option<File>,
        _mutex: MutexGuard<'static, ()>,
    }

    /// Waits for the turn; nothing where the kernel cannot have it, or has it already.
    fn turn() -> Option<Turn> {
        let mutex = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        // Where no lock is to be had, nobody else is expected.
        let file = File::create(std::env::temp_dir().join("unruffled-kernel-tests")).ok();
        let turn = Turn { _file: file.filter(|file| file.lock().is_ok()), _mutex: mutex };
        if is_registered() {
            eprintln!("skipped: unruffled is attached on this machine");
            return None;
        }
        let output = script("$U attach && exec $U detach");
        match output.status.code() {
            Some(0) => Some(turn),
            _ => {
                eprintln!("skipped: {}", text(&output).trim());
                None
            }
        }
    }

    /// The same where there are cgroups to make, too.
    fn turn_with_cgroups() -> Option<Turn> {
        let turn = turn()?;
        let said = text(&script("exec $U run -- true"));
        let lacks = ["no cgroups of version 2", "Read-only file system", "Permission denied"];
        if lacks.iter().any(|lack| said.contains(lack)) {
            eprintln!("skipped: {}", said.trim());
            return None;
        }
        Some(turn)
    }

    /// Whether real packets are not to be had.
    fn lacks(said: &str) -> bool {
        let lacks = lack::is_lack(said);
        if lacks {
            eprintln!("skipped: {said}");
        }
        lacks
    }

    fn is_registered() -> bool {
        let names = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        names.is_ok_and(|names| names.split_whitespace().any(|name| name == "unruffled"))
    }

    /// The command of a part of a test, an ignored one under this module.
    fn part(name: &str) -> String {
        let own = std::env::current_exe().expect("a test is a program");
        format!("{} --exact loaded::{name} --ignored --nocapture", own.display())
    }

    /// Prints the default, the pins, and what is kept, without the lock, which stays.
    const TELL: &str = "tell() {
        cat /proc/sys/net/ipv4/tcp_congestion_control /proc/sys/net/ipv4/tcp_timestamps
        ls --ignore=unruffled.lock /sys/fs/bpf/unruffled /run 2>/dev/null
    }";

    #[test]
    fn detach_puts_back_what_attach_found() {
        let Some(_turn) = turn() else { return };
        let output = script(&format!(
            "{TELL}
            echo reno > /proc/sys/net/ipv4/tcp_congestion_control
            tell > /tmp/unruffled-before.$$
            $U attach --default && cat /proc/sys/net/ipv4/tcp_congestion_control
            cat /proc/sys/net/ipv4/tcp_timestamps
            $U attach --default
            $U detach
            tell > /tmp/unruffled-after.$$
            diff /tmp/unruffled-before.$$ /tmp/unruffled-after.$$ && echo as before
            rm /tmp/unruffled-before.$$ /tmp/unruffled-after.$$
            $U detach; echo $?"
        ));
        let said = text(&output);
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
        assert_eq!(said.lines().collect::<Vec<_>>(), expected);
        assert!(!is_registered());
    }

    #[test]
    fn attach_says_that_another_build_is_attached() {
        let Some(_turn) = turn() else { return };
        let output = script(
            "$U attach
            $U attach
            sed -i 's/\"build\": [0-9]*/\"build\": 1/' /run/unruffled/attached.json
            $U attach
            $U detach",
        );
        let said = text(&output);
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
        assert_eq!(said.lines().collect::<Vec<_>>(), expected);
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
        // All alike.
        assert_eq!(text(&output).trim(), "1");
        assert!(!is_registered());
    }

    /// As a shell tells of commands (POSIX.1-2024, XCU 2.8.2).
    #[test]
    fn what_is_run_gets_it_and_hands_its_status_on() {
        let Some(_turn) = turn_with_cgroups() else { return };
        let mut commands = vec![
            ("sh -c 'exit 7'", 7),
            ("-- sh -c 'exit 7'", 7),
            ("sh -c 'kill -TERM $$'", 143),
            ("sh -c 'kill -KILL $$'", 137),
            ("true", 0),
        ];
        let refused = [
            ("/no/such/program", 127),
            ("-- no-such-program", 127),
            ("''", 127),
            ("-- --json", 127),
            ("/run/no-interpreter", 126),
            ("/run/no-program", 126),
            ("/run/forbidden", 126),
            ("/run", 126),
            ("/run/forbidden/program", 126),
        ];
        commands.extend(refused);
        let files = "printf '#!/no/such/interpreter\\n' > /run/no-interpreter
            printf '\\177ELF' > /run/no-program
            : > /run/forbidden
            chmod +x /run/no-interpreter /run/no-program\n";
        let runs: String =
            commands.iter().map(|(command, _)| format!("$U run {command}; echo $?\n")).collect();
        let output = script(&format!("{files}{runs}"));
        let expected: String = commands.iter().map(|(_, status)| format!("{status}\n")).collect();
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said.lines().count(), refused.len(), "{said}");
        assert!(said.lines().all(|line| line.starts_with("unruffled: run: ")), "{said}");
        assert!(said.contains("/run/no-interpreter: its interpreter does not exist"), "{said}");
        assert!(!is_registered());
    }

    #[test]
    fn the_flags_of_what_is_run_are_its_own() {
        let Some(_turn) = turn_with_cgroups() else { return };
        let output = script(
            "$U run echo -c host --json --help
            $U run -- echo -c host --json --help
            $U run sh -c 'echo \"$*\"' name -- -h --version
            $U run --json true; echo $?
            $U run; echo $?",
        );
        let expected = "-c host --json --help\n-c host --json --help\n-- -h --version\n2\n2\n";
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said.lines().count(), 2, "{said}");
    }

    /// BTF, by which a kernel says that it takes these programs, is hidden.
    #[test]
    fn detach_needs_nothing_where_nothing_is_attached() {
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
    fn detach_says_that_a_command_has_it() {
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
    fn attach_says_that_a_command_has_it() {
        let Some(_turn) = turn_with_cgroups() else { return };
        let output = script(
            "$U run -- sh -c ': > /run/began; until [ -e /run/ends ]; do sleep 0.05; done' &
            until [ -e /run/began ]; do sleep 0.05; done
            $U attach; echo $?
            : > /run/ends; wait
            $U attach && $U detach",
        );
        let said = text(&output);
        assert!(said.contains("a command that goes on has registered it: expected"), "{said}");
        assert!(said.contains("unruffled is detached"), "{said}");
        assert!(!is_registered());
    }

    /// The first to end has registered it; then `detach` takes it away from beside the others.
    #[test]
    fn a_command_keeps_what_another_has_registered() {
        let Some(_turn) = turn_with_cgroups() else { return };
        let output = script(
            "name=/proc/sys/net/ipv4/tcp_available_congestion_control
            begin() {
                $U run -- sh -c \"echo > /run/$1; until [ -e /run/$1-ends ]; do sleep 0.05; done\" &
                until [ -e /run/$1 ]; do sleep 0.05; done
            }
            watch() {
                for n in $(seq 200); do grep -q unruffled $name || { echo gone; break; }; done
            }
            begin first; first=$!
            begin second; second=$!
            echo > /run/first-ends; wait $first; watch
            echo > /run/second-ends; wait $second
            $U attach >&2
            begin third
            $U detach >&2; watch
            echo > /run/third-ends; wait; echo all",
        );
        assert_eq!(String::from_utf8_lossy(&output.stdout), "all\n", "{output:?}");
        assert!(!is_registered());
    }

    #[test]
    fn what_is_run_is_told_to_end() {
        let Some(_turn) = turn_with_cgroups() else { return };
        let output = script(
            "cat > /run/command <<'END'
            trap 'echo told; exit 3' TERM
            trap 'echo interrupted' INT
            : > /run/began
            while :; do sleep 0.05; done
END
            # Without a terminal, which would interrupt both.
            setsid $U run -- sh /run/command &
            until [ -e /run/began ]; do sleep 0.05; done
            kill -INT $!
            sleep 0.3
            kill -TERM $!
            wait $!; echo $?",
        );
        assert_eq!(text(&output), "interrupted\ntold\n3\n");
        assert!(!is_registered());
    }

    #[test]
    fn who_waits_to_run_something_is_told_to_end_as_well() {
        let Some(_turn) = turn_with_cgroups() else { return };
        let output = script(
            "exec 9> /run/unruffled.lock; flock 9
            $U run -- touch /run/began 9>&- & run=$!
            (sleep 20; kill -KILL $run) 9>&- > /dev/null 2>&1 & patience=$!
            sleep 0.5
            kill -TERM $run
            wait $run; echo $?
            kill $patience
            [ ! -e /run/began ] && echo not begun",
        );
        assert_eq!(text(&output), "143\nnot begun\n");
        assert!(!is_registered());
    }

    #[test]
    fn what_a_command_leaves_behind_goes_on_outside() {
        let Some(_turn) = turn_with_cgroups() else { return };
        let output = script(
            "$U run -- sh -c 'sleep 60 & echo $! > /run/left; exit 5'; echo $?
            kill $(cat /run/left) && echo goes on
            find $(awk '$3 == \"cgroup2\" { print $2; exit }' /proc/mounts) -name 'unruffled-run-*'",
        );
        assert_eq!(text(&output), "5\ngoes on\n");
        assert!(!is_registered());
    }

    /// The kernel's list of congestion controls is hidden, and it takes no second one of that name.
    #[test]
    fn what_is_run_does_not_outlive_that_it_is_looked_after() {
        let Some(_turn) = turn_with_cgroups() else { return };
        let output = script(
            "$U run -- sh -c 'echo $$ > /run/began; exec sleep 60' &
            until [ -s /run/began ]; do sleep 0.05; done
            : > /run/none
            mount --bind /run/none /proc/sys/net/ipv4/tcp_available_congestion_control
            wait $!; echo $?
            kill -0 $(cat /run/began) && echo goes on",
        );
        assert_eq!(String::from_utf8_lossy(&output.stdout), "2\n", "{output:?}");
        assert!(!is_registered());
    }

    /// A command that is run may run another.
    #[test]
    fn detach_removes_the_cgroups_of_runs_that_were_killed() {
        let Some(_turn) = turn_with_cgroups() else { return };
        let output = script(
            "root=$(grep -m1 ' cgroup2 ' /proc/self/mounts | cut -d' ' -f2)
            left() { find $root -name 'unruffled-run-*' | wc -l; }
            $U run -- $U run -- sh -c 'echo $$ $PPID > /run/began; exec sleep 60' &
            until [ -s /run/began ]; do sleep 0.05; done
            kill -KILL $! $(cat /run/began)
            sleep 0.2
            left
            $U detach; echo $?
            left",
        );
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "2\nnothing is attached\n0\n0\n",
            "{output:?}"
        );
    }

    /// The registrations that the kernel keeps, by their ids; nothing without bpftool.
    fn registrations() -> Option<BTreeSet<u32>> {
        let list = Command::new("bpftool").args(["map", "list"]).output().ok()?;
        let list = String::from_utf8_lossy(&list.stdout).into_owned();
        let ours = list.lines().filter(|line| line.contains(": struct_ops  name unruffled"));
        Some(ours.filter_map(|line| line.split(':').next()?.parse().ok()).collect())
    }

    /// A namespace that dies keeps its sockets, and they what they use, until they have sent what is
    /// left nine times, each time after twice as long: 0.2 s, then two minutes in all.
    const ORPHANS: Duration = Duration::from_secs(300);

    #[test]
    fn no_registration_is_left_in_the_kernel() {
        let Some(turn) = turn_with_cgroups() else { return };
        let Some(before) = registrations() else {
            eprintln!("skipped: bpftool is not there");
            return;
        };
        let path = "--set bottleneck.delay=1ms --set bottleneck.rate=100Mbit/s";
        let race = format!("$U race in-order {path} --duration 1s --variants none --no-report");
        let output = script(&format!(
            "$U attach && $U attach --default && $U detach && $U run -- true &&
            {race} --kernel unruffled && {race} --kernel unruffled,reno --together && echo all"
        ));
        let said = text(&output);
        if lacks(&said) {
            return;
        }
        assert!(said.ends_with("all\n"), "{said}");
        let now = registrations().expect("as before");
        let ours: BTreeSet<_> = now.difference(&before).copied().collect();
        drop(turn);
        let deadline = Instant::now() + ORPHANS;
        let left = || registrations().is_some_and(|now| !now.is_disjoint(&ours));
        while left() {
            assert!(Instant::now() < deadline, "some of these are left: {ours:?}");
            thread::sleep(Duration::from_millis(200));
        }
    }

    /// Where QEMU is: it starts machines of its own, so that nothing here is touched.
    #[test]
    fn other_kernels_take_the_same_programs() {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../kernel/qemu/run");
        let output = Command::new(script).arg(UNRUFFLED).output().expect("bash");
        let said = text(&output);
        match output.status.code() {
            Some(77) => eprintln!("skipped: {}", said.lines().last().unwrap_or_default()),
            status => assert_eq!(status, Some(0), "{said}"),
        }
    }

    /// Fifty namespaces, the last of them attached, and a command that may open 40 files.
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

    /// Inodes' numbers are used again. The second one switched its timestamps off itself.
    #[test]
    fn detach_leaves_a_namespace_alone_that_has_the_number_of_another() {
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
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if said.starts_with("skipped") {
            eprintln!("skipped: no number was used again");
            return;
        }
        assert_eq!(said, "0\n", "{output:?}");
        assert!(!is_registered());
    }

    /// What is set meanwhile, what is no longer there, and what nobody set.
    #[test]
    fn detach_puts_back_what_it_can() {
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
            # As a namespace has it that was made meanwhile.
            unshare --net sh -c 'echo unruffled > '$d'; exec sleep 60' &
            until nsenter --target $! --net grep -q unruffled $d; do :; done
            $U detach >&2
            nsenter --target $! --net cat $d
            cat $d
            kill $!",
        );
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(lines.len(), 4, "{output:?}");
        assert_eq!(lines[..2], ["reno", "1"], "{output:?}");
        // The first of these may be for the first namespace only.
        assert!(lines[2..].iter().all(|line| ["cubic", "reno"].contains(line)), "{output:?}");
        assert!(!is_registered());
    }

    #[test]
    fn detach_says_how_to_go_on_without_what_was_written_down() {
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
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let last = said.lines().last().unwrap_or_default();
        assert!(last.starts_with("unruffled: detach: /run/unruffled/attached.json: "), "{said}");
        assert!(
            last.contains("without the file `detach` sets the default to cubic or reno"),
            "{said}"
        );
        assert!(!is_registered());
    }

    #[test]
    fn who_attaches_waits_for_the_others() {
        let Some(_turn) = turn() else { return };
        let output = script(
            "tell() { nsenter --target $1 --net cat /proc/sys/net/ipv4/tcp_congestion_control; }
            for n in 1 2 3 4 5 6 7 8; do
                unshare --net sh -c 'echo reno > /proc/sys/net/ipv4/tcp_congestion_control
                    $U attach --default >&2; exec sleep 60' &
                pids=\"$pids $!\"
            done
            for pid in $pids; do until [ $(cat /proc/$pid/comm) = sleep ]; do :; done; tell $pid; done
            $U detach >&2
            for pid in $pids; do tell $pid; done
            kill $pids",
        );
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let expected: Vec<_> = ["unruffled"; 8].into_iter().chain(["reno"; 8]).collect();
        assert_eq!(said.lines().collect::<Vec<_>>(), expected, "{output:?}");
        assert!(!is_registered());
    }

    /// Does a part of a test, in namespaces of its own.
    fn child(name: &str) {
        let output = script(&format!("CHILD=1 {}", part(name)));
        assert!(output.status.success(), "{}", text(&output));
        assert!(!is_registered());
    }

    fn command(arguments: &str) -> String {
        let mut command = Command::new("unruffled");
        let output = command.args(arguments.split(' ')).output().expect("it is in the path");
        assert!(output.status.success(), "{}", text(&output));
        text(&output)
    }

    /// Both ends of a connection over loopback.
    fn connection(listener: &TcpListener) -> (TcpStream, TcpStream) {
        let address = listener.local_addr().expect("it listens");
        let client = TcpStream::connect(address).expect("a connection");
        (client, listener.accept().expect("the same").0)
    }

    #[test]
    fn a_listener_hands_it_on_until_detach() {
        let Some(_turn) = turn() else { return };
        child("listens");
    }

    #[test]
    #[ignore = "done by another test"]
    fn listens() {
        let Ok(_) = std::env::var("CHILD") else { return };
        command("attach");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        set_tcp_congestion(&listener, "unruffled").expect("it is attached");
        let first = connection(&listener);
        assert_eq!(tcp_congestion(&first.1).expect("a socket"), "unruffled");
        command("detach");
        let second = connection(&listener);
        assert_ne!(tcp_congestion(&second.1).expect("a socket"), "unruffled");
        // What lives keeps it.
        assert_eq!(tcp_congestion(&first.1).expect("a socket"), "unruffled");
    }

    #[test]
    fn a_connection_may_leave_it_and_come_back() {
        let Some(_turn) = turn() else { return };
        child("leaves");
    }

    #[test]
    #[ignore = "done by another test"]
    fn leaves() {
        let Ok(_) = std::env::var("CHILD") else { return };
        command("attach");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let (mut client, _server) = connection(&listener);
        let port = client.local_addr().expect("it is connected").port();
        let is_told = || command("status --json").contains(&format!(":{port}\""));
        for (control, told) in [("unruffled", true), ("reno", false), ("unruffled", true)] {
            set_tcp_congestion(&client, control).expect("it is there");
            client.write_all(b"x").expect("it is connected");
            assert_eq!(is_told(), told, "{control}");
        }
        command("detach");
    }

    /// Writes 25,000 octets at once each tenth of a second, 2 Mb/s, until `end`; the reader reads.
    fn bursts(stream: &mut TcpStream, reader: &mut TcpStream, end: &AtomicBool) {
        let (burst, mut read) = (vec![0; 25_000], vec![0; 25_000]);
        let began = Instant::now();
        for n in 1.. {
            stream.write_all(&burst).expect("it is connected");
            reader.read_exact(&mut read).expect("the same");
            let next = began + n * Duration::from_millis(100);
            thread::sleep(next.saturating_duration_since(Instant::now()));
            if end.load(Ordering::Relaxed) {
                return;
            }
        }
    }

    /// Ends the bursts, also where a test fails.
    struct End<'a>(&'a AtomicBool);

    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_rate_is_of_a_measured_time_and_not_of_a_burst() {
        let Some(_turn) = turn() else { return };
        child("rates");
    }

    #[test]
    #[ignore = "done by another test"]
    fn rates() {
        let Ok(_) = std::env::var("CHILD") else { return };
        command("attach");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let under_it = || {
            let (client, server) = connection(&listener);
            set_tcp_congestion(&client, "unruffled").expect("it is attached");
            let port = client.local_addr().expect("it is connected").port();
            (client, server, format!("127.0.0.1:{port}"))
        };
        let (mut steady, mut reader, name) = under_it();
        let (mut idle, _idle_reader, idle_name) = under_it();
        let (mut ended, ended_reader, ended_name) = under_it();
        for stream in [&mut idle, &mut ended] {
            stream.write_all(&[0; 50_000]).expect("it is connected");
        }
        // It sends before it is under unruffled.
        let (mut switched, mut switched_reader) = connection(&listener);
        switched.write_all(&[0; 50_000]).expect("it is connected");
        switched_reader.read_exact(&mut [0; 50_000]).expect("the same");
        let end = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| bursts(&mut steady, &mut reader, &end));
            let _end = End(&end);
            thread::sleep(Duration::from_millis(300));
            let status = scope.spawn(|| command("status --json"));
            thread::sleep(Duration::from_millis(400));
            drop((ended, ended_reader));
            set_tcp_congestion(&switched, "unruffled").expect("it is attached");
            // 125,000 octets in an interval of a second are 1 Mb/s, whenever the connection began.
            let (mut late, mut late_reader, late_name) = under_it();
            let (data, mut read) = (vec![0; 125_000], vec![0; 125_000]);
            scope.spawn(move || late.write_all(&data).map(|()| late));
            late_reader.read_exact(&mut read).expect("it is connected");
            let status: Value =
                serde_json::from_str(&status.join().expect("it runs")).expect("JSON");
            let interval = status["interval_s"].as_f64().expect("a time");
            let of = |name: &str| {
                let all = status["connections"].as_array().expect("a list");
                all.iter()
                    .find(|c| c["local"] == name)
                    .map(|c| c["rate_bps"].as_f64().expect("a rate"))
            };
            assert!((1.0..3.0).contains(&interval), "{status}");
            let steady = of(&name).expect("it is connected");
            assert!((1e6..4e6).contains(&steady), "{steady} b/s, and 2 Mb/s are sent: {status}");
            assert_eq!(of(&idle_name), Some(0.0), "{status}");
            assert_eq!(of(&ended_name), None, "{status}");
            assert_eq!(status["ended"], 1, "{status}");
            // The machine may be so slow that it began after the interval.
            if let Some(late) = of(&late_name) {
                assert!(late <= 1e6, "{late} b/s: {status}");
            }
            let port = switched.local_addr().expect("it is connected").port();
            let switched = of(&format!("127.0.0.1:{port}"));
            assert!(switched.is_none_or(|rate| rate == 0.0), "{switched:?}: {status}");
            // From one look to the next.
            let lines = script_here("unruffled status --watch --json --interval 500ms | head -n 3");
            for line in lines.lines() {
                let status: Value = serde_json::from_str(line).expect("JSON");
                let rate = status["connections"].as_array().expect("a list").iter();
                let rate =
                    rate.map(|c| c["rate_bps"].as_f64().expect("a rate")).fold(0.0, f64::max);
                assert!((0.5e6..5e6).contains(&rate), "{line}");
            }
        });
        let table = command("status");
        assert!(table.contains("Mb/s: acknowledged in the last 1."), "{table}");
        command("detach");
    }

    /// What a script prints within these namespaces.
    fn script_here(text: &str) -> String {
        let output = Command::new("sh").args(["-c", text]).output().expect("a shell");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    #[test]
    fn watching_ends_with_its_reader() {
        let Some(_turn) = turn() else { return };
        let output = script("timeout 20 sh -c '$U status --watch | head -n 1'; echo $?");
        let said = text(&output);
        assert!(said.starts_with("peer ") && said.ends_with("\n0\n"), "{said}");
    }

    #[test]
    fn a_cgroup_gets_it_until_detach_and_status_tells() {
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
        let said = text(&output);
        assert!(said.contains(r#""registered":true}"#), "{said}");
        assert!(said.contains("cgroup-N-choose congestion_control"), "{said}");
        assert!(said.contains("no such cgroup: expected the path of one of version 2"), "{said}");
        assert!(said.contains("unruffled is detached"), "{said}");
        assert!(!is_registered());
    }

    /// Sysctls cannot be written: it is registered, and no default.
    #[test]
    fn what_stays_where_attach_is_refused_half_way_is_said() {
        let Some(_turn) = turn() else { return };
        let output = script(
            "mount --bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys || exit 99
            $U attach --default; echo $?; $U detach; echo $?",
        );
        if output.status.code() == Some(99) {
            eprintln!("skipped: {}", text(&output).trim());
            return;
        }
        let said = text(&output);
        let stays = "; what was attached before stays until `unruffled detach`\n";
        assert!(said.contains(stays) && said.contains("Read-only file system"), "{said}");
        assert!(!is_registered(), "{said}");
    }

    /// A hundred pairs of interfaces go, one after another, while it looks for interfaces.
    #[test]
    fn attach_leaves_out_an_interface_that_goes_meanwhile() {
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
}
