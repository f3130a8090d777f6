//! The targets under libFuzzer: `FUZZ_TARGET` names the one that is run.
//!
//! One program for all, because linking takes longer than anything else. `README.md` says how it
//! is compiled and run.

#![no_main]

#[allow(dead_code, reason = "how many changes a test run tries is of no use here")]
mod targets;

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use targets::{TARGETS, Target};

/// The target that the environment names.
fn chosen() -> &'static Target {
    static CHOSEN: OnceLock<&'static Target> = OnceLock::new();
    CHOSEN.get_or_init(|| {
        let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
        TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            panic!("FUZZ_TARGET={name:?} is none of {}", names.join(", "))
        })
    })
}

fuzz_target!(|data: &[u8]| (chosen().run)(data));
