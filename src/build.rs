//! Tells cargo to compile the library again when a data file that it embeds changes.

#![allow(clippy::print_stdout, reason = "this is how a build script talks to cargo")]

fn main() {
    for folder in ["assets", "keymaps", "prompts", "themes"] {
        println!("cargo::rerun-if-changed=../{folder}");
    }
}
