//! Helpers of all tests.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use unruffled_net::{Error, Pair, SeededLink, Side};
use unruffled_path::{Impairment, LinkConfig};
use unruffled_units::Rate;

/// Creates two ends, or returns `None` on a machine that lacks something; tests skip themselves there.
pub(crate) fn pair() -> Option<Pair> {
    pair_of(1500)
}

/// [`pair`] for packets of up to `mtu` octets.
pub(crate) fn pair_of(mtu: u16) -> Option<Pair> {
    match Pair::new(mtu) {
        Ok(pair) => Some(pair),
        Err(lack) if lack.is_lack() => {
            eprintln!("skipped: {lack}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Returns a link with a delay of `delay` ms that takes `service` ms for 1000 octets, or no time.
pub(crate) fn hop(service: Option<f64>, delay: u64, impairments: Vec<Impairment>) -> SeededLink {
    let link = LinkConfig {
        rate: service.and_then(|ms| Rate::from_bps(8e6 / ms)),
        delay: unruffled_units::Duration::from_millis(delay),
        impairments,
        ..LinkConfig::default()
    };
    SeededLink { link, resequence: None, seed: 7 }
}

/// Runs `work` at one end. Sockets that it creates belong to that end.
pub(crate) fn at<T: Send>(side: &Side, work: impl FnOnce() -> T + Send) -> T {
    side.namespace.run(|| Ok::<T, Error>(work())).expect("enters its own namespace")
}

/// Arrival of a numbered packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) number: u32,
    /// Time from the sending application to the receiving one.
    pub(crate) took: Duration,
    pub(crate) at: Instant,
}

/// Sends `count` packets of 1000 octets from left to right, `gap` apart, and returns their arrivals. Stops
/// when none has arrived for half a second.
pub(crate) fn send(pair: &Pair, count: u32, gap: Duration) -> Vec<Arrival> {
    let receiver = at(&pair.right, || UdpSocket::bind((pair.right.v4, 9)).expect("a port"));
    let sender = at(&pair.left, || UdpSocket::bind((pair.left.v4, 0)).expect("a port"));
    sender.connect((pair.right.v4, 9)).expect("has a route");
    receiver.set_read_timeout(Some(Duration::from_millis(500))).expect("a timeout");
    let start = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut payload = [0; 1000 - 28];
            for number in 0..count {
                let due = gap * number;
                std::thread::sleep(due.saturating_sub(start.elapsed()));
                let sent = start.elapsed().as_nanos() as u64;
                payload[..4].copy_from_slice(&number.to_be_bytes());
                payload[4..12].copy_from_slice(&sent.to_be_bytes());
                sender.send(&payload).expect("is sent");
            }
        });
        let mut buffer = [0; 2000];
        let mut arrivals = Vec::new();
        while receiver.recv(&mut buffer).is_ok() {
            let at = Instant::now();
            let number = u32::from_be_bytes(buffer[..4].try_into().expect("4 octets"));
            let sent = u64::from_be_bytes(buffer[4..12].try_into().expect("8 octets"));
            let took = at.duration_since(start) - Duration::from_nanos(sent);
            arrivals.push(Arrival { number, took, at });
        }
        arrivals
    })
}
