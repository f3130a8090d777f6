//! Carries out what comes next in a run, one step after the other, and takes the person's wishes
//! meanwhile.
//!
//! What comes next is [`RunProgress`](super::progress::RunProgress)'s to say.

mod calls;
mod context;
mod inquiry;
mod intents;
mod next_run;
mod open_calls;
mod outside;
mod recorded_calls;
mod runner;
mod secrets;
mod shared;
mod signatures;
mod summary;
mod tool_run;
mod turn;
mod typed_answer;
mod unread;

pub(super) use inquiry::close as close_inquiries;
pub(super) use intents::IntentHandler;
pub(super) use runner::Runner;
pub(super) use shared::Shared;
