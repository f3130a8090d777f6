//! What the doctor finds: one line for each thing a run depends on.

/// Whether something a run depends on is as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    Good,
    /// It is not there, and not everybody needs it.
    Absent,
    /// It works with limits.
    Limited,
    /// It does not work.
    Broken,
}

/// One line of the doctor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthLine {
    /// What kind of thing, e.g. `model` or `toolchain`.
    pub area: String,
    /// Which one, e.g. the name of a profile.
    pub subject: String,
    /// How it is.
    pub health: Health,
    /// What was found.
    pub detail: String,
    /// What the person can do; empty when there is nothing to do.
    pub fix: String,
}

impl HealthLine {
    /// A line about `subject` without advice.
    pub fn new(
        area: impl Into<String>,
        subject: impl Into<String>,
        health: Health,
        detail: impl Into<String>,
    ) -> Self {
        let (area, subject, detail) = (area.into(), subject.into(), detail.into());
        Self { area, subject, health, detail, fix: String::new() }
    }

    /// Adds the advice.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = fix.into();
        self
    }
}
