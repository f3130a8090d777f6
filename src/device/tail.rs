//! The newest bytes of a port, for whoever listens.

/// Listeners can look back this far; the log holds everything.
pub(super) const TAIL_BYTES: usize = 512 * 1024;

/// The newest bytes of a port.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    /// Position of the first of them since the port was opened.
    start: u64,
    /// Up to where somebody has reported them.
    pub reported: u64,
}

impl Tail {
    /// Takes bytes; returns the position after them.
    pub fn push(&mut self, chunk: &[u8]) -> u64 {
        self.bytes.extend_from_slice(chunk);
        // Cut rarely, so that a flood is not copied around with every chunk.
        if self.bytes.len() > 2 * TAIL_BYTES {
            let gone = self.bytes.len() - TAIL_BYTES;
            self.bytes.drain(..gone);
            self.start += gone as u64;
        }
        self.end()
    }

    /// The bytes from position `from` on that are held, and the position of the first of them.
    pub fn since(&self, from: u64) -> (u64, Vec<u8>) {
        let from = from.clamp(self.start, self.end());
        let skip = usize::try_from(from - self.start).unwrap_or(usize::MAX);
        (from, self.bytes.get(skip..).unwrap_or_default().to_vec())
    }

    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}
