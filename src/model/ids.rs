//! Identifiers. Each is its own type, so that a turn can never be passed for a call.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident, $inner:ty) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl $name {
            /// The id that follows this one.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

number_id!(
    /// Position of a record in its journal, from 1 without gaps. 0 means "before the first record".
    Seq, u64
);
number_id!(
    /// One turn of one agent, from 1 within a session.
    TurnId, u32
);
number_id!(
    /// One tool call, from 1 within a session.
    CallId, u32
);
number_id!(
    /// One proposal, from 1 within a session.
    ProposalId, u32
);
number_id!(
    /// The proposals that one tool call made together, from 1 within a session.
    BatchId, u32
);
number_id!(
    /// One build, from 1 within a session.
    BuildId, u32
);
number_id!(
    /// One run of tests, from 1 within a session.
    TestRunId, u32
);
number_id!(
    /// One question put to the person, from 1 within a session.
    QuestionId, u32
);
number_id!(
    /// One question of the person about a proposal, from 1 within a session.
    InquiryId, u32
);
number_id!(
    /// One rule the person made for the session, from 1 within it.
    RuleId, u32
);

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps a name as it stands.
            pub fn new(name: impl Into<String>) -> Self {
                Self(name.into())
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(name: &str) -> Self {
                Self(name.to_owned())
            }
        }
    };
}

text_id!(
    /// Name of an agent as its file in `prompts/agents` states it, e.g. `CodeReviewerAgent`.
    AgentName
);
text_id!(
    /// Name of a tool, e.g. `generate_code`.
    ToolName
);
text_id!(
    /// Name of a session, which is also the name of its folder.
    SessionId
);

/// What a raw log holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogKind {
    /// Everything one build printed, stdout and stderr interleaved as they came.
    Build,
    /// Every byte one serial connection received.
    Serial,
    /// What one run of tests printed.
    Test,
}

/// One raw log of a session; its text form (`build-1`) is the stem of its file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogId {
    /// What the log holds.
    pub kind: LogKind,
    /// Counts from 1 within its kind.
    pub number: u32,
}

impl fmt::Display for LogId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            LogKind::Build => "build",
            LogKind::Serial => "serial",
            LogKind::Test => "test",
        };
        write!(f, "{kind}-{}", self.number)
    }
}

impl FromStr for LogId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("`{text}` is not a log name such as `build-1` or `serial-2`");
        let (kind, number) = text.rsplit_once('-').ok_or_else(wrong)?;
        let kind = match kind {
            "build" => LogKind::Build,
            "serial" => LogKind::Serial,
            "test" => LogKind::Test,
            _ => return Err(wrong()),
        };
        let number = number.parse().map_err(|_| wrong())?;
        Ok(Self { kind, number })
    }
}

impl Serialize for LogId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for LogId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_id_reads_back_what_it_prints() {
        let id = LogId { kind: LogKind::Serial, number: 12 };
        assert_eq!(id.to_string(), "serial-12");
        assert_eq!("serial-12".parse::<LogId>(), Ok(id));
        assert!("serial".parse::<LogId>().is_err());
        assert!("tape-1".parse::<LogId>().is_err());
    }
}
