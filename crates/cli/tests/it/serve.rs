//! `unruffled serve`.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::command::refusal;

/// A server that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a server of `page` on a free port, and returns it with its address.
fn serve(folder: &Path, page: &Path) -> (Server, String) {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("unruffled"));
    command
        .current_dir(folder)
        .args(["serve", "--port", "0", "--folder"])
        .arg(page)
        .stdout(Stdio::piped());
    let mut server = Server(command.spawn().expect("starts"));
    let mut line = String::new();
    let output = server.0.stdout.take().expect("is a pipe");
    BufReader::new(output).read_line(&mut line).expect("prints its address");
    let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/'));
    let address = address.unwrap_or_else(|| panic!("{line:?}")).to_owned();
    (server, address)
}

/// Sends a request, and returns the whole answer.
fn ask(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("is there");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    let request = format!("{request} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("is read");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("answers");
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn the_page_is_served_on_the_loopback_interface_only() {
    let folder = tempfile::tempdir().expect("can be made");
    let page = folder.path().join("page");
    fs::create_dir(&page).expect("can be made");
    fs::write(page.join("index.html"), "<title>the page</title>").expect("can be written");
    fs::write(page.join("engine.wasm"), [0, 97, 115, 109]).expect("can be written");
    fs::write(folder.path().join("secret"), "not the page").expect("can be written");
    let (_server, address) = serve(folder.path(), &page);
    assert!(address.starts_with("127.0.0.1:"), "{address}");

    let start = ask(&address, "GET /?scenario=few-late");
    assert!(start.starts_with("HTTP/1.1 200 "), "{start}");
    assert!(start.ends_with("<title>the page</title>"), "{start}");
    let engine = ask(&address, "HEAD /engine.wasm").to_lowercase();
    assert!(engine.contains("content-type: application/wasm"), "{engine}");
    assert!(engine.ends_with("\r\n\r\n"), "HEAD has no body: {engine}");
    for request in ["GET /../secret", "GET /%2e%2e/secret", "GET /none"] {
        let answer = ask(&address, request);
        assert!(answer.starts_with("HTTP/1.1 404 ") && !answer.contains("not the"), "{answer}");
    }
    assert!(ask(&address, "POST /").starts_with("HTTP/1.1 405 "));
}

#[test]
fn a_client_that_sends_or_reads_slowly_delays_no_other() {
    let folder = tempfile::tempdir().expect("can be made");
    fs::write(folder.path().join("index.html"), "page").expect("can be written");
    // More than the buffers of a connection hold.
    fs::write(folder.path().join("large.bin"), vec![0; 32 << 20]).expect("can be written");
    let (_server, address) = serve(folder.path(), folder.path());
    let begin = |request: &str| {
        let mut stream = TcpStream::connect(&address).expect("is there");
        stream.write_all(request.as_bytes()).expect("is read");
        stream
    };
    let _sends = begin("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc");
    let mut reads = begin("GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n");
    // The answer has begun.
    reads.read_exact(&mut [0; 100]).expect("answers");
    assert!(ask(&address, "GET /").ends_with("\r\n\r\npage"));
}

#[test]
fn a_folder_without_a_page_or_a_port_in_use_is_refused() {
    let folder = tempfile::tempdir().expect("can be made");
    let line = refusal(&folder, &["serve", "--folder", "."]);
    assert_eq!(line, "unruffled: --folder .: no index.html in it: expected the page's folder\n");
    fs::write(folder.path().join("index.html"), "").expect("can be written");
    let (_server, address) = serve(folder.path(), folder.path());
    let port = address.rsplit(':').next().expect("has a port");
    let line = refusal(&folder, &["serve", "--folder", ".", "--port", port]);
    assert_eq!(line, format!("unruffled: --port {port}: in use: expected another, or 0\n"));
    let line = refusal(&folder, &["serve", "--port", "70000"]);
    assert!(line.contains("from 0 to 65535"), "{line}");
}
