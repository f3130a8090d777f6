//! Secrets in configurations, comments and prose.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::{Captures, Regex};

use super::labels::is_label;
use super::secret::Secret;
use super::values::{NameSays, finder, is_of, is_stand_in, name_says};
use super::values::{Randomness, is_secret_word, looks};
use super::word_lists::WORDS;
use crate::text::c_tokens::Token;

/// A name that may speak of a secret, what separates it from its value, and the value: in quotes,
/// also escaped ones, or bare.
static SETTING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)(?P<name>[a-z0-9_.-]*(?:pass|pswd|pwd|psk|secret|token|key|cred|pw)[a-z0-9_.-]*)["'\\]{0,2}\s*(?:(?P<sep>:=|=>|\?=|=|:)\s*|\s+|,\s*|\(\s*)(?:(?:[a-z]{1,2})?(?:'"|"'|"?\\+"|["'])(?P<quoted>[^"'\r\n\\]*)(?:\\?["'])|(?P<bare>[^\s"',;(){}\[\]\\<>]{4,}))"#,
    )
    .ok()
});

/// Words in which a comment gives a secret away.
static SPOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)\b(?P<name>passw(?:or)?d|passwort|passphrase|mot de passe|contraseña|clave|senha|wachtwoord|lösenord|hasło|parola|пароль|密码|密碼|パスワード|pass|pwd|psk|pw|secret|token|api[_ -]?key|wifi[_ -]?key)\b(?:\s+(?:of|for|on|in|at)\s+(?:[\w-]+\s+){0,2}[\w-]+(?:\s+is\b|\s*[:=]))?\s*(?:is\s+|was\s+|are\s+|=\s*|:\s*|->\s*|\s)(?:["'`](?P<quoted>[^"'`\r\n]{4,64})["'`]|(?P<bare>[^\s"'`,;]{6,64}))"#,
    )
    .ok()
});

/// Words in which a comment gives a name and a secret as a pair: by what they are for, `admin / …`;
/// one after the other, `ssid=… psk=…`; or both in quotes.
static PAIRS: LazyLock<[Option<Regex>; 3]> = LazyLock::new(|| {
    [
        r#"(?i)\b(?:log-?in|credentials?|creds|account|zugangsdaten|zugang|wi-?fi|wlan|ssid|network|hotspot)\b(?:\s*[:=]|\s+is)?(?:\s+\w+){0,2}?\s+["'`]?[\w.@-]{2,32}["'`]?(?:\s/\s|/|:)["'`]?(?P<value>[^\s"'`,;/]{6,64})"#,
        r#"(?i)\b(?:user(?:name)?|log-?in|ssid|wi-?fi|wlan)\b\s*[:=]\s*["'`]?[^\s"'`,;]{2,32}["'`]?\s*(?:[,;/|]|and|und|\s)\s*(?P<name>pass(?:word|wort|phrase)?|pwd?|psk|key)\b\s*[:=]\s*["'`]?(?P<value>[^\s"'`,;]{4,64})"#,
        r#"(?i)\b(?:connect\w*|join\w*|log-?in|sign in|log in)\s(?:to|with|using|as)\s["'`][^"'`]{1,32}["'`]\s*(?:,|/|and|with|using)\s*["'`](?P<value>[^"'`\s]{6,64})["'`]"#,
    ]
    .map(|pattern| Regex::new(pattern).ok())
});

/// Parts of which each such setting has one.
static SETTING_PARTS: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| finder(&WORDS.parts.settings));

/// Parts of which each line without other letters than those of ASCII has one that gives a secret
/// away in words.
static SPOKEN_PARTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| finder(&WORDS.parts.spoken));

/// Whether a line may have one of these parts: a quick look before a pattern is tried. Other letters
/// than those of ASCII may stand for some of theirs.
fn may_have(parts: &Option<AhoCorasick>, line: &str) -> bool {
    !line.is_ascii() || parts.as_ref().is_none_or(|parts| parts.is_match(line))
}

/// Words beside which something random is no secret.
static EXPLAINED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)sha\d|sha-|\bfips|\bnist\b|\brfc ?\d|hash|digest|crc|md5|uuid|guid|finger|pub|cert|test|vector|expect|commit|git_tag|(?m:^[ \t]*(?:-[ \t]*)?ref[ \t]*[:=][ \t]*['\x22]?[0-9a-f]{40}['\x22]?[ \t]*$)|integrity|checksum|version|\brev|_rev|boundary|\betag|build.?id|built from|uses:|example|sbox|alphabet|https?:|font|bitmap|glyph|image|icon|firmware|charset|base64.*table",
    )
    .ok()
});

/// Whether the words around something random explain it.
pub(super) fn is_explained(line: &str) -> bool {
    EXPLAINED.as_ref().is_none_or(|pattern| pattern.is_match(line))
}

/// Words beside which the bytes of a key are no secret.
static EXPLAINED_KEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)sha\d|sha-|\bfips|\bnist\b|\brfc ?\d|hash|digest|\bcrc|\bmd5|uuid|guid|finger|\bpub(?:lic)?[ _-]?(?:key|part|half|cert|point|exp|mod|rsa|ec|ed\d|x\d|of\b)|\btest|vector|expect|checksum|example|sbox|alphabet|font|bitmap|glyph",
    )
    .ok()
});

/// Whether the words around the bytes of a key explain them.
pub(super) fn is_explained_key(lines: &str) -> bool {
    // The name of a server explains nothing: `https://fleet.example/v1`.
    let is_address = |word: &&str| word.contains("://");
    // Nor do the names of what a source imports: `use sha2::Sha256;`.
    let is_import = |line: &&str| {
        let start = line.trim_start();
        ["use ", "#include", "import ", "from ", "pub use "].iter().any(|it| start.starts_with(it))
    };
    let lines = lines.lines().filter(|line| !is_import(line));
    let words = lines.flat_map(str::split_whitespace);
    let words: Vec<&str> = words.filter(|word| !is_address(word)).collect();
    EXPLAINED_KEY.as_ref().is_none_or(|pattern| pattern.is_match(&words.join(" ")))
}

/// Each line with the byte it starts at.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim_end_matches(['\n', '\r']))
    })
}

/// Secrets in files of names and values, in their comments too.
pub(super) fn settings(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    for (start, line) in lines(text) {
        let before = found.len();
        found.extend(nvs_row(start, line));
        if let Some(pattern) = SETTING.as_ref().filter(|_| may_have(&SETTING_PARTS, line)) {
            found.extend(pattern.captures_iter(line).filter_map(|c| setting(start, line, &c)));
        }
        if found.len() == before {
            found.extend(option(start, line));
        }
        if found.len() == before {
            let random = random(start, line).or_else(|| random_text(start, line));
            found.extend(random.filter(|_| !is_explained(line)));
        }
        let is_comment = line.trim_start().starts_with(['#', ';', '/']) || line.contains(" # ");
        if found.len() == before && is_comment {
            found.extend(spoken(start, line));
        }
    }
    found
}

fn setting(start: usize, line: &str, captures: &Captures<'_>) -> Option<Secret> {
    let name = captures.name("name")?.as_str();
    let says = name_says(name);
    if matches!(says, NameSays::Public | NameSays::Nothing) {
        return None;
    }
    let value = match (captures.name("quoted"), captures.name("bare")) {
        (Some(quoted), _) => quoted,
        (None, bare) => {
            let bare = bare?;
            // Only a sign between them makes a bare word the value.
            captures.name("sep")?;
            let word = bare.as_str();
            let before = line.get(..captures.get(0)?.start()).unwrap_or_default();
            let is_comment = before.trim_start().starts_with(['#', ';']) || before.contains("//");
            if is_comment && !is_secret_word(word) || is_reference(word) {
                return None;
            }
            bare
        }
    };
    let is_secret = !is_stand_in(value.as_str()) && !is_label(name, value.as_str());
    let range = start + value.start()..start + value.end();
    is_secret.then(|| Secret::named(range, says, name))
}

/// A value that is fetched from elsewhere, or no text.
fn is_reference(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let is_plain = matches!(lower.as_str(), "true" | "false" | "null" | "none" | "write" | "read");
    is_plain
        || word.starts_with(['$', '%', '!', '&', '*', '@', '/', '|', '>'])
        || lower.starts_with("secrets.")
        || lower.starts_with("env.")
        || lower.starts_with("config_")
        || (word.len() < 6 && word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A row of a table for NVS: `wifi_pass,data,string,…`.
fn nvs_row(start: usize, line: &str) -> Option<Secret> {
    let mut cells = line.splitn(4, ',');
    let (name, kind) = (cells.next()?.trim(), cells.next()?.trim());
    let (_, value) = (cells.next()?, cells.next()?.trim());
    if kind != "data" {
        return None;
    }
    let says = name_says(name);
    let is_secret = !matches!(says, NameSays::Public | NameSays::Nothing)
        && !is_stand_in(value.trim_matches('"'));
    let at = line.len() - line.rsplit(',').next()?.len();
    is_secret.then(|| Secret::named(start + at..start + line.len(), says, name))
}

/// A text in quotes that looks random, with marks that break words.
fn random_text(start: usize, line: &str) -> Option<Secret> {
    static QUOTED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"'([!-&(-~]{20,512})'|"([!#-~]{20,512})""#).ok());
    if !line.contains(['"', '\'']) {
        return None;
    }
    let mut all = QUOTED.as_ref()?.captures_iter(line).filter_map(|c| c.get(1).or(c.get(2)));
    let found = all.find(|value| looks(value.as_str()) == Randomness::Random)?;
    Some(Secret::random(start + found.start()..start + found.end()))
}

/// A value that looks random and that nothing explains.
fn random(start: usize, line: &str) -> Option<Secret> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_');
    let mut at = 0;
    for word in line.split(|c: char| !is_part(c)) {
        let begin = at;
        at += word.len() + line.get(at + word.len()..)?.chars().next().map_or(0, char::len_utf8);
        // `NAME=value` is one word here.
        let value = word.trim_end_matches('=').rsplit('=').next().unwrap_or(word);
        if value.len() >= 32 && looks(value) == Randomness::Random {
            let from = start + begin + (word.trim_end_matches('=').len() - value.len());
            return Some(Secret::random(from..from + value.len()));
        }
    }
    None
}

/// A secret that is named in words.
fn spoken(start: usize, line: &str) -> Option<Secret> {
    if !may_have(&SPOKEN_PARTS, line) {
        return None;
    }
    named(start, line).or_else(|| paired(start, line))
}

/// A name and its secret, such as `admin / …`.
fn paired(start: usize, line: &str) -> Option<Secret> {
    PAIRS.iter().flatten().find_map(|pattern| {
        let captures = pattern.captures(line)?;
        let value = captures.name("value")?;
        let word = value.as_str();
        // Beside a word such as `psk=` it need not look like a secret.
        let is_secret = match captures.name("name") {
            Some(_) => !is_stand_in(word) && !is_reference(word) && !word.contains(['(', '<']),
            None => is_secret_word(word),
        };
        let range = start + value.start()..start + value.end();
        is_secret.then(|| Secret::named(range, NameSays::Password, ""))
    })
}

/// A secret after the word for it.
fn named(start: usize, line: &str) -> Option<Secret> {
    let captures = SPOKEN.as_ref()?.captures(line)?;
    let value = match (captures.name("quoted"), captures.name("bare")) {
        (Some(quoted), _) => (!is_stand_in(quoted.as_str())).then_some(quoted)?,
        (None, bare) => bare.filter(|bare| is_secret_word(bare.as_str()))?,
    };
    let says = name_says(captures.name("name")?.as_str()).or_password();
    let range = start + value.start()..start + value.end();
    Some(Secret::named(range, says, ""))
}

/// Secrets in what is written for people.
pub(super) fn prose(text: &str) -> Vec<Secret> {
    lines(text).filter_map(|(start, line)| spoken(start, line)).collect()
}

/// The passwords of a `.netrc`.
pub(super) fn netrc(text: &str) -> Vec<Secret> {
    static ENTRY: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"\bpassword\s+"?([^\s"]+)"#).ok());
    let all = ENTRY.iter().flat_map(|entry| entry.captures_iter(text));
    let values = all.filter_map(|captures| captures.get(1));
    let secrets =
        values.filter(|value| !is_stand_in(value.as_str()) && !is_reference(value.as_str()));
    secrets.map(|value| Secret::named(value.range(), NameSays::Password, "")).collect()
}

/// The password of an option of a command: `--auth=…`, `--auth "…"`.
fn option(start: usize, line: &str) -> Option<Secret> {
    static OPTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?:^|[\s="'])--(?:auth|password|passphrase|token)(?P<sep>=|\s+)["']?(?P<value>[^\s"',;]{4,64})"#)
            .ok()
    });
    /// Kinds of logging in, which are not secrets.
    const KINDS: &str = "none basic digest bearer oauth oauth2 token plain login ntlm negotiate any \
        mutual cert kerberos true false file stdin prompt auto always never required optional";
    if !line.contains("--") {
        return None;
    }
    let captures = OPTION.as_ref()?.captures(line)?;
    let value = captures.name("value")?;
    let word = value.as_str();
    // Behind a blank a plain word may be something else.
    let is_plain = word.bytes().all(|byte| byte.is_ascii_lowercase() || b"-_/.".contains(&byte));
    let is_kind = is_of(KINDS, &word.to_ascii_lowercase());
    let may_be = captures.name("sep").is_some_and(|sep| sep.as_str() == "=") || !is_plain;
    let is_secret = may_be
        && !is_kind
        && !word.starts_with(['-', '<', '{', '$', '%', '[', '(', '"', '\''])
        && !is_stand_in(word)
        && !is_reference(word);
    let range = start + value.start()..start + value.end();
    is_secret.then(|| Secret::named(range, NameSays::Password, ""))
}

/// Secrets in the comments of a source.
pub(super) fn comments(text: &str, tokens: &[Token<'_>]) -> Vec<Secret> {
    const HINTS: &str = concat!(
        r"(?i)pass|pwd|psk|\bpw\b|secret|token|key|contraseña|clave|senha|wachtwoord|lösenord|hasło",
        r"|parola|пароль|密码|密碼|パスワード|log-?\s?in\b|cred|account|zugang|wi-?fi|wlan|ssid",
        r"|network|hotspot|connect|join"
    );
    static HINT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(HINTS).ok());
    let Some(hint) = HINT.as_ref() else { return Vec::new() };
    if !hint.is_match(text) {
        return Vec::new();
    }
    // What no token covers is a comment or a blank.
    let mut gaps = Vec::new();
    let mut end = 0;
    for token in tokens {
        gaps.push(end..token.start);
        end = token.range().end;
    }
    gaps.push(end..text.len());
    let mut found = Vec::new();
    for gap in gaps.into_iter().filter(|gap| gap.end > gap.start + 8) {
        let Some(comment) = text.get(gap.clone()) else { continue };
        if !hint.is_match(comment) {
            continue;
        }
        for (start, line) in lines(comment) {
            let start = gap.start + start;
            let as_code = SETTING.as_ref().and_then(|pattern| {
                let captures = pattern.captures(line)?;
                captures.name("quoted")?;
                setting(start, line, &captures)
            });
            found.extend(as_code.or_else(|| spoken(start, line)));
        }
    }
    found
}

/// Secrets in the defaults of options.
pub(super) fn kconfig(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    let mut name = "";
    for (start, line) in lines(text) {
        let words = line.trim_start();
        let keyword = words.split_whitespace().next().unwrap_or_default();
        match keyword {
            "config" | "menuconfig" => {
                name = words.split_whitespace().nth(1).unwrap_or_default();
                continue;
            }
            "default" | "def_string" => {}
            _ => {
                if words.starts_with('#') {
                    found.extend(spoken(start, line));
                }
                continue;
            }
        }
        let Some(value) = quoted(line) else { continue };
        let text = line.get(value.clone()).unwrap_or_default();
        let says = name_says(name);
        let range = start + value.start..start + value.end;
        match says {
            NameSays::Password | NameSays::Token | NameSays::Key
                if !is_stand_in(text) && !is_label(name, text) =>
            {
                found.push(Secret::named(range, says, name));
            }
            NameSays::Nothing if looks(text) == Randomness::Random && !is_explained(name) => {
                found.push(Secret::random(range));
            }
            _ => {}
        }
    }
    found
}

/// Bytes between the first two quotes of a line.
fn quoted(line: &str) -> Option<std::ops::Range<usize>> {
    let open = line.find(['"', '\''])? + 1;
    let quote = line.get(open - 1..open)?;
    let length = line.get(open..)?.find(quote)?;
    Some(open..open + length)
}
