//! The indexes on other machines in `firmhand index list`: what they are, where, and whether they answer.

use serde_json::json;

use super::report;
use super::run::EventFormat;
use crate::app::machine::Machine;
use crate::app::remote_indexes;
use crate::model::UserError;
use crate::text::sanitize;

/// Asks each of them, and prints one line or one object for each; nothing when none is set up.
///
/// # Errors
/// When nothing can be printed.
pub fn print(machine: &Machine, format: EventFormat) -> Result<(), UserError> {
    for (facts, state) in remote_indexes::check(machine) {
        if format == EventFormat::Json {
            let mut value = json!({
                "name": facts.corpus.name, "version": facts.corpus.version,
                "licence": facts.corpus.licence, "language": "en", "passages": null, "root": null,
                "kind": facts.kind, "address": facts.address, "answers": state.is_ok(),
            });
            if let Err(why) = state {
                value["why"] = json!(sanitize::line(&why));
            }
            report::json(&value)?;
            continue;
        }
        let words = if state.is_ok() { "answers" } else { "no answer" };
        report::line(&format!(
            "{:24} {words:>16}  {:20} {}",
            sanitize::line(&facts.corpus.label()),
            facts.corpus.licence,
            sanitize::line(&facts.address),
        ));
        if let Err(why) = state {
            report::line(&format!("  {}", sanitize::line(&why)));
        }
    }
    Ok(())
}
