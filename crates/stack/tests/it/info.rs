//! `info()` agrees with the properties of the link and with the events of the connection.

use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use crate::net::{Impairments, Net, octets};
use unruffled_stack::{ConnectionId, Duration, Event, Info, State};

const CLIENT: usize = 0;
const SERVER: usize = 1;

fn info(net: &Net, stack: usize, id: ConnectionId) -> Info {
    net.stacks[stack].info(id).unwrap()
}

/// Sends `total` octets from the first stack to the second, and passes the sender's info to
/// `inspect`.
fn send(
    net: &mut Net,
    [client, server]: [ConnectionId; 2],
    total: u64,
    mut inspect: impl FnMut(&Info),
) {
    let mut written = 0;
    let mut read = 0;
    let mut out = vec![0; 64 << 10];
    net.run_until(Duration::from_secs(600), |net| {
        while written < total {
            let data = octets(written, out.len().min((total - written) as usize));
            match net.stacks[CLIENT].poll_write(client, Waker::noop(), &data) {
                Poll::Ready(n) => written += n.unwrap() as u64,
                Poll::Pending => break,
            }
        }
        while let Poll::Ready(n) = net.stacks[SERVER].poll_read(server, Waker::noop(), &mut out) {
            read += n.unwrap() as u64;
        }
        inspect(&info(net, CLIENT, client));
        read == total
    });
    assert_eq!(read, total);
    net.run_for(Duration::from_secs(1));
}

#[test]
fn a_clean_path_shows_its_round_trip_and_its_rate() {
    const TOTAL: u64 = 20 << 20;
    let mut net = Net::new(false, Impairments::default(), 1);
    let ends = net.pair();
    let fresh = info(&net, CLIENT, ends[CLIENT]);
    assert_eq!(fresh.state, State::Established);
    // 5 ms each way, and the transmission time of a SYN.
    let srtt = fresh.round_trips.srtt.unwrap();
    assert!(srtt >= Duration::from_millis(10) && srtt < Duration::from_millis(11), "{srtt}");
    assert_eq!(fresh.round_trips.rttvar, Some(srtt / 2), "RFC 6298, 2.2");
    assert_eq!(
        (fresh.congestion.cwnd, fresh.congestion.ssthresh, fresh.congestion.delivery_rate),
        (10.0, None, None)
    );
    assert_eq!((fresh.mss, fresh.peer_mss), (1448, Some(1460)));
    // The least scale with which 16 bits express 6 MiB.
    assert_eq!((fresh.windows.send_scale, fresh.windows.receive_scale), (7, 7));
    assert_eq!((fresh.octets.sent, fresh.octets.acknowledged, fresh.congestion.flight), (0, 0, 0));

    let mut rates = Vec::new();
    let mut greatest = 0;
    send(&mut net, ends, TOTAL, |info| {
        assert_eq!(info.congestion.flight, info.octets.sent - info.octets.acknowledged);
        greatest = greatest.max(info.congestion.flight);
        if info.octets.acknowledged > TOTAL / 2 {
            rates.extend(info.congestion.delivery_rate.map(|rate| rate.bps() / 1e6));
        }
    });
    // 1448 octets of payload in packets of 1500, at 100 Mbit/s.
    let full = 100.0 * 1448.0 / 1500.0;
    let (least, most) = rates.iter().fold((f64::MAX, 0_f64), |(l, m), &r| (l.min(r), m.max(r)));
    println!("delivery rate between {least} and {most} of {full} Mbit/s");
    assert!(least > 0.95 * full && most < 1.05 * full, "{least} to {most} Mbit/s");
    assert!(greatest > 1 << 18, "{greatest} octets in flight");

    let (sender, receiver) = (info(&net, CLIENT, ends[CLIENT]), info(&net, SERVER, ends[SERVER]));
    assert_eq!(
        (sender.octets.sent, sender.octets.acknowledged, sender.octets.unsent),
        (TOTAL, TOTAL, 0)
    );
    assert_eq!(
        (receiver.octets.received, receiver.octets.unread, receiver.octets.sent),
        (TOTAL, 0, 0)
    );
    assert_eq!(
        (sender.repairs.retransmissions, sender.repairs.retransmitted, sender.repairs.timeouts),
        (0, 0, 0)
    );
    assert_eq!((sender.repairs.reordered, sender.repairs.reordering_length), (0, 0));
    assert!(receiver.windows.receive > 64 << 10, "the window has grown with what was read");

    // The FIN does not count as an octet.
    net.stacks[CLIENT].finish(ends[CLIENT]);
    net.run_for(Duration::from_secs(1));
    let (sender, receiver) = (info(&net, CLIENT, ends[CLIENT]), info(&net, SERVER, ends[SERVER]));
    assert_eq!((sender.state, receiver.state), (State::FinWait2, State::CloseWait));
    assert_eq!((sender.octets.sent, sender.octets.acknowledged), (TOTAL, TOTAL));
    assert_eq!((receiver.octets.received, receiver.octets.unread), (TOTAL, 0));
}

#[test]
fn the_counts_of_losses_and_reorderings_equal_those_of_the_events() {
    const TOTAL: u64 = 4 << 20;
    let mut net = Net::new(false, Impairments { loss: 0.01, late: 0.1 }, 7);
    let ends = net.pair();
    let events = Arc::new(Mutex::new([0_u64; 6]));
    let counts = events.clone();
    net.stacks[CLIENT].watch(Some(Box::new(move |_, _, event| {
        let mut counts = counts.lock().unwrap();
        match event {
            Event::Sent { len, cause: Some(_), .. } => {
                counts[0] += 1;
                counts[1] += u64::from(*len);
            }
            Event::SpuriousRetransmission { .. } => counts[2] += 1,
            Event::Reordered { .. } => counts[3] += 1,
            Event::FastRetransmit => counts[4] += 1,
            Event::Timeout { .. } => counts[5] += 1,
            _ => {}
        }
    })));
    let mut recovered = false;
    send(&mut net, ends, TOTAL, |info| recovered |= info.congestion.recovering);
    let info = info(&net, CLIENT, ends[CLIENT]);
    let counted = [
        info.repairs.retransmissions,
        info.repairs.retransmitted,
        info.repairs.spurious,
        info.repairs.reordered,
        info.repairs.fast_retransmits,
        info.repairs.timeouts,
    ];
    println!("{info:?}");
    assert_eq!(counted, *events.lock().unwrap());
    assert!(counted[..5].iter().all(|&count| count > 0), "{counted:?}");
    assert!(
        info.repairs.spurious < info.repairs.retransmissions
            && info.repairs.retransmissions >= TOTAL / 1448 / 100 / 2
    );
    assert!(info.repairs.reordering_length > 0 && recovered && info.congestion.ssthresh.is_some());
    assert_eq!((info.octets.sent, info.octets.acknowledged), (TOTAL, TOTAL));
}

#[test]
fn a_removed_connection_has_no_info() {
    let mut net = Net::new(false, Impairments::default(), 1);
    let [client, server] = net.pair();
    net.stacks[CLIENT].abort(client);
    net.run_for(Duration::from_secs(1));
    assert_eq!(info(&net, SERVER, server).state, State::Closed);
    net.release(CLIENT, client);
    net.run_for(Duration::from_secs(1));
    assert!(net.stacks[CLIENT].info(client).is_err());
}
