//! What a program within the walls can do as ever.

use firmhand::sandbox::{Level, RunEnd};

use crate::stand::at_every_level;

#[test]
fn a_program_reads_writes_and_ends_as_ever() {
    at_every_level(|stand| {
        let script = "read word; echo $word > kept; cat kept; exit 7";
        let ran = stand.place.shell(script).run_with(&stand.runner, b"hi\n");
        assert_eq!((ran.report.end, ran.said.as_str()), (RunEnd::Exit(7), "hi\n"), "{ran:?}");
        assert_eq!(std::fs::read_to_string(stand.place.inside("kept")).unwrap(), "hi\n");
        for (way, end) in [
            (["exit", "3"], RunEnd::Exit(3)),
            (["abort", ""], RunEnd::Signal(6)),
            (["crash", ""], RunEnd::Signal(11)),
        ] {
            let ran = stand.attempt(&way);
            assert_eq!(ran.report.end, end, "{way:?}: {ran:?}");
        }
        let pipeline =
            "for i in 1 2 3; do echo $i; done | sort -r | tr '\\n' ' '; sleep 0.1 & wait";
        assert_eq!(stand.place.shell(pipeline).run(&stand.runner).said, "3 2 1 ");
    });
}

#[test]
fn an_interpreter_runs_and_talks_to_itself() {
    let script = "import json, os, socket, subprocess, sys, tempfile, threading\n\
        open('made.json', 'w').write(json.dumps({'a': 1}))\n\
        print(subprocess.run(['echo', 'child'], capture_output=True, text=True).stdout.strip())\n\
        one = threading.Thread(target=print, args=('thread',)); one.start(); one.join()\n\
        print(os.path.exists('made.json'), tempfile.gettempdir() != '')\n";
    let loopback = "import socket\n\
        server = socket.create_server(('127.0.0.1', 0))\n\
        client = socket.create_connection(server.getsockname())\n\
        client.sendall(b'loop'); print(server.accept()[0].recv(4).decode())\n";
    if !std::path::Path::new("/usr/bin/python3").exists() {
        return println!("Python is not installed");
    }
    at_every_level(|stand| {
        let mut run = |script: &str| {
            stand.place.walls.program = "/usr/bin/python3".into();
            stand.place.walls.args = vec!["-c".into(), script.into()];
            stand
                .place
                .walls
                .env
                .push(("TMPDIR".into(), stand.place.walls.folder.display().to_string()));
            stand.place.run(&stand.runner)
        };
        let ran = run(script);
        assert_eq!(ran.said, "child\nthread\nTrue True\n", "{ran:?}");
        let ran = run(loopback);
        assert_eq!(ran.said == "loop\n", stand.level == Level::Namespaces, "{ran:?}");
    });
}

#[test]
fn what_cannot_be_started_is_said() {
    at_every_level(|stand| {
        std::fs::write(stand.place.inside("text"), "no program").unwrap();
        stand.place.walls.program = stand.place.inside("text");
        let (input, output) = std::io::pipe().unwrap();
        let errors = output.try_clone().unwrap();
        let (input, output, errors) = (input.into(), output.into(), errors.into());
        let ends = firmhand::sandbox::Ends { input, output, errors };
        let error = stand.runner.start(&stand.place.walls, ends).unwrap_err();
        assert!(error.what.contains("text") && !error.why.is_empty(), "{error}");
    });
}
