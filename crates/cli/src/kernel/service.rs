//! Notifications to a service manager: sd_notify(3), in the datagrams that systemd documents.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// Connection to the service manager.
pub(super) struct Service {
    /// Value of `NOTIFY_SOCKET`. `None` without a service manager.
    socket: Option<OsString>,
    /// Interval at which the service manager expects a sign of life at the latest.
    watchdog: Option<Duration>,
}

impl Service {
    /// Returns the service manager that the environment names.
    pub(super) fn from_environment() -> Self {
        let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
        let is_own = number("WATCHDOG_PID").is_none_or(|pid| pid == u64::from(std::process::id()));
        let watchdog = number("WATCHDOG_USEC").filter(|time| is_own && *time > 0);
        Self {
            socket: std::env::var_os("NOTIFY_SOCKET").filter(|socket| !socket.is_empty()),
            watchdog: watchdog.map(Duration::from_micros),
        }
    }

    /// Returns the interval at which [`Service::notify`] is to be called, if there is one.
    pub(super) fn interval(&self) -> Option<Duration> {
        // As sd_watchdog_enabled(3) recommends.
        self.watchdog.map(|time| time / 2)
    }

    /// Sends assignments such as `READY=1`, one a line. A service manager that does not receive them is no
    /// reason to end.
    pub(super) fn notify(&self, assignments: &str) {
        if let Some(socket) = &self.socket {
            let _ = send(socket, assignments);
        }
    }
}

fn send(socket: &OsStr, assignments: &str) -> io::Result<()> {
    let address = match socket.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(socket)?,
    };
    let datagram = UnixDatagram::unbound()?;
    datagram.send_to_addr(assignments.as_bytes(), &address).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_is_one_datagram() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("notify");
        let receiver = UnixDatagram::bind(&path).expect("a socket");
        let name = format!("unruffled-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("a name");
        let abstract_receiver = UnixDatagram::bind_addr(&address).expect("a socket");
        let named = [path.into_os_string(), format!("@{name}").into()];
        for (socket, receiver) in named.into_iter().zip([receiver, abstract_receiver]) {
            let service = Service { socket: Some(socket), watchdog: None };
            service.notify("READY=1\nSTATUS=x");
            let mut received = [0; 64];
            let length = receiver.recv(&mut received).expect("a datagram");
            assert_eq!(&received[..length], b"READY=1\nSTATUS=x");
        }
    }

    #[test]
    fn a_missing_service_manager_is_ignored() {
        Service { socket: Some("/no/such/socket".into()), watchdog: None }.notify("READY=1");
        Service { socket: None, watchdog: None }.notify("READY=1");
    }
}
