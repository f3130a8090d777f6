//! `firmhand doctor`: what there is, whether it works, and how to fix it.

use std::process::ExitCode;

use super::args::DoctorArgs;
use super::{report, runtime};
use crate::app::machine::Machine;
use crate::app::model_doctor::CheckDepth;
use crate::app::{doctor, model_doctor};
use crate::model::{Health, HealthLine, UserError};

/// Prints a line for each thing that a run depends on; fails when something is broken.
///
/// # Errors
/// When a profile is named that there is not.
pub fn run(machine: &Machine, args: &DoctorArgs) -> Result<ExitCode, UserError> {
    let reach = if args.offline { CheckDepth::Here } else { CheckDepth::Services };
    let only = args.profile.as_deref();
    let mut findings = match only {
        Some(_) => Vec::new(),
        None => {
            let mut findings = doctor::look(&machine.dirs.data, |name| std::env::var(name).ok());
            findings.push(doctor::sandbox(machine.runner.protection()));
            findings.push(doctor::builds(&machine.build_sandbox(machine.runner.clone())));
            runtime::engine()?.block_on(doctor::check_export(&mut findings));
            findings
        }
    };
    findings.extend(runtime::engine()?.block_on(model_doctor::models(
        &machine.profiles,
        only,
        reach,
    ))?);
    print(&findings);
    let is_broken = findings.iter().any(|finding| finding.health == Health::Broken);
    Ok(if is_broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn print(findings: &[HealthLine]) {
    for finding in findings {
        let mark = match finding.health {
            Health::Good => "✓",
            Health::Absent => "-",
            Health::Limited => "!",
            Health::Broken => "✗",
        };
        let HealthLine { area, subject, detail, fix, .. } = finding;
        report::line(&format!("{mark} {area} {subject}: {detail}"));
        if !fix.is_empty() {
            report::line(&format!("    {fix}"));
        }
    }
}
