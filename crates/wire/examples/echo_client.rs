//! A client that sends lines and reads them back, with asynchronous streams, on a stack of its own
//! behind a TUN interface. Needs root (or `CAP_NET_ADMIN`) and Linux.
//!
//! ```sh
//! cargo build -p unruffled-wire --example echo_client
//! socat TCP-LISTEN:7,fork EXEC:cat &
//! sudo target/debug/examples/echo_client 10.78.0.1:7
//! ```

use std::io;
use std::net::{IpAddr, SocketAddr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use unruffled_tcp::Variant;
use unruffled_wire::asynchronous::TcpStream;
use unruffled_wire::device::Tun;
use unruffled_wire::driver::{Driver, Handle};
use unruffled_wire::stack::{Stack, StackConfig};

/// The kernel's address on the interface, and ours behind it.
pub(crate) const KERNEL: [u8; 4] = [10, 78, 0, 1];
const OURS: [u8; 4] = [10, 78, 0, 2];

/// A stack behind an interface that it makes.
pub(crate) fn start() -> io::Result<Driver> {
    let tun = Tun::create("echo1", 1500, &[(KERNEL.into(), 24)])?;
    let variant = Variant::named("rack").expect("one of `unruffled_tcp::ROWS`");
    let config = StackConfig::new(vec![IpAddr::from(OURS)], variant)?;
    Driver::spawn(tun, Stack::new(config))
}

/// Sends `lines` to an echo server, and gives what comes back until the server has finished.
pub(crate) async fn talk(handle: &Handle, to: SocketAddr, lines: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(handle, to).await?;
    stream.write_all(lines.as_bytes()).await?;
    stream.shutdown().await?;
    let mut back = String::new();
    stream.read_to_string(&mut back).await?;
    Ok(back)
}

#[allow(dead_code)] // The tests call what it is made of.
fn main() -> io::Result<()> {
    let to = std::env::args().nth(1).unwrap_or_else(|| "10.78.0.1:7".to_owned());
    let to = to.parse().map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidInput, format!("{to}: expected ADDRESS:PORT"))
    })?;
    let driver = start()?;
    // Any runtime will do.
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    print!("{}", runtime.block_on(talk(&driver.handle(), to, "one\ntwo\nthree\n"))?);
    Ok(())
}
