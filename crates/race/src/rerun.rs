//! The scenario and the command that repeat a race.

use unruffled_units::Duration;

use crate::{Competitor, Course, Length, ResequencerPlace};

impl Course<'_> {
    /// Returns the names of our compared senders, each once. Senders of traffic with its own sender are
    /// left out, since the scenario names them.
    pub(crate) fn variants(&self) -> Vec<&str> {
        let all = || {
            self.competitors.iter().filter_map(|competitor| match competitor {
                Competitor::Ours(variant) => Some(variant.name()),
                Competitor::Kernel(_) | Competitor::Resequenced(_) | Competitor::Foreign(_) => None,
            })
        };
        let fixed = |name: &str| -> usize {
            let groups = self.scenario.traffic.iter();
            groups.filter(|g| g.sender.as_deref() == Some(name)).map(|g| g.count as usize).sum()
        };
        let mut names: Vec<&str> = Vec::new();
        for name in all() {
            if !names.contains(&name) && all().filter(|n| *n == name).count() > fixed(name) {
                names.push(name);
            }
        }
        names
    }

    /// Returns the scenario of the race as TOML. For a transfer of a number of octets it has the duration
    /// of the original file.
    pub(crate) fn scenario_toml(&self) -> String {
        let mut scenario = self.scenario.clone();
        scenario.seeds = self.seeds;
        scenario.warmup = Duration::ZERO;
        if let Length::Time(time) = self.length {
            scenario.duration = Duration::from_nanos(time.as_nanos() as u64);
        }
        scenario.to_toml(&self.variants())
    }

    /// Returns the command that repeats the race with the scenario in `scenario.toml`.
    pub(crate) fn command(&self) -> String {
        let mut kernels: Vec<&str> = Vec::new();
        for competitor in self.competitors {
            match competitor {
                Competitor::Kernel(name) if !kernels.contains(&name.as_str()) => kernels.push(name),
                _ => {}
            }
        }
        let mut command = format!("unruffled race scenario.toml --kernel {}", list(&kernels));
        if self.reverse {
            command += " --reverse";
        } else {
            command += &format!(" --variants {}", list(&self.variants()));
        }
        let foreign = self.competitors.iter().filter_map(|competitor| match competitor {
            Competitor::Foreign(foreign) => Some(foreign.name()),
            _ => None,
        });
        let foreign: Vec<String> = foreign.collect();
        if !foreign.is_empty() {
            command += &format!(" --stack {}", foreign.join(","));
        }
        if let Some(resequence) = self.resequence {
            command += match resequence.place {
                ResequencerPlace::Receiver => " --resequence",
                ResequencerPlace::Gateway => " --resequence=gateway",
            };
            command += if resequence.warm { " --warm" } else { "" };
        }
        if self.together {
            command += " --together";
        }
        match self.length {
            Length::Time(time) => {
                let time = Duration::from_nanos(time.as_nanos() as u64).to_string();
                command += &format!(" --duration {}", time.replace(' ', ""));
            }
            Length::Bytes(octets) => command += &format!(" --bytes {octets}B"),
        }
        command += &format!(" --seeds {}", self.seeds);
        for (key, value) in self.sysctls {
            command += &format!(" --sysctl '{key}={value}'");
        }
        command
    }
}

/// Returns the names as the value of a flag.
fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(",") }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use unruffled_lab::Scenario;
    use unruffled_tcp::Variant;

    use super::*;

    fn ours(name: &str) -> Competitor {
        Competitor::Ours(Box::new(Variant::parse(name).expect("a sender")))
    }

    #[test]
    fn the_command_has_every_option_that_the_scenario_does_not_have() {
        let scenario = Scenario::load("half-late", &[]).expect("is built in");
        let competitors = [Competitor::Kernel("cubic".to_owned()), ours("sack"), ours("rr-ta")];
        let sysctls = [("net.ipv4.tcp_rmem".to_owned(), "4096 131072 6291456".to_owned())];
        let mut course = Course {
            scenario: &scenario,
            competitors: &competitors,
            length: Length::Time(Duration::from_millis(2500)),
            seeds: 2,
            together: true,
            reverse: false,
            sysctls: &sysctls,
            resequence: None,
        };
        let begin = "unruffled race scenario.toml --kernel cubic";
        let options = "--variants sack,rr-ta --together --duration 2.5s --seeds 2 \
                      --sysctl 'net.ipv4.tcp_rmem=4096 131072 6291456'";
        assert_eq!(course.command(), format!("{begin} {options}"));
        course = Course {
            competitors: &competitors[..1],
            length: Length::Bytes(33_000_000),
            together: false,
            reverse: true,
            sysctls: &[],
            ..course
        };
        assert_eq!(course.command(), format!("{begin} --reverse --bytes 33000000B --seeds 2"));
        course.reverse = false;
        assert!(course.command().starts_with(&format!("{begin} --variants none --bytes ")));
        let place = ResequencerPlace::Gateway;
        course.resequence = Some(crate::Resequence { place, warm: true });
        assert!(course.command().contains(" --resequence=gateway --warm --bytes 33000000B"));
    }
}
