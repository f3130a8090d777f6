//! `get_pinout_info`: what a pin of a chip can do, and what it must not be used for.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::entry::ToolEntry;
use super::{Reply, ToolContext, ToolError, answer, args};
use crate::device::{Pin, Pinout};

/// Name of the tool.
pub const NAME: &str = "get_pinout_info";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetPinoutInfoArgs {
    /// The chip, e.g. `ESP32-S3` or `esp32s3`.
    chip: String,
    /// The pin, e.g. `GPIO21`, `IO21` or `21`.
    #[serde(deserialize_with = "text_or_number")]
    pin: String,
}

/// Models send the number of a pin as one.
fn text_or_number<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    match Value::deserialize(from)? {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(serde::de::Error::custom("expected the name of a pin, such as `GPIO21`")),
    }
}

fn look_up(context: &ToolContext, args: &GetPinoutInfoArgs) -> Result<Value, ToolError> {
    let table = Pinout::load(&context.assets, &args.chip)
        .map_err(|error| ToolError::from_user_error("unknown_chip", &error))?;
    let pin =
        table.pin(&args.pin).map_err(|error| ToolError::from_user_error("unknown_pin", &error))?;
    let reported = table.warnings(pin).into_iter();
    let (kinds, warnings): (Vec<_>, Vec<_>) = reported.unzip();
    let details = details(&table, pin);
    Ok(answer::ok(json!({
        "chip": table.chip,
        "pin": pin.gpio,
        "name": format!("GPIO{}", pin.gpio),
        "capabilities": capabilities(&details),
        "warnings": warnings,
        "warning_kinds": kinds,
        "details": details,
        "source": table.source,
    })))
}

/// What a pin can do, one word or two for each.
fn capabilities(details: &Value) -> Vec<String> {
    let is = |name: &str| details[name] == true;
    let mut words = match (is("input"), is("output")) {
        (true, false) => vec!["input-only".to_owned()],
        _ => vec!["input".to_owned(), "output".to_owned()],
    };
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if let Some(adc) = details.get("adc") {
        words.push(format!("ADC{}_CH{}", plain(&adc["unit"]), plain(&adc["channel"])));
    }
    let named = [
        ("touch_channel", "touch "),
        ("rtc", ""),
        ("dac_channel", "DAC "),
        ("strapping", "strapping: "),
        ("memory", "memory: "),
        ("usb", "USB "),
        ("jtag", "JTAG "),
    ];
    let found = named
        .iter()
        .filter_map(|(name, word)| Some(format!("{word}{}", plain(details.get(*name)?))));
    words.extend(found);
    if is("wakes_from_deep_sleep") {
        words.push("wakes from deep sleep".to_owned());
    }
    for bus in ["uart", "spi"] {
        words.extend(details[bus].as_array().into_iter().flatten().map(&plain));
    }
    words
}

/// What a pin can do; what it cannot is left out, save input and output.
fn details(table: &Pinout, pin: &Pin) -> Value {
    let roles = &pin.roles;
    let rtc = pin.rtc.map(|number| format!("{}{number}", table.rtc_name));
    let list = |signals: &[String]| (!signals.is_empty()).then(|| json!(signals));
    let found = [
        ("adc", pin.adc.map(|adc| json!(adc))),
        ("touch_channel", pin.touch.map(|touch| json!(touch))),
        ("rtc", rtc.map(Value::String)),
        ("dac_channel", pin.dac.map(|dac| json!(dac))),
        ("wakes_from_deep_sleep", pin.wakes.then(|| json!(true))),
        ("strapping", roles.strapping.as_ref().map(|role| json!(role))),
        ("memory", roles.memory.as_ref().map(|line| json!(line))),
        ("usb", roles.usb.map(|line| json!(line))),
        ("jtag", roles.jtag.map(|signal| json!(signal))),
        ("uart", list(&roles.uart)),
        ("spi", list(&roles.spi)),
        ("note", roles.note.as_ref().map(|note| json!(note))),
    ];
    let mut reported = Map::new();
    reported.insert("input".to_owned(), json!(true));
    reported.insert("output".to_owned(), json!(pin.output));
    reported.extend(found.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    Value::Object(reported)
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: NAME,
    about: "Describes what a pin of an ESP32 chip can do (input, output, ADC, touch, DAC, low power, \
         default UART and SPI), what it is used for (strapping at boot, flash and PSRAM, USB, \
         JTAG) and what to watch out for, with the source. Any pin can be used for I2C, and UART and SPI \
         signals other than its own, through the GPIO matrix.",
    schema: args::schema::<GetPinoutInfoArgs>,
    call: |call| Box::pin(async move { look_up(call.context, &call.args()?).map(Reply::Answer) }),
    ..ToolEntry::USUAL
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::tool_tests::ToolBench;

    #[tokio::test]
    async fn a_pin_is_told_with_its_warnings_and_source() {
        let desk = ToolBench::new();
        let reported = desk.answer(NAME, json!({ "chip": "esp32-s3", "pin": "IO19" })).await;
        assert_eq!((&reported["ok"], &reported["chip"]), (&json!(true), &json!("ESP32-S3")));
        let can = json!({
            "input": true, "output": true, "adc": { "unit": 2, "channel": 8 },
            "rtc": "RTC_GPIO19", "wakes_from_deep_sleep": true, "usb": "D-", "uart": ["U1RTS"],
        });
        assert_eq!((&reported["pin"], &reported["name"]), (&json!(19), &json!("GPIO19")));
        assert_eq!(reported["details"], can);
        let words = [
            "input",
            "output",
            "ADC2_CH8",
            "RTC_GPIO19",
            "USB D-",
            "wakes from deep sleep",
            "U1RTS",
        ];
        assert_eq!(reported["capabilities"], json!(words));
        assert_eq!(reported["warning_kinds"], json!(["usb", "adc2"]));
        let warnings = reported["warnings"].as_array().unwrap();
        assert!(warnings.len() == 2 && warnings.iter().all(Value::is_string), "{reported}");
        assert!(reported["source"][0].as_str().unwrap().contains("esp32s3.inc"), "{reported}");
        let reported = desk.answer(NAME, json!({ "chip": "ESP32", "pin": 34 })).await;
        assert_eq!(
            (&reported["pin"], &reported["capabilities"][0]),
            (&json!(34), &json!("input-only"))
        );
    }

    #[tokio::test]
    async fn what_there_is_not_is_told_with_what_there_is() {
        let desk = ToolBench::new();
        for (args, code, hint) in [
            (json!({ "chip": "esp8266", "pin": "2" }), "unknown_chip", "esp32c6"),
            (json!({ "chip": "esp32s3", "pin": "GPIO22" }), "unknown_pin", "0–21, 26–48"),
            (json!({ "chip": "esp32", "pin": "SDA" }), "unknown_pin", "0–23"),
            (json!({ "chip": "esp32", "pin": -1 }), "unknown_pin", "0–23"),
            (json!({ "chip": "esp32", "pin": [2] }), "bad_arguments", "schema"),
            (json!({ "chip": "esp32" }), "bad_arguments", "schema"),
        ] {
            let error = desk.answer(NAME, args).await["error"].clone();
            assert_eq!(error["code"], code, "{error}");
            assert!(error["hint"].as_str().unwrap().contains(hint), "{error}");
        }
    }
}
