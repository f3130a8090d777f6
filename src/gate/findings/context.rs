//! What is known about the run when a change is looked at.
//!
//! Owns the words of the task and the chip. Must not look at a change.

/// What findings may take into account beside the change itself.
#[derive(Debug, Clone, Default)]
#[expect(dead_code, reason = "read by the findings about pins and scope")]
pub(in crate::gate) struct Context {
    /// The chip that the project is built for, e.g. `esp32s3`; `None` while it is not known.
    pub(in crate::gate) chip: Option<String>,
    /// What the person asked for, in their words; empty while it is not known.
    pub(in crate::gate) task: String,
}
