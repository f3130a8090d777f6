//! Tests of searches in which other machines take part.

use std::sync::Mutex;

use super::super::corpus::Corpus;
use super::super::endpoint::Endpoints;
use super::super::library::{Library, SearchAnswer};
use super::super::notes;
use super::super::synonyms::Synonyms;
use super::*;

const PUMP: &str =
    "---\ntitle: Pump\nsource: here\n---\nThe zorbex pump runs at noon and needs water.\n";
const LAMP: &str = "---\ntitle: Lamp\nsource: here\n---\nThe lamp is green.\n";

/// Another machine that answers with these passages after a pause.
struct Elsewhere {
    facts: RemoteFacts,
    pause: Duration,
    answer: Result<Vec<RemotePassage>, String>,
    asked: Mutex<Vec<(RemoteQuestion, Duration)>>,
}

impl RemoteCorpus for Elsewhere {
    fn facts(&self) -> &RemoteFacts {
        &self.facts
    }

    fn search(
        &self,
        question: RemoteQuestion,
        within: Duration,
    ) -> Result<Vec<RemotePassage>, String> {
        self.asked.lock().unwrap().push((question, within));
        thread::sleep(self.pause);
        self.answer.clone()
    }
}

fn named(name: &str, answer: Result<Vec<RemotePassage>, String>) -> Elsewhere {
    let facts = RemoteFacts {
        corpus: Corpus::remote(name, ""),
        chips: ChipSet::ALL,
        kind: "opensearch".to_owned(),
        address: "opensearch at there:9200, docs".to_owned(),
        takes_vectors: false,
    };
    Elsewhere { facts, pause: Duration::ZERO, answer, asked: Mutex::default() }
}

fn passage(path: &str, text: &str) -> RemotePassage {
    let (path, text) = (path.to_owned(), text.to_owned());
    RemotePassage { path, text, title: "Fork".to_owned(), ..RemotePassage::default() }
}

fn search(remotes: Vec<Arc<dyn RemoteCorpus>>, query: &str, filter: &Filter) -> SearchAnswer {
    let mut library = Library::new(Synonyms::default());
    let notes_of = [("pump.md", PUMP), ("lamp.md", LAMP)];
    library.add(notes::corpus("1"), notes::in_memory(notes_of).unwrap());
    library.ask(Endpoints { remotes, ..Endpoints::default() });
    library.search(query, 5, filter).unwrap()
}

fn of(passages: Vec<RemotePassage>, query: &str) -> SearchAnswer {
    search(vec![Arc::new(named("team", Ok(passages)))], query, &Filter::default())
}

fn sources(answer: &SearchAnswer) -> Vec<String> {
    answer.found.iter().map(|found| found.passage.source()).collect()
}

#[test]
fn what_another_machine_finds_comes_between_what_is_found_here() {
    let mut first = passage("docs/bus.rst", "The zorbex bus of our fork starts the pump.");
    first.anchor = "start".to_owned();
    let answer = of(vec![first, passage("docs/b.rst", "Another zorbex pump.")], "zorbex pump");
    assert_eq!(sources(&answer), ["pump.md", "team:docs/bus.rst#start", "team:docs/b.rst"]);
    assert_eq!(answer.found[1].corpus, "team");
    let why = &answer.found[1].why;
    assert!(why.contains("zorbex") && why.contains("place 1 of team, on another machine"), "{why}");
    // Without one, the scores and the order are those of the words.
    let alone = search(Vec::new(), "zorbex pump", &Filter::default());
    assert_eq!((alone.found.len(), alone.left_out.len()), (1, 0));
    assert!(!alone.found[0].why.contains("place"), "{:?}", alone.found);
}

#[test]
fn noise_and_what_is_about_something_else_stays_out() {
    let noise = || {
        vec![
            passage("a.rst", "Bread is baked in an oven."),
            passage("b.rst", "A capital letter begins a sentence."),
            passage("c.rst", "Nothing of that."),
        ]
    };
    assert!(of(noise(), "what is the capital of france").found.is_empty());
    // With words of the field in it too.
    let words = "why does my neighbour water the garden with a pump in summer";
    assert!(of(vec![passage("d.rst", "A garden needs water.")], words).found.is_empty());
    assert!(of(noise(), "how tall is the highest mountain").found.is_empty());
    assert_eq!(sources(&of(noise(), "zorbex pump")), ["pump.md"]);
}

#[test]
fn a_copy_of_a_passage_here_is_shown_once() {
    let copy = "The zorbex pump runs\n  at noon and needs   water.";
    let answer = of(vec![passage("x.md", copy), passage("y.md", copy)], "zorbex pump");
    assert_eq!(sources(&answer), ["pump.md"]);
}

#[test]
fn control_characters_and_endless_texts_do_no_harm() {
    let mut evil = passage("\u{1b}[2J../../etc/passwd\n", "zorbex \u{1b}[31mpump\u{7}\u{202e}");
    evil.title = "\u{1b}]0;title\u{7}zorbex pump".to_owned();
    evil.symbols = vec!["a\nb".to_owned(); 1_000];
    let long = passage("long.rst", &"zorbex pump ".repeat(100_000));
    let answer = of(vec![evil, long, passage("empty.rst", " \u{1b}[0m ")], "zorbex pump");
    assert_eq!(answer.found.len(), 3, "{:?}", sources(&answer));
    for found in &answer.found {
        let Passage { path, title, symbols, text, .. } = &found.passage;
        let all = format!("{path}{title}{}{text}", symbols.concat());
        assert!(!all.chars().any(|c| c.is_control() && c != '\n'), "{all:?}");
        assert!(!all.contains('\u{202e}') && text.len() <= LONGEST_TEXT && symbols.len() <= 40);
    }
    assert!(sources(&answer).iter().any(|it| it.starts_with("team:../../etc/passwd")));
}

#[test]
fn who_fails_or_breaks_is_left_out_and_named() {
    struct Broken(RemoteFacts);
    impl RemoteCorpus for Broken {
        fn facts(&self) -> &RemoteFacts {
            &self.0
        }
        fn search(&self, _: RemoteQuestion, _: Duration) -> Result<Vec<RemotePassage>, String> {
            panic!("broken on purpose")
        }
    }
    let refused = named("team", Err("it refuses the key; correct `key`".to_owned()));
    let broken = Broken(named("odd", Ok(Vec::new())).facts);
    let remotes: Vec<Arc<dyn RemoteCorpus>> = vec![Arc::new(refused), Arc::new(broken)];
    let answer = search(remotes, "zorbex pump", &Filter::default());
    assert_eq!(sources(&answer), ["pump.md"]);
    let expected = "team (opensearch at there:9200, docs): it refuses the key; correct `key`";
    assert_eq!(answer.left_out[0], expected);
    assert!(answer.left_out[1].starts_with("odd ") && answer.left_out[1].contains("unexpectedly"));
}

#[test]
fn all_are_asked_at_once_and_only_those_that_the_filter_takes() {
    let slow = |name: &str| {
        let mut one = named(name, Ok(vec![passage("a.rst", "The zorbex pump.")]));
        one.pause = Duration::from_millis(150);
        Arc::new(one)
    };
    let (one, two) = (slow("one"), slow("two"));
    let remotes = || -> Vec<Arc<dyn RemoteCorpus>> { vec![one.clone(), two.clone()] };
    let start = Instant::now();
    let answer = search(remotes(), "the zorbex pump", &Filter::default());
    assert!(start.elapsed() < Duration::from_millis(290), "{:?}", start.elapsed());
    // What both have is one passage, and comes first.
    assert_eq!(sources(&answer), ["one:a.rst", "pump.md"]);
    let (question, within) = one.asked.lock().unwrap()[0].clone();
    assert_eq!(question.words, ["zorbex", "pump"]);
    assert!(within <= SEARCH_TIME && question.most >= 5);
    let only = Filter { corpus: Some("two".to_owned()), ..Filter::default() };
    let answer = search(remotes(), "zorbex pump", &only);
    assert_eq!(sources(&answer), ["two:a.rst"]);
    let notes = Filter { corpus: Some("notes".to_owned()), ..Filter::default() };
    assert_eq!(sources(&search(remotes(), "zorbex pump", &notes)), ["pump.md"]);
    assert_eq!((one.asked.lock().unwrap().len(), two.asked.lock().unwrap().len()), (1, 2));
}

#[test]
fn what_came_is_held_against_the_filter_too() {
    let of = |change: fn(&mut RemotePassage)| {
        let mut one = passage("components/bus/a.c", "The zorbex pump.");
        change(&mut one);
        one
    };
    let all = || {
        vec![
            of(|it| it.kind = "api".to_owned()),
            of(|it| it.version = "v4.4".to_owned()),
            of(|it| it.chips = vec!["ESP32-C3".to_owned()]),
            of(|it| it.component = "other".to_owned()),
            of(|it| it.kind = "session".to_owned()),
        ]
    };
    let team = |filter: &Filter| {
        let answer = search(vec![Arc::new(named("team", Ok(all())))], "zorbex pump", filter);
        answer.found.iter().filter(|it| it.corpus == "team").count()
    };
    // Five copies of one text are one passage.
    assert_eq!(team(&Filter::default()), 1);
    let filter = |change: fn(&mut Filter)| {
        let mut filter = Filter::default();
        change(&mut filter);
        filter
    };
    let taken = |index: usize, filter: &Filter| {
        let facts = named("team", Ok(Vec::new())).facts;
        taken(&facts, all().remove(index), filter).is_some()
    };
    let api = filter(|it| it.kinds = vec![PassageKind::Api]);
    assert_eq!([0, 1].map(|at| taken(at, &api)), [true, false]);
    let version = filter(|it| it.version = Some("5.4".to_owned()));
    assert_eq!([0, 1].map(|at| taken(at, &version)), [true, false]);
    let chip = filter(|it| it.chip = ChipSet::of("esp32s3"));
    assert_eq!([0, 2].map(|at| taken(at, &chip)), [true, false]);
    let component = filter(|it| it.component = Some("bus".to_owned()));
    assert_eq!([0, 3].map(|at| taken(at, &component)), [true, false]);
    assert!(!taken(4, &Filter::default()), "nobody else has the person's sessions");
}

#[test]
fn the_vector_is_made_once_and_a_slow_one_is_not_waited_for() {
    struct Slow(Duration, Mutex<usize>);
    impl Embedder for Slow {
        fn model(&self) -> &str {
            "slow"
        }
        fn embed(&self, _: &[String]) -> Result<Vec<Vec<f32>>, String> {
            Err("not here".to_owned())
        }
        fn embed_question(&self, _: &str) -> Result<Vec<f32>, String> {
            *self.1.lock().unwrap() += 1;
            thread::sleep(self.0);
            Ok(vec![1.0])
        }
    }
    for (pause, expected) in [(0, Some(vec![1.0])), (1_200, None)] {
        let mut team = named("team", Ok(Vec::new()));
        team.facts.takes_vectors = true;
        let (team, embedder) = (Arc::new(team), Slow(Duration::from_millis(pause), Mutex::new(0)));
        let remote: Arc<dyn RemoteCorpus> = team.clone();
        let question = RemoteQuestion { text: "pump".to_owned(), ..RemoteQuestion::default() };
        let (here, answers) = ask_while(&[&remote], &question, Some(&embedder), |embedder| {
            embedder.unwrap().embed_question("pump")
        });
        assert_eq!((here, answers.len()), (Ok(vec![1.0]), 1));
        assert_eq!(*embedder.1.lock().unwrap(), 1);
        let (question, within) = team.asked.lock().unwrap()[0].clone();
        assert_eq!(question.vector, expected);
        assert!(within > Duration::from_millis(1_000), "{within:?}");
    }
}

#[test]
fn the_words_of_a_question_are_sent_as_they_are_written_with_what_they_stand_for() {
    let mut splitter = Splitter::default();
    let synonyms = Synonyms::parse("s", "wlan => wifi\n", &mut splitter).unwrap();
    let text = "How do I start \u{1b}[31mWLAN with nvs_flash_init(); DROP TABLE \"x\" or 'y'?";
    let read = Question::read(text, &mut splitter, &synonyms, &Default::default());
    let question = question(text, &read, &Filter::default(), 5);
    let words = ["start", "wlan", "nvs_flash_init", "drop", "table", "x", "y", "wifi"];
    assert_eq!(question.words, words);
    assert!(question.words.iter().all(|it| it.chars().all(|c| c.is_alphanumeric() || c == '_')));
    assert!(!question.text.contains('\u{1b}'));
}
