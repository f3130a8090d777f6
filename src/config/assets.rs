//! Data files that ship inside the program and that a person may override.
//!
//! A file in the configuration folder (`<config>/themes/dark.toml`) goes before the embedded one
//! of the same path. Owns the lookup; what a file means is its reader's business.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use include_dir::{Dir, include_dir};

use crate::files;
use crate::model::UserError;

/// Every embedded folder, by its name at the root of the source tree.
static EMBEDDED: [(&str, Dir<'static>); 4] = [
    ("themes", include_dir!("$CARGO_MANIFEST_DIR/../themes")),
    ("keymaps", include_dir!("$CARGO_MANIFEST_DIR/../keymaps")),
    ("prompts", include_dir!("$CARGO_MANIFEST_DIR/../prompts")),
    ("assets", include_dir!("$CARGO_MANIFEST_DIR/../assets")),
];

/// Where a data file was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssetOrigin {
    /// In the program; the path within it.
    BuiltIn(String),
    User(PathBuf),
}

impl AssetOrigin {
    /// Whether it is the person's own file.
    #[must_use]
    pub const fn is_users(&self) -> bool {
        matches!(self, Self::User(_))
    }
}

impl fmt::Display for AssetOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn(path) => write!(f, "built-in {path}"),
            Self::User(path) => write!(f, "{}", path.display()),
        }
    }
}

/// A data file as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssetFile {
    /// The whole text.
    pub text: Cow<'static, str>,
    /// Where it was found; an error about its content starts with this.
    pub origin: AssetOrigin,
}

/// Looks data files up.
#[derive(Debug, Clone, Default)]
pub struct Assets {
    user: Option<PathBuf>,
}

impl Assets {
    /// Only what ships inside the program.
    #[must_use]
    pub const fn built_in() -> Self {
        Self { user: None }
    }

    /// Files below `user` go before the embedded ones; the folder need not exist.
    pub fn with_user_folder(user: impl Into<PathBuf>) -> Self {
        Self { user: Some(user.into()) }
    }

    /// The text of `path`, e.g. `themes/dark.toml`.
    ///
    /// # Errors
    /// When there is no such file (the advice names those there are), or the person's own file
    /// cannot be read or is not UTF-8.
    pub fn text(&self, path: &str) -> Result<AssetFile, UserError> {
        let (bytes, origin) = self.bytes(path)?;
        let text = match bytes {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed).ok(),
            Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).ok(),
        };
        match text {
            Some(text) => Ok(AssetFile { text, origin }),
            None => Err(UserError::new(
                format!("Cannot read {origin}"),
                "it is not UTF-8 text",
                "Save it as UTF-8, or remove it to use the built-in one.",
            )),
        }
    }

    /// The bytes of `path`, and where they were found.
    ///
    /// # Errors
    /// As [`Assets::text`].
    pub fn bytes(&self, path: &str) -> Result<(Cow<'static, [u8]>, AssetOrigin), UserError> {
        if let Some(file) = self.user_path(path) {
            match files::read(&file, files::SOURCE) {
                Ok(bytes) => return Ok((Cow::Owned(bytes), AssetOrigin::User(file))),
                Err(error) if is_absent(&error) => {}
                Err(error) => {
                    let what = format!("Cannot read {}", file.display());
                    let fix = "Make it readable, or remove it to use the built-in one.";
                    return Err(UserError::from_cause(what, &error).fix(fix));
                }
            }
        }
        match FILES.get(path) {
            Some(bytes) => Ok((Cow::Borrowed(bytes), AssetOrigin::BuiltIn(path.to_owned()))),
            None => Err(self.unknown(path)),
        }
    }

    /// Paths of all files below `folder`, e.g. `themes` or `prompts/agents`, built-in and the
    /// person's, sorted. Names that start with a dot are left out.
    #[must_use]
    pub fn list(&self, folder: &str) -> Vec<String> {
        let mut found = BTreeSet::new();
        let prefix = format!("{}/", folder.trim_end_matches('/'));
        let below = FILES.range(prefix.clone()..).map(|(path, _)| path);
        let below = below.take_while(|path| path.starts_with(&prefix));
        let is_hidden = |path: &str| path.split('/').any(|part| part.starts_with('.'));
        found.extend(below.filter(|path| !is_hidden(path)).cloned());
        if let Some(on_disk) = self.user_path(folder) {
            collect_on_disk(&on_disk, folder.trim_end_matches('/'), &mut found, 0);
        }
        found.into_iter().collect()
    }

    /// Where the person's own version of `path` would be; `None` without a user folder or for a
    /// path that leaves it.
    fn user_path(&self, path: &str) -> Option<PathBuf> {
        let inside = path.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
        let user = self.user.as_ref().filter(|_| inside)?;
        Some(path.split('/').fold(user.clone(), |folder, part| folder.join(part)))
    }

    fn unknown(&self, path: &str) -> UserError {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let known = self.list(folder);
        let names: Vec<&str> =
            known.iter().filter_map(|known| Path::new(known).file_stem()?.to_str()).collect();
        let fix = match (&self.user, names.is_empty()) {
            (_, false) => format!("there are: {}", names.join(", ")),
            (Some(user), true) => format!("put it in {}", user.display()),
            (None, true) => String::new(),
        };
        UserError::new(format!("Cannot find {path}"), "there is no data file of that name", fix)
    }
}

fn is_absent(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory)
}

/// The embedded files by their paths; looking one up in the folders compares it with every other.
static FILES: LazyLock<BTreeMap<String, &'static [u8]>> = LazyLock::new(|| {
    let mut files = BTreeMap::new();
    for (root, dir) in &EMBEDDED {
        gather(root, dir, &mut files);
    }
    files
});

fn gather(root: &str, dir: &Dir<'static>, files: &mut BTreeMap<String, &'static [u8]>) {
    let found = dir.files().filter_map(|file| Some((file.path().to_str()?, file.contents())));
    files.extend(found.map(|(path, bytes)| (format!("{root}/{path}"), bytes)));
    dir.dirs().for_each(|inner| gather(root, inner, files));
}

/// Folders deeper than this are not looked into: a link may lead in circles.
const MAX_DEPTH: u32 = 8;

fn collect_on_disk(folder: &Path, name: &str, found: &mut BTreeSet<String>, depth: u32) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let file_name = entry.file_name();
        let Some(part) = file_name.to_str().filter(|part| !part.starts_with('.')) else {
            continue;
        };
        let path = entry.path();
        let name = format!("{name}/{part}");
        if path.is_dir() {
            if depth < MAX_DEPTH {
                collect_on_disk(&path, &name, found, depth + 1);
            }
        } else {
            found.insert(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_persons_file_goes_before_the_built_in_one() {
        let folder = tempfile::tempdir().unwrap();
        let assets = Assets::with_user_folder(folder.path());
        let built_in = assets.bytes("assets/README.md").unwrap();
        assert_eq!(built_in.1, AssetOrigin::BuiltIn("assets/README.md".into()));
        fs::create_dir(folder.path().join("assets")).unwrap();
        fs::write(folder.path().join("assets/README.md"), "mine").unwrap();
        let file = assets.text("assets/README.md").unwrap();
        assert_eq!(file.text, "mine");
        assert_eq!(file.origin, AssetOrigin::User(folder.path().join("assets/README.md")));
    }

    #[test]
    fn lists_both_kinds_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("assets/extra")).unwrap();
        fs::write(folder.path().join("assets/README.md"), "mine").unwrap();
        fs::write(folder.path().join("assets/extra/own.toml"), "").unwrap();
        fs::write(folder.path().join("assets/extra/.hidden"), "").unwrap();
        let listed = Assets::with_user_folder(folder.path()).list("assets");
        assert_eq!(listed.iter().filter(|path| *path == "assets/README.md").count(), 1);
        assert!(listed.contains(&"assets/extra/own.toml".to_owned()));
        assert!(!listed.iter().any(|path| path.contains(".hidden")));
        let inner = Assets::with_user_folder(folder.path()).list("assets/extra");
        assert_eq!(inner, ["assets/extra/own.toml"]);
    }

    #[test]
    fn a_missing_file_is_told_with_those_there_are() {
        let error = Assets::built_in().text("assets/READYOU.md").unwrap_err();
        assert_eq!(error.what, "Cannot find assets/READYOU.md");
        assert!(error.fix.contains("README"), "{error:?}");
    }

    #[test]
    fn no_path_leads_out_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("secret"), "x").unwrap();
        let assets = Assets::with_user_folder(folder.path().join("config"));
        assert!(assets.bytes("../secret").is_err());
        assert!(assets.bytes("themes/../../secret").is_err());
    }

    #[test]
    fn text_that_is_not_utf8_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("themes")).unwrap();
        fs::write(folder.path().join("themes/odd.toml"), [0xff]).unwrap();
        let error = Assets::with_user_folder(folder.path()).text("themes/odd.toml").unwrap_err();
        assert!(error.what.contains("odd.toml"), "{error:?}");
    }
}
