//! Tests over whole corpora: a small framework on the disk, and the notes with their questions.

use std::path::{Path, PathBuf};

use super::super::build::{BuildOptions, BuildReport, build, info, is_damaged};
use super::super::notes;
use super::super::relevance::FEW_PASSAGES;
use super::super::split::WindowSize;
use super::super::topics;
use super::*;
use crate::text::redact::Redactor;

const HEADER: &str =
    "/**\n * @brief Probe a device on the bus\n */\nesp_err_t bus_probe(int address);\n";
const GUIDE: &str = "Two Wire Bus\n============\n\nThe bus joins devices.\n\nPull-ups\n--------\n\nLines \
                     need resistors.\n\n.. only:: esp32c3\n\n    Use pin 8 on this chip.\n";
const KCONFIG: &str = "config BUS_SPEED\n    int \"Speed of the bus\"\n    default 100\n";
const HINTS: &str =
    "-\n    re: \"fatal error: (bus_old.h)\"\n    hint: \"Include bus.h instead.\"\n";

fn write(root: &Path, path: &str, text: &str) {
    let file = root.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

/// A framework with one of each kind of text.
fn framework(root: &Path) {
    write(
        root,
        "tools/cmake/version.cmake",
        "set(IDF_VERSION_MAJOR 5)\nset(IDF_VERSION_MINOR 4)\nset(IDF_VERSION_PATCH 1)\n",
    );
    write(root, "docs/en/api-reference/bus.rst", GUIDE);
    write(root, "components/bus/include/bus.h", HEADER);
    write(root, "components/bus/Kconfig", KCONFIG);
    write(root, "examples/bus/README.md", "# Bus example\n\nScans the two wire bus.\n");
    write(root, "tools/idf_py_actions/hints.yml", HINTS);
    let codes =
        "    ERR_TBL_IT(ESP_ERR_BUS_FULL),   /*  4365 0x110d The bus has no free address. */\n";
    write(root, "components/esp_common/src/esp_err_to_name.c", codes);
    for number in 0..12 {
        write(root, &format!("docs/en/api-guides/other{number}.rst"), "Other\n=====\n\nLamps.\n");
    }
}

fn indexed(root: &Path, folder: &Path) -> Result<BuildReport, UserError> {
    let options = BuildOptions {
        window: WindowSize::default(),
        parts: &|_| Err("it is locked with a password".to_owned()),
        secrets: &Redactor::default(),
        progress: &|_, _| {},
    };
    build(folder, &Corpus::at(root), &options)
}

fn sources(folder: &Path, query: &str, filter: &Filter) -> Vec<String> {
    let mut library = Library::default();
    library.open(folder).unwrap();
    let found = library.search(query, 5, filter).unwrap().found;
    found.iter().map(|found| found.passage.source()).collect()
}

#[test]
fn each_kind_of_text_is_found_with_a_source_that_opens() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    framework(root.path());
    indexed(root.path(), index.path()).unwrap();
    let first = |query: &str| {
        let found = sources(index.path(), query, &Filter::default());
        found.first().cloned().unwrap_or_else(|| panic!("nothing for {query}"))
    };
    assert_eq!(first("bus_probe"), "components/bus/include/bus.h#bus_probe");
    assert_eq!(first("CONFIG_BUS_SPEED"), "components/bus/Kconfig#BUS_SPEED");
    assert_eq!(first("fatal error: bus_old.h"), "tools/idf_py_actions/hints.yml#L2");
    let code = "components/esp_common/src/esp_err_to_name.c#L1";
    assert_eq!(first("error code 0x110d"), code);
    assert_eq!(first("E (312) app: init failed: 0x110d"), code);
    assert_eq!(first("lines need resistors"), "docs/en/api-reference/bus.rst#pull-ups");
    assert_eq!(first("example that scans the bus"), "examples/bus/README.md");
    let option = Filter { kinds: vec![super::super::PassageKind::Option], ..Filter::default() };
    assert_eq!(sources(index.path(), "bus", &option), ["components/bus/Kconfig#BUS_SPEED"]);
    let component = Filter { component: Some("bus".into()), ..Filter::default() };
    let all = sources(index.path(), "bus", &component);
    assert!(!all.is_empty() && all.iter().all(|source| source.starts_with("components/bus/")));
    assert!(sources(index.path(), "bread of wheat and rye", &Filter::default()).is_empty());
}

#[test]
fn what_changed_is_read_again_and_what_is_gone_is_not_found() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    framework(root.path());
    let all = indexed(root.path(), index.path()).unwrap();
    assert_eq!(all.read, all.files);
    assert_eq!(indexed(root.path(), index.path()).unwrap().read, 0);
    write(root.path(), "docs/en/api-reference/bus.rst", "Bus\n===\n\nAbout giraffes now.\n");
    std::fs::remove_file(root.path().join("components/bus/Kconfig")).unwrap();
    let changed = indexed(root.path(), index.path()).unwrap();
    assert_eq!((changed.read, changed.removed), (1, 1));
    assert_eq!(
        sources(index.path(), "giraffes", &Filter::default()),
        ["docs/en/api-reference/bus.rst"]
    );
    assert!(sources(index.path(), "CONFIG_BUS_SPEED", &Filter::default()).is_empty());
}

#[test]
fn damaged_and_old_indexes_are_built_again() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    framework(root.path());
    let whole = indexed(root.path(), index.path()).unwrap();
    for name in ["corpus.json", "meta.json"] {
        std::fs::write(index.path().join(name), "{ \"format\": 0").unwrap();
        assert!(Library::default().open(index.path()).is_err(), "{name}");
        let again = indexed(root.path(), index.path()).unwrap();
        assert_eq!((again.read, again.passages), (whole.files, whole.passages), "{name}");
    }
    // As a kill in the midst of writing leaves it: data without its end.
    for entry in std::fs::read_dir(index.path()).unwrap().flatten() {
        if entry.path().extension().is_some_and(|end| end == "idx" || end == "store") {
            let file = std::fs::File::options().write(true).open(entry.path()).unwrap();
            file.set_len(10).unwrap();
        }
    }
    let mut library = Library::default();
    let failed = library.open(index.path()).is_err()
        || library.search("bus_probe", 5, &Filter::default()).is_err();
    assert!(failed);
}

/// The library of the index panics on a file that is shorter than what stands at its end.
#[test]
fn a_file_of_a_few_bytes_costs_the_index_and_not_the_program() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    framework(root.path());
    let whole = indexed(root.path(), index.path()).unwrap();
    for ending in ["idx", "store"] {
        let files = std::fs::read_dir(index.path()).unwrap().flatten().map(|file| file.path());
        let of_ending = |path: &PathBuf| path.extension().is_some_and(|it| it == ending);
        for file in files.filter(of_ending) {
            std::fs::write(file, "junk\n").unwrap();
        }
        let mut library = Library::default();
        let opened = library.open(index.path());
        let failed = opened.is_err() || library.search("bus_probe", 5, &Filter::default()).is_err();
        assert!(failed && is_damaged(index.path()), "{ending}");
        let again = indexed(root.path(), index.path()).unwrap();
        assert_eq!((again.read, again.passages), (whole.files, whole.passages), "{ending}");
        assert!(!is_damaged(index.path()), "{ending}");
    }
}

#[test]
fn without_an_index_nothing_is_found() {
    let answer = Library::default().search("watchdog", 5, &Filter::default()).unwrap();
    assert_eq!(answer, SearchAnswer::default());
}

/// Words that each of the person's files has say little, and are what they ask for all the same.
#[test]
fn words_that_all_documents_of_the_person_share_are_found() {
    let [root, own, index, own_index] = [(); 4].map(|()| tempfile::tempdir().unwrap());
    framework(root.path());
    for file in 0..50 {
        let topic = |part| format!("Topic {part}\n-------\n\nAbout the number {part}.\n\n");
        let text: String = (0..FEW_PASSAGES / 50 + 1).map(topic).collect();
        write(root.path(), &format!("docs/en/many/{file}.rst"), &format!("Many\n====\n\n{text}"));
    }
    for number in 0..40 {
        write(
            own.path(),
            &format!("{number}.md"),
            &format!("# Part {number}\n\nA watchdog and gadgets of {number}.\n"),
        );
    }
    indexed(root.path(), index.path()).unwrap();
    indexed(own.path(), own_index.path()).unwrap();
    let mut library = Library::default();
    library.open(index.path()).unwrap();
    library.open(own_index.path()).unwrap();
    for query in ["watchdog gadgets", "gadgets"] {
        let found = library.search(query, 5, &Filter::default()).unwrap().found;
        assert_eq!(found.len(), 5, "{query}");
    }
    assert!(library.search("watchdog giraffe", 5, &Filter::default()).unwrap().found.is_empty());
}

/// As on a full disk: what was committed before stays what is searched.
#[test]
fn a_build_that_cannot_write_leaves_the_older_index() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    framework(root.path());
    indexed(root.path(), index.path()).unwrap();
    let in_the_way = index.path().join("files.json.new");
    std::fs::create_dir(&in_the_way).unwrap();
    write(root.path(), "docs/en/api-reference/more.rst", "More\n====\n\nAbout giraffes.\n");
    let error = indexed(root.path(), index.path()).unwrap_err();
    assert!(error.why.contains("directory"), "{}", error.why);
    let kept = "components/bus/include/bus.h#bus_probe";
    assert_eq!(sources(index.path(), "bus_probe", &Filter::default()), [kept]);
    std::fs::remove_dir(&in_the_way).unwrap();
    assert_eq!(indexed(root.path(), index.path()).unwrap().read, 1);
    assert_eq!(sources(index.path(), "giraffes", &Filter::default()).len(), 1);
}

#[test]
fn only_an_index_that_cannot_be_used_counts_as_damaged() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    framework(root.path());
    indexed(root.path(), index.path()).unwrap();
    assert!(!is_damaged(index.path()));
    let files = std::fs::read_dir(index.path()).unwrap().flatten();
    let stored = files
        .map(|file| file.path())
        .find(|path| path.extension().is_some_and(|end| end == "store"));
    let stored = stored.unwrap();
    let mut bytes = std::fs::read(&stored).unwrap();
    bytes[3] ^= 0xff;
    std::fs::write(&stored, bytes).unwrap();
    assert!(is_damaged(index.path()));
}

#[test]
fn two_builders_at_once_leave_one_whole_index() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    framework(root.path());
    std::thread::scope(|scope| {
        let builders: Vec<_> =
            (0..2).map(|_| scope.spawn(|| indexed(root.path(), index.path()))).collect();
        for builder in builders {
            builder.join().unwrap().unwrap();
        }
    });
    assert_eq!(info(index.path()).unwrap().corpus.version, "5.4.1");
    assert!(!sources(index.path(), "bus_probe", &Filter::default()).is_empty());
}

#[test]
fn documents_of_the_person_may_be_long_locked_or_gone() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(root.path(), "notes.txt", "The pump runs at noon.\n");
    write(root.path(), "locked.pdf", "%PDF");
    write(root.path(), "long.txt", &"0123456789 words and words\n".repeat(400_000));
    let built = indexed(root.path(), index.path()).unwrap();
    let mut refused = built.refused.clone();
    refused.sort();
    assert_eq!(refused[0], ("locked.pdf".into(), "it is locked with a password".into()));
    assert_eq!(refused[1], ("long.txt".into(), "only its first 8 MiB are indexed".into()));
    assert_eq!(sources(index.path(), "pump at noon", &Filter::default()), ["notes.txt"]);
    drop(root);
    // The index outlives its documents; building it says what is missing.
    assert_eq!(sources(index.path(), "pump at noon", &Filter::default()), ["notes.txt"]);
    let corpus = info(index.path()).unwrap().corpus;
    assert!(indexed(&corpus.root, index.path()).unwrap_err().why.contains("is not there"));
}

/// Another program removes an index, or a disk goes, while it is searched.
#[test]
fn an_index_that_vanishes_while_it_is_open_costs_an_answer_at_most() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    framework(root.path());
    indexed(root.path(), index.path()).unwrap();
    let mut library = Library::default();
    library.open(index.path()).unwrap();
    let search = || library.search("bus_probe", 5, &Filter::default());
    let before = search().unwrap().found;
    drop(root);
    crate::knowledge::remove(index.path()).unwrap();
    assert!(!index.path().exists());
    // What was mapped stays; if it does not, the answer says so.
    match search() {
        Ok(answer) => assert_eq!(answer.found, before),
        Err(error) => assert!(error.fix.contains("firmhand index"), "{error:?}"),
    }
    assert!(Library::default().open(index.path()).is_err());
}

/// What people ask in words that no document has.
const TOPICS: &str = "[[topic]]\nname = \"Bus\"\npaths = [\"docs/en/api-reference/bus\", \"examples/bus/\"]\n\
                      asked = \"grab the fluxometer, wobble detector\"\n\n[[topic]]\nname = \"Cakes\"\n\
                      asked = \"bake icing oven, scan the wire\"\n";

#[test]
fn words_of_people_find_what_answers_them_and_those_of_other_fields_nothing() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    framework(root.path());
    for part in ["a.c", "b.c", "c.c"] {
        write(root.path(), &format!("examples/bus/main/{part}"), &format!("int {part}_x;\n"));
    }
    indexed(root.path(), index.path()).unwrap();
    let mut library = Library::default();
    library.open(index.path()).unwrap();
    let question = "wobble of a fluxometer";
    let found = |library: &Library, question: &str| {
        library.search(question, 9, &Filter::default()).unwrap().found
    };
    assert_eq!(found(&library, question), []);
    let elsewhere = "scan the wire";
    assert!(!found(&library, elsewhere).is_empty());
    let mut topics = PassageIndex::in_memory().unwrap();
    topics::fill(&mut topics, [("topics.toml", TOPICS)]).unwrap();
    library.know(Topics::of(topics));
    let now = found(&library, question);
    assert_eq!(now[0].passage.path, "docs/en/api-reference/bus.rst");
    assert!(now[0].why.contains("people ask: wobbl, fluxomet"), "{}", now[0].why);
    let of_example = now.iter().filter(|one| one.passage.path.starts_with("examples/bus/"));
    assert_eq!(of_example.count(), MOST_OF_EXAMPLE);
    assert_eq!(found(&library, elsewhere), []);
    assert_eq!(found(&library, "bus_probe")[0].passage.path, "components/bus/include/bus.h");
}

/// The files of a folder that ships, by their names.
fn shipped(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().collect();
    files.sort_by_key(std::fs::DirEntry::path);
    let text = |file: &std::fs::DirEntry| std::fs::read_to_string(file.path()).unwrap();
    files.iter().map(|file| (file.file_name().display().to_string(), text(file))).collect()
}

fn named(files: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    files.iter().map(|(file, text)| (file.as_str(), text.as_str()))
}

/// The questions of `tests/data/knowledge` on the notes that ship: the half that nothing was fitted
/// to, and those that no note is about.
#[test]
fn the_notes_answer_their_questions_and_no_others() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let text = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let mut words = Splitter::default();
    let synonyms =
        Synonyms::parse("synonyms", &text("assets/search/synonyms.txt"), &mut words).unwrap();
    let notes = shipped("assets/knowledge");
    assert!(notes.len() >= 60);
    let mut library = Library::new(synonyms);
    library.add(notes::corpus(""), notes::in_memory(named(&notes)).unwrap());
    let mut topics = PassageIndex::in_memory().unwrap();
    topics::fill(&mut topics, named(&shipped("assets/search/topics"))).unwrap();
    library.know(Topics::of(topics));
    let german = library.search("WLAN verbindet nicht", 5, &Filter::default()).unwrap().found;
    assert!(german[0].passage.path.contains("wifi"), "{}", german[0].passage.path);
    let found = |question: &str| library.search(question, 5, &Filter::default()).unwrap().found;
    let uart = "How do I send by UART";
    for elsewhere in [" on my STM32F407?", " on an nRF52840?", " on AVR? I use an ATmega328P."] {
        assert_eq!(found(&format!("{uart}{elsewhere}")), [], "{elsewhere}");
        // Another sentence is about that platform too.
        assert_eq!(found(&format!("{uart}{elsewhere} How do I enter deep sleep?")), []);
    }
    for here in ["?", " to an STM32F407?"] {
        let found = found(&format!("{uart}{here}"));
        assert!(found.iter().any(|one| one.passage.path.contains("uart")), "{here}");
    }
    let story = "Zorbex quimbled the frobnitz of Wexley. How do I enter deep sleep?";
    assert!(found(story).iter().any(|one| one.why.contains("for a part of the question")));
    let (mut asked, mut right, mut off_topic, mut silent) = (0, 0, 0, 0);
    let questions = text("tests/data/knowledge/questions.tsv");
    for line in questions.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let columns: Vec<&str> = line.split('\t').collect();
        let found = library.search(columns[1], 5, &Filter::default()).unwrap().found;
        let accepted: Vec<&str> = columns[3].split_whitespace().collect();
        if columns[0] == "test" && !accepted.is_empty() {
            asked += 1;
            let fits = |found: &Found| accepted.contains(&found.passage.path.as_str());
            right += usize::from(found.iter().any(fits));
        } else if columns[0].starts_with("off") {
            off_topic += 1;
            silent += usize::from(found.is_empty());
        }
    }
    assert!(asked > 50 && right * 100 >= asked * 80, "{right} of {asked} answered");
    assert!(
        off_topic > 100 && silent * 100 >= off_topic * 90,
        "{silent} of {off_topic} without an answer"
    );
}

/// A corpus of short texts, each about one thing.
fn texts(root: &Path) {
    let about = [
        "The temperature sensor measures the chip.",
        "A Bluetooth server has services.",
        "In deep sleep the interrupt of a timer wakes the chip.",
        "Encrypt the flash before shipping.",
    ];
    for (number, text) in (0..8).zip(about.iter().cycle()) {
        write(
            root,
            &format!("t{}-{number}.md", number % 4),
            &format!("# Part {number}\n\n{text}\n"),
        );
    }
}

#[test]
fn words_that_no_document_has_are_read_as_their_neighbours() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    texts(root.path());
    framework(root.path());
    indexed(root.path(), index.path()).unwrap();
    let mut library = Library::default();
    library.open(index.path()).unwrap();
    let first = |question: &str| {
        let found = library.search(question, 5, &Filter::default()).unwrap().found;
        found.into_iter().next().map(|found| (found.passage.path, found.why))
    };
    let names = [("bus_prob", "bus_probe"), ("bus_porbe", "bus_probe")];
    for (written, meant) in names {
        let (path, why) = first(written).unwrap_or_else(|| panic!("nothing for {written}"));
        assert_eq!(path, "components/bus/include/bus.h", "{written}");
        assert!(why.contains(&format!("`{meant}` for `{written}`")), "{why}");
    }
    assert!(first("giraffe zebra").is_none());
}

#[test]
fn misspelt_and_joined_words_of_prose_are_understood() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    texts(root.path());
    indexed(root.path(), index.path()).unwrap();
    let first = |question: &str| {
        let found = sources(index.path(), question, &Filter::default());
        found.first().map(|source| source[..2].to_owned())
    };
    assert_eq!(first("tempreture sensor").as_deref(), Some("t0"));
    assert_eq!(first("blutooth servr").as_deref(), Some("t1"));
    assert_eq!(first("deepsleep interupt").as_deref(), Some("t2"));
    assert_eq!(first("encrytion of flash").as_deref(), Some("t3"));
    assert_eq!(first("dear"), None, "short words have too many neighbours");
}

#[test]
fn a_file_answers_with_two_sections_when_both_are_good() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text = "# Pump\n\n## Start the pump\n\nTurn the pump on.\n\n## Stop the pump\n\nTurn the \
                pump off.\n\n## Colours\n\nIt is green.\n";
    write(root.path(), "pump.md", text);
    let long = "Water flows through the valve here. ".repeat(400);
    write(root.path(), "valve.md", &format!("# Valve\n\n{long}\n"));
    indexed(root.path(), index.path()).unwrap();
    let mut found = sources(index.path(), "turn the pump", &Filter::default());
    found.sort();
    assert_eq!(found, ["pump.md#start-the-pump", "pump.md#stop-the-pump"]);
    // Pieces of one section are one answer.
    assert_eq!(sources(index.path(), "water through the valve", &Filter::default()).len(), 1);
}

#[test]
fn texts_of_the_project_are_found_without_its_secrets_and_without_what_is_not_its_own() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(root.path(), "README.md", "# Pump\n\nThe zorbex waters the plants at noon.\n");
    write(
        root.path(),
        "main/zorbex.h",
        "/** Opens the zorbex valve. */\nvoid zorbex_open(void);\n",
    );
    write(
        root.path(),
        "main/zorbex.c",
        "// The zorbex valve sticks below five degrees.\nconst char *password = \"hunter2222\";\n",
    );
    write(
        root.path(),
        "main/Kconfig.projbuild",
        "config ZORBEX_PIN\n    int \"Pin of the zorbex\"\n",
    );
    for foreign in ["build/a.md", "managed_components/x/README.md", ".private/a.md"] {
        write(root.path(), foreign, "# Foreign\n\nThe zorbex is foreign here.\n");
    }
    write(root.path(), "keys.md", "The zorbex token is tok-of-the-person-77.\n");
    let redactor = Redactor::new(["tok-of-the-person-77"]);
    let options = BuildOptions {
        window: WindowSize::default(),
        parts: &|_| Err("none".to_owned()),
        secrets: &redactor,
        progress: &|_, _| {},
    };
    let corpus = Corpus::project(root.path());
    build(index.path(), &corpus, &options).unwrap();
    let mut library = Library::default();
    library.open(index.path()).unwrap();
    let kinds = vec![super::super::PassageKind::Project];
    let filter = Filter { kinds, ..Filter::default() };
    let found = library.search("zorbex", 20, &filter).unwrap().found;
    let mut paths: Vec<&str> = found.iter().map(|it| it.passage.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    let own = ["README.md", "keys.md", "main/Kconfig.projbuild", "main/zorbex.c", "main/zorbex.h"];
    assert_eq!(paths, own);
    let all: String = found.iter().map(|it| it.passage.text.as_str()).collect();
    assert!(!all.contains("hunter2222") && !all.contains("tok-of-the-person"), "{all}");
    assert!(all.contains("•••"), "{all}");
    assert!(found.iter().all(|it| it.passage.kind == super::super::PassageKind::Project));
}

/// Opens a library with one text, and tells how often.
struct Own(std::sync::Arc<std::sync::atomic::AtomicUsize>);

impl super::super::OwnWork for Own {
    fn open(&self, kinds: &[super::super::PassageKind]) -> Result<Library, UserError> {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut library = Library::default();
        library.leave_out(format!("asked for {}", kinds.len()));
        let note = "---\ntitle: Own\nsource: x\n---\nThe zorbex of the project.\n";
        library.add(notes::corpus(""), notes::in_memory([("own.md", note)]).unwrap());
        Ok(library)
    }
}

#[test]
fn the_own_work_is_searched_only_when_its_kind_is_named() {
    use super::super::PassageKind;
    let opened = std::sync::Arc::default();
    let own = Own(std::sync::Arc::clone(&opened));
    let text = "---\ntitle: Bus\nsource: x\n---\nThe zorbex bus.\n";
    let knowledge = notes::Knowledge::new([("bus.md", text)]).unwrap().with_own(Box::new(own));
    let found = knowledge.search("zorbex", 5, &Filter::default()).unwrap();
    assert_eq!(found.found.len(), 1);
    assert_eq!(opened.load(std::sync::atomic::Ordering::Relaxed), 0, "nobody asked for it");
    let kinds = |kinds: &[PassageKind]| Filter { kinds: kinds.to_vec(), ..Filter::default() };
    let only = knowledge.search("zorbex", 5, &kinds(&[PassageKind::Project])).unwrap();
    assert_eq!(only.left_out, ["asked for 1"]);
    let both = [PassageKind::Note, PassageKind::Project, PassageKind::Session];
    let both = knowledge.search("zorbex", 5, &kinds(&both)).unwrap();
    assert_eq!((both.left_out[0].as_str(), both.found.len()), ("asked for 2", 1));
    let without = notes::Knowledge::new([("bus.md", text)]).unwrap();
    let answer = without.search("zorbex", 5, &kinds(&[PassageKind::Session])).unwrap();
    assert!(answer.found.is_empty() && answer.left_out.len() == 1, "{answer:?}");
}

/// As a power cut may leave it: the list of files reached the disk, the index did not.
#[test]
fn an_index_that_is_older_than_its_list_of_files_is_read_again() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    framework(root.path());
    let all = indexed(root.path(), index.path()).unwrap();
    let list = index.path().join("files.json");
    let mut value: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&list).unwrap()).unwrap();
    value["stamp"] = serde_json::json!(value["stamp"].as_u64().unwrap() + 1_000_000);
    std::fs::write(&list, value.to_string()).unwrap();
    assert_eq!(indexed(root.path(), index.path()).unwrap().read, all.files);
    assert_eq!(indexed(root.path(), index.path()).unwrap().read, 0);
}

/// Small changes are joined with each other, not each time with the whole index.
#[test]
fn many_small_changes_stay_searchable_and_do_not_rewrite_the_whole() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    framework(root.path());
    let many = "Other\n=====\n\nLamps.\n\n".to_owned();
    for number in 0..200 {
        write(root.path(), &format!("docs/en/many/m{number}.rst"), &many);
    }
    indexed(root.path(), index.path()).unwrap();
    let stores = || {
        let files = std::fs::read_dir(index.path()).unwrap().flatten();
        let mut files: Vec<(u64, String)> = files
            .filter(|file| file.path().extension().is_some_and(|end| end == "store"))
            .map(|file| (file.metadata().unwrap().len(), file.file_name().into_string().unwrap()))
            .collect();
        files.sort();
        files
    };
    let large = stores().pop().unwrap().1;
    for number in 0..12 {
        let text = format!("Bus\n===\n\nAbout giraffe{number} now.\n");
        write(root.path(), "docs/en/api-reference/bus.rst", &text);
        indexed(root.path(), index.path()).unwrap();
        let source = sources(index.path(), &format!("giraffe{number}"), &Filter::default());
        assert_eq!(source, ["docs/en/api-reference/bus.rst"]);
    }
    let stores = stores();
    assert!(stores.len() <= 7, "{stores:?}");
    assert!(stores.iter().any(|(_, name)| *name == large), "the whole was written anew");
}
