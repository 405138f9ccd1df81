//! State of a stack after a panic in the middle of its work.

use super::{Condition, Stack};

impl Stack {
    /// Drops everything that the stack holds, since a panic during a call may have left
    /// contradictions. All who wait are woken and receive
    /// [`StackError::Failed`](crate::StackError::Failed).
    pub fn fail(&mut self) {
        let mut wakers = std::mem::take(&mut self.wakers);
        for socket in self.connections.iter_mut() {
            socket.waiting_mut().wake_all(&mut wakers);
        }
        for listener in self.listeners.iter_mut() {
            listener.wake_all(&mut wakers);
        }
        let counters = self.counters;
        *self = Self::new(self.config.clone());
        self.wakers = wakers;
        self.counters = counters;
        self.condition = Condition::Failed;
    }

    /// Returns whether [`Stack::fail`] has been called.
    pub fn has_failed(&self) -> bool {
        self.condition == Condition::Failed
    }
}
