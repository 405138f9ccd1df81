//! Tests of `run`.

use super::{is_registered, turn_with_cgroups};
use crate::{script, text};

/// The exit status is that of a shell (POSIX.1-2024, XCU 2.8.2).
#[test]
fn run_returns_the_exit_status_of_its_command() {
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
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(printed.lines().count(), refused.len(), "{printed}");
    assert!(printed.lines().all(|line| line.starts_with("unruffled: run: ")), "{printed}");
    assert!(printed.contains("/run/no-interpreter: its interpreter does not exist"), "{printed}");
    assert!(!is_registered());
}

#[test]
fn the_flags_of_a_command_are_its_own() {
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
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(printed.lines().count(), 2, "{printed}");
}

/// The process that registered it ends first. Then `detach` removes another registration.
#[test]
fn a_command_keeps_the_registration_of_another() {
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
fn signals_are_passed_on_to_the_command() {
    let Some(_turn) = turn_with_cgroups() else { return };
    let output = script(
        "cat > /run/command <<'END'
        trap 'echo terminated; exit 3' TERM
        trap 'echo interrupted' INT
        : > /run/began
        while :; do sleep 0.05; done
END
        # A terminal would interrupt both processes.
        setsid $U run -- sh /run/command &
        until [ -e /run/began ]; do sleep 0.05; done
        kill -INT $!
        sleep 0.3
        kill -TERM $!
        wait $!; echo $?",
    );
    assert_eq!(text(&output), "interrupted\nterminated\n3\n");
    assert!(!is_registered());
}

#[test]
fn a_signal_ends_a_run_that_waits_for_the_lock() {
    let Some(_turn) = turn_with_cgroups() else { return };
    let output = script(
        "exec 9> /run/unruffled.lock; flock 9
        $U run -- touch /run/began 9>&- & run=$!
        (sleep 20; kill -KILL $run) 9>&- > /dev/null 2>&1 & watchdog=$!
        sleep 0.5
        kill -TERM $run
        wait $run; echo $?
        kill $watchdog
        [ ! -e /run/began ] && echo not begun",
    );
    assert_eq!(text(&output), "143\nnot begun\n");
    assert!(!is_registered());
}

#[test]
fn processes_that_a_command_leaves_behind_continue_outside() {
    let Some(_turn) = turn_with_cgroups() else { return };
    let output = script(
        "$U run -- sh -c 'sleep 60 & echo $! > /run/left; exit 5'; echo $?
        kill $(cat /run/left) && echo continues
        find $(awk '$3 == \"cgroup2\" { print $2; exit }' /proc/mounts) -name 'unruffled-run-*'",
    );
    assert_eq!(text(&output), "5\ncontinues\n");
    assert!(!is_registered());
}

/// The kernel's list of congestion controls is hidden, so the registration cannot be checked any more.
#[test]
fn a_command_does_not_outlive_its_supervision() {
    let Some(_turn) = turn_with_cgroups() else { return };
    let output = script(
        "$U run -- sh -c 'echo $$ > /run/began; exec sleep 60' &
        until [ -s /run/began ]; do sleep 0.05; done
        : > /run/none
        mount --bind /run/none /proc/sys/net/ipv4/tcp_available_congestion_control
        wait $!; echo $?
        kill -0 $(cat /run/began) && echo continues",
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2\n", "{output:?}");
    assert!(!is_registered());
}

/// A command under `run` may use `run` itself.
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
