//! Two-stage loss detection of 1-RTT packets: resends on suspicion, slows down on proof.

use unruffled_detector::{Counts, Detector, Instant as At, Path, Settings, Verdict};

use super::{Connection, PathData};
use crate::congestion::Controller;
use crate::packet::SpaceId;
use crate::{Duration, Instant};

/// The detector of a path.
pub(super) struct TwoStage {
    detector: Detector<Box<dyn Controller>>,
    /// Its time 0.
    origin: Instant,
    /// First packet that it knows. Earlier ones were sent on another path or as 0-RTT packets.
    first: Option<u64>,
}

impl TwoStage {
    pub(super) fn new(now: Instant) -> Self {
        Self { detector: Detector::new(Settings::default()), origin: now, first: None }
    }

    fn at(&self, time: Instant) -> At {
        At::ZERO + time.saturating_duration_since(self.origin).into()
    }

    fn instant(&self, at: At) -> Instant {
        self.origin + Duration::from(at.since(At::ZERO))
    }

    pub(super) fn on_ack(
        &mut self,
        ranges: impl Iterator<Item = std::ops::RangeInclusive<u64>>,
        now: Instant,
    ) {
        self.detector.on_ack(ranges, self.at(now));
    }

    /// Records a reduction that an ECN mark causes.
    pub(super) fn on_mark(&mut self, window: u64, now: Instant) {
        self.detector.on_reduction(window, self.at(now));
    }

    /// Returns whether it decides on the loss of this packet.
    pub(super) fn decides(&self, space: SpaceId, packet: u64, ack_eliciting: bool) -> bool {
        space == SpaceId::Data && ack_eliciting && self.first.is_some_and(|first| packet >= first)
    }

    pub(super) fn timeout(&self) -> Option<Instant> {
        Some(self.instant(self.detector.timeout()?))
    }

    /// Returns the number of octets that may be in flight.
    pub(super) fn window(&self, window: u64) -> u64 {
        window + self.detector.room(window)
    }

    fn path(&self, path: &PathData, pto: Duration) -> Path {
        let metrics = path.congestion.metrics();
        let window = path.congestion.window();
        Path {
            min_rtt: path.rtt.min().into(),
            smoothed_rtt: path.rtt.get().into(),
            timeout: pto.into(),
            window,
            packet: path.current_mtu().into(),
            slow_start: metrics.ssthresh.is_some_and(|ssthresh| window < ssthresh),
        }
    }
}

impl Connection {
    /// Returns what the detector of late packets has counted.
    pub fn detector_counts(&self) -> Counts {
        self.two_stage.detector.counts()
    }

    /// Handles the sending of a packet that elicits an acknowledgement.
    pub(super) fn on_sent(&mut self, space: SpaceId, packet: u64, size: u16, now: Instant) {
        // BBR takes its rate from the time between two acknowledgements. Late packets make that too large, and
        // only its response to losses bounds the window: its losses are detected as before.
        let loss_based = self.path.congestion.metrics().ssthresh.is_some();
        if space == SpaceId::Data && self.spaces[space].crypto.is_some() && loss_based {
            self.two_stage.first.get_or_insert(packet);
            let at = self.two_stage.at(now);
            self.two_stage.detector.on_sent(packet, size.into(), at);
        }
    }

    /// Returns whether acknowledgements may let the window grow.
    pub(super) fn may_grow(&self) -> bool {
        self.two_stage.detector.may_grow(&self.two_stage.path(&self.path, self.pto(SpaceId::Data)))
    }

    /// Handles an expiry of the probe timeout.
    pub(super) fn on_pto(&mut self, now: Instant) {
        let path = self.two_stage.path(&self.path, self.pto(SpaceId::Data));
        let at = self.two_stage.at(now);
        self.two_stage.detector.on_timeout(&path, at);
    }

    /// Does what the detector asks for.
    pub(super) fn poll_two_stage(&mut self, now: Instant) {
        let pto = self.pto(SpaceId::Data);
        let persistent = pto * self.config.persistent_congestion_threshold;
        let at = self.two_stage.at(now);
        let mut lost = false;
        loop {
            let path = self.two_stage.path(&self.path, pto);
            let congestion = &self.path.congestion;
            let verdict = self.two_stage.detector.poll(&path, at, || congestion.clone_box());
            match verdict {
                None => break,
                Some(Verdict::Resend(packet)) => {
                    let probe = self.path.mtud.in_flight_mtu_probe() == Some(packet.number);
                    let Some(info) = self.spaces[SpaceId::Data].take(packet.number) else {
                        continue;
                    };
                    self.remove_in_flight(&info);
                    if probe {
                        self.two_stage.detector.forget(packet.number);
                        self.path.mtud.on_probe_lost();
                        self.stats.path.lost_plpmtud_probes += 1;
                        continue;
                    }
                    self.stats.path.lost_packets += 1;
                    self.stats.path.lost_bytes += u64::from(packet.octets);
                    for frame in info.stream_frames {
                        self.streams.retransmit(frame);
                    }
                    self.spaces[SpaceId::Data].pending |= info.retransmits;
                }
                Some(Verdict::Reduce(reduction)) => {
                    let newest = self.two_stage.instant(reduction.newest_sent);
                    let persistent = Duration::from(reduction.span) > persistent;
                    self.path.congestion.on_congestion_event(
                        now,
                        newest,
                        persistent,
                        reduction.octets,
                    );
                }
                Some(Verdict::Lost(packet)) => {
                    lost = true;
                    self.path.mtud.on_non_probe_lost(packet.number, packet.octets as u16);
                }
                Some(Verdict::Restore(saved)) => {
                    if saved.window() > self.path.congestion.window() {
                        self.path.congestion = saved;
                    }
                }
            }
        }
        // quinn counts each time that it finds losses, also those that do not reduce the window again.
        self.stats.path.congestion_events += u64::from(lost);
        if self.path.mtud.black_hole_detected(now) {
            self.stats.path.black_holes_detected += 1;
            self.path.congestion.on_mtu_update(self.path.mtud.current_mtu());
            self.datagrams().drop_oversized();
        }
    }
}
