//! Shipped data made ready for use: teams, names, adapters, documentation, the virtual board.
//!
//! The person's own copies go before the shipped ones, so every file can be wrong.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::Assets;
use crate::device::{Adapters, adapters};
use crate::engine::Team;
use crate::knowledge::NameList;
use crate::model::UserError;
use crate::toolchain::Toolchain;
use crate::tools;

/// A team by its name, checked against the tools that there are.
///
/// # Errors
/// When there is none of that name, or its files are wrong; says file and line.
pub fn load_team(assets: &Assets, name: &str) -> Result<Arc<Team>, UserError> {
    Team::load(assets, name, &tools::known)
}

/// As [`load_team`], with some of the team's limits other than in its file.
///
/// # Errors
/// As [`load_team`], and when the team has no such limit.
pub fn load_limited_team(
    assets: &Assets,
    name: &str,
    limits: &BTreeMap<String, u32>,
) -> Result<Arc<Team>, UserError> {
    Team::load_limited(assets, name, &tools::known, limits)
}

/// The names of the framework that is built with, else those of the shipped list.
///
/// # Errors
/// When the list is wrong, which only a person's own copy of it can be.
pub fn load_names(assets: &Assets, toolchain: &dyn Toolchain) -> Result<NameList, UserError> {
    if let Some(text) = toolchain.taken_names()
        && let Ok(list) = NameList::parse("the installed framework", &text)
    {
        return Ok(list);
    }
    let file = assets.text("assets/names/esp-idf.txt")?;
    NameList::parse(&file.origin.to_string(), &file.text)
}

/// Reads the table of USB adapters.
///
/// # Errors
/// When it is wrong, which only a person's own copy of it can be.
pub fn load_adapters(assets: &Assets) -> Result<Adapters, UserError> {
    let file = assets.text(adapters::FILE)?;
    Adapters::parse(&file.origin.to_string(), &file.text)
}
