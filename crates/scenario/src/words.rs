//! A scenario in words: its path, its ends, and the times of its impairments.

use std::fmt::Write;

use unruffled_path::{Impairment, Times};
use unruffled_units::{Duration, Instant, count};

use super::Episode;
use super::{Scenario, links};

impl Scenario {
    /// Returns the time spans of the impairments that are active for a part of the run.
    pub fn episodes(&self) -> Vec<Episode> {
        let end = Instant::ZERO + self.duration;
        let links = self.network.links.iter().map(|link| &link.link);
        let links = links.chain(self.network.access.iter().map(|hop| &hop.link));
        let impairments = links.flat_map(|link| &link.impairments);
        impairments
            .flat_map(|impairment| {
                let (what, spans) = match impairment {
                    Impairment::During { from, until, impairment } => {
                        (links::impairment_in_words(impairment), vec![(*from, *until)])
                    }
                    Impairment::Blackout { times: Times::At(times), length, applies: _ } => {
                        let span = |&begun: &Instant| (begun, begun + *length);
                        ("blackout".to_owned(), times.iter().map(span).collect())
                    }
                    _ => (String::new(), Vec::new()),
                };
                let within = spans.into_iter().filter(move |(from, _)| *from < end);
                within.map(move |(from, until)| Episode {
                    what: what.clone(),
                    from_s: from.as_secs_f64(),
                    until_s: until.min(end).as_secs_f64(),
                })
            })
            .collect()
    }

    /// Returns the name and the description of each link.
    pub fn path_in_words(&self) -> Vec<(String, String)> {
        let words = |name: &str, link, resequence: &Option<_>| {
            (format!("link {name}"), links::in_words(link, resequence.as_ref()))
        };
        let links = self.network.links.iter();
        let links = links.map(|link| words(&link.name, &link.link, &link.resequence));
        let access = self.network.access.iter();
        let access = access.map(|hop| words(&hop.name, &hop.link, &hop.resequence));
        links.chain(access).collect()
    }

    /// Returns names and descriptions of the links and of the ends.
    pub fn facts(&self) -> Vec<(String, String)> {
        let mut facts = self.path_in_words();
        let tcp = &self.sender;
        let mut segments =
            format!("{} B of payload, {} B on the wire", tcp.mss, tcp.mss + self.header);
        if self.sack_block > 0 {
            write!(segments, ", {} B more for each SACK block", self.sack_block).expect("a string");
        }
        facts.push(("segments".to_owned(), segments));
        let window = tcp.receive_buffer / u64::from(tcp.mss);
        facts.push(("receiver's window".to_owned(), count(window, "segment")));
        let initial = count(u64::from(tcp.window.initial), "segment");
        facts.push(("initial window".to_owned(), initial));
        facts.push(("minimum RTO".to_owned(), tcp.rto.min.to_string()));
        let acks = tcp.delayed_ack.map_or("at once".to_owned(), |d| format!("delayed up to {d}"));
        facts.push(("acknowledgements".to_owned(), acks));
        let time = match self.warmup {
            Duration::ZERO => self.duration.to_string(),
            warmup => format!("{}, the first {warmup} not measured", self.duration),
        };
        facts.push(("simulated time".to_owned(), format!("{time}; {}", count(self.seeds, "seed"))));
        facts
    }
}
