//! What is message of programs that are wrong, by its real cause, in the words of their language.

use super::{check, from_python};

/// Line, and a part of the message and hint, of each fault.
#[track_caller]
fn faults(text: &str, expected: &[(u32, &str)]) {
    let found = check(text);
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (fault, (line, words)) in found.iter().zip(expected) {
        let message = format!("{} | {}", fault.message, fault.hint);
        assert!(fault.line == *line && message.contains(words), "{fault:?} | {words}");
    }
}

#[track_caller]
fn refused(python: &str, line: u32, words: &str) {
    let found = from_python(python).unwrap_err();
    let message: String = found.iter().map(|f| format!("{} | {}\n", f.message, f.hint)).collect();
    assert!(found[0].line == line && message.contains(words), "{message} | {words}");
    for own in ["fed`", "tpecxe", "nruter", "`rts`", "`tni`", "Remove it", "elihw", "`dna`"] {
        assert!(!message.contains(own), "{own} in {message}");
    }
}

#[test]
fn a_call_before_its_definition_is_no_python_that_can_be_mirrored() {
    let f = "def f() -> int:\n    return 1\n";
    refused(&format!("print(f())\n{f}"), 1, "`f` is called before its definition");
    let guarded = "try:\n    print(f())\nexcept NameError:\n    print(\"no f\")\n";
    refused(&format!("{guarded}{f}"), 2, "before its definition");
    let by_way = "def g() -> int:\n    return f()\nx = g()\n";
    refused(&format!("{by_way}{f}"), 3, "`f` is called before");
    for fine in [format!("{f}print(f())\n"), format!("def g() -> int:\n    return f()\n{f}g()\n")] {
        assert!(from_python(&fine).is_ok(), "{:?}", from_python(&fine));
    }
}

#[test]
fn strings_side_by_side_are_reported_as_such() {
    faults(
        "s = (\"a\"\n\"b\")\nprint(s)\n",
        &[(2, "side by side are not joined in Reverty | Write `+`")],
    );
    faults("s = \"a\" \"b\" \"c\"\n", &[(1, "side by side")]);
    let found = from_python("s = (\"a\"\n\"b\")\n").unwrap_err();
    assert!(found.len() == 1 && found[0].message.contains("side by side"), "{found:?}");
}

#[test]
fn hints_name_the_real_cause() {
    faults("Here is the program:\nx = 1\n", &[(1, "words follow each other")]);
    faults("The program prints\n", &[(1, "words follow each other")]);
    faults("```reverty\nx = 1\n```\n", &[(1, "a fence"), (3, "a fence")]);
    faults("x = \"abc\"[0:1]\n", &[(1, "no slices")]);
    faults("x = \"abc\"[:1]\n", &[(1, "no slices")]);
    faults("print(x := 1)\n", &[(1, "no operator `:=`")]);
    faults("print(1 ni [1])\n", &[(1, "whether a value is in another one")]);
    assert_eq!(check("x = 1\n\u{c}y = 2\n: x == y fi\n    print(x)\n\u{c}\nprint(y)\n"), []);
    faults(": yrt\n    print(1)\n: KeyboardInterrupt tpecxe\n    print(2)\n", &[(3, "Use Arith")]);
}

#[test]
fn python_is_answered_in_its_own_words() {
    refused("f(1)\n", 1, "`def`");
    refused("x: int = \"a\"\n", 1, "this is a `str`");
    refused("def f() -> int:\n    print(1)\n", 1, "`return VALUE`");
    refused("try:\n    print(1)\nexcept KeyboardInterrupt:\n    print(2)\n", 3, "`except:`");
    refused("try:\n    print(1)\n", 1, "`except EXCEPTION:`");
    refused("for x in 5:\n    print(x)\n", 1, "`for NAME in range(N)`");
    refused("break\n", 1, "`while` or `for`");
    refused("return 1\n", 1, "around this `return`");
    refused("print(3 & 1)\n", 1, "no operator `&`");
    refused("def f(x: int | None) -> int:\n    return 1\n", 1, "no operator `|`");
    refused("@d\ndef f() -> int:\n    return 1\n", 1, "decorators");
    refused("print(-7 // 2)\n", 1, "int((a - a % b) / b)");
    refused("x = 1 in [1]\n", 1, "whether a value is in another one");
}

#[test]
fn faults_beyond_those_shown_are_counted() {
    let found = check(&"print(nothing)\n".repeat(20_000));
    assert_eq!(found.len(), 101);
    assert!(found[100].message.starts_with("19900 more faults"), "{:?}", found[100]);
    let wrong = check(&"x = = 1\n".repeat(300));
    assert!(wrong[100].message.starts_with("200 more"), "{:?}", wrong[100]);
}
