//! The one table of tools: schemas, dispatch and documentation all come from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{
    Tool, ToolContext, analyze_complexity, approve_saved_files, arduino, build, check_program,
    delete_files, dialogue, edit_nvs, erase_flash, file_name_checker, files, find_relevant_files,
    flash, generate_code, get_pinout_info, headers, insert_code, list_boards, map_sketch,
    read_flash, retrieve_docs, run_code, run_static_analysis, run_tests, scan_i2c, serial,
    serial_send, write_file,
};
use crate::model::{ToolName, ToolSpec, UserError};

/// One row of the table.
pub struct ToolEntry {
    /// Name of the tool.
    pub name: &'static str,
    pub make: fn(&ToolContext) -> Arc<dyn Tool>,
}

/// Every tool there is, by name.
pub static TOOLS: &[ToolEntry] = &[
    ToolEntry { name: analyze_complexity::NAME, make: analyze_complexity::make },
    ToolEntry { name: approve_saved_files::NAME, make: approve_saved_files::make },
    ToolEntry { name: arduino::BUILD, make: arduino::make_build },
    ToolEntry { name: build::NAME, make: build::make },
    ToolEntry { name: check_program::NAME, make: check_program::make },
    ToolEntry { name: delete_files::NAME, make: delete_files::make },
    ToolEntry { name: dialogue::ASK, make: dialogue::make_ask },
    ToolEntry { name: dialogue::HAND_OFF, make: dialogue::make_hand_off },
    ToolEntry { name: edit_nvs::NAME, make: edit_nvs::make },
    ToolEntry { name: erase_flash::NAME, make: erase_flash::make },
    ToolEntry { name: file_name_checker::NAME, make: file_name_checker::make },
    ToolEntry { name: files::LIST, make: files::make_list },
    ToolEntry { name: files::READ, make: files::make_read },
    ToolEntry { name: files::READ_CODE, make: files::make_read_code },
    ToolEntry { name: files::READ_CHOSEN, make: files::make_read_chosen },
    ToolEntry { name: find_relevant_files::NAME, make: find_relevant_files::make },
    ToolEntry { name: arduino::FLASH, make: arduino::make_flash },
    ToolEntry { name: flash::NAME, make: flash::make },
    ToolEntry { name: generate_code::NAME, make: generate_code::make },
    ToolEntry { name: get_pinout_info::NAME, make: get_pinout_info::make },
    ToolEntry { name: headers::HEADERS, make: headers::make },
    ToolEntry { name: insert_code::NAME, make: insert_code::make },
    ToolEntry { name: list_boards::NAME, make: list_boards::make },
    ToolEntry { name: map_sketch::NAME, make: map_sketch::make },
    ToolEntry { name: serial::NAME, make: serial::make },
    ToolEntry { name: read_flash::NAME, make: read_flash::make },
    ToolEntry { name: retrieve_docs::NAME, make: retrieve_docs::make },
    ToolEntry { name: run_code::NAME, make: run_code::make },
    ToolEntry { name: run_static_analysis::NAME, make: run_static_analysis::make },
    ToolEntry { name: run_tests::NAME, make: run_tests::make },
    ToolEntry { name: scan_i2c::NAME, make: scan_i2c::make },
    ToolEntry { name: serial_send::NAME, make: serial_send::make },
    ToolEntry { name: write_file::NAME, make: write_file::make },
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
        let tools = TOOLS.iter().map(|e| (ToolName::new(e.name), (e.make)(context))).collect();
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
