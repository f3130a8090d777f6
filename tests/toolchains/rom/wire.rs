//! The frames of the ROM loader's serial protocol: SLIP around a small header.
//!
//! Facts from Espressif's description of the serial protocol. Owns the form of frames alone.

const END: u8 = 0xc0;
const ESC: u8 = 0xdb;
const ESC_END: u8 = 0xdc;
const ESC_ESC: u8 = 0xdd;

/// What the host asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub command: u8,
    pub checksum: u32,
    pub data: Vec<u8>,
}

impl Request {
    /// Reads a frame without its ends; `None` for what is no request.
    pub fn read(frame: &[u8]) -> Option<Self> {
        let (&[0, command, low, high, a, b, c, d], data) = frame.split_first_chunk::<8>()? else {
            return None;
        };
        let length = usize::from(u16::from_le_bytes([low, high]));
        let checksum = u32::from_le_bytes([a, b, c, d]);
        (data.len() == length).then(|| Self { command, checksum, data: data.to_vec() })
    }

    /// The number at that place, counted in words of four bytes; 0 where there is none.
    pub fn word(&self, index: usize) -> u32 {
        let bytes = self.data.get(index * 4..index * 4 + 4);
        bytes.map_or(0, |bytes| u32::from_le_bytes(bytes.try_into().unwrap()))
    }

    /// What follows the four words before a block of data.
    pub fn block(&self) -> &[u8] {
        self.data.get(16..).unwrap_or_default()
    }

    /// Whether the block is what its checksum says.
    pub fn is_whole(&self) -> bool {
        self.block().iter().fold(0xef, |sum, byte| sum ^ byte) == self.checksum as u8
    }
}

/// Cuts what arrives into frames.
#[derive(Debug, Default)]
pub struct Frames {
    frame: Vec<u8>,
    is_escaped: bool,
}

impl Frames {
    /// Takes a byte; the frame that it ends, if it ends one.
    pub fn push(&mut self, byte: u8) -> Option<Vec<u8>> {
        if byte == END {
            let frame = std::mem::take(&mut self.frame);
            self.is_escaped = false;
            return (!frame.is_empty()).then_some(frame);
        }
        let is_escape = !self.is_escaped && byte == ESC;
        match (self.is_escaped, byte) {
            (false, ESC) => {}
            (true, ESC_END) => self.frame.push(END),
            (true, ESC_ESC) => self.frame.push(ESC),
            (_, byte) => self.frame.push(byte),
        }
        self.is_escaped = is_escape;
        None
    }
}

/// Puts ends around a frame.
pub fn framed(data: &[u8]) -> Vec<u8> {
    let mut out = vec![END];
    for &byte in data {
        match byte {
            END => out.extend([ESC, ESC_END]),
            ESC => out.extend([ESC, ESC_ESC]),
            other => out.push(other),
        }
    }
    out.push(END);
    out
}

/// An answer: the command, a number, data, and whether it went well.
pub fn answer(command: u8, value: u32, data: &[u8], status: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len() + status.len()).unwrap();
    let mut frame = vec![1, command];
    frame.extend(length.to_le_bytes());
    frame.extend(value.to_le_bytes());
    frame.extend_from_slice(data);
    frame.extend_from_slice(status);
    framed(&frame)
}
