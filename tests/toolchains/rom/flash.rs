//! The flash of the simulated chip: how blocks, plain or compressed, become bytes at addresses.

use flate2::write::ZlibDecoder;
use std::io::Write;

use md5::{Digest, Md5};

use super::wire::Request;

/// The smallest piece that can be erased.
const SECTOR: usize = 4096;

/// A write that has begun.
#[derive(Default)]
pub struct Flash {
    at: usize,
    /// Bytes in each block.
    block: usize,
    inflate: Option<ZlibDecoder<Vec<u8>>>,
    written: usize,
}

impl Flash {
    /// Performs one command of writing or erasing; `false` when it makes no sense.
    pub fn perform(&mut self, request: &Request, flash: &mut [u8], is_stub: bool) -> bool {
        let (size, block, offset) =
            (request.word(0) as usize, request.word(2) as usize, request.word(3) as usize);
        match request.command {
            0xd0 => {
                flash.fill(0xff);
                is_stub
            }
            0xd1 => {
                let (from, bytes) = (request.word(0) as usize, request.word(1) as usize);
                let is_whole = from.is_multiple_of(SECTOR) && bytes.is_multiple_of(SECTOR);
                is_stub && is_whole && erase(flash, from, bytes)
            }
            0x02 => {
                *self = Self { at: offset, block, inflate: None, written: 0 };
                erase(flash, offset, size)
            }
            0x10 => {
                let inflate = Some(ZlibDecoder::new(Vec::new()));
                *self = Self { at: offset, block, inflate, written: 0 };
                erase(flash, offset, size)
            }
            0x03 => {
                let at = self.at + request.word(1) as usize * self.block;
                program(flash, at, request.block())
            }
            0x11 => {
                let Some(inflate) = &mut self.inflate else { return false };
                if inflate.write_all(request.block()).is_err() || inflate.flush().is_err() {
                    return false;
                }
                let all = inflate.get_ref();
                let is_there = program(flash, self.at + self.written, &all[self.written..]);
                self.written = all.len();
                is_there
            }
            _ => true,
        }
    }
}

fn erase(flash: &mut [u8], from: usize, bytes: usize) -> bool {
    let end = (from + bytes).next_multiple_of(SECTOR);
    let Some(there) = flash.get_mut(from / SECTOR * SECTOR..end) else { return false };
    there.fill(0xff);
    true
}

/// Writing can only clear bits, as in real flash.
fn program(flash: &mut [u8], at: usize, bytes: &[u8]) -> bool {
    let Some(there) = flash.get_mut(at..at + bytes.len()) else { return false };
    there.iter_mut().zip(bytes).for_each(|(old, new)| *old &= new);
    true
}

pub fn md5(bytes: &[u8]) -> [u8; 16] {
    Md5::digest(bytes).into()
}
