//! Telnet with the com port option (RFC 2217): a serial port over the network.
//!
//! Owns the protocol alone: bytes in, data and replies out. Must not know sockets.

/// Telnet: the next byte is a command.
const IAC: u8 = 255;
const DONT: u8 = 254;
const DO: u8 = 253;
const WONT: u8 = 252;
const WILL: u8 = 251;
const SB: u8 = 250;
const SE: u8 = 240;

/// Options that are agreed to.
const BINARY: u8 = 0;
const SUPPRESS_GO_AHEAD: u8 = 3;
const COM_PORT: u8 = 44;

/// Commands of the com port option.
const SET_BAUDRATE: u8 = 1;
const SET_DATASIZE: u8 = 2;
const SET_PARITY: u8 = 3;
const SET_STOPSIZE: u8 = 4;
const SET_CONTROL: u8 = 5;

/// Values of [`SET_CONTROL`].
const NO_FLOW_CONTROL: u8 = 1;
const DTR_ON: u8 = 8;
const DTR_OFF: u8 = 9;
const RTS_ON: u8 = 11;
const RTS_OFF: u8 = 12;

/// What the other side said of the com port option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Agreed {
    #[default]
    Open,
    /// It takes part.
    Yes,
    /// It does not: lines and baud cannot be set.
    No,
}

/// Reads what the other side sends.
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    state: NegotiationState,
    agreed: Agreed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum NegotiationState {
    #[default]
    Data,
    Command,
    Option(u8),
    Inside,
    InsideCommand,
}

/// What to send when the connection is made.
#[must_use]
pub fn greeting() -> Vec<u8> {
    let mut out = vec![IAC, WILL, COM_PORT];
    for option in [BINARY, SUPPRESS_GO_AHEAD] {
        out.extend_from_slice(&[IAC, WILL, option, IAC, DO, option]);
    }
    out
}

/// Sets 8 data bits, no parity, one stop bit, no flow control, and the baud rate.
#[must_use]
pub fn settings(baud: u32) -> Vec<u8> {
    let mut out = set_baud(baud);
    let rest =
        [(SET_DATASIZE, 8), (SET_PARITY, 1), (SET_STOPSIZE, 1), (SET_CONTROL, NO_FLOW_CONTROL)];
    for (command, value) in rest {
        out.extend(subnegotiation(command, &[value]));
    }
    out
}

/// Sets the baud rate.
#[must_use]
pub fn set_baud(baud: u32) -> Vec<u8> {
    subnegotiation(SET_BAUDRATE, &baud.to_be_bytes())
}

/// Sets DTR and RTS; `true` asserts the line.
#[must_use]
pub fn set_lines(lines: super::reset::ControlLines) -> Vec<u8> {
    let dtr = if lines.dtr { DTR_ON } else { DTR_OFF };
    let rts = if lines.rts { RTS_ON } else { RTS_OFF };
    [subnegotiation(SET_CONTROL, &[dtr]), subnegotiation(SET_CONTROL, &[rts])].concat()
}

/// Makes data safe to send.
#[must_use]
pub fn escape(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len() + 8);
    for byte in data {
        out.push(*byte);
        if *byte == IAC {
            out.push(IAC);
        }
    }
    out
}

fn subnegotiation(command: u8, value: &[u8]) -> Vec<u8> {
    let mut out = vec![IAC, SB, COM_PORT, command];
    out.extend(escape(value));
    out.extend_from_slice(&[IAC, SE]);
    out
}

impl Decoder {
    /// Whether the other side takes part in the com port option.
    #[must_use]
    pub const fn agreed(&self) -> Agreed {
        self.agreed
    }

    /// Takes bytes as they came; the data among them goes to `data`, what has to be answered to
    /// `replies`.
    pub fn push(&mut self, bytes: &[u8], data: &mut Vec<u8>, replies: &mut Vec<u8>) {
        let mut rest = bytes;
        while let [byte, after @ ..] = rest {
            if self.state == NegotiationState::Data {
                let end = memchr::memchr(IAC, rest).unwrap_or(rest.len());
                data.extend_from_slice(rest.get(..end).unwrap_or_default());
                rest = rest.get(end..).unwrap_or_default();
                if !rest.is_empty() {
                    rest = rest.get(1..).unwrap_or_default();
                    self.state = NegotiationState::Command;
                }
                continue;
            }
            rest = after;
            self.state = match self.state {
                NegotiationState::Data => NegotiationState::Data,
                NegotiationState::Command => command(*byte, data),
                NegotiationState::Option(verb) => {
                    self.option(verb, *byte, replies);
                    NegotiationState::Data
                }
                NegotiationState::Inside if *byte == IAC => NegotiationState::InsideCommand,
                NegotiationState::Inside => NegotiationState::Inside,
                NegotiationState::InsideCommand if *byte == SE => NegotiationState::Data,
                NegotiationState::InsideCommand => NegotiationState::Inside,
            };
        }
    }

    fn option(&mut self, verb: u8, option: u8, replies: &mut Vec<u8>) {
        match (verb, option) {
            (DO, COM_PORT) => self.agreed = Agreed::Yes,
            (DONT, COM_PORT) => self.agreed = Agreed::No,
            // What was offered in the greeting is agreed; answering would go on for ever.
            (DO | WILL, BINARY | SUPPRESS_GO_AHEAD) | (DONT | WONT, _) => {}
            // The other side's own com port is of no use here, and neither is anything else.
            (DO, other) => replies.extend_from_slice(&[IAC, WONT, other]),
            (WILL, COM_PORT) => replies.extend_from_slice(&[IAC, DO, COM_PORT]),
            (_, other) => replies.extend_from_slice(&[IAC, DONT, other]),
        }
    }
}

fn command(byte: u8, data: &mut Vec<u8>) -> NegotiationState {
    match byte {
        IAC => {
            data.push(IAC);
            NegotiationState::Data
        }
        DO | DONT | WILL | WONT => NegotiationState::Option(byte),
        // What it reports of its lines is of no use here.
        SB => NegotiationState::Inside,
        _ => NegotiationState::Data,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::device::reset::ControlLines;

    fn read(decoder: &mut Decoder, bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let (mut data, mut replies) = (Vec::new(), Vec::new());
        decoder.push(bytes, &mut data, &mut replies);
        (data, replies)
    }

    #[test]
    fn data_and_negotiation_are_told_apart() {
        let mut decoder = Decoder::default();
        let bytes = [b"ab".as_slice(), &[IAC, DO, COM_PORT], b"c", &[IAC, IAC], b"d"].concat();
        assert_eq!(read(&mut decoder, &bytes), (b"abc\xffd".to_vec(), vec![]));
        assert_eq!(decoder.agreed(), Agreed::Yes);
        let answer = [IAC, SB, COM_PORT, 101, 0, 1, 0xc2, 0, IAC, SE];
        assert_eq!(read(&mut decoder, &answer), (vec![], vec![]), "an answer is no data");
        let (_, replies) = read(&mut decoder, &[IAC, DO, 24, IAC, WILL, 1]);
        assert_eq!(replies, [IAC, WONT, 24, IAC, DONT, 1]);
    }

    #[test]
    fn a_rate_with_the_command_byte_in_it_is_escaped() {
        assert_eq!(set_baud(0xff), [IAC, SB, COM_PORT, 1, 0, 0, 0, IAC, IAC, IAC, SE]);
        let lines = set_lines(ControlLines { dtr: true, rts: false });
        assert_eq!(lines, [IAC, SB, COM_PORT, 5, 8, IAC, SE, IAC, SB, COM_PORT, 5, 12, IAC, SE]);
    }

    proptest! {
        #[test]
        fn data_survives_the_way(data in prop::collection::vec(prop_oneof![Just(IAC), any::<u8>()], 0..200), cut in 0usize..200) {
            let sent = escape(&data);
            let mut decoder = Decoder::default();
            let (a, b) = sent.split_at(cut.min(sent.len()));
            let mut got = read(&mut decoder, a).0;
            got.extend(read(&mut decoder, b).0);
            prop_assert_eq!(got, data);
        }

        #[test]
        fn nonsense_does_no_harm(bytes in prop::collection::vec(prop_oneof![Just(IAC), Just(SB), Just(SE), any::<u8>()], 0..300)) {
            read(&mut Decoder::default(), &bytes);
        }
    }
}
