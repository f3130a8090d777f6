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
use crate::ui::action::{Action, KeyContext};

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
    match topic {
        Topic::Keys => keys(machine, &KeyContext::ALL, KEYS),
        Topic::Review => keys(machine, &[KeyContext::Review, KeyContext::Select], REVIEW),
        Topic::Teams => teams(machine),
        Topic::Models => Ok(models(machine)),
        Topic::Config => Ok(config(machine)),
        Topic::Boards => Ok(BOARDS.to_owned()),
        Topic::Sessions => keys(machine, &[KeyContext::Replay], SESSIONS),
        Topic::Reverty => Ok(format!("{REVERTY}\n{}", machine.assets.text(GRAMMAR)?.text)),
        Topic::Plain => Ok(format!("{PLAIN}\n  {}\n", lines::HELP.join("\n  "))),
    }
}

/// `text`, then the keys of these contexts in the keymap that is set.
fn keys(machine: &Machine, contexts: &[KeyContext], text: &str) -> Result<String, UserError> {
    let name = &machine.settings.keymap.value;
    let keymap = Keymap::load(&machine.assets, name)?;
    let mut page = format!("{text}\nKeymap: {name}\n");
    for context in contexts {
        let _ = writeln!(page, "\n{}", context.title());
        for (action, keys) in keymap.bindings(*context) {
            let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
            let _ = writeln!(page, "  {:<18} {}", keys.join("  "), action_words(action));
        }
    }
    Ok(page)
}

fn action_words(action: Action) -> String {
    format!("{} ({})", action.help(), action.name())
}

fn teams(machine: &Machine) -> Result<String, UserError> {
    let mut page = TEAMS.to_owned();
    for file in machine.assets.list("prompts/teams") {
        let name = file.strip_prefix("prompts/teams/").unwrap_or(&file);
        let Some(name) = name.strip_suffix(".toml") else { continue };
        let team = Team::load(&machine.assets, name, &tools::known)?;
        let _ = writeln!(page, "\n{name}: {}\n  {}", team.title, team.description);
        for phase in &team.phases {
            let who: Vec<&str> = phase.participants.iter().map(|agent| agent.as_str()).collect();
            let _ = writeln!(page, "  - {}: {}", phase.title, who.join(", "));
        }
    }
    Ok(page)
}

fn models(machine: &Machine) -> String {
    let mut page = MODELS.to_owned();
    let names: Vec<&str> = Service::ALL.iter().map(|service| service.name()).collect();
    let _ = writeln!(page, "\nServices: {}", names.join(", "));
    let profiles: Vec<&str> = machine.settings.models.profiles.keys().map(String::as_str).collect();
    let known = if profiles.is_empty() { "none yet".to_owned() } else { profiles.join(", ") };
    let _ = writeln!(page, "Your profiles: {known}");
    page
}

fn config(machine: &Machine) -> String {
    let file = machine.dirs.config.join("config.toml");
    let mut page = format!("{CONFIG}\nYour file: {}\n\n", file.display());
    for row in machine.settings.rows() {
        let _ = writeln!(page, "  {} = {}  # {}", row.key, row.value, row.origin);
    }
    page
}

const KEYS: &str = "\
What each key does. On the screen, `?` shows the same list, and `:` finds an action by name.
A file `keymaps/NAME.toml` in the configuration folder changes keys; `--keymap NAME` selects it.
The word in parentheses is the name of the action in such a file.
";

const REVIEW: &str = "\
Every change of a file, every flash and every text to a board waits in the review until you decide.
A decision is valid only for the text that was on the screen.

- For the first 300 ms of a proposal, keys that decide do nothing. Pasted text never decides.
- Changed lines that you have not seen need another key than `approve`. Their number is recorded.
- So does a change with a finding against it.
- If the file changes before your decision, the proposal goes back to the agent.
";

const TEAMS: &str = "\
A team is a file in `prompts/teams/`: phases, and the agents that take part in each. An agent is a
file in `prompts/agents/`: its instructions and the tools that it may call. Copies in the
configuration folder are used instead of the built-in files. `--team NAME` selects a team; without
it, the team fits the task and the project.

A phase with `for_each = \"plan\"` runs once for each step of the plan. With `parallel = N`, 1 to 8, up
to N steps run side by side, each with its own chat and its own copy of the project. A step waits for
the steps that its line names, `(after 1, 3)`, for none with `(after nothing)`, and else for all before
it. A file that two steps change is merged, or you are shown where they conflict. Proposals and
questions still come one by one.
";

const MODELS: &str = "\
A profile in `config.toml` names a service, a model and the source of the key:

  [profiles.mine]
  provider = \"openai\"
  model = \"NAME\"
  key = { env = \"OPENAI_API_KEY\" }

`key` takes one of `env` (a variable), `file` (a file that only you can read) and `keyring` (an entry
of the system's keyring). `firmhand models` lists the models of a profile's service. `firmhand doctor`
checks key, address, streaming and tool calling. Without a profile, recorded models play the demo.
";

const CONFIG: &str = "\
Settings come from `config.toml` in the configuration folder, from the project, from the environment
and from options; the later ones count. `firmhand config` prints the values below in this form too.

An index that your team shares is searched together with the documents of this machine when your own
file names it. Each search sends it the question:

  [search.remotes.team]
  kind = \"opensearch\"     or elasticsearch, azure-search, postgres
  url = \"https://HOST:9200\"
  index = \"NAME\"
  key = { env = \"TEAM_KEY\" }
  fields = { text = \"body\", title = \"title\", path = \"path\" }

`firmhand index list` shows whether it answers; the schema describes the other keys.

`firmhand config --schema > schema.json` writes the JSON schema of the file. With the first line
`#:schema ./schema.json` in `config.toml`, editors that use Taplo complete and check it. `--schema
team`, `theme` and `keymap` do the same for those files.
";

const BOARDS: &str = "\
Without `--toolchain`, projects are built for the virtual board: the system's C compiler and a
simulated ESP32. Its firmware is a program on this computer, in the sandbox; `firmhand doctor` says how
much it is confined here.

  --toolchain virtual      the virtual board
  --toolchain idf          ESP-IDF (`idf.py`)
  --toolchain arduino      `arduino-cli`, for sketches
  --toolchain platformio   PlatformIO (`pio`), for folders with a `platformio.ini`
  --toolchain auto         what is installed for the project

ESP-IDF, arduino-cli and PlatformIO run scripts of the project. `firmhand trust DIR` allows that once
for a folder; `firmhand trust` lists the folders.

Boards at a port of this machine are written, read and erased without Python.
`FIRMHAND_LOADER=esptool` uses esptool instead, as network ports always do. `firmhand monitor` listens
to a board without a team. `firmhand doctor` shows which toolchains are found.
";

const SESSIONS: &str = "\
Everything that happens in a session is written to disk at once. Quit at any time.

  firmhand sessions                     lists the sessions, newest first
  firmhand sessions --search WORDS      lists those that have all of the words
  firmhand sessions show SESSION        files, decisions, builds, tests, cost and time
  firmhand sessions rename SESSION NAME gives it a name, also while it runs
  firmhand sessions delete SESSION      deletes it permanently
  firmhand resume                       continues where you stopped, also after a crash
  firmhand replay                       shows a session step by step and runs nothing

The newest output of each port and each build is kept; `logs.keep_mib` sets how much.
";

/// The description of the language that people and agents read.
const GRAMMAR: &str = "assets/reverty/grammar.md";

const REVERTY: &str = "\
Programs in Reverty are translated to Python and run by it. FILE is `-` for the standard input.

  firmhand reverty check FILE          what is wrong, with line, column and a hint; `--json` for programs
  firmhand reverty run FILE            runs it in the sandbox; errors name the lines of FILE
  firmhand reverty py FILE             the program in Python
  firmhand reverty fmt FILE            the program in canonical form
  firmhand reverty ast FILE            its syntax tree
  firmhand reverty from-python FILE    a program in Python as Reverty
  firmhand reverty repl                statements one by one

A program can call only its own functions and those listed below: it opens no file, starts no other
program and uses no network.
";

const PLAIN: &str = "\
`firmhand --plain COMMAND` works line by line instead of on the full screen: for screen readers and
simple terminals. A terminal with `TERM=dumb` gets the same. What can be typed:
";

#[cfg(test)]
mod tests {
    use super::*;

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
