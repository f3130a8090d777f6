//! The I2C scanners that are offered run on the virtual board, and `scan_i2c` hears them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    dead_code,
    reason = "a test says what is wrong by panicking, and works on its own files"
)]

mod board_bench;

use std::sync::Arc;

use board_bench::Bench;
use firmhand::config::Assets;
use firmhand::device::SerialHub;
use firmhand::knowledge::{Knowledge, NameList};
use firmhand::model::{
    BlobRef, BoardInfo, BuildOutcome, ContentHash, Event, Ledger, LogId, Record, Seq, Timestamp,
    ToolName, UserError,
};
use firmhand::toolchain::VirtualToolchain;
use firmhand::tools::{Limits, Registry, Reply, SharedState, ToolContext};
use firmhand::workspace::Sandbox;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Folds what is recorded, as the recorder does.
#[derive(Default)]
struct Folded(SharedState);

impl Ledger for Folded {
    fn record(&self, event: Event) -> Result<Seq, UserError> {
        self.0.fold(&Record { v: 1, seq: Seq(1), at: Timestamp(1), event });
        Ok(Seq(1))
    }

    fn store(&self, content: &[u8]) -> Result<BlobRef, UserError> {
        Ok(BlobRef { hash: ContentHash::of(content), bytes: content.len() as u64 })
    }

    fn append_log(&self, _: LogId, _: &[u8]) -> Result<(), UserError> {
        Ok(())
    }

    fn flush_log(&self, _: LogId) -> Result<(), UserError> {
        Ok(())
    }
}

/// Builds and flashes what is on the bench, and asks who is on its bus.
async fn scan(bench: &Bench) -> Value {
    let report = bench.build().await;
    assert_eq!(report.outcome, BuildOutcome::Passed, "{}", bench.log());
    let port = bench.flash_plan(bench.plan()).await.unwrap();
    let folded = Arc::new(Folded::default());
    let ledger: Arc<dyn Ledger> = folded.clone();
    let board = BoardInfo {
        label: "virtual board".to_owned(),
        chip: "esp32".to_owned(),
        port,
        simulated: true,
    };
    ledger.record(Event::BoardConnected(board)).unwrap();
    let docs = "---\ntitle: A\nsource: b\n---\n## C\nd\n";
    let context = ToolContext {
        sandbox: Arc::new(Sandbox::open(&bench.path("")).unwrap()),
        ledger: Arc::clone(&ledger),
        state: folded.0.clone(),
        knowledge: Arc::new(Knowledge::new([("a.md", docs)]).unwrap()),
        names: Arc::new(NameList::parse("n", "source: x\nheader a.h a\ncomponent a\n").unwrap()),
        assets: Assets::built_in(),
        toolchain: Arc::new(VirtualToolchain::new(board_bench::kit(), bench.path("unused"))),
        serial: Arc::new(SerialHub::new(ledger)),
        limits: Limits::default(),
        cancel: CancellationToken::new(),
    };
    let tool = Registry::new(&context).get(&ToolName::new("scan_i2c")).unwrap();
    match tool.call(json!({ "timeout": 60 })).await {
        Ok(Reply::Answer(answer)) => answer,
        Ok(Reply::Propose { .. }) => panic!("it proposed something"),
        Err(error) => error.to_answer(),
    }
}

fn scanner(name: &str) -> String {
    Assets::built_in().text(&format!("assets/scanner/{name}")).unwrap().text.into_owned()
}

fn assert_both(told: &Value) {
    assert_eq!(told["devices"], json!(["0x3C", "0x76"]), "{told}");
    assert_eq!((&told["ok"], &told["complete"]), (&json!(true), &json!(true)), "{told}");
    assert_eq!(told["since"], "the last reset", "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_scanner_for_esp_idf_finds_both_devices_by_either_driver() {
    let code = scanner("i2c_scanner.c");
    let legacy = code.replace("#if ESP_IDF_VERSION >= ESP_IDF_VERSION_VAL(5, 2, 0)", "#if 0");
    assert_ne!(code, legacy);
    for code in [code, legacy] {
        assert_both(&scan(&Bench::new(&[("main/main.c", &code)])).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_scanner_for_arduino_finds_both_devices() {
    let code = scanner("i2c_scanner.ino");
    assert_both(&scan(&Bench::sketch(&[("i2c_scanner.ino", &code)])).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sample_project_tells_its_scan() {
    let assets = Assets::built_in();
    let bench = Bench::new(&[]);
    for path in assets.list("assets/projects/i2c-scan") {
        let inside = path.strip_prefix("assets/projects/i2c-scan/").unwrap();
        bench.write(inside, &assets.text(&path).unwrap().text);
    }
    assert_both(&scan(&bench).await);
}
