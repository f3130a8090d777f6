//! The one engine of findings: everything that is looked at before a change is decided.
//!
//! Every proposal gets these checks, whoever or whatever decides it, so that no tool, rule or batch
//! can leave them out. One file per family. A finding informs and never decides; nothing here may
//! write, and nothing may wait for a process.

mod addresses;
mod app_size;
mod beyond_task;
mod call_places;
mod capabilities;
mod changed_limits;
mod chip;
mod cmake_values;
mod commands;
mod comments;
mod complexity;
mod consequence;
mod constants;
mod context;
mod converted_units;
mod copied_lengths;
mod decides_nothing;
mod declared;
mod declared_uses;
mod double_encoded;
mod dropped_results;
mod efuse_code;
mod elided;
mod error_results;
mod exchanged;
mod exchanged_values;
mod expansion;
mod flash;
mod flash_code;
mod flash_commands;
mod flipped_tests;
mod guard_inputs;
mod guarded_checks;
mod handed_out;
mod host_cmake;
mod host_cmake_files;
mod host_code;
mod host_code_place;
mod host_docker;
mod host_files;
mod host_includes;
mod host_rules;
mod host_tools;
mod host_uploads;
mod images;
mod irreversible;
mod irreversible_rules;
mod known_answers;
mod layout_change;
mod layout_options;
mod left_out;
mod limit;
mod limit_names;
mod literals;
mod lost_conditions;
mod lost_errors;
mod lost_integrity;
mod lost_protections;
mod lost_reactions;
mod macros;
mod mixed_units;
mod moved;
mod moved_lines;
mod moved_values;
mod named_numbers;
mod narrowed_checks;
mod network_use;
mod novelty;
mod option_ranges;
mod origin;
mod outer_constants;
mod package_names;
mod packed_data;
mod partition_data;
mod partition_table;
mod pin_branches;
mod pin_data;
mod pin_flow;
mod pin_lists;
mod pin_loops;
mod pin_names;
mod pin_objects;
mod pin_options;
mod pin_readers;
mod pin_registers;
mod pin_rows;
mod pin_structures;
mod pin_use;
mod pin_uses;
mod pins;
mod place;
mod plain_values;
mod project_names;
mod proposed_files;
mod raised_limits;
mod removed;
mod removed_checks;
mod replaced_literals;
mod required_together;
mod safeguard_rows;
mod safeguards;
mod scaled_values;
mod scope;
mod secrets;
mod set_before_checks;
mod shadowed;
mod shell_lines;
mod short_comparisons;
mod side_by_side;
mod source;
mod subject;
mod substitutions;
mod swallowed;
mod table_numbers;
mod task_kind;
#[cfg(test)]
mod test_changes;
mod test_expectations;
mod test_tolerances;
mod tested;
mod text;
mod unbuilt;
mod unchecked_limits;
mod unguarded;
mod unread_inputs;
mod unrelated;
mod update_slots;
mod wanted_commands;
mod wanted_deletions;
mod wanted_layout;
mod web_installer;
mod wishes;
mod written_numbers;

use super::admission::name_conflict;
use crate::model::{Change, Check, CheckKind, Finding, FindingLevel, ProjectPath, Side};

pub use chip::find as chip_of;
pub use context::FindingsContext;
pub(super) use images::content_of;
pub(super) use proposed_files::ProposedFiles;
pub(super) use subject::Subject;

/// What follows from a change, in one line of facts; empty where there is nothing to say.
pub(super) fn consequence(subject: &Subject<'_>) -> String {
    subject.consequence.get_or_init(|| consequence::of(subject)).clone()
}

/// Adds what is found here to what the tool has looked at itself; what both have looked at is
/// told as it is found here. The heaviest come first.
pub(super) fn complete(subject: &Subject<'_>, known: Vec<Check>) -> Vec<Check> {
    let found = match subject.change {
        Change::Save { path, .. } | Change::Insert { path, .. } => file(path, subject),
        Change::Delete { path, base } => {
            let mut found = place::find(subject.project_dir, path, Some(base.hash));
            found.push(place::unreferenced(&subject.facts.references));
            found.extend(layout_change::deleted(path, subject));
            found.extend(scope::find(path, subject));
            found.extend(beyond(path, subject));
            found
        }
        Change::Flash(plan) => flash::find(plan, subject),
        // What there is to know is on screen: the region and whose it is, or every character.
        Change::Erase(_) | Change::Nvs(_) => Vec::new(),
        Change::Send(plan) => flash::sent(plan).into_iter().collect(),
        Change::Read(plan) => place::find(subject.project_dir, &plan.path, None),
    };
    let mut all = known;
    let mut merged: Vec<Check> = Vec::with_capacity(found.len());
    for check in found {
        match merged.iter_mut().find(|other| other.kind == check.kind) {
            Some(other) => {
                other.findings.extend(check.findings);
                other.findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
            }
            None => merged.push(check),
        }
    }
    all.retain(|known| !is_made_here(known.kind) || merged.iter().any(|f| f.kind == known.kind));
    for check in merged {
        match all.iter_mut().find(|known| known.kind == check.kind) {
            Some(known) => *known = check,
            None => all.push(check),
        }
    }
    all.sort_by_key(|check| std::cmp::Reverse(check.level()));
    all
}

/// A look at a file's new content or its place.
type Look = fn(&ProjectPath, &Subject<'_>) -> Vec<Check>;

/// All of them. Of findings that weigh the same, those of the first stand first.
const LOOKS: [Look; 25] = [
    |path, subject| text::parses(path, subject).into_iter().collect(),
    of_content,
    |path, subject| scope::find(path, subject).into_iter().collect(),
    |path, subject| beyond(path, subject).into_iter().collect(),
    |path, subject| name(path, subject).into_iter().collect(),
    |_, subject| text::compare(subject).into_iter().collect(),
    |path, subject| partition_table::find(path, subject).into_iter().collect(),
    |path, subject| layout_change::find(path, subject).into_iter().collect(),
    |path, subject| update_slots::find(path, subject).into_iter().collect(),
    |path, subject| secrets::find(path, subject).into_iter().collect(),
    |path, subject| irreversible::find(path, subject).into_iter().collect(),
    |_, subject| host_code::find(subject).into_iter().collect(),
    |path, subject| package_names::find(path, subject).into_iter().collect(),
    |path, subject| pins::find(path, subject).into_iter().collect(),
    |path, subject| flash_code::find(path, subject).into_iter().collect(),
    |path, subject| flash_commands::find(path, subject).into_iter().collect(),
    |path, subject| web_installer::find(path, subject).into_iter().collect(),
    // Gives no check: the line is only worked out here, at the same time as the others.
    |_, subject| {
        subject.consequence.get_or_init(|| consequence::of(subject));
        Vec::new()
    },
    |path, subject| tested::find(path, subject).into_iter().collect(),
    |path, subject| complexity::find(path, subject).into_iter().collect(),
    |path, subject| as_version(path, subject, changed_limits::find),
    |path, subject| as_version(path, subject, safeguards::find),
    |path, subject| declared::find(path, subject).into_iter().collect(),
    |path, subject| {
        unbuilt::find(path, subject).into_iter().chain(unbuilt::dropped(path, subject)).collect()
    },
    |path, subject| {
        let base = subject.change.before().map(|base| base.hash);
        place::find(subject.project_dir, path, base)
    },
];

/// What is found in comparison with the version before, which a new file may have under another name.
fn as_version(
    path: &ProjectPath,
    subject: &Subject<'_>,
    find: fn(&ProjectPath, &Subject<'_>) -> Option<Check>,
) -> Vec<Check> {
    let held = moved::version_before(path, subject);
    let found = match &held {
        Some(held) => find(path, &subject.with_base(held.as_bytes())),
        None => find(path, subject),
    };
    found.into_iter().collect()
}

/// The checks of a file's new content and its place.
fn file(path: &ProjectPath, subject: &Subject<'_>) -> Vec<Check> {
    let bytes = subject.content.len() + subject.base.map_or(0, <[u8]>::len);
    side_by_side::each(&LOOKS, bytes, |look| look(path, subject)).into_iter().flatten().collect()
}

/// What a change does that the task does not ask for, once somebody said what the run is about.
fn beyond(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    if !subject.context.has_task() {
        return None;
    }
    let mut findings = beyond_task::find(path, subject);
    findings.extend(addresses::find(path, subject));
    findings.extend(capabilities::find(path, subject));
    findings.extend(handed_out::find(path, subject));
    findings.extend(unguarded::find(path, subject));
    findings.extend(unrelated::find(path, subject));
    findings.extend(test_expectations::find(path, subject));
    findings.extend(test_expectations::wider(path, subject));
    findings.extend(test_expectations::looser(path, subject));
    findings.extend(test_expectations::skipped(path, subject));
    findings.extend(flipped_tests::find(path, subject));
    findings.extend(exchanged_values::find(subject));
    findings.extend(known_answers::find(path, subject));
    findings.extend(test_tolerances::find(path, subject));
    (!findings.is_empty()).then(|| Check::with(CheckKind::BeyondTask, findings))
}

/// Whether a new file takes a name that the framework has, or one that some systems take for another.
fn name(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    if subject.base.is_some() {
        return None;
    }
    if let Some(conflict) = name_conflict(subject.project_dir, path) {
        let finding = Finding::new(FindingLevel::Stop, conflict.why).advice(conflict.fix);
        return Some(Check::with(CheckKind::Name, vec![finding]));
    }
    if let Some(finding) = shadowed::of_micropython(path, subject) {
        return Some(Check::with(CheckKind::Name, vec![finding]));
    }
    let names = subject.context.names.as_ref().filter(|_| !shadowed::is_stub(path, subject))?;
    let conflict = names.conflict(path.file_name());
    let level = match names.hides_nothing(path.file_name()) {
        true => FindingLevel::Note,
        false => FindingLevel::Warning,
    };
    let finding = conflict.map(|conflict| {
        Finding::new(level, conflict.why).advice(format!("Name it `{}`.", conflict.suggestion))
    });
    let finding = finding.or_else(|| shadowed::find(path, subject, names));
    Some(Check::with(CheckKind::Name, finding.into_iter().collect()))
}

/// What is found in the content besides its syntax, and in comparison with others.
fn of_content(path: &ProjectPath, subject: &Subject<'_>) -> Vec<Check> {
    let mut found = readable(path, subject);
    excuse(path, subject, &mut found);
    let compared = origin::compare(path, subject);
    if let Some(origin) = found.iter_mut().find(|check| check.kind == CheckKind::Origin) {
        origin.findings.extend(compared);
        origin.findings.extend(elided::find(path, subject));
    }
    found
}

/// What is found in the content alone, besides its syntax.
fn readable(path: &ProjectPath, subject: &Subject<'_>) -> Vec<Check> {
    let mut found = text::find(path, subject);
    found.extend(origin::find(path, subject));
    found
}

/// What was so before, on a line that stays as it is, is not the fault of this change: it becomes a
/// note.
fn excuse(path: &ProjectPath, subject: &Subject<'_>, found: &mut [Check]) {
    let Some(before) = subject.before() else { return };
    let mut known: Option<Vec<Check>> = None;
    for check in found.iter_mut() {
        let kind = check.kind;
        for finding in check.findings.iter_mut().filter(|f| f.level > FindingLevel::Note) {
            let is_touched = finding.place.as_ref().is_none_or(|place| {
                place.side == Side::New && subject.changed().added.contains(&place.line)
            });
            if is_touched {
                continue;
            }
            let known = known.get_or_insert_with(|| readable(path, &before));
            let same = |was: &Finding| was.text == finding.text;
            let was_so = known.iter().any(|was| was.kind == kind && was.findings.iter().any(same));
            if was_so {
                finding.level = FindingLevel::Note;
                finding.phrase = None;
                finding.text.push_str(", unchanged");
            }
        }
    }
}

/// Checks of the content and the place, which are made again when a proposal is restated.
const fn is_made_here(kind: CheckKind) -> bool {
    match kind {
        CheckKind::Encoding
        | CheckKind::LineEnds
        | CheckKind::Lookalikes
        | CheckKind::Size
        | CheckKind::Secrets
        | CheckKind::BaseUnchanged
        | CheckKind::Compiles
        | CheckKind::Irreversible
        | CheckKind::PartitionTable
        | CheckKind::HostCode
        | CheckKind::Origin
        | CheckKind::Pins
        | CheckKind::BootUntouched
        | CheckKind::Scope
        | CheckKind::BeyondTask
        | CheckKind::Tests
        | CheckKind::Complexity
        | CheckKind::Limits
        | CheckKind::Safeguards
        | CheckKind::Declared
        | CheckKind::InProject => true,
        CheckKind::Parses
        | CheckKind::Name
        | CheckKind::InCmake
        | CheckKind::Text
        | CheckKind::BuildFresh
        | CheckKind::Unreferenced
        | CheckKind::Fits
        | CheckKind::Stored
        | CheckKind::Images
        | CheckKind::Merged => false,
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::model::{BlobRef, ContentHash, Facts};
    use crate::workspace::ProjectDir;

    #[test]
    fn what_is_found_side_by_side_is_what_is_found_one_after_another() {
        let folder = tempfile::tempdir().unwrap();
        let project_dir = ProjectDir::open(folder.path()).unwrap();
        let mut context = FindingsContext::default();
        context.chip = Some("esp32".to_owned());
        let mut text = String::from("#define WIFI_PASSWORD \"Tr0ub4dor&3x\"\n");
        // Much text and little to read: whatever is bounded by time is done in time.
        let comment = "-".repeat(200);
        for number in 0..40 {
            writeln!(text, "void f{number}(void) {{ gpio_set_level({number}, 1); }}").unwrap();
            writeln!(text, "// {comment}").unwrap();
        }
        let base = text.replace("1);", "0);");
        text.push_str("int broken( {\n// \u{202e}\n");
        let blob = |text: &str| BlobRef {
            hash: ContentHash::of(text.as_bytes()),
            bytes: text.len() as u64,
        };
        let path = ProjectPath::new("main/a.c").unwrap();
        let (content, base) = (text.as_str(), base.as_str());
        for before in [None, Some(base)] {
            let change =
                Change::Save { path: path.clone(), base: before.map(blob), content: blob(content) };
            let facts = Facts::default();
            let versions = (before.map(str::as_bytes), content.as_bytes());
            let subject = || Subject::new(&change, versions, &facts, &project_dir, &context);
            let alone = subject();
            let one_by_one: Vec<Check> =
                LOOKS.iter().flat_map(|look| look(&path, &alone)).collect();
            let weighty = one_by_one.iter().filter(|check| check.level().is_some()).count();
            assert!(weighty >= 3, "{one_by_one:?}");
            for _ in 0..20 {
                assert_eq!(file(&path, &subject()), one_by_one);
            }
        }
    }
}
