//! Which key does what where, read from `keymaps/*.toml`.
//!
//! A keymap may build on another one (`inherits = "default"`): naming an action again in the same
//! context replaces its keys, an empty list takes them away.

use toml::Spanned;
use toml::de::DeValue;

use crate::config::Assets;
use crate::model::UserError;

use super::action::{Action, KeyContext};
use super::data_file::{DataFile, near_names};
use super::key::{Key, KeySequence};

#[derive(Debug, Clone)]
pub struct Keymap {
    bindings: Vec<Binding>,
}

/// One key, or some in a row, and what they do.
#[derive(Debug, Clone)]
pub struct Binding {
    /// Where it holds.
    pub context: KeyContext,
    pub keys: KeySequence,
    /// What they do.
    pub action: Action,
    /// File and line, for people.
    place: String,
}

/// What some keys mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// They do this.
    Action(Action),
    /// More keys are needed; each possible next key with what it leads to.
    Prefix(Vec<(Key, Action)>),
    Unbound,
}

impl Keymap {
    /// Reads the keymap of that name and those it builds on.
    ///
    /// # Errors
    /// When a file is missing, or holds an unknown name, a wrong key or a conflict; the error
    /// names file and line.
    pub fn load(assets: &Assets, name: &str) -> Result<Self, UserError> {
        let mut keymap = Self { bindings: Vec::new() };
        for file in DataFile::load_chain(assets, "keymaps", name)? {
            keymap.read(&file)?;
        }
        keymap.check_prefixes()?;
        Ok(keymap)
    }

    /// What `keys` mean where the contexts of `chain` hold, the most special one first.
    #[must_use]
    pub fn look_up(&self, chain: &[KeyContext], keys: &[Key]) -> Lookup {
        let mut next: Vec<(Key, Action)> = Vec::new();
        for context in chain {
            for binding in self.bindings.iter().filter(|binding| binding.context == *context) {
                let bound = binding.keys.keys();
                if bound == keys {
                    return Lookup::Action(binding.action);
                }
                if let Some([key, ..]) = bound.strip_prefix(keys)
                    && !next.iter().any(|(known, _)| known == key)
                {
                    next.push((*key, binding.action));
                }
            }
        }
        if next.is_empty() { Lookup::Unbound } else { Lookup::Prefix(next) }
    }

    /// The keys that reach `action` where the contexts of `chain` hold, those that are hidden by
    /// a more special binding left out.
    #[must_use]
    pub fn keys_of(&self, chain: &[KeyContext], action: Action) -> Vec<&KeySequence> {
        let in_chain = |context: &KeyContext| {
            self.bindings
                .iter()
                .filter(move |binding| binding.context == *context && binding.action == action)
                .collect::<Vec<_>>()
        };
        chain
            .iter()
            .flat_map(in_chain)
            .filter(|binding| self.look_up(chain, binding.keys.keys()) == Lookup::Action(action))
            .map(|binding| &binding.keys)
            .collect()
    }

    /// The first of [`Keymap::keys_of`] as text.
    #[must_use]
    pub fn key_of(&self, chain: &[KeyContext], action: Action) -> Option<String> {
        self.keys_of(chain, action).first().map(ToString::to_string)
    }

    /// The bindings of one context, in the order of the table of actions.
    #[must_use]
    pub fn bindings(&self, context: KeyContext) -> Vec<(Action, Vec<&KeySequence>)> {
        let here = |action: &Action| {
            let keys: Vec<&KeySequence> = self
                .bindings
                .iter()
                .filter(|binding| binding.context == context && binding.action == *action)
                .map(|binding| &binding.keys)
                .collect();
            (!keys.is_empty()).then_some((*action, keys))
        };
        Action::ALL.iter().filter_map(here).collect()
    }

    fn read(&mut self, file: &DataFile) -> Result<(), UserError> {
        let root = file.parse()?;
        let mut found = Vec::new();
        for (name, value) in &root {
            if name.get_ref() == "inherits" {
                continue;
            }
            let Some(context) = KeyContext::named(name.get_ref()) else {
                let why = format!("there is no context `{}`", name.get_ref());
                let fix =
                    near_names(name.get_ref(), KeyContext::ALL.iter().map(|known| known.name()));
                return Err(file.wrong(name.span(), &why, &fix));
            };
            for (name, keys) in file.table_of(value)? {
                let action = read_action(file, name, context)?;
                // What an earlier file says of this action here no longer holds.
                self.bindings.retain(|old| old.context != context || old.action != action);
                for (keys, span) in read_keys(file, keys)? {
                    let place = file.place(&span);
                    found.push((Binding { context, keys, action, place }, span));
                }
            }
        }
        for (binding, span) in found {
            self.add(file, binding, span)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        file: &DataFile,
        binding: Binding,
        span: std::ops::Range<usize>,
    ) -> Result<(), UserError> {
        let other = self
            .bindings
            .iter()
            .find(|other| other.context == binding.context && other.keys == binding.keys);
        if let Some(other) = other {
            let why = format!(
                "in [{}] the key `{}` would do two things: `{}` and `{}` ({})",
                binding.context.name(),
                binding.keys,
                binding.action.name(),
                other.action.name(),
                other.place,
            );
            let fix = format!(
                "Give one of them another key, or take this one away: {} = [].",
                other.action.name()
            );
            return Err(file.wrong(span, &why, &fix));
        }
        self.bindings.push(binding);
        Ok(())
    }

    /// A key that begins a sequence cannot do something by itself where both hold.
    fn check_prefixes(&self) -> Result<(), UserError> {
        for long in self.bindings.iter().filter(|binding| binding.keys.keys().len() > 1) {
            let clash = self.bindings.iter().find(|short| {
                short.keys.keys().len() < long.keys.keys().len()
                    && long.keys.keys().starts_with(short.keys.keys())
                    && hold_together(short.context, long.context)
            });
            if let Some(short) = clash {
                return Err(UserError::new(
                    format!("Cannot use {}", long.place),
                    format!(
                        "`{}` can never be typed: `{}` already does `{}` ({})",
                        long.keys,
                        short.keys,
                        short.action.name(),
                        short.place,
                    ),
                    "Give one of them another key.",
                ));
            }
        }
        Ok(())
    }
}

/// Whether both contexts can hold at the same time.
fn hold_together(a: KeyContext, b: KeyContext) -> bool {
    let special = |context| {
        matches!(context, KeyContext::Project | KeyContext::Review | KeyContext::Logs)
            || matches!(context, KeyContext::Chat | KeyContext::Question)
    };
    match (a, b) {
        _ if a == b => true,
        (KeyContext::Dialog, _) | (_, KeyContext::Dialog) => false,
        (KeyContext::Composer, other) | (other, KeyContext::Composer) => {
            other == KeyContext::Global
        }
        (KeyContext::Chat, KeyContext::Question) | (KeyContext::Question, KeyContext::Chat) => true,
        (a, b) => !(special(a) && special(b)),
    }
}

fn read_action(
    file: &DataFile,
    name: &Spanned<std::borrow::Cow<'_, str>>,
    context: KeyContext,
) -> Result<Action, UserError> {
    let allowed = || Action::ALL.iter().filter(|action| action.is_allowed_in(context));
    let Some(action) = Action::named(name.get_ref()) else {
        let why = format!("there is no action `{}`", name.get_ref());
        let fix = near_names(name.get_ref(), allowed().map(|action| action.name()));
        return Err(file.wrong(name.span(), &why, &fix));
    };
    if !action.is_allowed_in(context) {
        let why = format!("`{}` cannot be used in [{}]", action.name(), context.name());
        let fix = format!("Move it to [{}].", action.home().name());
        return Err(file.wrong(name.span(), &why, &fix));
    }
    Ok(action)
}

fn read_keys(
    file: &DataFile,
    value: &Spanned<DeValue<'_>>,
) -> Result<Vec<(KeySequence, std::ops::Range<usize>)>, UserError> {
    let one = |value: &Spanned<DeValue<'_>>| {
        let keys = KeySequence::parse(file.text_of(value)?)
            .map_err(|why| file.wrong(value.span(), &why, ""))?;
        Ok((keys, value.span()))
    };
    match value.get_ref() {
        DeValue::String(_) => Ok(vec![one(value)?]),
        DeValue::Array(keys) => keys.iter().map(one).collect(),
        _ => Err(file.not_a("a key or a list of keys", value)),
    }
}

#[cfg(test)]
#[path = "keymap_tests.rs"]
mod tests;
