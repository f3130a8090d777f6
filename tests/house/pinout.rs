//! The pin tables against what ESP-IDF says: against figures from its headers that are written
//! down here, and, where `FIRMHAND_TEST_IDF=1` and `IDF_PATH` are set, against the headers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use firmhand::config::Assets;
use firmhand::device::{AdcInput, PINOUTS, Pin, Pinout};
use regex::Regex;

/// What `soc_caps.h` says of a chip.
struct Caps {
    /// File name of the table.
    chip: &'static str,
    /// `SOC_GPIO_VALID_GPIO_MASK`.
    valid: u64,
    /// `SOC_GPIO_VALID_OUTPUT_GPIO_MASK`.
    output: u64,
    /// Channels of the converters.
    adc: [usize; 2],
    /// Touch channels at pins.
    touch: usize,
    /// `SOC_RTCIO_PIN_COUNT`.
    rtc: usize,
    /// `SOC_DAC_CHAN_NUM`.
    dac: usize,
    /// Strapping pins, by the chip's table in the GPIO documentation.
    strapping: &'static [u8],
}

const CAPS: &[Caps] = &[
    Caps {
        chip: "esp32",
        valid: 0xff_0eff_ffff,
        output: 0x03_0eff_ffff,
        adc: [8, 10],
        touch: 10,
        rtc: 18,
        dac: 2,
        strapping: &[0, 2, 5, 12, 15],
    },
    Caps {
        chip: "esp32s2",
        valid: 0x7fff_fc3f_ffff,
        output: 0x3fff_fc3f_ffff,
        adc: [10, 10],
        touch: 14,
        rtc: 22,
        dac: 2,
        strapping: &[0, 45, 46],
    },
    Caps {
        chip: "esp32s3",
        valid: 0x1_ffff_fc3f_ffff,
        output: 0x1_ffff_fc3f_ffff,
        adc: [10, 10],
        touch: 14,
        rtc: 22,
        dac: 0,
        strapping: &[0, 3, 45, 46],
    },
    Caps {
        chip: "esp32c3",
        valid: 0x3f_ffff,
        output: 0x3f_ffff,
        adc: [5, 1],
        touch: 0,
        rtc: 0,
        dac: 0,
        strapping: &[2, 8, 9],
    },
    Caps {
        chip: "esp32c6",
        valid: 0x7fff_ffff,
        output: 0x7fff_ffff,
        adc: [7, 0],
        touch: 0,
        rtc: 8,
        dac: 0,
        strapping: &[4, 5, 8, 9, 15],
    },
    Caps {
        chip: "esp32h2",
        valid: 0xfff_ffff,
        output: 0xfff_ffff,
        adc: [5, 0],
        touch: 0,
        rtc: 8,
        dac: 0,
        strapping: &[2, 3, 8, 9, 25],
    },
    Caps {
        chip: "esp32p4",
        valid: 0x7f_ffff_ffff_ffff,
        output: 0x7f_ffff_ffff_ffff,
        adc: [8, 6],
        touch: 14,
        rtc: 16,
        dac: 0,
        strapping: &[34, 35, 36, 37, 38],
    },
    Caps {
        chip: "esp32c2",
        valid: 0x1f_ffff,
        output: 0x1f_ffff,
        adc: [5, 0],
        touch: 0,
        rtc: 0,
        dac: 0,
        strapping: &[8, 9],
    },
    Caps {
        chip: "esp32c5",
        valid: 0x1fff_ffff,
        output: 0x1fff_ffff,
        adc: [6, 0],
        touch: 0,
        rtc: 7,
        dac: 0,
        strapping: &[2, 7, 25, 27, 28],
    },
    Caps {
        chip: "esp32c61",
        valid: 0x3fff_ffff,
        output: 0x3fff_ffff,
        adc: [4, 0],
        touch: 0,
        rtc: 7,
        dac: 0,
        strapping: &[3, 4, 7, 8, 9],
    },
];

fn load(chip: &str) -> Pinout {
    Pinout::load(&Assets::built_in(), chip).unwrap()
}

fn mask(table: &Pinout, has: impl Fn(&Pin) -> bool) -> u64 {
    table.pins.iter().filter(|pin| has(pin)).fold(0, |mask, pin| mask | 1 << pin.gpio)
}

#[test]
fn every_table_is_checked_here() {
    let shipped = Assets::built_in().list(PINOUTS);
    let checked: Vec<String> =
        CAPS.iter().map(|caps| format!("{PINOUTS}/{}.json", caps.chip)).collect();
    assert_eq!(shipped.len(), checked.len());
    assert!(shipped.iter().all(|path| checked.contains(path)), "{shipped:?}");
}

#[test]
fn every_pin_that_exists_is_described_and_no_other() {
    for caps in CAPS {
        let (table, chip) = (load(caps.chip), caps.chip);
        assert_eq!(mask(&table, |_| true), caps.valid, "{chip}");
        assert_eq!(mask(&table, |pin| pin.output), caps.output, "{chip}");
        let strapping = caps.strapping.iter().fold(0, |mask, gpio| mask | 1_u64 << gpio);
        assert_eq!(mask(&table, |pin| pin.roles.strapping.is_some()), strapping, "{chip}");
    }
}

#[test]
fn every_channel_is_at_one_pin() {
    for caps in CAPS {
        let (table, chip) = (load(caps.chip), caps.chip);
        for (index, channels) in caps.adc.into_iter().enumerate() {
            let unit = u8::try_from(index + 1).unwrap();
            let mut found: Vec<u8> = table
                .pins
                .iter()
                .filter_map(|p| p.adc)
                .filter_map(|a| (a.unit == unit).then_some(a.channel))
                .collect();
            found.sort_unstable();
            let all: Vec<u8> = (0..).take(channels).collect();
            assert_eq!(found, all, "{chip}, ADC{unit}");
        }
        let numbers = |of: fn(&Pin) -> Option<u8>| {
            let mut found: Vec<u8> = table.pins.iter().filter_map(of).collect();
            found.sort_unstable();
            found
        };
        let rtc: Vec<u8> = (0..).take(caps.rtc).collect();
        assert_eq!(numbers(|pin| pin.rtc), rtc, "{chip}");
        assert_eq!(numbers(|pin| pin.dac).len(), caps.dac, "{chip}");
        let touch = numbers(|pin| pin.touch);
        assert_eq!(touch.len(), caps.touch, "{chip}");
        assert!(touch.windows(2).all(|two| two[0] + 1 == two[1]), "{chip}: {touch:?}");
    }
}

#[test]
fn every_chip_has_its_console_its_debugger_and_its_boot_pin() {
    for caps in CAPS {
        let (table, chip) = (load(caps.chip), caps.chip);
        for signal in ["U0TXD", "U0RXD"] {
            let has = |pin: &Pin| pin.roles.uart.iter().any(|other| other == signal);
            assert_eq!(mask(&table, has).count_ones(), 1, "{chip} {signal}");
        }
        assert_eq!(mask(&table, |pin| pin.roles.jtag.is_some()).count_ones(), 4, "{chip}");
        let boots = |pin: &Pin| {
            let role = pin.roles.strapping.as_deref().unwrap_or_default();
            role.contains("low at reset starts the serial boot loader")
        };
        assert_eq!(mask(&table, boots).count_ones(), 1, "{chip}");
        // In pairs; two chips have no USB.
        let usb = mask(&table, |pin| pin.roles.usb.is_some()).count_ones();
        assert!(
            usb.is_multiple_of(2) && (usb > 0) != ["esp32", "esp32c2"].contains(&chip),
            "{chip}: {usb}"
        );
    }
}

/// Numbers by the groups before them: `#define ADC1_CHANNEL_3_GPIO_NUM 39` → `["1", "3"]: 39`.
fn defined(file: &Path, pattern: &str) -> BTreeMap<Vec<String>, u8> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let pattern = Regex::new(&format!(r"(?m)^\s*#define\s+{pattern}\s+\(?(\d+)\)?")).unwrap();
    let found = pattern.captures_iter(&text).map(|captures| {
        let mut groups: Vec<String> =
            captures.iter().skip(1).flatten().map(|group| group.as_str().to_owned()).collect();
        let gpio = groups.pop().unwrap().parse().unwrap();
        (groups, gpio)
    });
    found.collect()
}

/// The first of the places that a header has had in the versions of ESP-IDF.
fn header(idf: &Path, places: &[String]) -> PathBuf {
    let mut files = places.iter().map(|place| idf.join("components").join(place));
    files.find(|file| file.is_file()).unwrap_or_default()
}

#[test]
fn the_tables_agree_with_the_installed_headers() {
    let asked = std::env::var_os("FIRMHAND_TEST_IDF").is_some();
    let Some(idf) = std::env::var_os("IDF_PATH").filter(|_| asked).map(PathBuf::from) else {
        println!("nothing was compared: FIRMHAND_TEST_IDF and IDF_PATH are not set");
        return;
    };
    let mut compared = 0;
    for Caps { chip, .. } in CAPS {
        let (table, soc) = (load(chip), format!("soc/{chip}/include/soc"));
        let mut same = |file: PathBuf, pattern: &str, of: &dyn Fn(&Pin) -> Vec<Vec<String>>| {
            let said = defined(&file, pattern);
            let ours: BTreeMap<Vec<String>, u8> = table
                .pins
                .iter()
                .flat_map(|pin| of(pin).into_iter().map(|key| (key, pin.gpio)))
                .collect();
            assert_eq!(ours, said, "{chip}, {}", file.display());
            compared += said.len();
        };
        let one = |number: Option<u8>| number.map(|n| vec![n.to_string()]).into_iter().collect();
        same(
            header(&idf, &[format!("{soc}/adc_channel.h")]),
            r"ADC(\d)_CHANNEL_(\d+)_GPIO_NUM",
            &|pin| {
                let key = |adc: AdcInput| vec![adc.unit.to_string(), adc.channel.to_string()];
                pin.adc.map(key).into_iter().collect()
            },
        );
        same(
            header(&idf, &[format!("{soc}/rtc_io_channel.h")]),
            r"RTCIO_CHANNEL_(\d+)_GPIO_NUM",
            &|pin| one(pin.rtc),
        );
        same(header(&idf, &[format!("{soc}/dac_channel.h")]), r"DAC_CHAN(\d)_GPIO_NUM", &|pin| {
            one(pin.dac)
        });
        same(
            header(
                &idf,
                &[
                    format!("esp_hal_touch_sens/{chip}/include/hal/touch_sensor_channel.h"),
                    format!("{soc}/touch_sensor_channel.h"),
                ],
            ),
            r"TOUCH_PAD_NUM(\d+)_GPIO_NUM",
            &|pin| one(pin.touch),
        );
        same(
            header(&idf, &[format!("{soc}/uart_pins.h")]),
            r"((?:LP_)?U\d(?:TXD|RXD|RTS|CTS))_GPIO_NUM",
            &|pin| pin.roles.uart.iter().map(|signal| vec![signal.clone()]).collect(),
        );
    }
    assert!(compared > 200, "only {compared} facts");
}
