//! `firmhand help TOPIC`: pages about one subject, made from the tables that the program works with.
//!
//! Owns the sentences between the tables. Must not start anything or write a file.

use std::fmt::Write as _;

use clap::{CommandFactory, ValueEnum};

use super::args::Cli;
use super::lines;
use crate::app::machine::Machine;
use crate::engine::Team;
use crate::model::UserError;
use crate::provider::Service;
use crate::tools;
use crate::ui::Keymap;
use crate::ui::action::KeyContext;

/// What there is a page about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Topic {
    /// All keys, by where they work.
    Keys,
    /// How a change is decided.
    Review,
    /// The teams, their phases and agents.
    Teams,
    /// The services that run models, and how to name one.
    Models,
    /// The settings, with their values.
    Config,
    /// Real boards, the virtual board, and toolchains.
    Boards,
    /// What is kept of a session, and how to go back to it.
    Sessions,
    /// Working line by line.
    Plain,
    /// Reverty, a mirrored Python: its grammar, and examples.
    Reverty,
}

impl Topic {
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    fn title(self) -> String {
        let about = self.to_possible_value().and_then(|value| Some(value.get_help()?.to_string()));
        about.unwrap_or_default()
    }
}

/// What to print about a topic or a command; without a name, the commands and the topics.
///
/// # Errors
/// When there is neither a topic nor a command of that name, or a file of the person's own that a
/// page is made of is wrong.
pub fn page(
    name: Option<&str>,
    machine: impl Fn() -> Result<Machine, UserError>,
) -> Result<String, UserError> {
    let mut command = Cli::command();
    let Some(name) = name else {
        return Ok(format!("{}\n{}", command.render_long_help(), topics()));
    };
    if let Ok(topic) = Topic::from_str(name, true) {
        return about(topic, &machine()?);
    }
    command.build();
    match command.find_subcommand_mut(name).filter(|found| !found.is_hide_set()) {
        Some(found) => Ok(found.render_long_help().to_string()),
        None => Err(UserError::new(
            format!("Cannot show help about `{name}`"),
            "no topic or command has that name",
            "`firmhand help` lists both.",
        )),
    }
}

/// Name, title and text of every topic.
///
/// # Errors
/// When a file of the person's own that a page is made of is wrong.
pub(super) fn topics_with_text(
    machine: &Machine,
) -> Result<Vec<(String, String, String)>, UserError> {
    let all = Topic::value_variants().iter();
    all.map(|topic| Ok((topic.name(), topic.title(), about(*topic, machine)?))).collect()
}

fn topics() -> String {
    let mut text = "Topics, with `firmhand help TOPIC`:\n".to_owned();
    for topic in Topic::value_variants() {
        let _ = writeln!(text, "  {:<10} {}", topic.name(), topic.title());
    }
    text
}

fn about(topic: Topic, machine: &Machine) -> Result<String, UserError> {
    let text = machine.assets.text(&format!("assets/help/{}.md", topic.name()))?.text;
    let below = match topic {
        Topic::Keys => keys(machine, &KeyContext::ALL)?,
        Topic::Review => keys(machine, &[KeyContext::Review, KeyContext::Select])?,
        Topic::Teams => teams(machine)?,
        Topic::Models => models(machine),
        Topic::Config => config(machine),
        Topic::Boards => String::new(),
        Topic::Sessions => keys(machine, &[KeyContext::Replay])?,
        Topic::Reverty => format!("\n{}", machine.assets.text(GRAMMAR)?.text),
        Topic::Plain => format!("\n  {}\n", lines::HELP.trim_end().replace('\n', "\n  ")),
    };
    Ok(format!("{text}{below}"))
}

/// The keys of these contexts in the keymap that is set.
fn keys(machine: &Machine, contexts: &[KeyContext]) -> Result<String, UserError> {
    let name = &machine.settings.keymap.value;
    let keymap = Keymap::load(&machine.assets, name)?;
    let mut page = format!("\nKeymap: {name}\n");
    for context in contexts {
        let _ = writeln!(page, "\n{}", context.title());
        for (action, keys) in keymap.bindings(*context) {
            let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
            let (keys, help) = (keys.join("  "), action.help());
            let _ = writeln!(page, "  {keys:<18} {help} ({})", action.name());
        }
    }
    Ok(page)
}

fn teams(machine: &Machine) -> Result<String, UserError> {
    let mut page = String::new();
    for name in Team::names(&machine.assets) {
        let team = Team::load(&machine.assets, &name, &tools::known)?;
        let _ = writeln!(page, "\n{name}: {}\n  {}", team.title, team.description);
        for phase in &team.phases {
            let who: Vec<&str> = phase.participants.iter().map(|agent| agent.as_str()).collect();
            let _ = writeln!(page, "  - {}: {}", phase.title, who.join(", "));
        }
    }
    Ok(page)
}

fn models(machine: &Machine) -> String {
    let names = Service::ALL.map(Service::name).join(", ");
    let profiles: Vec<&str> = machine.settings.models.profiles.keys().map(String::as_str).collect();
    let known = if profiles.is_empty() { "none yet".to_owned() } else { profiles.join(", ") };
    format!("\nServices: {names}\nYour profiles: {known}\n")
}

fn config(machine: &Machine) -> String {
    let file = machine.dirs.config.join("config.toml");
    let mut page = format!("\nYour file: {}\n\n", file.display());
    for row in machine.settings.rows() {
        let _ = writeln!(page, "  {} = {}  # {}", row.key, row.value, row.origin);
    }
    page
}

/// The description of the language that people and agents read.
const GRAMMAR: &str = "assets/reverty/grammar.md";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::action::Action;

    fn shown(name: Option<&str>) -> Result<String, UserError> {
        let folder = tempfile::tempdir().unwrap();
        let dirs = crate::config::Dirs {
            config: folder.path().join("config"),
            data: folder.path().join("data"),
        };
        page(name, || Machine::load(&dirs, None, &crate::config::Overrides::default()))
    }

    #[test]
    fn every_topic_has_a_page_of_its_own() {
        let overview = shown(None).unwrap();
        for topic in Topic::value_variants() {
            let name = topic.name();
            let page = shown(Some(&name)).unwrap();
            assert!(page.len() > 300, "{name}: {page}");
            assert!(overview.contains(&format!("  {name:<10} {}", topic.title())), "{overview}");
        }
    }

    #[test]
    fn pages_come_from_the_tables() {
        let keys = shown(Some("keys")).unwrap();
        for context in KeyContext::ALL {
            assert!(keys.contains(&format!("\n{}\n", context.title())), "{}", context.title());
        }
        assert!(
            keys.contains(Action::Approve.help()) && keys.contains("(approve-unseen)"),
            "{keys}"
        );
        let models = shown(Some("models")).unwrap();
        assert!(Service::ALL.iter().all(|service| models.contains(service.name())), "{models}");
        let teams = shown(Some("teams")).unwrap();
        assert!(teams.contains("\npair: ") && teams.contains("ChangeAgent, TryAgent"), "{teams}");
        let config = shown(Some("config")).unwrap();
        assert!(config.contains("logs.keep_mib = ") && config.contains("config.toml"), "{config}");
    }

    #[test]
    fn a_command_is_explained_and_what_is_neither_is_refused() {
        assert!(shown(Some("replay")).unwrap().contains("Usage: firmhand replay"));
        assert!(shown(Some("keyz")).unwrap_err().what.contains("`keyz`"));
        assert!(shown(Some(crate::app::pdf_apart::COMMAND)).is_err(), "it is not for people");
    }
}
