//! Threads that wait to be woken.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use std::thread;
use std::time::Instant;

struct Parked {
    thread: thread::Thread,
    woken: AtomicBool,
}

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.woken.swap(true, Ordering::SeqCst) {
            self.thread.unpark();
        }
    }
}

/// A thread and its waker.
#[derive(Clone)]
pub(crate) struct Thread {
    parked: Arc<Parked>,
    waker: Waker,
}

thread_local! {
    static CURRENT: RefCell<Option<Thread>> = const { RefCell::new(None) };
}

impl Thread {
    /// Returns the calling thread, with the same waker for each call.
    pub(crate) fn current() -> Self {
        CURRENT.with_borrow_mut(|current| {
            current
                .get_or_insert_with(|| {
                    let thread = thread::current();
                    let parked = Arc::new(Parked { thread, woken: AtomicBool::new(false) });
                    Self { waker: Waker::from(parked.clone()), parked }
                })
                .clone()
        })
    }

    pub(crate) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Waits to be woken; returns false if the deadline came first.
    pub(crate) fn sleep(&self, deadline: Option<Instant>) -> bool {
        while !self.parked.woken.swap(false, Ordering::SeqCst) {
            match deadline {
                None => thread::park(),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return false;
                    }
                    thread::park_timeout(left);
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_thread_sleeps_until_it_is_woken_or_the_deadline_comes() {
        let sleeper = Thread::current();
        let waker = sleeper.waker().clone();
        let other = thread::spawn(move || waker.wake());
        assert!(sleeper.sleep(None));
        other.join().unwrap();
        assert!(!sleeper.sleep(Some(Instant::now() + Duration::from_millis(5))));
        sleeper.waker().wake_by_ref();
        assert!(sleeper.sleep(None), "a wake-up before the sleep counts");
    }
}
