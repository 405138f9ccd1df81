//! The state of the resequencer of this network namespace, over a Unix socket that answers each connection
//! with one JSON document. A socket whose process was killed refuses connections, so no state is stale.

use std::fs::{self, DirBuilder};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::rules::Installed;
use crate::settings::PortRange;
use crate::{Hook, Report, Settings};

const FOLDER: &str = "/run/unruffled";

/// Maximum time for one answer.
const TIMEOUT: Duration = Duration::from_secs(1);

/// State of a running resequencer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Process id.
    pub pid: u32,
    /// Time since its start, in seconds.
    pub age_s: f64,
    /// Which packets are put in order.
    pub hook: Hook,
    /// Interfaces on which they arrive; all but the loopback interface if empty.
    pub interfaces: Vec<String>,
    /// Source or destination ports; all if empty.
    pub ports: Vec<PortRange>,
    /// Program that has installed the rules.
    pub firewall: String,
    /// Numbers of the queues.
    pub queues: Vec<u16>,
    /// Counts, load and paths.
    #[serde(flatten)]
    pub report: Report,
}

/// Returns the state of the resequencer that runs in the network namespace of the calling thread, if one
/// does and this user may see it.
pub fn status() -> Option<Status> {
    let mut socket = UnixStream::connect(path()?).ok()?;
    socket.set_read_timeout(Some(TIMEOUT)).ok()?;
    let mut text = String::new();
    socket.read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Returns the path of the socket for the network namespace of the calling thread.
fn path() -> Option<PathBuf> {
    let namespace = fs::metadata("/proc/thread-self/ns/net").ok()?.ino();
    Some(PathBuf::from(format!("{FOLDER}/resequence-{namespace}.socket")))
}

/// Removes the sockets of processes that were killed.
pub(crate) fn remove_stale() {
    let Ok(files) = fs::read_dir(FOLDER) else { return };
    for file in files.flatten() {
        let is_ours = file
            .file_name()
            .to_str()
            .is_some_and(|name| name.starts_with("resequence-") && name.ends_with(".socket"));
        let refused = |error: std::io::Error| error.kind() == std::io::ErrorKind::ConnectionRefused;
        if is_ours && UnixStream::connect(file.path()).is_err_and(refused) {
            let _ = fs::remove_file(file.path());
        }
    }
    // Fails while other files are there.
    let _ = fs::remove_dir(FOLDER);
}

/// Thread that answers connections.
#[derive(Debug)]
pub(crate) struct Server {
    path: PathBuf,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts the thread. Returns `None` where no socket can be created: then `status` shows nothing.
    pub(crate) fn start(
        settings: &Settings,
        installed: &Installed,
        report: Arc<Mutex<Report>>,
    ) -> Option<Self> {
        let path = path()?;
        let _ = DirBuilder::new().mode(0o700).create(FOLDER);
        let listener = UnixListener::bind(&path).ok()?;
        let status = Status {
            pid: std::process::id(),
            age_s: 0.0,
            hook: settings.hook,
            interfaces: settings.interfaces.clone(),
            ports: settings.ports.clone(),
            firewall: installed.firewall.clone(),
            queues: installed.queues.clone(),
            report: Report::default(),
        };
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let started = Instant::now();
        let serve = move || {
            for connection in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(mut connection) = connection else { continue };
                let _ = connection.set_write_timeout(Some(TIMEOUT));
                let report = report.lock().map(|report| report.clone()).unwrap_or_default();
                let age_s = started.elapsed().as_secs_f64();
                let status = Status { age_s, report, ..status.clone() };
                let _ = connection.write_all(&serde_json::to_vec(&status).unwrap_or_default());
            }
        };
        let thread = thread::Builder::new().name("status".into()).spawn(serve).ok()?;
        Some(Self { path, stop, thread: Some(thread) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Ends the thread's wait.
        let woken = UnixStream::connect(&self.path).is_ok();
        let _ = fs::remove_file(&self.path);
        // Fails while other files are there.
        let _ = fs::remove_dir(FOLDER);
        if let Some(thread) = self.thread.take()
            && woken
        {
            let _ = thread.join();
        }
    }
}
