//! Loops in which simulated time does not advance.

use unruffled_path::{Direction, LinkConfig};
use unruffled_sim::{App, LinkId, Size};
use unruffled_units::Instant;

use super::keys::Keys;
use super::{Scenario, Traffic};
use crate::error::Error;

impl Scenario {
    /// Returns whether a source sends without end over links that its packets, and their
    /// acknowledgements, cross in no time. Simulated time would not advance in such a run.
    pub fn is_stuck(&self) -> bool {
        self.stuck_group().is_some()
    }

    /// Rejects a scenario in which simulated time would not advance, at the first link of the loop.
    pub(super) fn check_progress(&self, k: &Keys) -> Result<(), Error> {
        let Some((group, link)) = self.stuck_group() else { return Ok(()) };
        let message = format!(
            "expected more than 0 s, or a lower rate: packets of {} go there and back in no time, so \
             simulated time would stand still",
            group.name
        );
        Err(k.wrong(&format!("link.{link}.delay"), message))
    }

    /// The first group of traffic that keeps time from advancing, and the first link that it
    /// crosses.
    fn stuck_group(&self) -> Option<(&Traffic, &str)> {
        let both = |link: &super::NetLink| link.directions().len();
        let network = self.network.links.iter();
        let links: Vec<(&str, &LinkConfig)> = network
            .flat_map(|link| std::iter::repeat_n((link.name.as_str(), &link.link), both(link)))
            .collect();
        let topology = self.network.topology();
        self.traffic.iter().find_map(|group| {
            let mss = self.sender.mss;
            if !is_endless(&group.app, mss) {
                return None;
            }
            // Long transfers have full segments; short ones have what there is to send.
            let payload = match group.app {
                App::Web { size: Size::Octets(octets), .. }
                | App::OnOff { size: Size::Octets(octets), .. } => {
                    octets.min(u64::from(mss)) as u32
                }
                _ => mss,
            };
            let access = [&group.access.0, &group.access.1].into_iter().flatten();
            let access = access.filter_map(|name| self.network.access(name));
            let access: Vec<(&str, &LinkConfig)> =
                access.map(|hop| (hop.name.as_str(), &hop.link)).collect();
            let through = |ids: &[LinkId], way| {
                let ids = ids.iter().map(|id| links[id.0 as usize].1);
                ids.chain(access.iter().map(|hop| hop.1))
                    .all(|link| self.is_instant(link, way, payload))
            };
            let routes = group.routes(&topology);
            let taken = || routes.iter().filter(|(.., weight)| *weight > 0.0);
            let still = taken().all(|(there, ..)| through(there, Direction::Forward))
                && match group.spread_acks {
                    true => taken().all(|(_, back, _)| through(back, Direction::Reverse)),
                    false => through(&routes[0].1, Direction::Reverse),
                };
            let (there, ..) = routes.first().filter(|_| still)?;
            let first = there.first().map(|id| links[id.0 as usize]).or(access.first().copied());
            first.map(|(name, _)| (group, name))
        })
    }

    /// Returns whether segments of that payload, or acknowledgements, cross the link in no time.
    fn is_instant(&self, link: &LinkConfig, way: Direction, payload: u32) -> bool {
        let octets = match way {
            Direction::Forward => self.header + payload,
            Direction::Reverse => self.header,
        };
        link.takes_no_time(octets, way, Instant::ZERO + self.duration)
    }
}

/// The number of segments at one instant that counts as endless: simulating them takes minutes.
const ENDLESS_SEGMENTS: u64 = 100_000_000;

/// Returns whether the application always has data to send when its last data are acknowledged.
fn is_endless(app: &App, mss: u32) -> bool {
    let many = |size: &Size| match *size {
        Size::Octets(octets) => octets / u64::from(mss) > ENDLESS_SEGMENTS,
        Size::Segments(_, most) => most > ENDLESS_SEGMENTS,
    };
    match app {
        App::Bulk { bytes } => bytes.is_none_or(|bytes| many(&Size::Octets(bytes))),
        App::Web { size, think: pause } | App::OnOff { size, off: pause } => {
            pause.is_zero() || many(size)
        }
        App::Requests { size, .. } => many(size),
        App::Datagrams { .. } => false,
    }
}
