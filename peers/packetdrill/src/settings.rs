//! What `--so_flags` says: `key=value`, with commas between.

use std::net::IpAddr;

use unruffled_stack::Options;
use unruffled_tcp::{Config, EcnMode, IpVersion, Variant};
use unruffled_units::Duration;

/// Settings of the stack, which socket options change until it is made.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Our addresses.
    pub(crate) local: Vec<IpAddr>,
    /// Name of the sender, as in `unruffled list`.
    pub(crate) variant: String,
    /// What all connections have in common.
    pub(crate) connection: Config,
    /// Octets that may be written ahead of the peer's acknowledgements.
    pub(crate) send_buffer: usize,
    /// Largest packet of the link.
    pub(crate) mtu: u16,
    /// Whether a SYN's options leave in the order in which Linux writes them.
    pub(crate) linux_options: bool,
    /// Whether PSH is taken out of what leaves.
    pub(crate) without_push: bool,
}

impl Default for Settings {
    fn default() -> Self {
        // Linux's largest receive buffer in the scripts, which makes its window scale 8.
        let connection = Config { receive_buffer: 15 << 20, ..Config::wire(IpVersion::V4) };
        Self {
            local: Vec::new(),
            variant: "rack".into(),
            connection,
            send_buffer: 4 << 20,
            mtu: 1500,
            linux_options: true,
            without_push: false,
        }
    }
}

impl Settings {
    /// Reads the flags.
    ///
    /// # Errors
    /// One line that names the flag and says what was expected.
    pub(crate) fn read(flags: &str) -> Result<Self, String> {
        let mut settings = Self::default();
        for flag in flags.split(',').filter(|flag| !flag.is_empty()) {
            let (key, value) =
                flag.split_once('=').ok_or(format!("--so_flags: {flag}: expected key=value"))?;
            settings
                .set(key, value)
                .map_err(|wanted| format!("--so_flags: {key}={value}: expected {wanted}"))?;
        }
        Ok(settings)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), &'static str> {
        let connection = &mut self.connection;
        match key {
            "local" => self.local.push(value.parse().map_err(|_| "an address")?),
            "variant" => {
                Variant::named(value).ok_or("a sender; `unruffled list` shows them")?;
                self.variant = value.into();
            }
            "iw" => connection.window.initial = number(value)?,
            "min_rto" => connection.rto.min = milliseconds(value)?,
            "max_rto" => connection.rto.max = milliseconds(value)?,
            "delack" => connection.delayed_ack = unless_zero(value)?,
            "byte_counting" => connection.window.byte_counting = number(value)?,
            "nagle" => connection.nagle = value == "1",
            "ecn" => connection.ecn = ecn_mode(value)?,
            "ts" => connection.timestamps.offer = value == "1",
            "rcvbuf" => connection.receive_buffer = number(value)?,
            "sndbuf" => self.send_buffer = number(value)?,
            "msl" => connection.msl = milliseconds(value)?,
            "give_up" => connection.timeouts.give_up = unless_zero(value)?,
            "syn_retries" => connection.timeouts.syn_retries = Some(number(value)?),
            "mtu" => self.mtu = number(value)?,
            "push" => self.without_push = value == "0",
            "options" => self.linux_options = value == "linux",
            _ => return Err("another key; src/settings.rs lists them"),
        }
        Ok(())
    }

    /// What a socket's options are before any is set.
    pub(crate) fn options(&self) -> Options {
        Options {
            nodelay: !self.connection.nagle,
            keepalive: self.connection.timeouts.keep_alive,
            user_timeout: self.connection.timeouts.give_up,
            send_buffer: None,
            receive_buffer: None,
            linger: None,
        }
    }

    /// Octets of the IP and TCP headers between the link's MTU and our MSS.
    pub(crate) fn headers(&self) -> u16 {
        if self.local.iter().any(IpAddr::is_ipv6) { 60 } else { 40 }
    }
}

fn number<T: std::str::FromStr>(value: &str) -> Result<T, &'static str> {
    value.parse().map_err(|_| "a whole number")
}

fn milliseconds(value: &str) -> Result<Duration, &'static str> {
    number(value).map(Duration::from_millis)
}

/// Parses a value of `net.ipv4.tcp_ecn`.
fn ecn_mode(value: &str) -> Result<EcnMode, &'static str> {
    match value {
        "0" => Ok(EcnMode::Off),
        "1" => Ok(EcnMode::Request),
        "2" => Ok(EcnMode::Accept),
        _ => Err("0 (off), 1 (request) or 2 (accept)"),
    }
}

fn unless_zero(value: &str) -> Result<Option<Duration>, &'static str> {
    Ok(if value == "0" { None } else { Some(milliseconds(value)?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_named() {
        let wrong = |flags| Settings::read(flags).expect_err("an error");
        assert!(wrong("mtu").contains("mtu: expected key=value"));
        assert!(wrong("mtu=x").contains("mtu=x: expected a whole number"));
        assert!(wrong("ecn=3").contains("ecn=3: expected 0 (off), 1 (request) or 2 (accept)"));
        assert!(wrong("colour=red").contains("colour=red: expected another key"));
    }

    #[test]
    fn flags_change_the_settings() {
        let settings = Settings::read("local=fd3d::2,delack=0,min_rto=200,ecn=1");
        let settings = settings.expect("settings");
        assert_eq!(settings.connection.delayed_ack, None);
        assert_eq!(settings.connection.rto.min, Duration::from_millis(200));
        assert_eq!(settings.connection.ecn, EcnMode::Request);
        assert_eq!(settings.headers(), 60);
    }
}
