//! After a panic in the driver's thread, or while the stack is locked, all who wait receive an
//! error.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};
use unruffled_tcp::Variant;
use unruffled_wire::codec::Checksums;
use unruffled_wire::device::Link;
use unruffled_wire::driver::Driver;
use unruffled_wire::stack::{Offload, Stack, StackConfig};
use unruffled_wire::{asynchronous, stream};

/// A link that carries nothing, and panics once its descriptor is readable.
struct Bomb(Arc<OwnedFd>);

impl AsFd for Bomb {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Link for Bomb {
    fn largest(&self) -> usize {
        1500
    }

    fn receive(&mut self, _: &mut [u8]) -> io::Result<(Range<usize>, Checksums)> {
        rustix::io::read(&self.0, &mut [0; 8]).map_err(io::Error::from)?;
        panic!("the test causes this panic")
    }

    fn send(&mut self, _: &[u8], _: Option<Offload>) -> io::Result<()> {
        Ok(())
    }
}

fn driver() -> (Driver, Arc<OwnedFd>) {
    let fuse = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).expect("a descriptor");
    let fuse = Arc::new(fuse);
    let variant = Variant::named("sack").expect("a variant");
    let address = "10.0.0.2".parse().expect("an address");
    let config = StackConfig::new(vec![address], variant).expect("randomness");
    (Driver::spawn(Bomb(fuse.clone()), Stack::new(config)).expect("a thread"), fuse)
}

/// Lets threads and tasks wait, calls `explode`, and expects an error of each.
fn all_receive_an_error(explode: impl FnOnce(&Driver, &OwnedFd)) {
    let (driver, fuse) = driver();
    let handle = driver.handle();
    let to: SocketAddr = ([10, 0, 0, 1], 80).into();
    let own: SocketAddr = ([10, 0, 0, 2], 80).into();
    let listener = stream::TcpListener::bind(&handle, own, 1).expect("a port");
    let another = asynchronous::TcpListener::bind(&handle, ([10, 0, 0, 2], 81).into(), 1);
    let another = another.expect("a port");
    let waiting = [
        thread::spawn(move || listener.accept().err()),
        {
            let handle = handle.clone();
            thread::spawn(move || stream::TcpStream::connect(&handle, to).err())
        },
        {
            let handle = handle.clone();
            thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build();
                runtime.expect("a runtime").block_on(async {
                    let connect = asynchronous::TcpStream::connect(&handle, to);
                    let (accepted, connected) = tokio::join!(another.accept(), connect);
                    assert!(accepted.is_err());
                    connected.err()
                })
            })
        },
    ];
    thread::sleep(Duration::from_millis(200));
    assert!(waiting.iter().all(|thread| !thread.is_finished()));
    explode(&driver, &fuse);
    for thread in waiting {
        let error = thread.join().expect("no panic").expect("an error");
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::BrokenPipe, "the stack has failed")
        );
    }
    let late = stream::TcpStream::connect(&handle, to).expect_err("the stack has failed");
    assert_eq!(late.kind(), ErrorKind::BrokenPipe);
    assert!(driver.close(Duration::ZERO).is_err());
}

#[test]
fn a_panic_of_the_drivers_thread_ends_all_waits() {
    all_receive_an_error(|_, fuse| {
        rustix::io::write(fuse, &1_u64.to_ne_bytes()).expect("the counter has room");
    });
}

#[test]
fn a_panic_while_the_stack_is_locked_ends_all_waits() {
    all_receive_an_error(|driver, _| {
        let handle = driver.handle();
        let worker = thread::spawn(move || handle.with(|_| panic!("the test causes this panic")));
        assert!(worker.join().is_err());
    });
}
