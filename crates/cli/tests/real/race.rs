//! `unruffled race` from outside.

use std::process::{Command, Output};

use crate::lack::is_lack;
use tempfile::TempDir;

/// A path on which a transfer of a megabyte takes a quarter of a second.
const SHORT_RACE: [&str; 7] = [
    "race",
    "in-order",
    "--set=rate=50Mbit/s",
    "--set=bottleneck.delay=5ms",
    "--bytes=1MB",
    "--kernel=reno",
    "--variants=sack,rr-ta+cubic",
];

fn unruffled(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unruffled"));
    command.args(arguments).current_dir(folder).output().expect("runs")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs the command, and returns `None` without the required privileges.
fn run(folder: &TempDir, arguments: &[&str]) -> Option<Output> {
    let output = unruffled(folder, arguments);
    if is_lack(&error(&output)) {
        eprintln!("skipped: {}", error(&output));
        return None;
    }
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    Some(output)
}

#[test]
fn the_table_has_a_line_for_each_sender_and_confirms_the_octets() {
    let folder = folder();
    let Some(output) = run(&folder, &SHORT_RACE) else { return };
    let text = String::from_utf8_lossy(&output.stdout);
    for name in ["kernel-reno", "sack", "rr-ta+cubic"] {
        assert_eq!(text.lines().filter(|line| line.starts_with(name)).count(), 1, "{text}");
    }
    assert!(text.contains("3 transfers to the kernel, the same hash at both ends"), "{text}");
    assert!(text.contains("emulator late: p50 "), "{text}");
    assert_eq!(error(&output), "report: unruffled-race-in-order.html\n");
    let page = std::fs::read_to_string(folder.path().join("unruffled-race-in-order.html"));
    let page = page.expect("a report");
    assert!(page.contains("Reorderings seen") && page.contains("kernel-reno"));
    let command = "--kernel reno --variants sack,rr-ta+cubic --bytes 1000000B --seeds 1</code>";
    assert!(page.contains(command), "the command that repeats it");
    assert!(page.contains("seeds = 1\nvariants = ["), "the scenario of the run");
}

/// A transfer of two round trips takes much longer than its octets at the link's rate.
#[test]
fn a_short_transfer_is_compared_with_a_short_one() {
    let folder = folder();
    let short = ["--bytes=10kB", "--set=bottleneck.delay=50ms", "--kernel=none", "--no-report"];
    let short = [&["race", "in-order", "--variants=sack", "--json"][..], &short].concat();
    let Some(output) = run(&folder, &short) else { return };
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let share = value["rows"][0]["goodput_bps"].as_f64().expect("a number")
        / value["undisturbed_bps"].as_f64().expect("a number");
    assert!((0.5..1.1).contains(&share), "{share}");
}

#[test]
fn json_has_the_rows_of_a_comparison_with_the_kernels_counters() {
    let folder = folder();
    let arguments = [&SHORT_RACE[..], &["--json", "--no-report", "--seeds=2"]].concat();
    let Some(output) = run(&folder, &arguments) else { return };
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = value["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 6);
    assert_eq!(rows[0]["variant"], "kernel-reno");
    assert_eq!(rows[1]["seed"], 2);
    for row in rows {
        assert_eq!(row["delivered_segments"], 685);
        assert!(row["sent_segments"].as_u64().is_some_and(|n| n >= 685), "{row}");
        for field in ["retransmits", "dsacks", "reordering_events", "timeouts"] {
            assert!(row[field].is_u64(), "{field}: {row}");
        }
    }
    assert!(rows[0]["cwnd_mean"].is_null() && rows[2]["cwnd_mean"].is_f64());
    assert!(std::fs::read_dir(folder.path()).expect("a folder").next().is_none(), "no report");
}

#[test]
fn the_papers_table_is_repeated_beside_its_numbers() {
    let folder = folder();
    let short = ["race", "dcr-t20", "--kernel=none", "--variants=dcr-ack", "--bytes=100kB"];
    let Some(output) = run(&folder, &short) else { return };
    let text = String::from_utf8_lossy(&output.stdout);
    let paper = text.lines().find(|line| line.starts_with("the paper’s TCP-DCR"));
    let cells: Vec<_> = paper.expect("the paper's line").split_whitespace().skip(3).collect();
    assert_eq!(cells, ["1,127.3", "1,106.5", "1,087.5", "1,093.9", "3.5"], "{text}");
    let share = text.lines().find(|line| line.starts_with("out of order %")).expect("a line");
    let share: Vec<f64> = share.split_whitespace().filter_map(|cell| cell.parse().ok()).collect();
    assert_eq!(share.len(), 4, "{text}");
    assert!(share[0] == 0.0 && share[3] > 5.0, "{text}");
}

#[test]
fn a_capture_holds_the_packets_of_all_heats() {
    let folder = folder();
    let arguments = [&SHORT_RACE[..], &["--no-report", "--pcap=all.pcapng"]].concat();
    let Some(_) = run(&folder, &arguments) else { return };
    let size = std::fs::metadata(folder.path().join("all.pcapng")).expect("a capture").len();
    assert!(size > 3_000_000, "{size}");
}

#[test]
fn a_race_that_does_not_take_place_leaves_an_earlier_capture() {
    let folder = folder();
    let path = folder.path().join("all.pcapng");
    std::fs::write(&path, "earlier").expect("a file");
    let more = ["--no-report", "--pcap=all.pcapng", "--sysctl=net.ipv4.tcp_nothing=1"];
    let output = unruffled(&folder, &[&SHORT_RACE[..], &more].concat());
    assert_eq!(output.status.code(), Some(2), "{}", error(&output));
    assert_eq!(error(&output).lines().count(), 1, "{}", error(&output));
    assert_eq!(std::fs::read_to_string(&path).expect("is there"), "earlier");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn invalid_arguments_are_refused_in_one_line() {
    for (arguments, expected) in [
        (&["nowhere"][..], "nowhere: no such scenario: expected rr-3"),
        (&["--kernel", "tortoise"], "--kernel tortoise: not in this kernel: expected names among"),
        (&["--kernel", "reno, tortoise"], "--kernel tortoise: not in this kernel: expected names"),
        (&["--kernel", "reno, reno"], "--kernel: reno stands twice: expected each once"),
        (&["--variants", "bbr3"], "--variants: bbr3: no such variant"),
        (&["--variants", "rr-ta-rtx"], "--variants: rr-ta-rtx: for simulation only"),
        (&["--variants", "none", "--kernel", "none"], "race: no sender takes part"),
        (
            &["--kernel", "none", "--variants", "sack", "--sysctl", "net.ipv4.tcp_recovery=0"],
            "--sysctl: no kernel sends: expected some by --kernel",
        ),
        (&["--together"], "--together: expected --variants, too"),
        (&["--reverse", "--variants", "sack"], "the argument '--reverse' cannot be used with"),
        (&["--duration", "0 s"], "--duration: expected more than none"),
        (&["--bytes", "0 B"], "--bytes: expected more than none"),
        (&["--bytes", "1MB", "--duration", "3 s"], "the argument '--bytes <OCTETS>' cannot"),
        (&["--set", "tcp.mss=20 B"], "half-late: tcp.mss: expected at least 88 B in a race, found"),
        (&["--set", "duration=2s"], "--set: duration: not taken by a race: expected --duration 2s"),
        (&["--set", " seeds = 3"], "--set: seeds: not taken by a race: expected --seeds 3"),
        (
            &["--set", "warmup=2s"],
            "--set: warmup: not taken by a race, which counts from its begin",
        ),
        (&["--set", "variants=bbr3"], "--set: variants: bbr3: no such variant"),
        (
            &["--set", "variants=sack", "--variants", "rack"],
            "--set: variants: expected this or --variants, not both",
        ),
        (
            &["--seeds", "0"],
            "invalid value '0' for '--seeds <N>': expected a whole number from 1 to 1000",
        ),
        (&["--report", "nowhere/a.html"], "nowhere/a.html: cannot be written: "),
        (&["--report", "a", "--pcap", "./a"], "./a: would replace the report: expected another"),
    ] {
        let folder = folder();
        let output = unruffled(&folder, &[&["race"], arguments].concat());
        let text = error(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.starts_with(&format!("unruffled: {expected}")), "{arguments:?}: {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(std::fs::read_dir(folder.path()).expect("a folder").next().is_none());
    }
}

#[test]
fn an_invalid_file_is_refused_with_the_file_and_the_key() {
    let chain = "name = 'x'\nduration = '1 s'\nvariants = ['sack']\n[path]\nhops = ['a']\n\
                 [link.a]\nrate = '1 Mbit/s'\ndelay = '1 ms'\n[[traffic]]\nname = 'one'\n";
    let bond = "name = 'x'\nduration = '1 s'\nvariants = ['sack']\n[topology]\nkind = 'explicit'\n\
                [link.a]\nfrom = 'l'\nto = 'm'\ndelay = '1 ms'\n\
                [link.b]\nfrom = 'm'\nto = 'r'\nrate = '1 Mbit/s'\ndelay = '1 ms'\n\
                [link.c]\nfrom = 'l'\nto = 'r'\nrate = '1 Mbit/s'\ndelay = '1 ms'\n\
                [[traffic]]\nname = 'one'\nfrom = 'l'\nto = 'r'\n";
    let expected = "expected l: real packets travel between the ends of one";
    for (text, arguments, expected) in [
        (
            format!("{bond}[[traffic]]\nname = 'cross'\nfrom = 'm'\nto = 'r'\n"),
            &[][..],
            format!("my.toml:26: traffic.cross.from: {expected}").as_str(),
        ),
        (
            format!("{bond}ways = ['l r', 'l n r']\n"),
            &[],
            "my.toml:24: traffic.one.ways: no node n: expected names among: l, m, r",
        ),
        (
            format!("{bond}ways = ['l m']\n"),
            &[],
            "my.toml:24: traffic.one.ways: \"l m\": expected names from l to r, with spaces",
        ),
        (
            format!("{bond}ways = ['l r', 'l m r']\nweights = [1]\n"),
            &[],
            "my.toml:25: traffic.one.weights: expected a list of 2 numbers",
        ),
        (
            format!("{chain}to = 'r2'\n[[traffic]]\nname = 'two'\nfrom = 'r2'\nto = 'r1'\n"),
            &["--together", "--variants=sack"],
            "my.toml: traffic.two.from: a race has only the ends of the first traffic",
        ),
        (format!("{chain}count = 2\n"), &[], "my.toml: traffic: expected --together beside it"),
        (
            format!("{chain}count = 2\nstop = '500 ms'\n"),
            &["--together", "--variants=sack"],
            "my.toml: traffic.one.start: a race has only the beginning, and no stop",
        ),
    ] {
        let folder = folder();
        std::fs::write(folder.path().join("my.toml"), text).expect("a file");
        let arguments = [&["race", "my.toml", "--kernel=none"], arguments].concat();
        let output = unruffled(&folder, &arguments);
        let text = error(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.starts_with(&format!("unruffled: {expected}")), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}

#[test]
fn a_kernel_has_a_second_row_with_a_resequencer() {
    let folder = folder();
    let short = ["--variants=none", "--json", "--no-report", "--resequence=gateway"];
    let arguments = [&SHORT_RACE[..6], &short].concat();
    let output = unruffled(&folder, &arguments);
    let message = error(&output);
    if is_lack(&message) || message.contains("--resequence: ") {
        return eprintln!("skipped: {message}");
    }
    assert_eq!(output.status.code(), Some(0), "{message}");
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = value["rows"].as_array().expect("rows");
    let names: Vec<_> = rows.iter().map(|row| row["variant"].as_str().expect("a name")).collect();
    assert_eq!(names, ["kernel-reno", "kernel-reno+resequence"]);
    for row in rows {
        assert_eq!(row["delivered_segments"], 685, "{row}");
    }
}

#[test]
fn resequence_is_for_kernels_that_send_one_after_another() {
    let folder = folder();
    for (flags, expected) in [
        (vec!["--resequence", "--reverse"], "cannot be used with"),
        (vec!["--resequence", "--together"], "cannot be used with"),
        (vec!["--warm"], "--resequence"),
        (vec!["--resequence=sender"], "receiver, gateway"),
        (vec!["--resequence", "--kernel=none"], "--resequence: no kernel sends"),
    ] {
        let output = unruffled(&folder, &[vec!["race", "in-order"], flags].concat());
        let message = error(&output);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(expected) && message.lines().count() == 1, "{message}");
    }
}

/// A stack in real time whose driver is a shell script. It sends nothing, and fails unless its end of the path has
/// the interface and the address that it was promised.
fn stack(folder: &TempDir, time: &str, interface: &str) {
    let own = folder.path().join("stacks").join("own");
    std::fs::create_dir_all(&own).expect("a folder");
    let manifest = format!(
        "name = 'own'\nversion = 'own 1.0'\nabout = 'nothing'\ntime = '{time}'\n\
         controls = ['none']\ncommand = ['sh', 'driver.sh']\n"
    );
    std::fs::write(own.join("stack.toml"), manifest).expect("a manifest");
    let driver = format!(
        "read request\n\
         case $request in *'\"seconds\":1.0'*) ;; *) echo '{{\"error\": \"no seconds\"}}'; exit;; esac\n\
         [ -e /sys/class/net/{interface} ] || ip link show {interface} >/dev/null ||\n\
         {{ echo '{{\"error\": \"no {interface}\"}}'; exit; }}\n\
         [ $1 = send ] || ip route get $2 >/dev/null || {{ echo '{{\"error\": \"no route\"}}'; exit; }}\n\
         echo '{{\"protocol\": 1}}'; read end\n\
         case $1 in send) echo '{{\"sent\": 7, \"lost\": 3}}';;\n\
         *) echo '{{\"received\": 1000, \"discarded\": 2, \"slices\": [600, 400]}}';; esac\n"
    );
    std::fs::write(own.join("driver.sh"), driver).expect("a driver");
}

#[test]
fn a_foreign_stack_in_real_time_has_a_driver_at_each_end() {
    for (time, interface) in [("udp", "lo"), ("tun", "guest0")] {
        let folder = folder();
        stack(&folder, time, interface);
        let arguments = ["race", "in-order", "--stack=own", "--stacks=stacks", "--duration=1s"];
        let Some(output) = run(&folder, &[&arguments[..], &["--json"]].concat()) else { return };
        let text = String::from_utf8_lossy(&output.stdout);
        for expected in [
            "\"goodput_bps\": 8000.0",
            "\"sent_segments\": 7",
            "\"retransmits\": 3",
            "\"spurious_retransmits\": 3",
            "\"discarded\": 2",
        ] {
            assert!(text.contains(expected), "{time}: {expected}: {text}");
        }
    }
}
