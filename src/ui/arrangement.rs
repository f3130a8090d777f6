//! What the screen remembers of a project from one session to the next.

use serde::{Deserialize, Serialize};

use super::layout::PaneId;
use super::overlay::PaletteUses;
use super::sizes::Sizes;

/// Sizes, focus and theme. Every part may be missing: then it is as usual.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Arrangement {
    /// The theme that the person chose here.
    pub theme: Option<String>,
    /// The pane that was turned to.
    pub front: Option<PaneId>,
    /// What was made larger or smaller.
    pub sizes: Sizes,
    /// How often each action was chosen in the palette.
    pub used: PaletteUses,
}
