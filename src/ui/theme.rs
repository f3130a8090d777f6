//! The look of every meaning, read from `themes/*.toml`.
//!
//! A theme names its colours in `[palette]` and gives each role of the table in
//! [`Role`] a look in `[roles]`. One that `inherits` another names only what
//! it changes; a colour of the palette that it changes is another one in every look.

use std::collections::BTreeMap;

use ratatui::style::{Modifier, Style};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::config::Assets;
use crate::model::UserError;

use super::colour::{Depth, Rgb};
use super::data_file::{DataFile, near_names};
use super::role::{Ground, Role};

/// The look of every role.
#[derive(Debug, Clone)]
pub struct Theme {
    looks: Vec<Look>,
    styles: Vec<Style>,
}

/// The look of one role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Look {
    fg: Option<Rgb>,
    bg: Option<Rgb>,
    modifiers: Modifier,
}

/// Grounds with less contrast than this are shades of one another.
const SHADE: f64 = 2.6;

const MODIFIERS: [(&str, Modifier); 5] = [
    ("bold", Modifier::BOLD),
    ("italic", Modifier::ITALIC),
    ("underline", Modifier::UNDERLINED),
    ("reverse", Modifier::REVERSED),
    ("strike", Modifier::CROSSED_OUT),
];

impl Theme {
    /// Reads the theme of that name, for a terminal with that many colours.
    ///
    /// # Errors
    /// When a file is missing, a role is unknown or has no look, or a colour is none; the error
    /// names file and line.
    pub fn load(assets: &Assets, name: &str, depth: Depth) -> Result<Self, UserError> {
        let chain = DataFile::load_chain(assets, "themes", name)?;
        let mut looks = BTreeMap::new();
        let mut palette = BTreeMap::new();
        for file in &chain {
            read_palette(file, &file.parse()?, &mut palette)?;
        }
        for file in &chain {
            read_roles(file, &file.parse()?, &palette, &mut looks)?;
        }
        let missing: Vec<&str> = Role::ALL
            .iter()
            .map(|role| role.name())
            .filter(|name| !looks.contains_key(*name))
            .collect();
        if let (false, Some(file)) = (missing.is_empty(), chain.last()) {
            let why = format!("no style is given for: {}", missing.join(", "));
            let fix = "Add them to [roles], or begin the file with inherits = \"dark\".";
            return Err(file.wrong(0..0, &why, fix));
        }
        let looks: Vec<Look> = Role::ALL
            .iter()
            .map(|role| looks.get(role.name()).copied().unwrap_or_default())
            .collect();
        let mut theme = Self { looks, styles: Vec::new() };
        theme.styles = Role::ALL.iter().map(|role| theme.fit(*role, depth)).collect();
        Ok(theme)
    }

    /// Names of all themes, built-in and the person's own, sorted.
    #[must_use]
    pub fn names(assets: &Assets) -> Vec<String> {
        let name =
            |path: &String| path.strip_prefix("themes/")?.strip_suffix(".toml").map(str::to_owned);
        assets.list("themes").iter().filter_map(name).collect()
    }

    /// The look of a role.
    #[must_use]
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }

    /// Text and background of a role in all colours, where the theme sets them.
    #[must_use]
    pub fn colours(&self, role: Role) -> (Option<Rgb>, Option<Rgb>) {
        self.looks.get(role as usize).map_or((None, None), |look| (look.fg, look.bg))
    }
}

impl Theme {
    /// The look of a role on a terminal with that many colours.
    fn fit(&self, role: Role, depth: Depth) -> Style {
        let look = self.looks.get(role as usize).copied().unwrap_or_default();
        let mut style = Style::new().add_modifier(look.modifiers);
        if needs_reverse(role, depth) {
            return style.add_modifier(Modifier::REVERSED);
        }
        let grounds: Vec<Rgb> = match role.ground() {
            Ground::Plain => vec![Role::Text],
            Ground::Anywhere => Role::GROUNDS.to_vec(),
            Ground::Own => vec![role],
            Ground::Shape => Vec::new(),
        }
        .into_iter()
        .filter_map(|role| self.fit_ground(role, depth))
        .collect();
        style.bg = look.bg.and_then(|_| depth.colour(self.fit_ground(role, depth)?));
        let text = look.fg.map(|text| self.stand_in(role, depth).unwrap_or(text));
        // With 16 colours a breath of blue in plain text would become blue text.
        let is_plain = |text: Rgb| {
            [Role::Text, Role::Dim, Role::Strong]
                .iter()
                .any(|role| self.colours(*role).0 == Some(text))
        };
        let text = text.map(|text| match depth {
            Depth::Basic if is_plain(text) => text.grey(),
            Depth::Basic | Depth::True | Depth::Indexed | Depth::None => text,
        });
        style.fg = text.and_then(|text| match role.ground() {
            Ground::Shape => depth.fit(text),
            Ground::Plain | Ground::Anywhere | Ground::Own => depth.fit_text(text, &grounds),
        });
        style
    }

    /// What the background of a role becomes. With 16 colours, grounds that differ from the
    /// screen's by a shade only are that of the screen: there is no shade between. With 256, a
    /// diff whose two grounds fall together gets the faintest green and red there are.
    fn fit_ground(&self, role: Role, depth: Depth) -> Option<Rgb> {
        let screen = self.colours(Role::Text).1?;
        let ground = |role: Role| self.colours(role).1.unwrap_or(screen);
        let own = ground(role);
        if depth == Depth::Basic && own.contrast(screen) < SHADE {
            return depth.fitted(screen);
        }
        let fitted = depth.fitted(own);
        let [added, removed] = [ground(Role::DiffAdded), ground(Role::DiffRemoved)];
        let are_lost = depth == Depth::Indexed
            && self.colours(Role::FileNew).0.and_then(Rgb::hue).is_some()
            && depth.fitted(added) == depth.fitted(removed);
        match role {
            Role::DiffAdded | Role::DiffAddedWord if are_lost => Some(screen.tints()[0]),
            Role::DiffRemoved | Role::DiffRemovedWord if are_lost => Some(screen.tints()[1]),
            _ => fitted,
        }
    }

    /// Where the shades of a diff are lost, its text says by its own colour what they said; a
    /// theme without hues says it by shade and weight.
    fn stand_in(&self, role: Role, depth: Depth) -> Option<Rgb> {
        self.colours(Role::Ok).0.and_then(Rgb::hue)?;
        match (depth, role) {
            (Depth::Basic, Role::DiffAdded | Role::DiffAddedWord) => Some(Rgb::GREEN),
            (Depth::Basic, Role::DiffRemoved | Role::DiffRemovedWord) => Some(Rgb::RED),
            _ => None,
        }
    }
}

/// Whether a role that shows by its background has to be reversed where there are few colours.
fn needs_reverse(role: Role, depth: Depth) -> bool {
    match depth {
        Depth::True | Depth::Indexed => false,
        Depth::Basic => matches!(role, Role::Selection | Role::Notice | Role::NoticeError),
        Depth::None => matches!(
            role,
            Role::Selection
                | Role::Waiting
                | Role::Paused
                | Role::Cursor
                | Role::Match
                | Role::Notice
                | Role::NoticeError
        ),
    }
}

fn read_palette(
    file: &DataFile,
    root: &DeTable<'_>,
    palette: &mut BTreeMap<String, Rgb>,
) -> Result<(), UserError> {
    if let Some((name, _)) =
        root.iter().find(|(name, _)| !["inherits", "palette", "roles"].contains(&&**name.get_ref()))
    {
        let why = format!("there is no section `{}`", name.get_ref());
        return Err(file.wrong(name.span(), &why, "use inherits, palette or roles"));
    }
    let Some(section) = root.get("palette") else { return Ok(()) };
    for (name, value) in file.table_of(section)? {
        let text = file.text_of(value)?;
        let Some(colour) = Rgb::parse(text) else {
            let why = format!("`{text}` is not a colour");
            return Err(file.wrong(value.span(), &why, "Write it as \"#rrggbb\"."));
        };
        palette.insert(name.get_ref().to_string(), colour);
    }
    Ok(())
}

fn read_roles(
    file: &DataFile,
    root: &DeTable<'_>,
    palette: &BTreeMap<String, Rgb>,
    looks: &mut BTreeMap<&'static str, Look>,
) -> Result<(), UserError> {
    let Some(section) = root.get("roles") else { return Ok(()) };
    for (name, value) in file.table_of(section)? {
        let Some(role) = Role::named(name.get_ref()) else {
            let why = format!("there is no role `{}`", name.get_ref());
            let fix = near_names(name.get_ref(), Role::ALL.iter().map(|role| role.name()));
            return Err(file.wrong(name.span(), &why, &fix));
        };
        looks.insert(role.name(), read_look(file, value, palette)?);
    }
    Ok(())
}

/// A look is a colour for the text, or a table.
fn read_look(
    file: &DataFile,
    value: &Spanned<DeValue<'_>>,
    palette: &BTreeMap<String, Rgb>,
) -> Result<Look, UserError> {
    let table = match value.get_ref() {
        DeValue::String(_) => {
            return Ok(Look { fg: Some(read_colour(file, value, palette)?), ..Look::default() });
        }
        DeValue::Table(table) => table,
        _ => return Err(file.not_a("a colour or a table", value)),
    };
    let mut look = Look::default();
    for (name, value) in table {
        let key: &str = name.get_ref();
        match key {
            "fg" => look.fg = Some(read_colour(file, value, palette)?),
            "bg" => look.bg = Some(read_colour(file, value, palette)?),
            _ => {
                let Some((_, modifier)) = MODIFIERS.iter().find(|(known, _)| *known == key) else {
                    let why = format!("a style has no key `{key}`");
                    let fix = "Use fg, bg, bold, italic, underline, reverse, strike.";
                    return Err(file.wrong(name.span(), &why, fix));
                };
                let Some(is_on) = value.get_ref().as_bool() else {
                    return Err(file.not_a("true or false", value));
                };
                look.modifiers.set(*modifier, is_on);
            }
        }
    }
    Ok(look)
}

fn read_colour(
    file: &DataFile,
    value: &Spanned<DeValue<'_>>,
    palette: &BTreeMap<String, Rgb>,
) -> Result<Rgb, UserError> {
    let text = file.text_of(value)?;
    palette.get(text).copied().or_else(|| Rgb::parse(text)).ok_or_else(|| {
        let mut known: Vec<&str> = palette.keys().map(String::as_str).collect();
        known.extend(Rgb::names());
        let fix =
            format!("Write it as \"#rrggbb\" or by name; {}", near_names(text, known.into_iter()));
        file.wrong(value.span(), &format!("`{text}` is not a colour"), &fix)
    })
}

#[cfg(test)]
#[path = "theme_tests.rs"]
mod tests;
