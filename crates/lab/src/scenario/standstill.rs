//! Loops in which simulated time stands still.

use unruffled_path::{Direction, LinkConfig};
use unruffled_sim::{App, LinkId};
use unruffled_units::Instant;

use super::keys::Keys;
use super::{Scenario, Traffic};
use crate::error::Error;

impl Scenario {
    /// Whether a source sends for ever over links that its packets cross in no time, there and back:
    /// a run would never leave the instant at which that begins.
    pub(crate) fn stands_still(&self) -> bool {
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
            if !never_rests(&group.app) {
                return None;
            }
            let access = [&group.access.0, &group.access.1].into_iter().flatten();
            let access = access.filter_map(|name| self.network.access(name));
            let access: Vec<(&str, &LinkConfig)> =
                access.map(|hop| (hop.name.as_str(), &hop.link)).collect();
            let through = |ids: &[LinkId], way| {
                let ids = ids.iter().map(|id| links[id.0 as usize].1);
                ids.chain(access.iter().map(|hop| hop.1)).all(|link| self.is_instant(link, way))
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

    /// Whether full segments, or acknowledgements, cross the link in no time.
    fn is_instant(&self, link: &LinkConfig, way: Direction) -> bool {
        let octets = match way {
            Direction::Forward => self.header + self.sender.mss,
            Direction::Reverse => self.header,
        };
        link.takes_no_time(octets, way, Instant::ZERO + self.duration)
    }
}

/// Whether it has always something to send once the last has been acknowledged.
fn never_rests(app: &App) -> bool {
    match app {
        App::Bulk { bytes } => bytes.is_none(),
        App::Web { think: pause, .. } | App::OnOff { off: pause, .. } => pause.is_zero(),
        App::Requests { .. } | App::Datagrams { .. } => false,
    }
}
