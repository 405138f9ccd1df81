//! The kernel's end of a connection, in its own process.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use crate::{CHUNK, KERNEL, PORT, STACK};

pub(crate) fn run(role: &str) {
    let mut buffer = vec![0; CHUNK];
    if let Ok(how) = std::env::var("BULK_VETH") {
        crate::kernel::join(&how);
    }
    if role == "sink" {
        let listener = TcpListener::bind((KERNEL, PORT)).expect("a port");
        let (mut stream, _) = listener.accept().expect("a connection");
        while stream.read(&mut buffer).is_ok_and(|n| n > 0) {}
    } else {
        let mut stream = loop {
            match TcpStream::connect((STACK, PORT)) {
                Ok(stream) => break stream,
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        while stream.write_all(&buffer).is_ok() {}
    }
}
