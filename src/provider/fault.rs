//! What can go wrong with a model's service, in words for people, and whether trying again helps.
//!
//! Must not wait or ask anything itself.

mod complaint;
mod kind;

use std::time::Duration;

use super::profile::Profile;
use super::service::Service;
use crate::model::UserError;
use crate::text::sanitize;
use complaint::{in_words, locked_proxy, service_message, special, words};
pub(super) use kind::{FaultKind, Feature};

/// What went wrong.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fault {
    /// What it means for the call.
    pub kind: FaultKind,
    /// For the person.
    pub error: UserError,
}

impl Fault {
    /// One that may pass.
    pub fn passing(error: UserError) -> Self {
        Self { kind: FaultKind::Passing(None), error }
    }

    /// One that will not.
    pub fn lasting(error: UserError) -> Self {
        Self { kind: FaultKind::Lasting, error }
    }

    /// The connection failed before or within an answer.
    pub fn connection(profile: &Profile, error: &reqwest::Error) -> Self {
        let host = profile.host();
        let cause = sanitize::line(&deepest(error)).into_owned();
        let is_certificate = cause.contains("certificate") || cause.contains("UnknownIssuer");
        if is_certificate {
            return Self::lasting(UserError::new(
                format!("{host} cannot be trusted"),
                cause,
                format!(
                    "If your network has its own certificate authority, name its file with \
                     `ca_file` in the profile `{}`.",
                    profile.name
                ),
            ));
        }
        if cause.contains("proxy authorization required") {
            return Self::lasting(locked_proxy(profile, cause));
        }
        if error.is_timeout() {
            return Self::stalled(profile, "no connection within the time limit");
        }
        if error.is_connect() {
            let fix = match profile.service {
                Service::Ollama => "Start it with `ollama serve`, or correct OLLAMA_HOST.",
                Service::LlamaCpp | Service::LmStudio | Service::Vllm | Service::Compatible => {
                    "Start the server, or correct `base_url` of the profile."
                }
                _ => "Check the network, and at HTTPS_PROXY if you need a proxy.",
            };
            let (cause, fix) = match profile.proxy_host() {
                Some(proxy) => (
                    format!("{cause}, through the proxy {proxy}"),
                    "Check the network and at \
                      `proxy` of the profile.",
                ),
                None => (cause, fix),
            };
            let error = UserError::new(format!("{host} cannot be reached"), cause, fix);
            return Self::passing(error);
        }
        Self::cut(profile, &cause)
    }

    /// The answer ended in the middle.
    pub fn cut(profile: &Profile, cause: &str) -> Self {
        Self::passing(UserError::new(
            format!("The answer of {} was interrupted", profile.host()),
            cause,
            "Check the network, then let it try again.",
        ))
    }

    /// Nothing came for too long.
    pub fn stalled(profile: &Profile, what: &str) -> Self {
        Self::passing(UserError::new(
            format!("{} stopped answering", profile.host()),
            what,
            format!(
                "If the model is slow, raise `stall_seconds` of the profile `{}`.",
                profile.name
            ),
        ))
    }

    /// What came is not the protocol.
    pub fn garbled(profile: &Profile, what: &str, found: &str) -> Self {
        Self::passing(UserError::new(
            format!("{} sent something that cannot be read", profile.host()),
            format!("{what}: “{}”", words(profile, found)),
            format!(
                "Check that `base_url` and `provider` of the profile `{}` fit together.",
                profile.name
            ),
        ))
    }

    /// The answer grew beyond all bounds.
    pub fn excess(profile: &Profile, what: &str) -> Self {
        Self::lasting(UserError::new(
            format!("{} sent an answer that is too large", profile.host()),
            what,
            "Try again, or choose another model.",
        ))
    }

    /// The model will not answer.
    pub fn refused(profile: &Profile, why: &str) -> Self {
        let why = match why.trim() {
            "" => "it gave no reason".to_owned(),
            why => words(profile, why),
        };
        Self::lasting(UserError::new(
            "The model refused to answer",
            why,
            "Say more about what the firmware is for, or choose another model.",
        ))
    }

    /// An answer other than success; `body` is the beginning of its text.
    pub fn status(profile: &Profile, status: u16, after: Option<Duration>, body: &str) -> Self {
        let output = service_message(profile, body);
        let lower = output.to_lowercase();
        if let Some(kind) = special(status, &lower, body) {
            let error = UserError::new(
                format!("{} refused the request", profile.host()),
                format!("it said “{output}” ({status})"),
                "Correct the profile, or choose another model with `--model`.",
            );
            return Self { kind, error };
        }
        let error = in_words(profile, status, &output);
        let is_used_up = lower.contains("quota") || lower.contains("billing");
        let passes = match status {
            408 | 425 => true,
            429 => !is_used_up,
            500..=599 => status != 501 && status != 505,
            _ => false,
        };
        let kind = if passes { FaultKind::Passing(after) } else { FaultKind::Lasting };
        Self { kind, error }
    }

    /// A failure that is told within a stream that began well.
    pub fn from_service(profile: &Profile, code: &str, message: &str) -> Self {
        let status = match code {
            "overloaded_error" | "server_overloaded" => 529,
            "rate_limit_error" | "rate_limit_exceeded" => 429,
            "authentication_error" => 401,
            "permission_error" => 403,
            "not_found_error" => 404,
            "invalid_request_error" | "invalid_prompt" => 400,
            code => code.parse().ok().filter(|code| (400..600).contains(code)).unwrap_or(500),
        };
        Self::status(profile, status, None, message)
    }
}

/// The innermost cause, which is the one that tells something.
pub(super) fn deepest(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(status: u16, body: &str) -> Fault {
        Fault::status(
            &Profile::for_test(Service::OpenAi, "http://127.0.0.1:1/v1"),
            status,
            None,
            body,
        )
    }

    #[test]
    fn what_passes_is_tried_again_and_what_does_not_is_not() {
        for status in [408, 429, 500, 502, 503, 504, 529] {
            assert_eq!(fault(status, "{}").kind, FaultKind::Passing(None), "{status}");
        }
        for status in [400, 401, 402, 403, 404, 422, 501] {
            assert_eq!(fault(status, "{}").kind, FaultKind::Lasting, "{status}");
        }
        let used_up = r#"{"error":{"message":"You exceeded your current quota"}}"#;
        assert_eq!(fault(429, used_up).kind, FaultKind::Lasting);
    }

    #[test]
    fn every_failure_says_what_why_and_how_to_mend_it() {
        for status in [400, 401, 402, 403, 404, 429, 500, 529] {
            let error = fault(status, r#"{"error":{"message":"no such thing"}}"#).error;
            assert!(error.why.contains("no such thing"), "{error:?}");
            assert!(error.why.contains(&status.to_string()), "{error:?}");
            assert!(!error.fix.is_empty() && error.what.contains("127.0.0.1"), "{error:?}");
        }
        assert!(fault(401, "").error.fix.contains("FIRMHAND_TEST_KEY"));
        let stream =
            fault(500, "data: {\"error\": {\"message\": \"no luck\"}}\n\ndata: [DONE]\n").error;
        assert!(stream.why.contains("“no luck”"), "{stream:?}");
        let page = fault(502, "<html><body>Bad gateway</body></html>").error;
        assert!(page.why.contains("a web page"), "{page:?}");
    }

    #[test]
    fn a_conversation_that_is_too_long_tells_what_would_fit() {
        let cases = [
            (
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
                Some(8192),
            ),
            ("prompt is too long: 210000 tokens > 200000 maximum", Some(200_000)),
            ("the request exceeds the available context size, try increasing it", None),
        ];
        for (message, limit) in cases {
            let body = serde_json::json!({ "error": { "message": message } }).to_string();
            assert_eq!(fault(400, &body).kind, FaultKind::TooLong(limit), "{message}");
        }
    }

    #[test]
    fn parts_that_a_model_does_not_take_are_recognised() {
        let cases = [
            ("registry.ollama.ai/library/gemma:2b does not support tools", Feature::Tools),
            (
                "Unsupported value: 'temperature' does not support 0.2 with this model.",
                Feature::Temperature,
            ),
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Feature::OldLimit,
            ),
            ("Encrypted content is not supported with this model.", Feature::Reasoning),
            ("unknown field stream_options", Feature::StreamUsage),
            (
                "response_format value as json_schema is enabled only for later versions",
                Feature::Form,
            ),
            ("output_config: Extra inputs are not permitted", Feature::Form),
            ("json mode cannot be combined with tool/function calling", Feature::Form),
            ("Invalid schema for text.format.schema", Feature::Form),
        ];
        for (message, feature) in cases {
            let body = serde_json::json!({ "error": message }).to_string();
            assert_eq!(fault(400, &body).kind, FaultKind::Unsupported(feature), "{message}");
        }
    }

    #[test]
    fn a_key_that_the_service_repeats_is_not_passed_on() {
        let error =
            fault(401, r#"{"error":{"message":"Incorrect API key provided: sk-test-0123456789"}}"#)
                .error;
        assert!(!error.why.contains("sk-test-0123456789"), "{error:?}");
    }
}
