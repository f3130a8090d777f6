//! What is found in a partition table that a change writes.

use super::*;
use crate::model::Check;

const SOUND: &str = "# Name, Type, SubType, Offset, Size, Flags\nnvs, data, nvs, 0x9000, 0x5000,\n\
                     otadata, data, ota, 0xe000, 0x2000,\napp0, app, ota_0, 0x10000, 0x140000,\n\
                     app1, app, ota_1, 0x150000, 0x140000,\nspiffs, data, spiffs, 0x290000, 0x160000,\n\
                     coredump, data, coredump, 0x3f0000, 0x10000,\n";

impl GateBench {
    /// The check of a table, once written over `base`.
    async fn table(&self, file: &str, base: Option<&str>, text: &str) -> Option<Check> {
        if let Some(base) = base {
            self.write(file, base);
        }
        let task = self.submit(vec![save(file, base, text)]);
        self.on_desk(1).await;
        let id = self.desk.waiting()[0];
        let proposal = self.gate.waiting(id).unwrap();
        self.desk.decide(Shown::whole(id, proposal.change.hash()), reject("")).unwrap();
        task.await.unwrap().unwrap();
        proposal.checks.into_iter().find(|check| check.kind == CheckKind::PartitionTable)
    }
}

#[tokio::test]
async fn sound_tables_have_nothing_to_find() {
    let single = "nvs,data,nvs,,0x6000\nphy_init,data,phy,,0x1000\nfactory,app,factory,,1M\n";
    let world = GateBench::asking();
    for (base, text) in [
        (None, SOUND.to_owned()),
        (None, single.to_owned()),
        (Some(single), format!("{single}files, data, spiffs, , 1M\n")),
        (Some(SOUND), SOUND.replace("0x3f0000, 0x10000", "0x3f0000, 0x8000")),
    ] {
        let check = world.table("partitions.csv", base, &text).await.unwrap();
        assert_eq!(check.findings, [], "{text}");
        let _ = fs::remove_file(world.path("partitions.csv"));
    }
    let other = world.table("data/measured.csv", None, "time,value\n1,2\n").await;
    assert_eq!(other, None);
}

#[tokio::test]
async fn what_does_not_add_up_is_told_at_its_line() {
    let swap = |from: &str, to: &str| SOUND.replace(from, to);
    for (text, line, words) in [
        (swap("0x150000, 0x140000", "0x140000, 0x140000"), 5, "overlap `app0` by 0x10000"),
        (swap("app0, app, ota_0, 0x10000", "app0, app, ota_0, 0x18000"), 4, "multiple of 0x10000"),
        (swap("nvs, 0x9000", "nvs, 0x8000"), 2, "where the bootloader or the table lies"),
        (swap("nvs, 0x9000", "nvs, 0x9100"), 2, "multiple of 0x1000"),
        (swap("0xe000, 0x2000", "0xe000, 0x1000"), 3, "otadata has 0x2000"),
        (swap("otadata, data, ota, 0xe000, 0x2000,\n", ""), 4, "no otadata"),
        (swap("spiffs, data, spiffs,", "nvs, data, spiffs,"), 6, "two partitions `nvs`"),
        (swap("ota_1", "ota_0"), 5, "two slots `ota_0`"),
        (swap("ota_1", "ota_2"), 5, "no `ota_1`, so that updates never use `app1`"),
        (swap("ota_0", "factory").replace("ota_1", "factory"), 5, "2 `factory` partitions"),
        (swap("0x290000, 0x160000", "0x290000, large"), 6, "`large` is not a size"),
        (swap("0x9000, 0x5000", "0x9000, 0x2000"), 2, "NVS needs 0x3000"),
        (
            swap("coredump, data, coredump", "coredump_of_the_last_crash, data, coredump"),
            7,
            "only 15",
        ),
    ] {
        let check = GateBench::asking().table("partitions.csv", None, &text).await.unwrap();
        let hit = check.findings.iter().find(|found| found.text.contains(words));
        let hit = hit.unwrap_or_else(|| panic!("{words}: {:#?}", check.findings));
        assert_eq!(hit.place.as_ref().map(|place| place.line), Some(line), "{words}");
    }
    let none = "nvs, data, nvs, 0x9000, 0x5000\n";
    let check = GateBench::asking().table("partitions.csv", None, none).await.unwrap();
    assert!(check.findings[0].text.contains("no partition for an application"));
}

#[tokio::test]
async fn subtypes_are_known_by_their_numbers() {
    let world = GateBench::asking();
    for (text, words) in [
        ("nvs,data,2,,0x6000\na,app,0,,1M\nb,app,0x00,,1M\n", "factory"),
        ("nvs,data,0x02,,0x6000\na,app,0x10,,1M\nb,app,0x11,,1M\n", "otadata"),
    ] {
        let check = world.table("partitions.csv", None, text).await.unwrap();
        let reported: Vec<&str> = check.findings.iter().map(|it| it.text.as_str()).collect();
        assert!(reported.iter().any(|it| it.contains(words)), "{text}: {reported:?}");
    }
    let numbers = "nvs,data,2,,0x6000\notadata,data,0,,0x2000\nphy,data,1,,0x1000\n\
                   a,app,0x10,,1M\nb,app,17,,1M\nt,app,0x20,,1M\n";
    let check = world.table("partitions.csv", None, numbers).await.unwrap();
    assert_eq!(check.findings, [], "all of it is there");
}

#[tokio::test]
async fn a_table_holds_95_entries() {
    let table = |count: usize| {
        let rows = (1..count).map(|place| format!("d{place},data,0x40,,0x1000\n"));
        format!("factory,app,factory,0x10000,1M\n{}", rows.collect::<String>())
    };
    let check = GateBench::asking().table("partitions.csv", None, &table(95)).await.unwrap();
    assert_eq!(check.findings, []);
    let check = GateBench::asking().table("partitions.csv", None, &table(97)).await.unwrap();
    let found = &check.findings[0];
    assert_eq!(found.text, "has 97 partitions, and a table holds 95");
    assert_eq!(found.place.as_ref().map(|place| place.line), Some(96));
}

#[tokio::test]
async fn stored_data_that_is_lost_is_told() {
    for (from, to, words) in [
        ("nvs, data, nvs, 0x9000, 0x5000,\n", "", "removes `nvs`"),
        ("0x9000, 0x5000", "0xa000, 0x4000", "moves `nvs` from 0x9000 to 0xa000"),
        ("0x9000, 0x5000", "0x9000, 0x3000", "shrinks `nvs`"),
        ("spiffs, data, spiffs", "spiffs, data, fat", "makes `spiffs` data fat"),
        ("nvs, data, nvs", "settings, data, nvs", "renames `nvs` to `settings`"),
        ("0x150000, 0x140000", "0x160000, 0x130000", "moves `app1`"),
    ] {
        let text = SOUND.replace(from, to);
        let check = GateBench::asking().table("my_table.csv", Some(SOUND), &text).await.unwrap();
        let message = check.findings.iter().any(|found| found.text.contains(words));
        assert!(message, "{words}: {:#?}", check.findings);
    }
}

#[tokio::test]
async fn a_table_is_set_against_the_flash_and_the_last_build() {
    let world = GateBench::asking();
    world.write("sdkconfig.defaults", "CONFIG_ESPTOOLPY_FLASHSIZE_2MB=y\n");
    let check = world.table("partitions.csv", None, SOUND).await.unwrap();
    let reported: Vec<_> = check.findings.iter().map(|found| found.text.as_str()).collect();
    assert!(
        reported
            .iter()
            .any(|reported| reported.contains("`spiffs` end at 0x3f0000, beyond the 2 MB"))
    );
    world.write("sdkconfig.defaults", "CONFIG_ESPTOOLPY_FLASHSIZE=\"4MB\"\n");
    assert_eq!(world.table("partitions.csv", None, SOUND).await.unwrap().findings, []);
    let args = r#"{"flash_files": {}, "app": {"offset": "0x10000", "file": "pump.bin"},
                   "extra_esptool_args": {"chip": "esp32"}}"#;
    world.write("build/flasher_args.json", args);
    world.write("build/pump.bin", &"x".repeat(0x14_0001));
    let check = world.table("partitions.csv", None, SOUND).await.unwrap();
    assert!(
        check.findings[0].text.contains("`app0` 1310720 bytes, and `build/pump.bin` has 1310721")
    );
}

#[tokio::test]
async fn what_a_board_cannot_use_is_told_at_its_line() {
    for (from, to, words, line) in [
        ("0x9000, 0x5000,", "0x9000, 0x5000, encrypted", "marks `nvs` as encrypted", 2),
        ("0x10000, 0x140000", "0x10000, 0x10000", "too few for any program", 4),
    ] {
        let text = SOUND.replace(from, to);
        assert_ne!(text, SOUND);
        let check = GateBench::asking().table("partitions.csv", None, &text).await.unwrap();
        let hit = check.findings.iter().find(|found| found.text.contains(words));
        let place = hit.and_then(|found| found.place.as_ref()).map(|place| place.line);
        assert_eq!(place, Some(line), "{words}: {:#?}", check.findings);
    }
}
