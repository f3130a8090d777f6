//! Every reader of foreign bytes as a function that takes any bytes and panics when something that
//! must hold does not.
//!
//! Owns the list of targets. The same functions are run by `main.rs` on kept inputs, and by
//! `coverage.rs` under a fuzzer that is led by coverage. Must not depend on either.

mod board;
mod build;
mod config;
mod findings;
mod model;
mod reverty;
mod session;
mod text;

use std::borrow::Cow;
use std::cell::RefCell;
use std::path::PathBuf;

pub struct Target {
    /// Also the name of its folder in `seeds/`.
    pub name: &'static str,
    /// Reads any bytes.
    pub run: fn(&[u8]),
    /// How many changed inputs `cargo test` tries; fewer for readers that take long.
    pub tries: u32,
}

const fn target(name: &'static str, run: fn(&[u8]), tries: u32) -> Target {
    Target { name, run, tries }
}

/// All of them.
pub const TARGETS: &[Target] = &[
    target("agents", config::agents, 480),
    target("arduino", build::arduino, 2400),
    target("catalogue", config::catalogue, 1600),
    target("chat_dialect", model::chat, 2400),
    target("anthropic_dialect", model::anthropic, 2400),
    target("ollama_dialect", model::ollama, 2400),
    target("responses_dialect", model::responses, 2400),
    target("cmake", text::cmake, 2400),
    target("compile_commands", build::compile_commands, 1600),
    target("configuration", config::configuration, 1600),
    target("diagnostics", build::diagnostics, 1600),
    target("diff", text::diffs, 2400),
    target("elf", board::elf, 800),
    target("esp_log", board::esp_log, 4000),
    target("esptool", build::esptool, 2400),
    target("findings", findings::changes, 240),
    target("flasher_args", build::flasher_args, 1600),
    target("insert", text::insertions, 2400),
    target("journal", session::journal, 1600),
    target("kconfig", findings::kconfig, 480),
    target("keymaps", config::keymaps, 480),
    target("knowledge", config::knowledge, 1600),
    target("linters", build::linters, 1600),
    target("list_file", build::list_file, 2400),
    target("markdown", text::markdown, 800),
    target("nvs", board::nvs, 480),
    target("pack", session::pack, 1600),
    target("panic", board::panics, 2400),
    target("partitions", board::partitions, 2400),
    target("patch", text::patches, 2400),
    target("pdf", text::pdf, 240),
    target("pinout", config::pinout, 1600),
    target("platformio", build::platformio, 2400),
    target("reverty", reverty::programs, 4000),
    target("rfc2217", board::rfc2217, 4000),
    target("sanitiser", text::sanitiser, 4000),
    target("scripts", model::scripts, 800),
    target("sdkconfig", build::sdkconfig, 1600),
    target("serial", board::serial, 2400),
    target("structured", model::structured, 4000),
    target("syntax", text::syntax, 480),
    target("teams", config::teams, 480),
    target("themes", config::themes, 480),
];

/// The parts of an input that stand between bytes `0x1e`; always `N`, empty where there are fewer.
fn parts<const N: usize>(data: &[u8]) -> [&[u8]; N] {
    let mut parts = data.splitn(N, |byte| *byte == 0x1e);
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

/// Bytes as text; what is none is replaced.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// The whole, and cut in pieces at places that depend on the bytes, for what must not depend on
/// where a stream is cut.
fn pieces(data: &[u8]) -> Vec<&[u8]> {
    let mut rest = data;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let sum = rest.iter().take(3).fold(7u8, |sum, byte| sum.wrapping_mul(31) ^ byte);
        let (piece, after) = rest.split_at(usize::from(sum % 23).clamp(1, rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Gives `use_folder` a folder of this thread's own, in memory where there is such a place. What
/// an earlier input left in it is still there.
fn in_folder<T>(use_folder: impl FnOnce(&PathBuf) -> T) -> T {
    thread_local! {
        static FOLDER: RefCell<Option<(tempfile::TempDir, PathBuf)>> = const { RefCell::new(None) };
    }
    FOLDER.with_borrow_mut(|kept| {
        let (_, path) = kept.get_or_insert_with(|| {
            let in_memory = tempfile::tempdir_in("/dev/shm");
            let folder = in_memory.or_else(|_| tempfile::tempdir()).expect("a temporary folder");
            let path = folder.path().canonicalize().expect("it was just made");
            (folder, path)
        });
        use_folder(path)
    })
}

/// Puts `bytes` where a file is looked for, and says where that is.
fn file(below: &str, bytes: &[u8]) -> PathBuf {
    in_folder(|folder| {
        let path = folder.join(below);
        if std::fs::write(&path, bytes).is_err() {
            std::fs::create_dir_all(path.parent().expect("it is below the folder"))
                .and_then(|()| std::fs::write(&path, bytes))
                .expect("the folder can be written to");
        }
        path
    })
}

/// The folder itself.
fn folder() -> PathBuf {
    in_folder(Clone::clone)
}

/// What must never reach a terminal: controls, and characters that change the direction of text.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}
