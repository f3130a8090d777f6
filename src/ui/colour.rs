//! Colours: how they are written, how far they stand apart, and what a poorer terminal gets.
//!
//! The only place that makes colours out of numbers.

use ratatui::style::Color;

/// How many colours the terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Depth {
    /// All of them.
    #[default]
    True,
    /// The 256 of xterm.
    Indexed,
    /// The 16 basic ones.
    Basic,
    /// None: bold, underlined and reversed text only.
    None,
}

impl Depth {
    /// What the environment says: `NO_COLOR`, `COLORTERM`, `TERM`.
    pub fn detect(env: impl Fn(&str) -> Option<String>) -> Self {
        if env("NO_COLOR").is_some_and(|value| !value.is_empty()) {
            return Self::None;
        }
        let says = |name: &str, words: &[&str]| {
            env(name).is_some_and(|value| words.iter().any(|word| value.contains(word)))
        };
        if says("COLORTERM", &["truecolor", "24bit"]) || says("TERM", &["direct"]) {
            Self::True
        } else if says("TERM", &["256"]) {
            Self::Indexed
        } else if says("TERM", &["dumb"]) {
            Self::None
        } else {
            Self::Basic
        }
    }

    /// What stands in for `colour` on such a terminal; `None`: leave it to the terminal.
    #[must_use]
    pub fn fit(self, colour: Rgb) -> Option<Color> {
        self.colour(self.fitted(colour)?)
    }

    /// As [`Depth::fit`] for text on these backgrounds: of the colours there are, the nearest one
    /// that stands out from all of them as well as `text` does, up to [`READABLE`].
    #[must_use]
    pub fn fit_text(self, text: Rgb, grounds: &[Rgb]) -> Option<Color> {
        let least = |text: Rgb| {
            grounds.iter().map(|ground| text.contrast(*ground)).fold(f64::INFINITY, f64::min)
        };
        if matches!(self, Self::True | Self::None) {
            return self.fit(text);
        }
        let mut palette = self.palette();
        match (self, text.hue()) {
            // With so few colours the hue says more than the shade.
            (Self::Basic, Some(_)) => palette.sort_by_key(|colour| text.hue_distance(*colour)),
            _ => palette.sort_by_key(|colour| (0, text.distance(*colour))),
        }
        let near = palette.iter().find(|colour| least(**colour) >= READABLE);
        let clearest = || palette.iter().max_by(|a, b| least(**a).total_cmp(&least(**b)));
        self.colour(*near.or_else(clearest)?)
    }

    /// How the colour that stands in for `colour` looks.
    #[must_use]
    pub fn fitted(self, colour: Rgb) -> Option<Rgb> {
        match self {
            Self::True => Some(colour),
            Self::Indexed | Self::Basic => {
                self.palette().into_iter().min_by_key(|known| colour.distance(*known))
            }
            Self::None => None,
        }
    }

    /// The way to ask the terminal for a colour of [`Depth::palette`].
    pub(super) fn colour(self, colour: Rgb) -> Option<Color> {
        match self {
            Self::True => Some(Color::Rgb(colour.0, colour.1, colour.2)),
            Self::Indexed => {
                (16..=255).find(|index| Rgb::of_index(*index) == colour).map(Color::Indexed)
            }
            Self::Basic => {
                BASIC.iter().find(|(_, _, known)| *known == colour).map(|(_, known, _)| *known)
            }
            Self::None => None,
        }
    }

    /// The colours there are, where they are few.
    fn palette(self) -> Vec<Rgb> {
        match self {
            Self::True | Self::None => Vec::new(),
            Self::Indexed => (16..=255).map(Rgb::of_index).collect(),
            Self::Basic => BASIC.iter().map(|(_, _, rgb)| *rgb).collect(),
        }
    }
}

/// Least contrast of text that is easily read: WCAG 2, level AA.
pub const READABLE: f64 = 4.5;

/// A colour: red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// The 16 basic colours by name, with what they usually look like.
const BASIC: [(&str, Color, Rgb); 16] = [
    ("black", Color::Black, Rgb(0, 0, 0)),
    ("red", Color::Red, Rgb(205, 49, 49)),
    ("green", Color::Green, Rgb(13, 188, 121)),
    ("yellow", Color::Yellow, Rgb(229, 229, 16)),
    ("blue", Color::Blue, Rgb(36, 114, 200)),
    ("magenta", Color::Magenta, Rgb(188, 63, 188)),
    ("cyan", Color::Cyan, Rgb(17, 168, 205)),
    ("gray", Color::Gray, Rgb(204, 204, 204)),
    ("dark-gray", Color::DarkGray, Rgb(118, 118, 118)),
    ("bright-red", Color::LightRed, Rgb(241, 76, 76)),
    ("bright-green", Color::LightGreen, Rgb(35, 209, 139)),
    ("bright-yellow", Color::LightYellow, Rgb(245, 245, 67)),
    ("bright-blue", Color::LightBlue, Rgb(59, 142, 234)),
    ("bright-magenta", Color::LightMagenta, Rgb(214, 112, 214)),
    ("bright-cyan", Color::LightCyan, Rgb(41, 184, 219)),
    ("white", Color::White, Rgb(255, 255, 255)),
];

impl Rgb {
    pub(super) const GREEN: Self = Self(0, 128, 0);
    pub(super) const RED: Self = Self(192, 0, 0);

    /// Reads `#rrggbb` or the name of a basic colour.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some((_, _, rgb)) = BASIC.iter().find(|(name, _, _)| *name == text) {
            return Some(*rgb);
        }
        let digits = text.strip_prefix('#').filter(|digits| {
            digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        })?;
        let number = u32::from_str_radix(digits, 16).ok()?;
        let [_, red, green, blue] = number.to_be_bytes();
        Some(Self(red, green, blue))
    }

    /// Names that [`Rgb::parse`] knows.
    pub fn names<'n>() -> impl Iterator<Item = &'n str> {
        BASIC.iter().map(|(name, ..)| *name)
    }

    /// Contrast ratio of WCAG 2: 1 (same) to 21 (black on white).
    #[must_use]
    pub fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// Relative luminance of WCAG 2.
    fn luminance(self) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    /// The same without its hue.
    pub(super) fn grey(self) -> Self {
        let [red, green, blue] = [self.0, self.1, self.2].map(u32::from);
        let shade = u8::try_from((red * 3 + green * 6 + blue) / 10).unwrap_or(u8::MAX);
        Self(shade, shade, shade)
    }

    /// Its hue in degrees; `None` for what is as good as grey.
    pub(super) fn hue(self) -> Option<u32> {
        let [red, green, blue] = [self.0, self.1, self.2].map(i32::from);
        let (most, least) = (red.max(green).max(blue), red.min(green).min(blue));
        let chroma = most - least;
        if chroma < 24 {
            return None;
        }
        let sixth = |from: i32, to: i32, start: i32| start + 60 * (from - to) / chroma;
        let degrees = match most {
            _ if most == red => sixth(green, blue, 360),
            _ if most == green => sixth(blue, red, 120),
            _ => sixth(red, green, 240),
        };
        u32::try_from(degrees % 360).ok()
    }

    /// How far apart two colours are, first by hue and then by shade.
    fn hue_distance(self, other: Self) -> (u32, u32) {
        let hue = match (self.hue(), other.hue()) {
            (Some(a), Some(b)) => a.abs_diff(b).min(360 - a.abs_diff(b)),
            _ => 360,
        };
        (hue, self.distance(other))
    }

    /// The faintest green and red of xterm's 256 colours that can be told from this ground.
    pub(super) fn tints(self) -> [Self; 2] {
        if self.luminance() < 0.5 {
            [Self(0, 95, 0), Self(95, 0, 0)]
        } else {
            [Self(215, 255, 215), Self(255, 215, 215)]
        }
    }

    fn distance(self, other: Self) -> u32 {
        let part = |a: u8, b: u8, weight: u32| u32::from(a.abs_diff(b)).pow(2) * weight;
        part(self.0, other.0, 3) + part(self.1, other.1, 4) + part(self.2, other.2, 2)
    }

    /// The colour cube and the greys of xterm, 16 to 255.
    fn of_index(index: u8) -> Self {
        if index >= 232 {
            let grey = 8 + (index - 232) * 10;
            return Self(grey, grey, grey);
        }
        let place = index.saturating_sub(16);
        let level = |step: u8| if step == 0 { 0 } else { 55 + step * 40 };
        Self(level(place / 36), level(place / 6 % 6), level(place % 6))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_has_the_standard_values() {
        let (black, white) = (Rgb(0, 0, 0), Rgb(255, 255, 255));
        assert!((black.contrast(white) - 21.0).abs() < 1e-9);
        assert!((white.contrast(white) - 1.0).abs() < 1e-9);
        // #767676 on white is the darkest grey that is known to just reach 4.5.
        assert!((Rgb(0x76, 0x76, 0x76).contrast(white) - 4.54).abs() < 0.01);
    }

    #[test]
    fn colours_are_written_as_digits_or_names() {
        assert_eq!(Rgb::parse("#1a2B3c"), Some(Rgb(0x1a, 0x2b, 0x3c)));
        assert_eq!(Rgb::parse("red"), Some(Rgb(205, 49, 49)));
        for wrong in ["1a2b3c", "#1a2b3", "#1a2b3g", "reddish", "#+a2b3c"] {
            assert_eq!(Rgb::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn poorer_terminals_get_the_nearest_colour() {
        assert_eq!(Depth::Indexed.fit(Rgb(255, 0, 0)), Some(Color::Indexed(196)));
        assert_eq!(Depth::Indexed.fit(Rgb(8, 8, 8)), Some(Color::Indexed(232)));
        assert_eq!(Depth::Basic.fit(Rgb(250, 250, 250)), Some(Color::White));
        assert_eq!(Depth::None.fit(Rgb(250, 250, 250)), None);
    }

    #[test]
    fn of_16_colours_text_gets_the_one_of_its_hue_that_can_be_read() {
        let on_black = |text| Depth::Basic.fit_text(text, &[Rgb(0, 0, 0)]);
        assert_eq!(
            on_black(Rgb(166, 227, 161)),
            Some(Color::LightGreen),
            "a pale green is no grey"
        );
        assert_eq!(on_black(Rgb(243, 139, 168)), Some(Color::LightRed));
        assert_eq!(on_black(Rgb(200, 200, 204)), Some(Color::Gray));
        let on_white = Depth::Basic.fit_text(Rgb(117, 80, 10), &[Rgb(255, 255, 255)]);
        assert_eq!(on_white, Some(Color::Red), "yellow cannot be read on white");
    }

    #[test]
    fn the_environment_tells_how_many_colours_there_are() {
        let depth = |pairs: &'static [(&str, &str)]| {
            Depth::detect(|name| {
                pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(depth(&[("COLORTERM", "truecolor"), ("TERM", "xterm")]), Depth::True);
        assert_eq!(depth(&[("TERM", "xterm-256color")]), Depth::Indexed);
        assert_eq!(depth(&[("TERM", "linux")]), Depth::Basic);
        assert_eq!(depth(&[("NO_COLOR", "1"), ("COLORTERM", "truecolor")]), Depth::None);
        assert_eq!(depth(&[("NO_COLOR", ""), ("COLORTERM", "24bit")]), Depth::True);
    }
}
