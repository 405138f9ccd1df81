//! The keys below `tcp`: the settings of the two ends.

use unruffled_tcp::{
    Config, Duplicates, EcnMode, FastRecovery, Growth, Halving, Pipe, ReceiverConfig, SackBlocks,
};
use unruffled_units::Duration;

use super::keys::Keys;
use crate::error::Error;

/// The settings of both ends.
pub(super) struct Ends {
    pub(super) sender: Config,
    pub(super) receiver: Config,
    /// The header on the wire, in octets per segment.
    pub(super) header: u32,
    /// The octets that each SACK block adds to the header.
    pub(super) sack_block: u32,
}

/// The smallest value of the largest retransmission timeout: with 0, simulated time would not
/// advance.
const MIN_MAX_RTO: Duration = Duration::from_millis(1);

/// The largest window, in segments of `mss` octets (RFC 7323, section 2.3: scaled by 14 bits).
pub(super) fn most_segments(mss: u64) -> u64 {
    ((65_535 << 14) / mss).min(700_000)
}

/// Reads the settings of the ends; what the file lacks has its default.
pub(super) fn read(k: &mut Keys) -> Result<Ends, Error> {
    let defaults = Config::simulated();
    let mss = k.bytes("tcp.mss")?.unwrap_or(u64::from(defaults.mss));
    if !(1..=65_495).contains(&mss) {
        return Err(k.wrong("tcp.mss", "expected 1 B to 65495 B"));
    }
    let header = k.bytes("tcp.header")?.unwrap_or(40);
    if header > 10_000 {
        return Err(k.wrong("tcp.header", "expected at most 10000 B"));
    }
    let sack_block = k.bytes("tcp.sack_block")?.unwrap_or(0);
    if sack_block > 1_000 {
        return Err(k.wrong("tcp.sack_block", "expected at most 1000 B"));
    }
    let window = k.count("tcp.window", 1, most_segments(mss))?.unwrap_or(2_000);
    let initial_window = k.count("tcp.initial_window", 1, 1_000)?;
    let initial_window = initial_window.map_or(defaults.window.initial, |n| n as u32);
    let max_cwnd = k.count("tcp.max_cwnd", 1, 1_000_000)?.map(|n| n as u32);
    let byte_counting = k.count("tcp.byte_counting", 1, 1_000_000)?;
    let byte_counting = byte_counting.map_or(defaults.window.byte_counting, |n| n as u32);
    let min_rto = k.duration("tcp.min_rto")?.unwrap_or(defaults.rto.min);
    let max_rto = k.duration("tcp.max_rto")?.unwrap_or(defaults.rto.max);
    let bound = min_rto.max(MIN_MAX_RTO);
    if max_rto < bound {
        return Err(k.wrong("tcp.max_rto", format!("expected at least {bound}")));
    }
    let initial_rto = match k.duration("tcp.initial_rto")? {
        Some(rto) if !(min_rto..=max_rto).contains(&rto) => {
            let message = format!("expected from min_rto, {min_rto}, to max_rto, {max_rto}");
            return Err(k.wrong("tcp.initial_rto", message));
        }
        rto => rto.unwrap_or(defaults.rto.initial),
    };
    let max_doublings = k.count("tcp.max_doublings", 0, 16)?;
    let max_doublings = max_doublings.map_or(defaults.rto.max_doublings, |n| n as u8);
    let min_after_backoff = k.switch("tcp.min_rto_after_backoff")?;
    let min_after_backoff = min_after_backoff.unwrap_or(defaults.ns2.min_after_backoff);
    let delayed_ack = match k.switch("tcp.delayed_ack") {
        Ok(Some(true)) => Some(Duration::from_millis(100)),
        Ok(_) => None,
        Err(_) => k.duration("tcp.delayed_ack").map_err(|_| {
            k.wrong("tcp.delayed_ack", "expected true, false or a time such as \"100 ms\"")
        })?,
    };
    let duplicates = [("rfc6675", Duplicates::Sacked), ("ns-2", Duplicates::Run)];
    let duplicates = k.choice("tcp.duplicates", &duplicates)?;
    let duplicates = duplicates.unwrap_or(defaults.ns2.duplicates);
    let pipe = [("rfc6675", Pipe::SetPipe), ("counted", Pipe::Counted)];
    let pipe = k.choice("tcp.pipe", &pipe)?.unwrap_or(defaults.ns2.pipe);
    let fast_recovery = [("rfc5681", FastRecovery::Rfc5681), ("ns-2", FastRecovery::Ns2)];
    let fast_recovery = k.choice("tcp.fast_recovery", &fast_recovery)?;
    let fast_recovery = fast_recovery.unwrap_or(defaults.ns2.fast_recovery);
    let halving =
        [("flight", Halving::Flight), ("window", Halving::Window), ("whole", Halving::Whole)];
    let halving = k.choice("tcp.halving", &halving)?;
    let growth = [("when-used", Growth::WhenUsed), ("always", Growth::Always)];
    let growth = k.choice("tcp.growth", &growth)?.unwrap_or(defaults.ns2.growth);
    let pacing = k.switch("tcp.pacing")?.unwrap_or(defaults.pacing);
    let timestamps = k.switch("tcp.timestamps")?.unwrap_or(false);
    let paws = k.switch("tcp.paws")?.unwrap_or(false).then_some(Duration::ZERO);
    let ecn = k.switch("tcp.ecn")?.unwrap_or(false);
    let rules = receiver(k, delayed_ack.is_some())?;

    let sender = defaults.with(|c| {
        c.mss = mss as u32;
        c.window.initial = initial_window;
        c.window.max = max_cwnd;
        c.window.byte_counting = byte_counting;
        c.ns2.growth = growth;
        c.rto.min = min_rto;
        c.rto.max = max_rto;
        c.rto.initial = initial_rto;
        c.rto.max_doublings = max_doublings;
        c.ns2.min_after_backoff = min_after_backoff;
        c.delayed_ack = delayed_ack;
        c.receiver = (rules != ReceiverConfig::default()).then(|| Box::new(rules));
        c.receive_buffer = window * mss;
        c.pacing = pacing;
        c.timestamps.offer = timestamps;
        c.timestamps.paws = paws;
        c.ecn = if ecn { EcnMode::Request } else { EcnMode::Off };
        c.ns2.duplicates = duplicates;
        c.ns2.pipe = pipe;
        c.ns2.fast_recovery = fast_recovery;
        c.ns2.halving = halving;
        c.isn = 1_000_000;
    });
    let receiver = Config { isn: 2_000_000, ..sender.clone() };
    Ok(Ends { sender, receiver, header: header as u32, sack_block: sack_block as u32 })
}

/// Reads what the receiver keeps, reports and discards. `delayed`: acknowledgements are delayed.
fn receiver(k: &mut Keys, delayed: bool) -> Result<ReceiverConfig, Error> {
    let defaults = ReceiverConfig::default();
    let mut count = |key: &str, least: u64, most: u64| {
        Ok::<_, Error>(k.count(key, least, most)?.map(|n| n as u32))
    };
    let duplicate_filter = count("tcp.receiver.duplicate_filter", 1, 1_000_000)?;
    let blocks = SackBlocks::CAPACITY as u64;
    let reported_ranges = count("tcp.receiver.sack_blocks", 0, blocks)?;
    let islands = count("tcp.receiver.islands", 1, 65_536)?;
    let ack_every = count("tcp.receiver.ack_every", 1, 1_000)?;
    let dsack = k.switch("tcp.receiver.dsack")?.unwrap_or(defaults.dsack);
    if ack_every.is_some() && !delayed {
        let message =
            "expected tcp.delayed_ack beside it: without a delay each segment is acknowledged";
        return Err(k.wrong("tcp.receiver.ack_every", message));
    }
    Ok(ReceiverConfig {
        duplicate_filter,
        reported_ranges,
        islands,
        dsack,
        ack_every: ack_every.unwrap_or(defaults.ack_every),
        ..defaults
    })
}
