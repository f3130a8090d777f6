//! `firmhand tool check_change`: the gate's findings about changes that nobody has proposed.
//!
//! Owns the form of the question and of the answer. What is found is the gate's business, and the
//! same for agents, rules and persons. Changes nothing.

use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::gate::{FindingsContext, chip_of, examine};
use crate::knowledge::{Knowledge, NameList};
use crate::model::{
    BoardInfo, BuildId, Check, ContentHash, Draft, DraftChange, FindingLevel, FlashImage,
    FlashPlan, PlanItem, ProjectPath, Proposal, Side, Timestamp, UserError,
};
use crate::workspace::ProjectDir;

/// Name of the tool.
pub(super) const NAME: &str = "check_change";

/// What it does, for the list of tools.
pub(super) const ABOUT: &str = "Shows what the review would find in changes, and changes nothing.";

/// How a question is asked.
const EXAMPLE: &str = "write e.g. `--args '{\"path\": \"main/main.c\", \"content\": \"…\"}'`";

/// What is asked about: one change, or several that belong together.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckChangeArgs {
    /// Several changes; instead of a single one.
    #[serde(default)]
    changes: Vec<ChangeInput>,
    /// The chip, e.g. `esp32s3`; found in the project when left out.
    #[serde(default)]
    chip: Option<String>,
    /// What the person asked for.
    #[serde(default)]
    task: String,
    /// Steps of the plan.
    #[serde(default)]
    plan: Vec<String>,
    #[serde(flatten)]
    single: ChangeInput,
}

/// One change.
#[derive(Debug, Deserialize, JsonSchema)]
struct ChangeInput {
    /// `save`, `insert`, `delete` or `flash`; `save` when left out.
    #[serde(default)]
    kind: ChangeKind,
    /// The file, relative to the project; for changes of files.
    #[serde(default)]
    path: Option<String>,
    /// What the file will hold.
    #[serde(default)]
    content: Option<String>,
    /// The same as base64, for what is not text.
    #[serde(default)]
    content_base64: Option<String>,
    /// What the file holds now; what is on disk when left out.
    #[serde(default)]
    base: Option<String>,
    /// For a flash: what is written where.
    #[serde(default)]
    images: Vec<Image>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ChangeKind {
    #[default]
    Save,
    Insert,
    Delete,
    Flash,
}

/// An image of a flash.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Image {
    /// File of the project.
    file: String,
    /// Where it goes: a number, or text such as `"0x1000"`.
    offset: Value,
    /// Its length, where the file is not there.
    #[serde(default)]
    bytes: Option<u64>,
}

/// Reads the arguments as JSON.
///
/// # Errors
/// When they are none.
pub(super) fn parse(args: &str) -> Result<Value, UserError> {
    serde_json::from_str(args).map_err(|error| {
        UserError::new("Cannot read the arguments as JSON", error.to_string(), EXAMPLE)
    })
}

/// The answer to a question about changes, a JSON object.
///
/// # Errors
/// When the question is not of the right form, or names a place outside of the project.
pub(super) fn answer(
    project: &Path,
    (names, knowledge): (NameList, Option<Arc<Knowledge>>),
    args: Value,
) -> Result<Value, UserError> {
    let args: CheckChangeArgs = serde_json::from_value(args).map_err(|error| {
        UserError::new("Cannot read a change from the arguments", error.to_string(), EXAMPLE)
    })?;
    let project_dir = ProjectDir::open(project)?;
    let mut context = FindingsContext::default();
    let chip = args.chip.or_else(|| chip_of(&project_dir));
    context.chip.clone_from(&chip);
    context.task = args.task;
    context.plan = args.plan.into_iter().map(|task| PlanItem { task, agent: None }).collect();
    context.names = Some(Arc::new(names));
    context.knowledge = knowledge;
    let mut wanted = args.changes;
    if wanted.is_empty() {
        wanted.push(args.single);
    }
    let chip = chip.unwrap_or_else(|| "esp32".to_owned());
    let drafts: Result<Vec<Draft>, UserError> =
        wanted.into_iter().map(|wanted| draft(&project_dir, &chip, wanted)).collect();
    let proposals = examine(&project_dir, drafts?, &context);
    let reported: Vec<Value> = proposals.iter().map(change).collect();
    let findings = reported.iter().filter_map(|change| change["findings"].as_array()).flatten();
    let findings: Vec<Value> = findings.cloned().collect();
    let stops: u32 = proposals.iter().map(Proposal::stops).sum();
    let mut answer =
        json!({ "ok": true, "stops": stops, "findings": findings, "changes": reported });
    if let [only] = proposals.as_slice() {
        answer["consequence"] = json!(only.facts.consequence);
        answer["phrase"] = json!(only.phrase());
    }
    Ok(answer)
}

fn change(proposal: &Proposal) -> Value {
    let path = proposal.change.path().map(ProjectPath::as_str);
    let clean = proposal.checks.iter().filter(|check| check.findings.is_empty());
    let clean: Vec<&str> = clean.map(|check| check.kind.label()).collect();
    json!({
        "kind": proposal.change.kind(),
        "path": path,
        "findings": proposal.checks.iter().flat_map(|check| findings(check, path)).collect::<Vec<_>>(),
        "clean": clean,
        "phrase": proposal.phrase(),
        "consequence": proposal.facts.consequence,
    })
}

fn findings(check: &Check, path: Option<&str>) -> Vec<Value> {
    let finding = |found: &crate::model::Finding| {
        let place = found.place.as_ref();
        json!({
            "level": match found.level {
                FindingLevel::Note => "note",
                FindingLevel::Warning => "warning",
                FindingLevel::Stop => "stop",
            },
            "check": check.kind,
            "text": found.text,
            "file": path,
            "side": place.map(|place| match place.side { Side::Old => "old", Side::New => "new" }),
            "line": place.map(|place| place.line),
            "column": place.and_then(|place| place.column),
            "advice": found.advice,
            "phrase": found.phrase,
        })
    };
    check.findings.iter().map(finding).collect()
}

fn draft(project_dir: &ProjectDir, chip: &str, wanted: ChangeInput) -> Result<Draft, UserError> {
    let change = match wanted.kind {
        ChangeKind::Flash => DraftChange::Flash(flash(project_dir, chip, wanted.images)?),
        ChangeKind::Save | ChangeKind::Insert | ChangeKind::Delete => {
            let path = wanted.path.as_deref().ok_or_else(|| missing("path"))?;
            let path = ProjectPath::new(path)
                .map_err(|error| UserError::from_cause("Cannot use the path", &error))?;
            let base = match wanted.base {
                Some(base) => Some(base.into_bytes()),
                None => project_dir.read_if_there(&path)?,
            };
            let content = match (wanted.content, wanted.content_base64) {
                (Some(text), _) => Some(text.into_bytes()),
                (None, Some(packed)) => Some(STANDARD.decode(packed.trim()).map_err(|error| {
                    UserError::from_cause("`content_base64` is not base64", &error)
                })?),
                (None, None) => None,
            };
            match (wanted.kind, base) {
                (ChangeKind::Delete, Some(base)) => DraftChange::Delete { path, base },
                (ChangeKind::Delete, None) => {
                    let why = "there is no such file in the project";
                    return Err(UserError::new(format!("`{path}` cannot be deleted"), why, ""));
                }
                (ChangeKind::Insert, Some(base)) => {
                    let content = content.ok_or_else(|| missing("content"))?;
                    DraftChange::Insert { path, base, content }
                }
                (_, base) => {
                    let content = content.ok_or_else(|| missing("content"))?;
                    DraftChange::Save { path, base, content }
                }
            }
        }
    };
    Ok(Draft { change, reason: String::new(), checks: Vec::new() })
}

fn missing(field: &str) -> UserError {
    UserError::new(
        "Cannot read a change from the arguments",
        format!("`{field}` is missing"),
        EXAMPLE,
    )
}

fn flash(project_dir: &ProjectDir, chip: &str, images: Vec<Image>) -> Result<FlashPlan, UserError> {
    let board = BoardInfo {
        label: format!("{chip} board"),
        chip: chip.to_owned(),
        port: String::new(),
        simulated: false,
    };
    let mut planned = Vec::new();
    for image in images {
        let offset = offset(&image.offset)?;
        let path = ProjectPath::new(&image.file)
            .map_err(|error| UserError::from_cause("Cannot use the image", &error))?;
        let content = project_dir.read_if_there(&path)?;
        let (bytes, hash) = match &content {
            Some(content) => (content.len() as u64, ContentHash::of(content)),
            None => (image.bytes.unwrap_or_default(), ContentHash::NONE),
        };
        planned.push(FlashImage { file: image.file, offset, bytes, hash, same: false });
    }
    planned.sort_by_key(|image| image.offset);
    let (build, built_at) = (BuildId(0), Timestamp(0));
    Ok(FlashPlan::new(board, planned, build, built_at))
}

fn offset(value: &Value) -> Result<u32, UserError> {
    let number = match value {
        Value::Number(number) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
        Value::String(text) => match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        },
        _ => None,
    };
    number.ok_or_else(|| {
        let why = format!("`{value}` is not an address of 32 bits");
        UserError::new(
            "Cannot use the image's offset",
            why,
            "Write e.g. `\"offset\": \"0x10000\"`.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(files: &[(&str, &str)], args: &Value) -> Result<Value, UserError> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let names = "source: none\nheader esp_log.h log\ncomponent log\n";
        let names = NameList::parse("names", names).unwrap();
        answer(folder.path(), (names, None), args.clone())
    }

    #[test]
    fn a_change_is_answered_with_its_findings() {
        let text = "#define WIFI_PASS \"Ky4-lumen-8812\"\n";
        let reported = ask(&[], &json!({ "path": "main/a.h", "content": text })).unwrap();
        assert_eq!(reported["ok"], true);
        assert_eq!(reported["findings"][0]["check"], "secrets", "{reported}");
        assert_eq!((&reported["stops"], &reported["findings"][0]["line"]), (&json!(1), &json!(1)));
        let packed = STANDARD.encode(text);
        let same = ask(&[], &json!({ "path": "main/a.h", "content_base64": packed })).unwrap();
        assert_eq!(same["findings"], reported["findings"]);
        let clean = ask(&[], &json!({ "path": "main/a.h", "content": "int a;\n" })).unwrap();
        assert_eq!((&clean["stops"], &clean["findings"]), (&json!(0), &json!([])));
    }

    #[test]
    fn pins_are_those_of_the_chip_that_the_project_names() {
        let blink = "void app_main(void)\n{\n    gpio_set_direction(14, GPIO_MODE_OUTPUT);\n}\n";
        let change = json!({ "path": "main/main.c", "content": blink });
        let files = [("sdkconfig.defaults", "CONFIG_IDF_TARGET=\"esp32c3\"\n")];
        let reported = ask(&files, &change).unwrap();
        assert_eq!(reported["findings"][0]["check"], "pins", "{reported}");
        assert!(reported["findings"][0]["text"].as_str().unwrap().contains("ESP32-C3"));
        let reported = ask(&[("sdkconfig.defaults", "CONFIG_IDF_TARGET=\"esp32s3\"\n")], &change);
        assert_eq!(reported.unwrap()["findings"], json!([]));
    }

    #[test]
    fn several_changes_are_answered_one_by_one() {
        let files = [("main/a.c", "int a;\n"), ("main/b.c", "int b;\n")];
        let args = json!({ "chip": "esp32c3", "task": "tidy up", "changes": [
            { "kind": "delete", "path": "main/a.c" },
            { "kind": "insert", "path": "main/b.c", "content": "int b;\nint c;\n" },
            { "kind": "flash", "images": [{ "file": "x.bin", "offset": "0x10000", "bytes": 9 }] },
        ]});
        let reported = ask(&files, &args).unwrap();
        let kinds: Vec<&str> = reported["changes"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|change| change["kind"].as_str())
            .collect();
        assert_eq!(kinds.len(), 3, "{reported}");
    }

    #[test]
    fn what_is_no_question_is_an_error_that_says_why() {
        for (args, why) in [
            (json!({}), "path"),
            (json!([]), "invalid"),
            (json!({ "changes": [] }), "path"),
            (json!({ "path": "a.c" }), "content"),
            (json!({ "path": "../a.c", "content": "" }), "path"),
            (json!({ "path": 5, "content": "" }), "integer"),
            (json!({ "path": "a.c", "content_base64": "%" }), ""),
            (json!({ "kind": "delete", "path": "none.c" }), "no such file"),
            (json!({ "kind": "melt", "path": "a.c" }), "melt"),
            (json!({ "kind": "flash", "images": [{ "file": "x", "offset": "here" }] }), "here"),
            (json!({ "kind": "flash", "images": [{ "file": "x", "offset": -1 }] }), "-1"),
        ] {
            let error = ask(&[], &args).expect_err(&args.to_string());
            let text = format!("{} {}", error.what, error.why);
            assert!(text.contains(why), "{args}: {text}");
        }
        assert!(parse("{path: 1}").is_err());
    }
}
