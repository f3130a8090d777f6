//! How fast changes are found and coloured: `cargo bench --bench diff`.
//!
//! Prints medians; without `--bench` it makes one small round, to show that it works.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may stop")]

use std::time::Instant;

use firmhand::model::ProjectPath;
use firmhand::text::diff::{Options, diff};
use firmhand::text::syntax::{first_error, highlight};
use firmhand::text::syntax_versions::{changes_of, highlight_versions};
use firmhand::text::tree::Language;

fn main() {
    let is_bench = std::env::args().any(|arg| arg == "--bench");
    let (lines, rounds) = if is_bench { (10_000, 15) } else { (400, 1) };
    let (old, new) = versions(lines);
    println!("file: {lines} lines, {} kB, a change every 20 lines", old.len() / 1000);
    let found = diff(old.as_bytes(), new.as_bytes(), Options::default());
    println!("found: {} hunks, +{} -{}", found.hunks.len(), found.added, found.removed);
    review(&old, &new, rounds);
    report("diff with words", rounds, || diff(old.as_bytes(), new.as_bytes(), Options::default()));
    report("unified form", rounds, || found.unified("a/x.c", "b/x.c"));
    let strange: String = new.lines().rev().flat_map(|line| [line, "\n"]).collect();
    report("diff of a file with its lines reversed", rounds.min(3), || {
        diff(old.as_bytes(), strange.as_bytes(), Options::default())
    });
    report("syntax colours, C", rounds, || highlight(Language::C, &new));
    let path = ProjectPath::new("main/x.c").unwrap();
    report("does it parse, C", rounds, || first_error(&path, &new));
}

/// What the review does before its first screen, and what until all of it is coloured: the
/// comparison with all of the file around it, then the new version and what only the old one has
/// coloured.
fn review(old: &str, new: &str, rounds: usize) {
    let options = Options { context: usize::MAX, ..Options::default() };
    let compare = || diff(old.as_bytes(), new.as_bytes(), options);
    report("review: compared, ready for its first screen", rounds, compare);
    report("review: compared and coloured as a whole", rounds, || {
        let found = compare();
        let changes = changes_of(&found).unwrap();
        (highlight_versions(Language::C, old, new, &changes), found)
    });
}

fn versions(lines: usize) -> (String, String) {
    let line = |n: usize| match n % 8 {
        0 => format!("static esp_err_t step_{n}(i2c_master_dev_handle_t device)\n"),
        1 => "{\n".to_owned(),
        2 => format!("    uint8_t register_{n} = 0x{:02x}; /* as the sheet says */\n", n % 256),
        3 => format!("    for (int i = 0; i < {}; i++) {{\n", n % 17),
        4 => format!("        ESP_LOGI(TAG, \"value %d of {n}\", i);\n"),
        5 => "    }\n".to_owned(),
        6 => "    return ESP_OK;\n".to_owned(),
        _ => "}\n".to_owned(),
    };
    let old: Vec<String> = (0..lines).map(line).collect();
    let mut new = old.clone();
    for at in (0..lines).step_by(20) {
        new[at] = new[at].replace("return ESP_OK", "return ESP_FAIL").replace("step", "stage");
        new[at] = new[at].replace('\n', " // changed\n");
    }
    (old.concat(), new.concat())
}

fn report<T>(what: &str, rounds: usize, mut work: impl FnMut() -> T) {
    let mut times: Vec<_> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(work());
            start.elapsed()
        })
        .collect();
    times.sort();
    println!("{what:<42} {:>9.2} ms", times[times.len() / 2].as_secs_f64() * 1000.0);
}
