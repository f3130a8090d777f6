//! Puts an answer together from its pieces, within bounds, and gives it on as deltas.

use serde_json::Value;

use super::Delta;
use super::dialect::{AnswerPiece, Slot, Stop};
use super::fault::Fault;
use super::form::Fence;
use super::profile::Profile;
use super::worded_stream::WordedStream;
use crate::model::{ToolName, ToolSpec, Usage};

/// Tool calls of one answer.
const MOST_CALLS: usize = 256;

/// Bytes of the arguments of all calls of one answer.
const MOST_ARGS: usize = 4 << 20;

/// Bytes of what the service wants back after one answer.
const MOST_KEPT: usize = 4 << 20;

/// Sealed thoughts of one answer that count as content; more of them only keep a connection open.
const MOST_THOUGHTS: usize = 256;

/// Whether a piece brought an answer further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AssemblyProgress {
    /// It holds text, a thought, a part of a call, or the end.
    Content,
    /// It holds nothing, as what services send to keep a connection open.
    Nothing,
}

impl AssemblyProgress {
    const fn made(is_made: bool) -> Self {
        if is_made { Self::Content } else { Self::Nothing }
    }
}

/// An answer as far as it came.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    calls: Vec<Growing>,
    arg_bytes: usize,
    kept_bytes: usize,
    /// Where calls are written in words.
    worded: Option<WordedStream>,
    has_text: bool,
    /// Around an answer that has a form.
    fence: Fence,
    /// The tokens that were counted.
    pub usage: Usage,
    /// What the service wants back.
    pub kept: Vec<Value>,
    /// Why the answer ended.
    pub stop: Option<Stop>,
}

#[derive(Debug)]
struct Growing {
    slot: Slot,
    name: String,
    args: String,
}

impl Assembly {
    /// An answer whose calls are written in words.
    pub fn in_words() -> Self {
        Self { worded: Some(WordedStream::new()), ..Self::default() }
    }

    /// An answer that is to be a JSON object.
    pub fn in_form() -> Self {
        Self { fence: Fence::waiting(), ..Self::default() }
    }

    /// Takes a piece; what can be shown at once is added to `out`, joined to what is there.
    pub fn take(
        &mut self,
        piece: AnswerPiece,
        profile: &Profile,
        out: &mut Vec<Delta>,
    ) -> Result<AssemblyProgress, Fault> {
        // What comes after the end is no part of the answer, but for the count.
        if self.stop.is_some() && !matches!(piece, AnswerPiece::Usage(_) | AnswerPiece::Keep(_)) {
            return Ok(AssemblyProgress::Nothing);
        }
        // Blanks alone are what a model that is stuck writes.
        let is_content = match &piece {
            AnswerPiece::Text(text) | AnswerPiece::Reasoning(text) => !text.trim().is_empty(),
            AnswerPiece::Call { slot, args, .. } => {
                !args.trim().is_empty() || self.place_of(slot).is_none()
            }
            AnswerPiece::Keep(_) => self.kept.len() < MOST_THOUGHTS,
            AnswerPiece::Stop(_) => true,
            // Counts are not content, even when they grow.
            AnswerPiece::Usage(_) | AnswerPiece::Model(_) => false,
        };
        self.add(piece, profile, out)?;
        Ok(AssemblyProgress::made(is_content))
    }

    fn add(
        &mut self,
        piece: AnswerPiece,
        profile: &Profile,
        out: &mut Vec<Delta>,
    ) -> Result<(), Fault> {
        match piece {
            AnswerPiece::Text(text) => {
                self.has_text |= !text.trim().is_empty();
                if let Some(worded) = &mut self.worded {
                    worded.pass(&text, out);
                    return Ok(());
                }
                let text = self.fence.pass(text);
                match out.last_mut() {
                    Some(Delta::Text(last)) => last.push_str(&text),
                    _ if text.is_empty() => {}
                    _ => out.push(Delta::Text(text)),
                }
            }
            AnswerPiece::Reasoning(text) => match out.last_mut() {
                Some(Delta::Reasoning(last)) => last.push_str(&text),
                _ if text.is_empty() => {}
                _ => out.push(Delta::Reasoning(text)),
            },
            AnswerPiece::Call { slot, name, args } => {
                self.call(slot, &name, &args, profile, out)?;
            }
            AnswerPiece::Model(model) => {
                out.push(Delta::Model(format!("{model} ({})", profile.service)));
            }
            AnswerPiece::Usage(usage) => self.usage = usage,
            AnswerPiece::Keep(value) => {
                self.kept_bytes += value.to_string().len();
                if self.kept_bytes > MOST_KEPT {
                    let what = format!("its sealed thoughts exceed {} MB", MOST_KEPT >> 20);
                    return Err(Fault::excess(profile, &what));
                }
                self.kept.push(value);
            }
            AnswerPiece::Stop(stop) => self.stop = Some(stop),
        }
        Ok(())
    }

    fn call(
        &mut self,
        slot: Slot,
        name: &str,
        args: &str,
        profile: &Profile,
        out: &mut Vec<Delta>,
    ) -> Result<(), Fault> {
        self.arg_bytes += args.len() + name.len();
        if self.arg_bytes > MOST_ARGS {
            let what = format!("the arguments of its tool calls exceed {} MB", MOST_ARGS >> 20);
            return Err(Fault::excess(profile, &what));
        }
        let known = self.place_of(&slot);
        let is_full = self.calls.len() == MOST_CALLS;
        let place = known.unwrap_or(self.calls.len());
        let tool = match known.and_then(|place| self.calls.get_mut(place)) {
            Some(call) => {
                if call.name.is_empty() {
                    call.name.push_str(name);
                }
                call.args.push_str(args);
                call.name.trim().into()
            }
            None if is_full => {
                let what = format!("more than {MOST_CALLS} tool calls in one answer");
                return Err(Fault::excess(profile, &what));
            }
            None => {
                self.calls.push(Growing { slot, name: name.to_owned(), args: args.to_owned() });
                name.trim().into()
            }
        };
        match out.last_mut() {
            Some(Delta::CallPart { place: last, args: so_far, .. }) if *last == place => {
                so_far.push_str(args);
            }
            _ => out.push(Delta::CallPart { place, tool, args: args.to_owned() }),
        }
        Ok(())
    }

    /// The call that a piece belongs to; `None` if a new one begins.
    fn place_of(&self, slot: &Slot) -> Option<usize> {
        match slot {
            Slot::New => None,
            // Pieces without a place belong to the call that came last.
            Slot::Place(u64::MAX) => self.calls.len().checked_sub(1),
            Slot::Place(place) => self.calls.iter().rposition(|call| match &call.slot {
                Slot::Place(other) | Slot::Named(other, _) => other == place,
                Slot::New => false,
            }),
            Slot::Named(..) => self.calls.iter().rposition(|call| call.slot == *slot),
        }
    }

    /// Whether nothing was said and nothing called.
    pub fn is_empty(&self) -> bool {
        !self.has_text && self.calls.is_empty()
    }

    /// The text that is still to be shown once the answer is complete, and its calls.
    pub fn close(&mut self, tools: &[ToolSpec]) -> (Option<Delta>, Vec<Delta>) {
        let native = std::mem::take(&mut self.calls).into_iter().map(|call| (call.name, call.args));
        let native = native.filter(|(name, args)| !name.is_empty() || !args.is_empty());
        let (rest, worded) = self.worded.take().map(|worded| worded.end(tools)).unwrap_or_default();
        let rest = self.fence.close().unwrap_or(rest);
        let call =
            |(name, args): (String, String)| Delta::Call { tool: ToolName::new(name.trim()), args };
        let rest = (!rest.is_empty()).then_some(Delta::Text(rest));
        (rest, native.chain(worded).map(call).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Service;

    fn profile() -> Profile {
        Profile::for_test(Service::OpenAi, "http://127.0.0.1:1")
    }

    fn grown(pieces: &[(Slot, &str, &str)]) -> Vec<Delta> {
        let mut assembly = Assembly::default();
        for (slot, name, args) in pieces {
            let (slot, name, args) = (slot.clone(), (*name).to_owned(), (*args).to_owned());
            assembly
                .take(AnswerPiece::Call { slot, name, args }, &profile(), &mut Vec::new())
                .unwrap();
        }
        assembly.close(&[]).1
    }

    fn call(tool: &str, args: &str) -> Delta {
        Delta::Call { tool: tool.into(), args: args.into() }
    }

    #[test]
    fn parallel_calls_grow_side_by_side() {
        let place = Slot::Place;
        let pieces =
            [(place(0), "a", "{"), (place(1), "b", ""), (place(0), "", "}"), (place(1), "", "{}")];
        assert_eq!(grown(&pieces), [call("a", "{}"), call("b", "{}")]);
    }

    #[test]
    fn calls_at_the_same_place_are_told_apart_by_their_names() {
        let named = |id: &str| Slot::Named(0, id.to_owned());
        let pieces = [(named("x"), "a", "{}"), (named("y"), "b", "{"), (Slot::Place(0), "", "}")];
        assert_eq!(grown(&pieces), [call("a", "{}"), call("b", "{}")]);
        let repeated = [(named("x"), "a", "{"), (named("x"), "a", "}")];
        assert_eq!(grown(&repeated), [call("a", "{}")]);
        let whole = [(Slot::New, "a", "{}"), (Slot::New, "a", "{}")];
        assert_eq!(grown(&whole).len(), 2);
    }

    #[test]
    fn counts_that_grow_and_sealed_thoughts_without_end_are_no_content() {
        let mut assembly = Assembly::default();
        let mut take = |piece| assembly.take(piece, &profile(), &mut Vec::new()).unwrap();
        assert_eq!(take(AnswerPiece::Text("a".to_owned())), AssemblyProgress::Content);
        for output in 1..10 {
            let usage = Usage { output, ..Usage::default() };
            assert_eq!(take(AnswerPiece::Usage(usage)), AssemblyProgress::Nothing);
        }
        let content = (0..10_000)
            .filter(|_| take(AnswerPiece::Keep(Value::Null)) == AssemblyProgress::Content)
            .count();
        assert_eq!(content, MOST_THOUGHTS);
    }

    #[test]
    fn ten_thousand_calls_are_not_taken() {
        let mut assembly = Assembly::default();
        let refused = (0..10_000).find_map(|place| {
            let piece =
                AnswerPiece::Call { slot: Slot::Place(place), name: "a".into(), args: "{}".into() };
            assembly.take(piece, &profile(), &mut Vec::new()).err()
        });
        assert!(refused.unwrap().error.why.contains("256 tool calls"));
    }
}
