//! Reads a script and refuses, by file and line, what could not be played.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::comment;
use super::condition::When;
use super::format::{
    CallTable, FileTable, FilesWord, NextTable, ScriptFile, StepTable, TimingTable,
};
use super::pace::Timing;
use super::script::{AnswerFiles, Aside, Call, NextStep, RecordedFile, Script, ScriptStep};
use crate::model::{AgentName, ProjectPath, ToolName, UserError};
use crate::text::lines::line_at;

/// Reads a file beside the script.
pub type Sibling<'a> = &'a dyn Fn(&str) -> Result<String, UserError>;

/// The version of the format that is read.
const FORMAT: u32 = 1;
/// The team of a script that does not say.
pub(super) const TEAM: &str = "generate";
/// The word for the files of the last refusal.
const REJECTED: &str = "rejected";

/// Reads and checks the script in `text`; `origin` is its file in messages, and `sibling`
/// reads the files it names.
///
/// # Errors
/// Anything unknown, missing, contradictory or out of reach; the error names file and line.
pub fn parse_script(origin: &str, text: &str, sibling: Sibling<'_>) -> Result<Script, UserError> {
    let source = ScriptSource { file: origin, text };
    let parsed: ScriptFile = source.parse()?;
    if *parsed.format.get_ref() != FORMAT {
        let why = format!("its format is {}, not {FORMAT}", parsed.format.get_ref());
        return Err(source.wrong(&parsed.format.span(), why, "Use a script of that format."));
    }
    let mut files = ScriptNames::default();
    for (name, table) in &parsed.files {
        files.add(name, source.file(name, table, sibling)?);
    }
    let mut places = BTreeMap::new();
    for (place, step) in parsed.steps.iter().enumerate() {
        let id = &step.get_ref().id;
        if places.insert(id.get_ref().clone(), place).is_some() {
            let why = format!("there are two steps `{}`", id.get_ref());
            return Err(source.wrong(&id.span(), why, "Give each step its own id."));
        }
    }
    let steps: Result<Vec<ScriptStep>, _> = parsed
        .steps
        .iter()
        .map(|step| source.step(step, &mut files, &places, parsed.verbatim))
        .collect();
    let script = Script {
        file: origin.to_owned(),
        title: parsed.title.clone(),
        task: parsed.task.clone(),
        team: parsed.team.clone().unwrap_or_else(|| TEAM.to_owned()),
        project: source.project(parsed.project.as_ref())?,
        verbatim: parsed.verbatim,
        timing: source.timing(parsed.timing.as_ref())?,
        start: source.place(&parsed.start, &places)?,
        starts: source.nexts(&parsed.starts, &places)?,
        steps: steps?,
        files: files.files,
        asides: source.asides(&parsed)?,
    };
    source.all_reached(&script, &parsed)?;
    match files.unused.first_key_value() {
        Some((name, span)) => {
            let why = format!("no step hands in the file `{name}`");
            Err(source.wrong(span, why, "Remove it, or name it in a step."))
        }
        None => Ok(script),
    }
}

/// The names of `[files]`, and those no step has used yet.
#[derive(Default)]
struct ScriptNames {
    files: Vec<RecordedFile>,
    places: BTreeMap<String, usize>,
    unused: BTreeMap<String, Range<usize>>,
}

impl ScriptNames {
    fn add(&mut self, name: &Spanned<String>, file: RecordedFile) {
        self.places.insert(name.get_ref().clone(), self.files.len());
        self.unused.insert(name.get_ref().clone(), name.span());
        self.files.push(file);
    }
}

/// The script's text and its name.
pub(super) struct ScriptSource<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

impl ScriptSource<'_> {
    fn line(&self, span: &Range<usize>) -> usize {
        line_at(self.text, span.start)
    }

    fn wrong(&self, span: &Range<usize>, why: impl Into<String>, fix: &str) -> UserError {
        let line = self.line(span);
        UserError::new(format!("Cannot use {}, line {line}", self.file), why, fix)
    }

    pub fn parse<T: for<'de> Deserialize<'de>>(&self) -> Result<T, UserError> {
        toml::from_str(self.text).map_err(|error| {
            let why = error.message().trim().replace('\n', ", ");
            self.wrong(&error.span().unwrap_or(0..0), why, "Correct or remove that line.")
        })
    }

    pub fn project(&self, name: Option<&Spanned<String>>) -> Result<Option<String>, UserError> {
        let Some(name) = name else { return Ok(None) };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !name.get_ref().is_empty() && name.get_ref().chars().all(is_plain) {
            return Ok(Some(name.get_ref().clone()));
        }
        let why = format!("`{}` is not a folder of assets/projects", name.get_ref());
        Err(self.wrong(&name.span(), why, "Use letters, digits, `-` and `_`."))
    }

    fn timing(&self, table: Option<&TimingTable>) -> Result<Timing, UserError> {
        let Some(table) = table else { return Ok(Timing::default()) };
        let chars_per_second = *table.chars_per_second.get_ref();
        if chars_per_second == 0 {
            let why = "at 0 characters a second there would be no output";
            return Err(self.wrong(&table.chars_per_second.span(), why, "Use 1 or more."));
        }
        Ok(Timing { chars_per_second, think_ms: table.think_ms })
    }

    fn file(
        &self,
        name: &Spanned<String>,
        table: &FileTable,
        sibling: Sibling<'_>,
    ) -> Result<RecordedFile, UserError> {
        let path = table.path.as_ref().unwrap_or(name);
        let checked = ProjectPath::new(path.get_ref()).map_err(|error| {
            self.wrong(&path.span(), error.to_string(), "Use a path inside the project.")
        })?;
        if comment::style(checked.as_str()).is_none() {
            let why = format!("the comment syntax of `{checked}` is unknown");
            let fix = "Use C, CMake, Kconfig, YAML, TOML, CSV, Python, shell or text files.";
            return Err(self.wrong(&path.span(), why, fix));
        }
        let versions: Result<Vec<String>, _> =
            table.versions.get_ref().iter().map(|at| self.sibling(at, sibling)).collect();
        let versions = versions?;
        if versions.is_empty() {
            let why = format!("`{checked}` has no version");
            return Err(self.wrong(&table.versions.span(), why, "Name at least one file."));
        }
        Ok(RecordedFile { path: checked.as_str().to_owned(), versions })
    }

    fn sibling(&self, at: &Spanned<String>, read: Sibling<'_>) -> Result<String, UserError> {
        let is_sibling = ProjectPath::new(at.get_ref()).is_ok_and(|p| p.as_str() == at.get_ref());
        if !is_sibling {
            let why = format!("`{}` is not a file next to the script", at.get_ref());
            return Err(self.wrong(&at.span(), why, "Use a relative path without `..`."));
        }
        read(at.get_ref()).map_err(|error| {
            let why = format!("there is no use of `{}`: {error}", at.get_ref());
            self.wrong(&at.span(), why, "Correct the name, or put the file there.")
        })
    }

    fn step(
        &self,
        step: &Spanned<StepTable>,
        files: &mut ScriptNames,
        places: &BTreeMap<String, usize>,
        verbatim: bool,
    ) -> Result<ScriptStep, UserError> {
        let (span, table) = (step.span(), step.get_ref());
        let list = table.list.as_ref().map(|list| self.files(list, files)).transpose()?;
        let calls: Result<Vec<Call>, _> =
            table.calls.iter().map(|call| self.call(call, files)).collect();
        let calls = calls?;
        if table.say.is_empty() && calls.is_empty() && list.is_none() {
            let why = format!("step `{}` has no text and no call", table.id.get_ref());
            return Err(self.wrong(&table.id.span(), why, "Add `say`, `list` or `calls`."));
        }
        if table.next.is_empty() != table.end {
            let why =
                format!("step `{}` must have either `next` or `end = true`", table.id.get_ref());
            return Err(self.wrong(
                &table.id.span(),
                why,
                "Name the next step, or set `end = true`.",
            ));
        }
        Ok(ScriptStep {
            id: table.id.get_ref().clone(),
            line: self.line(&span),
            agent: AgentName::new(table.agent.clone()),
            expect: table.expect.clone(),
            say: match verbatim {
                true => table.say.clone(),
                false => table.say.trim_end().to_owned(),
            },
            list,
            calls,
            next: self.nexts(&table.next, places)?,
        })
    }

    fn asides(&self, parsed: &ScriptFile) -> Result<Vec<Aside>, UserError> {
        let mut asides: Vec<Aside> = Vec::with_capacity(parsed.asides.len());
        for spanned in &parsed.asides {
            let aside = spanned.get_ref();
            let wrong = |why: String, fix: &str| Err(self.wrong(&spanned.span(), why, fix));
            if aside.say.trim().is_empty() {
                return wrong("the aside is empty".to_owned(), "Add `say`.");
            }
            if asides.iter().any(|before| before.agent.is_none() && before.mentions.is_none()) {
                let why = "an earlier aside matches every question, so this one is never used";
                return wrong(why.to_owned(), "Put the aside that fits everything last.");
            }
            let speaks = |name: &AgentName| {
                parsed.steps.iter().any(|step| step.get_ref().agent == name.as_str())
            };
            if let Some(name) = aside.agent.as_ref().filter(|name| !speaks(name)) {
                return wrong(format!("no step belongs to `{name}`"), "Name an agent of a step.");
            }
            asides.push(Aside { say: aside.say.trim_end().to_owned(), ..aside.clone() });
        }
        Ok(asides)
    }

    fn files(
        &self,
        word: &Spanned<FilesWord>,
        names: &mut ScriptNames,
    ) -> Result<AnswerFiles, UserError> {
        let wrong = |why: String, fix: &str| Err(self.wrong(&word.span(), why, fix));
        let listed = match word.get_ref() {
            FilesWord::Word(word) if word == REJECTED => return Ok(AnswerFiles::Rejected),
            FilesWord::Word(word) => {
                let why = format!("`{word}` is neither a list of names nor the word `rejected`");
                return wrong(why, "Use `[\"NAME\"]` with names from `[files]`.");
            }
            FilesWord::Names(listed) => listed,
        };
        let mut places = Vec::with_capacity(listed.len());
        let mut paths = BTreeSet::new();
        for name in listed {
            let Some(&place) = names.places.get(name) else {
                let known: Vec<&str> = names.places.keys().map(String::as_str).collect();
                let fix = format!("There are: {}.", known.join(", "));
                return wrong(format!("there is no file `{name}`"), &fix);
            };
            let path = names.files.get(place).map(|file| file.path.clone()).unwrap_or_default();
            if !paths.insert(path) {
                return wrong(format!("`{name}` is handed in twice"), "Name each file once.");
            }
            names.unused.remove(name);
            places.push(place);
        }
        if places.is_empty() {
            return wrong("the list of files is empty".to_owned(), "Name files, or remove it.");
        }
        Ok(AnswerFiles::Named(places))
    }

    fn call(&self, table: &CallTable, names: &mut ScriptNames) -> Result<Call, UserError> {
        let files = table.files.as_ref().map(|files| self.files(files, names)).transpose()?;
        if files.is_some() && table.args.contains_key("files") {
            let why = "the call has both `files` and `args.files`";
            return Err(self.wrong(&table.tool.span(), why, "Keep one of them."));
        }
        if table.raw.is_some() && (files.is_some() || !table.args.is_empty()) {
            let why = "the call has `raw` arguments and others";
            return Err(self.wrong(&table.tool.span(), why, "Keep one of them."));
        }
        let (tool, args) = (ToolName::new(table.tool.get_ref()), table.args.clone());
        Ok(Call { tool, args, raw: table.raw.clone(), files })
    }

    fn place(
        &self,
        id: &Spanned<String>,
        places: &BTreeMap<String, usize>,
    ) -> Result<usize, UserError> {
        places.get(id.get_ref()).copied().ok_or_else(|| {
            let why = format!("there is no step `{}`", id.get_ref());
            self.wrong(&id.span(), why, "Use the id of a step.")
        })
    }

    fn nexts(
        &self,
        tables: &[Spanned<NextTable>],
        places: &BTreeMap<String, usize>,
    ) -> Result<Vec<NextStep>, UserError> {
        let mut nexts: Vec<NextStep> = Vec::with_capacity(tables.len());
        for table in tables {
            if nexts.last().is_some_and(|last| last.when.is_none()) {
                let why = "the entry before it has no `when`, so this one is never reached";
                return Err(self.wrong(&table.span(), why, "Put the entry without `when` last."));
            }
            let table = table.get_ref();
            let when = table.when.as_ref().map(|when| self.when(when)).transpose()?;
            nexts.push(NextStep { when, goto: self.place(&table.goto, places)? });
        }
        Ok(nexts)
    }

    fn when(&self, spanned: &Spanned<When>) -> Result<When, UserError> {
        let when = spanned.get_ref();
        let wrong = |why: &str, fix: &str| Err(self.wrong(&spanned.span(), why, fix));
        if *when == When::default() {
            return wrong("`when` has no condition", "Remove it, or add one.");
        }
        match (&when.at, when.tests().len()) {
            (_, 2..) => wrong("`exists`, `equals` and `contains` exclude each other", "Keep one."),
            (Some(_), 0) => {
                let fix = "Add `exists`, `equals` or `contains`.";
                wrong("`at` names a place, but no condition follows", fix)
            }
            (Some(at), _) if !(at.is_empty() || at.starts_with('/')) => {
                wrong("`at` is not a JSON pointer", "Begin it with `/`, e.g. `/errors/0`.")
            }
            _ => Ok(when.clone()),
        }
    }

    fn all_reached(&self, script: &Script, parsed: &ScriptFile) -> Result<(), UserError> {
        let mut open: Vec<usize> = script.starts.iter().map(|start| start.goto).collect();
        open.push(script.start);
        let mut reached: BTreeSet<usize> = open.iter().copied().collect();
        while let Some(step) = open.pop().and_then(|place| script.steps.get(place)) {
            for next in &step.next {
                if reached.insert(next.goto) {
                    open.push(next.goto);
                }
            }
        }
        let unreached = parsed.steps.iter().enumerate().find(|(at, _)| !reached.contains(at));
        match unreached {
            Some((_, step)) => {
                let id = &step.get_ref().id;
                let why = format!("no step goes to `{}`", id.get_ref());
                Err(self.wrong(&id.span(), why, "Remove it, or go to it from another step."))
            }
            None => Ok(()),
        }
    }
}
