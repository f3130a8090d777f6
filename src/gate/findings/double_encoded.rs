//! Letters that a change turns into two or three others, as when UTF-8 is read as Latin-1 and written
//! again: `ö` becomes `Ã¶`.
//!
//! Owns what such runs look like. Must not judge text that was so before.

use super::Subject;
use crate::model::{Finding, FindingLevel, FindingPlace};

/// The characters of Windows-1252 that take the place of the bytes 0x80 to 0x9f.
const WINDOWS: [char; 27] = [
    '€', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 'Ž', '‘', '’', '“', '”', '•', '–',
    '—', '˜', '™', 'š', '›', 'œ', 'ž', 'Ÿ',
];

/// The bytes of those characters, in the same order. Source: the Unicode mapping of CP1252.
const WINDOWS_BYTES: [u8; 27] = [
    0x80, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8e, 0x91, 0x92, 0x93,
    0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9e, 0x9f,
];

/// What is to be said of a text with more such runs than before.
pub(super) fn find(subject: &Subject<'_>) -> Option<Finding> {
    let text = subject.text().filter(|text| !text.is_ascii())?;
    let found = runs(text);
    let before = subject.base_text().map_or(0, |base| runs(base).len());
    let added = &subject.changed().added;
    let (line, shown, meant) = found.iter().find(|(line, _, _)| added.contains(line))?;
    if found.len() <= before {
        return None;
    }
    let text = format!("writes `{shown}` where `{meant}` is meant: the text is encoded twice");
    let finding = Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(*line));
    Some(finding.advice("Save the file as UTF-8 once."))
}

/// The byte that a character stands for when bytes are read as Windows-1252.
fn byte(c: char) -> Option<u8> {
    let special = WINDOWS.iter().position(|known| *known == c);
    special
        .and_then(|at| WINDOWS_BYTES.get(at).copied())
        .or_else(|| u8::try_from(u32::from(c)).ok())
}

/// Characters in a row that are the bytes of another one in UTF-8: line, from 1, what stands there,
/// and what is meant.
fn runs(text: &str) -> Vec<(u32, String, char)> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.is_ascii()) {
        let chars: Vec<char> = line.chars().collect();
        let mut at = 0;
        while at < chars.len() {
            let first = chars.get(at).copied().and_then(byte).unwrap_or(0);
            let length = match first {
                0xc3..=0xdf => 2,
                0xe2..=0xef => 3,
                // `Â` before a sign such as `°`.
                0xc2 => 2,
                _ => 0,
            };
            let run = chars.get(at..at + length).filter(|run| !run.is_empty());
            let meant = run.and_then(|run| {
                let bytes = run.iter().map(|c| byte(*c)).collect::<Option<Vec<u8>>>()?;
                std::str::from_utf8(&bytes).ok()?.chars().next()
            });
            match meant {
                Some(meant) if !meant.is_control() => {
                    let shown = chars.get(at..at + length).unwrap_or_default().iter().collect();
                    found.push((number, shown, meant));
                    at += length;
                }
                _ => at += 1,
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use super::*;
    use crate::model::CheckKind;

    fn found(old: &str, new: &str) -> Vec<String> {
        let all = reported(CheckKind::Encoding, ("main/text.h", Some(old), new), "Reword it");
        all.into_iter().filter(|found| found.contains("twice")).collect()
    }

    #[test]
    fn letters_that_become_two_are_told_where_they_are() {
        let old = "int a;\n#define OPEN \"Tür öffnen\"\n";
        let new = old.replace('ü', "Ã¼").replace('ö', "Ã¶");
        assert_eq!(
            found(old, &new),
            ["Warning 2: writes `Ã¼` where `ü` is meant: the text is encoded twice"]
        );
        assert_eq!(found(&new, old), [] as [String; 0], "it is repaired");
        assert_eq!(found(&new, &format!("{new}int b;\n")), [] as [String; 0], "it was so");
        assert_eq!(found("", "// 20 Â°C, itâ€™s\n").len(), 1);
    }

    #[test]
    fn letters_of_other_languages_are_not() {
        for text in ["Ãcaro, São João, ÂNGULO", "Größe 20 °C", "“quoted” – it’s 5 €", "Température"]
        {
            assert_eq!(runs(text), [], "{text}");
        }
    }
}
