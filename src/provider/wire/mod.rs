//! The way to a service: one connection pool per profile, bounded reading, nothing kept.

mod client;
mod lines;

pub(super) use client::{Client, HttpReply};
pub(super) use lines::{Frames, Framing, TooBig};
