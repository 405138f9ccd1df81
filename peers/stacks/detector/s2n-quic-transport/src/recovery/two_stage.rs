//! Two-stage loss detection of 1-RTT packets: resends on suspicion, slows down on proof.

use core::ops::RangeInclusive;
use core::time::Duration;

use s2n_quic_core::event::{self, IntoEvent};
use s2n_quic_core::packet::number::{PacketNumber, PacketNumberRange, PacketNumberSpace};
use s2n_quic_core::path::mtu::MtuResult;
use s2n_quic_core::recovery::{CongestionController, RttEstimator, congestion_controller};
use s2n_quic_core::time::{Timer, Timestamp, timer};
use s2n_quic_core::transmission;
use s2n_quic_core::varint::VarInt;
use unruffled_detector::{Detector, Instant as At, Path as Facts, Settings, Verdict};

use super::manager::{Context, Manager};
use crate::endpoint;
use crate::path::{self, Path, path_event};

/// The detector of a path.
#[derive(Debug)]
pub(super) struct TwoStage<C> {
    detector: Detector<C>,
    /// Its time 0.
    origin: Option<Timestamp>,
    path_id: Option<path::Id>,
    /// First packet that it knows.
    first: Option<u64>,
    pub(super) timer: Timer,
}

impl<C> Default for TwoStage<C> {
    fn default() -> Self {
        let detector = Detector::new(Settings::default());
        Self { detector, origin: None, path_id: None, first: None, timer: Timer::default() }
    }
}

impl<C: CongestionController> TwoStage<C> {
    fn at(&self, time: Timestamp) -> At {
        let since =
            self.origin.map_or(Duration::ZERO, |origin| time.saturating_duration_since(origin));
        At::ZERO + since.into()
    }

    pub(super) fn on_sent(
        &mut self,
        packet: PacketNumber,
        bytes: usize,
        path_id: path::Id,
        now: Timestamp,
    ) {
        if self.path_id != Some(path_id) {
            *self = Self { path_id: Some(path_id), origin: Some(now), ..Self::default() };
        }
        self.first.get_or_insert(packet.as_u64());
        self.detector.on_sent(packet.as_u64(), bytes as u32, self.at(now));
    }

    pub(super) fn on_ack(
        &mut self,
        ranges: impl Iterator<Item = RangeInclusive<VarInt>>,
        now: Timestamp,
    ) {
        let ranges = ranges.map(|range| range.start().as_u64()..=range.end().as_u64());
        self.detector.on_ack(ranges, self.at(now));
    }

    /// Records a reduction that an ECN mark causes.
    pub(super) fn on_mark(&mut self, window: u32, now: Timestamp) {
        self.detector.on_reduction(window.into(), self.at(now));
    }

    /// Handles an expiry of the probe timeout.
    pub(super) fn on_pto<Config>(&mut self, path: &Path<Config>, now: Timestamp)
    where
        Config: endpoint::Config,
        Config::CongestionControllerEndpoint:
            congestion_controller::Endpoint<CongestionController = C>,
    {
        self.detector.on_timeout(&facts(path), self.at(now));
    }

    /// Returns whether it decides on the loss of this packet.
    pub(super) fn decides(&self, packet: PacketNumber, ack_eliciting: bool) -> bool {
        packet.space().is_application_data()
            && ack_eliciting
            && self.first.is_some_and(|first| packet.as_u64() >= first)
    }
}

fn facts<Config: endpoint::Config>(path: &Path<Config>) -> Facts {
    let rtt: &RttEstimator = &path.rtt_estimator;
    Facts {
        min_rtt: rtt.min_rtt().into(),
        smoothed_rtt: rtt.smoothed_rtt().into(),
        timeout: rtt.pto_period(1, PacketNumberSpace::ApplicationData).into(),
        window: path.congestion_controller.congestion_window().into(),
        packet: path.max_datagram_size(transmission::Mode::Normal) as u32,
        // The congestion controllers have no method for it.
        slow_start: false,
    }
}

/// Replaces a congestion controller by an earlier state of it. What is in flight stays as it is.
fn restore<C: CongestionController, P: congestion_controller::Publisher>(
    controller: &mut C,
    mut saved: C,
    now: Timestamp,
    rtt: &RttEstimator,
    publisher: &mut P,
) {
    let (then, now_in_flight) = (saved.bytes_in_flight(), controller.bytes_in_flight());
    if then > now_in_flight {
        saved.on_packet_discarded((then - now_in_flight) as usize, publisher);
    } else if then < now_in_flight {
        saved.on_packet_sent(now, (now_in_flight - then) as usize, Some(false), rtt, publisher);
    }
    *controller = saved;
}

impl<Config: endpoint::Config> Manager<Config> {
    /// Does what the detector asks for.
    pub(super) fn poll_two_stage<Ctx: Context<Config>, Pub: event::ConnectionPublisher>(
        &mut self,
        now: Timestamp,
        context: &mut Ctx,
        publisher: &mut Pub,
    ) {
        let Some(path_id) = self.two_stage.path_id.filter(|_| self.space.is_application_data())
        else {
            return;
        };
        let at = self.two_stage.at(now);
        loop {
            let path: &mut Path<Config> = context.path_mut_by_id(path_id);
            let controller = &path.congestion_controller;
            let verdict = self.two_stage.detector.poll(&facts(path), at, || controller.clone());
            match verdict {
                None => break,
                Some(Verdict::Resend(packet)) => {
                    let number = VarInt::new(packet.number).expect("it was sent");
                    let number = PacketNumberSpace::ApplicationData.new_packet_number(number);
                    let Some(info) = self.sent_packets.remove(number) else { continue };
                    let probe = info.transmission_mode.is_mtu_probing();
                    publisher.on_packet_lost(event::builder::PacketLost {
                        packet_header: event::builder::PacketHeader::new(
                            number,
                            publisher.quic_version(),
                        ),
                        path: path_event!(path, path_id),
                        bytes_lost: info.sent_bytes,
                        is_mtu_probe: probe,
                    });
                    path.congestion_controller.on_packet_discarded(
                        info.sent_bytes.into(),
                        &mut congestion_controller::PathPublisher::new(publisher, path_id),
                    );
                    if probe {
                        self.two_stage.detector.forget(packet.number);
                        self.on_mtu_loss(number, info.sent_bytes, path_id, now, context, publisher);
                    }
                    context.on_packet_loss(&PacketNumberRange::new(number, number), publisher);
                }
                Some(Verdict::Reduce(_)) => {
                    let publisher =
                        &mut congestion_controller::PathPublisher::new(publisher, path_id);
                    path.congestion_controller.on_explicit_congestion(1, now, publisher);
                }
                Some(Verdict::Lost(packet)) => {
                    let number = VarInt::new(packet.number).expect("it was sent");
                    let number = PacketNumberSpace::ApplicationData.new_packet_number(number);
                    self.on_mtu_loss(
                        number,
                        packet.octets as u16,
                        path_id,
                        now,
                        context,
                        publisher,
                    );
                }
                Some(Verdict::Restore(saved)) => {
                    // A model of the path is not set back. BBR is the control that has a send quantum.
                    let has_reduced = saved.send_quantum().is_none();
                    let window = path.congestion_controller.congestion_window();
                    if has_reduced && saved.congestion_window() > window {
                        let publisher =
                            &mut congestion_controller::PathPublisher::new(publisher, path_id);
                        let controller = &mut path.congestion_controller;
                        restore(controller, saved, now, &path.rtt_estimator, publisher);
                    }
                }
            }
        }
        let path = context.path_mut_by_id(path_id);
        let window = path.congestion_controller.congestion_window();
        path.room_for_late = self.two_stage.detector.room(window.into()) as u32;
        match (self.two_stage.detector.timeout(), self.two_stage.origin) {
            (Some(timeout), Some(origin)) => {
                let due = origin + Duration::from(timeout.since(At::ZERO));
                self.two_stage.timer.set(due);
            }
            _ => self.two_stage.timer.cancel(),
        }
    }

    /// Reports a lost packet to the MTU controller.
    fn on_mtu_loss<Ctx: Context<Config>, Pub: event::ConnectionPublisher>(
        &mut self,
        number: PacketNumber,
        bytes: u16,
        path_id: path::Id,
        now: Timestamp,
        context: &mut Ctx,
        publisher: &mut Pub,
    ) {
        let path: &mut Path<Config> = context.path_mut_by_id(path_id);
        let controller = &mut path.congestion_controller;
        let result = path
            .mtu_controller
            .on_packet_loss(number, bytes, true, now, controller, path_id, publisher);
        if let MtuResult::MtuUpdated(size) = result {
            context.on_mtu_update(size);
        }
    }
}

impl<C> timer::Provider for TwoStage<C> {
    fn timers<Q: timer::Query>(&self, query: &mut Q) -> timer::Result {
        self.timer.timers(query)
    }
}
