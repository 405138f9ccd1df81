//! What an application has set of a socket, which may be before there is a connection.

use std::os::raw::c_int;

use unruffled_stack::Options;
use unruffled_tcp::KeepAlive;
use unruffled_units::Duration;

/// Options that have been set; the others are the stack's.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wishes {
    nodelay: Option<bool>,
    keep_alive: Option<bool>,
    /// RFC 9293, section 3.8.4, has two hours between; the rest is Linux's.
    keep_idle: Option<Duration>,
    keep_interval: Option<Duration>,
    keep_count: Option<u32>,
    /// TCP_USER_TIMEOUT; zero is the stack's own.
    user_timeout: Option<Duration>,
    send_buffer: Option<u32>,
    receive_buffer: Option<u32>,
    /// SO_LINGER; none if it was switched off.
    linger: Option<Option<u32>>,
}

impl Wishes {
    /// setsockopt(): says whether the stack knows such an option.
    pub(crate) fn set(&mut self, level: c_int, name: c_int, first: u32, second: u32) -> bool {
        let seconds = |count: u32| Some(Duration::from_secs(u64::from(count)));
        match (level, name) {
            (libc::IPPROTO_TCP, libc::TCP_NODELAY) => self.nodelay = Some(first != 0),
            (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE) => self.keep_idle = seconds(first),
            (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL) => self.keep_interval = seconds(first),
            (libc::IPPROTO_TCP, libc::TCP_KEEPCNT) => self.keep_count = Some(first),
            (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT) => {
                self.user_timeout = Some(Duration::from_millis(u64::from(first)));
            }
            (libc::SOL_SOCKET, libc::SO_KEEPALIVE) => self.keep_alive = Some(first != 0),
            (libc::SOL_SOCKET, libc::SO_SNDBUF) => self.send_buffer = Some(first),
            (libc::SOL_SOCKET, libc::SO_RCVBUF) => self.receive_buffer = Some(first),
            (libc::SOL_SOCKET, libc::SO_LINGER) => {
                self.linger = Some((first != 0).then_some(second));
            }
            _ => return false,
        }
        true
    }

    /// getsockopt(): the two words of an option that the stack knows. Buffers are twice what was set,
    /// as in Linux.
    pub(crate) fn get(&self, level: c_int, name: c_int, of: &Options) -> Option<[u32; 2]> {
        let word = |value: u32| Some([value, 0]);
        let seconds = |span: Duration| (span.as_nanos() / 1_000_000_000) as u32;
        let keep_alive = self.keep_alive_settings();
        match (level, name) {
            (libc::IPPROTO_TCP, libc::TCP_NODELAY) => word(u32::from(of.nodelay)),
            (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE) => word(seconds(keep_alive.idle)),
            (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL) => word(seconds(keep_alive.interval)),
            (libc::IPPROTO_TCP, libc::TCP_KEEPCNT) => word(keep_alive.count),
            (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT) => {
                word(self.user_timeout.map_or(0, |span| (span.as_nanos() / 1_000_000) as u32))
            }
            (libc::SOL_SOCKET, libc::SO_KEEPALIVE) => word(u32::from(of.keepalive.is_some())),
            (libc::SOL_SOCKET, libc::SO_SNDBUF) => {
                word(self.send_buffer.unwrap_or(0).saturating_mul(2))
            }
            (libc::SOL_SOCKET, libc::SO_RCVBUF) => {
                word(self.receive_buffer.unwrap_or(0).saturating_mul(2))
            }
            (libc::SOL_SOCKET, libc::SO_LINGER) => {
                Some(of.linger.map_or([0, 0], |span| [1, seconds(span)]))
            }
            _ => None,
        }
    }

    fn keep_alive_settings(&self) -> KeepAlive {
        KeepAlive {
            idle: self.keep_idle.unwrap_or(Duration::from_secs(7200)),
            interval: self.keep_interval.unwrap_or(Duration::from_secs(75)),
            count: self.keep_count.unwrap_or(9),
        }
    }

    /// Changes the options of a connection or listener to what is wished.
    pub(crate) fn apply(&self, options: &mut Options) {
        options.nodelay = self.nodelay.unwrap_or(options.nodelay);
        if let Some(on) = self.keep_alive {
            options.keepalive = on.then(|| self.keep_alive_settings());
        }
        if let Some(timeout) = self.user_timeout.filter(|&timeout| timeout != Duration::ZERO) {
            options.user_timeout = Some(timeout);
        }
        options.send_buffer = self.send_buffer.map_or(options.send_buffer, |n| Some(n as usize));
        options.receive_buffer =
            self.receive_buffer.map_or(options.receive_buffer, |n| Some(n as usize));
        if let Some(linger) = self.linger {
            options.linger = linger.map(|seconds| Duration::from_secs(u64::from(seconds)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn what_is_not_set_stays_as_it_was() {
        let before = Settings::default().options();
        let mut options = before;
        let mut wishes = Wishes::default();
        assert!(wishes.set(libc::SOL_SOCKET, libc::SO_LINGER, 1, 0));
        assert!(wishes.set(libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, 10, 0));
        assert!(!wishes.set(libc::IPPROTO_TCP, libc::TCP_CORK, 1, 0));
        wishes.apply(&mut options);
        assert_eq!(options, Options { linger: Some(Duration::ZERO), ..before });
        wishes.set(libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1, 0);
        wishes.apply(&mut options);
        let idle = options.keepalive.map(|keep_alive| keep_alive.idle);
        assert_eq!(idle, Some(Duration::from_secs(10)));
    }
}
