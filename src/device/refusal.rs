//! Why a port cannot be opened, or not at that rate, and what to do.

use std::io;
use std::path::Path;

use super::ports;
use crate::model::UserError;

/// Most bits per second that an adapter makes. Source: the data sheets of FTDI's FT232H and
/// FT2232H, 12 MBd; those of other makers are slower.
const MOST_BAUD: u32 = 12_000_000;

/// Whether there are ports with that rate. None is zero bits per second: that hangs up.
///
/// # Errors
/// `InvalidInput` with what is wrong.
pub fn check_baud(baud: u32) -> io::Result<()> {
    if (1..=MOST_BAUD).contains(&baud) {
        return Ok(());
    }
    let why = format!("no port supports {baud} bits per second (1 to {MOST_BAUD})");
    Err(io::Error::new(io::ErrorKind::InvalidInput, why))
}

/// Why a port cannot be opened, and what to do.
#[must_use]
pub fn not_opened(port: &str, error: &io::Error) -> UserError {
    refused(format!("Cannot listen to `{port}`"), port, error)
}

/// Why a port cannot be opened, `what` not being possible without it, and what to do.
#[must_use]
pub fn refused(what: String, port: &str, error: &io::Error) -> UserError {
    let path = Path::new(port);
    match error.kind() {
        io::ErrorKind::NotFound => {
            let fix = "Connect the board, or name another port; `firmhand tool list_boards` lists \
                       them.";
            UserError::new(what, "there is no such port", fix)
        }
        io::ErrorKind::PermissionDenied => {
            let group = ports::group(path);
            let fix = match group.as_deref() {
                Some(group) if group != "root" => format!(
                    "Join the group that owns it: `sudo usermod -aG {group} $USER`, then log in \
                     again."
                ),
                _ => "Ask for the rights to open it.".to_owned(),
            };
            let why = match group {
                Some(group) => format!("it belongs to the group `{group}`, which you are not in"),
                None => "you have no permission to open it".to_owned(),
            };
            UserError::new(what, why, fix)
        }
        io::ErrorKind::ResourceBusy => {
            let why = match ports::holder(path) {
                Some(process) => format!("{process} has it open"),
                None => "another program has it open".to_owned(),
            };
            UserError::new(what, why, "End that program, or use another port.")
        }
        io::ErrorKind::InvalidInput => {
            let fix = "Name the rate with `--baud`, or correct the project's `monitor_baud` or \
                       `monitor_speed`.";
            UserError::new(what, error.to_string(), fix)
        }
        io::ErrorKind::ConnectionRefused => {
            let fix = "Check that the server runs and that host and port are correct.";
            UserError::new(what, "no server answers at that address", fix)
        }
        _ => {
            let why = match error.raw_os_error() {
                Some(25) => "it is not a serial port".to_owned(),
                _ => error.to_string(),
            };
            UserError::new(what, why, "Reconnect the board, or name another port.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_to_do() {
        let reported = |port: &str, kind: io::ErrorKind| not_opened(port, &kind.into());
        assert!(reported("/dev/x", io::ErrorKind::NotFound).fix.contains("list_boards"));
        let denied = reported("/dev/null", io::ErrorKind::PermissionDenied);
        assert!(denied.why.contains("the group `"), "{denied:?}");
        let error = io::Error::from_raw_os_error(25);
        assert_eq!(not_opened("/etc/passwd", &error).why, "it is not a serial port");
    }

    #[test]
    fn a_rate_that_no_port_has_is_refused() {
        for baud in [1, 300, 74_880, 921_600, MOST_BAUD] {
            check_baud(baud).unwrap();
        }
        for baud in [0, MOST_BAUD + 1, u32::MAX] {
            let error = not_opened("/dev/ttyUSB0", &check_baud(baud).unwrap_err());
            assert!(error.why.contains(&baud.to_string()), "{error:?}");
            assert!(error.fix.contains("--baud"), "{error:?}");
        }
    }
}
