//! A model behind a service: asks, listens, and asks again when that may help.
//!
//! An answer that breaks off is asked for anew, and [`Delta::Again`] takes back what had come of
//! it, so that nothing is doubled. Must not decide what is said to the person beyond its faults.

mod listen;
mod out;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::assembly::Assembly;
use super::dialect::{Conversation, Dialect, RequestBody, Stop, Without};
use super::discreet;
use super::fault::{Fault, FaultKind, Feature};
use super::keep;
use super::profile::{Profile, ToolUse, Wire};
use super::tokens::{Meter, TokenCounter};
use super::wire::Client;
use super::words;
use super::{Delta, Provider, Request};
use crate::model::{Cost, Usage, UserError};
use listen::{AFTERMATH, Listening};
use out::{Broken, Out};

/// Pieces of an answer that may wait for the engine.
const WAITING: usize = 64;

/// Tokens left for an answer when nobody says how long it may be.
const USUAL_ANSWER: u64 = 8_192;

/// A model behind a service.
#[derive(Debug)]
pub struct Remote {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    profile: Arc<Profile>,
    dialect: Dialect,
    client: Client,
    /// What the service turned out not to take.
    without: Mutex<Without>,
    counter: TokenCounter,
}

impl Remote {
    /// Nothing is connected before the first request.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        profile.guard();
        let dialect = Dialect::of(profile.service);
        let tools = profile.tools == ToolUse::Words;
        let without = Mutex::new(Without { tools, ..Without::default() });
        let counter = TokenCounter::of(&profile);
        let profile = Arc::new(profile);
        Self {
            inner: Arc::new(Inner {
                profile,
                dialect,
                client: Client::default(),
                without,
                counter,
            }),
        }
    }

    /// The profile it was made from.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.inner.profile
    }

    /// The models that the service offers, by name.
    ///
    /// # Errors
    /// When the service cannot be reached, or does not tell.
    pub async fn models(&self) -> Result<Vec<String>, UserError> {
        let Inner { profile, dialect, client, .. } = &*self.inner;
        let path = dialect.models_path(profile);
        let list = client.get(profile, &path).await.map_err(|fault| fault.error)?;
        let names = dialect.model_names(&list).into_iter();
        Ok(names.map(|name| profile.redact(&name)).collect())
    }
}

impl Provider for Remote {
    fn label(&self) -> String {
        self.inner.profile.label()
    }

    fn ask(&self, request: Request) -> BoxStream<'static, Result<Delta, UserError>> {
        let (out, taken) = mpsc::channel(WAITING);
        let out = Out::new(out);
        let inner = Arc::clone(&self.inner);
        // A task of its own: the answer is read on while the engine records.
        let task = AbortOnDropHandle::new(tokio::spawn(inner.answer(request, out)));
        let answer = stream::unfold((taken, task), |(mut taken, task)| async move {
            taken.recv().await.map(|delta| (delta, (taken, task)))
        });
        discreet::answer(self.inner.profile.secrets().clone(), answer.boxed())
    }

    fn redact(&self, text: &str) -> String {
        self.inner.profile.redact(text)
    }

    fn meter(&self, request: &Request) -> Option<Meter> {
        let profile = &self.inner.profile;
        let window = match self.inner.dialect {
            Dialect::Ollama => Some(profile.window.unwrap_or(super::dialect::OLLAMA_WINDOW)),
            Dialect::Chat | Dialect::Responses | Dialect::Anthropic => profile.window,
        }?;
        let answer = self.inner.most(request).map_or(USUAL_ANSWER, u64::from).min(window / 2);
        Some(Meter { window, answer, counter: self.inner.counter.clone() })
    }
}

impl Inner {
    async fn answer(self: Arc<Self>, request: Request, out: Out) {
        let most = self.profile.wire.tries.max(1);
        let mut attempt = 1;
        loop {
            let fault = match self.attempt(&request, &out).await {
                Ok(()) | Err(Broken::Unheard) => return,
                Err(Broken::Fault(fault)) => fault,
            };
            let wait = match fault.kind {
                FaultKind::Unsupported(feature) => match self.do_without(feature) {
                    true => {
                        if out.send(Delta::Note(self.less(feature))).await.is_err() {
                            return;
                        }
                        continue;
                    }
                    false => None,
                },
                FaultKind::TooLong(limit) => {
                    // Whoever listens may stop here and ask with less.
                    let _ = out.send(Delta::TooLong { limit }).await;
                    None
                }
                FaultKind::Passing(_) if attempt >= most => None,
                FaultKind::Passing(after) => pause(&self.profile.wire, attempt, after),
                FaultKind::Lasting => None,
            };
            let Some(wait) = wait else {
                // Nobody may be there to hear it.
                out.fail(fault.error).await;
                return;
            };
            attempt += 1;
            let wait_millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            let again = Delta::Again { attempt, most, wait_millis, fault: fault.error };
            if out.send(again).await.is_err() {
                return;
            }
            tokio::time::sleep(wait).await;
        }
    }

    async fn attempt(&self, request: &Request, out: &Out) -> Result<(), Broken> {
        let profile = &self.profile;
        let mut without = self.without();
        let conversation = Conversation::new(&request.messages, &request.tools);
        let mut conversation =
            if without.tools { words::in_words(conversation) } else { conversation };
        // Services that are held to a form call no tools, or refuse both together.
        let form = request.form.as_deref().filter(|_| request.tools.is_empty() && !without.form);
        if let Some(form) = form {
            form.add_to_instructions(&mut conversation.system);
        }
        let kept = keep::kept(request, profile);
        // A loop that began without signed thoughts cannot go on with them.
        without.reasoning |=
            self.dialect == Dialect::Anthropic && kept.len() < keep::loop_length(request);
        let options = &request.options;
        let body = self.dialect.write(&RequestBody {
            profile,
            conversation: &conversation,
            kept: &kept,
            form,
            without,
            max_tokens: self.most(request),
            temperature: profile
                .options
                .temperature
                .or(options.temperature)
                .or(profile.options.usual.temperature),
        });
        let estimated = self.estimate(request);
        let mut answer = self.client.post(profile, &self.dialect.path(profile), &body).await?;
        let mut assembly = match form {
            Some(_) => Assembly::in_form(),
            None if without.tools => Assembly::in_words(),
            None => Assembly::default(),
        };
        Listening { profile, dialect: self.dialect, out }.read(&mut answer, &mut assembly).await?;
        self.counter.learn(estimated, assembly.usage.input);
        self.finish(request, assembly, kept, out).await?;
        // Read to its end, the connection can be used again; nobody waits for that.
        tokio::spawn(tokio::time::timeout(AFTERMATH, async move {
            while let Ok(Some(_)) = answer.next().await {}
        }));
        Ok(())
    }

    /// Tokens an answer may have: what is asked for, and no more than the profile allows.
    fn most(&self, request: &Request) -> Option<u32> {
        match (request.options.max_tokens, self.profile.options.usual.max_tokens) {
            (Some(asked), Some(allowed)) => Some(asked.min(allowed)),
            (asked, allowed) => asked.or(allowed),
        }
    }

    fn estimate(&self, request: &Request) -> u64 {
        // Only an estimate can become better.
        if self.counter.is_exact() {
            return 0;
        }
        let messages = request.messages.iter().map(|message| self.counter.message(message));
        let tools = request.tools.iter().map(|spec| self.counter.tool(spec));
        messages.chain(tools).sum()
    }

    /// Gives on the calls and the end of an answer.
    async fn finish(
        &self,
        request: &Request,
        mut assembly: Assembly,
        kept: Vec<Vec<serde_json::Value>>,
        out: &Out,
    ) -> Result<(), Broken> {
        let profile = &self.profile;
        if let Some(Stop::Refused(why)) = &assembly.stop {
            return Err(Fault::refused(profile, why).into());
        }
        // After the answers of its tools a model may have nothing to add.
        if assembly.is_empty() && keep::loop_length(request) == 0 {
            return Err(Fault::cut(profile, "the model's answer was empty").into());
        }
        let (rest, calls) = assembly.close(&request.tools);
        if let Some(rest) = rest {
            out.send(rest).await?;
        }
        if assembly.stop == Some(Stop::Length) {
            out.send(Delta::Note(self.cut_short(request))).await?;
        }
        let new = if calls.is_empty() { Vec::new() } else { std::mem::take(&mut assembly.kept) };
        // The loop ends with an answer that calls nothing.
        let kept = if calls.is_empty() { Vec::new() } else { kept };
        let has_calls = !calls.is_empty();
        for call in calls {
            out.send(call).await?;
        }
        let state = match has_calls {
            true => keep::state(request, profile, kept, new),
            false => None,
        };
        let usage = self.priced(assembly.usage);
        out.send(Delta::Done { usage, state }).await
    }

    fn priced(&self, mut usage: Usage) -> Usage {
        if usage.cost == Cost::ZERO {
            let prices = self.profile.prices;
            usage.cost = prices.map_or(Cost::ZERO, |prices| prices.cost(&usage));
            usage.is_estimated = prices.is_some_and(|prices| prices.is_estimate);
        }
        usage
    }

    fn without(&self) -> Without {
        *self.without.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves a part of requests out from now on; tells whether that is new.
    fn do_without(&self, feature: Feature) -> bool {
        let mut without = self.without.lock().unwrap_or_else(PoisonError::into_inner);
        let part = match feature {
            Feature::Tools if self.profile.tools == ToolUse::Native => return false,
            Feature::Tools => &mut without.tools,
            Feature::Temperature => &mut without.temperature,
            Feature::StreamUsage => &mut without.stream_usage,
            Feature::OldLimit => &mut without.old_limit,
            Feature::Reasoning => &mut without.reasoning,
            Feature::Form => &mut without.form,
        };
        !std::mem::replace(part, true)
    }

    fn less(&self, feature: Feature) -> UserError {
        let model = &self.profile.model;
        let (what, why) = match feature {
            Feature::Tools => (
                format!("`{model}` has no tool calling"),
                "the prompt explains how to call tools, and calls are read from its answers",
            ),
            Feature::Temperature => (format!("`{model}` takes no temperature"), "it uses its own"),
            Feature::StreamUsage => {
                (format!("{} counts no tokens", self.profile.host()), "the budget cannot see them")
            }
            Feature::OldLimit => (
                format!("`{model}` has another name for the limit of an answer"),
                "the other name is used",
            ),
            Feature::Reasoning => (
                format!("`{model}` does not show its reasoning"),
                "the request does not ask for it",
            ),
            Feature::Form => (
                format!("`{model}` cannot be limited to a JSON schema"),
                "the prompt describes the form, and the answer is read from the text",
            ),
        };
        UserError::new(what, why, "")
    }

    fn cut_short(&self, request: &Request) -> UserError {
        let why = match self.most(request) {
            Some(most) => format!("it may not be longer than {most} tokens"),
            None => "the model could not write more at once".to_owned(),
        };
        let fix = format!("Raise `max_tokens` of the profile `{}`.", self.profile.name);
        UserError::new("The answer was cut off", why, fix)
    }
}

/// How long to wait before the next try: twice as long each time, up to a bound, and never the
/// same for everybody. `None`: the service asks for more patience than anybody has.
fn pause(wire: &Wire, attempt: u32, asked: Option<Duration>) -> Option<Duration> {
    if let Some(asked) = asked {
        let patient = asked <= Wire::MOST_ASKED_PAUSE;
        // A little later than asked, because all others come back then.
        return patient.then(|| asked + asked.mul_f64(0.1 * chance()).min(Wire::MOST_PAUSE));
    }
    let doubled = wire.pause.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)));
    Some(doubled.min(Wire::MOST_PAUSE).mul_f64(0.5 + 0.5 * chance()))
}

/// A number from 0 to 1, good enough to keep clients from marching in step.
fn chance() -> f64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let random = RandomState::new().build_hasher().finish();
    (random >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_bound_and_differ() {
        let wire = Wire::new("http://h");
        let seconds = |attempt| pause(&wire, attempt, None).unwrap().as_secs_f64();
        for (attempt, most) in [(1, 1.0), (2, 2.0), (3, 4.0), (6, 30.0), (60, 30.0)] {
            for _ in 0..50 {
                let wait = seconds(attempt);
                assert!(wait >= most / 2.0 && wait <= most, "{wait} at {attempt}");
            }
        }
        assert!((0..20).any(|_| (seconds(5) - seconds(5)).abs() > 0.01));
    }

    #[test]
    fn a_pause_that_a_service_asks_for_is_kept_unless_it_is_absurd() {
        let wire = Wire::new("http://h");
        let asked = Duration::from_secs(20);
        let wait = pause(&wire, 1, Some(asked)).unwrap();
        assert!(wait >= asked && wait <= asked.mul_f64(1.11), "{wait:?}");
        assert_eq!(pause(&wire, 1, Some(Duration::from_secs(86_400))), None);
        assert_eq!(pause(&wire, 1, Some(Duration::ZERO)), Some(Duration::ZERO));
    }
}
