//! Passive handshakes by the driver, without a connection. The driver keeps a few octets of a SYN,
//! or nothing (SYN cookies), answers it with [`syn_ack`], and makes the connection when the SYN-ACK
//! is acknowledged (RFC 4987, sections 3.3 to 3.6).

use unruffled_units::Instant;

use super::arrival::Arrival;
use super::timestamps::Clock;
use super::{Connection, State, ecn};
use crate::receiver::ReceiveWindow;
use crate::segment::{Flags, Segment};
use crate::{Config, SeqNr, Variant};

/// Returns the SYN-ACK for `syn`, as a connection in SYN-RECEIVED would send it.
pub fn syn_ack(config: &Config, variant: &Variant, syn: &Segment, now: Instant) -> Segment {
    let config = variant.settings(config.clone());
    let mut clock = Clock::new(&config);
    clock.negotiate(syn.timestamps, now);
    let window = ReceiveWindow::of(&config);
    Segment {
        seq: SeqNr(config.isn),
        ack: syn.seq.add(1),
        flags: Flags { syn: true, ack: true, ..Flags::default() },
        ecn: ecn::answer_to(syn, config.ecn),
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
    /// Returns the passive end of a handshake that the driver has conducted. `syn` arrived, and the
    /// driver answered it with [`syn_ack`] and the same `config`, first at `answered` and then
    /// `retries` times more. The first segment to handle is the acknowledgement of the SYN-ACK.
    /// `answered` is `None`, and gives no round-trip time, if the SYN-ACK was sent more than once
    /// or its time is unknown.
    pub fn accept(
        config: Config,
        variant: &Variant,
        syn: &Segment,
        answered: Option<Instant>,
        retries: u32,
        now: Instant,
    ) -> Self {
        let mut connection = Self::listen(config, variant);
        Arrival { connection: &mut connection, segment: syn, now, observer: &mut () }.read_syn();
        connection.state = State::SynReceived;
        connection.ecn.send_syn_ack(connection.config.ecn);
        connection.handshake.resume(answered, retries);
        connection
    }
}
