//! Pure text algorithms: sanitising, diff, merging, syntax, recovery of structured answers.
//!
//! Owns no state and must not do IO.

mod align;
pub mod amounts;
pub mod answer_words;
mod c_balance;
mod c_branches;
pub mod c_calls;
mod c_errors;
mod c_gaps;
mod c_idioms;
mod c_level;
mod c_scope;
mod c_source;
pub mod c_tokens;
pub mod citations;
pub mod cmake;
pub mod colouring;
pub mod confusables;
pub mod contain;
pub mod credentials;
pub mod cut;
pub mod diff;
mod diff_line;
pub mod encoding;
pub mod esp_log;
pub mod file_blocks;
pub mod growing_json;
pub mod includes;
pub mod insert;
pub mod inspect;
pub mod invisible;
pub mod json;
mod lenient_json;
pub mod line_pairs;
pub mod line_syntax;
pub mod lines;
pub mod log_level;
pub mod mark;
pub mod merge;
pub mod patch;
pub mod pattern;
pub mod pdf;
pub mod plan_order;
pub mod posing_marks;
pub mod recover;
pub mod redact;
pub mod references;
pub mod reverty;
pub mod sanitize;
pub mod secrets;
pub mod select;
pub mod shipped;
pub mod sketch;
pub mod syntax;
mod syntax_edit;
mod syntax_error;
mod syntax_grammar;
pub mod syntax_versions;
pub mod toon;
pub mod tree;
pub mod values;
pub mod words;

/// Compiles the patterns and grammars that the checks and colours of a first change need; some
/// 15 ms that are better spent before somebody waits.
pub fn warm_up() {
    let _ = credentials::secrets("", "");
    for language in [tree::Language::C, tree::Language::Cmake] {
        let _ = syntax::highlight(language, "");
    }
}
