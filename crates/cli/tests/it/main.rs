//! Tests of the command from outside: what it prints, its exit status, its files. Those in real time are
//! in `tests/real`, those that change the kernel's congestion controls in `tests/kernel`.

mod command;

mod analyze;
mod cli;
mod documented;
#[cfg(target_os = "linux")]
mod foreign;
mod hints;
#[cfg(target_os = "linux")]
mod install;
#[cfg(target_os = "linux")]
mod interrupt;
mod kept;
#[cfg(target_os = "linux")]
mod libraries;
#[cfg(unix)]
mod makefile;
mod reproduce;
mod senders;
mod serve;
#[cfg(unix)]
mod several;
mod shown;
mod sweep;
#[cfg(target_os = "linux")]
mod terminal;
