//! A server that sends back what it reads, one thread per connection, on a stack of its own behind a
//! TUN interface. Needs root (or `CAP_NET_ADMIN`) and Linux.
//!
//! ```sh
//! cargo build -p unruffled-wire --example echo_server
//! sudo target/debug/examples/echo_server &
//! nc 10.77.0.2 7
//! ```

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown};
use std::thread;

use unruffled_tcp::Variant;
use unruffled_wire::device::Tun;
use unruffled_wire::driver::{Driver, Handle};
use unruffled_wire::stack::{Stack, StackConfig};
use unruffled_wire::stream::{TcpListener, TcpStream};

/// The kernel's address on the interface, and ours behind it.
const KERNEL: [u8; 4] = [10, 77, 0, 1];
const OURS: [u8; 4] = [10, 77, 0, 2];
/// Echo (RFC 862).
const PORT: u16 = 7;

/// A stack behind an interface that it makes.
pub(crate) fn start() -> io::Result<Driver> {
    let tun = Tun::create("echo0", 1500, &[(KERNEL.into(), 24)])?;
    let variant = Variant::named("rack").expect("one of `unruffled_tcp::ROWS`");
    let config = StackConfig::new(vec![IpAddr::from(OURS)], variant)?;
    Driver::spawn(tun, Stack::new(config))
}

fn echo(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match stream.read(&mut buffer)? {
            0 => return stream.shutdown(Shutdown::Write),
            n => stream.write_all(&buffer[..n])?,
        }
    }
}

/// Accepts connections until the driver stops.
pub(crate) fn serve(handle: &Handle) -> io::Result<()> {
    let listener = TcpListener::bind(handle, (OURS, PORT).into(), 128)?;
    println!("echo at {}", listener.local_addr());
    loop {
        let stream = listener.accept()?;
        thread::spawn(move || {
            let peer = stream.peer_addr();
            if let Err(error) = echo(stream) {
                eprintln!("{peer}: {error}");
            }
        });
    }
}

#[allow(dead_code)] // The tests call what it is made of.
fn main() -> io::Result<()> {
    let driver = start()?;
    serve(&driver.handle())
}
