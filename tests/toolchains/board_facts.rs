//! What tools find out about projects and boards, with the virtual board: the I2C scanners that are
//! offered run on it and are heard, and the sample projects are analysed as it compiles them.

use std::sync::Arc;

use crate::board_bench::Bench;
use firmhand::config::Assets;
use firmhand::device::SerialHub;
use firmhand::knowledge::{Knowledge, NameList};
use firmhand::model::{
    BlobRef, BoardEvent, BoardInfo, BuildOutcome, ContentHash, Draft, DraftChange, Event, Ledger,
    LogId, Record, Seq, Timestamp, ToolName, UserError,
};
use firmhand::toolchain::VirtualToolchain;
use firmhand::tools::{AnswerLimits, Registry, Reply, SharedState, ToolContext};
use firmhand::workspace::ProjectDir;
use serde_json::{Value, json};

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

/// The tools for what is on the bench; `port`: of its board, when it was flashed.
fn tools(bench: &Bench, port: Option<String>) -> Registry {
    let folded = Arc::new(Folded::default());
    let ledger: Arc<dyn Ledger> = folded.clone();
    if let Some(port) = port {
        let (label, chip) = ("virtual board".to_owned(), "esp32".to_owned());
        let board = BoardInfo { label, chip, port, simulated: true };
        ledger.record(Event::Board(BoardEvent::Connected(board))).unwrap();
    }
    let docs = "---\ntitle: A\nsource: b\n---\n## C\nd\n";
    Registry::new(&ToolContext {
        project_dir: Arc::new(ProjectDir::open(&bench.path("")).unwrap()),
        ledger: Arc::clone(&ledger),
        state: folded.0.clone(),
        knowledge: Arc::new(Knowledge::new([("a.md", docs)]).unwrap()),
        names: Arc::new(NameList::parse("n", "source: x\nheader a.h a\ncomponent a\n").unwrap()),
        assets: Assets::built_in(),
        toolchain: Arc::new(VirtualToolchain::new(
            crate::board_bench::kit(),
            bench.path("unused"),
            crate::sandbox_runner(),
        )),
        runner: crate::sandbox_runner(),
        contents: None,
        serial: Arc::new(SerialHub::new(ledger)),
        limits: AnswerLimits::default(),
        cancel: firmhand::toolchain::StopSwitch::default(),
    })
}

async fn ask(tools: &Registry, name: &str, args: Value) -> Value {
    match tools.get(&ToolName::new(name)).unwrap().call(args).await {
        Ok(Reply::Answer(answer)) => answer,
        Ok(Reply::Propose { .. }) => panic!("it proposed something"),
        Err(error) => error.to_answer(),
    }
}

/// Builds and flashes what is on the bench, and asks who is on its bus.
async fn scan(bench: &Bench) -> Value {
    let report = bench.build().await;
    assert_eq!(report.outcome, BuildOutcome::Passed, "{}", bench.log());
    let port = bench.flash_plan(bench.plan()).await.unwrap();
    let tools = tools(bench, Some(port.clone()));
    let boards = ask(&tools, "list_boards", json!({})).await;
    assert_eq!(boards["targets"], json!(["esp32"]), "{boards}");
    assert_eq!(boards["connected"]["label"], "virtual board", "{boards}");
    ask(&tools, "scan_i2c", json!({ "port": port, "timeout": 60 })).await
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
    let bench = Bench::new(&[]);
    put(&bench, "i2c-scan");
    assert_both(&scan(&bench).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bus_of_the_virtual_board_is_scanned_whatever_its_firmware_does() {
    let bench = Bench::new(&[("main/main.c", crate::board_bench::HELLO)]);
    for port in [None, Some("virtual")] {
        let found =
            ask(&tools(&bench, None), "scan_i2c", json!({ "port": port, "timeout": 60 })).await;
        assert_eq!(found["devices"], json!(["0x3C", "0x76"]), "{found}");
        assert_eq!((&found["ok"], &found["port"]), (&json!(true), &json!("virtual")), "{found}");
    }
    assert!(!bench.path("build").exists(), "the project is as it was");
}

/// The drafts that a tool proposes.
async fn proposed(tools: &Registry, name: &str, args: Value) -> Vec<Draft> {
    match tools.get(&ToolName::new(name)).unwrap().call(args).await {
        Ok(Reply::Propose { drafts, .. }) => drafts,
        Ok(Reply::Answer(answer)) => panic!("{answer}"),
        Err(error) => panic!("{}", error.to_answer()),
    }
}

/// The nine functions of the toolchain's specification with exactly its arguments, and the fields that
/// it asks for.
#[tokio::test(flavor = "multi_thread")]
async fn the_nine_functions_take_the_arguments_of_the_specification() {
    const S3: &str = "esp32:esp32:esp32s3";
    let sketch = "void setup() { Serial.begin(115200); }\nvoid loop() {\n#if !defined(ARDUINO_ESP32S3_DEV)\n#error other board\n#endif\n  delay(100);\n}\n";
    let bench = Bench::sketch(&[("blink.ino", sketch)]);
    let folder = bench.path("").canonicalize().unwrap();
    let tools = tools(&bench, None);
    for project_path in [json!("."), json!(folder)] {
        let listed =
            ask(&tools, "list_project_files", json!({ "project_path": project_path })).await;
        assert_eq!((&listed["ok"], &listed["files"]), (&json!(true), &json!(["blink.ino"])));
    }
    let read = ask(&tools, "read_file", json!({ "path": "blink.ino" })).await;
    assert_eq!((&read["ok"], &read["content"]), (&json!(true), &json!(sketch)));
    let diff = "--- a/blink.ino\n+++ b/blink.ino\n@@ -1,1 +1,1 @@\n-void setup() { Serial.begin(115200); }\n+void setup() { Serial.begin(9600); }\n";
    let written = json!({ "path": "blink.ino", "diff": diff });
    assert_eq!(proposed(&tools, "write_file", written).await.len(), 1);
    let other = json!({ "project_path": ".", "fqbn": "esp32:esp32:esp32" });
    let failed = ask(&tools, "build_arduino", other).await;
    assert_eq!(failed["errors"][0]["message"], "#error other board", "{failed}");
    let uno = ask(&tools, "build_arduino", json!({ "fqbn": "arduino:avr:uno" })).await;
    assert_eq!(uno["error"]["code"], "build_not_run", "{uno}");
    let built = ask(&tools, "build_arduino", json!({ "project_path": folder, "fqbn": S3 })).await;
    assert_eq!((&built["ok"], &built["fqbn"]), (&json!(true), &json!(S3)), "{built}");
    assert!(built["errors"].is_array() && built["warnings"].is_array(), "{built}");
    let flash = json!({ "project_path": ".", "fqbn": S3, "port": "virtual" });
    let drafts = proposed(&tools, "flash_arduino", flash).await;
    assert!(matches!(&drafts[0].change, DraftChange::Flash(plan) if plan.board.chip == "esp32s3"));
    let wrong = json!({ "project_path": ".", "fqbn": "esp32:esp32:esp32c3", "port": "virtual" });
    assert_eq!(ask(&tools, "flash_arduino", wrong).await["error"]["code"], "other_board");
    let analysed = ask(&tools, "run_static_analysis", json!({ "project_path": "." })).await;
    let has_list = analysed["issues"].is_array() || missing(&analysed).len() >= 2;
    assert!(has_list, "{analysed}");
    for pin in [json!(1), json!("GPIO1")] {
        let pin = ask(&tools, "get_pinout_info", json!({ "chip": "ESP32", "pin": pin })).await;
        assert_eq!((&pin["ok"], &pin["pin"]), (&json!(true), &json!(1)), "{pin}");
        assert!(pin["capabilities"].is_array() && pin["warnings"].is_array(), "{pin}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn serial_output_is_monitored_by_the_arguments_of_the_specification() {
    let bench = Bench::new(&[("main/main.c", crate::board_bench::HELLO)]);
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    let port = bench.flash_plan(bench.plan()).await.unwrap();
    let args = json!({ "port": port, "baud": 115_200, "timeout": 30, "until": "hello from" });
    let found = ask(&tools(&bench, Some(port.clone())), "monitor_serial", args).await;
    assert!(found["log"].as_str().unwrap().contains("hello from the board"), "{found}");
}

/// Puts a sample project on the bench.
fn put(bench: &Bench, project: &str) {
    let (assets, folder) = (Assets::built_in(), format!("assets/projects/{project}/"));
    for path in assets.list(folder.trim_end_matches('/')) {
        bench.write(path.strip_prefix(&folder).unwrap(), &assets.text(&path).unwrap().text);
    }
}

/// The linters that an answer names as missing.
fn missing(told: &Value) -> Vec<&str> {
    told["missing"].as_array().unwrap().iter().filter_map(|one| one["tool"].as_str()).collect()
}

#[tokio::test]
async fn sample_projects_are_analysed_as_they_are_compiled() {
    for project in ["i2c-scan", "sensor-node"] {
        let bench = Bench::new(&[]);
        put(&bench, project);
        bench.build().await;
        let told = ask(&tools(&bench, None), "run_static_analysis", json!({ "timeout": 60 })).await;
        if missing(&told).len() == 2 {
            println!("nothing was analysed: neither clang-tidy nor cppcheck is installed");
            return;
        }
        assert_eq!(told["ok"], true, "{told}");
        // Every header was found: the sources were read as they are compiled.
        assert_eq!(told.get("not_analyzed"), None, "{told}");
        // They are samples of good code.
        let grave = |issue: &&Value| issue["severity"] != "note";
        assert_eq!(told["issues"].as_array().unwrap().iter().find(grave), None, "{told}");
    }
}

#[tokio::test]
async fn a_fault_in_a_tab_of_a_sketch_is_found_at_its_line() {
    let main = "#include <Wire.h>\nvoid setup() {\n  Serial.begin(115200);\n}\nvoid loop() {\n}\n";
    let tab = "int third() {\n  int values[2] = {1, 2};\n  int *none = nullptr;\n  \
               if (values[0] == 1) { return *none; }\n  return 0;\n}\n";
    let bench = Bench::sketch(&[("blink.ino", main), ("more.ino", tab)]);
    assert_eq!(bench.build().await.outcome, BuildOutcome::Passed, "{}", bench.log());
    let told = ask(&tools(&bench, None), "run_static_analysis", json!({ "timeout": 60 })).await;
    let found = |tool: &str| {
        // Without any linter there is no list.
        let issues = told["issues"].as_array();
        issues
            .into_iter()
            .flatten()
            .filter(|issue| issue["tool"] == tool && issue["file"] == "more.ino")
            .count()
    };
    for tool in ["clang-tidy", "cppcheck"] {
        assert_eq!(found(tool) > 0, !missing(&told).contains(&tool), "{tool}: {told}");
    }
}
