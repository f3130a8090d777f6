//! Commands of CMake that run programs, fetch, or reach outside of the project.
//!
//! Lists are read with [`text::cmake`](crate::text::cmake); one that does not parse is searched for
//! the names of commands.

use std::collections::HashMap;
use std::ops::Range;

use super::commands::{self, shown};
use super::host_cmake_files;
use super::host_code_place::{HostCode, HostDeed};
use super::host_includes::is_outside;
use crate::model::FindingLevel;
use crate::text::cmake::{self, Argument, CMakeCommand};

/// Commands that fetch, with when they do.
const FETCHES: [&str; 9] = [
    "externalproject_add",
    "externalproject_add_step",
    "externaldata_add_target",
    "fetchcontent_declare",
    "fetchcontent_populate",
    "cpmaddpackage",
    "cpmfindpackage",
    "cpmdeclarepackage",
    "hunter_add_package",
];

/// Variables and properties that name a program.
const PROGRAM_NAMES: [&str; 14] = [
    "COMPILER_LAUNCHER",
    "LINKER_LAUNCHER",
    "RULE_LAUNCH_COMPILE",
    "RULE_LAUNCH_LINK",
    "RULE_LAUNCH_CUSTOM",
    "_CLANG_TIDY",
    "_CPPCHECK",
    "_CPPLINT",
    "_INCLUDE_WHAT_YOU_USE",
    "CMAKE_PROJECT_INCLUDE",
    "CMAKE_MAKE_PROGRAM",
    "CMAKE_C_COMPILER",
    "CMAKE_CXX_COMPILER",
    "CMAKE_ASM_COMPILER",
];

/// What a list runs and fetches.
pub(super) fn find(path: &str, text: &str) -> Vec<HostCode> {
    let list = List { path, text };
    match cmake::commands(text) {
        Ok(commands) => {
            let variables = variables(&commands);
            let built = built(&commands);
            let all = commands.iter().flat_map(|command| {
                let mut found = list.command(command, &variables);
                if command.name == "add_test" && runs_one_of(&built, command) {
                    let warnings = found.iter_mut().filter(|it| it.level == FindingLevel::Warning);
                    warnings.for_each(|found| found.level = FindingLevel::Note);
                }
                found
            });
            all.collect()
        }
        Err(_) => list.unparsed(),
    }
}

/// Variables that a list sets to one value.
fn variables(commands: &[CMakeCommand]) -> HashMap<String, String> {
    let mut known = HashMap::new();
    for command in commands.iter().filter(|command| command.name == "find_program") {
        if let [name, program] = command.args.as_slice() {
            known.insert(name.text.clone(), program.text.clone());
        }
    }
    for command in commands.iter().filter(|command| command.name == "set") {
        if let Some((name, values)) = command.args.split_first() {
            let values: Vec<&str> = values.iter().map(|value| value.text.as_str()).collect();
            let end = values.iter().position(|v| matches!(*v, "CACHE" | "PARENT_SCOPE"));
            let values = values.get(..end.unwrap_or(values.len())).unwrap_or_default();
            known.insert(name.text.clone(), values.join(" "));
        }
    }
    known
}

/// The programs that a list builds.
fn built(commands: &[CMakeCommand]) -> Vec<&str> {
    let programs = commands.iter().filter(|command| command.name == "add_executable");
    programs.filter_map(|command| Some(command.args.first()?.text.as_str())).collect()
}

/// Whether a test runs one of the programs that the list builds.
fn runs_one_of(built: &[&str], test: &CMakeCommand) -> bool {
    let mut args = test.args.iter().map(|arg| arg.text.as_str());
    args.by_ref().find(|arg| *arg == "COMMAND");
    args.next().is_some_and(|program| built.contains(&program))
}

struct List<'a> {
    path: &'a str,
    text: &'a str,
}

impl List<'_> {
    fn command(
        &self,
        command: &CMakeCommand,
        variables: &HashMap<String, String>,
    ) -> Vec<HostCode> {
        let name = command.name.as_str();
        let args: Vec<String> =
            command.args.iter().map(|arg| resolved(&arg.text, variables)).collect();
        let text = args.join(" ");
        match name {
            "execute_process" | "exec_program" => {
                self.runs(command, &args, "when the project is configured")
            }
            "add_custom_command" | "add_custom_target" | "add_test" => {
                self.runs(command, &args, "when the project is built")
            }
            "install" if has(&args, &["CODE", "SCRIPT"]) => {
                vec![self.whole(
                    command,
                    FindingLevel::Warning,
                    "runs CMake code when it is installed",
                )]
            }
            "try_run" | "load_command" | "ctest_run_script" => {
                let text = "runs a program when the project is configured";
                vec![self.whole(command, FindingLevel::Warning, text)]
            }
            "cmake_language" => self.language(command, &args),
            "file" => self.file(command, &args),
            "include" | "add_subdirectory" | "configure_file" => self.takes(command, &args),
            "set"
            | "set_property"
            | "set_target_properties"
            | "set_directory_properties"
            | "idf_build_set_property"
            | "list" => self.sets(command, &args),
            "idf_component_register"
            | "target_add_binary_data"
            | "register_component"
            | "spiffs_create_partition_image"
            | "littlefs_create_partition_image"
            | "fatfs_create_spiflash_image"
            | "fatfs_create_rawflash_image"
            | "nvs_create_partition_image"
            | "target_sources" => self.embeds(command, &args),
            _ if FETCHES.contains(&name) => {
                let hosts: Vec<String> = hosts(&text);
                let verb = match hosts.is_empty() {
                    true => "downloads and builds another project".to_owned(),
                    false => format!("downloads from {} at build time", hosts.join(", ")),
                };
                let whole = self.whole(command, FindingLevel::Stop, &verb);
                let mut found = vec![HostCode { deed: HostDeed::Fetches, ..whole }];
                found.extend(self.ran(command, &args));
                found
            }
            _ => Vec::new(),
        }
    }

    fn whole(&self, command: &CMakeCommand, level: FindingLevel, text: &str) -> HostCode {
        let before = self.text.get(..command.inside.start).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let indent = before.get(start..).map_or(0, |line| line.len() - line.trim_start().len());
        HostCode::other(start + indent..command.inside.end + 1, (level, text))
    }

    /// The programs behind each `COMMAND`, told at their lines.
    fn runs(&self, command: &CMakeCommand, args: &[String], when: &str) -> Vec<HostCode> {
        const ENDS: [&str; 27] = [
            "COMMAND",
            "WORKING_DIRECTORY",
            "TIMEOUT",
            "RESULT_VARIABLE",
            "RESULTS_VARIABLE",
            "OUTPUT_VARIABLE",
            "ERROR_VARIABLE",
            "INPUT_FILE",
            "OUTPUT_FILE",
            "ERROR_FILE",
            "OUTPUT_QUIET",
            "ERROR_QUIET",
            "COMMAND_ECHO",
            "ECHO_OUTPUT_VARIABLE",
            "OUTPUT_STRIP_TRAILING_WHITESPACE",
            "COMMAND_ERROR_IS_FATAL",
            "DEPENDS",
            "COMMENT",
            "VERBATIM",
            "BYPRODUCTS",
            "USES_TERMINAL",
            "SOURCES",
            "OUTPUT",
            "APPEND",
            "MAIN_DEPENDENCY",
            "DEPFILE",
            "POST_BUILD",
        ];
        let mut found = Vec::new();
        for (at, arg) in args.iter().enumerate() {
            let is_start = arg == "COMMAND"
                || (command.name == "exec_program" && at == 0)
                || (at == 0
                    && command.name == "add_custom_target"
                    && args.len() > 1
                    && args
                        .get(1)
                        .is_some_and(|next| !ENDS.contains(&next.as_str()) && next != "ALL"));
            if !is_start {
                continue;
            }
            let from = if command.name == "exec_program" { at } else { at + 1 };
            let rest = args.get(from..).unwrap_or_default();
            let end = rest.iter().position(|arg| ENDS.contains(&arg.as_str()));
            let words = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            let line = words.join(" ");
            let range = self.words(command, from, words.len());
            let level = commands::judge(&line);
            found.push(HostCode::runs(range, level, (&line, when)));
        }
        found
    }

    /// The bytes of some arguments, from a line that is worth showing.
    fn words(&self, command: &CMakeCommand, from: usize, count: usize) -> Range<usize> {
        let args: &[Argument] = command.args.get(from..from + count.max(1)).unwrap_or_default();
        match (args.first(), args.last()) {
            (Some(first), Some(last)) => first.range.start..last.range.end,
            _ => self.whole(command, FindingLevel::Note, "").range,
        }
    }

    /// What a fetched project runs first, where that is dangerous; told at its words.
    fn ran(&self, command: &CMakeCommand, args: &[String]) -> Option<HostCode> {
        let from = args.iter().position(|arg| arg.ends_with("_COMMAND"))? + 1;
        let words = args.get(from..)?;
        let line = words.join(" ");
        let level = commands::judge(&line);
        let range = self.words(command, from, words.len());
        let code = || HostCode::runs(range, level, (&line, "when the project is built"));
        (level == FindingLevel::Stop).then(code)
    }

    fn language(&self, command: &CMakeCommand, args: &[String]) -> Vec<HostCode> {
        let rest = args.get(1..).unwrap_or_default();
        let (level, text) = match args.first().map(String::as_str) {
            Some("EVAL") => {
                (FindingLevel::Stop, "runs CMake code from a text when the project is configured")
            }
            Some("CALL") => {
                let called = rest.first().map(|name| name.to_ascii_lowercase()).unwrap_or_default();
                let is_known = matches!(called.as_str(), "message" | "set" | "list" | "string");
                if is_known {
                    return Vec::new();
                }
                if called == "execute_process" || called == "exec_program" {
                    let mut inner = command.clone();
                    inner.args.drain(..2);
                    inner.name = called;
                    let found = self.runs(
                        &inner,
                        rest.get(1..).unwrap_or_default(),
                        "when the project is configured",
                    );
                    if !found.is_empty() {
                        return found;
                    }
                }
                (FindingLevel::Warning, "calls a command of CMake by a name in a variable")
            }
            _ => return Vec::new(),
        };
        vec![self.whole(command, level, text)]
    }

    fn file(&self, command: &CMakeCommand, args: &[String]) -> Vec<HostCode> {
        let Some((verb, rest)) = args.split_first() else { return Vec::new() };
        let first = rest.first().map_or("", String::as_str);
        let (level, text) = match verb.as_str() {
            "DOWNLOAD" | "UPLOAD" => {
                let host = commands::host(&rest.join(" "));
                let host = host.unwrap_or_else(|| shown(first));
                let to = if verb == "DOWNLOAD" { "downloads from" } else { "sends a file to" };
                (FindingLevel::Stop, format!("{to} {host} when the project is configured"))
            }
            "WRITE" | "APPEND" | "TOUCH" | "REMOVE" | "REMOVE_RECURSE" | "RENAME" | "COPY"
            | "COPY_FILE" | "CREATE_LINK" | "CHMOD" | "CHMOD_RECURSE" | "INSTALL"
            | "MAKE_DIRECTORY" | "GENERATE" | "CONFIGURE" | "ARCHIVE_EXTRACT" => {
                let written = host_cmake_files::written(verb, rest);
                let is_away = |arg: &&String| {
                    is_outside(self.path, arg)
                        || written == Some(arg.as_str()) && host_cmake_files::is_of_framework(arg)
                };
                let Some(target) = rest.iter().find(is_away) else {
                    return match verb.as_str() {
                        _ if written.is_some_and(host_cmake_files::is_source) => {
                            vec![self.overwrites(command, written.unwrap_or_default())]
                        }
                        "REMOVE_RECURSE" | "CHMOD_RECURSE" if !is_of_build(first) => {
                            let text = format!(
                                "deletes or changes `{}` when the project is configured",
                                shown(first)
                            );
                            vec![self.whole(command, FindingLevel::Warning, &text)]
                        }
                        _ => Vec::new(),
                    };
                };
                (
                    FindingLevel::Stop,
                    format!("changes `{}`, which is outside of the project", shown(target)),
                )
            }
            "READ" | "STRINGS" | "GLOB" | "GLOB_RECURSE" => {
                let Some(target) = rest.iter().find(|arg| is_outside(self.path, arg)) else {
                    return Vec::new();
                };
                (
                    FindingLevel::Warning,
                    format!("reads `{}`, which is outside of the project", shown(target)),
                )
            }
            _ => return Vec::new(),
        };
        vec![self.whole(command, level, &text)]
    }

    /// A source that is written when the project is configured, after somebody looked at it.
    fn overwrites(&self, command: &CMakeCommand, target: &str) -> HostCode {
        let text = format!("writes the source `{}` when the project is configured", shown(target));
        self.whole(command, FindingLevel::Warning, &text)
    }

    /// Other lists that are read.
    fn takes(&self, command: &CMakeCommand, args: &[String]) -> Vec<HostCode> {
        let first = args.first().map_or("", String::as_str);
        let is_url = first.contains("://");
        let written = args.get(1).filter(|_| command.name == "configure_file");
        // A relative one lies in the folder of the build.
        let written = written.filter(|target| target.starts_with('$'));
        if let Some(target) = written.filter(|target| host_cmake_files::is_source(target)) {
            return vec![self.overwrites(command, target)];
        }
        if is_of_environment(first) {
            let text = format!("reads `{}`, a place that only the environment knows", shown(first));
            return vec![self.whole(command, FindingLevel::Warning, &text)];
        }
        if !is_url && !is_outside(self.path, first) {
            return Vec::new();
        }
        let text = format!("reads `{}`, which is outside of the project", shown(first));
        vec![self.whole(command, FindingLevel::Warning, &text)]
    }

    /// Variables and properties that name a program or a folder.
    fn sets(&self, command: &CMakeCommand, args: &[String]) -> Vec<HostCode> {
        let line = args.join(" ");
        if let Some(name) = host_cmake_files::program_variable(&command.name, args) {
            let text = format!("changes which program the build runs: `{}`", shown(name));
            return vec![self.whole(command, FindingLevel::Warning, &text)];
        }
        if let Some(name) = args
            .iter()
            .find(|arg| PROGRAM_NAMES.iter().any(|part| arg.contains(part)) && !arg.contains("${"))
        {
            let is_ccache = line.contains("ccache") && !line.contains('/');
            let level = if is_ccache { FindingLevel::Note } else { FindingLevel::Warning };
            let text = format!("changes which program the build runs: `{}`", shown(name));
            return vec![self.whole(command, level, &text)];
        }
        let folders = [
            "EXTRA_COMPONENT_DIRS",
            "COMPONENT_DIRS",
            "CMAKE_MODULE_PATH",
            "CMAKE_TOOLCHAIN_FILE",
            "CMAKE_PREFIX_PATH",
        ];
        let is_folder = args.iter().any(|arg| folders.contains(&arg.as_str()));
        let absolute = |arg: &&String| arg.starts_with(['/', '~']) || arg.contains("$ENV{HOME}");
        match args.iter().find(absolute).filter(|_| is_folder) {
            Some(folder) => {
                let text = format!("builds code from outside of the project: `{}`", shown(folder));
                vec![self.whole(command, FindingLevel::Warning, &text)]
            }
            None => Vec::new(),
        }
    }

    /// Files that are put into the firmware.
    fn embeds(&self, command: &CMakeCommand, args: &[String]) -> Vec<HostCode> {
        let outside = |at: usize| args.get(at).is_some_and(|arg| is_outside(self.path, arg));
        let mut keyword = "";
        let mut found = Vec::new();
        for (at, arg) in args.iter().enumerate() {
            let is_keyword =
                arg.len() > 3 && arg.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
            if is_keyword {
                keyword = arg;
                continue;
            }
            if !outside(at) {
                continue;
            }
            let is_data = keyword.starts_with("EMBED")
                || command.name.contains("binary_data")
                || command.name.contains("_create_");
            let (level, text) = match is_data {
                true => (
                    FindingLevel::Stop,
                    format!(
                        "puts `{}`, a file from outside of the project, into the firmware",
                        shown(arg)
                    ),
                ),
                false => (
                    FindingLevel::Warning,
                    format!("builds code from outside of the project: `{}`", shown(arg)),
                ),
            };
            found.push(HostCode::other(self.words(command, at, 1), (level, text)));
        }
        found
    }

    /// Names of commands in a list that does not parse.
    fn unparsed(&self) -> Vec<HostCode> {
        let mut found = Vec::new();
        let lower = self.text.to_ascii_lowercase();
        let names = [
            "execute_process",
            "add_custom_command",
            "add_custom_target",
            "exec_program",
            "file(download",
        ];
        for name in names.iter().chain(&FETCHES) {
            for (at, _) in lower.match_indices(name) {
                let line =
                    self.text.get(at..).and_then(|rest| rest.lines().next()).unwrap_or_default();
                let text = format!("runs a program or fetches something: `{}`", shown(line));
                let range = at..at + name.len();
                found.push(HostCode::other(range, (FindingLevel::Warning, text)));
            }
        }
        found
    }
}

/// A text with the values of the variables that the list itself sets.
fn resolved(text: &str, variables: &HashMap<String, String>) -> String {
    let mut out = text.to_owned();
    for _ in 0..4 {
        let Some((start, rest)) = out.split_once("${") else { break };
        let Some((name, after)) = rest.split_once('}') else { break };
        let Some(value) = variables.get(name) else { break };
        out = format!("{start}{value}{after}");
        if out.len() > 4_096 {
            break;
        }
    }
    out
}

/// Whether a path begins in a folder that a variable of the environment names, other than the
/// frameworks' own.
fn is_of_environment(path: &str) -> bool {
    const FRAMEWORKS: [&str; 6] =
        ["IDF_PATH", "ADF_PATH", "ESP_MATTER_PATH", "IDF_TOOLS_PATH", "ESP_RMAKER_PATH", "HOME"];
    let name = path.strip_prefix("$ENV{").and_then(|rest| rest.split_once('}'));
    name.is_some_and(|(name, _)| !FRAMEWORKS.contains(&name))
}

fn has(args: &[String], words: &[&str]) -> bool {
    args.iter().any(|arg| words.contains(&arg.as_str()))
}

fn hosts(text: &str) -> Vec<String> {
    let mut found: Vec<String> = text.split_whitespace().filter_map(commands::host).collect();
    found.sort();
    found.dedup();
    if text.contains("GITHUB_REPOSITORY") || text.contains("gh:") {
        found.push("github.com".to_owned());
    }
    if text.contains("GITLAB_REPOSITORY") || text.contains("gl:") {
        found.push("gitlab.com".to_owned());
    }
    found
}

fn is_of_build(path: &str) -> bool {
    ["${CMAKE_BINARY_DIR}", "${CMAKE_CURRENT_BINARY_DIR}", "${BUILD_DIR}", "${build_dir}", "build/"]
        .iter()
        .any(|start| path.starts_with(start))
}
