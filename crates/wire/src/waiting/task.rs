//! Tasks that wait to be woken.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

/// The waker of the task that polled last.
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

/// A waker that stays the same and wakes the task that polled last. The stack therefore stores one
/// waker for each stream, even if the stream is polled by one task after another.
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
    /// Makes the task of `context` the one to wake, and returns the waker that stays the same.
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
    fn only_the_task_that_polled_last_is_woken_and_only_once() {
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
