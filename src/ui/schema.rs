//! The schemas of themes and keymaps, from the tables that read them.

use serde_json::{Map, Value, json};

use super::action::{Action, KeyContext};
use super::role::Role;

const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

/// The schema of files in `themes/`.
#[must_use]
pub fn theme() -> Value {
    let role = |role: &Role| {
        let look = json!({ "$ref": "#/definitions/Look" });
        (role.name().to_owned(), json!({ "allOf": [look], "description": role.help() }))
    };
    let colour = json!({ "type": "string", "description": "`#rrggbb`, or the name of a colour." });
    let flag = json!({ "type": "boolean" });
    json!({
        "$schema": DRAFT,
        "title": "Theme of firmhand",
        "type": "object",
        "properties": {
            "inherits": { "type": "string", "description": "The theme that this one changes." },
            "palette": {
                "type": "object",
                "description": "Colours by name.",
                "additionalProperties": colour,
            },
            "roles": {
                "type": "object",
                "description": "What each meaning looks like.",
                "properties": Role::ALL.iter().map(role).collect::<Map<_, _>>(),
                "additionalProperties": false,
            },
        },
        "additionalProperties": false,
        "definitions": {
            "Look": {
                "anyOf": [
                    colour,
                    {
                        "type": "object",
                        "properties": {
                            "fg": colour, "bg": colour, "bold": flag, "italic": flag,
                            "underline": flag, "reverse": flag, "strike": flag,
                        },
                        "additionalProperties": false,
                    },
                ],
            },
        },
    })
}

/// The schema of files in `keymaps/`.
#[must_use]
pub fn keymap() -> Value {
    let keys = |action: &Action| {
        let keys =
            json!({ "allOf": [{ "$ref": "#/definitions/Keys" }], "description": action.help() });
        (action.name().to_owned(), keys)
    };
    let context = |context: KeyContext| {
        let allowed = Action::ALL.iter().filter(|action| action.is_allowed_in(context));
        let actions: Map<String, Value> = allowed.map(keys).collect();
        let table = json!({
            "type": "object", "properties": actions, "additionalProperties": false,
        });
        (context.name().to_owned(), table)
    };
    let mut properties: Map<String, Value> = KeyContext::ALL.into_iter().map(context).collect();
    let inherits = json!({ "type": "string", "description": "The keymap that this one changes." });
    properties.insert("inherits".to_owned(), inherits);
    json!({
        "$schema": DRAFT,
        "title": "Keymap of firmhand",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "definitions": {
            "Keys": {
                "description": "One key, keys in a row (`g g`), or a list of them.",
                "anyOf": [
                    { "type": "string" },
                    { "type": "array", "items": { "type": "string" } },
                ],
            },
        },
    })
}
