//! Connections leave nothing behind. The test is alone in its process, whose memory and descriptors
//! it counts.

#![allow(clippy::unwrap_used)] // A failing test may panic in its helpers.

#[path = "it/lab.rs"]
#[allow(dead_code)] // This test uses a part of it.
mod lab;

use std::net::SocketAddr;
use std::time::Duration;

use lab::Lab;
use peak_alloc::PeakAlloc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net;
use unruffled_wire::asynchronous::{TcpListener, TcpStream};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Sends a number and the end of the stream one way, and then back.
async fn talk(
    mut one: impl AsyncRead + AsyncWrite + Unpin,
    mut other: impl AsyncRead + AsyncWrite + Unpin,
    number: u32,
) {
    one.write_u32(number).await.unwrap();
    one.shutdown().await.unwrap();
    let mut all = Vec::new();
    other.read_to_end(&mut all).await.unwrap();
    other.write_all(&all).await.unwrap();
    other.shutdown().await.unwrap();
    assert_eq!(one.read_u32().await.unwrap(), number);
    assert_eq!(one.read(&mut [0; 1]).await.unwrap(), 0);
}

#[test]
fn ten_thousand_connections_one_after_another_leave_nothing_behind() {
    let msl = unruffled_wire::stack::Duration::from_millis(5);
    Lab::with_tasks(
        move |config| config.connection.msl = msl,
        async |lab| {
            let handle = lab.handle();
            let theirs = net::TcpListener::bind(SocketAddr::new(lab.kernel(false), 0)).await;
            let theirs = theirs.unwrap();
            let (to, ours) = (theirs.local_addr().unwrap(), (lab.ours(true), 0).into());
            let ours = TcpListener::bind(&handle, ours, 1).unwrap();
            // Octets allocated and descriptors open after so many more connections have ended.
            let after = async |rounds: u32| {
                for round in 0..rounds / 2 {
                    let (one, other) =
                        tokio::join!(TcpStream::connect(&handle, to), theirs.accept());
                    talk(one.unwrap(), other.unwrap().0, round).await;
                    let (one, other) =
                        tokio::join!(net::TcpStream::connect(ours.local_addr()), ours.accept());
                    talk(one.unwrap(), other.unwrap(), round).await;
                }
                tokio::time::sleep(Duration::from_millis(500)).await;
                assert_eq!(handle.with(|stack| stack.usage().connections), 0);
                (MEMORY.current_usage(), std::fs::read_dir("/proc/self/fd").unwrap().count())
            };
            let (octets, descriptors) = after(1000).await;
            let (octets_later, descriptors_later) = after(9000).await;
            println!("{octets} octets, then {octets_later}");
            assert_eq!(descriptors_later, descriptors);
            // Tables may have doubled once more. Each leaked connection would take at least 16
            // octets.
            assert!(octets_later < octets + 9000 * 16, "{octets} octets, then {octets_later}");
        },
    );
}
