//! Who speaks next in an attempt: by turns, as planned, as chosen, as learned, or whom the last one named.
//!
//! Must not know chats, nor tools beyond what a turn reports.

pub(super) mod learned;
pub(super) mod next;
pub(super) mod plan;
pub(super) mod selector;
