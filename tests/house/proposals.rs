//! What the gate finds in sets of proposals: bad ones are flagged by the check that is meant for
//! them, at their line, and good ones raise no alarm.

#[path = "../proposals/screen.rs"]
mod screen;
#[path = "../proposals/set.rs"]
mod set;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use firmhand::config::Assets;
use firmhand::gate::{FindingsContext, examine};
use firmhand::knowledge::NameList;
use firmhand::model::{
    BoardInfo, BuildId, Check, ContentHash, Draft, DraftChange, Event, Finding, FindingLevel,
    FlashImage, FlashPlan, Outcome, ProjectPath, Proposal, ProposalEvent, Timestamp,
};
use firmhand::workspace::ProjectDir;

use set::{Sample, Wanted};

/// What is found in a sample's changes.
fn examined(sample: &Sample) -> Vec<Proposal> {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in &sample.files {
        put(folder.path(), path, text.as_bytes());
    }
    for image in sample.changes.iter().flat_map(|change| &change.images) {
        put(folder.path(), &image.file, &image.content());
    }
    fs::create_dir_all(folder.path().join(".git/hooks")).unwrap();
    let project_dir = ProjectDir::open(folder.path()).unwrap();
    let mut context = FindingsContext::default();
    context.chip = Some(sample.chip.clone());
    context.task.clone_from(&sample.task);
    context.names = Some(Arc::new(names()));
    for path in &sample.deleted {
        delete(&project_dir, path, &mut context);
        fs::remove_file(folder.path().join(path)).unwrap();
    }
    let changes = sample.changes.iter().enumerate();
    let drafts = changes.map(|(place, wanted)| draft(sample, wanted, place == 0, &project_dir));
    examine(&project_dir, drafts.collect(), &context)
}

fn put(folder: &Path, path: &str, content: &[u8]) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn names() -> NameList {
    let file = Assets::built_in().text("assets/names/esp-idf.txt").unwrap();
    NameList::parse("names", &file.text).unwrap()
}

/// Has the session delete a file.
fn delete(project_dir: &ProjectDir, path: &str, context: &mut FindingsContext) {
    let path = ProjectPath::new(path).unwrap();
    let base = project_dir.read(&path).unwrap();
    let change = DraftChange::Delete { path, base };
    let draft = Draft { change, reason: String::new(), checks: Vec::new() };
    for proposal in examine(project_dir, vec![draft], context) {
        let settled = Event::Proposal(ProposalEvent::Settled {
            proposal: proposal.id,
            outcome: Outcome::Applied,
        });
        context.observe(&Event::Proposal(ProposalEvent::Made(Box::new(proposal))));
        context.observe(&settled);
    }
}

fn draft(sample: &Sample, wanted: &Wanted, is_first: bool, project_dir: &ProjectDir) -> Draft {
    let change = if wanted.images.is_empty() {
        let path = ProjectPath::new(&wanted.path).unwrap();
        let told = sample.base.as_ref().filter(|_| is_first).map(|base| base.clone().into_bytes());
        let base = told.or_else(|| project_dir.read_if_there(&path).unwrap_or_default());
        if wanted.delete {
            DraftChange::Delete { path, base: base.unwrap() }
        } else if wanted.insert {
            DraftChange::Insert { path, base: base.unwrap(), content: sample.content(wanted) }
        } else {
            DraftChange::Save { path, base, content: sample.content(wanted) }
        }
    } else {
        DraftChange::Flash(plan(sample, wanted))
    };
    Draft { change, reason: String::new(), checks: Vec::new() }
}

fn plan(sample: &Sample, wanted: &Wanted) -> FlashPlan {
    let image = |image: &set::Image| {
        let content = image.content();
        FlashImage {
            file: image.file.clone(),
            offset: image.offset,
            bytes: content.len() as u64,
            hash: ContentHash::of(&content),
            same: false,
        }
    };
    FlashPlan {
        board: BoardInfo {
            label: "board".to_owned(),
            chip: sample.chip.clone(),
            port: "/dev/ttyUSB0".to_owned(),
            simulated: false,
        },
        images: wanted.images.iter().map(image).collect(),
        touches_boot: None,
        options: Vec::new(),
        build: BuildId(1),
        built_at: Timestamp(0),
    }
}

/// Findings that ask a person to look, with the names of their checks.
fn alarms(proposal: &Proposal) -> Vec<(String, &Finding)> {
    let name = |check: &Check| {
        serde_json::to_value(check.kind).unwrap().as_str().unwrap_or_default().to_owned()
    };
    let of = |check| {
        let name: String = name(check);
        check.findings.iter().map(move |finding| (name.clone(), finding))
    };
    let all = proposal.checks.iter().flat_map(of);
    all.filter(|(_, finding)| finding.level > FindingLevel::Note).collect()
}

fn told(proposals: &[Proposal]) -> String {
    let line = |(kind, finding): (String, &Finding)| {
        let at = finding.place.as_ref().map_or(0, |place| place.line);
        format!("\n    {kind}:{at} {:?} {}", finding.level, finding.text)
    };
    proposals.iter().flat_map(alarms).map(line).collect()
}

/// Whether a check that is meant for it finds it where it is.
fn is_found(sample: &Sample, proposals: &[Proposal]) -> bool {
    let mut all = proposals.iter().zip(&sample.changes);
    all.any(|(proposal, wanted)| is_found_in(sample, proposal, wanted))
}

/// As [`is_found`], in one of its changes.
fn is_found_in(sample: &Sample, proposal: &Proposal, wanted: &Wanted) -> bool {
    let kinds = sample.kinds();
    let at = |finding: &Finding| {
        let is_there = |line| sample.lines(wanted).contains(&line);
        sample.mark.is_empty() || finding.place.as_ref().is_some_and(|place| is_there(place.line))
    };
    let mut found = alarms(proposal).into_iter();
    found.any(|(kind, finding)| kinds.contains(&kind.as_str()) && at(finding))
}

#[test]
fn bad_proposals_are_flagged_where_they_are_bad() {
    let samples = set::load("bad");
    assert!(samples.len() >= 60, "{}", samples.len());
    let (mut flagged, mut missed) = (0, Vec::new());
    for sample in &samples {
        let proposals = examined(sample);
        flagged += usize::from(proposals.iter().any(|proposal| !alarms(proposal).is_empty()));
        if !is_found(sample, &proposals) {
            let (name, kinds) = (&sample.name, sample.kinds());
            missed.push(format!(
                "{name}: wanted {kinds:?} at {:?}{}",
                sample.mark,
                told(&proposals)
            ));
        }
    }
    println!("{flagged} of {} flagged; {} not as meant", samples.len(), missed.len());
    assert!(missed.is_empty(), "{flagged} of {} flagged:\n{}", samples.len(), missed.join("\n"));
}

#[test]
fn good_proposals_raise_no_alarm() {
    let samples = set::load("good");
    assert!(samples.len() >= 60, "{}", samples.len());
    let mut wrong = Vec::new();
    for sample in &samples {
        let found = told(&examined(sample));
        if !found.is_empty() {
            wrong.push(format!("{}:{found}", sample.name));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), samples.len(), wrong.join("\n"));
}
