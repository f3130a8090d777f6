//! Puts a mode together: terminal guard, event loop, and the feed of records.

mod checkpoints;
pub mod choice;
pub mod compose;
pub mod copies;
pub mod doctor;
pub mod documents;
pub mod editor;
pub mod event_loop;
pub mod feed;
mod frames;
pub mod history;
mod idle_wake;
pub mod keyring;
mod leftovers;
pub mod memory;
mod milestones;
pub mod model_doctor;
pub mod models;
pub mod monitor;
mod outside;
mod own_file;
pub mod parts;
mod past;
pub mod pdf_apart;
pub mod ports;
mod project_folder;
pub mod serial_commands;
pub mod signals;
pub mod start;
pub mod terminal;
pub mod themes;
pub mod timeline;
pub mod trust;

pub use feed::{Feed, FeedChange, Live};
pub use timeline::Timeline;
