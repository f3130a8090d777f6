//! The serial ports of this machine: which there are, what is behind them, who has them open.
//!
//! Owns reading sysfs and procfs. Must not open a port.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::adapters::{Adapters, ResetStyle};

use crate::files;

/// What USB tells of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UsbId {
    pub vendor: u16,
    pub product: u16,
    /// Serial number; empty when the device has none.
    pub serial: String,
    /// Number of the interface, for devices with several ports.
    pub interface: String,
}

/// A port and what is behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PortInfo {
    /// Path, e.g. `/dev/ttyUSB0`.
    pub path: String,
    /// What it is called, e.g. `CP210x · Silicon Labs`.
    pub label: String,
    /// Chips that may be behind it, the likeliest first; a guess.
    pub chips: Vec<String>,
    /// USB ids; `None` for ports that are not USB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usb: Option<UsbId>,
    /// How its lines start the chip.
    pub reset: ResetStyle,
}

impl PortInfo {
    fn unknown(path: String, label: &str) -> Self {
        let (label, reset) = (label.to_owned(), ResetStyle::Classic);
        Self { path, label, chips: Vec::new(), usb: None, reset }
    }
    /// Whether it is likely an ESP32 board.
    #[must_use]
    pub fn is_likely_board(&self) -> bool {
        !self.chips.is_empty()
    }
}

/// The ports of this machine: likely boards first, then by path.
#[must_use]
pub fn list(adapters: &Adapters) -> Vec<PortInfo> {
    if cfg!(target_os = "linux") {
        return list_in(Path::new("/sys/class/tty"), Path::new("/dev"), adapters);
    }
    // Without sysfs only the names are known.
    let mut ports: Vec<PortInfo> = below(Path::new("/dev"))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            ["cu.usb", "cu.wchusb", "cu.SLAB", "ttyU", "cuaU"].iter().any(|s| name.starts_with(s))
        })
        .map(|path| PortInfo::unknown(path.display().to_string(), "USB serial"))
        .collect();
    ports.sort_by(|a, b| a.path.cmp(&b.path));
    ports
}

fn list_in(sys: &Path, dev: &Path, adapters: &Adapters) -> Vec<PortInfo> {
    let mut ports: Vec<PortInfo> = below(sys).filter_map(|tty| port(&tty, dev, adapters)).collect();
    ports.sort_by(|a, b| {
        (!a.is_likely_board(), natural(&a.path)).cmp(&(!b.is_likely_board(), natural(&b.path)))
    });
    ports
}

fn port(tty: &Path, dev: &Path, adapters: &Adapters) -> Option<PortInfo> {
    let device = fs::canonicalize(tty.join("device")).ok()?;
    let path = dev.join(tty.file_name()?).display().to_string();
    let Some((usb, maker)) = usb_of(&device) else {
        // A UART of the computer; type 0 stands for one that is not there.
        let is_there = line_of(&tty.join("type")).is_some_and(|kind| kind != "0");
        return is_there.then(|| PortInfo::unknown(path, "built-in UART"));
    };
    let adapter = adapters.find(usb.vendor, usb.product);
    let name = adapter.map_or_else(
        || format!("USB {:04x}:{:04x}", usb.vendor, usb.product),
        |adapter| adapter.name.clone(),
    );
    let label = if maker.is_empty() { name } else { format!("{name} · {maker}") };
    Some(PortInfo {
        path,
        label,
        chips: adapter.map(|adapter| adapter.chips.clone()).unwrap_or_default(),
        usb: Some(usb),
        reset: adapter.map(|adapter| adapter.reset).unwrap_or_default(),
    })
}

/// The USB device that a tty belongs to, and what its maker calls it. Descriptors that make no
/// sense are left out.
fn usb_of(device: &Path) -> Option<(UsbId, String)> {
    let number = |path: PathBuf| u16::from_str_radix(&line_of(&path)?, 16).ok();
    let mut interface = String::new();
    for folder in device.ancestors().take(8) {
        if let Some(number) = line_of(&folder.join("bInterfaceNumber")) {
            interface = number;
        }
        let Some(vendor) = number(folder.join("idVendor")) else { continue };
        let usb = UsbId {
            vendor,
            product: number(folder.join("idProduct"))?,
            serial: line_of(&folder.join("serial")).unwrap_or_default(),
            interface,
        };
        let maker = line_of(&folder.join("product"))
            .or_else(|| line_of(&folder.join("manufacturer")))
            .unwrap_or_default();
        return Some((usb, maker));
    }
    None
}

/// The first line of a small file, harmless to show.
fn line_of(path: &Path) -> Option<String> {
    let bytes = files::read_start(path, 4096).ok()?;
    let first = bytes.split(|b| *b == b'\n').next()?;
    let text = crate::text::sanitize::log_line(first.get(..first.len().min(120))?).into_owned();
    Some(text.trim().to_owned())
}

fn below(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Numbers count as numbers: `ttyUSB10` comes after `ttyUSB9`.
fn natural(path: &str) -> (String, u32) {
    let digits = path.len() - path.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (name, number) = path.split_at(path.len() - digits);
    (name.to_owned(), number.parse().unwrap_or(0))
}

/// The same device on whatever port it is now: it may come back under another name.
#[must_use]
pub fn find_again(usb: &UsbId, adapters: &Adapters) -> Option<String> {
    if usb.serial.is_empty() {
        return None;
    }
    list(adapters).into_iter().find(|port| port.usb.as_ref() == Some(usb)).map(|port| port.path)
}

/// The process that has `port` open, e.g. `screen (pid 4711)`; `None` when it cannot be told.
/// Processes of other people cannot be looked into.
#[must_use]
pub fn holder(port: &Path) -> Option<String> {
    let port = fs::canonicalize(port).ok()?;
    let own = std::process::id().to_string();
    for process in below(Path::new("/proc")) {
        let pid = process.file_name()?.to_string_lossy().into_owned();
        if pid == own || !pid.bytes().all(|b| b.is_ascii_digit()) {
            continue;
        }
        let has_it = below(&process.join("fd"))
            .any(|fd| fs::read_link(fd).is_ok_and(|target| target == port));
        if has_it {
            let name = line_of(&process.join("comm")).unwrap_or_else(|| "a process".to_owned());
            return Some(format!("{name} (pid {pid})"));
        }
    }
    None
}

/// The group that may open `port`, e.g. `dialout`.
#[must_use]
pub fn group(port: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let gid = fs::metadata(port).ok()?.gid();
    let groups = files::read_text(Path::new("/etc/group"), files::SOURCE).ok()?;
    groups.lines().find_map(|line| {
        let mut parts = line.split(':');
        let name = parts.next()?;
        (parts.nth(1)?.parse() == Ok(gid)).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::device::adapters::FILE;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A tty below `root`, as sysfs shows one behind USB.
    fn usb(root: &Path, name: &str, ids: (&str, &str), product: &str) {
        let device = root.join(format!("devices/usb1/{name}"));
        let interface = device.join("1-1:1.0");
        write(&device.join("idVendor"), ids.0);
        write(&device.join("idProduct"), ids.1);
        write(&device.join("serial"), "A1\n");
        write(&device.join("product"), product);
        write(&interface.join("bInterfaceNumber"), "00\n");
        fs::create_dir_all(interface.join(name)).unwrap();
        let tty = root.join("class").join(name);
        fs::create_dir_all(&tty).unwrap();
        symlink(interface.join(name), tty.join("device")).unwrap();
    }

    #[test]
    fn boards_come_first_and_bad_descriptors_do_no_harm() {
        let root = tempfile::tempdir().unwrap();
        usb(root.path(), "ttyUSB10", ("10c4\n", "ea60\n"), "CP2102N USB to UART\n");
        usb(root.path(), "ttyUSB9", ("1a86\n", "7523\n"), "\x1b]0;evil\x07\n");
        usb(root.path(), "ttyACM0", ("beef\n", "0001\n"), "");
        usb(root.path(), "ttyACM1", ("zzzz\n", "\n"), "");
        let uart = root.path().join("class/ttyS0");
        write(&uart.join("type"), "4\n");
        fs::create_dir_all(root.path().join("devices/serial")).unwrap();
        symlink(root.path().join("devices/serial"), uart.join("device")).unwrap();
        fs::create_dir_all(root.path().join("class/tty1")).unwrap();
        let adapters = Adapters::parse(FILE, include_str!("../../assets/boards/usb.toml")).unwrap();
        let found = list_in(&root.path().join("class"), Path::new("/dev"), &adapters);
        let paths: Vec<&str> = found.iter().map(|port| port.path.as_str()).collect();
        assert_eq!(paths, ["/dev/ttyUSB9", "/dev/ttyUSB10", "/dev/ttyACM0", "/dev/ttyS0"]);
        assert_eq!(found[1].label, "CP210x · CP2102N USB to UART");
        assert_eq!(found[1].chips[0], "esp32");
        assert!(!found[0].label.contains('\x1b'), "{:?}", found[0].label);
        assert_eq!(found[2].label, "USB beef:0001");
        assert_eq!(found[1].usb.as_ref().unwrap().interface, "00");
    }

    #[test]
    fn the_group_of_a_port_is_named() {
        assert!(group(Path::new("/dev/null")).is_some());
        assert_eq!(group(Path::new("/dev/no-such-port")), None);
    }
}
