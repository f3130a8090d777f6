//! A simulated ESP32 in its boot loader, at a pseudo-terminal, with faults on demand.
//!
//! Speaks what the ROM and the flasher stub speak, by Espressif's description of the serial
//! protocol, and holds its flash as bytes. It has no DTR and RTS lines: instead it starts anew
//! whenever nobody has its port open.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use firmhand::device::Pty;
use rustix::fs::{OFlags, fcntl_setfl};

use super::flash::Flash;
use super::wire::{Frames, Request, answer, framed};

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fault {
    #[default]
    None,
    /// It answers nothing at all.
    NoSync,
    /// A write is refused after this many blocks.
    WriteFails(u32),
    /// The byte at that address does not take what is written to it.
    StuckByte(u32),
    /// It answers nothing any more after this many blocks.
    SilentAfter(u32),
    /// Its port goes away after this many blocks.
    GoneAfter(u32),
    /// What it says above that rate arrives garbled.
    NoiseAbove(u32),
    /// It answers nothing any more from that command on, counted from 0 after each start.
    SilentAt(u32),
    /// Its port goes away at that command.
    GoneAt(u32),
    /// It refuses that command and every later one.
    RefusesAt(u32),
    /// Its flash has only that many bytes, as a power of two.
    FlashOf(u8),
}

/// Which chip it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Esp32,
    Esp32C3,
}

/// What the tests look at afterwards.
#[derive(Debug, Default)]
pub struct Seen {
    /// What the flash holds.
    pub flash: Vec<u8>,
    /// The commands that were answered, in order.
    pub commands: Vec<u8>,
    /// The rates the host asked for.
    pub rates: Vec<u32>,
    /// How often somebody opened the port.
    pub opened: u32,
}

/// A chip that runs until it is dropped.
pub struct Chip {
    pub port: String,
    pub seen: Arc<Mutex<Seen>>,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Chip {
    /// Starts one with that many bytes of flash, all of them erased.
    pub fn start(kind: Kind, fault: Fault, flash: usize) -> Self {
        let Pty { board, port, held } = Pty::open().unwrap();
        // Nobody has its port open yet.
        drop(held);
        let seen = Arc::new(Mutex::new(Seen { flash: vec![0xff; flash], ..Seen::default() }));
        let stop = Arc::new(AtomicBool::new(false));
        let rom = Rom { kind, fault, seen: seen.clone(), state: State::default() };
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || rom.run(board, &stopped));
        Self { port, seen, stop, thread: Some(thread) }
    }

    /// What its flash holds from there on.
    pub fn flash(&self, from: usize, bytes: usize) -> Vec<u8> {
        self.seen.lock().unwrap().flash[from..from + bytes].to_vec()
    }
}

impl Drop for Chip {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        let _ = self.thread.take().unwrap().join();
    }
}

/// What is forgotten when it starts anew.
#[derive(Default)]
struct State {
    is_stub: bool,
    is_silent: bool,
    rate: u32,
    /// The rate from the next answer on.
    next_rate: u32,
    blocks: u32,
    /// Commands that it has got.
    taken: u32,
    registers: BTreeMap<u32, u32>,
    write: Flash,
    /// What is still to be sent of a flash that is read: (data, packet size, sent, at most ahead).
    reading: Option<(Vec<u8>, usize, usize, usize)>,
}

struct Rom {
    kind: Kind,
    fault: Fault,
    seen: Arc<Mutex<Seen>>,
    state: State,
}

/// Between two looks at the port.
const IDLE: Duration = Duration::from_micros(500);

/// How an answer ends: whether it went well, and why not.
const WELL: [u8; 2] = [0, 0];
const WRITE_FAILED: [u8; 2] = [1, 0x08];
const BAD_CHECKSUM: [u8; 2] = [1, 0x07];
const UNKNOWN: [u8; 2] = [1, 0x05];

enum Reply {
    Nothing,
    Gone,
    Bytes(Vec<u8>),
}

impl Rom {
    fn run(mut self, mut master: File, stop: &AtomicBool) {
        fcntl_setfl(&master, OFlags::RDWR | OFlags::NONBLOCK).unwrap();
        let mut frames = Frames::default();
        let mut buffer = vec![0; 32 * 1024];
        let mut is_open = false;
        while !stop.load(Ordering::Acquire) {
            let count = match master.read(&mut buffer) {
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    std::thread::sleep(IDLE);
                    continue;
                }
                Err(_) => {
                    // Nobody has the port open.
                    (is_open, self.state, frames) = (false, State::default(), Frames::default());
                    std::thread::sleep(IDLE);
                    continue;
                }
            };
            if !is_open {
                is_open = true;
                self.seen.lock().unwrap().opened += 1;
            }
            for byte in &buffer[..count] {
                let Some(frame) = frames.push(*byte) else { continue };
                match self.take(&frame) {
                    Reply::Nothing => {}
                    Reply::Gone => return,
                    Reply::Bytes(bytes) => self.say(&mut master, bytes, stop),
                }
            }
        }
    }

    fn say(&self, master: &mut File, mut bytes: Vec<u8>, stop: &AtomicBool) {
        if matches!(self.fault, Fault::NoiseAbove(rate) if self.state.rate > rate) {
            bytes.iter_mut().for_each(|byte| *byte = byte.rotate_left(3) ^ 0x55);
        }
        let mut rest = bytes.as_slice();
        while !rest.is_empty() && !stop.load(Ordering::Acquire) {
            match master.write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(IDLE),
                Err(_) => return,
            }
        }
    }

    fn take(&mut self, frame: &[u8]) -> Reply {
        self.state.rate = self.state.next_rate;
        if self.state.is_silent || self.fault == Fault::NoSync {
            return Reply::Nothing;
        }
        if self.state.reading.is_some() && frame.len() == 4 {
            let done = u32::from_le_bytes(frame.try_into().unwrap());
            return Reply::Bytes(self.go_on_reading(done as usize));
        }
        let Some(request) = Request::read(frame) else { return Reply::Nothing };
        let at = self.state.taken;
        self.state.taken += 1;
        match self.fault {
            Fault::SilentAt(from) if at >= from => {
                self.state.is_silent = true;
                return Reply::Nothing;
            }
            Fault::GoneAt(from) if at >= from => return Reply::Gone,
            Fault::RefusesAt(from) if at >= from => {
                return Reply::Bytes(self.status(request.command, WRITE_FAILED));
            }
            _ => {}
        }
        if matches!(request.command, 0x03 | 0x11) {
            self.state.blocks += 1;
            match self.fault {
                Fault::SilentAfter(blocks) if self.state.blocks > blocks => {
                    self.state.is_silent = true;
                    return Reply::Nothing;
                }
                Fault::GoneAfter(blocks) if self.state.blocks > blocks => return Reply::Gone,
                _ => {}
            }
        }
        self.seen.lock().unwrap().commands.push(request.command);
        Reply::Bytes(self.answer(&request))
    }

    fn answer(&mut self, request: &Request) -> Vec<u8> {
        let command = request.command;
        match command {
            0x08 => self.sync(),
            0x0a => {
                let value = self.read_register(request.word(0));
                self.well(command, value, &[])
            }
            0x09 => {
                self.write_register(request.word(0), request.word(1));
                self.well(command, 0, &[])
            }
            0x06 => self.start_stub(request),
            0x0f => {
                // The answer still goes out at the old rate.
                self.state.next_rate = request.word(0);
                self.seen.lock().unwrap().rates.push(request.word(0));
                self.well(command, 0, &[])
            }
            0x14 if self.kind == Kind::Esp32C3 => {
                // Flags, three counts of bytes, chip and revision.
                let mut data = vec![0; 12];
                data.extend(5_u32.to_le_bytes());
                data.extend(0_u32.to_le_bytes());
                self.well(command, 0, &data)
            }
            0x02..=0x04 | 0x10..=0x12 | 0xd0 | 0xd1 => self.write_flash(request),
            0x13 => self.digest(request),
            0x0e if !self.state.is_stub => {
                let from = request.word(0) as usize;
                let data = self.seen.lock().unwrap().flash[from..from + 64].to_vec();
                self.well(command, 0, &data)
            }
            0xd2 if self.state.is_stub => self.read_flash(request),
            // Memory for the stub, the flash chip's parameters.
            0x05 | 0x07 | 0x0b | 0x0d => self.well(command, 0, &[]),
            _ => self.status(command, UNKNOWN),
        }
    }

    /// The ROM ends its answers with four bytes, the stub with two.
    fn ended(&self, status: [u8; 2]) -> Vec<u8> {
        match self.state.is_stub {
            true => status.to_vec(),
            false => vec![status[0], status[1], 0, 0],
        }
    }

    fn well(&self, command: u8, value: u32, data: &[u8]) -> Vec<u8> {
        answer(command, value, data, &self.ended(WELL))
    }

    fn status(&self, command: u8, status: [u8; 2]) -> Vec<u8> {
        answer(command, 0, &[], &self.ended(status))
    }

    /// The ROM answers eight times, and not with 0, by which the stub is known.
    fn sync(&self) -> Vec<u8> {
        let value = if self.state.is_stub { 0 } else { 0x2012_0707 };
        self.well(0x08, value, &[]).repeat(8)
    }

    fn start_stub(&mut self, request: &Request) -> Vec<u8> {
        let mut out = self.well(0x06, 0, &[]);
        if request.word(1) != 0 {
            self.state.is_stub = true;
            out.extend(framed(b"OHAI"));
        }
        out
    }

    /// Where the registers of the flash's SPI begin.
    fn spi(&self) -> u32 {
        match self.kind {
            Kind::Esp32 => 0x3ff4_2000,
            Kind::Esp32C3 => 0x6000_2000,
        }
    }

    fn read_register(&self, address: u32) -> u32 {
        match (address, self.kind) {
            (0x4000_1000, Kind::Esp32) => 0x00f0_1d83,
            (0x4000_1000, Kind::Esp32C3) => 0x1b31_506f,
            // The divider of the UART's clock, from which tools tell the crystal: 40 MHz.
            (0x6000_0014, Kind::Esp32C3) => 40_000_000 / 115_200,
            (0x3ff4_0014, Kind::Esp32) => 80_000_000 / 115_200,
            _ => self.state.registers.get(&address).copied().unwrap_or_default(),
        }
    }

    fn write_register(&mut self, address: u32, value: u32) {
        let (usr2, w0) = match self.kind {
            Kind::Esp32 => (0x24, 0x80),
            Kind::Esp32C3 => (0x20, 0x58),
        };
        let spi = self.spi();
        if address == spi && value & (1 << 18) != 0 {
            // The flash chip is asked what it is: 4 MB of a common maker.
            if self.read_register(spi + usr2) & 0xff == 0x9f {
                let size = match self.fault {
                    Fault::FlashOf(power) => power,
                    _ => 22,
                };
                self.state.registers.insert(spi + w0, u32::from(size) << 16 | 0x40ef);
            }
            return;
        }
        self.state.registers.insert(address, value);
    }

    fn write_flash(&mut self, request: &Request) -> Vec<u8> {
        let command = request.command;
        if matches!(command, 0x03 | 0x11) {
            if !request.is_whole() {
                return self.status(command, BAD_CHECKSUM);
            }
            if matches!(self.fault, Fault::WriteFails(after) if self.state.blocks > after) {
                return self.status(command, WRITE_FAILED);
            }
        }
        let mut seen = self.seen.lock().unwrap();
        let is_done = self.state.write.perform(request, &mut seen.flash, self.state.is_stub);
        if let Fault::StuckByte(at) = self.fault {
            seen.flash[at as usize] = 0xff;
        }
        drop(seen);
        self.status(command, if is_done { WELL } else { WRITE_FAILED })
    }

    fn digest(&self, request: &Request) -> Vec<u8> {
        let (from, bytes) = (request.word(0) as usize, request.word(1) as usize);
        let seen = self.seen.lock().unwrap();
        let digest = super::flash::md5(&seen.flash[from..from + bytes]);
        match self.state.is_stub {
            true => self.well(0x13, 0, &digest),
            false => {
                let text: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
                self.well(0x13, 0, text.as_bytes())
            }
        }
    }

    fn read_flash(&mut self, request: &Request) -> Vec<u8> {
        let (from, bytes) = (request.word(0) as usize, request.word(1) as usize);
        let data = self.seen.lock().unwrap().flash[from..from + bytes].to_vec();
        let (packet, ahead) = (request.word(2) as usize, request.word(3) as usize);
        self.state.reading = Some((data, packet, 0, ahead.max(1)));
        let mut out = self.well(0xd2, 0, &[]);
        out.extend(self.go_on_reading(0));
        out
    }

    /// Sends as many packets as may be under way; after the last is known to have arrived, the
    /// digest of all of them.
    fn go_on_reading(&mut self, arrived: usize) -> Vec<u8> {
        let Some((data, packet, mut sent, ahead)) = self.state.reading.take() else {
            return Vec::new();
        };
        let mut out = Vec::new();
        while sent < data.len() && sent < arrived + packet * ahead {
            let end = (sent + packet).min(data.len());
            out.extend(framed(&data[sent..end]));
            sent = end;
        }
        match arrived >= data.len() {
            true => out.extend(framed(&super::flash::md5(&data))),
            false => self.state.reading = Some((data, packet, sent, ahead)),
        }
        out
    }
}
