//! The kit of the virtual board as it ships, or as the person has changed it.

use std::borrow::Cow;

use crate::config::Assets;
use crate::model::UserError;
use crate::toolchain::Kit;

/// Folder of the kit's files among the shipped ones.
const KIT: &str = "assets/virtual/";

/// Reads it.
///
/// # Errors
/// When a file of it is wrong.
pub fn load_kit(assets: &Assets) -> Result<Kit, UserError> {
    let mut files: Vec<(String, Cow<'static, [u8]>)> = Vec::new();
    for path in assets.list(KIT.trim_end_matches('/')) {
        let (content, _) = assets.bytes(&path)?;
        files.push((path.strip_prefix(KIT).unwrap_or(&path).to_owned(), content));
    }
    Kit::new(files)
}
