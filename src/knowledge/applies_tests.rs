//! Tests of what a framework says about the chips of its files.

use std::fs;

use super::super::corpus::Corpus;
use super::*;

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn chips(root: &Path) -> HashMap<String, String> {
    let files = Corpus::at(root).files().into_iter();
    let names = |chips: ChipSet| match chips {
        ChipSet::ALL => "all".to_owned(),
        _ => chips.names().join(" "),
    };
    files.map(|file| (file.path, names(file.chips))).collect()
}

const CAN: &str = "config SOC_DAC_SUPPORTED\n    bool\n    default y\n";
const CANNOT: &str = "config SOC_OTHER\n    bool\n    default y\n";

#[test]
fn pages_have_the_chips_of_their_conditions() {
    let conf = "DAC_DOCS = ['dac.rst']\nconditional_include_dict = {'SOC_DAC_SUPPORTED': DAC_DOCS,\n\
                'esp32s2': ['hw/**', 'dac.rst'], 'SOC_NEVER': ['x.rst'], 'esp32c3': ['one/*.rst']}\n";
    let folder = tree(&[
        (CONDITIONS, conf),
        ("components/soc/esp32/include/soc/Kconfig.soc_caps.in", CAN),
        ("components/soc/esp32c3/include/soc/Kconfig.soc_caps.in", CANNOT),
        ("docs/en/dac.rst", "DAC"),
        ("docs/en/hw/deep/board.rst", "Board"),
        ("docs/en/one/deep/page.rst", "Page"),
        ("docs/en/one/page.rst", "Page"),
        ("docs/en/x.rst", "X"),
        ("docs/en/inc/summary_ESP32-C3_dump.rst", "S"),
        ("docs/en/inc/power_esp32h2.rst", "P"),
        ("docs/en/inc/esp32-notes.rst", "N"),
        ("docs/en/hw/esp32/board.rst", "B"),
    ]);
    let chips = chips(folder.path());
    let of = |path: &str| chips[&format!("docs/en/{path}")].as_str();
    // A chip that the framework does not describe may have anything.
    assert!(of("dac.rst").starts_with("esp32 esp32s2 ") && !of("dac.rst").contains("esp32c3"));
    assert_eq!(of("hw/deep/board.rst"), "esp32s2");
    assert_eq!((of("one/page.rst"), of("one/deep/page.rst")), ("esp32c3", "all"));
    assert_eq!(of("x.rst"), "all");
    assert_eq!(of("inc/summary_ESP32-C3_dump.rst"), "esp32c3");
    assert_eq!(of("inc/power_esp32h2.rst"), "esp32h2");
    assert_eq!(of("inc/esp32-notes.rst"), "esp32");
    // Its folder and the list contradict each other: the folder stays.
    assert_eq!(of("hw/esp32/board.rst"), "esp32");
}

#[test]
fn examples_have_the_chips_of_their_table() {
    let table =
        "\u{feff}\n| Supported Targets | ESP32 | ESP32-P4 | Linux | ESP99 |\n| --- |\n\n# Touch\n";
    let folder = tree(&[
        ("docs/en/a.rst", "A"),
        ("components/x/README.md", "| Supported Targets | ESP32 |\n"),
        ("examples/README.md", "# Examples\n"),
        ("examples/a/touch/README.md", table),
        ("examples/a/touch/main/touch.c", "int a;\n"),
        ("examples/a/touch/main/README.md", "No table.\n"),
        ("examples/a/touch2/main/touch.c", "int a;\n"),
        ("examples/a/README.md", "# Group\n"),
        ("examples/a/common/show.c", "int a;\n"),
        ("examples/common_components/show.c", "int a;\n"),
        ("examples/a/host/README.md", "| Supported Targets | Linux |\n"),
        ("examples/a/host/main/host.c", "int a;\n"),
    ]);
    let chips = chips(folder.path());
    for path in ["touch/README.md", "touch/main/touch.c", "touch/main/README.md"] {
        assert_eq!(chips[&format!("examples/a/{path}")], "esp32 esp32p4");
    }
    // What examples share is for the chips of any of them.
    for path in ["README.md", "common/show.c"] {
        assert_eq!(chips[&format!("examples/a/{path}")], "esp32 esp32p4");
    }
    for path in ["a/touch2/main/touch.c", "a/host/main/host.c", "common_components/show.c"] {
        assert_eq!(chips[&format!("examples/{path}")], "all");
    }
    for path in ["components/x/README.md", "examples/README.md"] {
        assert_eq!(chips[path], "all");
    }
}

#[test]
fn a_framework_that_says_nothing_is_for_every_chip() {
    let conf = "conditional_include_dict = {'SOC_X': ['a.rst', '[[[', '{{{{'], '((((': ['a.rst']}";
    let folder =
        tree(&[("components/x/README.md", "X"), ("docs/en/a.rst", "A"), (CONDITIONS, conf)]);
    assert_eq!(chips(folder.path())["docs/en/a.rst"], "all");
}
