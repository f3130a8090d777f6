//! `firmhand help --man DIR`: manual pages, from the tables of `--help` and of `firmhand help TOPIC`.
//!
//! Owns the pages' form. Writes nothing outside of the folder that the person names.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use super::args::Cli;
use super::help;
use crate::app::machine::Machine;
use crate::model::UserError;

/// One page: its file's name, with the section, and its roff source.
struct ManPage {
    file: String,
    text: Vec<u8>,
}

/// Writes all pages to `folder`, which is made if it is missing; gives their number.
///
/// # Errors
/// When a page cannot be made or written.
#[expect(clippy::disallowed_methods, reason = "pages in the folder that the person names")]
pub(super) fn write(folder: &Path, machine: &Machine) -> Result<usize, UserError> {
    let cannot = |error: std::io::Error| {
        let what = format!("Cannot write manual pages to {}", folder.display());
        UserError::from_cause(what, &error).fix("Name a folder that you can write to.")
    };
    let pages = pages(machine)?;
    std::fs::create_dir_all(folder).map_err(cannot)?;
    for page in &pages {
        std::fs::write(folder.join(&page.file), in_ascii(&page.text)).map_err(cannot)?;
    }
    Ok(pages.len())
}

fn pages(machine: &Machine) -> Result<Vec<ManPage>, UserError> {
    let mut command = Cli::command();
    command.build();
    let visible = command.get_subcommands().filter(|found| !found.is_hide_set());
    let mut pages =
        visible.map(|found| of_command(found.clone())).collect::<Result<Vec<_>, UserError>>()?;
    pages.push(of_command(command)?);
    for (name, title, text) in help::topics_with_text(machine)? {
        pages.push(of_topic(&name, &title, &text)?);
    }
    Ok(pages)
}

fn of_command(command: Command) -> Result<ManPage, UserError> {
    let man = Man::new(command);
    let file = man.get_filename();
    let mut text = Vec::new();
    man.render(&mut text).map_err(|error| cannot_make(&file, &error))?;
    Ok(ManPage { file, text })
}

fn of_topic(name: &str, title: &str, text: &str) -> Result<ManPage, UserError> {
    let file = format!("firmhand-{name}.7");
    let mut roff = Roff::new();
    roff.control("TH", [format!("firmhand-{name}").as_str(), "7"]);
    roff.control("SH", ["NAME"]);
    roff.text([roman(format!("firmhand-{name} - {}", title.trim_end_matches('.')))]);
    roff.control("SH", ["DESCRIPTION"]);
    roff.control("nf", []);
    for line in text.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    let mut text = Vec::new();
    roff.to_writer(&mut text).map_err(|error| cannot_make(&file, &error))?;
    Ok(ManPage { file, text })
}

/// The same page with the names that roff has for other characters: formatters read bytes.
fn in_ascii(page: &[u8]) -> String {
    let mut text = String::with_capacity(page.len());
    for character in String::from_utf8_lossy(page).chars() {
        match character.is_ascii() {
            true => text.push(character),
            false => text.push_str(&format!("\\[u{:04X}]", u32::from(character))),
        }
    }
    text
}

fn cannot_make(file: &str, error: &std::io::Error) -> UserError {
    UserError::from_cause(format!("Cannot make the manual page {file}"), error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Dirs, Overrides};

    #[test]
    fn every_command_and_every_topic_has_a_page() {
        let folder = tempfile::tempdir().unwrap();
        let dirs = Dirs { config: folder.path().join("c"), data: folder.path().join("d") };
        let machine = Machine::load(&dirs, None, &Overrides::default()).unwrap();
        let out = folder.path().join("man");
        let number = write(&out, &machine).unwrap();
        assert_eq!(std::fs::read_dir(&out).unwrap().count(), number);
        let page = |file: &str| std::fs::read_to_string(out.join(file)).expect(file);
        for command in Cli::command().get_subcommands().filter(|found| !found.is_hide_set()) {
            let text = page(&format!("firmhand-{}.1", command.get_name()));
            assert!(text.contains(".TH firmhand-"), "{text}");
            for flag in command.get_arguments().filter_map(|argument| argument.get_long()) {
                let flag = flag.replace('-', "\\-");
                assert!(text.contains(&flag), "{}: {flag} is missing", command.get_name());
            }
        }
        assert!(page("firmhand.1").contains("firmhand\\-replay(1)"));
        assert!(!page("firmhand.1").contains(crate::app::pdf_apart::COMMAND));
        assert!(!out.join(format!("firmhand-{}.1", crate::app::pdf_apart::COMMAND)).exists());
        let review = page("firmhand-review.7");
        assert!(review.contains("300 ms") && review.contains("approve"), "{review}");
    }
}
