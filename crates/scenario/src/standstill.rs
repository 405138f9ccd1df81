//! Loops in which simulated time stands still.

use unruffled_path::{Direction, LinkConfig};
use unruffled_sim::{App, LinkId, Size};
use unruffled_units::Instant;

use super::keys::Keys;
use super::{Scenario, Traffic};
use crate::error::Error;

impl Scenario {
    /// Whether a source sends for ever over links that its packets cross in no time, there and back:
    /// a run would never leave the instant at which that begins.
    pub fn stands_still(&self) -> bool {
        self.standing().is_some()
    }

    /// Refuses a scenario that stands still, at the first link of such a loop.
    pub(super) fn moves(&self, k: &Keys) -> Result<(), Error> {
        let Some((group, link)) = self.standing() else { return Ok(()) };
        let message = format!(
            "expected more than 0 s, or a lower rate: packets of {} go there and back in no time, so \
             simulated time would stand still",
            group.name
        );
        Err(k.wrong(&format!("link.{link}.delay"), message))
    }

    /// A group of traffic that makes time stand still, and the first link that it crosses.
    fn standing(&self) -> Option<(&Traffic, &str)> {
        let both = |link: &super::NetLink| link.directions().len();
        let network = self.network.links.iter();
        let links: Vec<(&str, &LinkConfig)> = network
            .flat_map(|link| std::iter::repeat_n((link.name.as_str(), &link.link), both(link)))
            .collect();
        let topology = self.network.topology();
        self.traffic.iter().find_map(|group| {
            let mss = self.sender.mss;
            if !never_rests(&group.app, mss) {
                return None;
            }
            // Of a transfer of many segments, full ones; else what there is.
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

    /// Whether segments of that payload, or acknowledgements, cross the link in no time.
    fn is_instant(&self, link: &LinkConfig, way: Direction, payload: u32) -> bool {
        let octets = match way {
            Direction::Forward => self.header + payload,
            Direction::Reverse => self.header,
        };
        link.takes_no_time(octets, way, Instant::ZERO + self.duration)
    }
}

/// So many segments at one instant are as good as endless: they take minutes to simulate.
const MANY: u64 = 100_000_000;

/// Whether it has always something to send once the last has been acknowledged.
fn never_rests(app: &App, mss: u32) -> bool {
    let many = |size: &Size| match *size {
        Size::Octets(octets) => octets / u64::from(mss) > MANY,
        Size::Segments(_, most) => most > MANY,
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
