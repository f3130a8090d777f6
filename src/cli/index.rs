//! `firmhand index` and `firmhand search`: the documents that are searched, and a search.
//!
//! Owns what is printed; indexes and ranking are in `crate::knowledge`.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use serde_json::json;

use super::index_args::{IndexArgs, IndexCommand, SearchArgs};
use super::run::EventFormat;
use super::{remote_list, report, search_filter};
use crate::app::documentation::{Documentation, IndexScope, remove_index};
use crate::app::machine::Machine;
use crate::knowledge::{
    self, BuildReport, ChipSet, Corpus, Filter, Found, PassageIndex, SearchAnswer,
};
use crate::model::UserError;
use crate::text::sanitize;
use crate::tools::ToolError;
use crate::view::plural;

/// What is said where neither a framework is found nor a document was added.
const NOTHING_TO_BUILD: &str = "There is nothing to build: no ESP-IDF was found, and no document was \
     added. Set `IDF_PATH` to the folder of ESP-IDF, or run `firmhand index add PATH`; the notes of \
     this program need no index.";

/// Runs `index`.
///
/// # Errors
/// When documents or their index cannot be read or written.
pub fn run(machine: &Machine, args: IndexArgs, project: &Path) -> Result<ExitCode, UserError> {
    search_filter::check_project("Cannot work with the documents", project)?;
    let documentation = Documentation::of(machine, Some(project));
    match args.command.unwrap_or(IndexCommand::List { json: false }) {
        IndexCommand::List { json } => {
            let format = if json { EventFormat::Json } else { EventFormat::Text };
            list(&documentation, format)?;
            remote_list::print(machine, format)?;
        }
        IndexCommand::Add { path, here } => {
            let scope = if here { IndexScope::Project } else { IndexScope::All };
            let start = Instant::now();
            let tell = |corpus: &Corpus, done, all| progress(corpus)(done, all);
            let (corpus, built) = documentation.add(&path, scope, &tell)?;
            print_built(&corpus, &built, start);
            build_vectors(&documentation, &corpus)?;
        }
        IndexCommand::Remove { path } => {
            let removed = documentation.remove(&path)?.display().to_string();
            report::line(&format!("Removed {}", sanitize::line(&removed)));
        }
        IndexCommand::Build => return build_all(&documentation),
        IndexCommand::Check => return check(&documentation),
    }
    Ok(ExitCode::SUCCESS)
}

fn list(documentation: &Documentation<'_>, format: EventFormat) -> Result<(), UserError> {
    let library = documentation.library(&|_| Ok(false))?;
    say_left_out(library.left_out());
    let mut rows: Vec<(Corpus, Option<u64>)> =
        library.corpora().map(|(corpus, passages)| (corpus.clone(), Some(passages))).collect();
    for corpus in documentation.corpora()? {
        if !rows.iter().any(|(known, _)| known.root == corpus.root) {
            rows.push((corpus, None));
        }
    }
    for (corpus, passages) in rows {
        let root = corpus.root.display().to_string();
        if format == EventFormat::Json {
            report::json(&json!({
                "name": corpus.name, "version": corpus.version, "licence": corpus.licence,
                "language": "en", "passages": passages, "root": root,
            }))?;
        } else {
            let state = passages.map_or("not indexed".to_owned(), |count| plural(count, "passage"));
            let root = if root.is_empty() { "inside the program" } else { &root };
            report::line(&format!(
                "{:24} {state:>16}  {:20} {}",
                sanitize::line(&corpus.label()),
                corpus.licence,
                sanitize::line(root),
            ));
        }
    }
    Ok(())
}

/// Builds every index; what cannot be built is named, and does not keep the others from it.
fn build_all(documentation: &Documentation<'_>) -> Result<ExitCode, UserError> {
    let mut code = ExitCode::SUCCESS;
    let missing = documentation.missing_framework();
    if let Some(why) = &missing {
        report::aside(&format!("not indexed: {why}"));
        code = ExitCode::FAILURE;
    }
    let corpora = documentation.corpora()?;
    for corpus in &corpora {
        if let Err(error) = build(documentation, corpus) {
            report::aside(&format!(
                "not indexed: {}: {}. {}",
                sanitize::line(&corpus.label()),
                error.why,
                error.fix
            ));
            code = ExitCode::FAILURE;
        }
    }
    if corpora.is_empty() && missing.is_none() {
        report::line(NOTHING_TO_BUILD);
    }
    Ok(code)
}

/// Builds one index, and says on standard error how far it is.
fn build(documentation: &Documentation<'_>, corpus: &Corpus) -> Result<(), UserError> {
    let start = Instant::now();
    let built = documentation.build(corpus, &progress(corpus))?;
    print_built(corpus, &built, start);
    build_vectors(documentation, corpus)
}

/// Says what was indexed, and what was not.
fn print_built(corpus: &Corpus, built: &BuildReport, start: Instant) {
    const MOST: usize = 20;
    report::line(&format!(
        "{}: {}, {}; {} read, {} removed in {:.1} s",
        sanitize::line(&corpus.label()),
        plural(built.files, "file"),
        plural(built.passages, "passage"),
        built.read,
        built.removed,
        start.elapsed().as_secs_f64(),
    ));
    for (file, why) in built.refused.iter().take(MOST) {
        report::line(&format!("  {}: {}", sanitize::line(file), sanitize::line(why)));
    }
    if let more @ 1.. = built.refused.len().saturating_sub(MOST) {
        report::line(&format!("  and {more} more that could not be read"));
    }
    if let Some(words) = unread_words(&corpus.unread()) {
        report::line(&format!("  {words}"));
    }
}

/// How many files were passed over for their kind; nothing when there are none.
fn unread_words(unread: &[(String, usize)]) -> Option<String> {
    const MOST: usize = 6;
    let all: usize = unread.iter().map(|(_, count)| count).sum();
    let mut kinds: Vec<String> = unread
        .iter()
        .take(MOST)
        .map(|(kind, count)| format!("{count} {}", sanitize::line(kind)))
        .collect();
    if unread.len() > MOST {
        kinds.push("others".to_owned());
    }
    let words =
        || format!("{} of kinds that are not read: {}", plural(all, "file"), kinds.join(", "));
    (all > 0).then(words)
}

/// Makes the vectors of one index, if an endpoint is set up for that.
fn build_vectors(documentation: &Documentation<'_>, corpus: &Corpus) -> Result<(), UserError> {
    let start = Instant::now();
    if let Some(built) = documentation.build_vectors(corpus, &vector_progress(corpus))? {
        report::line(&format!(
            "{}: {}; {} made in {:.1} s",
            sanitize::line(&corpus.label()),
            plural(built.vectors, "vector"),
            built.made,
            start.elapsed().as_secs_f64(),
        ));
    }
    Ok(())
}

fn progress(corpus: &Corpus) -> impl Fn(usize, usize) + Sync {
    let label = sanitize::line(&corpus.label()).into_owned();
    let is_shown = std::io::stderr().is_terminal();
    move |done, all| {
        if is_shown && done.is_multiple_of(1_000) && done > 0 {
            let all = plural(all, "file");
            report::aside(&format!("indexing {label}: {done} of {all}"));
        }
    }
}

/// Making vectors takes minutes, so it is said each time some are done.
fn vector_progress(corpus: &Corpus) -> impl Fn(usize, usize) {
    let label = sanitize::line(&corpus.label()).into_owned();
    let is_shown = std::io::stderr().is_terminal();
    move |done, all| {
        if is_shown && done.is_multiple_of(640) {
            report::aside(&format!("vectors of {label}: {done} of {all}"));
        }
    }
}

fn check(documentation: &Documentation<'_>) -> Result<ExitCode, UserError> {
    let mut code = ExitCode::SUCCESS;
    for corpus in documentation.corpora()? {
        let folder = documentation.index_folder(&corpus);
        let state = match knowledge::info(&folder) {
            None => Err("it is not indexed; run `firmhand index build`".to_owned()),
            Some(_) if !corpus.root.exists() => Err("its folder is not there".to_owned()),
            Some(_) => match PassageIndex::open(&folder).and_then(|index| index.damaged()) {
                Ok(0) => Ok(()),
                Ok(files) => {
                    remove_index(&folder)?;
                    let files = plural(files, "damaged file");
                    Err(format!("{files}; removed, it is built again when needed"))
                }
                Err(error) => Err(error.to_string()),
            },
        };
        if state.is_err() {
            code = ExitCode::FAILURE;
        }
        let words = state.err().unwrap_or_else(|| "ok".to_owned());
        report::line(&format!("{}: {words}", sanitize::line(&corpus.label())));
    }
    Ok(code)
}

/// Runs `search`.
///
/// # Errors
/// When the arguments name no chip, or nothing can be searched.
pub fn search(machine: &Machine, args: &SearchArgs, project: &Path) -> Result<ExitCode, UserError> {
    match (found(machine, args, project), args.json) {
        (Ok(answer), true) => {
            let results: Vec<_> = answer.found.iter().map(result).collect();
            let mut value = json!({ "ok": true, "results": results });
            if !answer.left_out.is_empty() {
                value["not_searched"] = json!(answer.left_out);
            }
            report::json(&value)?;
        }
        (Ok(answer), false) => print(&answer.found),
        (Err(error), true) => {
            report::json(&ToolError::from_user_error("search_failed", &error).to_answer())?;
            return Ok(ExitCode::FAILURE);
        }
        (Err(error), false) => return Err(error),
    }
    Ok(ExitCode::SUCCESS)
}

/// What there is for the question, and what was not searched; indexes what is not indexed yet.
fn found(machine: &Machine, args: &SearchArgs, project: &Path) -> Result<SearchAnswer, UserError> {
    let documentation = Documentation::of(machine, Some(project));
    search_filter::check_project("Cannot search", project)?;
    let mut corpora = documentation.corpora()?;
    let remotes = machine.settings.search.remotes.iter();
    corpora.extend(remotes.map(|(name, entry)| Corpus::remote(name, &entry.says.version)));
    let filter = search_filter::of(args, &corpora, project)?;
    let query = args.query.join(" ");
    let own = filter.own_kinds();
    let mut answer = match filter.of_documents() {
        Some(filter) => in_documents(&documentation, &query, args.k, &filter)?,
        None => SearchAnswer::default(),
    };
    if !own.is_empty() {
        let filter = Filter { kinds: own.clone(), ..filter };
        let k = usize::from(args.k);
        answer.join(documentation.own_library(&own)?.search(&query, k, &filter)?, k);
    }
    say_left_out(&answer.left_out);
    Ok(answer)
}

/// The same in everything but the person's own work.
fn in_documents(
    documentation: &Documentation<'_>,
    query: &str,
    k: u16,
    filter: &Filter,
) -> Result<SearchAnswer, UserError> {
    let build_missing = |corpus: &Corpus| {
        report::aside(&format!("indexing {}, once", sanitize::line(&corpus.label())));
        documentation.build_missing(corpus, &progress(corpus)).map(|_| true)
    };
    let k = usize::from(k);
    let mut library = documentation.library(&build_missing)?;
    match library.search(query, k, filter) {
        Ok(answer) => Ok(answer),
        Err(error) => {
            // A damaged index is built again, once; what is sound stays.
            if !remove_damaged(documentation)? {
                return Err(error);
            }
            library = documentation.library(&build_missing)?;
            library.search(query, k, filter)
        }
    }
}

/// Says on standard error what is not searched.
fn say_left_out(left_out: &[String]) {
    for what in left_out {
        report::aside(&format!("not searched: {}", sanitize::line(what)));
    }
}

/// The passages for a person.
fn print(found: &[Found]) {
    if found.is_empty() {
        report::line(
            "Nothing was found. Try other words, or the name of a function, option or error.",
        );
    }
    for (number, found) in found.iter().enumerate() {
        report::line(&format!(
            "{}. {}\n   {} · {} · {}\n   {}\n{}\n",
            number + 1,
            sanitize::line(&found.passage.full_title()),
            sanitize::line(&found.passage.source()),
            found.passage.kind.name(),
            sanitize::line(&label(found)),
            sanitize::line(&found.why),
            indented(&found.passage.text),
        ));
    }
}

/// Removes the indexes that are damaged; whether there was one.
fn remove_damaged(documentation: &Documentation<'_>) -> Result<bool, UserError> {
    let mut was_removed = false;
    for corpus in documentation.corpora()? {
        let folder = documentation.index_folder(&corpus);
        if knowledge::info(&folder).is_some() && knowledge::is_damaged(&folder) {
            remove_index(&folder)?;
            was_removed = true;
        }
    }
    Ok(was_removed)
}

fn label(found: &Found) -> String {
    format!("{} {}", found.corpus, found.version).trim_end().to_owned()
}

/// The first lines of a text; says when there are more.
fn indented(text: &str) -> String {
    const MOST: usize = 12;
    let mut lines: Vec<String> =
        text.lines().take(MOST).map(|line| format!("   | {line}")).collect();
    match text.lines().count().saturating_sub(MOST) {
        0 => {}
        more => lines.push(format!("   … {more} more lines; `--json` prints them")),
    }
    lines.join("\n")
}

/// A result as `--json` prints it.
fn result(found: &Found) -> serde_json::Value {
    let passage = &found.passage;
    let mut value = json!({
        "source": passage.source(),
        "title": passage.full_title(),
        "kind": passage.kind.name(),
        "score": (f64::from(found.score) * 100.0).round() / 100.0,
        "why": found.why,
        "text": passage.text,
        "corpus": found.corpus,
        "version": found.version,
        "headings": passage.headings,
        "symbols": passage.symbols,
    });
    if passage.chips != ChipSet::ALL {
        value["chips"] = json!(passage.chips.names());
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_that_are_not_read_are_one_line() {
        let of = |kind: &str, count| (kind.to_owned(), count);
        assert_eq!(unread_words(&[]), None);
        let words = unread_words(&[of(".html", 2), of(".a\nb", 1)]).unwrap();
        assert_eq!(words, "3 files of kinds that are not read: 2 .html, 1 .a␊b");
    }
}
