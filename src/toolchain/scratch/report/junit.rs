//! JUnit's XML, as CTest writes it.

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::collected::Collected;
use super::json_lines::millis;
use super::place::place_and_rest;
use crate::model::{TestCase, TestOutcome};

/// Elements that are read, at most.
const MOST: usize = 2_000_000;

/// Reads it; a file that is cut off gives the tests that it holds whole.
pub fn read(text: &str, tests: &mut Collected) {
    let mut reader = Reader::from_str(text);
    let mut open: Option<TestCase> = None;
    let mut within = Within::Other;
    for _ in 0..MOST {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                begun(&tag, &mut open);
                within = match tag.name().as_ref() {
                    "system-out" | "failure" | "error" => Within::Output,
                    _ => Within::Other,
                };
            }
            Ok(Event::Empty(tag)) => {
                begun(&tag, &mut open);
                if tag.name().as_ref() == "testcase" {
                    open.take().into_iter().for_each(|test| tests.add(test));
                }
            }
            Ok(Event::Text(words)) => print(&mut open, within, &words),
            Ok(Event::CData(words)) => print(&mut open, within, &words),
            Ok(Event::GeneralRef(name)) => {
                let letter = match name.resolve_char_ref() {
                    Ok(Some(letter)) => letter.to_string(),
                    _ => resolve_predefined_entity(&name).unwrap_or_default().to_owned(),
                };
                print(&mut open, within, &letter);
            }
            Ok(Event::End(tag)) => {
                within = Within::Other;
                if tag.name().as_ref() == "testcase" {
                    open.take().into_iter().for_each(|test| tests.add(explained(test)));
                }
            }
            Ok(Event::Eof) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

/// Whether text is what a test printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Output,
    Other,
}

fn print(open: &mut Option<TestCase>, within: Within, text: &str) {
    if let Some(test) = open.as_mut().filter(|_| within == Within::Output) {
        test.output.push_str(text);
    }
}

fn begun(tag: &BytesStart<'_>, open: &mut Option<TestCase>) {
    let value = |key: &str| {
        let found = tag.try_get_attribute(key).ok()??;
        Some(found.normalized_value(XmlVersion::Implicit1_0).ok()?.into_owned())
    };
    let (outcome, message) = match tag.name().as_ref() {
        "testcase" => {
            let outcome = match value("status").as_deref() {
                Some("fail") => TestOutcome::Failed,
                Some("notrun" | "disabled") => TestOutcome::Skipped,
                _ => TestOutcome::Passed,
            };
            let seconds = value("time").and_then(|time| time.parse().ok()).unwrap_or(0.0);
            let name = value("name").unwrap_or_default();
            *open = Some(TestCase { millis: millis(seconds), ..TestCase::new(name, outcome) });
            return;
        }
        "failure" => (TestOutcome::Failed, value("message")),
        "error" => (TestOutcome::Error, value("message")),
        "skipped" => (TestOutcome::Skipped, value("message")),
        _ => return,
    };
    if let Some(test) = open {
        test.outcome = outcome;
        test.message = message.unwrap_or_default();
    }
}

/// The place where a test failed is in what it printed.
fn explained(mut test: TestCase) -> TestCase {
    let place = test.output.lines().find_map(place_and_rest);
    if let Some((place, _)) = place.filter(|_| test.outcome.is_bad()) {
        (test.file, test.line) = (Some(place.file), place.line);
    }
    test
}
