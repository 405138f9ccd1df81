//! Selection of a foreign stack: `quinn`, `quinn+bbr`, `quinn:packet_threshold=10`.

use unruffled_units::hint;

use super::{Manifest, Stacks, Time};
use crate::Error;
use crate::error::Unusable;

/// A stack with a congestion control and settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    pub(crate) manifest: Manifest,
    /// The congestion control, if it is not the stack's default.
    pub(crate) control: Option<String>,
    /// Settings by the stack's own names.
    pub(crate) settings: Vec<(String, String)>,
}

impl Foreign {
    /// Parses `STACK[+CONTROL][:SETTING=VALUE]…`.
    ///
    /// # Errors
    /// [`Error::Stack`] if the stack is not built, or has no such control or setting.
    pub fn parse(text: &str, stacks: &Stacks) -> Result<Self, Error> {
        let mut parts = text.trim().split(':');
        let name = parts.next().unwrap_or_default();
        let (stack, control) = match name.split_once('+') {
            Some((stack, control)) => (stack, Some(control)),
            None => (name, None),
        };
        let manifest = stacks.named(stack)?.clone();
        let error = |reason| Error::Stack { place: format!("--stack {text}"), reason };
        let unknown = |what: &'static str, found: &str, known: &[String]| {
            let names = known.iter().map(String::as_str);
            let expected = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let hint = hint(found, names);
            error(Unusable::Unknown { what, found: found.to_owned(), expected, hint })
        };
        if let Some(control) = control
            && !manifest.controls.iter().any(|known| known == control)
        {
            return Err(unknown("congestion control", control, &manifest.controls));
        }
        let mut settings = Vec::new();
        for part in parts {
            let Some((key, value)) = part.split_once('=') else {
                return Err(error(Unusable::Setting(part.to_owned())));
            };
            if !manifest.settings.iter().any(|known| known == key) {
                return Err(unknown("setting", key, &manifest.settings));
            }
            settings.push((key.to_owned(), value.to_owned()));
        }
        Ok(Self { manifest, control: control.map(str::to_owned), settings })
    }

    /// Returns whether its transfer runs in virtual time.
    pub fn is_virtual(&self) -> bool {
        self.manifest.time == Time::Virtual
    }

    /// Returns the name in result rows.
    pub fn name(&self) -> String {
        let mut name = self.manifest.name.clone();
        if let Some(control) = &self.control {
            name += &format!("+{control}");
        }
        for (key, value) in &self.settings {
            name += &format!(":{key}={value}");
        }
        name
    }

    /// Returns a one-line description: package, version and congestion control.
    pub fn about(&self) -> String {
        let Manifest { version, controls, about, .. } = &self.manifest;
        let control = self.control.as_ref().unwrap_or(&controls[0]);
        format!("{about}: {version}, {control}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Foreign, Error> {
        let manifest = Manifest {
            name: "quinn".to_owned(),
            version: "quinn-proto 0.11.19".to_owned(),
            about: "QUIC in Rust".to_owned(),
            time: Time::Virtual,
            controls: vec!["cubic".to_owned(), "bbr".to_owned()],
            settings: vec!["packet_threshold".to_owned()],
            command: vec!["./quinn".to_owned()],
            folder: "stacks/quinn".into(),
        };
        Foreign::parse(text, &Stacks::of("stacks", vec![manifest]))
    }

    #[test]
    fn control_and_settings_follow_the_name() {
        let quinn = parse("quinn+bbr:packet_threshold=10").expect("is valid");
        assert_eq!(quinn.control.as_deref(), Some("bbr"));
        assert_eq!(quinn.settings, [("packet_threshold".to_owned(), "10".to_owned())]);
        assert_eq!(quinn.name(), "quinn+bbr:packet_threshold=10");
        assert_eq!(parse("quinn").unwrap().about(), "QUIC in Rust: quinn-proto 0.11.19, cubic");
    }

    #[test]
    fn what_the_stack_lacks_is_named() {
        for (text, expected) in [
            ("quiche", "--stack quiche: no driver in stacks, which has quinn"),
            ("quinn+bbr2", "--stack quinn+bbr2: congestion control bbr2: expected cubic, bbr"),
            ("quinn:threshold=3", "setting threshold: expected packet_threshold"),
            ("quinn:3", "--stack quinn:3: 3: expected SETTING=VALUE"),
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
