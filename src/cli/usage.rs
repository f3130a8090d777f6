//! Reads the command line, and says what is wrong with it.
//!
//! Owns the way of clap's messages to the terminal: they repeat what was typed, which may hold
//! escape sequences, so what they repeat is made harmless first.

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::Error;

use super::args::Cli;
use super::report;
use crate::text::sanitize;

/// What was typed; or, once help or a message has been printed, the exit code.
pub fn read() -> Result<Cli, ExitCode> {
    let typed: Vec<OsString> = env::args_os().collect();
    Cli::try_parse_from(&typed).map_err(|error| {
        match harmless(&typed, &error) {
            // With clap's own colours. A reader that went away is no error.
            Ok(error) => drop(error.print()),
            Err(message) if error.use_stderr() => report::message(&message),
            Err(message) => report::line(&message),
        }
        // Help and version are no errors.
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
    })
}

/// The same message about harmless arguments; where clap has another one for them, its text.
fn harmless(typed: &[OsString], error: &Error) -> Result<Error, String> {
    let clean = typed.iter().map(|arg| sanitize::line(&arg.to_string_lossy()).into_owned());
    match Cli::try_parse_from(clean) {
        Err(same) if same.kind() == error.kind() => Ok(same),
        Err(_) | Ok(_) => Err(sanitize::block(&error.render().to_string()).trim_end().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVIL: &str = "PWN\u{1b}]0;title\u{7}\u{1b}[31m\u{9b}2J\u{202e}\r";

    /// What is printed about these arguments.
    fn output_of(args: &[&str]) -> String {
        let typed: Vec<OsString> = ["firmhand"].iter().chain(args).map(OsString::from).collect();
        let error = Cli::try_parse_from(&typed).unwrap_err();
        match harmless(&typed, &error) {
            Ok(error) => error.render().to_string(),
            Err(message) => message,
        }
    }

    #[test]
    fn whatever_is_typed_is_repeated_without_escapes() {
        let option = format!("--{EVIL}");
        let value = format!("--speed={EVIL}");
        let valued = format!("--plain={EVIL}");
        for args in [
            &[EVIL][..],
            &[&option],
            &["sessions", EVIL],
            &["sessions", &option],
            &["demo", &value],
            &[&valued],
            &["run", "x", "--max-cost", EVIL],
            &["run", "x", "--max-tokens", EVIL],
            &["run", "x", "--profile", "a", "--script", EVIL],
            &["completions", EVIL],
        ] {
            let output = output_of(args);
            assert!(output.chars().all(|c| c == '\n' || !c.is_control()), "{args:?}: {output:?}");
            assert!(!output.contains('\u{202e}'), "{output:?}");
        }
        assert!(output_of(&[EVIL]).contains("PWN␛]0;title␇"), "{}", output_of(&[EVIL]));
        assert!(output_of(&["demo", &value]).contains("possible values: real, max"));
    }

    #[test]
    fn a_message_about_bytes_that_are_no_text_is_harmless_too() {
        use std::os::unix::ffi::OsStringExt;
        let raw = OsString::from_vec(b"--max-cost=\xff\x1b[2J".to_vec());
        let typed = ["firmhand", "run", "x"].map(OsString::from).into_iter().chain([raw]);
        let typed: Vec<OsString> = typed.collect();
        let error = Cli::try_parse_from(&typed).unwrap_err();
        let output = match harmless(&typed, &error) {
            Ok(error) => error.render().to_string(),
            Err(message) => message,
        };
        assert!(output.chars().all(|c| c == '\n' || !c.is_control()), "{output:?}");
    }
}
