//! A server that sends back what it reads, one thread per connection, on its own stack behind a TUN
//! interface. It needs Linux, and root or `CAP_NET_ADMIN`.
//!
//! ```sh
//! cargo build -p unruffled-wire --example echo_server
//! sudo target/debug/examples/echo_server &
//! nc 10.77.0.2 7
//! ```

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown};
use std::thread;

use unruffled_wire::device::Tun;
use unruffled_wire::driver::{Driver, Handle};
use unruffled_wire::stack::{Stack, StackConfig, Variant};
use unruffled_wire::stream::{TcpListener, TcpStream};

/// The kernel's address on the interface, and the stack's behind it.
const KERNEL: [u8; 4] = [10, 77, 0, 1];
const STACK: [u8; 4] = [10, 77, 0, 2];
/// The echo port (RFC 862).
const PORT: u16 = 7;

/// Creates an interface and starts a stack behind it.
pub(crate) fn start() -> io::Result<Driver> {
    let tun = Tun::create("echo0", 1500, &[(KERNEL.into(), 24)])?;
    let variant = Variant::named("unruffled").expect("the recommended sender");
    let config = StackConfig::new(vec![IpAddr::from(STACK)], variant)?;
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
    let listener = TcpListener::bind(handle, (STACK, PORT).into(), 128)?;
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

#[allow(dead_code)] // The tests call the other functions.
fn main() -> io::Result<()> {
    let driver = start()?;
    serve(&driver.handle())
}
