//! What the gate finds in files that agents propose.

use firmhand::gate::{FindingsContext, examine};
use firmhand::knowledge::{
    ChipFacts, ChipSet, Document, Form, PassageKind, SplitContext, WindowSize, split,
};
use firmhand::model::{Draft, DraftChange, ProjectPath};
use firmhand::workspace::ProjectDir;

use super::{folder, parts};

/// Files of each kind that has findings of its own.
const NAMES: [&str; 16] = [
    "main/main.c",
    "main/net.cpp",
    "main/CMakeLists.txt",
    "main/Kconfig.projbuild",
    "main/idf_component.yml",
    "sdkconfig.defaults",
    "partitions.csv",
    "platformio.ini",
    "sketch.yaml",
    "tools/flash.sh",
    "Makefile",
    ".github/workflows/build.yml",
    ".vscode/tasks.json",
    "tools/gen.py",
    "package.json",
    "main/certs/server.pem",
];

/// A file before and after a change; the first byte says what it is called. Each finding has words, and
/// a place in the file that is proposed.
pub fn changes(data: &[u8]) {
    let (first, rest) = data.split_first().unwrap_or((&0, data));
    let name = NAMES[usize::from(*first) % NAMES.len()];
    let [before, after] = parts::<2>(rest);
    let (base, content) = match after {
        [] => (None, before),
        after => (Some(before.to_vec()), after),
    };
    found(name, base, content);
}

/// A list of options: as documentation, and as a part of a change.
pub fn kconfig(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        let context = SplitContext {
            facts: &ChipFacts::default(),
            window: WindowSize { tokens: 50, overlap: 10 },
            include: &|_| None,
        };
        for path in ["Kconfig", "components/a/Kconfig.projbuild"] {
            let form = Form::of(path).expect("it is read");
            let (kind, chips) = (PassageKind::Guide, ChipSet::ALL);
            for passage in split(Document { path, text, kind, chips }, form, &context) {
                assert!(!passage.text.is_empty() && passage.path == path);
            }
        }
    }
    found("main/Kconfig.projbuild", None, data);
}

fn found(name: &str, base: Option<Vec<u8>>, content: &[u8]) {
    let path = ProjectPath::new(name).expect("it is a path");
    let project = folder().join("looked-at");
    std::fs::create_dir_all(&project).expect("it can be made");
    let project_dir = ProjectDir::open(&project).expect("it was just made");
    let change = DraftChange::Save { path, base, content: content.to_vec() };
    let draft = Draft { change, reason: String::new(), checks: Vec::new() };
    let mut context = FindingsContext::default();
    context.chip = Some("esp32".to_owned());
    let proposals = examine(&project_dir, vec![draft], &context);
    for finding in proposals.iter().flat_map(|it| &it.checks).flat_map(|check| &check.findings) {
        assert!(!finding.text.trim().is_empty());
    }
}
