//! `get_pinout_info`: what a pin of a chip can do, and what it must not be used for.

use std::sync::Arc;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::{Reply, Tool, ToolContext, ToolError, answer, args};
use crate::config::assets::Assets;
use crate::device::{Pin, Pinout};
use crate::model::ToolSpec;

/// Name of the tool.
pub const NAME: &str = "get_pinout_info";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
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

/// Makes the tool.
pub(super) fn make(context: &ToolContext) -> Arc<dyn Tool> {
    Arc::new(GetPinoutInfo { assets: context.assets.clone() })
}

struct GetPinoutInfo {
    assets: Assets,
}

impl GetPinoutInfo {
    fn look_up(&self, args: &Args) -> Result<Value, ToolError> {
        let table = Pinout::load(&self.assets, &args.chip)
            .map_err(|error| ToolError::from_user_error("unknown_chip", &error))?;
        let pin = table
            .pin(&args.pin)
            .map_err(|error| ToolError::from_user_error("unknown_pin", &error))?;
        let told = table.warnings(pin).into_iter();
        let warnings: Vec<Value> =
            told.map(|(kind, text)| json!({ "kind": kind, "text": text })).collect();
        Ok(answer::ok(json!({
            "chip": table.chip,
            "pin": format!("GPIO{}", pin.gpio),
            "capabilities": capabilities(&table, pin),
            "warnings": warnings,
            "source": table.source,
        })))
    }
}

/// What a pin can do; what it cannot is left out, save input and output.
fn capabilities(table: &Pinout, pin: &Pin) -> Value {
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
    let mut told = Map::new();
    told.insert("input".to_owned(), json!(true));
    told.insert("output".to_owned(), json!(pin.output));
    told.extend(found.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    Value::Object(told)
}

impl Tool for GetPinoutInfo {
    fn spec(&self) -> ToolSpec {
        args::spec::<Args>(
            NAME,
            "Tells what a pin of an ESP32 chip can do (input, output, ADC, touch, DAC, low power, \
             default UART and SPI), what it is used for (strapping at boot, flash and PSRAM, USB, \
             JTAG) and what to heed, with the source. Any pin can carry I2C, and UART and SPI \
             signals other than its own, through the GPIO matrix.",
        )
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(async move { self.look_up(&args::parse(args)?).map(Reply::Answer) })
    }
}
