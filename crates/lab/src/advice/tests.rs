use std::net::IpAddr;

use unruffled_capture::{
    Analysis, BehindCount, Cause, Cutoff, Direction, Limit, Place, Sureness, Verdict,
};

use super::*;
use crate::analysis::tests::captured;
use crate::fit::{Cost, Growth};
use crate::transfer::{price, transfers};

const CAUSES: [Cause; 11] = [
    Cause::Reordering,
    Cause::Paws,
    Cause::ReplayWindow,
    Cause::Ranges,
    Cause::Impatience,
    Cause::Loss,
    Cause::ReceiverWindow,
    Cause::Application,
    Cause::Path,
    Cause::SenderWindow,
    Cause::Unknown,
];
const PLACES: [Place; 4] = [Place::Sender, Place::Receiver, Place::Between, Place::Unknown];

/// Returns the plan for copies of the captured transfer, each with one of `changes`.
fn planned(name: &str, changes: &[&dyn Fn(&mut Direction)], cause: Cause) -> Vec<Step> {
    let analysis = captured(0);
    let connections = changes.iter().map(|change| {
        let mut connection = analysis.connections[0].clone();
        change(&mut connection.directions[0]);
        connection.directions[1].traffic.segments = 0;
        connection
    });
    let analysis = Analysis { connections: connections.collect(), ..analysis.clone() };
    let mut found = transfers(&analysis);
    for transfer in &mut found {
        let text = String::new();
        transfer.verdict = Verdict { cause, sureness: Sureness::Probable, text };
    }
    plan(name, &found, None)
}

fn at(place: Place) -> impl Fn(&mut Direction) {
    move |direction| direction.place = place
}

/// Returns a change that sets the lateness to this share of the round trip, with timestamps.
fn late_by(share: f64) -> impl Fn(&mut Direction) {
    move |direction| {
        let rtt = direction.rtt.min_ms.expect("was measured");
        direction.traffic.timestamps = true;
        for seen in
            [Some(&mut direction.reordering_here), direction.reordering_at_receiver.as_mut()]
        {
            if let Some(time) = seen.and_then(|seen| seen.late_time.as_mut()) {
                time.p90_ms = share * rtt;
            }
        }
    }
}

fn host(step: &Step) -> Option<IpAddr> {
    step.site.and_then(|site| site.host)
}

fn captured_here(step: &Step) -> Option<bool> {
    step.site.and_then(|site| site.captured_here)
}

fn actions(plan: &[Step]) -> Vec<Action> {
    plan.iter().map(|step| step.advice.action()).collect()
}

const SENDER: [u8; 4] = [192, 0, 2, 1];
const RECEIVER: [u8; 4] = [198, 51, 100, 1];

#[test]
fn each_step_is_a_command_for_the_host_on_which_it_helps() {
    for (cause, place) in CAUSES.into_iter().flat_map(|cause| PLACES.map(|place| (cause, place))) {
        let plan = planned("c.pcap", &[&at(place)], cause);
        for step in &plan {
            let what = format!("{cause:?} at {place:?}: {step:?}");
            assert_eq!(
                step.advice.action() == Action::Resequence,
                step.advice.command().contains("resequence"),
                "{what}"
            );
            let starts =
                ["sudo unruffled ", "unruffled ", "sudo sysctl -w ", "sudo tcpdump ", "ss "];
            assert!(starts.iter().any(|start| step.advice.command().starts_with(start)), "{what}");
            if step.advice.action() == Action::Resequence {
                assert_eq!(host(step), Some(RECEIVER.into()), "{what}");
                let here = [Some(false), Some(true), Some(false), None];
                let nth = PLACES.iter().position(|&other| other == place).expect("is one");
                assert_eq!(captured_here(step), here[nth], "{what}");
            }
            if matches!(step.advice.action(), Action::Attach | Action::Status) {
                assert_eq!(host(step), Some(SENDER.into()), "{what}");
                let here = [Some(true), Some(false), Some(false), None];
                let nth = PLACES.iter().position(|&other| other == place).expect("is one");
                assert_eq!(captured_here(step), here[nth], "{what}");
            }
        }
        let expected: &[Action] = match (cause, place) {
            (Cause::Reordering | Cause::Paws, Place::Sender | Place::Unknown) => {
                &[Action::Attach, Action::Status, Action::Resequence, Action::Compare]
            }
            // The remedy at the receiver comes first.
            (Cause::Reordering | Cause::Paws, Place::Receiver) => &[
                Action::Resequence,
                Action::Attach,
                Action::Status,
                Action::Report,
                Action::Compare,
            ],
            // The capture was made before the packets lost their order.
            (Cause::Reordering | Cause::Paws, Place::Between) => &[
                Action::Attach,
                Action::Status,
                Action::Resequence,
                Action::Report,
                Action::Compare,
            ],
            (Cause::Ranges, _) => &[Action::Resequence],
            (Cause::ReceiverWindow, _) => &[Action::ReceiveBuffer],
            (Cause::Unknown, Place::Receiver | Place::Between | Place::Unknown) => {
                &[Action::Capture]
            }
            _ => &[],
        };
        assert_eq!(actions(&plan), expected, "{cause:?} at {place:?}");
    }
}

#[test]
fn a_step_says_whether_the_capture_was_made_on_its_host() {
    let first = |place| {
        let plan = planned("c", &[&at(place)], Cause::Reordering);
        let attach = plan.iter().find(|step| step.advice.action() == Action::Attach);
        attach.expect("is advised").in_words()
    };
    let on = "On 192.0.2.1, the sender of transfer 1";
    for (place, expected) in [
        (Place::Sender, ", where this was captured: "),
        (Place::Receiver, "; this was captured elsewhere, where `attach` does not help: "),
        (Place::Between, "; this was captured elsewhere, where `attach` does not help: "),
        (Place::Unknown, "; whether this was captured there is not seen: "),
    ] {
        assert!(first(place).starts_with(&format!("{on}{expected}")), "{}", first(place));
    }
}

#[test]
fn disabling_timestamps_is_advised_only_if_it_slows_no_transfer_of_the_host() {
    let slightly_late = planned("c", &[&late_by(0.2)], Cause::Reordering);
    let step = slightly_late
        .iter()
        .find(|step| step.advice.action() == Action::Timestamps)
        .expect("is advised");
    assert_eq!(step.advice.command(), "sudo sysctl -w net.ipv4.tcp_timestamps=0");
    assert!(step.advice.text().starts_with("only if `attach` is refused"), "{step:?}");
    let advises = |plan: &[Step]| actions(plan).contains(&Action::Timestamps);
    let slightly_late = late_by(0.2);
    let very_late = late_by(2.0);
    assert!(!advises(&planned("c", &[&very_late], Cause::Reordering)));
    assert!(!advises(&planned("c", &[&slightly_late, &very_late], Cause::Reordering)));
    let other = |direction: &mut Direction| {
        very_late(direction);
        direction.from = "[2001:db8::7]:1".parse().expect("an address");
    };
    let plan = planned("c", &[&slightly_late, &other], Cause::Reordering);
    let hosts = |action| {
        let steps = plan.iter().filter(move |step| step.advice.action() == action);
        steps.filter_map(host).collect::<Vec<_>>()
    };
    assert_eq!(hosts(Action::Timestamps), [IpAddr::from(SENDER)]);
    assert_eq!(hosts(Action::Attach).len(), 2);
    // No step reverts another.
    assert!(plan.iter().all(|step| !step.advice.command().contains("tcp_timestamps=1")));
}

#[test]
fn the_receiver_can_disable_timestamps_if_the_sender_cannot_be_attached() {
    let change = |direction: &mut Direction| {
        late_by(0.2)(direction);
        direction.place = Place::Receiver;
        direction.reordering_here = direction.reordering_at_receiver.take().expect("SACK");
    };
    let plan = planned("c", &[&change], Cause::Reordering);
    let step =
        plan.iter().find(|step| step.advice.action() == Action::Timestamps).expect("is advised");
    assert_eq!((host(step), captured_here(step)), (Some(RECEIVER.into()), Some(true)));
    assert!(step.advice.text().starts_with("only if the sender cannot have `attach`"), "{step:?}");
}

#[test]
fn without_sack_the_first_steps_enable_it_at_both_ends() {
    let change = |direction: &mut Direction| {
        direction.reordering_at_receiver = None;
        direction.reordering_here.reordered = 0;
    };
    let plan = planned("c", &[&change], Cause::Reordering);
    assert_eq!(actions(&plan), [Action::Sack, Action::Sack, Action::Capture]);
    let hosts: Vec<_> = plan.iter().filter_map(host).collect();
    assert_eq!(hosts, [RECEIVER.into(), SENDER.into(), IpAddr::from(SENDER)]);
}

#[test]
fn a_closed_window_leads_to_the_receiving_program() {
    let change = |direction: &mut Direction| {
        let transfer = direction.traffic.transfer_s;
        direction.windows.closed_s = 0.9 * transfer;
        direction.limits = Some(Limit { receiver: 0.9, ..Limit::default() });
        direction.from = "[2001:db8::7]:1".parse().expect("an address");
    };
    let plan = planned("c", &[&change], Cause::ReceiverWindow);
    assert_eq!(actions(&plan), [Action::Inspect]);
    assert_eq!(plan[0].advice.command(), "ss -tmn dst '[2001:db8::7]'");
    assert_eq!(host(&plan[0]), Some(RECEIVER.into()));
}

#[test]
fn attach_is_not_advised_if_reordering_cost_little() {
    let analysis = captured(0);
    let mut all = transfers(&analysis);
    price("c", &mut all, crate::cancel::never());
    let Some(Ok(cost)) = all[0].cost.take() else { panic!("it is priced") };
    for (share, expected) in [
        (0.2, vec![Action::Attach, Action::Status, Action::Resequence, Action::Compare]),
        (0.04, vec![Action::Compare]),
    ] {
        let cost = Cost { share, lossless_share: share, ..cost.clone() };
        all[0].cost = Some(Ok(cost));
        assert_eq!(actions(&plan("c", &all, None)), expected, "{share}");
    }
}

#[test]
fn the_growth_of_bbr_is_advised_for_a_host_if_it_pays_for_one_of_its_transfers() {
    let analysis = captured(0);
    let mut all = transfers(&analysis);
    price("c", &mut all, crate::cancel::never());
    let Some(Ok(cost)) = all[0].cost.clone() else { panic!("it is priced") };
    for (growths, expected) in [
        ([Growth::Cubic, Growth::Cubic], "sudo unruffled attach --default"),
        ([Growth::Cubic, Growth::Bbr], "sudo unruffled attach --default --growth bbr"),
        ([Growth::Bbr, Growth::Cubic], "sudo unruffled attach --default --growth bbr"),
    ] {
        let two = growths.into_iter().flat_map(|growth| {
            let mut one = transfers(&analysis);
            one[0].cost = Some(Ok(Cost { growth, ..cost.clone() }));
            one
        });
        let plan = plan("c", &two.collect::<Vec<_>>(), None);
        let attach: Vec<_> = plan.iter().filter(|s| s.advice.action() == Action::Attach).collect();
        assert_eq!(attach.len(), 1, "{plan:?}");
        assert_eq!(attach[0].advice.command(), expected);
        assert_eq!(attach[0].transfers, [1, 2]);
    }
}

#[test]
fn transfers_of_one_host_share_its_steps() {
    let plan = planned("c", &[&|_| (), &|_| ()], Cause::Reordering);
    let expected = [Action::Attach, Action::Status, Action::Resequence, Action::Compare];
    assert_eq!(actions(&plan), expected);
    assert_eq!(plan[0].transfers, [1, 2]);
    assert!(plan[0].in_words().starts_with("On 192.0.2.1, the sender of transfers 1, 2, where"));
    assert_eq!(lines(&plan, 2).len(), 3, "the path that is compared is the first one's");
}

#[test]
fn a_capture_from_standard_input_is_repeated_into_a_file() {
    let plan = planned("-", &[&|_| ()], Cause::Reordering);
    let expected =
        [Action::Capture, Action::Attach, Action::Status, Action::Resequence, Action::Compare];
    assert_eq!(actions(&plan), expected);
    assert!(plan[0].advice.command().contains(" -w slow.pcap "));
    let last = "unruffled analyze slow.pcap --scenario path.toml && unruffled compare path.toml";
    assert_eq!(plan[4].advice.command(), last);
}

#[test]
fn both_readings_of_a_written_path_are_compared() {
    let analysis = captured(0);
    let found = transfers(&analysis);
    let other = Some("my path-lossy.toml".to_owned());
    let written = Written { transfer: 1, path: "my path.toml".to_owned(), other };
    let plan = plan("c", &found, Some(&written));
    let commands: Vec<_> =
        plan[plan.len() - 2..].iter().map(|step| step.advice.command()).collect();
    let expected = ["unruffled compare 'my path.toml'", "unruffled compare 'my path-lossy.toml'"];
    assert_eq!(commands, expected);
}

#[test]
fn a_gateway_has_a_step_if_packets_had_lost_their_order_there() {
    let change = |late_here: u64| {
        move |direction: &mut Direction| {
            direction.place = Place::Between;
            direction.reordering_here.reordered = late_here;
            direction.reordering_at_receiver.as_mut().expect("SACK").reordered = 100;
        }
    };
    for (late_here, here) in [(0, false), (79, false), (80, true), (200, true)] {
        let plan = planned("c", &[&change(late_here)], Cause::Reordering);
        let forwards = plan[0].advice.command() == "sudo unruffled resequence --forward";
        assert_eq!(forwards, here, "{plan:?}");
        let json = serde_json::to_string(&plan[0]).expect("is JSON");
        let gateway =
            r#"{"action":"resequence","host":null,"role":"gateway","captured_here":true,"#;
        assert_eq!(json.starts_with(gateway), here, "{json}");
        let words =
            "On the host between the ends of transfer 1, where this was captured: if it forwards";
        assert_eq!(plan[0].in_words().starts_with(words), here, "{plan:?}");
    }
}

#[test]
fn text_is_wrapped_and_commands_are_not() {
    let plan = planned("c", &[&|_| ()], Cause::Reordering);
    let text = render(&plan, 12, 60);
    assert!(text.starts_with("\nWhat to do, in this order:\n  1. On 192.0.2.1"), "{text}");
    assert!(text.contains("\n       sudo unruffled attach --default\n  2. There, see"), "{text}");
    let words = text.lines().filter(|line| !line.starts_with("       "));
    assert!(words.clone().all(|line| line.chars().count() <= 60), "{text}");
    assert_eq!(render(&[], 12, 60), "");
}

#[test]
fn json_has_a_step_with_its_text_and_its_command() {
    let plan = planned("c", &[&at(Place::Receiver)], Cause::Reordering);
    let steps = serde_json::to_string(&plan).expect("is JSON");
    let expected = r#"[{"action":"resequence","host":"198.51.100.1","role":"receiver","captured_here":true,"transfers":[1],"text":"put arriving packets in order"#;
    assert!(steps.starts_with(expected), "{steps}");
    let expected = r#"{"action":"attach","host":"192.0.2.1","role":"sender","captured_here":false,"transfers":[1],"text":"distinguish late packets from lost ones"#;
    assert!(steps.contains(expected), "{steps}");
    let expected = r#"{"action":"report","host":null,"role":null,"captured_here":null,"transfers":[1],"text":"If others run the sender: a page that shows them what slows it.","command":"unruffled analyze c --report slow.html"}"#;
    assert!(steps.contains(expected), "{steps}");
}

/// Each window has a setting, or a program with a larger one.
#[test]
fn a_replay_window_is_made_larger_or_its_packets_are_put_in_order_before_it() {
    let cases = [
        (32, "charon.replay_window = 4096", Some("esp")),
        (64, "--replay-window 4096 60", Some("openvpn")),
        (128, "libsrtp `window_size = 4096`", None),
        (256, "tinc 1.1 has `ReplayWindow = 512`", None),
        (1024, "boringtun drops from 1024 behind on", Some("wireguard")),
        (4096, "the largest window of ESP in Linux", Some("esp")),
        (8129, "wireguard-go from 8129", Some("wireguard")),
    ];
    for (window, setting, tunnel) in cases {
        let cut_off = |direction: &mut Direction| {
            let cutoff = Cutoff { window, expected: 50.0, arrived: 0, ..Cutoff::default() };
            direction.place = Place::Receiver;
            direction.reordering_here.cutoffs = vec![cutoff];
            // About 256 late packets, evenly over all distances before the window, and none beyond it.
            let step = usize::try_from(window.div_ceil(256)).expect("few");
            let packets = 256_u64.div_ceil(window);
            let behind = (1..window).step_by(step).map(|behind| BehindCount { behind, packets });
            direction.reordering_here.replay.behind = behind.collect();
            direction.losses.lost = 400;
        };
        let steps = planned("c", &[&cut_off], Cause::ReplayWindow);
        assert!(steps[0].advice.text().contains(setting), "{window}: {}", steps[0].advice.text());
        assert_eq!(host(&steps[0]), Some(RECEIVER.into()));
        let expected: Vec<_> = tunnel
            .iter()
            .map(|name| format!("sudo unruffled resequence --tunnel {name}"))
            .collect();
        let commands: Vec<_> = steps[1..].iter().map(|step| step.advice.command()).collect();
        assert_eq!(commands, expected, "{window}");
    }
}
