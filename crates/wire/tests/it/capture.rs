//! A capture of the interface while a test runs, read by tshark.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

pub(crate) struct Capture {
    running: Option<(Child, PathBuf)>,
}

impl Capture {
    /// Starts capturing `interface`, if tshark is installed.
    pub(crate) fn start(name: &str, interface: &str) -> Self {
        let file = std::env::temp_dir().join(format!("wire-{name}-{}.pcap", std::process::id()));
        let child = Command::new("tshark")
            .args(["-q", "-i", interface, "-F", "pcap", "-B", "64", "-w"])
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(child) = child else {
            println!("skipped: no capture without tshark");
            return Self { running: None };
        };
        // The file has a header once tshark captures.
        for _ in 0..100 {
            thread::sleep(Duration::from_millis(50));
            if file.metadata().is_ok_and(|meta| meta.len() > 0) {
                break;
            }
        }
        thread::sleep(Duration::from_millis(300));
        Self { running: Some((child, file)) }
    }

    /// Ends the capture; returns `None` without tshark.
    pub(crate) fn stop(mut self) -> Option<Captured> {
        let (mut child, file) = self.running.take()?;
        thread::sleep(Duration::from_millis(500));
        let id = nix::unistd::Pid::from_raw(child.id() as i32);
        let _ = nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGINT);
        let _ = child.wait();
        Some(Captured(file))
    }
}

/// A capture file, removed unless the test fails.
pub(crate) struct Captured(PathBuf);

impl Captured {
    /// Returns the number of packets that match tshark's display filter.
    pub(crate) fn count(&self, filter: &str) -> usize {
        let out = Command::new("tshark")
            .args(["-r"])
            .arg(&self.0)
            .args(["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"])
            // Otherwise tshark would dissect the octets by the protocols of their ports.
            .args(["-d", "tcp.port==1-65535,data"])
            .args(["-Y", filter])
            .output()
            .unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).lines().count()
    }

    /// Asserts that no packet is malformed and no checksum is wrong.
    pub(crate) fn assert_clean(&self) {
        let all = self.count("tcp");
        let bad = self.count(
            // Linux writes a sum of 0 as 0xffff, which is the same in ones' complement.
            "_ws.malformed || (tcp.checksum.status == \"Bad\" && tcp.checksum != 0xffff) || \
             ip.checksum.status == \"Bad\" || \
             _ws.expert.group == \"Malformed\" || tcp.bogus_header_length",
        );
        println!("{all} TCP packets captured, {bad} malformed");
        assert!(all > 100, "the capture is empty");
        assert_eq!(bad, 0, "see {}", self.0.display());
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        if !thread::panicking() {
            let _ = std::fs::remove_file(&self.0);
        }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        if let Some((mut child, _)) = self.running.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
