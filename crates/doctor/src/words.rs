//! A report as text for people.

use unruffled_units::count;

use crate::{Doubt, Group, Overall, Place, Remedy, Report, Role, Sureness, Surroundings};

/// Maximum number of groups that the text lists.
const MAX_GROUPS: usize = 12;

impl Report {
    /// Returns the report as paragraphs of one line each. Lines that begin with two blanks are lists.
    pub fn text(&self, around: &Surroundings) -> String {
        let mut lines = vec![self.headline()];
        let shown = self.groups.iter().filter(|group| !group.is_quiet());
        lines.extend(shown.clone().take(MAX_GROUPS).map(|group| group.line(around)));
        let hidden = shown.count().saturating_sub(MAX_GROUPS);
        if hidden > 0 {
            lines
                .push(format!("  and {} of destinations more: see --json", count(hidden, "group")));
        }
        if self.verdict == Overall::Suffers || !self.plan.is_empty() {
            lines.push("What to do:".to_owned());
            lines.extend(self.plan.iter().flat_map(|remedy| remedy.lines(around)));
        } else if self.verdict == Overall::Healthy {
            lines.push("What to do: nothing.".to_owned());
        }
        lines.push(self.sureness_line());
        lines.extend(self.doubts.iter().map(|doubt| format!("  {}", doubt.sentence())));
        lines.join("\n") + "\n"
    }

    fn headline(&self) -> String {
        let seconds = self.time.as_secs_f64();
        let judged = self.connections;
        let left_out = match self.tally.local {
            0 => String::new(),
            local => format!(" ({} within this machine left out)", count(local, "connection")),
        };
        match self.verdict {
            Overall::Unknown => format!(
                "Not known: no connection carried enough data for a verdict in {seconds:.0} s{left_out}. \
                 Run a transfer while `doctor` watches, or watch longer with --for."
            ),
            Overall::Healthy => format!(
                "Healthy: reordering slows none of {} that carried data in {seconds:.0} s{left_out}.",
                count(judged, "connection")
            ),
            Overall::Suffers => format!(
                "Reordering slows {} of {} that carried data in {seconds:.0} s{left_out}.",
                self.suffering,
                count(judged, "connection")
            ),
        }
    }

    fn sureness_line(&self) -> String {
        // A receiver whose sender is on this machine counts the same packets.
        let has_sender = self.groups.iter().any(|group| group.role == Role::Sender);
        let role = if has_sender { Role::Sender } else { Role::Receiver };
        let counted = || self.groups.iter().filter(|group| group.role == role);
        let spurious: u64 = counted().map(|group| group.spurious).sum();
        let reordered: u64 = counted().map(|group| group.reordered).sum();
        let why = match self.verdict {
            Overall::Unknown => "there was too little to see".to_owned(),
            _ => format!(
                "{} and {} were counted",
                count(spurious, "spurious retransmission"),
                count(reordered, "reordered packet")
            ),
        };
        let sureness = match self.sureness {
            Sureness::Low => "low",
            Sureness::Medium => "medium",
            Sureness::High => "high",
        };
        format!("Sureness: {sureness}; {why}.")
    }
}

impl Group {
    fn is_quiet(&self) -> bool {
        self.too_short == self.connections
    }

    fn line(&self, around: &Surroundings) -> String {
        let role = match self.role {
            Role::Sender => "sends to",
            Role::Receiver => "receives from",
        };
        let mut text = format!(
            "  {role} {}/{}{}: {}, {:.2} Mb/s",
            self.network,
            self.prefix,
            place(self.namespace, around),
            count(self.connections, "connection"),
            self.rate_bps / 1e6
        );
        let kinds = [
            (self.slowed_by_reordering, "slowed by reordering"),
            (self.slowed_by_late_losses, "slowed by losses beside reordering"),
            (self.slowed_by_losses, "slowed by losses, which is not reordering"),
            (self.limited_otherwise, "limited by the application or its buffers"),
        ];
        for (number, what) in kinds.into_iter().filter(|(number, _)| *number > 0) {
            text += &format!("; {number} {what}");
        }
        match self.role {
            Role::Sender if self.retransmitted > 0 => {
                text += &format!(
                    "; {} of {} segments retransmitted, {} of them spuriously; {} overtaken",
                    self.retransmitted,
                    self.segments,
                    self.spurious,
                    count(self.reordered, "packet")
                );
            }
            Role::Sender => {}
            Role::Receiver => {
                text += &format!(
                    "; {} of {} segments out of order, {} arrived twice",
                    self.reordered, self.segments, self.spurious
                );
            }
        }
        if !self.programs.is_empty() {
            text += &format!("; {}", self.programs.join(", "));
        }
        text
    }
}

/// Returns the network namespace in words, if it is not that of this process.
fn place(namespace: u64, around: &Surroundings) -> String {
    if namespace == around.own {
        return String::new();
    }
    match around.namespaces.get(&namespace) {
        Some(Place::Name(name)) => format!(" in network namespace {name}"),
        Some(Place::Process(process)) => format!(" in the network namespace of process {process}"),
        None => format!(" in network namespace net:[{namespace}]"),
    }
}

impl Remedy {
    /// Returns the command and its purpose.
    fn lines(&self, around: &Surroundings) -> Vec<String> {
        match self {
            Self::Attach { namespace, .. } | Self::Resequence { namespace } => {
                let command = self.command(around).unwrap_or_default();
                let place = place(*namespace, around);
                let why = match self {
                    Self::Attach { cgroup: Some(_), .. } => {
                        "new connections of this cgroup then distinguish late packets from lost ones; a \
                         server that listens already must be restarted; `detach` undoes it"
                            .to_owned()
                    }
                    Self::Attach { .. } => format!(
                        "new connections{place} then distinguish late packets from lost ones; `detach` \
                         undoes it"
                    ),
                    _ => "puts packets that arrive in order; it runs until Ctrl-C. Leave it off where the \
                          sender has `attach`"
                        .to_owned(),
                };
                vec![format!("  {command}"), format!("    {why}.")]
            }
            Self::RaiseReplayWindow { tunnel: Some(tunnel), namespace } => vec![format!(
                "  The packets{} leave through {}, a tunnel ({}). If its far end drops late packets, enlarge its \
                 replay window first (docs/guide/tunnels.md): `attach` does not bring back what a tunnel drops.",
                place(*namespace, around),
                tunnel.device,
                tunnel.kind
            )],
            Self::RaiseReplayWindow { tunnel: None, namespace } => vec![format!(
                "  If the packets{} pass a tunnel on their way, enlarge its replay window (docs/guide/tunnels.md).",
                place(*namespace, around)
            )],
            Self::InspectStatus { namespace } => vec![format!(
                "  The slow connections{} have unruffled already: `sudo unruffled status` shows how they stand.",
                place(*namespace, around)
            )],
        }
    }

    /// Returns the command of the remedy, if it has one.
    pub fn command(&self, around: &Surroundings) -> Option<String> {
        match self {
            Self::Attach { namespace, cgroup, bbr } => {
                let mut command = "sudo unruffled attach".to_owned();
                if let Some(path) = cgroup {
                    command += &format!(" --cgroup '{}'", path.replace('\'', r"'\''"));
                }
                command += &match elsewhere(*namespace, around) {
                    Some(Place::Name(name)) => format!(" --netns {name}"),
                    Some(Place::Process(process)) => format!(" --pid {process}"),
                    None if cgroup.is_some() => String::new(),
                    None => " --default".to_owned(),
                };
                if *bbr {
                    command += " --growth bbr";
                }
                Some(command)
            }
            Self::Resequence { namespace } => {
                let enter = match elsewhere(*namespace, around) {
                    Some(Place::Name(name)) => format!("nsenter --net=/run/netns/{name} "),
                    Some(Place::Process(process)) => format!("nsenter --target {process} --net "),
                    None => String::new(),
                };
                Some(format!("sudo {enter}unruffled resequence"))
            }
            Self::RaiseReplayWindow { .. } | Self::InspectStatus { .. } => None,
        }
    }
}

/// Returns the name of a network namespace other than that of this process.
pub(crate) fn elsewhere(namespace: u64, around: &Surroundings) -> Option<&Place> {
    around.namespaces.get(&namespace).filter(|_| namespace != around.own)
}

impl Doubt {
    /// Returns the doubt in a sentence.
    fn sentence(self) -> String {
        match self {
            Self::NothingSeen => "No connection carried 30 segments of data.".to_owned(),
            Self::Quiet { connections } => {
                format!("{} carried fewer than 30 segments: not judged.", count(connections, "connection"))
            }
            Self::Short { connections } => {
                format!("{} lasted too short a time to be judged.", count(connections, "connection"))
            }
            Self::Unseen { retransmitted, spurious } => format!(
                "Connections too short to be seen retransmitted {}, {spurious} spuriously: not judged.",
                count(retransmitted, "segment")
            ),
            Self::NoDuplicatesReported { connections } => format!(
                "The other ends of {} reported no duplicates (DSACK), so that late packets and lost ones look the \
                 same.",
                count(connections, "connection")
            ),
            Self::OwnNamespaceOnly => {
                "Without root, connections of other network namespaces are not visible: containers are left \
                 out."
                    .to_owned()
            }
            Self::ClosedNamespaces { namespaces } => {
                format!("{} could not be entered.", count(namespaces, "network namespace"))
            }
            Self::Stalled => {
                "The machine was too busy to look in time: repeat the watch.".to_owned()
            }
        }
    }
}
