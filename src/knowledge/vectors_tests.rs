//! Tests of searches in which endpoints take part.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::build::{BuildOptions, build as build_index};
use super::super::corpus::Corpus;
use super::super::endpoint::{Endpoints, Reranker};
use super::super::index::PassageIndex;
use super::super::library::{Library, SearchAnswer};
use super::super::query::Filter;
use super::super::split::WindowSize;
use super::super::topics::{self, Topics};
use super::*;
use crate::text::redact::Redactor;

/// Knows that some words mean the same: one dimension for each of these groups.
const MEANINGS: [&[&str]; 3] = [
    &["pump", "water", "irrigation"],
    &["lamp", "light", "illuminate"],
    &["door", "gate", "entrance"],
];

#[derive(Default)]
struct Meanings {
    asked: AtomicUsize,
    is_down: bool,
}

impl Meanings {
    fn vector(text: &str) -> Vec<f32> {
        let text = text.to_lowercase();
        let has = |words: &&[&str]| words.iter().any(|word| text.contains(word));
        let values = MEANINGS.iter().map(|words| if has(words) { 1.0 } else { 0.0 });
        values.chain([0.1]).collect()
    }
}

impl Embedder for Meanings {
    fn model(&self) -> &str {
        "meanings"
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        self.asked.fetch_add(texts.len(), Ordering::Relaxed);
        if self.is_down && self.asked.load(Ordering::Relaxed) > BATCH {
            return Err("nobody answers".to_owned());
        }
        Ok(texts.iter().map(|text| Self::vector(text)).collect())
    }

    fn embed_question(&self, question: &str) -> Result<Vec<f32>, String> {
        if self.is_down { Err("nobody answers".to_owned()) } else { Ok(Self::vector(question)) }
    }
}

/// Prefers the shortest text.
struct Shortest;

impl Reranker for Shortest {
    fn rerank(&self, _: &str, texts: &[String]) -> Result<Vec<f32>, String> {
        Ok(texts.iter().map(|text| -f32::from(u16::try_from(text.len()).unwrap())).collect())
    }
}

struct Silent;

impl Reranker for Silent {
    fn rerank(&self, _: &str, _: &[String]) -> Result<Vec<f32>, String> {
        Err("no answer in 2 s".to_owned())
    }
}

fn index(root: &Path, folder: &Path) {
    let options = BuildOptions {
        window: WindowSize::default(),
        parts: &|_| Err("none".to_owned()),
        secrets: &Redactor::default(),
        progress: &|_, _| {},
    };
    build_index(folder, &Corpus::at(root), &options).unwrap();
}

fn write(root: &Path, name: &str, text: &str) {
    std::fs::write(root.join(name), text).unwrap();
}

fn search(folder: &Path, query: &str, endpoints: Endpoints) -> SearchAnswer {
    let mut library = Library::default();
    library.open(folder).unwrap();
    library.ask(endpoints);
    library.search(query, 5, &Filter::default()).unwrap()
}

fn paths(answer: &SearchAnswer) -> Vec<&str> {
    answer.found.iter().map(|found| found.passage.path.as_str()).collect()
}

fn with(embedder: Meanings) -> Endpoints {
    Endpoints { embedder: Some(Arc::new(embedder)), ..Endpoints::default() }
}

#[test]
fn vectors_find_what_has_no_word_of_the_question() {
    let (root, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(root.path(), "pump.md", "# Pump\n\nThe pump runs at noon.\n");
    write(root.path(), "lamp.md", "# Lamp\n\nThe lamp is green.\n");
    write(root.path(), "door.md", "# Door\n\nThe door is shut at noon.\n");
    index(root.path(), folder.path());
    let question = "irrigation";
    assert!(search(folder.path(), question, Endpoints::default()).found.is_empty());
    let before = search(folder.path(), question, with(Meanings::default()));
    assert!(before.found.is_empty() && before.left_out[0].contains("no vectors yet"), "{before:?}");
    let meanings = Meanings::default();
    let report = build(folder.path(), &meanings, &|_, _| {}).unwrap();
    assert_eq!(report, VectorReport { vectors: 3, made: 3 });
    let after = search(folder.path(), question, with(Meanings::default()));
    assert_eq!((paths(&after), after.left_out.len()), (vec!["pump.md"], 0));
    assert!(after.found[0].why.starts_with("similar by 1.0"), "{}", after.found[0].why);
    // Words and vectors together: what both name comes first.
    let both = search(folder.path(), "noon entrance", with(Meanings::default()));
    assert_eq!(paths(&both)[0], "door.md");
    // Only what changed is sent again, and nothing is kept of what is gone.
    write(root.path(), "lamp.md", "# Lamp\n\nThe lamp is red.\n");
    std::fs::remove_file(root.path().join("pump.md")).unwrap();
    index(root.path(), folder.path());
    let report = build(folder.path(), &meanings, &|_, _| {}).unwrap();
    assert_eq!(report, VectorReport { vectors: 2, made: 1 });
    assert_eq!(meanings.asked.load(Ordering::Relaxed), 4);
}

#[test]
fn a_question_of_another_field_has_no_neighbours() {
    let (root, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(root.path(), "pump.md", "# Pump\n\nThe pump runs at noon.\n");
    index(root.path(), folder.path());
    build(folder.path(), &Meanings::default(), &|_, _| {}).unwrap();
    let question = "watering roses with irrigation";
    assert_eq!(paths(&search(folder.path(), question, with(Meanings::default()))), ["pump.md"]);
    let mut topics = PassageIndex::in_memory().unwrap();
    let garden =
        "[[topic]]\nname = \"Gardens\"\nasked = \"watering roses, irrigation of a lawn\"\n";
    topics::fill(&mut topics, [("elsewhere.toml", garden)]).unwrap();
    let mut library = Library::default();
    library.open(folder.path()).unwrap();
    library.know(Topics::of(topics));
    library.ask(with(Meanings::default()));
    assert_eq!(library.search(question, 5, &Filter::default()).unwrap().found, []);
}

#[test]
fn an_endpoint_that_fails_costs_its_part_and_is_named() {
    let (root, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for number in 0..(BATCH + 8) {
        let text = format!("# Pump {number}\n\nPump number {number} runs at noon.\n");
        write(root.path(), &format!("p{number}.md"), &text);
    }
    index(root.path(), folder.path());
    let down = || Meanings { is_down: true, ..Meanings::default() };
    let error = build(folder.path(), &down(), &|_, _| {}).unwrap_err();
    assert!(error.why.contains("nobody answers") && error.fix.contains("search.embeddings"));
    // What came before it failed is not asked for again.
    let meanings = Meanings::default();
    let report = build(folder.path(), &meanings, &|_, _| {}).unwrap();
    assert_eq!(report, VectorReport { vectors: BATCH + 8, made: 8 });
    let words_only = search(folder.path(), "pump at noon", Endpoints::default());
    let answer = search(folder.path(), "pump at noon", with(down()));
    assert_eq!(answer.left_out, ["the vectors: nobody answers"]);
    assert_eq!(paths(&answer), paths(&words_only));
    let silent = Endpoints { reranker: Some(Arc::new(Silent)), ..Endpoints::default() };
    let answer = search(folder.path(), "pump at noon", silent);
    assert_eq!(answer.left_out, ["the reranker: no answer in 2 s"]);
    assert_eq!(answer.found, words_only.found);
}

#[test]
fn a_reranker_decides_about_the_order() {
    let (root, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(root.path(), "a.md", "# Pump at noon\n\nThe pump runs at noon, said the man at noon.\n");
    write(root.path(), "b.md", "# Pump\n\nA pump, at noon.\n");
    index(root.path(), folder.path());
    let words = search(folder.path(), "pump at noon", Endpoints::default());
    assert_eq!(paths(&words), ["a.md", "b.md"]);
    let endpoints = Endpoints { reranker: Some(Arc::new(Shortest)), ..Endpoints::default() };
    let answer = search(folder.path(), "pump at noon", endpoints);
    assert_eq!(paths(&answer), ["b.md", "a.md"]);
    assert!(answer.found[0].why.contains("reranked by -"), "{}", answer.found[0].why);
}

#[test]
fn a_damaged_file_of_vectors_is_made_again() {
    let (root, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(root.path(), "pump.md", "# Pump\n\nThe pump runs.\n");
    index(root.path(), folder.path());
    for content in [&b""[..], b"{}", b"{\"model\":\"meanings\",\"dimensions\":0}\n", &[0xff; 64]] {
        std::fs::write(folder.path().join(VECTORS_FILE), content).unwrap();
        let answer = search(folder.path(), "irrigation", with(Meanings::default()));
        assert!(answer.left_out[0].contains("no vectors yet"), "{answer:?}");
        let report = build(folder.path(), &Meanings::default(), &|_, _| {}).unwrap();
        assert_eq!(report.made, 1);
    }
}

#[test]
fn a_vector_keeps_its_direction_in_bytes() {
    let mut rows = Rows::default();
    let vectors = [vec![3.0, -4.0, 0.5], vec![0.0, 1.0, 0.0]];
    rows.add("m", [7, 8].into_iter(), &vectors).unwrap();
    let folder = tempfile::tempdir().unwrap();
    rows.write(folder.path()).unwrap();
    let found = nearest(folder.path(), "m", &[6.0, -8.0, 1.0], 5).unwrap();
    assert_eq!(found.len(), 1, "the other points away");
    assert!(found[0].key == 7 && (found[0].similarity - 1.0).abs() < 0.01, "{found:?}");
    let wrong =
        |model: &str, question: &[f32]| nearest(folder.path(), model, question, 5).unwrap_err();
    assert!(wrong("other", &[1.0, 0.0, 0.0]).contains("of m, not of other"));
    assert!(wrong("m", &[1.0]).contains("3 dimensions"));
}

#[test]
fn answers_that_do_not_fit_are_refused() {
    let mut rows = Rows::default();
    let mut add = |vectors: &[Vec<f32>]| rows.add("m", [1].into_iter(), vectors);
    assert!(add(&[]).unwrap_err().contains("0 vectors came for 1 texts"));
    assert!(add(&[vec![]]).is_err());
    assert!(add(&[vec![0.0, 0.0]]).is_err());
    assert!(add(&[vec![f32::NAN, 0.0]]).is_err());
}
