//! Bulk speed over TUN at an MTU of 1500: one connection between a userspace stack, this one or
//! smoltcp, and the kernel of the same machine, and one from kernel to kernel over veth. Run it as
//! root with `cargo bench -p unruffled-wire --bench bulk [seconds [rounds]]`; veth needs iproute2
//! and ethtool.
//!
//! CPU seconds are those of the process with the userspace stack, including the kernel's work for
//! it. The kernel's end is a process of its own.

mod kernel;
mod ours;
mod peer;
mod smol;

use std::io::{Read, Write};
use std::net::Ipv4Addr;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, unshare};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// The kernel's address, and the address of the stack under test.
const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
const STACK: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);
const PORT: u16 = 5001;
const CHUNK: usize = 256 << 10;

/// The direction of the octets, seen from the stack.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Sending,
    Receiving,
}

struct Peer(Child);

impl Peer {
    /// Returns the command of the other end, which connects if the stack receives, and listens if
    /// it sends.
    fn command(way: Way) -> Command {
        let role = if way == Way::Sending { "sink" } else { "source" };
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.env("BULK_PEER", role);
        command
    }

    fn start(way: Way) -> Self {
        let child = Self::command(way).spawn().expect("a peer");
        if way == Way::Sending {
            std::thread::sleep(Duration::from_millis(100));
        }
        Self(child)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the octets that a blocking stream carries within `span`.
fn carry(stream: &mut (impl Read + Write), way: Way, span: Duration) -> u64 {
    let mut buffer = vec![0; CHUNK];
    let mut octets = 0;
    let begin = Instant::now();
    while begin.elapsed() < span {
        octets += match way {
            Way::Sending => stream.write(&buffer),
            Way::Receiving => stream.read(&mut buffer),
        }
        .expect("octets");
    }
    octets as u64
}

fn cpu() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("usage");
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(micros as u64)
}

/// Returns the speed of one run in Gbit/s, and its CPU seconds per GB.
fn measure(way: Way, span: Duration, run: fn(Way, Duration) -> u64) -> (f64, f64) {
    let (begin, cpu_begin) = (Instant::now(), cpu());
    let octets = run(way, span) as f64;
    let (wall, cpu) = (begin.elapsed(), cpu() - cpu_begin);
    (octets * 8.0 / wall.as_secs_f64() / 1e9, cpu.as_secs_f64() / (octets / 1e9))
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

fn main() {
    if let Ok(role) = std::env::var("BULK_PEER") {
        return peer::run(&role);
    }
    let mut numbers = std::env::args().skip(1).filter_map(|a| a.parse::<u64>().ok());
    let span = Duration::from_secs(numbers.next().unwrap_or(3));
    let rounds = numbers.next().unwrap_or(3);
    if let Err(error) = unshare(CloneFlags::CLONE_NEWNET) {
        println!("skipped: no network namespace: {error}");
        return;
    }
    type Run = fn(Way, Duration) -> u64;
    let stacks: [(&str, Run); 6] = [
        ("unruffled, streams", ours::through_streams),
        ("unruffled, offload", ours::with_offload),
        ("unruffled, one thread", ours::in_one_thread),
        ("smoltcp 0.14", smol::run),
        ("kernel, veth", kernel::plain),
        ("kernel, veth, offload", kernel::with_offload),
    ];
    // Runs only the rows that contain one of these: `BULK_ONLY='smoltcp|streams'`, or
    // `"one thread    sending"`.
    let only = std::env::var("BULK_ONLY").unwrap_or_default();
    let mut rows = Vec::new();
    for (name, run) in stacks {
        for (way, going) in [(Way::Sending, "sending"), (Way::Receiving, "receiving")] {
            let row = format!("{name:24} {going:>10}");
            if only.split('|').any(|part| row.contains(part)) {
                rows.push((row, way, run, Vec::new()));
            }
        }
    }
    for _ in 0..rounds {
        for (_, way, run, results) in &mut rows {
            results.push(measure(*way, span, *run));
            print!(".");
            let _ = std::io::stdout().flush();
        }
    }
    println!("\n{:35} {:>12} {:>12}", "", "Gbit/s", "CPU s/GB");
    for (row, _, _, results) in rows {
        let (speed, cost) = results.into_iter().unzip();
        println!("{row} {:12.2} {:12.2}", median(speed), median(cost));
    }
}
