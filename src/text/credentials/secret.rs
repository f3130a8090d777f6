//! A secret in a text, and the forms of keys that well-known services give out.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::values::{NameSays, is_stand_in};

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Range in bytes.
    pub range: Range<usize>,
    /// What it is, e.g. "a password in `WIFI_PASS`".
    pub what: String,
    /// Whether a name or a form that belongs to secrets alone says so; false where it only looks
    /// random.
    pub is_sure: bool,
}

impl Secret {
    /// What a name says to be one.
    pub(super) fn named(range: Range<usize>, says: NameSays, name: &str) -> Self {
        Self { range, what: finding_text(says, name), is_sure: true }
    }

    /// What looks so random that it may be one.
    pub(super) fn random(range: Range<usize>) -> Self {
        Self { range, what: "a long random text that may be a key".to_owned(), is_sure: false }
    }
}

/// The forms of keys that well-known services give out. Sources: the documentation of each service
/// on the form of its keys, and of PEM in RFC 7468.
const FORMS: [(&str, &str); 19] = [
    ("a private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    // PKCS #1, PKCS #8 and SEC 1 as base64, without the lines around them.
    (
        "a private key",
        r"\bMI[IG][A-Za-z0-9+/]{1,4}(?:IBAAKC[A-Z]|gIBADAN|AgEAMBMG)[A-Za-z0-9+/]{20}",
    ),
    ("a private key", r"\bMHcCAQEE[A-Za-z0-9+/]{20}"),
    ("an AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})"),
    ("a GitLab token", r"\bgl(?:pat|dt|rt|cbt|ptt)-[A-Za-z0-9_-]{20,}"),
    ("an API key", r"\bsk-(?:ant-|proj-|or-|svcacct-)?[A-Za-z0-9_-]{20,}"),
    ("a Google API key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("a Google OAuth secret", r"\bGOCSPX-[A-Za-z0-9_-]{20,}"),
    ("a Slack token", r"\bxox[abeoprs]-[0-9A-Za-z-]{10,}"),
    ("a Slack webhook", r"hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{16,}"),
    ("a Discord webhook", r"discord(?:app)?\.com/api/webhooks/\d{10,}/[A-Za-z0-9_-]{30,}"),
    ("a Telegram bot token", r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,}"),
    ("a Stripe key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("a SendGrid key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("an npm or PyPI token", r"\b(?:npm_[A-Za-z0-9]{36}|pypi-AgE[A-Za-z0-9_-]{30,})"),
    ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("a signed token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("an account key of Azure", r"(?i)(?:Account|SharedAccess)Key=[A-Za-z0-9+/]{32,}={0,2}"),
];

static ANY_FORM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let all: Vec<String> = FORMS.iter().map(|(_, form)| format!("({form})")).collect();
    Regex::new(&all.join("|")).ok()
});

/// A password within an address, or after the name of a scheme in a header.
static CARRIED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)\b[a-z][a-z0-9+.-]{1,12}://[^/\s:@"'<>{}]*:(?P<password>[^/\s@"'<>{}$%]{3,})@[a-z0-9\[]|\bbearer\s+(?P<token>[a-z0-9._~+/-]{20,}=*)|\bbasic\s+(?P<basic>[a-z0-9+/]{12,}=*)|\bcurl\b[^\n|;]*?\s(?:-u|--user)[ =]?["']?[^\s:"'$]+:(?P<user>[^\s"'$]{4,})"#,
    )
    .ok()
});

/// What has the form of a key, wherever it stands.
pub(super) fn known(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    // Hardly any text has one.
    let has = |pattern: &&Regex| pattern.is_match(text);
    for captures in ANY_FORM.iter().filter(has).flat_map(|forms| forms.captures_iter(text)) {
        // Group 0 is the whole; the others are one for each form.
        let form = captures.iter().skip(1).position(|group| group.is_some());
        let is_marker =
            form == Some(0) && !captures.get(0).is_some_and(|marker| has_body(text, marker.end()));
        // The key that the documentation of AWS shows.
        let is_example = captures.get(0).is_some_and(|key| key.as_str().ends_with("7EXAMPLE"));
        let what = form.and_then(|form| FORMS.get(form)).filter(|_| !is_marker && !is_example);
        let what = what.map(|(what, _)| (*what).to_owned());
        if let (Some(what), Some(whole)) = (what, captures.get(0)) {
            found.push(Secret { range: whole.range(), what, is_sure: true });
        }
    }
    for captures in CARRIED.iter().filter(has).flat_map(|carried| carried.captures_iter(text)) {
        let named = |name: &str| captures.name(name);
        let kinds = [
            ("password", "a password in an address"),
            ("user", "a password in a command"),
            ("token", "a token in a header"),
            ("basic", "a password in a header"),
        ];
        let carried = kinds.iter().find_map(|(name, what)| Some((named(name)?, *what)));
        let Some((value, what)) = carried else { continue };
        let mixes = value.as_str().bytes().any(|byte| byte.is_ascii_digit());
        let is_prose = what.ends_with("header") && !mixes;
        if !is_prose && !is_stand_in(value.as_str()) {
            found.push(Secret { range: value.range(), what: what.to_owned(), is_sure: true });
        }
    }
    found
}

/// Whether the marker of a key in PEM that ends at `at` has the key behind it.
fn has_body(text: &str, at: usize) -> bool {
    static BODY: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r#"^(?:\\[nrt]|[\s"'`+,>|#/*-]|\\\s|\b[bruR]{1,2}["'])*(?:[A-Za-z0-9+/]{10,}|MI[A-Z]|(?:Proc-Type|DEK-Info|Comment|Version):)"#,
        )
        .ok()
    });
    let rest = text.get(at..text.floor_char_boundary(at + 300)).unwrap_or_default();
    BODY.as_ref().is_none_or(|body| body.is_match(rest))
}

/// What has the form of a key within a text that is put together from pieces.
pub(super) fn known_in(joined: &str) -> Option<String> {
    known(joined).into_iter().next().map(|secret| secret.what)
}

/// How a secret with that name is told of.
pub(super) fn finding_text(says: NameSays, name: &str) -> String {
    let kind = match says {
        NameSays::Password => "a password",
        NameSays::Token => "a token",
        NameSays::Key | NameSays::Public | NameSays::Nothing => "a secret key",
    };
    let is_short = !name.is_empty() && name.chars().count() <= 40;
    if is_short { format!("{kind} in `{name}`") } else { kind.to_owned() }
}

/// The lines of a range, with some before it.
pub(super) fn lines_around<'a>(text: &'a str, range: &Range<usize>, count: usize) -> &'a str {
    let before = text.get(..range.start).unwrap_or_default();
    let start = before.rmatch_indices('\n').nth(count).map_or(0, |(at, _)| at);
    let after = text.get(range.end..).unwrap_or_default();
    let end = range.end + after.find('\n').unwrap_or(after.len());
    text.get(start..end).unwrap_or_default()
}
