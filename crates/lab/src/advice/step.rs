//! A step of a plan: advice, and the host and the transfers that it is for.

use std::net::IpAddr;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::kind::{Action, Advice};
use super::role::Role;

/// The most transfers that a step lists by number.
const MAX_LISTED: usize = 6;

/// The host on which a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// The host's address; none for a host between the ends.
    pub host: Option<IpAddr>,
    /// The part of the host in the transfers.
    pub role: Role,
    /// Whether the capture was made there, if that is known.
    pub captured_here: Option<bool>,
}

/// A step of a plan.
///
/// JSON has `action`, `host`, `role`, `captured_here`, `transfers`, `text` and `command`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What to do.
    pub advice: Advice,
    /// Where; none if any machine with the capture will do.
    pub site: Option<Site>,
    /// The transfers that the step is for, numbered from 1, the largest first.
    pub transfers: Vec<usize>,
}

impl Step {
    /// The host, the transfers, and the purpose, as text.
    pub(crate) fn in_words(&self) -> String {
        let text = self.advice.text();
        let Some(Site { host, role, captured_here }) = self.site else { return text };
        let Some(host) = host else {
            return format!(
                "On the host between the ends of {}, where this was captured: {text}",
                self.numbers()
            );
        };
        let here = match captured_here {
            Some(true) => ", where this was captured",
            Some(false) if self.advice.action() == Action::Attach => {
                "; this was captured elsewhere, where `attach` does not help"
            }
            Some(false) => "; this was captured elsewhere",
            None => "; whether this was captured there is not seen",
        };
        let role = match role {
            Role::Sender => "sender",
            Role::Receiver => "receiver",
            Role::Gateway => "gateway",
        };
        format!("On {host}, the {role} of {}{here}: {text}", self.numbers())
    }

    /// The transfers by number, as text.
    fn numbers(&self) -> String {
        let numbers: Vec<_> = self.transfers.iter().map(ToString::to_string).collect();
        match numbers.as_slice() {
            [one] => format!("transfer {one}"),
            all if all.len() > MAX_LISTED => {
                let more = all.len() - MAX_LISTED;
                format!("transfers {} and {more} more", all[..MAX_LISTED].join(", "))
            }
            all => format!("transfers {}", all.join(", ")),
        }
    }
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut step = serializer.serialize_struct("Step", 7)?;
        step.serialize_field("action", &self.advice.action())?;
        step.serialize_field("host", &self.site.and_then(|site| site.host))?;
        step.serialize_field("role", &self.site.map(|site| site.role))?;
        step.serialize_field("captured_here", &self.site.and_then(|site| site.captured_here))?;
        step.serialize_field("transfers", &self.transfers)?;
        step.serialize_field("text", &self.advice.text())?;
        step.serialize_field("command", &self.advice.command())?;
        step.end()
    }
}
