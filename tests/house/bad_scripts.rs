//! Every script in `tests/bad/scripts` is refused at the line, and with the words, that its first
//! line names.

use std::fs;
use std::path::Path;

use firmhand::model::UserError;
use firmhand::provider::parse_script;

#[test]
fn each_bad_script_is_refused_where_it_is_wrong() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad/scripts");
    let mut wrong = Vec::new();
    let mut tried = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        tried += 1;
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let wanted = text.lines().next().unwrap().strip_prefix("# ").unwrap();
        let (line, words) = wanted.split_once(": ").unwrap();
        let beside = |file: &str| {
            fs::read_to_string(folder.join(file))
                .map_err(|error| UserError::from_cause(format!("Cannot read {file}"), &error))
        };
        match parse_script(&name, &text, &beside) {
            Ok(_) => wrong.push(format!("{name}: it was accepted")),
            Err(error) => {
                let says_where = error.what == format!("Cannot use {name}, {line}");
                if !says_where || !error.why.contains(words) || error.fix.is_empty() {
                    wrong.push(format!("{name}: wanted {line}: {words}\n    got {error:?}"));
                }
            }
        }
    }
    assert!(tried >= 25, "only {tried} scripts were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
