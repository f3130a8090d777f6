//! Cuts a byte stream into messages: server-sent events, or JSON lines.
//!
//! Bytes are cut before they are decoded, so that a character may be spread over several chunks.
//! What is held is bounded; a message that grows beyond is an error.

use std::collections::VecDeque;

/// Bytes of one message.
pub const MOST_BYTES: usize = 8 << 20;

/// How messages are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Framing {
    /// Server-sent events; a message is the data of one.
    #[default]
    Events,
    /// A message a line.
    Lines,
}

/// A message is longer than [`MOST_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooBig;

/// The messages of a stream.
#[derive(Debug, Default)]
pub struct Frames {
    framing: Framing,
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// The data of the event that has not ended yet; `None` before its first line.
    data: Option<String>,
    /// Whether the last line ended with a carriage return, so that a line feed belongs to it.
    after_return: bool,
    is_begun: bool,
    ready: VecDeque<String>,
}

impl Frames {
    /// A stream of which nothing came yet.
    pub fn new(framing: Framing) -> Self {
        Self { framing, ..Self::default() }
    }

    /// Takes bytes as they come.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), TooBig> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return) && bytes.first() == Some(&b'\n') {
                bytes = bytes.get(1..).unwrap_or_default();
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
                self.line.extend_from_slice(bytes);
                return self.check();
            };
            let (head, tail) = bytes.split_at(end);
            self.line.extend_from_slice(head);
            self.check()?;
            self.after_return = tail.first() == Some(&b'\r');
            bytes = tail.get(1..).unwrap_or_default();
            self.end_line();
        }
        Ok(())
    }

    fn check(&self) -> Result<(), TooBig> {
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held > MOST_BYTES { Err(TooBig) } else { Ok(()) }
    }

    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        if !std::mem::replace(&mut self.is_begun, true) && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        match self.framing {
            Framing::Lines => {
                let text = String::from_utf8_lossy(&line);
                if !text.trim().is_empty() {
                    self.ready.push_back(text.into_owned());
                }
            }
            Framing::Events => self.end_event_line(&line),
        }
        // The room is used again.
        line.clear();
        self.line = line;
    }

    fn end_event_line(&mut self, line: &[u8]) {
        if line.is_empty() {
            self.ready.extend(self.data.take());
            return;
        }
        // Comments, names and numbers of events tell nothing that the data does not.
        let Some(rest) = line.strip_prefix(b"data") else { return };
        let value = match rest.split_first() {
            None => rest,
            Some((b':', value)) => value.strip_prefix(b" ").unwrap_or(value),
            Some(_) => return,
        };
        let text = String::from_utf8_lossy(value);
        match &mut self.data {
            Some(data) => {
                data.push('\n');
                data.push_str(&text);
            }
            None => self.data = Some(text.into_owned()),
        }
    }

    /// The next complete message.
    pub fn pop(&mut self) -> Option<String> {
        self.ready.pop_front()
    }

    /// The stream is over: what stands there without an end may still be complete.
    pub fn finish(&mut self) {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.ready.extend(self.data.take());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(framing: Framing, chunks: &[&[u8]]) -> Vec<String> {
        let mut frames = Frames::new(framing);
        for chunk in chunks {
            frames.push(chunk).unwrap();
        }
        frames.finish();
        std::iter::from_fn(|| frames.pop()).collect()
    }

    #[test]
    fn events_are_told_apart_whatever_ends_their_lines() {
        for text in ["data: a\n\ndata: b\n\n", "data: a\r\n\r\ndata: b\r\n\r\n", "data:a\r\rdata:b"]
        {
            assert_eq!(all(Framing::Events, &[text.as_bytes()]), ["a", "b"], "{text:?}");
        }
        let text =
            b"\xef\xbb\xbf: hello\nevent: x\nid: 1\ndata: one\ndata: two\nretry: 9\n\n\n\ndata\n\n";
        assert_eq!(all(Framing::Events, &[text]), ["one\ntwo", ""]);
        assert_eq!(all(Framing::Events, &[b"database: x\n\n"]), Vec::<String>::new());
    }

    #[test]
    fn a_line_feed_after_a_carriage_return_belongs_to_it_in_whatever_chunk_it_comes() {
        // Taken as two line ends, the one pair would end the event between its two lines.
        let whole: &[u8] = b"data: one\r\ndata: two\r\n\r\ndata: three\r\n\r\n";
        assert_eq!(all(Framing::Events, &[whole]), ["one\ntwo", "three"]);
        for cut in 0..=whole.len() {
            let (head, tail) = whole.split_at(cut);
            assert_eq!(all(Framing::Events, &[head, tail]), ["one\ntwo", "three"], "at {cut}");
            let parts = [head, b"", tail];
            assert_eq!(all(Framing::Events, &parts), ["one\ntwo", "three"], "empty at {cut}");
        }
        let single: Vec<&[u8]> = whole.chunks(1).collect();
        assert_eq!(all(Framing::Events, &single), ["one\ntwo", "three"]);
        // A second line feed is a line of its own, as is one after a line that a line feed ended.
        for text in ["data: a\r\n\ndata: b\r\n\n", "data: a\n\r\ndata: b\n\r"] {
            assert_eq!(all(Framing::Events, &[text.as_bytes()]), ["a", "b"], "{text:?}");
        }
    }

    #[test]
    fn lines_are_messages_and_empty_ones_are_not() {
        assert_eq!(all(Framing::Lines, &[b"{}\n\r\n \n[1]"]), ["{}", "[1]"]);
    }

    #[test]
    fn a_message_without_an_end_is_not_kept_for_ever() {
        for framing in [Framing::Events, Framing::Lines] {
            let mut frames = Frames::new(framing);
            let chunk = [b'x'; 1 << 20];
            let grown = (0..20).map(|_| frames.push(&chunk)).find(Result::is_err);
            assert_eq!(grown, Some(Err(TooBig)));
        }
        let mut frames = Frames::new(Framing::Events);
        let line = format!("data: {}\n", "x".repeat(1 << 20));
        let grown = (0..20).map(|_| frames.push(line.as_bytes())).find(Result::is_err);
        assert_eq!(grown, Some(Err(TooBig)));
    }

    proptest! {
        #[test]
        fn where_the_chunks_are_cut_makes_no_difference(
            texts in prop::collection::vec("[a-zäß🦀 ]{0,12}", 1..6),
            cuts in prop::collection::vec(0usize..200, 0..12),
            ends in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        ) {
            let events: String = texts
                .iter()
                .map(|text| format!("data: {text}{ends}data: .{ends}{ends}"))
                .collect();
            let texts: Vec<String> = texts.iter().map(|text| format!("{text}\n.")).collect();
            let bytes = events.as_bytes();
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
            places.extend([0, bytes.len()]);
            places.sort_unstable();
            let chunks: Vec<&[u8]> = places.windows(2).map(|w| &bytes[w[0]..w[1]]).collect();
            prop_assert_eq!(all(Framing::Events, &chunks), texts);
        }

        #[test]
        fn no_bytes_make_it_fall(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20)) {
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            all(Framing::Events, &chunks);
            all(Framing::Lines, &chunks);
        }
    }
}
