//! The schemas in `assets/schemas` are those that the program prints, and hold for what it ships.

use std::fs;

use firmhand::cli::SchemaOf;
use serde_json::Value;

const KINDS: [(SchemaOf, &str, &[&str]); 4] = [
    (SchemaOf::Config, "config", &[]),
    (SchemaOf::Team, "team", &["prompts/teams"]),
    (SchemaOf::Theme, "theme", &["themes"]),
    (SchemaOf::Keymap, "keymap", &["keymaps"]),
];

#[test]
fn shipped_schemas_are_the_printed_ones() {
    for (kind, name, _) in KINDS {
        let file = format!("assets/schemas/{name}.json");
        let printed = kind.text().unwrap();
        let shipped = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            shipped == printed,
            "{file} is old: run `firmhand config --schema {name} > {file}`"
        );
    }
}

/// The object of a schema behind its reference.
fn behind<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let inner = schema.get("allOf").and_then(|all| all.get(0)).unwrap_or(schema);
    match inner.get("$ref").and_then(Value::as_str) {
        Some(place) => behind(root.pointer(&place[1..]).unwrap(), root),
        None => inner,
    }
}

/// Keys that a table has and its schema does not.
fn unknown(value: &toml::Value, schema: &Value, root: &Value, at: &str, found: &mut Vec<String>) {
    let schema = behind(schema, root);
    match value {
        toml::Value::Table(table) => {
            // A table that may also be a text.
            let either = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
            let schema = either.chain([schema]).find(|it| it.get("properties").is_some());
            let Some(schema) = schema else { return };
            for (key, value) in table {
                match schema["properties"].get(key) {
                    Some(inner) => unknown(value, inner, root, &format!("{at}.{key}"), found),
                    None => found.push(format!("{at}.{key}")),
                }
            }
        }
        toml::Value::Array(items) => {
            for item in items {
                if let Some(inner) = schema.get("items") {
                    unknown(item, inner, root, at, found);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn every_shipped_file_names_its_schema_and_fits_it() {
    for (kind, name, folders) in KINDS {
        let root: Value = serde_json::from_str(&kind.text().unwrap()).unwrap();
        assert_eq!(root["$schema"], "http://json-schema.org/draft-07/schema#");
        for folder in folders {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let text = fs::read_to_string(&path).unwrap();
                let line = text.lines().next().unwrap_or_default();
                let named = line.strip_prefix("#:schema ").unwrap_or_else(|| panic!("{path:?}"));
                let named = path.parent().unwrap().join(named).canonicalize().unwrap();
                assert!(named.ends_with(format!("assets/schemas/{name}.json")), "{path:?}");
                let value: toml::Value = toml::from_str(&text).unwrap();
                let mut found = Vec::new();
                unknown(&value, &root, &root, "", &mut found);
                assert_eq!(found, Vec::<String>::new(), "{path:?}");
            }
        }
    }
}

#[test]
fn the_schema_of_the_configuration_says_what_keys_mean() {
    let root: Value = serde_json::from_str(&SchemaOf::Config.text().unwrap()).unwrap();
    let ui = behind(&root["properties"]["ui"], &root);
    assert_eq!(ui["properties"]["theme"]["description"], "Name of a file in `themes/`.");
    assert_eq!(ui["additionalProperties"], false);
    let rule = behind(&root["properties"]["policy"]["items"], &root);
    assert_eq!(rule["required"], serde_json::json!(["decide"]));
    let profile = behind(&root["properties"]["profiles"]["additionalProperties"], &root);
    assert!(profile["properties"]["price"].is_object(), "{profile}");
}
