//! What a task wants done to something: one that only names it asks for nothing.
//!
//! Owns the words and their order in a sentence. Must not know what is protected or limited.

/// Words before a name by which it is to go. No form that tells what happens: "the check skips".
const GONE: [&str; 32] = [
    "disable",
    "disabling",
    "deactivate",
    "deactivating",
    "skip",
    "skipping",
    "without",
    "ignore",
    "ignoring",
    "remove",
    "removing",
    "drop",
    "dropping",
    "delete",
    "deleting",
    "bypass",
    "bypassing",
    "omit",
    "omitting",
    "suppress",
    "suppressing",
    "silence",
    "silencing",
    "relax",
    "relaxing",
    "loosen",
    "loosening",
    "weaken",
    "weakening",
    "lift",
    "lifting",
    "off",
];

/// Words behind a name by which it is to go: "turn the check off".
const GONE_BEHIND: [&str; 4] = ["off", "disabled", "skipped", "ignored"];

/// What is not to be done when something is to go: "do not verify the certificate".
const NEGATED: [&str; 3] = ["not", "don't", "never"];

/// Words before those that make it a report: "it does not verify the certificate".
const REPORTS: [&str; 11] =
    ["does", "did", "is", "are", "was", "were", "will", "would", "can", "could", "has"];

/// How many words may stand between.
const NEAR: usize = 4;

/// Words by which something is to become more.
const MORE: [&str; 20] = [
    "raise",
    "raising",
    "increase",
    "increasing",
    "higher",
    "more",
    "extend",
    "longer",
    "larger",
    "bigger",
    "greater",
    "double",
    "triple",
    "faster",
    "stronger",
    "hotter",
    "lift",
    "beyond",
    "above",
    "exceed",
];

/// Words by which something is to become less.
const LESS: [&str; 12] = [
    "lower", "less", "reduce", "reducing", "decrease", "down", "below", "under", "colder",
    "smaller", "allow", "until",
];

/// Words by which something is to become different.
const OTHER: [&str; 10] = [
    "change",
    "changing",
    "set",
    "setting",
    "adjust",
    "adjusting",
    "tune",
    "tuning",
    "update",
    "make",
];

/// Words for a limit.
const BOUND: [&str; 7] = ["limit", "limits", "maximum", "max", "bound", "bounds", "ceiling"];

/// Whether a task, in small letters, wants one of `names` to go: beginnings of words, or several words.
pub(super) fn wants_gone(task: &str, names: &[String]) -> bool {
    // What takes off goes nowhere else.
    let task = &task.replace("take-off", "start").replace("takes off", "starts");
    sentences(task).any(|sentence| {
        let words: Vec<&str> = words(sentence).collect();
        names.iter().any(|name| {
            let name: Vec<&str> = self::words(name).collect();
            let ends = name.len();
            let is_here = |at: usize| {
                let here = words.get(at..at + ends).unwrap_or_default();
                here.len() == ends && here.iter().zip(&name).all(|(word, of)| word.starts_with(of))
            };
            let mut places = (0..words.len()).filter(|at| ends > 0 && is_here(*at));
            places.any(|at| is_gone(&words, at, at + ends))
        })
    })
}

/// Whether the words around a name, which stands from `at` to `end`, want it to go.
fn is_gone(words: &[&str], at: usize, end: usize) -> bool {
    let before = words.get(at.saturating_sub(NEAR)..at).unwrap_or_default();
    let behind = words.get(end..words.len().min(end + NEAR)).unwrap_or_default();
    let is_negated = match before {
        [.., report, word] if NEGATED.contains(word) => !REPORTS.contains(report),
        [.., word] => NEGATED.contains(word),
        [] => false,
    };
    is_negated
        || before.iter().any(|word| GONE.contains(word))
        || behind.iter().any(|word| GONE_BEHIND.contains(word))
}

/// Whether a task wants anything at all to go.
pub(super) fn wants_something_gone(task: &str) -> bool {
    words(task).any(|word| GONE.contains(&word))
}

/// Words by which less is checked than before.
const FREER: [&str; 27] = [
    "allow",
    "allows",
    "allowing",
    "permit",
    "permits",
    "permitting",
    "accept",
    "accepts",
    "accepting",
    "always",
    "even",
    "regardless",
    "unconditional",
    "unconditionally",
    "simplify",
    "simplifies",
    "simplifying",
    "redundant",
    "unused",
    "dead",
    "duplicate",
    "duplicates",
    "duplicated",
    "unnecessary",
    "obsolete",
    "unreachable",
    "superfluous",
];

/// Words by which something takes the place of another.
const IN_PLACE: [&str; 14] = [
    "replace",
    "replaces",
    "replacing",
    "rewrite",
    "rewriting",
    "migrate",
    "migrating",
    "migration",
    "port",
    "porting",
    "instead",
    "exchange",
    "swap",
    "supersede",
];

/// Words for what is printed and for what does nothing, of which less may be wanted.
const OUTPUT: [&str; 16] = [
    "log", "logs", "logging", "serial", "print", "prints", "printf", "println", "debug", "output",
    "outputs", "trace", "traces", "comment", "comments", "include",
];

/// Beginnings of words behind "without" for what is to be kept from happening.
const KEPT_FROM: [&str; 14] = [
    "flicker",
    "chang",
    "touch",
    "break",
    "los",
    "block",
    "restart",
    "reboot",
    "jump",
    "effect",
    "jitter",
    "behavio",
    "reset",
    "interrupt",
];

/// Whether a task may mean that less is checked. "Remove the debug output" and "without flicker" do
/// not.
pub(super) fn may_want_less_checked(task: &str) -> bool {
    let keeps = KEEPS.iter().any(|phrase| task.contains(phrase));
    sentences(task).any(|sentence| {
        let words: Vec<&str> = words(sentence).collect();
        // What is simplified without a change checks what it checked.
        let is_freer =
            |word: &&str| FREER.contains(word) && !(keeps && word.starts_with("simplif"));
        let is_wish = |word: &&str| GONE.contains(word) || is_freer(word);
        let is_of_output = |at: usize| {
            let behind = words.get(at + 1..words.len().min(at + 1 + NEAR)).unwrap_or_default();
            GONE.contains(&words.get(at).copied().unwrap_or_default())
                && behind.iter().any(|word| OUTPUT.contains(word))
        };
        let keeps_from = |at: usize| {
            let mut behind = words.iter().skip(at + 1).take(NEAR);
            words.get(at) == Some(&"without")
                && behind.any(|word| KEPT_FROM.iter().any(|start| word.starts_with(start)))
        };
        let mut wishes = (0..words.len()).filter(|at| words.get(*at).is_some_and(is_wish));
        wishes.any(|at| !is_of_output(at) && !keeps_from(at))
    })
}

/// Phrases by which a program is to do what it did.
const KEEPS: [&str; 14] = [
    "without changing",
    "functional change",
    "behaviour must stay",
    "behavior must stay",
    "behaviour stays",
    "behavior stays",
    "same behavio",
    "behave as before",
    "verhaltensänderung",
    "verhalten bleib",
    "sans changer",
    "même comportement",
    "sin cambiar",
    "mismo comportamiento",
];

/// Beginnings of words that ask for a copy.
const COPY: [&str; 7] = ["copy", "duplicate", "clone", "kopier", "dupliz", "copia", "copie"];

/// Whether a task asks for a copy of something.
pub(super) fn wants_copy(task: &str) -> bool {
    words(task).any(|word| COPY.iter().any(|start| word.starts_with(start)))
}

/// Whether a task may mean that something takes the place of another, or that it goes.
pub(super) fn may_want_another(task: &str) -> bool {
    words(task).any(|word| GONE.contains(&word) || IN_PLACE.contains(&word))
}

/// Whether a task wants something to become more that is called by `name`, in small letters, or to
/// get the value `now`.
pub(super) fn wants_more(task: &str, name: &[String], now: f64) -> bool {
    wants_change(task, name, (now, &MORE))
}

/// As [`wants_more`], for less.
pub(super) fn wants_less(task: &str, name: &[String], now: f64) -> bool {
    wants_change(task, name, (now, &LESS))
}

fn wants_change(task: &str, name: &[String], (now, more): (f64, &[&str])) -> bool {
    sentences(task).flat_map(clauses).any(|sentence| {
        let words: Vec<&str> = words(sentence).collect();
        // "It takes longer than a minute" compares and wants nothing.
        let compares = |at: usize| words.get(at + 1) == Some(&"than");
        let has = |known: &[&str]| {
            words.iter().enumerate().any(|(at, word)| known.contains(word) && !compares(at))
        };
        let is_named = names(sentence, name);
        let is_value = numbers(sentence).any(|number| number * parts(name) == now);
        let (more, bound) = (has(more), has(&BOUND));
        is_value || more && (is_named || bound) || has(&OTHER) && is_named && bound
    })
}

/// How many parts of what a task speaks of one of a name is: 550 of `MAX_DECI_C` are 55 degrees.
fn parts(name: &[String]) -> f64 {
    const PARTS: [(&str, f64); 4] =
        [("deci", 10.0), ("tenths", 10.0), ("centi", 100.0), ("milli", 1000.0)];
    let found = PARTS.iter().find(|(part, _)| name.iter().any(|word| word == part));
    found.map_or(1.0, |(_, parts)| *parts)
}

/// Whether a text has one of the words of a name in it, or one that begins alike.
pub(super) fn names(text: &str, name: &[String]) -> bool {
    let is_of = |own: &str, word: &str| {
        word.len() > 2 && (own.starts_with(word) || own.len() > 3 && word.starts_with(own))
    };
    words(text).any(|own| name.iter().any(|word| is_of(own, word)))
}

/// The sentences of a text: a colon or a comma ends none.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(['!', '?', ';', '\n']).flat_map(|part| part.split(". "))
}

/// The parts of a sentence that one of these words begins: what stands behind it is told, not wanted.
fn clauses(sentence: &str) -> impl Iterator<Item = &str> {
    const BEGIN: [&str; 6] = [" when ", " whenever ", " because ", " if ", " while ", " although "];
    let mut rest = Some(sentence);
    std::iter::from_fn(move || {
        let text = rest?;
        let next = BEGIN.iter().filter_map(|word| text.get(1..)?.find(word)).min();
        rest = next.and_then(|at| text.get(at + 1..)).map(str::trim_start);
        next.map_or(Some(text), |at| text.get(..at + 1))
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.filter(|word| !word.is_empty())
}

fn numbers(text: &str) -> impl Iterator<Item = f64> {
    let words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    words.filter_map(|word| word.trim_end_matches('.').parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &[&str]) -> Vec<String> {
        all.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_a_task_names_it_does_not_yet_want_gone() {
        let of = names(&["certificate", "verif", "stack protector"]);
        for task in [
            "",
            "renew the certificate",
            "the check of the certificate does not work",
            "the certificate is dropped sometimes. remove the led",
            "it skips the verification: find out why",
            "the connection drops when it verifies the certificate",
            "skip the led; renew the certificate",
            "remove the led from the board that has the stack of papers and a protector",
            "the board does not verify the server: fix it",
            "add a comment above the verification",
            "say when the certificate will not be valid any more",
        ] {
            assert!(!wants_gone(task, &of), "{task}");
        }
        for task in [
            "connect without a certificate",
            "turn the certificate check off",
            "skip verification",
            "do not verify anything",
            "build without the stack protector",
            "disable the tls certificate for the test bench",
        ] {
            assert!(wants_gone(task, &of), "{task}");
        }
        assert!(!wants_gone("disable it", &names(&[""])), "no name");
    }

    #[test]
    fn a_name_is_mentioned_by_a_word_of_it_or_one_that_begins_alike() {
        let name = names(&["temp", "max", "ma"]);
        let mentions = |text: &str| super::names(text, &name);
        assert!(mentions("the temperature") && mentions("max"));
        for text in ["", "ma", "te", "what it costs"] {
            assert!(!mentions(text), "{text}");
        }
        let more = names(&["charge"]);
        assert!(super::names("charger", &more) && super::names("char", &more));
        assert!(!super::names("ch", &more));
    }

    #[test]
    fn tasks_that_free_or_replace_say_so() {
        for task in ["allow any dose", "simplify it", "remove it", "drop unused code"] {
            assert!(may_want_less_checked(task), "{task}");
        }
        for task in ["remove the serial debug output, serial.begin, too", "drop all log lines"] {
            assert!(!may_want_less_checked(task), "{task}");
        }
        assert!(may_want_less_checked("remove the output and skip the check"));
        for task in ["show it without flicker", "move it without any change of behaviour"] {
            assert!(!may_want_less_checked(task), "{task}");
        }
        assert!(may_want_less_checked("connect without a certificate"));
        for task in ["replace the sensor", "migrate to v6", "remove it"] {
            assert!(may_want_another(task), "{task}");
        }
        for task in
            ["", "publish the charge", "log events by their deadline", "report", "switch it on"]
        {
            assert!(!may_want_less_checked(task) && !may_want_another(task), "{task}");
        }
        assert!(wants_less("charge at lower temp", &names(&["temp"]), -20.0));
        assert!(!wants_less("raise the temp", &names(&["temp"]), -20.0));
    }

    #[test]
    fn more_is_wanted_by_its_value_or_in_words() {
        let pump = names(&["pump", "limit"]);
        for task in [
            "",
            "the pump is loud: say when it runs",
            "tidy the limits",
            "set the pump up for the new board",
            "use gpio 36 for the pump",
            "log more. the pump stays",
            "it takes more than two minutes until the pump is warm",
            "log more when the pump reaches its limit",
            "wait longer if the pump is off",
        ] {
            assert!(!wants_more(task, &pump, 3600.0), "{task}");
        }
        for task in [
            "let it run for 3600 seconds",
            "3600.",
            "the pump may run longer",
            "when it is dry, let the pump run longer",
            "raise the limits",
            "change the limit of the pump",
        ] {
            assert!(wants_more(task, &pump, 3600.0), "{task}");
        }
        assert!(!wants_more("36000 or 13600", &pump, 3600.0));
        assert!(wants_more("to 4.5 volts", &pump, 4.5));
    }
}
