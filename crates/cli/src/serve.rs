//! `unruffled serve`: the web page, from a folder, on the loopback interface.

mod files;

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::thread;

use clap::Args;
use tiny_http::{Header, Method, Request, Response, Server};
use unruffled_lab::report::playground::PORT;

use crate::{Printed, number};
use files::Folder;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = PORT, value_parser = number::within::<u16>(0..=65_535))]
    #[arg(allow_negative_numbers = true)]
    port: u16,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// The folder with the page, instead of the installed or built one
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

/// Where a page is expected, relative to the folder of the command: in an installation, and in a checkout
/// after `make web`.
const PLACES: [&str; 2] = ["../share/unruffled/web", "../web"];

/// Programs that open an address in the browser.
const OPENERS: [&str; 2] = ["xdg-open", "open"];

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    match execute(arguments) {
        Ok(never) => match never {},
        Err(Stop::Refused(error)) => crate::refuse(error),
        Err(Stop::Exit(status)) => status,
    }
}

/// Why the server ends.
enum Stop {
    Refused(String),
    Exit(ExitCode),
}

impl From<String> for Stop {
    fn from(error: String) -> Self {
        Self::Refused(error)
    }
}

fn execute(arguments: &Arguments) -> Result<std::convert::Infallible, Stop> {
    let folder = folder(arguments.folder.as_deref())?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
    let server = Server::http(address).map_err(|error| {
        let in_use = error
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == ErrorKind::AddrInUse);
        match in_use {
            true => format!("--port {}: in use: expected another, or 0", arguments.port),
            false => format!("--port {}: {error}", arguments.port),
        }
    })?;
    let port = server.server_addr().to_ip().map_or(arguments.port, |address| address.port());
    let page = format!("http://127.0.0.1:{port}/");
    crate::print_on(Printed::People(format!("{page}\n"))).map_err(Stop::Exit)?;
    if arguments.open && !open(&page) {
        crate::print_notice("--open: no program to open it with: expected xdg-open");
    }
    let folder = Arc::new(folder);
    loop {
        let request =
            server.recv().map_err(|error| format!("--port {}: {error}", arguments.port))?;
        let folder = Arc::clone(&folder);
        // A client that sends or reads slowly delays no other. Without a thread, the request is dropped.
        let _ = thread::Builder::new().spawn(move || answer(request, &folder));
    }
}

/// Returns the folder with the page.
fn folder(given: Option<&Path>) -> Result<Folder, String> {
    if let Some(path) = given {
        return Folder::open(path).ok_or_else(|| {
            format!("--folder {}: no index.html in it: expected the page's folder", path.display())
        });
    }
    let command = std::env::current_exe().and_then(std::fs::canonicalize).unwrap_or_default();
    let beside = command.parent().unwrap_or(Path::new(""));
    let mut places = PLACES.iter().map(|place| beside.join(place));
    places.find_map(|place| Folder::open(&place)).ok_or_else(|| {
        "serve: this installation has no web page: expected one by make web, or --folder".to_owned()
    })
}

/// Opens an address in the browser.
fn open(page: &str) -> bool {
    OPENERS.iter().any(|opener| {
        let mut command = Command::new(opener);
        command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().is_ok()
    })
}

/// Answers a request. A reader that has gone is no error.
fn answer(request: Request, folder: &Folder) {
    let is_head = *request.method() == Method::Head;
    if !is_head && *request.method() != Method::Get {
        let _ = request.respond(status(405).with_header(header("Allow", "GET, HEAD")));
        return;
    }
    let Some((file, kind)) = folder.find(request.url()) else {
        let _ = request.respond(status(404));
        return;
    };
    // tiny_http sends no body for HEAD.
    let response = Response::from_file(file)
        .with_header(header("Content-Type", kind))
        .with_header(header("Cache-Control", "no-cache"))
        .with_header(header("X-Content-Type-Options", "nosniff"));
    let _ = request.respond(response);
}

/// Returns an answer without a file.
fn status(code: u16) -> Response<std::io::Cursor<Vec<u8>>> {
    let text = match code {
        404 => "no such file\n",
        _ => "expected GET or HEAD\n",
    };
    Response::from_string(text).with_status_code(code)
}

fn header(name: &str, value: &str) -> Header {
    Header::from_bytes(name, value).expect("names and values are ASCII")
}
