//! The examples work as documented. Without the privileges to create a network namespace, the tests that
//! need one print that they are skipped.

#[path = "../../examples/by_hand.rs"]
mod by_hand;
#[path = "../../examples/echo_client.rs"]
mod echo_client;
#[path = "../../examples/echo_server.rs"]
mod echo_server;

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream};
use std::thread;

use nix::sched::{CloneFlags, unshare};
use unruffled_wire::driver::Driver;

/// Runs `test` with a stack, in a thread with its own network namespace.
fn with(start: fn() -> io::Result<Driver>, test: impl FnOnce(Driver) + Send + 'static) {
    let thread = thread::spawn(move || {
        if let Err(error) = unshare(CloneFlags::CLONE_NEWNET) {
            println!("skipped: no network namespace: {error}");
            return;
        }
        match start() {
            Ok(driver) => test(driver),
            Err(error) => println!("skipped: no TUN interface: {error}"),
        }
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn the_engine_driven_by_hand_carries_all_octets() {
    by_hand::main();
}

#[test]
fn the_echo_server_sends_back_what_the_kernel_sends() {
    with(echo_server::start, |driver| {
        let handle = driver.handle();
        thread::spawn(move || echo_server::serve(&handle));
        let mut stream = loop {
            match TcpStream::connect("10.77.0.2:7") {
                Ok(stream) => break stream,
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused),
            }
        };
        let sent: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
        let mut writer = stream.try_clone().unwrap();
        let data = sent.clone();
        let writer = thread::spawn(move || {
            writer.write_all(&data).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        let mut back = Vec::new();
        stream.read_to_end(&mut back).unwrap();
        writer.join().unwrap();
        assert!(back == sent);
    });
}

#[test]
fn the_echo_client_reads_back_what_it_sends() {
    with(echo_client::start, |driver| {
        let listener = TcpListener::bind((IpAddr::from(echo_client::KERNEL), 0)).unwrap();
        let to = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            stream.write_all(&all).unwrap();
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let handle = driver.handle();
        let talk = echo_client::talk(&handle, to, "one\ntwo\n");
        assert_eq!(runtime.block_on(talk).unwrap(), "one\ntwo\n");
        server.join().unwrap();
    });
}
