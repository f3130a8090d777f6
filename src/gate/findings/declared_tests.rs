//! Names that a small framework on the disk declares, and others.

use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::gate::{FindingsContext, examine};
use crate::knowledge::{BuildOptions, Corpus, Knowledge, Library, Synonyms, WindowSize, build};
use crate::model::{Draft, DraftChange};
use crate::text::redact::Redactor;
use crate::workspace::ProjectDir;

fn write(root: &Path, path: &str, text: &str) {
    let file = root.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

/// A framework with a component `bus_wire`, and the index of it.
fn framework(root: &Path, index: &Path, version: &str) -> Arc<Knowledge> {
    let parts = ["MAJOR", "MINOR", "PATCH"].into_iter().zip(version.split('.'));
    let lines = parts.map(|(name, part)| format!("set(IDF_VERSION_{name} {part})\n"));
    write(root, "tools/cmake/version.cmake", &lines.collect::<String>());
    write(root, "docs/en/bus.rst", "Bus\n===\n\nText.\n");
    let names = ["start", "stop", "probe", "reset", "scan", "read_byte", "write_byte"];
    let declared = names.map(|name| format!("int bus_wire_{name}(int x);\n")).concat();
    write(root, "components/bus_wire/include/bus/wire.h", &declared);
    write(root, "components/bus_wire/CMakeLists.txt", "idf_component_register()\n");
    for name in ["a", "b", "c", "d", "e", "f"] {
        write(root, &format!("components/bus_{name}/include/bus/{name}.h"), "int other;\n");
        let list = format!("components/bus_{name}/CMakeLists.txt");
        write(root, &list, "idf_component_register()\n");
    }
    let options = names.map(|name| format!("config BUS_WIRE_{}\n  bool\n", name.to_uppercase()));
    write(root, "components/bus_wire/Kconfig", &options.concat());
    write(root, "components/bus_wire/sdkconfig.rename", "CONFIG_WIRE_OLD CONFIG_BUS_WIRE_START\n");
    let options = BuildOptions {
        window: WindowSize::default(),
        parts: &|_| Err(String::new()),
        secrets: &Redactor::default(),
        progress: &|_, _| {},
    };
    build(index, &Corpus::at(root), &options).unwrap();
    let mut library = Library::new(Synonyms::default());
    library.open(index).unwrap();
    Arc::new(Knowledge::of(library))
}

/// A project beside such a framework.
struct World {
    framework: tempfile::TempDir,
    _index: tempfile::TempDir,
    project: tempfile::TempDir,
    knowledge: Arc<Knowledge>,
}

impl World {
    fn new() -> Self {
        Self::of("5.4.1")
    }

    fn of(version: &str) -> Self {
        let [framework_dir, index, project] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let knowledge = framework(framework_dir.path(), index.path(), version);
        write(project.path(), "CMakeLists.txt", "project(x)\n");
        Self { framework: framework_dir, _index: index, project, knowledge }
    }

    /// What is found in files that are proposed together.
    fn found(&self, files: &[(&str, &str)]) -> Vec<Finding> {
        let project_dir = ProjectDir::open(self.project.path()).unwrap();
        let mut context = FindingsContext::default();
        context.knowledge = Some(Arc::clone(&self.knowledge));
        let draft = |(path, text): &(&str, &str)| Draft {
            change: DraftChange::Save {
                path: ProjectPath::new(path).unwrap(),
                base: None,
                content: text.as_bytes().to_vec(),
            },
            reason: String::new(),
            checks: Vec::new(),
        };
        let proposals = examine(&project_dir, files.iter().map(draft).collect(), &context);
        let checks = proposals.into_iter().flat_map(|proposal| proposal.checks);
        checks.filter(|check| check.kind == CheckKind::Declared).flat_map(|c| c.findings).collect()
    }

    fn texts(&self, files: &[(&str, &str)]) -> Vec<String> {
        self.found(files).into_iter().map(|finding| finding.text).collect()
    }
}

#[test]
fn what_the_framework_does_not_declare_is_named_with_what_is_near() {
    let world = World::new();
    let code = "#include \"bus/wires.h\"\n#include \"bus/wire.h\"\nvoid app_main(void) {\n  \
                bus_wire_start(1);\n  bus_wire_prob(2);\n#if CONFIG_BUS_WIRE_STOPS\n#endif\n}\n";
    let found = world.found(&[("main/main.c", code)]);
    let texts: Vec<&str> = found.iter().map(|finding| finding.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "`bus_wire_prob` is not declared in ESP-IDF 5.4.1",
            "no Kconfig of ESP-IDF 5.4.1 or of the project declares `CONFIG_BUS_WIRE_STOPS`",
            "ESP-IDF 5.4.1 has no header `bus/wires.h`",
        ]
    );
    assert!(found.iter().all(|finding| finding.level == FindingLevel::Warning));
    assert!(found[0].advice.starts_with("Near: `bus_wire_probe`"), "{}", found[0].advice);
    assert!(found[1].advice.contains("`CONFIG_BUS_WIRE_STOP`"), "{}", found[1].advice);
    assert!(found[2].advice.contains("`bus/wire.h`"), "{}", found[2].advice);
    assert_eq!(found[0].place.as_ref().map(|place| place.line), Some(5));
    let list = "idf_component_register(SRCS \"main.c\" REQUIRES bus_wires bus_wire)\n";
    let texts = world.texts(&[("main/CMakeLists.txt", list)]);
    assert_eq!(texts, ["ESP-IDF 5.4.1 has no component `bus_wires`"]);
    let defaults = "CONFIG_WIRE_OLD=y\nCONFIG_BUS_WIRE_SCAN=y\nCONFIG_BUS_WIRE_SPEED=1\n";
    assert_eq!(world.texts(&[("sdkconfig.defaults", defaults)]).len(), 1);
}

#[test]
fn what_the_project_declares_is_known() {
    let world = World::new();
    let root = world.project.path();
    write(root, "main/own.h", "int bus_wire_own(void);\n");
    write(root, "main/Kconfig.projbuild", "config BUS_WIRE_OWN\n  bool\n");
    write(root, "components/bus_mine/CMakeLists.txt", "idf_component_register()\n");
    write(root, "managed_components/x__bus_far/include/bus/far.h", "int bus_wire_far(void);\n");
    let code = "#include \"own.h\"\n#include \"bus/far.h\"\nstatic int bus_wire_here(int x) { return x; }\n\
                void f(void) { bus_wire_own(); bus_wire_far(); bus_wire_here(1); s.bus_wire_x(2); \
                bus_wire_new(); }\n#if CONFIG_BUS_WIRE_OWN\n#endif\n";
    let list = "idf_component_register(REQUIRES bus_mine bus_far x__bus_far)\n";
    let together = [
        ("main/main.c", code),
        ("main/CMakeLists.txt", list),
        ("main/new.h", "void bus_wire_new(void);\n"),
    ];
    assert_eq!(world.texts(&together), Vec::<String>::new());
    assert_eq!(world.texts(&together[..1]).len(), 1, "without the new header");
}

#[test]
fn what_cannot_be_known_is_not_judged() {
    let world = World::new();
    let code = "void f(void) { bus_wire_gone(); my_own_thing(); printf(\"bus_wire_text()\"); }\n";
    assert_eq!(world.texts(&[("main/main.c", code)]).len(), 1);
    // A header that another step is going to write, or that nobody has.
    let with_header = format!("#include \"not_yet.h\"\n{code}");
    let found = world.found(&[("main/main.c", &with_header)]);
    let expected = "`bus_wire_gone` is not declared in ESP-IDF 5.4.1; `not_yet.h`, which is not \
                    there, could declare it";
    assert_eq!(found.iter().map(|finding| finding.text.as_str()).collect::<Vec<_>>(), [expected]);
    assert_eq!(found[0].level, FindingLevel::Note);
    // A text for several versions.
    let several = format!("#if ESP_IDF_VERSION >= 5\n{code}#endif\n");
    assert_eq!(world.texts(&[("main/main.c", &several)]), Vec::<String>::new());
    // A component that is not downloaded.
    write(world.project.path(), "main/idf_component.yml", "dependencies:\n  x/bus_far: \"*\"\n");
    assert_eq!(world.texts(&[("main/main.c", code)]), Vec::<String>::new());
    write(world.project.path(), "managed_components/x__bus_far/a.h", "\n");
    assert_eq!(world.texts(&[("main/main.c", code)]).len(), 1);
}

/// The value of a variable outside of functions is used there, not declared.
#[test]
fn values_outside_of_functions_are_looked_up() {
    let world = World::new();
    let code = "static int mode = bus_wire_fast(1);\nstatic const bus_wire_state_t state;\n\
                typedef bus_wire_old_t bus_wire_new_t;\nint bus_wire_mine(int x);\n\
                static bus_wire_new_t all[] = { bus_wire_more(1), bus_wire_mine(1) };\n";
    let texts = world.texts(&[("main/main.c", code)]);
    let names: Vec<&str> = texts.iter().filter_map(|text| text.split('`').nth(1)).collect();
    assert_eq!(names, ["bus_wire_fast", "bus_wire_more", "bus_wire_old_t", "bus_wire_state_t"]);
}

#[test]
fn without_an_index_nothing_is_said() {
    let world = World::new();
    drop(world.framework);
    let knowledge = Arc::new(Knowledge::of(Library::new(Synonyms::default())));
    assert!(knowledge.declared().is_none());
    assert!(Knowledge::opening().declared().is_none());
    let project_dir = ProjectDir::open(world.project.path()).unwrap();
    let change = DraftChange::Save {
        path: ProjectPath::new("main/main.c").unwrap(),
        base: None,
        content: b"void f(void) { bus_wire_gone(); }\n".to_vec(),
    };
    let mut context = FindingsContext::default();
    context.knowledge = Some(knowledge);
    let draft = Draft { change, reason: String::new(), checks: Vec::new() };
    let checks = examine(&project_dir, vec![draft], &context).remove(0).checks;
    assert!(checks.iter().all(|check| check.kind != CheckKind::Declared));
}

/// What version 6.0 took out is named there with what stands in its place, and not before.
#[test]
fn what_a_version_took_out_is_told_with_what_stands_in_its_place() {
    let code = "#include \"driver/rmt.h\"\n#include \"cJSON.h\"\n#include \"nothing_of_ours.h\"\n\
                void f(TickType_t *t) { vTaskDelayUntil(t, 1); }\n";
    let list = "idf_component_register(SRCS \"main.c\" REQUIRES json bus_wire)\n";
    let files = [("main/main.c", &code.replace("#include \"nothing_of_ours.h\"\n", "")[..])];
    let old = World::of("5.5.1");
    assert_eq!(old.texts(&files), [""; 0]);
    let new = World::of("6.0.1");
    let found = new.found(&files);
    let texts: Vec<(&str, &str)> =
        found.iter().map(|finding| (finding.text.as_str(), finding.advice.as_str())).collect();
    let expected = [
        (
            "`vTaskDelayUntil` is not declared in ESP-IDF 6.0.1",
            "Removed in ESP-IDF 6.0. It is `xTaskDelayUntil` now.",
        ),
        (
            "ESP-IDF 6.0.1 has no header `cJSON.h`",
            "Removed in ESP-IDF 6.0. Add `espressif/cjson` to `idf_component.yml`.",
        ),
        (
            "ESP-IDF 6.0.1 has no header `driver/rmt.h`",
            "Removed in ESP-IDF 6.0. Use the component `esp_driver_rmt`: `driver/rmt_tx.h`, \
             `driver/rmt_rx.h` and `driver/rmt_encoder.h`.",
        ),
    ];
    assert_eq!(texts, expected);
    assert!(found.iter().all(|finding| finding.level == FindingLevel::Warning));
    let found = new.found(&[("main/CMakeLists.txt", list)]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].advice.contains("Add `espressif/cjson`"), "{}", found[0].advice);
    // In the old one the new name is not there yet.
    let found = old.found(&[("main/CMakeLists.txt", &list.replace("json", "esp_stdio"))]);
    assert_eq!(found[0].advice, "Before ESP-IDF 6.0 it is `esp_vfs_console`.");
    // A manifest that brings the component, and is not downloaded yet, leaves everything open.
    let manifest = "dependencies:\n  espressif/cjson: \"^1.7\"\n";
    let both = [files[0], ("main/idf_component.yml", manifest)];
    assert!(new.found(&both).is_empty());
}
