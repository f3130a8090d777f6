//! Ends what is under way in a session, run after run.
//!
//! Owns the token of the present run only; must not know what it ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// Ends what is under way. A token that was cancelled stays so; a session that goes on has a new
/// one.
#[derive(Debug, Clone, Default)]
pub struct StopSwitch(Arc<Mutex<CancellationToken>>);

impl StopSwitch {
    /// Ends what is under way now.
    pub fn cancel(&self) {
        self.token().cancel();
    }

    /// What begins from now on is not ended by what was ended before.
    pub fn renew(&self) {
        *self.token() = CancellationToken::new();
    }

    /// Whether what begins now would be ended at once.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.token().is_cancelled()
    }

    /// Resolves when what is under way is to end.
    pub async fn cancelled(&self) {
        let token = self.token().clone();
        token.cancelled().await;
    }

    /// A token that is cancelled with what is under way now, or alone.
    #[must_use]
    pub fn child_token(&self) -> CancellationToken {
        self.token().child_token()
    }

    fn token(&self) -> MutexGuard<'_, CancellationToken> {
        // Every change leaves it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_begins_after_a_stop_is_not_ended_by_it() {
        let switch = StopSwitch::default();
        let other = switch.clone();
        let before = switch.child_token();
        other.cancel();
        switch.cancelled().await;
        assert!(before.is_cancelled() && switch.is_cancelled());
        switch.renew();
        let after = other.child_token();
        assert!(before.is_cancelled() && !after.is_cancelled());
        other.cancel();
        assert!(after.is_cancelled());
    }
}
