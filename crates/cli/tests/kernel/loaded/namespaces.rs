//! Tests of `--netns` and `--pid`.

use super::{NAMESPACE_FUNCTIONS, is_registered, turn};
use crate::{script, text};

fn output(script_text: &str) -> std::process::Output {
    script(&format!("{NAMESPACE_FUNCTIONS}{script_text}"))
}

#[test]
fn one_namespace_is_attached_and_detached() {
    let Some(_turn) = turn() else { return };
    let output = output(
        "for name in red blue green; do ip netns add $name; set_up /run/netns/$name reno 2; done
        unshare --net sleep 60 & pid=$!
        until_so sleeps $!
        set_up /proc/$pid/ns/net reno 2
        show() { for one in /run/netns/red /run/netns/blue /run/netns/green /proc/$pid/ns/net; do
            settings $one; done | tr '\\n' ,; echo; }
        $U attach --netns red; $U attach --netns /run/netns/blue; $U attach --pid $pid; show
        $U detach --netns red; $U detach --netns red; show
        $U detach --pid $pid; show
        $U detach; show
        kill $pid",
    );
    let of = |place: &str| format!("the default of {place}, without timestamps");
    let stays =
        "the network namespace is detached; unruffled stays in the kernel until `unruffled detach`";
    let printed = text(&output);
    let pid = printed.split("process ").nth(1).and_then(|rest| rest.split(',').next());
    let pid = pid.expect("a process");
    let expected = [
        format!("unruffled is in the kernel now, {}", of("network namespace red")),
        format!(
            "unruffled was in the kernel already; it is now {}",
            of("network namespace /run/netns/blue")
        ),
        format!(
            "unruffled was in the kernel already; it is now {}",
            of(&format!("the network namespace of process {pid}"))
        ),
        "unruffled 0,unruffled 0,reno 2,unruffled 0,".to_owned(),
        stays.to_owned(),
        "nothing is attached to the network namespace".to_owned(),
        "reno 2,unruffled 0,reno 2,unruffled 0,".to_owned(),
        stays.to_owned(),
        "reno 2,unruffled 0,reno 2,reno 2,".to_owned(),
        "unruffled is detached".to_owned(),
        "reno 2,reno 2,reno 2,reno 2,".to_owned(),
    ];
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
    assert!(!is_registered());
}

#[test]
fn the_daemon_leaves_a_namespace_alone_that_was_detached() {
    let Some(_turn) = turn() else { return };
    let output = output(
        "ip netns add red; set_up /run/netns/red reno 2
        begin() { : > /run/log; $U attach --all > /run/log 2>&1 & daemon=$!; until_so [ -s /run/log ]; }
        begin
        settings /run/netns/red
        $U detach --netns red > /dev/null
        ip netns add blue; until_so is_served /run/netns/blue
        settings /run/netns/red
        kill $daemon; wait $daemon; begin
        ip netns add green; until_so is_served /run/netns/green
        settings /run/netns/red
        $U attach --netns red > /dev/null
        kill $daemon; wait $daemon; begin
        settings /run/netns/red
        $U detach
        settings /run/netns/red",
    );
    let expected = "unruffled 0\nreno 2\nreno 2\nunruffled 0\nunruffled is detached\nreno 2\n";
    assert_eq!(text(&output), expected);
    assert!(!is_registered());
}

/// Each is refused in one line that names the flag, and nothing is attached.
#[test]
fn a_wrong_namespace_is_refused() {
    let Some(_turn) = turn() else { return };
    let named = "expected a name of `ip netns list`, or the path of a network namespace";
    let cases = [
        ("attach --netns red", "--netns red: /run/netns/red: does not exist", named),
        ("detach --netns /no/such", "--netns /no/such: /no/such: does not exist", named),
        ("status --netns /etc/passwd", "/etc/passwd: not a network namespace", named),
        ("attach --netns /run/fifo", "/run/fifo: not a network namespace", named),
        ("attach --netns /proc/self/ns/mnt", "/proc/self/ns/mnt: not a network namespace", named),
        ("attach --netns /run", "/run: not a network namespace", named),
        ("attach --pid 4194303", "--pid 4194303: no such process", "the number of a process"),
        ("attach --pid 0", "--pid", "1.."),
        ("detach --pid one", "--pid", "invalid"),
        ("status --netns ''", "--netns", "expected a name or a path"),
        ("attach --netns red --pid 1", "--netns", "expected only one of them"),
        ("attach --all --netns red", "--all", "expected only one of them"),
        ("attach --all --cgroup /x", "--all", "expected only one of them"),
        (
            "attach --existing",
            "--existing",
            "expected --all, --default, --netns, --pid or --cgroup",
        ),
    ];
    for (arguments, what, expected) in cases {
        let output = output(&format!(
            "mkfifo /run/fifo; timeout 20 $U {arguments}; echo $?; ls /sys/fs/bpf/unruffled /run/unruffled 2>/dev/null"
        ));
        let refusal = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "2\n", "{arguments}: {refusal}");
        assert_eq!(refusal.lines().count(), 1, "{arguments}: {refusal}");
        assert!(refusal.contains(what) && refusal.contains(expected), "{arguments}: {refusal}");
    }
    assert!(!is_registered());
}
