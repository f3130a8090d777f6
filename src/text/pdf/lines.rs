//! Runs of letters that become lines and paragraphs.
//!
//! Follows the order in which a page draws its text, which is the order of reading in nearly every
//! document, columns included. Must not know fonts.

/// Gaps between two runs, in sizes of the letters: from here on it is a space, or a column.
const SPACE: f64 = 0.15;
const COLUMN: f64 = 0.9;

/// How far two runs of a line may be apart across it: room for indices and powers.
const SAME_LINE: f64 = 0.6;

/// Distance of lines from which on a paragraph ends.
const PARAGRAPH: f64 = 2.0;

/// Letters drawn one after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct GlyphRun {
    /// What they say.
    pub text: String,
    /// Where they begin and end along their line.
    pub from: f64,
    /// Where they end.
    pub to: f64,
    /// Where their line is, upwards.
    pub across: f64,
    pub size: f64,
    /// Direction of the line, in degrees.
    pub angle: f64,
}

/// The text of a page as it grows.
#[derive(Debug, Default)]
pub(super) struct PageLines {
    text: String,
    last: Option<GlyphRun>,
}

impl PageLines {
    /// Adds what was drawn.
    pub fn add(&mut self, run: GlyphRun) {
        if run.text.is_empty() || !(run.size.is_finite() && run.from.is_finite()) {
            return;
        }
        let Some(last) = self.last.take() else {
            self.push(&run.text);
            self.last = Some(run);
            return;
        };
        let size = last.size.max(run.size).max(f64::EPSILON);
        let down = last.across - run.across;
        let gap = run.from - last.to;
        let is_turned = (last.angle - run.angle).abs() > 2.0;
        let is_bold_again = run.text == last.text
            && down.abs() < 0.1 * size
            && (run.from - last.from).abs() < 0.1 * size;
        if is_bold_again && !run.text.trim().is_empty() {
            // Some writers draw letters twice to make them bold.
            self.last = Some(last);
            return;
        }
        if !is_turned && down.abs() < SAME_LINE * size && gap > -0.6 * size {
            if gap > COLUMN * size {
                self.push("   ");
            } else if gap > SPACE * size && !self.text.ends_with(' ') && !run.text.starts_with(' ')
            {
                self.push(" ");
            }
        } else {
            let is_far = is_turned || down > PARAGRAPH * size || down < -SAME_LINE * size;
            self.end_line();
            if is_far {
                self.push("\n");
            }
        }
        self.push(&run.text);
        // An index keeps the line where it was.
        let across = if down.abs() < SAME_LINE * size && run.size < last.size {
            last.across
        } else {
            run.across
        };
        self.last = Some(GlyphRun { across, ..run });
    }

    /// The whole text.
    pub fn finish(mut self) -> String {
        self.end_line();
        let kept = self.text.trim_end().len();
        self.text.truncate(kept);
        self.text
    }

    fn end_line(&mut self) {
        let kept = self.text.trim_end_matches(' ').len();
        self.text.truncate(kept);
        self.text.push('\n');
    }

    fn push(&mut self, text: &str) {
        for letter in text.chars() {
            match letter {
                'ﬀ' => self.text.push_str("ff"),
                'ﬁ' => self.text.push_str("fi"),
                'ﬂ' => self.text.push_str("fl"),
                'ﬃ' => self.text.push_str("ffi"),
                'ﬄ' => self.text.push_str("ffl"),
                '\u{ad}' => self.text.push('-'),
                '\u{a0}' | '\t' => self.text.push(' '),
                other => self.text.push(other),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str, from: f64, to: f64, across: f64) -> GlyphRun {
        GlyphRun { text: text.to_owned(), from, to, across, size: 10.0, angle: 0.0 }
    }

    fn of(runs: &[GlyphRun]) -> String {
        let mut lines = PageLines::default();
        runs.iter().for_each(|run| lines.add(run.clone()));
        lines.finish()
    }

    #[test]
    fn gaps_are_spaces_columns_lines_and_paragraphs() {
        let text = of(&[
            run("Pin", 0.0, 15.0, 100.0),
            run("out", 15.5, 30.0, 100.0),
            run("of", 34.0, 44.0, 100.0),
            run("Value", 90.0, 120.0, 100.0),
            run("next line", 0.0, 40.0, 88.0),
            run("a paragraph", 0.0, 40.0, 60.0),
            run("next column", 200.0, 240.0, 100.0),
        ]);
        assert_eq!(text, "Pinout of   Value\nnext line\n\na paragraph\n\nnext column");
    }

    #[test]
    fn what_is_drawn_twice_is_said_once_and_ligatures_are_letters() {
        let bold = [run("Note", 0.0, 20.0, 9.0), run("Note", 0.3, 20.3, 9.0)];
        assert_eq!(of(&bold), "Note");
        assert_eq!(of(&[run("ﬁrmware oﬃce", 0.0, 9.0, 0.0)]), "firmware office");
        let power = [
            run("I", 0.0, 3.0, 0.0),
            GlyphRun { size: 6.0, ..run("2", 3.0, 6.0, 4.0) },
            run("C bus", 6.0, 30.0, 0.0),
        ];
        assert_eq!(of(&power), "I2C bus");
        assert_eq!(of(&[run("x", f64::NAN, 1.0, 0.0)]), "");
    }
}
