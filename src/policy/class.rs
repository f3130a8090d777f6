//! Which class a task belongs to, by its words.
//!
//! Owns a rule of thumb: a list of points or a long text is complex, one short wish is trivial. It
//! needs no model, so that the same task is always of the same class.

/// Points of a list from which on a task is complex.
const MANY_POINTS: usize = 3;

/// Words from which on a task is complex.
const MANY_WORDS: usize = 60;

/// Words up to which a single wish is trivial.
const FEW_WORDS: usize = 12;

/// Words that join one wish to another.
const JOINTS: [&str; 6] = ["and", "with", "then", "also", "plus", "including"];

/// `trivial`, `simple` or `complex`.
#[must_use]
pub fn class_of(task: &str) -> &'static str {
    let is_point = |line: &&str| {
        let line = line.trim_start();
        let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_numbered = digits.len() < line.len() && digits.starts_with(['.', ')']);
        is_numbered || ["- ", "* ", "• "].iter().any(|mark| line.starts_with(mark))
    };
    let points = task.lines().filter(is_point).count();
    let words: Vec<String> = task
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let joints = words.iter().filter(|word| JOINTS.contains(&word.as_str())).count();
    let commas = task.matches([',', ';']).count();
    if points >= MANY_POINTS || words.len() > MANY_WORDS || joints + commas > 4 {
        return "complex";
    }
    if points == 0 && words.len() <= FEW_WORDS && joints + commas == 0 {
        return "trivial";
    }
    "simple"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_task_say_its_class() {
        for (task, class) in [
            ("Reverse a string", "trivial"),
            ("Check whether a number is prime", "trivial"),
            ("Count the words of a text, and list the ten most frequent", "simple"),
            ("Write a stack with push, pop and peek", "simple"),
            ("A to-do list:\n- add\n- remove\n- list", "complex"),
            (
                "Parse expressions with +, -, *, / and brackets, then evaluate them and report errors",
                "complex",
            ),
            ("", "trivial"),
        ] {
            assert_eq!(class_of(task), class, "{task}");
        }
        assert_eq!(class_of(&"word ".repeat(61)), "complex");
    }
}
