//! Lateness as a sender measures it, from acknowledgements (`docs/senders/unruffled.md`, section 2).

use unruffled_units::{Duration, Instant};

/// Time by which an acknowledgement may be later than the smoothed round trip without a sign of an outage: timers and
/// queues.
const ACK_SLACK: Duration = Duration::from_millis(10);

/// The latest-sent packet that is known to be delivered, the *front*, and its round-trip time, the
/// *reference*. What was sent before it and arrives after it is late.
///
/// ```
/// use unruffled_lateness::Front;
/// use unruffled_units::{Duration, Instant};
///
/// let ms = Instant::from_millis;
/// let mut front = Front::default();
/// front.on_ack(Some(ms(10)), ms(60));
/// // A packet sent before, at 5 ms, is acknowledged at 75 ms: after 70 ms, 20 later than the reference of 50.
/// assert_eq!(front.lateness(ms(5), ms(75)), Some(Duration::from_millis(20)));
/// assert_eq!(front.lateness(ms(15), ms(75)), None, "sent after the front: in order");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Front {
    sent: Instant,
    reference: Duration,
    /// Time of the last acknowledgement.
    acknowledged: Instant,
    /// Packets sent before this time give no samples. They may have arrived long before they were
    /// acknowledged, because an outage lost the acknowledgements.
    hidden_until: Instant,
}

impl Front {
    /// Returns when the front was sent.
    #[inline]
    pub fn sent(&self) -> Instant {
        self.sent
    }

    /// Returns the round-trip time of the front. It does not change when a late packet arrives.
    #[inline]
    pub fn reference(&self) -> Duration {
        self.reference
    }

    /// Handles an acknowledgement. `latest_sent` is when the latest-sent of the packets that it newly
    /// acknowledges was sent, unless it is ambiguous. Returns whether the front advances.
    #[inline]
    pub fn on_ack(&mut self, latest_sent: Option<Instant>, now: Instant) -> bool {
        self.acknowledged = now;
        let Some(sent) = latest_sent.filter(|&sent| sent >= self.sent) else { return false };
        self.reference = now.since(sent);
        self.sent = sent;
        true
    }

    /// Handles an expiry of the retransmission timer. If acknowledgements still arrive, one packet is later
    /// than the timer, and the path works.
    pub fn on_timeout(&mut self, srtt: Duration, now: Instant) {
        if now.since(self.acknowledged) > srtt + ACK_SLACK {
            self.hidden_until = now;
        }
    }

    /// Returns whether an outage may have hidden when a packet sent at `sent` arrived.
    #[inline]
    pub fn hides(&self, sent: Instant) -> bool {
        sent < self.hidden_until
    }

    /// Returns how late a packet sent at `sent` is if it arrives now; none if it is in order or hidden.
    #[inline]
    pub fn lateness(&self, sent: Instant, now: Instant) -> Option<Duration> {
        self.lateness_behind(self.sent, sent, now)
    }

    /// Returns [`Self::lateness`] as if the front had been sent at `front`.
    #[inline]
    pub fn lateness_behind(&self, front: Instant, sent: Instant, now: Instant) -> Option<Duration> {
        (sent < front && !self.hides(sent)).then(|| now.since(sent).saturating_sub(self.reference))
    }
}
