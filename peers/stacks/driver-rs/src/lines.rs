//! The lines of JSON at the start and at the end, and the manifest.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a driver says of its stack.
#[derive(Clone, Debug)]
pub struct About {
    /// Name of the stack in `race --stack`.
    pub name: &'static str,
    /// Package and version.
    pub version: String,
    /// One line.
    pub about: &'static str,
    /// Congestion controls, the default first.
    pub controls: &'static [&'static str],
    /// Settings, by the stack's own names.
    pub settings: &'static [&'static str],
}

impl About {
    /// Text of `stack.toml`.
    pub fn manifest(&self) -> String {
        format!(
            "name = {:?}\nversion = {:?}\nabout = {:?}\ntime = \"virtual\"\ncontrols = {:?}\n\
             settings = {:?}\ncommand = [\"./{}\"]\n",
            self.name, self.version, self.about, self.controls, self.settings, self.name
        )
    }

    /// The answer to a request that is served with `control`.
    pub(crate) fn answer(&self, control: &str) -> String {
        serde_json::json!({
            "protocol": 1,
            "stack": self.name,
            "version": self.version,
            "control": control,
        })
        .to_string()
    }
}

/// `NAME VERSION` of a package of a `Cargo.lock`, the newest where it has more than one.
pub fn version(lock: &str, name: &str) -> String {
    let version = lock
        .split("[[package]]")
        .filter(|package| package.contains(&format!("\nname = \"{name}\"\n")))
        .filter_map(|package| package.split("version = \"").nth(1)?.split('"').next())
        .max_by_key(|version| {
            version.split('.').map(|part| part.parse::<u64>().unwrap_or(0)).collect::<Vec<_>>()
        })
        .unwrap_or("unknown");
    format!("{name} {version}")
}

/// The bench's first line.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    protocol: u32,
    /// Congestion control; the stack's default where it is absent.
    #[serde(default)]
    pub control: Option<String>,
    /// For whatever the stack draws at random.
    #[serde(default)]
    pub seed: u64,
    /// Octets to send; without end where it is absent.
    #[serde(default)]
    pub octets: Option<u64>,
    /// Largest IP packet that the path carries.
    pub mtu: usize,
    /// What a user can set.
    #[serde(default)]
    settings: BTreeMap<String, String>,
}

impl Request {
    /// Reads the line, and refuses what `about` does not offer.
    pub(crate) fn read(line: &str, about: &About) -> Result<Request, String> {
        let request: Request = serde_json::from_str(line)
            .map_err(|error| format!("the first line is not a request: {error}"))?;
        if request.protocol != 1 {
            return Err(format!("protocol {}: expected 1", request.protocol));
        }
        if !(1280..=65535).contains(&request.mtu) {
            return Err(format!("mtu {}: expected 1280 to 65535", request.mtu));
        }
        let expected = |list: &[&str]| match list {
            [] => "none".to_owned(),
            list => list.join(", "),
        };
        if let Some(control) = &request.control
            && !about.controls.contains(&control.as_str())
        {
            let list = expected(about.controls);
            return Err(format!("control {control:?}: expected {list}"));
        }
        let unknown = |name: &&String| !about.settings.contains(&name.as_str());
        if let Some(name) = request.settings.keys().find(unknown) {
            let list = expected(about.settings);
            return Err(format!("setting {name:?}: expected {list}"));
        }
        Ok(request)
    }

    /// The control by name, the first of `about` by default.
    pub fn control<'a>(&'a self, about: &About) -> &'a str {
        let default = about.controls.first().copied().unwrap_or("none");
        self.control.as_deref().unwrap_or(default)
    }

    /// A setting as a `T`; `expected` says what that is.
    pub fn setting<T: FromStr<Err: Display>>(
        &self,
        name: &str,
        expected: &str,
    ) -> Result<Option<T>, String> {
        let Some(text) = self.settings.get(name) else {
            return Ok(None);
        };
        match text.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(format!("setting {name:?}: {text:?}: expected {expected}")),
        }
    }

    /// A setting as a number between two bounds, and with them.
    pub fn bounded<T: FromStr<Err: Display> + PartialOrd + Display>(
        &self,
        name: &str,
        bounds: RangeInclusive<T>,
    ) -> Result<Option<T>, String> {
        let expected = format!("{} to {}", bounds.start(), bounds.end());
        match self.setting(name, &expected)? {
            Some(value) if !bounds.contains(&value) => {
                Err(format!("setting {name:?}: \"{value}\": expected {expected}"))
            }
            value => Ok(value),
        }
    }
}

/// The driver's last line.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct End {
    /// Octets that the receiving application has read.
    pub received: u64,
    /// Packets of the client.
    pub sent: u64,
    /// Packets that the client's stack declared lost, or segments that it retransmitted.
    pub lost: u64,
    /// Of these, the ones of which the stack learnt that they had arrived.
    pub spurious: Option<u64>,
    /// Packets that the server's stack dropped although it had not had them.
    pub discarded: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about() -> About {
        About {
            name: "own",
            version: "own 1.0".to_owned(),
            about: "a stack",
            controls: &["cubic", "reno"],
            settings: &["limit"],
        }
    }

    #[test]
    fn a_request_has_its_defaults() {
        let request = Request::read(r#"{"protocol": 1, "mtu": 1500}"#, &about()).expect("reads");
        assert_eq!(request.control(&about()), "cubic");
        assert_eq!(request.octets, None);
        assert_eq!(request.setting::<u32>("limit", "a number"), Ok(None));
    }

    #[test]
    fn what_the_stack_does_not_offer_is_refused_in_one_line() {
        let refused = |rest: &str| {
            Request::read(&format!(r#"{{"protocol": 1, "mtu": 1500, {rest}}}"#), &about())
                .expect_err("refused")
        };
        assert_eq!(refused(r#""control": "bbr""#), "control \"bbr\": expected cubic, reno");
        assert_eq!(refused(r#""settings": {"limits": "3"}"#), "setting \"limits\": expected limit");
        assert!(refused(r#""sead": 3"#).starts_with("the first line is not a request: "));
        let request =
            Request::read(r#"{"protocol": 1, "mtu": 1500, "settings": {"limit": "x"}}"#, &about())
                .expect("reads");
        assert_eq!(
            request.bounded("limit", 3..=9),
            Err("setting \"limit\": \"x\": expected 3 to 9".to_owned())
        );
        assert_eq!(
            request.setting::<u32>("limit", "a number"),
            Err("setting \"limit\": \"x\": expected a number".to_owned())
        );
    }

    #[test]
    fn a_number_beyond_its_bounds_is_refused() {
        let line = r#"{"protocol": 1, "mtu": 1500, "settings": {"limit": "10"}}"#;
        let request = Request::read(line, &about()).expect("reads");
        assert_eq!(request.bounded("limit", 3..=10), Ok(Some(10)));
        assert_eq!(
            request.bounded("limit", 3..=9),
            Err("setting \"limit\": \"10\": expected 3 to 9".to_owned())
        );
    }

    #[test]
    fn a_version_is_read_from_the_lock_file() {
        let lock = "[[package]]\nname = \"core\"\nversion = \"0.78.0\"\n\n\
                    [[package]]\nname = \"core\"\nversion = \"0.100.0\"\n";
        assert_eq!(version(lock, "core"), "core 0.100.0");
    }
}
