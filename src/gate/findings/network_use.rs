//! How much it matters that a script talks to the network: to a board, or to a place out there.
//!
//! Owns which hosts are near. Must not know rules.

use std::sync::LazyLock;

use regex::Regex;

use super::commands::host;
use crate::model::FindingLevel;

/// An address in quotes, a number of a host in quotes, or a host that is given a name.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"["'](?:(?:https?|wss?|ftp|mqtts?|ssh)://(?P<address>[^/\s"':]+)|(?P<number>\d{1,3}(?:\.\d{1,3}){3})["':/])|(?i:host|server|addr)\w*["']?\s*[=:]\s*f?["'](?P<host>[\w-]+(?:\.[\w-]+)+)["']"#,
    )
    .ok()
});

/// A host in quotes on the line of a call.
static QUOTED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"["']([\w-]+(?:\.[\w-]+)*\.[a-zA-Z]{2,})["']"#).ok());

/// How heavy a use of the network is, and its sentence; `line`: the call to the end of its line.
pub(super) fn of(code: &str, line: &str) -> (FindingLevel, String) {
    let on_line = || {
        let quoted = QUOTED.as_ref()?.captures(line)?;
        quoted.get(1).map(|host| host.as_str().to_ascii_lowercase())
    };
    let named = || {
        let all = NAMED.iter().flat_map(|pattern| pattern.captures_iter(code));
        let hosts = all.filter_map(|found| found.iter().skip(1).flatten().next());
        let hosts: Vec<String> = hosts.map(|host| host.as_str().to_ascii_lowercase()).collect();
        let known = hosts.iter().filter(|host| !host.starts_with('{'));
        let far = known.clone().find(|host| !is_near(host));
        // An address that is put together names no host.
        far.or_else(|| known.clone().next()).cloned().or(hosts.first().map(|_| String::new()))
    };
    let when = "when the script runs";
    match host(line).or_else(on_line).or_else(named) {
        Some(host) if host.is_empty() || is_near(&host) => {
            let to = if host.is_empty() { "the network".to_owned() } else { host };
            (FindingLevel::Note, format!("talks to {to} {when}"))
        }
        Some(host) => (FindingLevel::Stop, format!("talks to the network {when} ({host})")),
        // Where it goes cannot be seen.
        None => (FindingLevel::Stop, format!("talks to the network {when} (another place)")),
    }
}

/// Whether a host is this machine, or one of the own network, as boards are.
pub(super) fn is_near(host: &str) -> bool {
    let second = host.strip_prefix("172.").and_then(|rest| rest.split('.').next()?.parse().ok());
    let is_private = ["127.", "10.", "192.168.", "169.254.", "0.0.0.0"]
        .iter()
        .any(|start| host.starts_with(start))
        || second.is_some_and(|second: u8| (16..32).contains(&second));
    let is_number = host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    host == "localhost"
        || is_number && is_private
        || [".local", ".lan", ".home", ".internal"].iter().any(|end| host.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_is_near_and_another_place_is_not() {
        use FindingLevel::{Note, Stop};
        for (code, line, level) in [
            ("", "requests.get(\"http://192.168.4.1/x\")", Note),
            ("", "requests.get(f\"http://{argv[1]}/x\")", Note),
            ("BASE = \"http://pump.local\"\n", "urlopen(BASE)", Note),
            ("", "requests.post(\"https://example.com/x\", data=d)", Stop),
            ("URL = \"https://example.com/x\"\n", "requests.post(URL)", Stop),
            ("", "http.client.HTTPSConnection(\"example.com\")", Stop),
            ("HOST = \"203.0.113.5\"\n", "socket.create_connection((HOST, 9000))", Stop),
            ("A = f\"http://{h}/\"\nh = \"203.0.113.5\"\n", "requests.get(A)", Stop),
            ("", "requests.get(url)", Stop),
        ] {
            let code = format!("{code}{line}\n");
            assert_eq!(of(&code, line).0, level, "{code}");
        }
        assert!(!is_near("10.example.com") && is_near("172.20.1.9") && !is_near("172.32.1.9"));
    }
}
