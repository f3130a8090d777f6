//! Where in a program a check is called: before what it guards, and in the task that it watches.
//!
//! Owns which calls check and which act. That a check goes altogether is told by
//! [`removed_checks`](super::removed_checks).

use std::collections::{BTreeMap, BTreeSet};

use super::source::SourceText;
use super::{Subject, unchecked_limits, wishes};
use crate::model::{Finding, FindingLevel, FindingPlace};
use crate::text::c_calls::FunctionTokens;
use crate::text::c_tokens::TokenKind;

/// Parts of names of functions that let somebody or something pass, or not.
const CHECKS: [&str; 10] = [
    "verify",
    "verif",
    "validate",
    "is_valid",
    "isvalid",
    "authenticate",
    "check_sig",
    "signature",
    "authorize",
    "is_trusted",
];

/// Functions that do what cannot wait for a check. Sources: the headers of ESP-IDF v5.5.
const ACTS: [&str; 14] = [
    "esp_ota_set_boot_partition",
    "esp_ota_end",
    "esp_restart",
    "gpio_set_level",
    "digitalWrite",
    "nvs_set_blob",
    "nvs_set_str",
    "nvs_commit",
    "esp_partition_write",
    "esp_flash_write",
    "ledc_set_duty",
    "unlock",
    "open_door",
    "esp_ota_mark_app_valid_cancel_rollback",
];

/// Functions that tell a watchdog that all is well.
const FEEDS: [&str; 6] = [
    "esp_task_wdt_reset",
    "esp_task_wdt_reset_user",
    "wdt_hal_feed",
    "feed_watchdog",
    "wdt.feed",
    "watchdog.feed",
];

/// Whether a function of that name checks something.
pub(super) fn checks(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    CHECKS.iter().any(|part| name.contains(part))
}

/// The calls of a function in their order: name and line, from 1.
type Calls = Vec<(String, u32)>;

/// What is to be said of calls that have another place now.
pub(super) fn find(subject: &Subject<'_>) -> Vec<Finding> {
    let Some((old, new)) = subject.versions_of_code() else { return Vec::new() };
    let has_some = |line: &str| {
        let has = |names: &[&str]| names.iter().any(|name| line.contains(name));
        has(&CHECKS) || has(&FEEDS) || has(&ACTS)
    };
    let changed = subject.changed();
    let changes = |source: &SourceText<'_>, lines: &BTreeSet<u32>| {
        let at = |line: &u32| usize::try_from(line - 1).unwrap_or(usize::MAX);
        lines.iter().any(|line| has_some(source.line(at(line))))
    };
    // Most changes move no such call.
    if !changes(old, &changed.removed) && !changes(new, &changed.added) {
        return Vec::new();
    }
    let mut found: Vec<Finding> = fed_twice(old, new, subject).into_iter().collect();
    if subject.changed().removed.is_empty() {
        return found;
    }
    let (was, is) = (calls(old), calls(new));
    for (function, calls) in &was {
        let Some(now) = is.get(function) else { continue };
        found.extend(unfed(function, (calls, now), &is, subject));
        found.extend(turned(calls, now, subject));
    }
    found
}

/// A watchdog by its own handle that a second function feeds now, too.
fn fed_twice(old: &SourceText<'_>, new: &SourceText<'_>, subject: &Subject<'_>) -> Option<Finding> {
    let feeds = |source: &SourceText<'_>| -> Vec<(String, u32)> {
        let tokens = source.tokens();
        let of = |at: usize| {
            let is_feed = tokens.get(at)?.is_word("esp_task_wdt_reset_user");
            let handle = tokens.get(at + 2).and_then(|token| token.word()).filter(|_| is_feed)?;
            Some((handle.into_owned(), source.number_at(tokens.get(at)?.start)))
        };
        (0..tokens.len()).filter_map(of).collect()
    };
    let (was, is) = (feeds(old), feeds(new));
    let count = |all: &[(String, u32)], of: &str| all.iter().filter(|(name, _)| name == of).count();
    let is_more = |(handle, line): &&(String, u32)| {
        subject.changed().added.contains(line)
            && count(&was, handle) > 0
            && count(&is, handle) > count(&was, handle)
    };
    let (handle, line) = is.iter().find(is_more)?;
    if ["watchdog", "wdt"].iter().any(|word| subject.context.person_words().contains(word)) {
        return None;
    }
    let text = format!("feeds the watchdog `{handle}` in one more place");
    let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(*line));
    Some(finding.advice("It only notices that a loop hangs if nothing else feeds it."))
}

/// A watchdog that another function feeds now.
fn unfed(
    function: &str,
    (was, now): (&Calls, &Calls),
    is: &BTreeMap<String, Calls>,
    subject: &Subject<'_>,
) -> Option<Finding> {
    let feeds =
        |calls: &Calls| calls.iter().find(|(name, _)| FEEDS.contains(&name.as_str())).cloned();
    let (_, gone) = feeds(was).filter(|_| feeds(now).is_none())?;
    // A function that it calls may feed it now.
    let calls_it =
        now.iter().any(|(name, _)| is.get(name).is_some_and(|calls| feeds(calls).is_some()));
    let task = subject.context.person_words();
    let has = |words: &[&str]| words.iter().any(|word| task.contains(word));
    let is_asked_for = has(&["watchdog", "wdt"])
        && (has(&["timer", "feed", "reset"]) || wishes::may_want_less_checked(&task));
    if calls_it || is_asked_for || is_fed_by_another_file(now, subject) {
        return None;
    }
    let fed = is.iter().find_map(|(name, calls)| Some((name, feeds(calls)?.1)));
    let text = match &fed {
        Some((other, _)) => {
            format!("feeds the watchdog in `{other}` and no longer in `{function}`")
        }
        None => format!("no longer feeds the watchdog in `{function}`"),
    };
    let line = fed.map(|(_, line)| line).or_else(|| unchecked_limits::near(gone, subject));
    let mut finding = Finding::new(FindingLevel::Warning, text)
        .advice("It only notices that a loop hangs if the loop itself feeds it.");
    finding.place = line.map(FindingPlace::line);
    Some(finding)
}

/// Whether a function calls one of another file of the change that feeds the watchdog.
fn is_fed_by_another_file(now: &Calls, subject: &Subject<'_>) -> bool {
    let mut texts = subject.context.proposed.texts();
    texts.any(|(other, text)| {
        let feeds = |(name, calls): (String, Calls)| {
            let feeds = calls.iter().any(|(call, _)| FEEDS.contains(&call.as_str()));
            feeds && now.iter().any(|(call, _)| *call == name)
        };
        text.contains("wdt") && calls(&SourceText::new(other, text)).into_iter().any(feeds)
    })
}

/// A check that comes behind what it stood before.
fn turned(was: &Calls, now: &Calls, subject: &Subject<'_>) -> Option<Finding> {
    let once = |calls: &Calls, wanted: &dyn Fn(&str) -> bool| -> Vec<(usize, String, u32)> {
        let places = calls.iter().enumerate().filter(|(_, (name, _))| wanted(name));
        let all: Vec<_> = places.map(|(at, (name, line))| (at, name.clone(), *line)).collect();
        let is_single = |name: &str| all.iter().filter(|(_, other, _)| other == name).count() == 1;
        all.iter().filter(|(_, name, _)| is_single(name)).cloned().collect()
    };
    let acts = |name: &str| ACTS.contains(&name);
    for (check_was, check, _) in once(was, &checks) {
        // What weighs most comes first.
        let mut acts = once(was, &acts);
        acts.sort_by_key(|(_, name, _)| ACTS.iter().position(|act| act == name));
        for (act_was, act, _) in acts {
            let now_check = once(now, &|name| name == check).into_iter().next();
            let now_act = once(now, &|name| name == act).into_iter().next();
            let (Some((check_is, _, check_line)), Some((act_is, _, act_line))) =
                (now_check, now_act)
            else {
                continue;
            };
            let added = &subject.changed().added;
            if check_was < act_was && check_is > act_is {
                let line = if added.contains(&act_line) { act_line } else { check_line };
                let text = format!("calls `{act}` before `{check}`, which stood before it");
                let finding =
                    Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line));
                return Some(
                    finding.advice("Make sure that nothing happens before it is checked."),
                );
            }
        }
    }
    None
}

/// The functions of a source that are defined once, with what each calls.
fn calls(source: &SourceText<'_>) -> BTreeMap<String, Calls> {
    let tokens = source.tokens();
    let mut found: BTreeMap<String, Calls> = BTreeMap::new();
    for FunctionTokens { name, body } in source.functions() {
        let Some(function) = tokens.get(*name).filter(|name| !name.in_directive) else { continue };
        let calls = found.entry(function.raw.to_owned()).or_default();
        let body = tokens.get(body.clone()).unwrap_or_default();
        let is_call = |at: usize| {
            let open = body.get(at + 1).is_some_and(|open| open.is("("));
            let name = body.get(at).filter(|name| open && name.kind == TokenKind::Word)?;
            // Others than a watchdog are fed, too: fish, and parsers.
            let of = at.checked_sub(2).and_then(|of| body.get(of)).map_or("", |of| of.raw);
            let of = of.to_ascii_lowercase();
            let owner = ["wdt", "watchdog"].into_iter().find(|owner| of.contains(owner));
            let called = match owner.filter(|_| name.raw == "feed") {
                Some(owner) => format!("{owner}.feed"),
                None => name.raw.to_owned(),
            };
            Some((called, source.number_at(name.start)))
        };
        calls.extend((0..body.len()).filter_map(is_call));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    const OLD: &str = "static void loop(void)\n{\n    read();\n    control();\n    \
                       esp_task_wdt_reset();\n}\n\nstatic void beat(void *arg)\n{\n    toggle();\n}\n\n\
                       esp_err_t finish(void)\n{\n    if (verify_image(part) != ESP_OK) {\n        \
                       return ESP_FAIL;\n    }\n    return esp_ota_set_boot_partition(part);\n}\n";

    fn found(new: &str, task: &str) -> Vec<String> {
        let all = reported(CheckKind::Safeguards, ("main/a.c", Some(OLD), new), task);
        all.into_iter()
            .filter(|found| found.contains("watchdog") || found.contains("before"))
            .collect()
    }

    #[test]
    fn a_watchdog_of_rust_that_a_loop_no_longer_feeds_is_told() {
        let old =
            "fn main() -> ! {\n    loop {\n        read();\n        rtc.rwdt.feed();\n    }\n}\n";
        let found = |new: &str, task: &str| {
            let all = reported(CheckKind::Safeguards, ("src/main.rs", Some(old), new), task);
            all.into_iter().filter(|found| found.contains("feeds the watchdog")).collect::<Vec<_>>()
        };
        let new = old.replace("        rtc.rwdt.feed();\n", "        tick();\n");
        let wanted = ["Warning 4: no longer feeds the watchdog in `main`"];
        assert_eq!(found(&new, "Count milliseconds"), wanted);
        assert_eq!(found(&new, "Feed the watchdog by a timer"), [] as [String; 0]);
        let fish = |text: &str| text.replace("rtc.rwdt.feed", "tank.feed");
        let all =
            reported(CheckKind::Safeguards, ("src/main.rs", Some(&fish(old)), &fish(&new)), "x");
        assert!(!all.iter().any(|found| found.contains("watchdog")), "{all:?}");
    }

    #[test]
    fn a_watchdog_that_is_fed_elsewhere_is_told() {
        let gone = OLD.replace("    esp_task_wdt_reset();\n", "");
        assert_eq!(
            found(
                &gone.replace("    toggle();", "    toggle();\n    esp_task_wdt_reset();"),
                "Blink"
            ),
            ["Warning 10: feeds the watchdog in `beat` and no longer in `loop`"]
        );
        assert_eq!(found(&gone, "Blink"), ["Warning 5: no longer feeds the watchdog in `loop`"]);
        assert_eq!(found(&gone, "Feed the watchdog by a timer"), [] as [String; 0]);
        let inner = format!("{OLD}static void feed(void)\n{{\n    esp_task_wdt_reset();\n}}\n");
        let inner = inner.replacen("    esp_task_wdt_reset();\n", "    feed();\n", 1);
        assert_eq!(found(&inner, "Blink"), [] as [String; 0], "what it calls feeds it");
        assert_eq!(found(&gone.replace("void loop", "void work"), "Blink"), [] as [String; 0]);
    }

    #[test]
    fn a_watchdog_with_a_handle_is_fed_in_one_place() {
        let old = "void loop(void)\n{\n    esp_task_wdt_reset_user(dog);\n}\nvoid beat(void)\n{\n    on();\n}\n";
        let found = |new: &str, task: &str| {
            let all = reported(CheckKind::Safeguards, ("main/a.c", Some(old), new), task);
            all.into_iter().filter(|found| found.contains("one more")).collect::<Vec<_>>()
        };
        let twice = old.replace("    on();", "    on();\n    esp_task_wdt_reset_user(dog);");
        assert_eq!(
            found(&twice, "Blink"),
            ["Warning 8: feeds the watchdog `dog` in one more place"]
        );
        assert_eq!(found(&twice, "Feed the watchdog while it beats"), [] as [String; 0]);
        let other = twice.replacen("    esp_task_wdt_reset_user(dog);\n", "    go();\n", 1);
        assert!(found(&other, "Blink").is_empty());
    }

    #[test]
    fn a_check_behind_what_it_guards_is_told() {
        let act = "    esp_err_t err = esp_ota_set_boot_partition(part);\n";
        let new = OLD.replace("    if (verify", &format!("{act}    if (verify"));
        let new = new.replace("return esp_ota_set_boot_partition(part)", "return err");
        assert_eq!(
            found(&new, "Log the result"),
            [
                "Warning 15: calls `esp_ota_set_boot_partition` before `verify_image`, which stood before it"
            ]
        );
        assert_eq!(found(&OLD.replace("read();", "scan();"), "Log"), [] as [String; 0]);
    }
}
