//! Entries of stored settings in the CSV of ESP-IDF's partition generator.
//!
//! Source: ESP-IDF Programming Guide, "NVS Partition Generator Utility". Must not read a file
//! itself.

use crate::toolchain::nvs::{self, EntryChange, StoredValue};

/// The names of the columns, which the first line repeats.
const COLUMNS: [&str; 4] = ["key", "type", "encoding", "value"];

/// Reads entries; `file` gives the content of a file that is named in one. An error names the line.
pub(super) fn parse(
    text: &str,
    file: impl Fn(&str) -> Result<Vec<u8>, String>,
) -> Result<Vec<EntryChange>, String> {
    let mut wishes = Vec::new();
    let mut namespace: Option<String> = None;
    for (number, row) in rows(text)? {
        let at = |why: String| format!("line {number}: {why}");
        let [key, kind, encoding, text] = <[String; 4]>::try_from(row).map_err(|row| {
            at(format!("expected key, type, encoding and value, found {} fields", row.len()))
        })?;
        if [&key, &kind, &encoding, &text] == COLUMNS.each_ref() {
            continue;
        }
        nvs::name(&key).map_err(|why| at(format!("key: {why}")))?;
        let wrong = |why: String| at(format!("`{key}`: {why}"));
        let value: StoredValue = match kind.as_str() {
            "namespace" => {
                namespace = Some(key);
                continue;
            }
            "data" => nvs::value(&encoding, &text).map_err(wrong)?,
            "file" => {
                let content = file(&text).map_err(wrong)?;
                nvs::of_file(&encoding, content).map_err(wrong)?
            }
            other => {
                return Err(at(format!("`{other}` is not one of namespace, data and file")));
            }
        };
        let Some(namespace) = namespace.clone() else {
            return Err(at(format!("`{key}` comes before the first namespace")));
        };
        wishes.push(EntryChange { namespace, key, value: Some(value) });
    }
    Ok(wishes)
}

/// The lines that say something, from 1, in fields. A field in quotes may have commas, line ends
/// and doubled quotes in it.
fn rows(text: &str) -> Result<Vec<(usize, Vec<String>)>, String> {
    let mut rows = Vec::new();
    let (mut row, mut field): (Vec<String>, String) = (Vec::new(), String::new());
    let (mut line, mut start) = (1, 1);
    let mut is_quoted = false;
    let mut chars = text.strip_prefix('\u{feff}').unwrap_or(text).chars().peekable();
    while let Some(c) = chars.next() {
        line += usize::from(c == '\n');
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                field.push('"');
                chars.next();
            }
            '"' if is_quoted || field.is_empty() => is_quoted = !is_quoted,
            c if is_quoted => field.push(c),
            ',' => row.push(std::mem::take(&mut field)),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' => {
                row.push(std::mem::take(&mut field));
                rows.push((start, std::mem::take(&mut row)));
                start = line;
            }
            c => field.push(c),
        }
    }
    if is_quoted {
        return Err(format!("line {start}: a quote is not closed"));
    }
    if !field.is_empty() || !row.is_empty() {
        row.push(field);
        rows.push((start, row));
    }
    let says = |row: &[String]| {
        let first = row.first().map_or("", |field| field.trim());
        !first.starts_with('#') && row.iter().any(|field| !field.trim().is_empty())
    };
    rows.retain(|(_, row)| says(row));
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<EntryChange>, String> {
        parse(text, |name| match name {
            "cert.bin" => Ok(vec![1, 2, 3]),
            other => Err(format!("`{other}` is not there")),
        })
    }

    #[test]
    fn entries_belong_to_the_namespace_above_them() {
        let text = "key,type,encoding,value\r\n# what the device needs\n\nwifi,namespace,,\n\
                    ssid,data,string,\"a \"\"b\"\", c\"\nchannel,data,u8,11\n\
                    app,namespace,,\ncert,file,binary,cert.bin";
        let wish = |namespace: &str, key: &str, value| EntryChange {
            namespace: namespace.into(),
            key: key.into(),
            value: Some(value),
        };
        let expected = vec![
            wish("wifi", "ssid", nvs::value("string", "a \"b\", c").unwrap()),
            wish("wifi", "channel", nvs::value("u8", "11").unwrap()),
            wish("app", "cert", nvs::of_file("binary", vec![1, 2, 3]).unwrap()),
        ];
        assert_eq!(parsed(text), Ok(expected));
        assert_eq!(parsed("key,type,encoding,value\n"), Ok(Vec::new()));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, why) in [
            ("a,data,u8,1\n", "line 1: `a` comes before the first namespace"),
            ("n,namespace,,\na,data,u8,300\n", "line 2: `a`: 300 does not fit into u8"),
            ("n,namespace,,\na,data,u8\n", "line 2: expected key, type"),
            ("n,namespace,,\n\na,date,u8,1\n", "line 3: `date` is not one of"),
            ("n,namespace,,\na,file,binary,x\n", "line 2: `a`: `x` is not there"),
            ("a-name-that-is-too-long,namespace,,\n", "the limit is 15"),
            ("n,namespace,,\na,data,string,\"b\n", "line 2: a quote is not closed"),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.contains(why), "{text:?}: {error}");
        }
    }
}
