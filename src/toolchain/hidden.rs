//! What a person keeps that no build needs: keys, passwords, and what browsers and shells remember.
//!
//! Owns the list. Must not know which walls hide it.

use std::path::{Path, PathBuf};

/// Below the home folder.
const OF_PERSON: &[&str] = &[
    // keys and ways to other machines, and to the screen
    ".Xauthority",
    ".ICEauthority",
    ".ssh",
    ".gnupg",
    ".pki",
    ".putty",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/pass",
    ".config/op",
    ".1password",
    ".config/Bitwarden",
    ".config/keepassxc",
    ".vault-token",
    // names and passwords of services
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".npmrc",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".pgpass",
    ".my.cnf",
    // clouds and containers
    ".aws",
    ".azure",
    ".config/gcloud",
    ".oci",
    ".kube",
    ".docker",
    ".config/containers",
    ".terraform.d",
    ".config/doctl",
    ".config/hcloud",
    // browsers, mail and conversations
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".thunderbird",
    ".config/Signal",
    ".config/Slack",
    ".config/discord",
    ".local/share/TelegramDesktop",
    // what was typed
    ".bash_history",
    ".zsh_history",
    ".local/share/fish/fish_history",
    ".python_history",
    ".node_repl_history",
    ".lesshst",
    ".viminfo",
    // wallets, and other agents with their keys
    ".bitcoin",
    ".ethereum",
    ".electrum",
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".config/github-copilot",
    ".config/firmhand",
    ".local/share/firmhand",
];

/// Of the machine; only root could read them.
const OF_MACHINE: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/ssl/private",
    "/etc/wireguard",
    "/etc/NetworkManager/system-connections",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
];

/// All of it that may be there.
pub(super) fn of_person(home: Option<&Path>) -> Vec<PathBuf> {
    let own = home.into_iter().flat_map(|home| OF_PERSON.iter().map(|path| home.join(path)));
    own.chain(OF_MACHINE.iter().map(PathBuf::from)).collect()
}

/// Whether a folder is, holds or lies in something that is hidden, or is around the home folder.
pub(super) fn is_private(folder: &Path, home: Option<&Path>) -> bool {
    home.is_some_and(|home| home.starts_with(folder))
        || of_person(home)
            .iter()
            .any(|hidden| hidden.starts_with(folder) || folder.starts_with(hidden))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_private_for_what_it_is_in_and_for_what_is_in_it() {
        for (folder, private) in [
            ("/", true),
            ("/home", true),
            ("/home/me", true),
            ("/home/me/.ssh", true),
            ("/home/me/.ssh/keys", true),
            ("/home/me/.config", true),
            ("/home/me/.local/share", true),
            ("/home/me/.netrc", true),
            ("/etc", true),
            ("/home/me/esp", false),
            ("/home/me/.platformio", false),
            ("/home/me/.local/lib", false),
            ("/opt/esp", false),
            ("/home/other", false),
        ] {
            assert_eq!(
                is_private(Path::new(folder), Some(Path::new("/home/me"))),
                private,
                "{folder}"
            );
        }
    }
}
