//! Ten questions to the team `single` about an installed framework: every answer cites a passage that
//! opens, or says that nothing was found.
//!
//! The model here reads what it is given as a model does, and nothing else: the numbered passages in
//! its conversation. It cites the first one that speaks of what was asked.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use firmhand::knowledge::{
    BuildOptions, Corpus, Knowledge, Library, Splitter, Synonyms, WindowSize, build,
};
use firmhand::model::{
    Event, Message, MessageRole, ProposalEvent, SessionOutcome, TurnEvent, Usage, UserError,
};
use firmhand::provider::{Delta, Provider, Request};
use firmhand::text::redact::Redactor;
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::Value;

use super::stage::Nobody;
use super::whole::stage;

/// What is asked, and the source that answers it; none: nothing does.
const QUESTIONS: [(&str, &str); 10] = [
    ("i2c_master_probe", "components/esp_driver_i2c/include/driver/i2c_master.h#i2c_master_probe"),
    (
        "How do I store a value that survives a reset?",
        "docs/en/api-reference/storage/nvs_flash.rst",
    ),
    ("CONFIG_ESP_TASK_WDT_TIMEOUT_S", "components/esp_system/Kconfig#ESP_TASK_WDT_TIMEOUT_S"),
    (
        "fatal error: esp_event_loop.h: No such file or directory",
        "tools/idf_py_actions/hints.yml#L2",
    ),
    ("What does ESP_ERR_NVS_NOT_ENOUGH_SPACE mean?", "components/nvs_flash/include/nvs.h"),
    ("Is there an example that scans for networks?", "examples/wifi/scan/README.md"),
    (
        "How do I wake the chip from deep sleep by a timer?",
        "docs/en/api-guides/deep-sleep.rst#waking-up-by-a-timer",
    ),
    (
        "Which pins of the ESP32-C3 are used for I2C?",
        "docs/en/api-reference/peripherals/i2c.rst#pins",
    ),
    (
        "What replaced tcpip_adapter_init when migrating to v5?",
        "docs/en/migration-guides/release-5.rst#networking",
    ),
    ("How long does a rye bread have to bake in the oven?", ""),
];

/// Words of a question that say nothing about its subject.
const COMMON: [&str; 6] = ["there", "which", "replaced", "fatal", "error", "directory"];

/// Answers from the passages that its conversation holds.
struct Reader;

impl Reader {
    fn answer(messages: &[Arc<Message>]) -> String {
        let question = messages.iter().find(|message| message.role == MessageRole::User);
        let question = question.map(|message| message.text.to_lowercase()).unwrap_or_default();
        let words: Vec<&str> = question
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| word.len() >= 5 && !COMMON.contains(word))
            .collect();
        // What tools answered, also those that the program called before the agent spoke.
        let results = messages.iter().filter_map(|message| {
            let start = message.text.find("{\"ok\"")?;
            let mut values = serde_json::Deserializer::from_str(&message.text[start..]).into_iter();
            values.next()?.ok()
        });
        let chunks: Vec<Value> = results
            .filter_map(|result: Value| result["chunks"].as_array().cloned())
            .flatten()
            .collect();
        let speaks_of_it = |chunk: &&Value| {
            let text = format!("{} {}", chunk["title"], chunk["text"]).to_lowercase();
            words.iter().any(|word| text.contains(word))
        };
        match chunks.iter().find(speaks_of_it) {
            Some(chunk) => {
                let (number, source) = (&chunk["number"], chunk["source"].as_str().unwrap());
                format!("This is what the passage says [{number}].\n\n{number}. {source}")
            }
            None => "Nothing was found about that in the documentation.".to_owned(),
        }
    }
}

impl Provider for Reader {
    fn label(&self) -> String {
        "reader".to_owned()
    }

    fn ask(&self, request: Request) -> BoxStream<'static, Result<Delta, UserError>> {
        let text = Delta::Text(Self::answer(&request.messages));
        let done = Delta::Done { usage: Usage::default(), state: None };
        stream::iter([Ok(text), Ok(done)]).boxed()
    }
}

/// The framework of `tests/data/idf-small`, indexed as an installed one is.
fn knowledge(root: &Path, index: &Path) -> Arc<Knowledge> {
    let options = BuildOptions {
        window: WindowSize::default(),
        parts: &|_| Err("none".to_owned()),
        secrets: &Redactor::default(),
        progress: &|_, _| {},
    };
    build(index, &Corpus::at(root), &options).unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/search/synonyms.txt");
    let text = fs::read_to_string(file).unwrap();
    let synonyms = Synonyms::parse("synonyms.txt", &text, &mut Splitter::default()).unwrap();
    let mut library = Library::new(synonyms);
    library.open(index).unwrap();
    Arc::new(Knowledge::of(library))
}

/// Whether a source names a place that is there: a line, a heading, or a name in the file.
fn opens(root: &Path, source: &str) -> bool {
    let (path, place) = source.split_once('#').unwrap_or((source, ""));
    let Ok(text) = fs::read_to_string(root.join(path)) else { return false };
    if let Some(line) = place.strip_prefix('L').and_then(|line| line.parse::<usize>().ok()) {
        return line >= 1 && line <= text.lines().count();
    }
    let slug = |line: &str| {
        let words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join("-").to_lowercase()
    };
    text.contains(place) || text.lines().any(|line| slug(line) == place)
}

#[test]
fn every_answer_cites_a_passage_that_opens_or_says_that_nothing_was_found() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/idf-small");
    let index = tempfile::tempdir().unwrap();
    let knowledge = knowledge(&root, index.path());
    for (question, expected) in QUESTIONS {
        let stage = stage()
            .playing("single")
            .allowing_all()
            .asking(question)
            .knowing(Arc::clone(&knowledge))
            .answered_by(Arc::new(Reader));
        assert_eq!(stage.play(Nobody), SessionOutcome::Completed, "{question}");
        let (mut said, mut given) = (String::new(), Vec::new());
        for event in stage.events() {
            match event {
                Event::Turn(TurnEvent::TextAdded { text, .. }) => said.push_str(&text),
                Event::Turn(TurnEvent::ToolAnswered { result, .. }) => {
                    given.extend(result["chunks"].as_array().cloned().unwrap_or_default());
                }
                Event::Proposal(ProposalEvent::Made(made)) => panic!("{question}: {made:?}"),
                _ => {}
            }
        }
        let cited = said.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        let cited: Option<u64> = cited.and_then(|(number, _)| number.parse().ok());
        if expected.is_empty() {
            assert!(cited.is_none() && said.contains("Nothing was found"), "{question}: {said}");
            continue;
        }
        let cited = cited.unwrap_or_else(|| panic!("{question}: {said} {given:#?}"));
        let chunk = given.iter().find(|chunk| chunk["number"].as_u64() == Some(cited));
        let chunk = chunk.unwrap_or_else(|| panic!("{question}: no passage {cited}: {given:#?}"));
        let source = chunk["source"].as_str().unwrap();
        assert!(source.starts_with(expected), "{question}: {source}, not {expected}");
        assert!(opens(&root, source), "{question}: {source} does not open");
        assert_eq!(chunk["version"], "esp-idf 5.4.0", "{question}");
    }
}
