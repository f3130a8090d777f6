//! The tools that erase, read and change parts of the flash.

use super::*;

#[tokio::test]
async fn a_partition_to_erase_is_looked_up_in_the_projects_table() {
    let bench = BoardBench::new(BuildOutcome::Passed, Vec::new());
    let other = json!({ "partition": "storage" });
    let unknown = bench.answer("erase_flash", other.clone()).await;
    assert_eq!(unknown["error"]["code"], "bad_arguments");
    let table = "nvs, data, nvs, 0x9000, 24K\nstorage, data, fat, 0x110000, 1M\n";
    std::fs::write(bench.folder.path().join("partitions.csv"), table).unwrap();
    let Ok(Reply::Propose { drafts, finish }) = bench.call("erase_flash", other).await else {
        panic!("no proposal")
    };
    let DraftChange::Erase(plan) = &drafts[0].change else { panic!("{drafts:?}") };
    let region = plan.region.as_ref().unwrap();
    assert_eq!((region.offset, region.bytes), (0x11_0000, 0x10_0000));
    let done = finish(vec![settlement(Verdict::Approve, Outcome::Applied)]).await.unwrap();
    assert_eq!(done["erased"], "storage");
    let Ok(Reply::Propose { drafts, .. }) = bench.call("erase_flash", json!({})).await else {
        panic!("no proposal")
    };
    let DraftChange::Erase(plan) = &drafts[0].change else { panic!("{drafts:?}") };
    assert_eq!((plan.name().as_str(), &plan.region), ("all", &None));
    let args = json!({ "partition": "storage", "path": "build/storage.bin" });
    let Ok(Reply::Propose { drafts, .. }) = bench.call("read_flash", args).await else {
        panic!("no proposal")
    };
    let DraftChange::Read(plan) = &drafts[0].change else { panic!("{drafts:?}") };
    assert_eq!((plan.region.offset, plan.path.as_str()), (0x11_0000, "build/storage.bin"));
    for wrong in [
        json!({ "partition": "storage", "path": "partitions.csv" }),
        json!({ "partition": "storage", "path": "../out.bin" }),
        json!({ "path": "a.bin" }),
        json!({ "path": "a.bin", "offset": 4, "bytes": 0 }),
        json!({ "path": "a.bin", "offset": 4_294_967_295_u32, "bytes": 2 }),
    ] {
        let refused = bench.answer("read_flash", wrong.clone()).await;
        assert_eq!(refused["error"]["code"], "bad_arguments", "{wrong}");
    }
}

#[tokio::test]
async fn entries_of_the_settings_are_changed_against_a_file_that_was_read_back() {
    let bench = BoardBench::new(BuildOutcome::Passed, Vec::new());
    let project = bench.folder.path();
    std::fs::write(project.join("partitions.csv"), "nvs, data, nvs, 0x9000, 24K\n").unwrap();
    let set = json!({ "namespace": "wifi", "key": "ssid", "type": "string", "value": "net" });
    let args = |entries: Value| json!({ "base": "nvs.bin", "entries": entries });
    let missing = bench.answer("edit_nvs", args(json!([set]))).await;
    assert!(missing["error"]["hint"].as_str().unwrap().contains("`read_flash`"), "{missing}");
    std::fs::write(project.join("nvs.bin"), vec![0xff; 0x6000]).unwrap();

    let pass =
        json!({ "namespace": "wifi", "key": "password", "type": "string", "value": "s3cret" });
    let count = json!({ "namespace": "app", "key": "n", "type": "i8", "value": -3 });
    let reply = bench.call("edit_nvs", args(json!([set, pass, count]))).await;
    let Ok(Reply::Propose { drafts, finish }) = reply else { panic!("no proposal") };
    let DraftChange::Nvs(plan) = &drafts[0].change else { panic!("{drafts:?}") };
    let reported: Vec<_> =
        plan.edits.iter().map(|edit| (edit.name(), edit.shown.as_str())).collect();
    let masked = "•••••••• (6 characters)";
    let expected = [("wifi:ssid", "\"net\""), ("wifi:password", masked), ("app:n", "-3")];
    assert_eq!(reported, expected.map(|(name, shown)| (name.to_owned(), shown)));
    assert_eq!((plan.region.offset, plan.base), (0x9000, ContentHash::of(&[0xff; 0x6000])));
    let done = finish(vec![settlement(Verdict::Approve, Outcome::Applied)]).await.unwrap();
    assert_eq!(done["edited"], json!(["wifi:ssid", "wifi:password", "app:n"]));

    let csv = "key,type,encoding,value\napp,namespace,,\nn,data,u16,7\ncert,file,binary,c.bin\n";
    std::fs::write(project.join("settings.csv"), csv).unwrap();
    let from_csv = json!({ "base": "nvs.bin", "csv": "settings.csv" });
    let lacks = bench.answer("edit_nvs", from_csv.clone()).await;
    let reported = lacks["error"]["message"].as_str().unwrap();
    assert!(reported.contains("`settings.csv`: line 4: `cert`"), "{lacks}");
    std::fs::write(project.join("c.bin"), [1, 2]).unwrap();
    let Ok(Reply::Propose { drafts, finish }) = bench.call("edit_nvs", from_csv).await else {
        panic!("no proposal")
    };
    let DraftChange::Nvs(plan) = &drafts[0].change else { panic!("{drafts:?}") };
    assert_eq!(plan.edits[1].shown, "0102 (2 bytes)");
    let stale = Outcome::Stale { found: None };
    let error = finish(vec![settlement(Verdict::Approve, stale)]).await.unwrap_err();
    assert!(error.hint.contains("Read the partition"), "{error:?}");
}

#[tokio::test]
async fn entries_that_cannot_be_stored_are_refused_by_name() {
    let bench = BoardBench::new(BuildOutcome::Passed, Vec::new());
    let project = bench.folder.path();
    let table = "nvs, data, nvs, 0x9000, 24K\nfiles, data, fat, 0x10000, 24K\n";
    std::fs::write(project.join("partitions.csv"), table).unwrap();
    std::fs::write(project.join("nvs.bin"), vec![0xff; 0x6000]).unwrap();
    std::fs::write(project.join("short.bin"), [0xff; 0x1000]).unwrap();
    std::fs::write(project.join("secret.bin"), vec![0x5a; 0x6000]).unwrap();
    let entry = |key: &str, kind: &str, value: Value| json!({ "namespace": "a", "key": key, "type": kind, "value": value });
    let one = || json!([entry("n", "u8", json!(1))]);
    let args = |entries: Value| json!({ "base": "nvs.bin", "entries": entries });
    for (args, reported) in [
        (args(json!([entry("n", "u8", json!(256))])), "entries[0].value: 256 does not fit into u8"),
        (args(json!([entry("n", "u8", json!(1.5))])), "`1.5` is not an integer"),
        (args(json!([entry("a-key-too-long-by", "u8", json!(1))])), "the limit is 15"),
        (args(json!([entry("n", "float", json!(1))])), "`float` is not a type"),
        (args(json!([entry("n", "u8", json!(1)), entry("n", "u8", json!(2))])), "named twice"),
        (args(json!([{ "namespace": "a", "key": "n", "delete": true }])), "no `a:n`"),
        (args(json!([{ "namespace": "a", "key": "n", "type": "u8" }])), "[0].value: it is missing"),
        (args(json!([{ "namespace": "a", "key": "n", "value": 1 }])), "[0].type: it is missing"),
        (args(json!([{ "namespace": "", "key": "n", "delete": true }])), "namespace: is empty"),
        (args(json!([])), "either `entries` or `csv`"),
        (json!({ "base": "nvs.bin", "csv": "x.csv", "entries": one() }), "either `entries` or"),
        (json!({ "base": "nvs.bin", "csv": "../x.csv" }), "csv: "),
        (
            json!({ "base": "short.bin", "entries": one() }),
            "has 4096 bytes; the partition has 24576",
        ),
        (json!({ "base": "secret.bin", "entries": one() }), "encrypted"),
        (json!({ "base": "nvs.bin", "partition": "x", "entries": one() }), "there is no `x`"),
        (json!({ "base": "nvs.bin", "partition": "files", "entries": one() }), "type data/fat"),
        (args(json!([entry("n", "hex2bin", json!("00".repeat(30_000)))])), "there is no room"),
    ] {
        let refused = bench.answer("edit_nvs", args.clone()).await;
        let message = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(reported), "{args}: {refused}");
    }
}

#[tokio::test]
async fn without_a_board_each_tool_tells_what_it_cannot_do() {
    let bench = BoardBench::new(BuildOutcome::Passed, Vec::new());
    let project = bench.folder.path();
    std::fs::write(project.join("partitions.csv"), "nvs, data, nvs, 0x9000, 24K\n").unwrap();
    *bench.builds.flash.lock().unwrap() =
        Err(UserError::new("Cannot reach", "there is no serial port", "Connect a board."));
    let entries = json!([{ "namespace": "a", "key": "n", "type": "u8", "value": 1 }]);
    for (tool, args, code, what) in [
        ("erase_flash", json!({}), "cannot_erase", "Cannot erase"),
        (
            "read_flash",
            json!({ "partition": "nvs", "path": "a.bin" }),
            "cannot_read",
            "Cannot read",
        ),
        (
            "edit_nvs",
            json!({ "base": "a.bin", "entries": entries }),
            "cannot_edit",
            "Cannot change",
        ),
    ] {
        let error = bench.answer(tool, args).await["error"].clone();
        assert_eq!((&error["code"], &error["hint"]), (&json!(code), &json!("Connect a board.")));
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with(what) && message.ends_with("no serial port"), "{message}");
    }
}
