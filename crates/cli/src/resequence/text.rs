//! What `unruffled resequence` and `unruffled status` show.

use serde_json::{Value, json};
use unruffled_nfqueue::{Installed, PathReport, Report, Settings, Status};
use unruffled_units::count;

/// Maximum number of paths that the totals for people list.
const MAX_PATHS: usize = 10;

/// Returns the line that says what is put in order.
pub(super) fn beginning(settings: &Settings, installed: &Installed) -> String {
    let packets = match settings.hook {
        unruffled_nfqueue::Hook::Input => "packets to this host",
        unruffled_nfqueue::Hook::Forward => "packets that pass through this host",
    };
    let on = match settings.interfaces.as_slice() {
        [] => String::new(),
        names => format!(" on {}", names.join(", ")),
    };
    let mut text = format!("resequencing {packets}{on}, by {}; Ctrl-C ends it", installed.firewall);
    if let Some(reason) = &installed.without_ipv6 {
        text += &format!("; IPv4 only ({reason})");
    }
    text
}

/// Returns the rates between two reports, and the load, as one line.
pub(super) fn line(report: &Report, earlier: &Report) -> String {
    let seconds = report.at_s - earlier.at_s;
    // After the worker has been replaced, counts of its last moments may be missing.
    let rate = |now: u64, before: u64| {
        if seconds > 0.0 { now.saturating_sub(before) as f64 / seconds } else { 0.0 }
    };
    let late = report.late.saturating_sub(earlier.late);
    let data = report.data.saturating_sub(earlier.data);
    let hold = report.paths.first().map_or(0.0, |path| path.hold_s);
    format!(
        "{:>7.0} packets/s  {:>8.2} Mb/s  late {:>6}  hold {:>7}  held {}",
        rate(report.packets, earlier.packets),
        8.0 * rate(report.octets, earlier.octets) / 1e6,
        percent(late, data),
        millis(hold),
        report.held_packets,
    )
}

/// Returns the totals for people.
pub(super) fn totals(report: &Report, seconds: f64) -> String {
    let mut text = format!("{:.1} s: {}\n", seconds, counts(report));
    for path in report.paths.iter().take(MAX_PATHS) {
        text += &format!("{}\n", path_line(path));
    }
    text
}

/// Returns the counts since the start.
fn counts(report: &Report) -> String {
    let mut parts = vec![
        format!("{} ({:.1} MB)", count(report.packets, "packet"), report.octets as f64 / 1e6),
        format!("{} late ({})", report.late, percent(report.late, report.data)),
    ];
    let held = if report.held > 0 {
        let mean = report.held_time_s / report.held as f64;
        format!("{} held, {} on average", report.held, millis(mean))
    } else {
        "none held".to_owned()
    };
    parts.push(held);
    let rare = [
        (report.too_late, "after the wait for them"),
        (report.given_up, "waits in vain"),
        (report.over_budget, "released early for lack of memory"),
        (report.unread, "passed unread"),
        (report.flows_evicted, "flows evicted"),
        (report.takeovers, "takeovers by the guardian"),
    ];
    parts.extend(rare.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")));
    parts.join(", ")
}

fn path_line(path: &PathReport) -> String {
    let on = path.interface_name.as_ref().map(|name| format!(" on {name}")).unwrap_or_default();
    let mut text = format!(
        "  {}{on}: hold {}, {:.1} % late, by at most {}",
        path.network,
        millis(path.hold_s),
        100.0 * path.late,
        millis(path.longest_s),
    );
    if let Some(round_trip) = path.round_trip_s {
        text += &format!(", round trip {}", millis(round_trip));
    }
    text
}

/// Returns the totals as JSON.
pub(super) fn json(
    settings: &Settings,
    installed: &Installed,
    report: &Report,
    seconds: f64,
) -> Value {
    let mut value = json!({
        "hook": settings.hook,
        "interfaces": settings.interfaces,
        "ports": settings.ports,
        "firewall": installed.firewall,
        "queues": installed.queues,
        "duration_s": seconds,
    });
    let report = without_time(json!(report));
    if let (Value::Object(value), Value::Object(report)) = (&mut value, report) {
        value.extend(report);
    }
    value
}

/// Returns the state of a running resequencer as JSON.
pub(crate) fn state_json(status: &Status) -> Value {
    without_time(json!(status))
}

/// Removes the time of the counts, which has a meaning only within this machine's run.
fn without_time(mut value: Value) -> Value {
    if let Value::Object(fields) = &mut value {
        fields.remove("at_s");
    }
    value
}

/// Returns the state of a running resequencer for people.
pub(crate) fn state(status: &Status) -> String {
    let on = match status.interfaces.as_slice() {
        [] => String::new(),
        names => format!(" on {}", names.join(", ")),
    };
    let mut text = format!(
        "resequence: process {}, {}{on}, {:.0} s: {}, {} held now\n",
        status.pid,
        status.hook,
        status.age_s,
        counts(&status.report),
        status.report.held_packets,
    );
    for path in status.report.paths.iter().take(MAX_PATHS) {
        text += &format!("{}\n", path_line(path));
    }
    text
}

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        "–".to_owned()
    } else {
        format!("{:.1} %", 100.0 * part as f64 / whole as f64)
    }
}

fn millis(seconds: f64) -> String {
    let millis = 1e3 * seconds;
    if millis == 0.0 || millis >= 100.0 {
        format!("{millis:.0} ms")
    } else {
        format!("{millis:.1} ms")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        Report {
            at_s: 12.0,
            packets: 2500,
            octets: 3_000_000,
            data: 2000,
            late: 1000,
            held: 1000,
            held_time_s: 200.0,
            too_late: 2,
            held_packets: 17,
            paths: vec![PathReport {
                interface: 3,
                interface_name: Some("eth0".into()),
                network: "192.0.2.0/24".into(),
                hold_s: 0.2045,
                late: 0.5,
                longest_s: 0.2,
                round_trip_s: Some(0.1),
            }],
            ..Report::default()
        }
    }

    #[test]
    fn a_line_has_the_rates_since_the_one_before() {
        let earlier =
            Report { at_s: 10.0, packets: 500, data: 1000, late: 750, ..Report::default() };
        let expected = "   1000 packets/s     12.00 Mb/s  late 25.0 %  hold  204 ms  held 17";
        assert_eq!(line(&report(), &earlier), expected);
    }

    #[test]
    fn the_totals_name_what_is_rare_only_where_it_occurred() {
        let expected = "\
30.0 s: 2500 packets (3.0 MB), 1000 late (50.0 %), 1000 held, 200 ms on average, 2 after the wait for them
  192.0.2.0/24 on eth0: hold 204 ms, 50.0 % late, by at most 200 ms, round trip 100 ms
";
        assert_eq!(totals(&report(), 30.0), expected);
        let nothing = "0.0 s: 0 packets (0.0 MB), 0 late (–), none held\n";
        assert_eq!(totals(&Report::default(), 0.0), nothing);
    }

    #[test]
    fn the_json_object_has_the_settings_the_counts_and_the_paths() {
        let installed = Installed { firewall: "nft".into(), queues: vec![7], without_ipv6: None };
        let value = json(&Settings::default(), &installed, &report(), 30.0);
        assert_eq!(value["hook"], "input");
        assert_eq!(value["duration_s"], 30.0);
        assert_eq!(value["packets"], 2500);
        assert_eq!(value["paths"][0]["network"], "192.0.2.0/24");
        assert!(value.get("at_s").is_none());
    }
}
