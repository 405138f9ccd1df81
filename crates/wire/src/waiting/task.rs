//! Tasks that wait for a waker.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

/// The task that asked last.
#[derive(Debug, Default)]
struct Last(Mutex<Option<Waker>>);

impl Last {
    fn replace(&self, waker: Option<Waker>) -> Option<Waker> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), waker)
    }
}

impl Wake for Last {
    fn wake(self: Arc<Self>) {
        if let Some(waker) = self.replace(None) {
            waker.wake();
        }
    }
}

/// Whichever task asked last, as something to be woken that stays the same: one who waits is known
/// to the stack once, however many tasks it has passed through.
#[derive(Debug)]
pub(crate) struct Task {
    last: Arc<Last>,
    waker: Waker,
}

impl Default for Task {
    fn default() -> Self {
        let last = Arc::new(Last::default());
        Self { waker: Waker::from(last.clone()), last }
    }
}

impl Task {
    /// The task of `context` is the one to wake from now on.
    pub(crate) fn current(&self, context: &Context<'_>) -> &Waker {
        self.last.replace(Some(context.waker().clone()));
        &self.waker
    }

    pub(crate) fn waker(&self) -> &Waker {
        &self.waker
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    struct Count(AtomicU32);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn only_the_task_that_asked_last_is_woken_and_only_once() {
        let task = Task::default();
        let counts = [0, 0].map(|zero| Arc::new(Count(AtomicU32::new(zero))));
        for count in &counts {
            let waker = Waker::from(count.clone());
            assert!(task.current(&Context::from_waker(&waker)).will_wake(task.waker()));
        }
        task.waker().wake_by_ref();
        task.waker().wake_by_ref();
        assert_eq!(counts.map(|count| count.0.load(Ordering::Relaxed)), [0, 1]);
    }
}
