//! CUBIC (RFC 9438) as packet traces.

use crate::trace::Trace;

/// Returns cwnd after twelve rounds of a full window each, with `pause` milliseconds between them,
/// which is less than the timeout so that the window is not restarted.
fn after_twelve_rounds(pause: u64) -> f64 {
    let mut t = Trace::of("sack+cubic").window(20).writes(20).start();
    t.sends("1-20");
    t.at(100).ack("C0 S2-4").reports("fast-retransmit").sends("R1");
    t.at(200).ack("C20").reports("recovered").sends("");
    let mut now = 201;
    let mut una = 20;
    for _ in 0..12 {
        let window = t.connection().window().cwnd as u64;
        t.at(now).writes(window).sends_any();
        t.at(now + 100);
        for _ in 0..window {
            una += 1;
            t.receives(&format!("C{una}"));
        }
        t.polls().sends("");
        now += 100 + pause;
    }
    t.connection().window().cwnd
}

/// Section 4.2: "The elapsed time t […] MUST NOT include periods during which cwnd has not been updated
/// due to application-limited behavior".
#[test]
fn time_with_nothing_in_flight_does_not_count() {
    let at_once = after_twelve_rounds(1);
    let idle = after_twelve_rounds(850);
    assert!((at_once - idle).abs() < 1.0, "{at_once} {idle}");
}
