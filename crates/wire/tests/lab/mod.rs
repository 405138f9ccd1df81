//! A network namespace with a TUN interface in it, and our stack behind that.

use std::hash::Hasher;
use std::io::{Read, Write};
use std::net::IpAddr;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sched::{CloneFlags, unshare};
use unruffled_tcp::Variant;
use unruffled_wire::device::Tun;
use unruffled_wire::driver::{Driver, Handle};
use unruffled_wire::stack::{Stack, StackConfig};

/// [`Tun::create`], or the one with offload.
type Create = fn(&str, u16, &[(IpAddr, u8)]) -> std::io::Result<Tun>;

pub(crate) struct Lab {
    driver: std::cell::RefCell<Option<Driver>>,
    handle: Handle,
}

impl Lab {
    pub(crate) fn run(test: impl FnOnce(&Self) + Send + 'static) {
        Self::with(|_| {}, test);
    }

    /// As [`Lab::run`], over an interface with offload.
    pub(crate) fn with_offload(test: impl FnOnce(&Self) + Send + 'static) {
        Self::over(Tun::create_with_offload, |_| {}, test);
    }

    /// As [`Lab::run`], with settings of the stack.
    pub(crate) fn with(
        set: impl FnOnce(&mut StackConfig) + Send + 'static,
        test: impl FnOnce(&Self) + Send + 'static,
    ) {
        Self::over(Tun::create, set, test);
    }

    /// Runs `test` in a thread with a network namespace of its own; threads that it starts share it.
    fn over(
        create: Create,
        set: impl FnOnce(&mut StackConfig) + Send + 'static,
        test: impl FnOnce(&Self) + Send + 'static,
    ) {
        let thread = thread::spawn(move || {
            if let Err(error) = unshare(CloneFlags::CLONE_NEWNET) {
                println!("skipped: no network namespace: {error}");
                return;
            }
            let addresses = [("10.9.0.1", 24), ("fd09::1", 64)];
            let addresses = addresses.map(|(a, prefix)| (a.parse().unwrap(), prefix));
            let tun = match create("ur0", 1500, &addresses) {
                Ok(tun) => tun,
                Err(error) => {
                    println!("skipped: no TUN interface: {error}");
                    return;
                }
            };
            let variant = Variant::parse("sack").unwrap();
            let ours = vec!["10.9.0.2".parse().unwrap(), "fd09::2".parse().unwrap()];
            let mut config = StackConfig::new(ours, variant).unwrap();
            set(&mut config);
            let driver = Driver::spawn(tun, Stack::new(config)).unwrap();
            let handle = driver.handle();
            let lab = Self { driver: Some(driver).into(), handle };
            // IPv6 addresses are not usable before duplicate address detection.
            thread::sleep(Duration::from_millis(10));
            test(&lab);
        });
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
    }

    pub(crate) fn handle(&self) -> Handle {
        self.handle.clone()
    }

    pub(crate) fn kernel(&self, v6: bool) -> IpAddr {
        if v6 { "fd09::1" } else { "10.9.0.1" }.parse().unwrap()
    }

    pub(crate) fn ours(&self, v6: bool) -> IpAddr {
        if v6 { "fd09::2" } else { "10.9.0.2" }.parse().unwrap()
    }

    pub(crate) fn thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        thread::spawn(work)
    }

    /// The kernel neither hears nor answers any more.
    pub(crate) fn cut_off(&self) {
        let status = std::process::Command::new("ip")
            .args(["route", "add", "blackhole", "10.9.0.2/32"])
            .status()
            .unwrap();
        assert!(status.success());
    }

    pub(crate) fn close(&self, grace: Duration) {
        let counters = self.driver.take().unwrap().close(grace).unwrap();
        assert_eq!(counters.malformed.get(unruffled_wire::codec::Malformed::Checksum), 0);
    }
}

/// What stands at each offset of every test's stream.
pub(crate) fn octets(from: u64, len: usize) -> Vec<u8> {
    (from..from + len as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

#[allow(deprecated)]
fn hasher() -> std::hash::SipHasher {
    std::hash::SipHasher::new_with_keys(1, 2)
}

/// Writes `total` octets and gives their hash.
pub(crate) fn send(stream: &mut impl Write, total: u64) -> u64 {
    let mut hash = hasher();
    let mut sent = 0;
    while sent < total {
        let data = octets(sent, (64 << 10).min(total - sent) as usize);
        stream.write_all(&data).unwrap();
        hash.write(&data);
        sent += data.len() as u64;
    }
    hash.finish()
}

/// Reads to the end and gives how much there was, and its hash.
pub(crate) fn receive(mut stream: impl Read) -> (u64, u64) {
    let mut hash = hasher();
    let mut buffer = vec![0; 64 << 10];
    let mut total = 0;
    loop {
        let n = stream.read(&mut buffer).unwrap();
        if n == 0 {
            return (total, hash.finish());
        }
        hash.write(&buffer[..n]);
        total += n as u64;
    }
}
