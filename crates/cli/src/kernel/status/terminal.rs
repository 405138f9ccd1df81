//! The loop of the view of `status --watch`: keys, and a new state after each interval.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, Event};
use unruffled_kernel::Error;

use super::observed::Observed;
use super::view::{Request, View};
use crate::interrupt::Interrupt;

/// Interval at which signals are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Returns whether there is a terminal for a view and its keys.
pub(super) fn is_interactive() -> bool {
    let is_plain = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
    io::stdin().is_terminal() && io::stdout().is_terminal() && !is_plain
}

/// Restores the terminal when it is dropped.
struct Screen;

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// Shows the view until a key or a signal ends it. `observe` returns the state since its last call.
pub(super) fn watch(
    mut view: View,
    mut observed: Observed,
    interval: Duration,
    mut observe: impl FnMut() -> Result<Observed, Error>,
) -> Result<ExitCode, Error> {
    let (interrupt, _wake) = match Interrupt::watch() {
        Ok(watched) => watched,
        Err(error) => return Ok(crate::refuse(format!("status: signals: {error}"))),
    };
    let mut shown = || -> io::Result<Result<(), Error>> {
        let mut terminal = ratatui::try_init()?;
        let _screen = Screen;
        let mut next = Instant::now() + interval;
        loop {
            terminal.draw(|frame| view.draw(frame, &observed))?;
            loop {
                if interrupt.has_arrived() {
                    return Ok(Ok(()));
                }
                let left = next.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    match observe() {
                        Ok(state) => observed = state,
                        Err(error) => return Ok(Err(error)),
                    }
                    next = Instant::now() + interval;
                    break;
                }
                if !event::poll(left.min(POLL_INTERVAL))? {
                    continue;
                }
                match event::read()? {
                    Event::Key(key) => match view.press(key) {
                        Request::Quit => return Ok(Ok(())),
                        Request::Redraw => break,
                        Request::Nothing => {}
                    },
                    Event::Resize(..) => break,
                    _ => {}
                }
            }
        }
    };
    match shown() {
        Ok(ended) => ended.map(|()| ExitCode::SUCCESS),
        Err(error) => Ok(crate::refuse(format!("status: terminal: {error}"))),
    }
}
