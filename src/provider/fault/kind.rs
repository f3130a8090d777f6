//! What a fault means for the call.

use std::time::Duration;

/// What a fault means for the call.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::provider) enum FaultKind {
    /// Asking again may help, not before this long if the service said so.
    Passing(Option<Duration>),
    /// The conversation does not fit into the model; how many tokens would, if the service said.
    TooLong(Option<u64>),
    /// The service does not know a part of the request, which can be left out.
    Unsupported(Feature),
    /// Asking again is no use.
    Lasting,
}

/// A part of a request that not every model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::provider) enum Feature {
    Tools,
    Temperature,
    /// Usage at the end of a stream.
    StreamUsage,
    /// The limit of an answer under its older name.
    OldLimit,
    /// Thinking aloud, or being given back earlier thoughts.
    Reasoning,
    /// A form for the answer.
    Form,
}
