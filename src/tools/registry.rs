//! The one table of tools: schemas, dispatch and documentation all come from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{
    Tool, ToolContext, ToolEntry, analyze_complexity, approve_saved_files, arduino, build,
    check_program, delete_files, dialogue, edit_nvs, erase_flash, file_name_checker, files,
    find_relevant_files, flash, generate_code, get_pinout_info, headers, insert_code, list_boards,
    map_sketch, read_flash, retrieve_docs, run_code, run_static_analysis, run_tests, scan_i2c,
    serial, serial_send, write_file,
};
use crate::model::{ToolName, ToolSpec, UserError};

/// Every tool there is, by name.
pub static TOOLS: &[&ToolEntry] = &[
    &analyze_complexity::TOOL,
    &approve_saved_files::TOOL,
    &arduino::BUILD,
    &build::TOOL,
    &check_program::TOOL,
    &delete_files::TOOL,
    &dialogue::ASK_TOOL,
    &dialogue::HAND_OFF_TOOL,
    &edit_nvs::TOOL,
    &erase_flash::TOOL,
    &file_name_checker::TOOL,
    &files::LIST,
    &files::READ,
    &files::READ_CODE,
    &files::READ_CHOSEN,
    &find_relevant_files::TOOL,
    &arduino::FLASH,
    &flash::TOOL,
    &generate_code::TOOL,
    &get_pinout_info::TOOL,
    &headers::TOOL,
    &insert_code::TOOL,
    &list_boards::TOOL,
    &map_sketch::TOOL,
    &serial::TOOL,
    &read_flash::TOOL,
    &retrieve_docs::TOOL,
    &run_code::TOOL,
    &run_static_analysis::TOOL,
    &run_tests::TOOL,
    &scan_i2c::TOOL,
    &serial_send::TOOL,
    &write_file::TOOL,
];

/// Tells whether a name stands for a tool.
///
/// # Errors
/// When it does not; the advice lists the names that do.
pub fn known(name: &ToolName) -> Result<(), UserError> {
    if TOOLS.iter().any(|entry| entry.name == name.as_str()) {
        return Ok(());
    }
    let names: Vec<&str> = TOOLS.iter().map(|entry| entry.name).collect();
    Err(UserError::new(
        format!("Cannot find the tool `{name}`"),
        "no tool has that name",
        format!("Use one of: {}.", names.join(", ")),
    ))
}

/// The tools of a running session.
#[derive(Clone)]
pub struct Registry {
    tools: BTreeMap<ToolName, Arc<dyn Tool>>,
}

impl Registry {
    /// Makes every tool.
    #[must_use]
    pub fn new(context: &ToolContext) -> Self {
        let tools = TOOLS.iter().map(|e| (ToolName::new(e.name), e.make(context))).collect();
        Self { tools }
    }

    /// The tool with that name.
    ///
    /// # Errors
    /// As [`known`].
    pub fn get(&self, name: &ToolName) -> Result<Arc<dyn Tool>, UserError> {
        known(name)?;
        self.tools.get(name).cloned().ok_or_else(|| {
            UserError::new(format!("Cannot find the tool `{name}`"), "it was not made", "")
        })
    }

    /// What every tool tells about itself, by name.
    #[must_use]
    pub fn all(&self) -> Vec<ToolSpec> {
        self.tools.values().map(|tool| tool.spec()).collect()
    }

    /// What those tools tell about themselves, in the order given.
    ///
    /// # Errors
    /// As [`known`], for the first unknown name.
    pub fn specs(&self, names: &[ToolName]) -> Result<Vec<ToolSpec>, UserError> {
        names.iter().map(|name| Ok(self.get(name)?.spec())).collect()
    }
}
