//! Settings with their origin, and the data files that ship inside the program.
//!
//! Owns reading `config.toml` in its layers, the policy's rules, the program's folders, and
//! looking up themes, keymaps, prompts and assets. Must not write anything.

pub mod assets;
pub mod dirs;
mod examples;
pub mod glob;
mod layer;
pub mod models;
mod notify;
pub mod origin;
pub mod policy;
pub mod remotes;
mod sandbox;
mod search;
pub mod settings;
mod source;
pub mod spanned;

pub use assets::{AssetFile, AssetOrigin, Assets};
pub use dirs::Dirs;
pub use examples::Example;
pub use glob::Glob;
pub use layer::schema;
pub use models::{Models, ProfileEntry, ProfileLayer};
pub use notify::Notify;
pub use origin::{Origin, Sourced};
pub use policy::{Policy, PolicyRule, Ruling};
pub use remotes::{RemoteEntry, RemoteFieldsLayer, RemoteKind, RemoteLayer};
pub use sandbox::{BuildSwitch, SandboxUse};
pub use search::SearchUse;
pub use settings::{
    EnvOverrides, LimitOverrides, Overrides, RunLimits, SettingRow, Settings, TerminalUse,
};
pub use spanned::Spanned;
