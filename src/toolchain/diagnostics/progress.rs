//! How far a build is, by ninja's own counter.

/// Reads ninja's `[done/total]` from output that comes in pieces.
#[derive(Debug, Clone, Default)]
pub struct NinjaProgress {
    line: Vec<u8>,
    last: Option<(u32, u32)>,
}

impl NinjaProgress {
    /// Longer than any counter.
    const MAX_BYTES: usize = 32;

    /// Takes more output; returns (done, total) when they have changed.
    pub fn push(&mut self, bytes: &[u8]) -> Option<(u32, u32)> {
        let before = self.last;
        for &byte in bytes {
            match byte {
                // On a terminal ninja overwrites its line.
                b'\n' | b'\r' => self.line.clear(),
                b']' if self.line.len() < Self::MAX_BYTES => {
                    if let Some(step) = counter(&self.line) {
                        self.count(step);
                    }
                    self.line.push(byte);
                }
                _ if self.line.len() < Self::MAX_BYTES => self.line.push(byte),
                _ => {}
            }
        }
        self.last.filter(|_| self.last != before)
    }

    /// A part that is built by a ninja of its own, as the bootloader is, counts for itself; its
    /// counters are left out.
    fn count(&mut self, (done, total): (u32, u32)) {
        let is_ours = self.last.is_none_or(|(last_done, last_total)| {
            total > last_total || (done >= last_done && total >= last_total / 2)
        });
        if is_ours && done <= total && total > 0 {
            self.last = Some((done, total));
        }
    }
}

fn counter(line: &[u8]) -> Option<(u32, u32)> {
    let text = std::str::from_utf8(line).ok()?;
    let (done, total) = text.strip_prefix('[')?.split_once('/')?;
    Some((done.trim().parse().ok()?, total.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_that_of_the_outer_build() {
        let mut progress = NinjaProgress::default();
        assert_eq!(progress.push(b"[0/1] Re-running CMake...\n[1"), Some((0, 1)));
        assert_eq!(progress.push(b"/866] Building C object a.c.o\n"), Some((1, 866)));
        assert_eq!(progress.push(b"int a[3/1];\n"), None);
        assert_eq!(progress.push(b"[1/101] Building bootloader\n[90/101] x\n"), None);
        assert_eq!(progress.push(b"\r[2/860] y\r[3/860] z"), Some((3, 860)));
    }
}
