//! `run_code`: programs of agents, good and bad ones.

use std::fs;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use crate::project::Project;
use crate::stand::wherever_code_runs;

fn python(project: &Project, code: &str) -> Value {
    project.tool("run_code", &json!({ "language": "python", "code": code, "timeout": 5 }))
}

#[test]
fn a_program_gets_its_input_and_arguments_and_leaves_the_project_alone() {
    wherever_code_runs(|| {
        let project =
            Project::new(&[("data.txt", "from the project"), ("lib.py", "WORD = 'lib'\n")]);
        let before = project.files();
        let code = "import sys, lib\nprint(open('data.txt').read(), lib.WORD, sys.argv[1:], input())\n\
                print('to err', file=sys.stderr)\nopen('data.txt', 'w').write('changed')\n\
                open('new.txt', 'w').write('new')\n";
        let answer = project.tool(
            "run_code",
            &json!({ "language": "python", "code": code, "args": ["a", "-b"], "stdin": "line\n" }),
        );
        assert_eq!(answer["ok"], true, "{answer}");
        assert_eq!(answer["stdout"], "from the project lib ['a', '-b'] line\n");
        assert_eq!((&answer["stderr"], &answer["exit_code"]), (&json!("to err\n"), &json!(0)));
        assert!(answer["memory_peak_kib"].as_u64().unwrap() > 1_000, "{answer}");
        assert_eq!(project.files(), before);
    });
}

#[test]
fn each_language_runs_and_says_what_is_wrong() {
    wherever_code_runs(|| {
        let project = Project::new(&[
            ("src/add.h", "int add(int a, int b);\n"),
            ("src/add.c", "#include \"add.h\"\nint add(int a, int b)\n{\n    return a + b;\n}\n"),
        ]);
        let run = |language: &str, code: &str| {
            project.tool("run_code", &json!({ "language": language, "code": code }))
        };
        let main = "#include <stdio.h>\n#include \"add.h\"\nint main(void)\n{\n    printf(\"%d\\n\", add(2, 3));\n    return 4;\n}\n";
        let answer = run("c", main);
        assert_eq!(
            (&answer["stdout"], &answer["exit_code"]),
            (&json!("5\n"), &json!(4)),
            "{answer}"
        );
        assert_eq!(answer["error"]["code"], "program_failed");
        let answer = run("cpp", "#include <iostream>\nint main() { std::cout << \"hi\\n\"; }\n");
        assert_eq!(answer["stdout"], "hi\n", "{answer}");
        let answer = run("c", "int main(void) { return x; }\n");
        assert_eq!(answer["error"]["code"], "not_compiled", "{answer}");
        assert!(answer["stdout"].as_str().unwrap().contains("undeclared"), "{answer}");
        let answer = run("shell", "echo shell; exit 3\n");
        assert_eq!((&answer["stdout"], &answer["exit_code"]), (&json!("shell\n"), &json!(3)));
        let answer = run("c", "int main(void) { int *p = 0; return *(volatile int *)p; }\n");
        assert_eq!(answer["signal"], 11, "{answer}");
    });
}

#[test]
fn every_wall_is_named() {
    wherever_code_runs(|| {
        let project = Project::new(&[]);
        let stopped = |code: &str| python(&project, code);
        let begun = Instant::now();
        let answer = project.tool(
            "run_code",
            &json!({ "language": "python", "code": "while True: pass", "timeout": 1 }),
        );
        assert_eq!(answer["stopped_by"], "time", "{answer}");
        assert!(begun.elapsed().as_secs() < 30);
        let answer = stopped("x = bytearray(2_000_000_000)\nx[::4096] = b'x' * len(x[::4096])\n");
        assert_eq!(answer["stopped_by"], "memory", "{answer}");
        let answer = stopped("import socket\nsocket.create_connection(('192.0.2.1', 80), 2)\n");
        assert_eq!(answer["stopped_by"], "network", "{answer}");
        let answer = stopped("open('/usr/firmhand-was-here', 'w')\n");
        assert_eq!(answer["stopped_by"], "file", "{answer}");
        let answer = stopped("f = open('big', 'wb')\nwhile True: f.write(b'x' * 1_000_000)\n");
        assert!(
            ["file size", "file"].contains(&answer["stopped_by"].as_str().unwrap_or_default())
                || answer["ok"] == false,
            "{answer}"
        );
    });
}

#[test]
fn what_a_program_prints_is_bounded_and_harmless() {
    wherever_code_runs(|| {
        let project = Project::new(&[]);
        let answer = python(&project, "import sys\nsys.stdout.buffer.write(b'gr\\xfc\\xdfe\\n')\n");
        assert_eq!(answer["stdout"], "grüße\n", "{answer}");
        let answer = python(&project, "print('\\x1b]52;c;eA==\\x07\\x1b[2J\\u202ehidden')\n");
        assert!(!answer["stdout"].as_str().unwrap().contains(['\u{1b}', '\u{7}', '\u{202e}']));
        let answer =
            python(&project, "print('begin')\nfor _ in range(400_000): print('x' * 100)\n");
        assert!(answer["stdout"].as_str().unwrap().len() <= 40_000);
        assert!(
            answer["bytes_left_out"].as_u64().unwrap() > 39_000_000,
            "{}",
            answer["bytes_left_out"]
        );
        let closed = "import os, time\nos.close(1)\nos.close(2)\ntime.sleep(100)\n";
        let args = json!({ "language": "python", "code": closed, "timeout": 1 });
        assert_eq!(project.tool("run_code", &args)["stopped_by"], "time");
    });
}

#[test]
fn a_program_reaches_nothing_of_the_person() {
    wherever_code_runs(|| {
        let project = Project::new(&[("a.txt", "a")]);
        let secret = project.outside("secret.txt");
        fs::write(&secret, "secret").unwrap();
        let victim = project.outside("victim.txt");
        let path = |path: &Path| path.display().to_string();
        let code = format!(
            "import os\nfor name in [{:?}, {:?}, '/etc/shadow', '/root/.bashrc', '/proc/1/environ']:\n\
         \x20   try:\n        print('READ', name, open(name).read()[:20])\n    except OSError as e:\n        print('no', name)\n\
         try:\n    open({:?}, 'w').write('x'); print('WROTE')\nexcept OSError: print('no')\n\
         print('KEYS', [k for k in os.environ if 'KEY' in k or 'TOKEN' in k])\n",
            path(&secret),
            path(&project.path("a.txt")),
            path(&victim),
        );
        let args = json!({ "language": "python", "code": code });
        let env = [("OPENAI_API_KEY", "k"), ("MY_TOKEN", "t")];
        let answer = project.tool_with("run_code", &args, &env);
        let output = answer["stdout"].as_str().unwrap();
        assert!(!output.contains("READ") && output.contains("KEYS []"), "{output}");
        assert!(!victim.exists(), "{output}");
    });
}

#[test]
fn wrong_calls_are_answered() {
    wherever_code_runs(|| {
        let project = Project::new(&[("a.py", "print(1)\n")]);
        let code = |args: Value| project.tool("run_code", &args)["error"]["code"].clone();
        assert_eq!(code(json!({ "language": "python" })), "bad_arguments");
        assert_eq!(code(json!({ "language": "cobol", "code": "" })), "bad_arguments");
        assert_eq!(code(json!({ "language": "python", "entry": "b.py" })), "no_such_file");
        assert_eq!(code(json!({ "language": "python", "entry": "../b.py" })), "bad_path");
        assert_eq!(
            code(json!({ "language": "python", "code": "", "timeout": 0 })),
            "bad_arguments"
        );
        let empty = project.outside("empty");
        fs::create_dir(&empty).unwrap();
        let args = json!({ "language": "python", "entry": "a.py" });
        let answer = project.tool_with("run_code", &args, &[("PATH", empty.to_str().unwrap())]);
        assert!(answer["error"]["hint"].as_str().unwrap().contains("Install Python"), "{answer}");
        let args = json!({ "language": "c", "code": "int main(void) { return 0; }" });
        let answer = project.tool_with("run_code", &args, &[("PATH", empty.to_str().unwrap())]);
        assert!(answer["error"]["hint"].as_str().unwrap().contains("Install one"), "{answer}");
    });
}

#[test]
fn a_program_that_closes_its_output_and_goes_on_is_ended_in_time() {
    wherever_code_runs(|| {
        let project = Project::new(&[]);
        let code = "import os, time\nprint('before', flush=True)\nos.close(1)\nos.close(2)\ntime.sleep(600)\n";
        let begun = Instant::now();
        let args = json!({ "language": "python", "code": code, "timeout": 2 });
        let answer = project.tool("run_code", &args);
        assert!(begun.elapsed() < std::time::Duration::from_secs(60), "{answer}");
        assert_eq!(answer["ok"], false, "{answer}");
        assert_eq!(answer["stopped_by"], "time", "{answer}");
        assert!(answer["stdout"].as_str().unwrap().contains("before"), "{answer}");
    });
}

#[test]
fn firmware_takes_in_no_file_of_the_machine() {
    wherever_code_runs(|| {
        let project = Project::new(&[
            (
                "CMakeLists.txt",
                "cmake_minimum_required(VERSION 3.16)\ninclude($ENV{IDF_PATH}/tools/cmake/project.cmake)\n\
             project(leak)\n",
            ),
            ("main/CMakeLists.txt", "idf_component_register(SRCS \"main.c\")\n"),
            ("main/logo.bin", "a picture of the project"),
        ]);
        let key = project.outside("key");
        fs::write(&key, "a key of the person").unwrap();
        let build = |file: &Path| {
            let code = format!(
                "#include <stdio.h>\n__asm__(\".section .rodata\\n.global taken\\ntaken: .inc\" \"bin \
             \\\"{}\\\"\\n.byte 0\\n.text\\n\");\nextern const char taken[];\nvoid app_main(void)\n{{\n    \
             printf(\"%s\\n\", taken);\n}}\n",
                file.display()
            );
            fs::write(project.path("main/main.c"), code).unwrap();
            project.tool_with("build_project", &json!({}), &[("IDF_PATH", "/none")])
        };
        let answer = build(&project.path("main/logo.bin"));
        assert_eq!(answer["ok"], true, "{answer}");
        let firmware = fs::read(project.path("build/leak.elf")).unwrap();
        assert!(memchr::memmem::find(&firmware, b"a picture of the project").is_some());
        let answer = build(&key);
        assert_eq!(answer["ok"], false, "{answer}");
        assert!(answer["errors"].to_string().contains("key"), "{answer}");
        let firmware = fs::read(project.path("build/leak.elf")).unwrap_or_default();
        assert!(memchr::memmem::find(&firmware, b"a key of the person").is_none());
    });
}
