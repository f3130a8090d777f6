//! Tests of how the layers go together.

use std::fs;

use super::*;
use crate::config::policy::Ruling;

struct ConfigDirs {
    folder: tempfile::TempDir,
}

impl ConfigDirs {
    fn new(user: &str, project: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Self { folder };
        fs::create_dir_all(place.path("config")).unwrap();
        fs::create_dir_all(place.path("project/.firmhand")).unwrap();
        fs::write(place.path("config/config.toml"), user).unwrap();
        fs::write(place.path("project/.firmhand/config.toml"), project).unwrap();
        place
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.folder.path().join(inside)
    }

    fn load(&self, overrides: &Overrides) -> Result<Settings, UserError> {
        let dirs = Dirs { config: self.path("config"), data: self.path("data") };
        Settings::load(&dirs, Some(&self.path("project")), overrides)
    }
}

#[test]
fn later_layers_win_and_each_value_knows_its_origin() {
    let user = "[ui]\ntheme = 'light'\nkeymap = 'own'\n[limits]\nbuild_seconds = 5\n";
    let place = ConfigDirs::new(user, "[limits]\n\nbuild_seconds = 7\nmax_turns = 3");
    let env = EnvOverrides { keymap: Some("vim".into()), theme: None };
    let settings = place.load(&Overrides { env, ..Overrides::default() }).unwrap();
    let user_file = place.path("config/config.toml");
    assert_eq!(settings.theme.value, "light");
    assert_eq!(settings.theme.origin, Origin::User { file: user_file, line: 2 });
    assert_eq!(settings.keymap.value, "vim");
    assert_eq!(settings.keymap.origin.to_string(), "$FIRMHAND_KEYMAP");
    assert_eq!(settings.limits.build_seconds.value, 7);
    let project_file = place.path("project/.firmhand/config.toml");
    let origin = Origin::Project { file: project_file, line: 3 };
    assert_eq!(settings.limits.build_seconds.origin, origin);
    assert_eq!(settings.limits.max_turns.value, Some(3));
    assert_eq!(settings.limits.tool_seconds.origin, Origin::Default);
    let overrides = Overrides { theme: Some("mono".into()), ..Overrides::default() };
    assert_eq!(place.load(&overrides).unwrap().theme.origin, Origin::Flag("--theme"));
}

#[test]
fn no_files_mean_defaults() {
    let folder = tempfile::tempdir().unwrap();
    let dirs = Dirs { config: folder.path().join("none"), data: folder.path().into() };
    let settings = Settings::load(&dirs, None, &Overrides::default()).unwrap();
    assert_eq!(settings, Settings::default());
}

#[test]
fn unknown_keys_are_told_with_file_line_and_the_known_ones() {
    let error =
        ConfigDirs::new("[ui]\n\ntheem = 'x'\n", "").load(&Overrides::default()).unwrap_err();
    assert!(error.what.ends_with("config.toml, line 3"), "{error:?}");
    for word in ["theem", "theme", "keymap"] {
        assert!(error.why.contains(word), "{error:?}");
    }
    let error = ConfigDirs::new("", "[uii]\n").load(&Overrides::default()).unwrap_err();
    assert!(error.what.contains(".firmhand"), "{error:?}");
    assert!(error.why.contains("uii") && error.why.contains("limits"), "{error:?}");
}

#[test]
fn senseless_values_are_told_with_their_line() {
    for (text, line, word) in [
        ("[limits]\nbuild_seconds = 0", 2, "at least 1"),
        ("[limits]\nbuild_seconds = 'long'", 2, "string"),
        ("[ui\n", 1, ""),
        ("\n[[policy]]\ndecide = 'maybe'", 3, "allow"),
        ("[[policy]]\ndecide = 'ask'\npath = '../x'", 3, ".."),
        ("[[policy]]\ndecide = 'ask'\nkind = 'flash'\npath = 'main/*'", 4, "flash"),
        ("[[policy]]\ndecide = 'ask'\nkind = 'burn'", 3, "delete"),
        ("[[policy]]\npath = 'main/*'", 1, "decide"),
    ] {
        let error = ConfigDirs::new(text, "").load(&Overrides::default()).unwrap_err();
        assert!(error.what.ends_with(&format!("line {line}")), "{text}: {error:?}");
        assert!(error.why.contains(word), "{text}: {error:?}");
    }
}

#[test]
fn a_project_may_tighten_but_never_allow() {
    let user = "[[policy]]\ndecide = 'allow'\nkind = 'save'\n";
    let place = ConfigDirs::new(user, "[[policy]]\ndecide = 'deny'\npath = 'sdkconfig'\n");
    let policy = place.load(&Overrides::default()).unwrap().policy;
    let ruled = |path: &str| {
        let path = crate::model::ProjectPath::new(path).unwrap();
        policy.decide("save", &"generate_code".into(), &"A".into(), Some(&path)).0
    };
    assert_eq!(ruled("main/a.c"), Ruling::Allow);
    assert_eq!(ruled("sdkconfig"), Ruling::Deny);
    let place = ConfigDirs::new("", "\n[[policy]]\ndecide = 'allow'\n");
    let error = place.load(&Overrides::default()).unwrap_err();
    assert!(error.what.ends_with("line 2"), "{error:?}");
    assert!(error.why.contains("only ask or deny"), "{error:?}");
}

#[test]
fn a_project_may_not_widen_the_sandbox_of_builds() {
    let user = "[sandbox]\nbuilds = 'off'\nwritable = ['main/gen', '/opt/cache']\n";
    let place = ConfigDirs::new(user, "[sandbox]\nbuilds = 'on'\n");
    let settings = place.load(&Overrides::default()).unwrap();
    assert_eq!(settings.sandbox.builds.value, crate::config::BuildSwitch::On);
    let rows: Vec<String> = settings.rows().into_iter().map(|row| row.value).collect();
    assert!(rows.contains(&"main/gen, /opt/cache".to_owned()), "{rows:?}");
    for text in ["[sandbox]\n\nbuilds = 'off'", "[sandbox]\n\nwritable = ['/']"] {
        let error = ConfigDirs::new("", text).load(&Overrides::default()).unwrap_err();
        assert!(error.what.ends_with("line 3"), "{error:?}");
        assert!(error.why.contains("may not widen"), "{error:?}");
    }
}

#[test]
fn documents_go_to_a_service_only_when_the_person_says_so() {
    let place = ConfigDirs::new("[search]\nembeddings = 'near'\n", "");
    let settings = place.load(&Overrides::default()).unwrap();
    assert_eq!(settings.search.embeddings.value.as_deref(), Some("near"));
    assert_eq!(settings.search.reranker.value, None);
    let rows = settings.rows();
    let row = |key: &str| rows.iter().find(|row| row.key == key).map(|row| row.value.as_str());
    assert_eq!((row("search.embeddings"), row("search.reranker")), (Some("near"), Some("none")));
    for key in ["embeddings", "reranker"] {
        let text = format!("[search]\n\n{key} = 'near'");
        let error = ConfigDirs::new("", &text).load(&Overrides::default()).unwrap_err();
        assert!(error.what.ends_with("line 3"), "{error:?}");
        assert!(error.why.contains("may not send documents"), "{error:?}");
    }
}

#[test]
fn only_the_person_names_an_index_on_another_machine() {
    let text =
        "[search.remotes.team]\nkind = 'postgres'\nurl = 'postgres://me@there/d'\nindex = 't'\n";
    let settings = ConfigDirs::new(text, "").load(&Overrides::default()).unwrap();
    let rows = settings.rows();
    let row = rows.iter().find(|row| row.key == "search.remotes.team").unwrap();
    assert_eq!(row.value, "t at postgres://me@there/d (postgres)");
    // Neither a new one nor another address of one that is there.
    for user in ["", text] {
        let error = ConfigDirs::new(user, text).load(&Overrides::default()).unwrap_err();
        assert!(error.why.contains("may not send questions to another machine"), "{error:?}");
        assert!(error.what.ends_with("line 1"), "{error:?}");
    }
    let wrong = text.replace("index = 't'", "index = 't'\nkey_env = 'x'");
    let error = ConfigDirs::new(&wrong, "").load(&Overrides::default()).unwrap_err();
    assert!(error.why.contains("key_env"), "{error:?}");
}

#[test]
fn a_policy_file_holds_rules_only_and_must_exist() {
    let place = ConfigDirs::new("", "");
    let file = place.path("policy.toml");
    let overrides = Overrides { policy_file: Some(file.clone()), ..Overrides::default() };
    assert!(place.load(&overrides).unwrap_err().what.contains("policy.toml"));
    fs::write(&file, "[[policy]]\ndecide = 'allow'\n").unwrap();
    let settings = place.load(&overrides).unwrap();
    let row = settings.rows().pop().unwrap();
    assert_eq!((row.key.as_str(), row.value.as_str()), ("policy.1", "allow"));
    assert_eq!(row.origin, Origin::FlagFile { file: file.clone(), line: 1 });
    fs::write(&file, "[ui]\ntheme = 'dark'\n").unwrap();
    assert!(place.load(&overrides).unwrap_err().why.contains("ui"));
}

#[test]
fn a_project_whose_settings_never_end_is_refused_by_name() {
    for kind in ["pipe", "device", "3221225472 bytes"] {
        let place = ConfigDirs::new("", "");
        let file = place.path("project/.firmhand/config.toml");
        fs::remove_file(&file).unwrap();
        match kind {
            "pipe" => {
                let made = std::process::Command::new("mkfifo").arg(&file).status().unwrap();
                assert!(made.success());
            }
            "device" => std::os::unix::fs::symlink("/dev/zero", &file).unwrap(),
            _ => fs::File::create(&file).unwrap().set_len(3 << 30).unwrap(),
        }
        let error = place.load(&Overrides::default()).unwrap_err();
        assert!(error.what.contains(".firmhand/config.toml"), "{error}");
        assert!(error.why.contains(kind), "{kind}: {error}");
    }
}
