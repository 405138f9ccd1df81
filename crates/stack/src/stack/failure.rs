//! What remains of a stack that somebody has left amid its work.

use super::{Condition, Stack, StackError};

impl Stack {
    /// Somebody panicked while working on the stack, or the one who runs it did: what it holds may
    /// contradict itself, so all of it is dropped. Everybody who waits is woken, and finds
    /// [`StackError::Failed`].
    pub fn fail(&mut self) {
        let mut wakers = std::mem::take(&mut self.wakers);
        for socket in self.sockets.iter_mut() {
            socket.wake_all(&mut wakers);
        }
        for listener in self.listeners.iter_mut() {
            wakers.append(&mut listener.waiting);
        }
        let counters = self.counters;
        *self = Self::new(self.config.clone());
        (self.wakers, self.counters) = (wakers, counters);
        self.condition = Condition::Failed;
    }

    /// Whether it has failed.
    pub fn has_failed(&self) -> bool {
        self.condition == Condition::Failed
    }

    /// What is said of something that is not there.
    pub(super) fn gone(&self) -> StackError {
        if self.condition == Condition::Failed { StackError::Failed } else { StackError::Closed }
    }
}
