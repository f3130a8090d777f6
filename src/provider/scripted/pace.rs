//! How fast an answer arrives: at once, or as somebody types.

use std::time::Duration;

use futures::Stream;
use futures::stream;

use crate::provider::Delta;

/// How fast a scripted model answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pacing {
    /// At once, in large pieces.
    Instant,
    /// As the script's `[timing]` says: a pause to think, then some characters at a time.
    #[default]
    Real,
}

/// The speed of [`Pacing::Real`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Timing {
    /// At least 1.
    pub chars_per_second: u32,
    pub think_ms: u32,
}

impl Default for Timing {
    fn default() -> Self {
        Self { chars_per_second: 500, think_ms: 400 }
    }
}

/// A piece of an answer and the pause before it.
pub(super) type Timed = (Duration, Delta);

/// Bytes of one piece of text when nothing waits.
const LARGE: usize = 4_096;
/// Time between two pieces of typed text.
const TICK_MS: u32 = 33;
/// Arguments of calls come faster than text and never let anyone wait longer than this.
const LONGEST_CALL: Duration = Duration::from_millis(1_200);

/// An answer, complete.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScriptedReply {
    pub text: String,
    pub calls: Vec<Delta>,
    pub done: Delta,
}

impl ScriptedReply {
    /// All of it, in large pieces.
    pub fn whole(self) -> Vec<Delta> {
        let pieces = pieces(&self.text, |piece, _| piece >= LARGE);
        let text = pieces.into_iter().map(Delta::Text);
        text.chain(self.calls).chain([self.done]).collect()
    }

    /// All of it, each piece with its pause.
    pub fn typed(self, timing: Timing) -> Vec<Timed> {
        let tick = Duration::from_millis(u64::from(TICK_MS));
        let think = Duration::from_millis(u64::from(timing.think_ms));
        let per_tick = (timing.chars_per_second * TICK_MS / 1_000).max(1) as usize;
        let mut timed: Vec<Timed> = pieces(&self.text, |_, chars| chars >= per_tick)
            .into_iter()
            .map(|piece| (tick, Delta::Text(piece)))
            .collect();
        for (place, call) in self.calls.into_iter().enumerate() {
            timed.extend(growing(place, &call, timing));
            timed.push((Duration::ZERO, call));
        }
        timed.push((Duration::ZERO, self.done));
        if let Some((pause, _)) = timed.first_mut() {
            *pause += think;
        }
        timed
    }
}

/// A call while it is written.
fn growing(place: usize, call: &Delta, timing: Timing) -> Vec<Timed> {
    let Delta::Call { tool, args } = call else { return Vec::new() };
    let seconds = args.len() as f64 / (f64::from(timing.chars_per_second) * 8.0);
    let whole = Duration::from_secs_f64(seconds).min(LONGEST_CALL);
    let ticks = u32::try_from(whole.as_millis()).unwrap_or(u32::MAX).div_ceil(TICK_MS).max(1);
    let per_tick = args.chars().count().div_ceil(ticks as usize).max(1);
    let mut pieces = pieces(args, |_, chars| chars >= per_tick);
    if pieces.is_empty() {
        pieces.push(String::new());
    }
    let pause = whole / u32::try_from(pieces.len()).unwrap_or(1).max(1);
    let part = |args| (pause, Delta::CallPart { place, tool: tool.clone(), args });
    pieces.into_iter().map(part).collect()
}

/// Cuts a text whenever `is_full` says so of a piece's bytes and characters.
fn pieces(text: &str, is_full: impl Fn(usize, usize) -> bool) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut chars = 0;
    for c in text.chars() {
        piece.push(c);
        chars += 1;
        if is_full(piece.len(), chars) {
            pieces.push(std::mem::take(&mut piece));
            chars = 0;
        }
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

/// Waits before each piece.
pub(super) fn typed(pieces: Vec<Timed>) -> impl Stream<Item = Delta> + Send {
    stream::unfold(pieces.into_iter(), |mut pieces| async move {
        let (pause, delta) = pieces.next()?;
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        Some((delta, pieces))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Usage;

    fn answer(text: &str) -> ScriptedReply {
        let call = Delta::Call { tool: "t".into(), args: "x".repeat(100_000) };
        let done = Delta::Done { usage: Usage::default(), state: None };
        ScriptedReply { text: text.to_owned(), calls: vec![call], done }
    }

    fn text_of<'a>(deltas: impl Iterator<Item = &'a Delta>) -> String {
        deltas
            .filter_map(|delta| match delta {
                Delta::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn text_comes_whole_and_in_order_at_either_pace() {
        let text = "ä€😀".repeat(5_000);
        let whole = answer(&text).whole();
        assert_eq!(text_of(whole.iter()), text);
        assert!(whole.len() < 20, "large pieces");
        let typed = answer(&text).typed(Timing { chars_per_second: 300, think_ms: 100 });
        assert_eq!(text_of(typed.iter().map(|(_, delta)| delta)), text);
        assert!(matches!(typed.last(), Some((_, Delta::Done { .. }))));
    }

    #[test]
    fn typing_takes_the_time_of_its_characters_and_one_pause_to_think() {
        let typed = answer(&"x".repeat(900)).typed(Timing { chars_per_second: 300, think_ms: 700 });
        let text: Duration =
            typed.iter().filter(|(_, d)| matches!(d, Delta::Text(_))).map(|(p, _)| *p).sum();
        assert!((3_500..=4_100).contains(&text.as_millis()), "{text:?}");
        let all: Duration = typed.iter().map(|(pause, _)| *pause).sum();
        let call = LONGEST_CALL.saturating_sub(all - text);
        assert!(call < Duration::from_millis(1), "{:?}", all - text);
        let part = |(_, delta): &Timed| match delta {
            Delta::CallPart { place: 0, args, .. } => args.clone(),
            _ => String::new(),
        };
        assert_eq!(typed.iter().map(part).collect::<String>(), "x".repeat(100_000));
        assert!(typed.len() > 100 + 30, "the arguments come in many pieces");
    }
}
