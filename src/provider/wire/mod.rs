//! The way to a service: one connection pool per profile, bounded reading, nothing kept.

mod client;
mod lines;

pub(super) use client::{AskFault, Client, HttpReply, read_key};
pub(super) use lines::{Frames, Framing, TooBig};
