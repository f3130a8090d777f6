//! What is done to a board, as lines to read: a few facts, then tables that give up columns where
//! there is little room instead of going on in the next row.
//!
//! All of it comes from the facts that the checks were made of; an earlier journal has fewer.

use unicode_width::UnicodeWidthStr;

use crate::model::{
    BoardFacts, BoardInfo, Change, ErasePlan, Facts, FlashFacts, FlashImage, FlashPlan,
    FlashRegion, Landing, NvsEdit, NvsPlan, NvsSpace, ReadPlan, SendPlan,
};
use crate::text::sanitize;
use crate::ui::line;

use super::line::{BodyLine, Ink, LinePiece, LineRole};

/// Between two columns.
const GAP: &str = "  ";

/// What is done to a board; `None` when it is done to a file.
#[must_use]
pub fn lines(change: &Change, facts: &Facts) -> Option<Vec<BodyLine>> {
    let sheet = match change {
        Change::Flash(plan) => flash(plan, facts),
        Change::Erase(plan) => erase(plan, facts.flash.as_ref()),
        Change::Send(plan) => send(plan),
        Change::Read(plan) => read(plan),
        Change::Nvs(plan) => nvs(plan),
        Change::Save { .. } | Change::Delete { .. } | Change::Insert { .. } => return None,
    };
    Some(sheet.lines)
}

/// Facts and tables, from top to bottom.
struct FactSheet {
    lines: Vec<BodyLine>,
}

impl FactSheet {
    /// Begins with the board that something is done to.
    fn of(board: &BoardInfo) -> Self {
        let mut sheet = Self { lines: Vec::new() };
        let simulated =
            if board.simulated && !board.label.contains("virtual") { " (simulated)" } else { "" };
        let chip =
            if board.chip.is_empty() { String::new() } else { format!(" · {}", board.chip) };
        sheet.fact("board", format!("{}{simulated}{chip}", board.label), Ink::Plain);
        sheet.fact("port", &board.port, Ink::Plain);
        sheet
    }

    /// A statement that belongs to what is decided.
    fn fact(&mut self, name: &str, value: impl AsRef<str>, ink: Ink) {
        let name = LinePiece::new(format!("{name:<9}"), Ink::Dim);
        let value = LinePiece::new(sanitize::line(value.as_ref()), ink);
        self.lines.push(BodyLine::of_pieces(LineRole::Fact, vec![name, value]));
    }

    /// What need not be seen before it is decided.
    fn note(&mut self, text: &str) {
        let text = LinePiece::new(sanitize::line(text), Ink::Dim);
        self.lines.push(BodyLine::of_pieces(LineRole::Note, vec![text]));
    }

    /// An empty row.
    fn gap(&mut self) {
        self.lines.push(BodyLine::of_pieces(LineRole::Note, Vec::new()));
    }

    /// Rows in columns, which get narrower by these steps; the first `right` columns stand at the right.
    /// There are as many forms of each row as there are steps and one more, the widest first: every row
    /// has the same form at the same width.
    fn table(&mut self, rows: &[(LineRole, Vec<Cell>)], right: usize, steps: &[TableStep]) {
        let mut lines: Vec<Vec<(usize, Vec<LinePiece>)>> = vec![Vec::new(); rows.len()];
        for taken in 0..=steps.len() {
            let forms = form(rows, right, steps.get(..taken).unwrap_or_default());
            let widest = forms.iter().map(|pieces| width(pieces)).max().unwrap_or(0);
            for (line, form) in lines.iter_mut().zip(forms) {
                line.push((widest, form));
            }
        }
        let made = rows.iter().zip(lines);
        self.lines.extend(made.map(|((role, _), forms)| BodyLine::of_forms(*role, forms)));
    }
}

/// E.g. `nvs · 0x9000 – 0xf000 · 24,576 bytes`.
fn range(region: &FlashRegion) -> String {
    let end = u64::from(region.offset) + u64::from(region.bytes);
    let bytes = line::grouped(u64::from(region.bytes));
    format!("{} · 0x{:x} – 0x{end:x} · {bytes} bytes", region.name(), region.offset)
}

fn erase(plan: &ErasePlan, facts: Option<&FlashFacts>) -> FactSheet {
    let mut sheet = FactSheet::of(&plan.board);
    match &plan.region {
        None => {
            let what = if plan.board.simulated {
                "all of its memory: program and settings"
            } else {
                "the whole flash: bootloader, partition table, program and settings"
            };
            sheet.fact("erases", what, Ink::Warning);
            sheet.fact("then", "nothing runs until it is flashed", Ink::Plain);
        }
        Some(region) => sheet.fact("erases", range(region), Ink::Warning),
    }
    if let Some(facts) = facts {
        sheet.gap();
        partitions(&mut sheet, facts, "erased");
    }
    sheet
}

fn read(plan: &ReadPlan) -> FactSheet {
    let mut sheet = FactSheet::of(&plan.board);
    sheet.fact("reads", range(&plan.region), Ink::Plain);
    sheet.fact("into", plan.path.as_str(), Ink::Plain);
    sheet.gap();
    sheet.note(match plan.board.simulated {
        true => "The firmware keeps running.",
        false => "The board is restarted before and after.",
    });
    sheet.note("Stored settings may hold passwords: the file will hold them too.");
    sheet
}

/// Every character that is sent, those that cannot be seen as escapes.
fn send(plan: &SendPlan) -> FactSheet {
    let mut sheet = FactSheet::of(&plan.board);
    sheet.fact("bytes", line::grouped(plan.text.len() as u64), Ink::Plain);
    sheet.gap();
    sheet.note("the text to send, line by line, with line ends");
    sheet.lines.extend(plan.visible().iter().map(|text| {
        let text = LinePiece::new(sanitize::line(text), Ink::Plain);
        BodyLine::of_pieces(LineRole::Fact, vec![text])
    }));
    sheet
}

fn flash(plan: &FlashPlan, facts: &Facts) -> FactSheet {
    let (flash, board) = (facts.flash.as_ref(), facts.board.as_ref());
    let mut sheet = FactSheet::of(&plan.board);
    let chip = board.map(chip).unwrap_or_default();
    if !chip.is_empty() {
        sheet.fact("chip", chip.join(" · "), Ink::Plain);
    }
    let security = board.map(security).unwrap_or_default();
    if !security.is_empty() {
        let is_on = |text: &&str| text.ends_with("is on") || text.ends_with("is encrypted");
        let ink = if security.iter().any(is_on) { Ink::Warning } else { Ink::Plain };
        sheet.fact("security", security.join(" · "), ink);
    }
    sheet.fact("build", format!("#{}", plan.build), Ink::Plain);
    boot(&mut sheet, plan, flash);
    if let Some(why) = board.map(|board| &board.not_asked).filter(|why| !why.is_empty()) {
        sheet.fact("compared", format!("no: {why}"), Ink::Dim);
    }
    sheet.gap();
    images(&mut sheet, plan, flash);
    if let Some(facts) = flash {
        sheet.gap();
        let erased =
            facts.landings.iter().filter(|landing| landing.erased_to > landing.erased_from);
        for landing in erased {
            let range = format!("0x{:x} – 0x{:x}", landing.erased_from, landing.erased_to);
            sheet.fact("erases", range, Ink::Plain);
        }
        if !facts.partitions.is_empty() {
            sheet.gap();
            partitions(&mut sheet, facts, "written");
        }
    }
    sheet
}

/// What the board told about itself.
fn chip(board: &BoardFacts) -> Vec<String> {
    let text = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let parts = [
        text(&board.revision),
        // Sizes of flash are given in units of 1,048,576 bytes.
        board.flash_bytes.map(|bytes| format!("{} MB of flash", bytes >> 20)),
        text(&board.mac),
    ];
    parts.into_iter().flatten().collect()
}

/// How the board says that it is protected; nothing of what it did not say.
fn security(board: &BoardFacts) -> Vec<&'static str> {
    let parts = [
        board.secure_boot.map(|on| if on { "secure boot is on" } else { "no secure boot" }),
        board
            .flash_encryption
            .map(|on| if on { "flash is encrypted" } else { "flash is not encrypted" }),
        board.jtag_disabled.map(|off| if off { "JTAG is off" } else { "JTAG is open" }),
    ];
    parts.into_iter().flatten().collect()
}

/// What happens to what the board starts from.
fn boot(sheet: &mut FactSheet, plan: &FlashPlan, flash: Option<&FlashFacts>) {
    let landings = flash.map_or(&[][..], |flash| flash.landings.as_slice());
    let mut areas: Vec<&str> = Vec::new();
    for area in landings.iter().flat_map(|landing| &landing.touches) {
        if area.is_boot() && !areas.contains(&area.name()) {
            areas.push(area.name());
        }
    }
    let (text, ink) = match (areas.as_slice(), plan.touches_boot) {
        ([], Some(true)) => {
            ("bootloader or partition table is written too".to_owned(), Ink::Warning)
        }
        ([], _) => ("bootloader and table are kept".to_owned(), Ink::Plain),
        ([area], _) => (format!("{area} is written"), Ink::Warning),
        (areas, _) => (format!("{} are written", areas.join(" and ")), Ink::Warning),
    };
    sheet.fact("boot", text, ink);
}

/// The images by rising offset.
fn images(sheet: &mut FactSheet, plan: &FlashPlan, flash: Option<&FlashFacts>) {
    let heading = ["offset", "bytes", "hash", "image", ""].map(Cell::dim);
    let mut rows = vec![(LineRole::Note, heading.into())];
    let has_table = flash.is_some_and(|flash| !flash.partitions.is_empty());
    for (place, image) in plan.images.iter().enumerate() {
        let ink = if image.same { Ink::Dim } else { Ink::Plain };
        let landing = flash.and_then(|flash| flash.landings.get(place));
        let short = image.file.rsplit('/').next().unwrap_or_default();
        let row = vec![
            Cell::new(&format!("0x{:x}", image.offset), ink),
            Cell::new(&line::grouped(image.bytes), ink),
            Cell::new(&image.hash.short(), ink),
            Cell::new(&image.file, ink).or(short),
            becomes(image, landing.filter(|_| has_table)),
        ];
        rows.push((LineRole::Fact, row));
    }
    let total = line::grouped(plan.total_bytes());
    rows.push((LineRole::Note, ["total", &total].map(Cell::dim).into()));
    let steps =
        [TableStep::Drop(2), TableStep::Shorten(3), TableStep::Shorten(4), TableStep::Drop(1)];
    sheet.table(&rows, 2, &steps);
}

/// What becomes of an image: its partition and whether it fits; empty where no partition table is
/// known.
fn becomes(image: &FlashImage, landing: Option<&Landing>) -> Cell {
    if image.same {
        return Cell::dim("same as on the board, skipped").or("same, skipped");
    }
    let Some(landing) = landing else { return Cell::dim("") };
    let place = &landing.place;
    match (place.is_empty(), landing.overflow) {
        (true, _) => Cell::new("outside of every partition", Ink::Warning).or("outside"),
        (false, 0) => Cell::dim(&format!("→ {place}")),
        (false, bytes) => {
            let over = line::grouped(bytes);
            Cell::new(&format!("→ {place}: {over} bytes too long"), Ink::Warning)
                .or(&format!("→ {place}: too long"))
        }
    }
}

/// The partition table, each partition that is touched marked with `what` happens to it.
fn partitions(sheet: &mut FactSheet, facts: &FlashFacts, what: &str) {
    sheet.note(&format!("partitions of {}", facts.source));
    let heading = ["offset", "bytes", "partition", "type", ""].map(Cell::dim);
    let mut rows = vec![(LineRole::Note, heading.into())];
    for part in &facts.partitions {
        let end = u64::from(part.offset) + u64::from(part.bytes);
        let is_touched = facts
            .landings
            .iter()
            .any(|landing| u64::from(landing.erased_from) < end && landing.erased_to > part.offset);
        let ink = if is_touched { Ink::Plain } else { Ink::Dim };
        let mark = if is_touched { format!("← {what}") } else { String::new() };
        let row = vec![
            Cell::new(&format!("0x{:x}", part.offset), ink),
            Cell::new(&line::grouped(u64::from(part.bytes)), ink),
            Cell::new(&part.label, ink),
            Cell::new(&format!("{} {}", part.kind, part.subtype), ink),
            Cell::new(&mark, Ink::Warning),
        ];
        rows.push((LineRole::Note, row));
    }
    sheet.table(&rows, 2, &[TableStep::Drop(1), TableStep::Drop(3)]);
}

fn nvs(plan: &NvsPlan) -> FactSheet {
    let mut sheet = FactSheet::of(&plan.board);
    sheet.fact("rewrites", range(&plan.region), Ink::Warning);
    let NvsSpace { used, of, damaged } = plan.space;
    sheet.fact("room", format!("{used} of {of} entries are used afterwards"), Ink::Plain);
    if damaged > 0 {
        let text = format!("{damaged} damaged entries are removed; the firmware skips them too");
        sheet.fact("damage", text, Ink::Warning);
    }
    sheet.gap();
    sheet.note("what changes, each as namespace:key; everything else stays");
    let rows: Vec<_> =
        plan.edits.iter().map(|edit| (LineRole::Fact, nvs_entry(edit).into())).collect();
    sheet.table(&rows, 0, &[]);
    sheet
}

/// The name of an entry, and what it becomes.
fn nvs_entry(edit: &NvsEdit) -> [Cell; 2] {
    let sign = match (&edit.before, &edit.after) {
        (None, _) => "+",
        (Some(_), Some(_)) => "~",
        (Some(_), None) => "−",
    };
    let mut value = Cell { pieces: Vec::new(), short: None };
    if let Some(before) = &edit.before {
        value.push(&format!("{} ", before.kind.as_str()), Ink::Dim);
        value.push(&before.shown, Ink::Plain);
        value.push(" → ", Ink::Dim);
    }
    match &edit.after {
        Some(after) => {
            if edit.before.as_ref().is_none_or(|before| before.kind != after.kind) {
                value.push(&format!("{} ", after.kind.as_str()), Ink::Dim);
            }
            value.push(&edit.shown, Ink::Plain);
        }
        None => value.push("removed", Ink::Warning),
    }
    [Cell::new(&format!("{sign} {}", edit.name()), Ink::Plain), value]
}

/// What is in one column of a row, safe for the terminal.
#[derive(Debug, Clone)]
struct Cell {
    pieces: Vec<LinePiece>,
    short: Option<LinePiece>,
}

impl Cell {
    fn new(text: &str, ink: Ink) -> Self {
        Self { pieces: vec![LinePiece::new(sanitize::line(text), ink)], short: None }
    }

    fn dim(text: &str) -> Self {
        Self::new(text, Ink::Dim)
    }

    /// What stands there instead where there is little room.
    fn or(mut self, short: &str) -> Self {
        let ink = self.pieces.first().map_or(Ink::Plain, |piece| piece.ink);
        self.short = Some(LinePiece::new(sanitize::line(short), ink));
        self
    }

    fn push(&mut self, text: &str, ink: Ink) {
        self.pieces.push(LinePiece::new(sanitize::line(text), ink));
    }

    fn form(&self, is_short: bool) -> &[LinePiece] {
        match &self.short {
            Some(short) if is_short => std::slice::from_ref(short),
            Some(_) | None => &self.pieces,
        }
    }
}

/// How a table gets narrower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TableStep {
    /// The column is left out.
    Drop(usize),
    /// The column holds its short texts.
    Shorten(usize),
}

fn width(pieces: &[LinePiece]) -> usize {
    pieces.iter().map(|piece| piece.text.width()).sum()
}

/// Every row after these steps.
fn form(rows: &[(LineRole, Vec<Cell>)], right: usize, taken: &[TableStep]) -> Vec<Vec<LinePiece>> {
    let is_there = |column: &usize| !taken.contains(&TableStep::Drop(*column));
    let count = rows.iter().map(|(_, row)| row.len()).max().unwrap_or(0);
    let columns: Vec<usize> = (0..count).filter(is_there).collect();
    let cell = |row: &'_ [Cell], column: usize| -> Vec<LinePiece> {
        let is_short = taken.contains(&TableStep::Shorten(column));
        row.get(column).map_or(Vec::new(), |cell| cell.form(is_short).to_vec())
    };
    let widths: Vec<usize> = columns
        .iter()
        .map(|column| rows.iter().map(|(_, row)| width(&cell(row, *column))).max().unwrap_or(0))
        .collect();
    let row = |cells: &[Cell]| -> Vec<LinePiece> {
        let mut pieces = Vec::new();
        let mut blanks = 0;
        for (nth, (column, width_of)) in columns.iter().zip(&widths).enumerate() {
            let cell = cell(cells, *column);
            let blank_columns = width_of - width(&cell);
            let is_right = *column < right;
            let before = blanks
                + if nth > 0 { GAP.len() } else { 0 }
                + if is_right { blank_columns } else { 0 };
            blanks = if is_right { 0 } else { blank_columns };
            pieces.push(LinePiece::new(" ".repeat(before), Ink::Plain));
            pieces.extend(cell);
        }
        // Blanks at the end of a row would only make it wider.
        while pieces.last().is_some_and(|piece| piece.text.trim().is_empty()) {
            pieces.pop();
        }
        pieces
    };
    rows.iter().map(|(_, cells)| row(cells)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &BodyLine, blank_columns: usize) -> Vec<String> {
        let parts = match line.width > blank_columns {
            true => line.wrap(blank_columns),
            false => {
                return vec![line.pieces().iter().map(|piece| piece.text.as_str()).collect()];
            }
        };
        let text =
            |part| line.part(part, &[], &[]).iter().map(|piece| piece.text.clone()).collect();
        parts.iter().map(text).collect()
    }

    #[test]
    fn columns_are_left_out_before_a_row_is_broken() {
        let cell = |text: &str| Cell::new(text, Ink::Plain);
        let row = |at: &str, bytes: &str, file: &str, short: &str| {
            (LineRole::Fact, vec![cell(at), cell(bytes), cell(file).or(short)])
        };
        let rows = [
            row("0x1000", "26,768", "build/bootloader/bootloader.bin", "bootloader.bin"),
            row("0x10000", "9", "build/app.bin", "app.bin"),
        ];
        let mut sheet = FactSheet { lines: Vec::new() };
        sheet.table(&rows, 2, &[TableStep::Drop(1), TableStep::Shorten(2)]);
        let lines = sheet.lines;
        let at = |blank_columns| -> Vec<String> {
            lines.iter().flat_map(|line| shown(line, blank_columns)).collect()
        };
        assert_eq!(
            at(80),
            [" 0x1000  26,768  build/bootloader/bootloader.bin", "0x10000       9  build/app.bin"]
        );
        assert_eq!(at(45), [" 0x1000  build/bootloader/bootloader.bin", "0x10000  build/app.bin"]);
        assert_eq!(at(38), [" 0x1000  bootloader.bin", "0x10000  app.bin"]);
        // Each form is whole once its own columns were drawn.
        for blank_columns in [80, 45, 38, 12] {
            for line in &lines {
                let parts = line.wrap(blank_columns);
                let end = parts.last().map_or(0, |part| part.columns.end);
                assert!(end >= line.needed(&parts[0]), "{blank_columns}: {parts:?}");
            }
        }
        assert_eq!(at(12).concat(), " 0x1000  bootloader.bin0x10000  app.bin");
    }

    #[test]
    fn a_board_says_how_it_is_protected_and_nothing_that_it_does_not_know() {
        assert!(security(&BoardFacts::default()).is_empty());
        let board = BoardFacts {
            secure_boot: Some(true),
            flash_encryption: Some(false),
            jtag_disabled: Some(false),
            ..BoardFacts::default()
        };
        let expected = ["secure boot is on", "flash is not encrypted", "JTAG is open"];
        assert_eq!(security(&board), expected);
        let board = BoardFacts { jtag_disabled: Some(true), ..BoardFacts::default() };
        assert_eq!(security(&board), ["JTAG is off"]);
    }
}
