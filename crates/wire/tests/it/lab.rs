//! A network namespace with a TUN interface and a stack behind it.

use std::hash::Hasher;
use std::io::{Read, Write};
use std::net::{self, IpAddr, Shutdown, SocketAddr};
use std::process::Command;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, unshare};
use siphasher::sip::SipHasher24;
use unruffled_tcp::Variant;
use unruffled_wire::device::{Link, Tun};
use unruffled_wire::driver::{Driver, Handle};
use unruffled_wire::stack::{Counters, Stack, StackConfig};
use unruffled_wire::stream::{TcpListener, TcpStream};

/// [`Tun::create`], or the one with offload.
type Create = fn(&str, u16, &[(IpAddr, u8)]) -> std::io::Result<Tun>;

/// The name of the interface.
pub(crate) const INTERFACE: &str = "ur0";

pub(crate) struct Lab {
    driver: std::cell::RefCell<Option<Driver>>,
    handle: Handle,
}

impl Lab {
    pub(crate) fn run(test: impl FnOnce(&Self) + Send + 'static) {
        Self::with(|_| {}, test);
    }

    /// Runs `test` over an interface with offload.
    pub(crate) fn with_offload(test: impl FnOnce(&Self) + Send + 'static) {
        Self::over(Tun::create_with_offload, |tun| tun, |_| {}, test);
    }

    /// Runs `test` with settings of the stack.
    pub(crate) fn with(
        set: impl FnOnce(&mut StackConfig) + Send + 'static,
        test: impl FnOnce(&Self) + Send + 'static,
    ) {
        Self::over(Tun::create, |tun| tun, set, test);
    }

    /// Runs `test`, which consists of tasks, in one thread.
    pub(crate) fn with_tasks(
        set: impl FnOnce(&mut StackConfig) + Send + 'static,
        test: impl AsyncFnOnce(&Self) + Send + 'static,
    ) {
        Self::with(set, |lab| {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let timed = async {
                let timed = tokio::time::timeout(Duration::from_secs(120), test(lab));
                timed.await.expect("the test hangs");
            };
            runtime.enable_all().build().unwrap().block_on(timed);
        });
    }

    /// Runs `test` over the link that `wrap` makes of the interface.
    pub(crate) fn behind<L: Link>(
        wrap: impl FnOnce(Tun) -> L + Send + 'static,
        set: impl FnOnce(&mut StackConfig) + Send + 'static,
        test: impl FnOnce(&Self) + Send + 'static,
    ) {
        Self::over(Tun::create, wrap, set, test);
    }

    /// Runs `test` in a thread with its own network namespace, which the threads that it starts
    /// share.
    fn over<L: Link>(
        create: Create,
        wrap: impl FnOnce(Tun) -> L + Send + 'static,
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
            let tun = match create(INTERFACE, 1500, &addresses) {
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
            let driver = Driver::spawn(wrap(tun), Stack::new(config)).unwrap();
            let handle = driver.handle();
            let lab = Self { driver: Some(driver).into(), handle };
            lab.wait_for_addresses();
            test(&lab);
        });
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
    }

    /// Waits until the kernel's addresses are usable. An IPv6 address is not before the end of duplicate
    /// address detection, which takes its time on a busy machine.
    fn wait_for_addresses(&self) {
        let until = Instant::now() + Duration::from_secs(10);
        for v6 in [false, true] {
            let address = SocketAddr::new(self.kernel(v6), 0);
            while let Err(error) = net::TcpListener::bind(address) {
                assert!(Instant::now() < until, "{address}: {error}");
                thread::sleep(Duration::from_millis(1));
            }
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

    /// Cuts the kernel off from the stack; returns false without the tool for it.
    pub(crate) fn cut_off(&self) -> bool {
        route("blackhole 10.9.0.2/32") && route("blackhole fd09::2/128")
    }

    /// Lets the kernel acknowledge at once and time out soon, as suits a path of 0.1 ms. Its
    /// default minima, 200 ms and 40 ms, suit the Internet.
    pub(crate) fn hasten_kernel(&self) {
        for to in ["10.9.0.2/32", "fd09::2/128"] {
            route(&format!("{to} dev {INTERFACE} rto_min 10ms quickack 1"));
        }
    }

    /// Returns a counter of the kernel in this namespace, by its names in `/proc/net/snmp` or
    /// `netstat`.
    pub(crate) fn kernel_counter(&self, of: &str, name: &str) -> u64 {
        let read = |file: &str| std::fs::read_to_string(format!("/proc/thread-self/net/{file}"));
        let tables = [read("snmp").unwrap(), read("netstat").unwrap()].concat();
        let mut lines = tables.lines().filter_map(|line| line.strip_prefix(of)?.strip_prefix(':'));
        let names = lines.next().unwrap().split_whitespace();
        let mut counters = names.zip(lines.next().unwrap().split_whitespace());
        counters.find(|counter| counter.0 == name).unwrap().1.parse().unwrap()
    }

    /// Sends `megabytes` to the kernel, receives as many from it, and compares the hashes.
    pub(crate) fn both_directions(&self, v6: bool, megabytes: u64) {
        let total = megabytes << 20;
        let (handle, kernel, ours) = (self.handle(), self.kernel(v6), self.ours(v6));
        // The stack connects and sends.
        let listener = net::TcpListener::bind(SocketAddr::new(kernel, 5001)).unwrap();
        let reader = self.thread(move || receive(listener.accept().unwrap().0));
        let mut stream = TcpStream::connect(&handle, SocketAddr::new(kernel, 5001)).unwrap();
        let sent = send(&mut stream, total);
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(reader.join().unwrap(), (total, sent));
        assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0, "the kernel has finished too");
        // The kernel connects and sends.
        let listener = TcpListener::bind(&handle, SocketAddr::new(ours, 5002), 8).unwrap();
        let writer = self.thread(move || {
            let mut stream = net::TcpStream::connect(SocketAddr::new(ours, 5002)).unwrap();
            send(&mut stream, total)
        });
        let received = receive(listener.accept().unwrap());
        assert_eq!((total, writer.join().unwrap()), received);
    }

    pub(crate) fn close(&self, grace: Duration) -> Counters {
        self.driver.take().unwrap().close(grace).unwrap()
    }
}

/// Adds a route in this namespace; returns false without iproute2.
fn route(what: &str) -> bool {
    let family = if what.contains("::") { "-6" } else { "-4" };
    let words = [family, "route", "add"].into_iter().chain(what.split(' '));
    match Command::new("ip").args(words).status() {
        Ok(status) => assert!(status.success(), "ip route add {what}"),
        Err(error) => {
            println!("skipped: no ip: {error}");
            return false;
        }
    }
    true
}

/// Returns octets of the stream that all tests send, from an offset on.
pub(crate) fn octets(from: u64, len: usize) -> Vec<u8> {
    (from..from + len as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

fn hasher() -> SipHasher24 {
    SipHasher24::new_with_keys(1, 2)
}

/// Writes `total` octets and returns their hash.
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

/// Reads to the end; returns the number of octets and their hash.
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
