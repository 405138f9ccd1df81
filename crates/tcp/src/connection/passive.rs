//! Handshakes that the driver leads without a connection. It keeps a few octets of a SYN, or nothing
//! (SYN cookies), answers it with [`syn_ack`], and makes the connection when that is acknowledged
//! (RFC 4987, sections 3.3 to 3.6).

use unruffled_units::Instant;

use super::timestamps::Clock;
use super::{Connection, State};
use crate::receiver::ReceiveWindow;
use crate::segment::{Flags, Segment};
use crate::{Config, SeqNr, Variant};

/// The SYN-ACK that answers `syn`, as a connection in SYN-RECEIVED would send it.
pub fn syn_ack(config: &Config, variant: &Variant, syn: &Segment, now: Instant) -> Segment {
    let config = variant.settings(config.clone());
    let mut clock = Clock::new(&config);
    clock.agree(syn.timestamps, now);
    let window = ReceiveWindow::of(&config);
    Segment {
        seq: SeqNr(config.isn),
        ack: syn.seq.add(1),
        flags: Flags { syn: true, ack: true, ..Flags::default() },
        window: window.syn_field(),
        mss: Some(config.mss.min(u32::from(u16::MAX)) as u16),
        // An answer may carry a scale only where the SYN did (RFC 7323, section 2.2).
        window_scale: syn.window_scale.map(|_| window.scale()),
        sack_permitted: variant.takes_sack() && syn.sack_permitted,
        timestamps: clock.option(now),
        ..Segment::default()
    }
}

impl Connection {
    /// The passive end of a handshake that the driver has led so far: `syn` came, and [`syn_ack`]
    /// with the same `config` answered it, first at `answered` and `retries` times more. The
    /// acknowledgement of it is the first segment to be handled. Where the SYN-ACK left more than
    /// once, or nobody remembers when, `answered` is none and gives no round-trip time.
    pub fn accept(
        config: Config,
        variant: &Variant,
        syn: &Segment,
        answered: Option<Instant>,
        retries: u32,
        now: Instant,
    ) -> Self {
        let mut connection = Self::listen(config, variant);
        connection.read_syn(syn, now);
        connection.state = State::SynReceived;
        connection.handshake.led(answered, retries);
        connection
    }
}
