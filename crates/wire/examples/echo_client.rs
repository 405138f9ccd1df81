//! A client that sends lines and reads them back, with asynchronous streams, on its own stack
//! behind a TUN interface. It needs Linux, and root or `CAP_NET_ADMIN`.
//!
//! ```sh
//! cargo build -p unruffled-wire --example echo_client
//! socat TCP-LISTEN:7,fork EXEC:cat &
//! sudo target/debug/examples/echo_client 10.78.0.1:7
//! ```

use std::io;
use std::net::{IpAddr, SocketAddr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use unruffled_wire::asynchronous::TcpStream;
use unruffled_wire::device::Tun;
use unruffled_wire::driver::{Driver, Handle};
use unruffled_wire::stack::{Stack, StackConfig, Variant};

/// The kernel's address on the interface, and the stack's behind it.
pub(crate) const KERNEL: [u8; 4] = [10, 78, 0, 1];
const STACK: [u8; 4] = [10, 78, 0, 2];

/// Makes an interface and starts a stack behind it.
pub(crate) fn start() -> io::Result<Driver> {
    let tun = Tun::create("echo1", 1500, &[(KERNEL.into(), 24)])?;
    let variant = Variant::named("unruffled").expect("the recommended sender");
    let config = StackConfig::new(vec![IpAddr::from(STACK)], variant)?;
    Driver::spawn(tun, Stack::new(config))
}

/// Sends `lines` to an echo server, and returns what comes back until the end of the stream.
pub(crate) async fn talk(handle: &Handle, to: SocketAddr, lines: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(handle, to).await?;
    stream.write_all(lines.as_bytes()).await?;
    stream.shutdown().await?;
    let mut back = String::new();
    stream.read_to_string(&mut back).await?;
    Ok(back)
}

#[allow(dead_code)] // The tests call the other functions.
fn main() -> io::Result<()> {
    let to = std::env::args().nth(1).unwrap_or_else(|| "10.78.0.1:7".to_owned());
    let to = to.parse().map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidInput, format!("{to}: expected ADDRESS:PORT"))
    })?;
    let driver = start()?;
    // Any runtime can run it.
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    print!("{}", runtime.block_on(talk(&driver.handle(), to, "one\ntwo\nthree\n"))?);
    Ok(())
}
