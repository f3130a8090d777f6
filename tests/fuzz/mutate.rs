//! Changed inputs, the same on every run: a small mutation fuzzer without knowledge of coverage.
//!
//! Owns the source of chance and the ways to change bytes.

/// A source of chance that gives the same numbers for the same seed (xorshift64*).
pub struct Chance(u64);

impl Chance {
    /// One for a name.
    pub fn named(name: &str) -> Self {
        let start = 0xcbf2_9ce4_8422_2325;
        let fold = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        Self(name.bytes().fold(start, fold) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap_or(0) % end
    }
}

/// Bytes at which readers decide something.
const TELLING: &[&[u8]] = &[
    b"\0",
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\x1b[",
    b"\x1b]",
    b"\x1e",
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b"#",
    b"=",
    b":",
    b",",
    b"```",
    b"<",
    b">",
    b"0x",
    b"-1",
    b"4294967295",
    b"18446744073709551616",
    b"1e999",
    b"\xff",
    b"\xc3",
    b"\xe2\x80\xae",
    b"\xef\xbb\xbf",
    b"\xcc\x81",
    b"\xf0\x9f\xa6\x80",
    b"\xff\xff\xff\xff",
    b"\x80",
    b"%",
    b"${",
    b"\"\"\"",
    b"\t",
];

/// Most bytes of a changed input.
const MOST: usize = 64 * 1024;

/// One of `seeds`, changed in a few places, or put together from two.
pub fn changed(seeds: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = seeds[chance.below(seeds.len())].clone();
    for _ in 0..=chance.below(6) {
        let at = chance.below(bytes.len() + 1);
        let end = (at + chance.below(24)).min(bytes.len());
        match chance.below(9) {
            0 if at < bytes.len() => bytes[at] ^= 1 << chance.below(8),
            1 if at < bytes.len() => bytes[at] = u8::try_from(chance.below(256)).unwrap_or(0),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let again: Vec<u8> = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            4 => bytes.truncate(at),
            5 => {
                let other = &seeds[chance.below(seeds.len())];
                let from = chance.below(other.len() + 1);
                bytes.splice(at.., other[from..].iter().copied());
            }
            6 => {
                let from = chance.below(bytes.len() + 1);
                let to = (from + chance.below(200)).min(bytes.len());
                let moved: Vec<u8> = bytes[from..to].to_vec();
                bytes.splice(at..end, moved);
            }
            _ => {
                let told = TELLING[chance.below(TELLING.len())];
                bytes.splice(at..at, told.iter().copied());
            }
        }
    }
    bytes.truncate(MOST);
    bytes
}
