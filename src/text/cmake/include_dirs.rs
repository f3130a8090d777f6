//! Adds a folder to those in which a component's headers are searched.

use super::register::behind;
use super::sources::{Named, named, section};
use super::{Argument, CMakeCommand, CmakeError, commands};
use crate::text::lines::Newline;

/// The list with `folder`, relative to its own, among the folders of the component's headers;
/// `None` when it is one already, or when what is there cannot be read without a build.
///
/// # Errors
/// As [`commands`], and when the list registers no component, or not exactly one.
pub fn with_include_folder(text: &str, folder: &str) -> Result<Option<String>, CmakeError> {
    let commands = commands(text)?;
    let component = component(&commands)?;
    if folder.contains(['"', '$', ';', '\\']) {
        return Err(CmakeError::new(component.line, "the name needs escapes in CMake"));
    }
    let words: Vec<&Argument> = ["INCLUDE_DIRS", "PRIV_INCLUDE_DIRS"]
        .iter()
        .filter_map(|keyword| section(component, keyword))
        .flatten()
        .filter_map(|index| component.args.get(index))
        .collect();
    let is_there = [folder.to_owned(), format!("{folder}/")].iter().any(|name| {
        named(words.iter().map(|word| word.text.as_str()), name, &commands) != Named::No
    });
    let is_open = |word: &&Argument| word.text.contains("${") || word.text.contains("$<");
    let leads_elsewhere = words.iter().copied().filter(|word| is_open(word)).any(|word| {
        !word.text.starts_with("${CMAKE_CURRENT") && !word.text.starts_with("${COMPONENT_DIR}")
    });
    if is_there || leads_elsewhere {
        return Ok(None);
    }
    Ok(Some(added(text, component, folder)))
}

fn component(commands: &[CMakeCommand]) -> Result<&CMakeCommand, CmakeError> {
    let mut all = commands.iter().filter(|command| command.name == "idf_component_register");
    let first = all.next().filter(|command| command.depth == 0);
    let first = first.ok_or_else(|| CmakeError::new(1, "it registers no component"))?;
    match all.next() {
        None => Ok(first),
        Some(second) => Err(CmakeError::new(second.line, "it registers several components")),
    }
}

fn added(text: &str, component: &CMakeCommand, folder: &str) -> String {
    let arguments = section(component, "INCLUDE_DIRS").unwrap_or_default();
    let last = arguments.last().and_then(|&index| component.args.get(index));
    let keyword = component.args.iter().find(|arg| !arg.is_quoted && arg.text == "INCLUDE_DIRS");
    let (range, word) = match (last, keyword) {
        // `INCLUDE_DIRS ""` names no folder.
        (Some(empty), _) if empty.text.is_empty() => (empty.range.clone(), format!("\"{folder}\"")),
        (Some(last), _) => {
            let (at, word) = behind(text, component, last, folder);
            (at..at, word)
        }
        (None, Some(keyword)) => (keyword.range.end..keyword.range.end, format!(" \"{folder}\"")),
        (None, None) => {
            let end = component.args.last().map_or(component.inside.start, |arg| arg.range.end);
            let gap = gap(text, component);
            (end..end, format!("{gap}INCLUDE_DIRS \"{folder}\""))
        }
    };
    let (before, after) = (text.get(..range.start), text.get(range.end..));
    format!("{}{word}{}", before.unwrap_or_default(), after.unwrap_or_default())
}

/// What stands between the keywords of a command: a new line with their indent where the last of
/// them has a line of its own.
fn gap(text: &str, component: &CMakeCommand) -> String {
    let is_keyword =
        |arg: &&Argument| !arg.is_quoted && super::sources::KEYWORDS.contains(&arg.text.as_str());
    let Some(last) = component.args.iter().rev().find(is_keyword) else {
        return if component.args.is_empty() { String::new() } else { " ".to_owned() };
    };
    let before = text.get(..last.range.start).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let indent = before.get(line_start..).unwrap_or_default();
    if line_start >= component.inside.start && indent.trim().is_empty() {
        return format!("{}{indent}", Newline::of(text));
    }
    " ".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str) -> Option<String> {
        with_include_folder(text, "include").unwrap()
    }

    #[test]
    fn a_folder_is_added_in_the_style_of_the_list() {
        for (before, after) in [
            (
                "idf_component_register(SRCS \"main.c\" INCLUDE_DIRS \"\")\n",
                "idf_component_register(SRCS \"main.c\" INCLUDE_DIRS \"include\")\n",
            ),
            (
                "idf_component_register(SRCS main.c INCLUDE_DIRS)",
                "idf_component_register(SRCS main.c INCLUDE_DIRS \"include\")",
            ),
            (
                "idf_component_register(SRCS main.c INCLUDE_DIRS \".\" REQUIRES driver)",
                "idf_component_register(SRCS main.c INCLUDE_DIRS \".\" \"include\" REQUIRES driver)",
            ),
            (
                "idf_component_register(SRCS main.c)",
                "idf_component_register(SRCS main.c INCLUDE_DIRS \"include\")",
            ),
            (
                "idf_component_register(\n    SRCS\n        main.c\n    REQUIRES driver\n)\n",
                "idf_component_register(\n    SRCS\n        main.c\n    REQUIRES driver\n    INCLUDE_DIRS \"include\"\n)\n",
            ),
            ("idf_component_register()", "idf_component_register(INCLUDE_DIRS \"include\")"),
        ] {
            assert_eq!(with(before).as_deref(), Some(after), "{before}");
            assert_eq!(with(after), None, "{after}");
        }
    }

    #[test]
    fn what_is_there_or_cannot_be_read_is_left_alone() {
        for text in [
            "idf_component_register(SRCS a.c INCLUDE_DIRS include/)",
            "idf_component_register(SRCS a.c PRIV_INCLUDE_DIRS \"${CMAKE_CURRENT_LIST_DIR}/include\")",
            "set(dirs . include)\nidf_component_register(SRCS a.c INCLUDE_DIRS ${dirs})",
            "idf_component_register(SRCS a.c INCLUDE_DIRS ${somewhere})",
            "idf_component_register(SRCS a.c INCLUDE_DIRS $<$<BOOL:${X}>:include>)",
        ] {
            assert_eq!(with(text), None, "{text}");
        }
        for text in [
            "project(x)",
            "if(X)\nidf_component_register(SRCS a.c)\nendif()",
            "idf_component_register(SRCS a.c)\nidf_component_register(SRCS b.c)",
            "idf_component_register(SRCS a.c",
        ] {
            assert!(with_include_folder(text, "include").is_err(), "{text}");
        }
    }
}
