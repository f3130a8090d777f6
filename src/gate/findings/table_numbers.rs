//! The numbers of a table with named rows and columns, `cooling.alarm_c` of a list in CSV.
//!
//! Partition tables are read by [`partition_table`](super::partition_table).

use csv::{ReaderBuilder, StringRecord, Trim};

use super::written_numbers::{self, NamedNumber};

/// Cells that are read.
const MOST: usize = 20_000;

/// The numbers of a table whose names are wanted, in their order. A row is called by its first cell, a
/// column by its head, or by its place where there is none.
pub(super) fn find(text: &str, wanted: impl Fn(&str) -> bool) -> Vec<NamedNumber> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    let rows: Vec<StringRecord> = reader.records().map_while(Result::ok).collect();
    if rows.iter().any(|row| row.get(1).is_some_and(|kind| matches!(kind, "app" | "data"))) {
        return Vec::new();
    }
    // Not a date, and not the version of something.
    let number = |cell: &str| {
        let digits = cell.strip_prefix(['-', '+']).unwrap_or(cell);
        let is_of_number = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
        let is_one =
            digits.starts_with(|c: char| c.is_ascii_digit()) && digits.chars().all(is_of_number);
        written_numbers::number(cell.strip_prefix('+').unwrap_or(cell)).filter(|_| is_one)
    };
    let is_number = |cell: &str| number(cell).is_some();
    let head = rows.first().filter(|row| !row.iter().any(is_number));
    let mut found = Vec::new();
    for row in rows.iter().skip(usize::from(head.is_some())) {
        let Some(name) = row.get(0).filter(|name| !name.is_empty() && !is_number(name)) else {
            continue;
        };
        let line = row.position().and_then(|at| u32::try_from(at.line()).ok()).unwrap_or(1);
        for (column, cell) in row.iter().enumerate().skip(1) {
            let Some((value, unit)) = number(cell) else { continue };
            let column = head.and_then(|head| head.get(column)).filter(|head| !head.is_empty());
            let name = match column {
                Some(column) => format!("{name}.{column}"),
                None => name.to_owned(),
            };
            if found.len() < MOST && wanted(&name) {
                let shown = cell.to_owned();
                found.push(NamedNumber { name, value, unit, shown, lines: [line, line] });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<String> {
        let found = find(text, |name| !name.ends_with(".index"));
        found.iter().map(|it| format!("{} {} {}", it.name, it.value, it.lines[0])).collect()
    }

    #[test]
    fn rows_and_columns_name_their_numbers() {
        let zones =
            "# zones\nname,index,alarm_c,label\nsoak,1, 215 ,\"Soak, long\"\ncooling,3,110,Out\n";
        assert_eq!(numbers(zones), ["soak.alarm_c 215 3", "cooling.alarm_c 110 4"]);
        assert_eq!(numbers("pump,30\nfan,7.5\n"), ["pump 30 1", "fan 7.5 2"]);
        for text in ["", "1,2,3\n4,5,6\n", "nvs, data, nvs, 0x9000, 0x6000\n", "a,b\nc,d\n"] {
            assert_eq!(numbers(text), [] as [String; 0], "{text}");
        }
    }
}
