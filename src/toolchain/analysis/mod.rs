//! Static analysis of a project by the linters that are installed.
//!
//! Owns which linters there are, how they are started, and the time they share. A linter gets the
//! project's sources to read and nothing else of it: no configuration of the project's counts, and
//! no argument is taken from it but what [`CompileUnit`](super::compile_units::CompileUnit) lets pass.

mod arduino_lint;
mod clang_tidy;
mod cppcheck;
mod linter;
mod misra;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Instant;

pub use linter::{AnalysisOrder, Gap, Issue, Linter};
use linter::{AnalysisRun, CUT_SHORT, LinterReport, NO_TIME, Output};

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Analysis {
    /// The findings, each once, the gravest first.
    pub issues: Vec<Issue>,
    /// Linters that ran.
    pub ran: Vec<Linter>,
    /// Linters that are not installed.
    pub missing: Vec<Linter>,
    /// What was left out, and why.
    pub gaps: Vec<Gap>,
}

impl Analysis {
    /// Whether the time ran out for a linter, so that what was not found says nothing.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        self.gaps.iter().any(|gap| [NO_TIME, CUT_SHORT].contains(&gap.why.as_str()))
    }
}

/// Runs the linters that are installed, side by side.
pub async fn analyze(order: &AnalysisOrder) -> Analysis {
    let path = std::env::var_os("PATH").unwrap_or_default();
    analyze_with(order, &|linter| find(&path, linter.program())).await
}

async fn analyze_with(
    order: &AnalysisOrder,
    find: &(dyn Fn(Linter) -> Option<PathBuf> + Sync),
) -> Analysis {
    let until = Instant::now() + order.timeout;
    let mut analysis = Analysis::default();
    let (tidy, check) = (find(Linter::ClangTidy), find(Linter::Cppcheck));
    let lint = find(Linter::ArduinoLint);
    let run = AnalysisRun { order, until };
    // Each is a process of its own, so that waiting for one holds none of the others up.
    let (tidy, check, rules, lint) = futures::join!(
        async { Some(clang_tidy::run(&run, tidy.as_deref()?).await) },
        async { Some(cppcheck::run(&run, check.as_deref()?).await) },
        async { Some(misra::run(&run, check.as_deref()?).await) },
        async {
            let program = lint.as_deref().filter(|_| order.is_sketch)?;
            Some(arduino_lint::run(&run, program).await)
        },
    );
    let mut all = LinterReport::default();
    for (linter, reported) in
        [(Linter::ClangTidy, tidy), (Linter::Cppcheck, check), (Linter::ArduinoLint, lint)]
    {
        match reported {
            Some(reported) => {
                analysis.ran.push(linter);
                all.extend(reported);
            }
            None if linter != Linter::ArduinoLint || order.is_sketch => {
                analysis.missing.push(linter);
            }
            None => {}
        }
    }
    rules.into_iter().for_each(|reported| all.extend(reported));
    analysis.gaps = all.gaps;
    analysis.issues = BTreeSet::from_iter(all.issues).into_iter().collect();
    analysis
}

/// The issues in what a linter printed, as [`analyze`] tells them; nothing is run.
#[doc(hidden)]
#[must_use]
pub fn issues_in(linter: Linter, order: &AnalysisOrder, text: &str) -> Vec<Issue> {
    let run = AnalysisRun { order, until: Instant::now() };
    let reported = match linter {
        Linter::ClangTidy => {
            let output = Output::whole(text.to_owned());
            clang_tidy::read_source(&run, &output)
        }
        Linter::Cppcheck => cppcheck::read(&run, text),
        Linter::ArduinoLint => arduino_lint::read(&run, text).unwrap_or_default(),
    };
    reported.issues
}

/// Looks a program up in the absolute folders of a `PATH`: others depend on where one stands.
fn find(path: &std::ffi::OsStr, program: &str) -> Option<PathBuf> {
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(program)).find(|file| file.is_file())
}

#[cfg(test)]
#[path = "analysis_tests.rs"]
mod tests;
