//! Programs that people write, right and wrong.

use super::{
    Fault, check, decode, format, from_python, mapped, outline, to_python, to_python_from, tree,
};

const GRAMMAR: &str = include_str!("../../../assets/reverty/grammar.md");

/// Line, column, and a part of the message and hint.
#[track_caller]
fn faults(text: &str, expected: &[(u32, u32, &str)]) {
    let found = check(text);
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (fault, (line, column, words)) in found.iter().zip(expected) {
        assert_eq!((fault.line, fault.column), (*line, *column), "{found:#?}");
        let words_shown = format!("{} | {}", fault.message, fault.hint);
        assert!(words_shown.contains(words), "{words_shown} does not contain {words}");
        assert!(!fault.message.is_empty());
    }
}

#[track_caller]
fn python(text: &str, expected: &str) {
    assert_eq!(to_python(text).map(|python| python.text), Ok(expected.to_owned()));
}

/// The pieces of the grammar file in fences of that language.
fn fenced(language: &str) -> Vec<&'static str> {
    let open = format!("```{language}\n");
    GRAMMAR.split(open.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn the_examples_of_the_grammar_are_canonical_and_mean_their_python() {
    let (programs, pythons) = (fenced("reverty"), fenced("python"));
    assert!(programs.len() >= 3 && programs.len() == pythons.len());
    for (program, expected) in programs.iter().zip(pythons) {
        assert_eq!(check(program), []);
        assert_eq!(format(program).as_deref(), Ok(*program));
        python(program, expected);
        assert_eq!(to_python(&from_python(expected).unwrap()).unwrap().text, expected);
    }
}

#[test]
fn the_grammar_names_every_keyword() {
    let ebnf = fenced("ebnf").concat();
    for (_, reverty, python) in super::words::KEYWORDS {
        assert!(ebnf.contains(&format!("\"{reverty}\"")), "{reverty}");
        assert!(GRAMMAR.contains(&format!("| `{reverty}` | `{python}` |")), "{reverty}");
    }
    for function in super::DECLARED {
        assert!(GRAMMAR.contains(&format!("`{}`", function.name)), "{}", function.name);
    }
}

#[test]
fn the_grammar_names_every_limit_exception_and_refused_name() {
    let text = GRAMMAR.split_whitespace().collect::<Vec<_>>().join(" ");
    let limits = [
        format!("{} MiB", super::MOST_BYTES >> 20),
        format!("{} blocks", super::lexer::MOST_BLOCKS),
        format!("{} loops and handlers", check::MOST_LOOPS),
        format!("{} conditions", super::clause::MOST_BRANCHES),
        format!("{} parameters", super::cursor::MOST_PARAMETERS),
        format!("{} levels", super::cursor::MOST_DEPTH),
        format!("{} operands", super::cursor::MOST_HEIGHT),
        format!("{} digits", super::lexer::MOST_DIGITS),
    ];
    for words in limits {
        assert!(text.contains(&words), "{words}");
    }
    for name in super::EXCEPTIONS.iter().chain(&super::words::UNREACHABLE) {
        assert!(text.contains(&format!("`{name}`")), "{name}");
    }
    for (escape, python) in [
        (r"\x41", r"\x41"),
        (r"\u00e9", r"\u00e9"),
        (r"\U0001f600", r"\U0001f600"),
        (r"\101", r"\101"),
        (r"\q", r"\\q"),
        (r"\x4", r"\\x4"),
        (r"\N{BULLET}", r"\\N{BULLET}"),
        (r"\v", r"\v"),
    ] {
        assert!(text.contains(&format!("`{escape}`")), "{escape}");
        self::python(&format!("x = \"{escape}\"\n"), &format!("x = \"{python}\"\n"));
    }
}

#[test]
fn heads_of_published_examples_are_read() {
    for head in [
        ": tni -> () main fed",
        "tni -> () main fed",
        "tni -> () main fed:",
        ":tni->()main fed:",
        "tni -> (\n) main \\\n  fed:",
    ] {
        let text = format!("{head}\n    nruter 1\n");
        assert_eq!(format(&text).as_deref(), Ok(": tni -> () main fed\n    nruter 1\n"));
    }
    for head in ["enoN -> (tni: n) f fed", ":enoN->(tni :n)f fed :"] {
        let text = format!("{head} print(n)\n");
        assert_eq!(format(&text).as_deref(), Ok(": enoN -> (tni: n) f fed\n    print(n)\n"));
    }
}

#[test]
fn a_block_is_missing_where_it_should_begin() {
    faults(": eurT fi\nprint(1)\n", &[(2, 1, "no block after `fi` in line 1")]);
    let nested = "x = 1\n: eurT fi\n    : x == 1 elihw\n\n    # soon\n  \nprint(2)\n";
    faults(nested, &[(7, 1, "no block after `elihw` in line 3")]);
    let clauses = ": eurT fi\n: esle\n    print(2)\n";
    faults(clauses, &[(2, 1, "no block after `fi` in line 1")]);
    // Nothing comes after it.
    faults("x = 1\n: tni -> () f fed\n\n# end\n", &[(2, 1, "no block after `fed`")]);
    let python = from_python("if True:\nprint(1)\n").unwrap_err();
    assert_eq!((python[0].line, python[0].column), (2, 1), "{python:?}");
}

#[test]
fn a_comma_has_something_after_it_where_the_grammar_says_so() {
    faults(": tni -> (tni: n, ) f fed nruter n\n", &[(1, 19, "a parameter after the comma")]);
    faults("print(1, )\n", &[(1, 10, "an argument after the comma")]);
    faults("print(1,\n  2,\n)\n", &[(3, 1, "Remove the comma")]);
    assert_eq!(check("xs = [1, 2,]\nt = (1,)\nd = {\"a\": 1,}\n"), []);
    assert_eq!(from_python("print(1,)\n").as_deref(), Ok("print(1)\n"));
}

#[test]
fn a_loop_goes_over_what_has_parts() {
    let head = "n: tni = 3\ns: rts = \"ab\"\n: taolf -> (tsil: p, loob: q) f fed\n    ";
    for (over, own) in [
        ("5", "tni"),
        ("-2.5", "tni"),
        ("eurT", "loob"),
        ("enoN", "enoN"),
        ("n", "tni"),
        ("n + 1", "tni"),
        ("len(s)", "tni"),
        ("float(s)", "taolf"),
        ("f([], eurT)", "taolf"),
        ("1 < 2", "loob"),
        ("ton s", "loob"),
        ("q", "loob"),
    ] {
        let text = format!("{head}: {over} ni x rof\n        print(x)\n    nruter 0.5\n");
        faults(&text, &[(4, 7, &format!("cannot go over a `{own}`"))]);
    }
    for over in
        ["p", "s", "s + \"c\"", "p * 2", "range(n)", "str(n)", "[n]", "(n,)", "{n: 1}", "p[0]"]
    {
        let text = format!("{head}: {over} ni x rof\n        print(x)\n    nruter 0.5\n");
        assert_eq!(check(&text), [], "{over}");
    }
}

#[test]
fn a_keyword_is_no_name() {
    for word in ["fed", "tni", "nruter", "ni", "eurT"] {
        faults(&format!("x = 1\n{word} = 3\n"), &[(2, 1, "is a keyword of Reverty")]);
    }
    assert_eq!(check("eurT == 3\n"), []);
    let guarded = from_python("if __name__ == '__main__':\n    print(1)\n").unwrap_err();
    assert!(guarded[0].hint.contains("a function `main`"), "{guarded:?}");
}

#[test]
fn python_written_forwards_is_hinted() {
    faults("if x:\n    y = 1\n", &[(1, 1, "`: CONDITION fi`")]);
    faults("def f(x):\n    return x\n", &[(1, 1, "fed"), (2, 5, "`nruter VALUE`")]);
    faults("x = True\n", &[(1, 5, "`eurT`")]);
    faults("x = 1 and 2\n", &[(1, 7, "`and` is a keyword of Python | Write `dna`.")]);
    faults("class = 1\n", &[(1, 1, "cannot be a name")]);
    faults("lambda = 1\nimport os\n", &[(1, 1, "`lambda`"), (2, 1, "`import`")]);
    faults(
        ": tni -> (int: n) f fed\n    nruter n\n",
        &[(1, 11, "`int` is not a type | Write `tni`.")],
    );
    faults("x: int = 1\n", &[(1, 4, "Write `tni`")]);
    faults(": tni -> (n: tni) f fed\n    nruter 1\n", &[(1, 11, "the type comes before the name")]);
}

#[test]
fn the_order_of_python_is_hinted() {
    faults("fi 1 > 2:\n    x = 1\n", &[(1, 1, "`fi` comes at the end of its line")]);
    faults(": fi 1 > 2\n    x = 1\n", &[(1, 3, "`fi` comes at the end of its line")]);
    faults("rof i ni range(3):\n    print(i)\n", &[(1, 1, "`: range(N) ni NAME rof`")]);
    faults(": 1 > 2 fi:\n    print(1)\n", &[(1, 11, "no colon after `fi`")]);
    faults("1 > 2 fi\n    print(1)\n", &[(1, 1, "colon at the beginning of the line is missing")]);
    faults("esle\n    print(1)\n", &[(1, 1, "`: esle`")]);
    faults("elihw eurT:\n    print(1)\n", &[(1, 1, "`: CONDITION elihw`")]);
}

#[test]
fn what_reverty_does_not_have_is_hinted() {
    faults("x = 'a'\n", &[(1, 5, "double quotes")]);
    faults("x = f\"{y}\"\n", &[(1, 5, "there are no f-strings")]);
    faults("x = rb\"y\"\n", &[(1, 5, "begins with its quote")]);
    faults("x = 7 // 2\n", &[(1, 7, "int((a - a % b) / b)")]);
    faults("x = 7 ** 2\n", &[(1, 7, "`**`")]);
    faults("x = a.b\n", &[(1, 6, "attributes")]);
    faults("x = 1; y = 2\n", &[(1, 6, "line of its own")]);
    faults("x = \u{201c}a\u{201d}\n", &[(1, 5, "does not begin a string")]);
    faults("gr\u{f6}\u{df}e = 1\n", &[(1, 1, "ASCII")]);
    faults("x = \"open\n", &[(1, 5, "does not end")]);
    faults("x = (1,\ny = 2\n", &[(1, 5, "never closed")]);
    faults("x = 0x1f\n", &[(1, 5, "decimal")]);
    faults("1 = x\n", &[(1, 1, "cannot be assigned")]);
    faults("f() = 1\n", &[(1, 1, "cannot be assigned")]);
    faults("x = 1 == ton 2\n", &[(1, 10, "parentheses")]);
}

#[test]
fn faults_after_a_fault_are_found() {
    let text = "x = (1\ny = 2 +\nprint(\"a\")\n: x fi\nprint(1)\nz = = 3\n";
    let lines: Vec<u32> = check(text).iter().map(|fault| fault.line).collect();
    assert_eq!(lines, [1, 2, 5, 6]);
}

#[test]
fn blocks_are_checked() {
    faults(": 1 fi\nprint(1)\n", &[(2, 1, "no block after `fi`")]);
    faults("print(1)\n    print(2)\n", &[(2, 5, "deeper")]);
    faults(": 1 fi\n    print(1)\n  print(2)\n", &[(3, 3, "fits no block")]);
    faults(": 1 fi\n        print(1)\n\tprint(2)\n", &[(3, 2, "tabs and spaces")]);
    faults(": esle\n    print(1)\n", &[(1, 1, "no `fi` before")]);
    faults(": 1 file\n    print(1)\n", &[(1, 1, "no `fi` before")]);
    faults(": tpecxe\n    print(1)\n", &[(1, 1, "no `yrt` before")]);
    faults(": yrt\n    print(1)\n", &[(1, 1, "no `tpecxe` after")]);
    faults(": 1 fi : 2 fi print(1)\n", &[(1, 8, "no colon after")]);
    faults(": 1 fi 2 fi print(1)\n", &[(1, 8, "only a simple statement")]);
    faults(
        ": 1 fi\n    : enoN -> () f fed\n        print(1)\n",
        &[(2, 18, "within another block")],
    );
}

#[test]
fn names_mean_one_thing() {
    let f = ": tni -> (tni: n) f fed\n    nruter n\n";
    assert_eq!(check(&format!("{f}: tni -> (rts: n) g fed\n    nruter f(1)\n")), []);
    faults(&format!("{f}{f}"), &[(3, 19, "another function `f`")]);
    faults(&format!("{f}f = 1\n"), &[(3, 1, "`f` is a function")]);
    faults(&format!("{f}n = 1\n"), &[(1, 16, "`n` is a global")]);
    faults(
        &format!("{f}: enoN -> (tni: f) g fed\n    print(f)\n"),
        &[(3, 17, "`f` is a function")],
    );
    faults("print = 1\n", &[(1, 1, "`print` is a function")]);
    faults(
        ": enoN -> () len fed\n    print(1)\n",
        &[(1, 14, "every program has a function `len`")],
    );
    faults("x: tni = 1\nx: rts = \"a\"\n", &[(2, 1, "`x` is declared as `tni` before")]);
    let g = ": enoN -> () g fed\n    n: rts = \"a\"\n    print(n)\n";
    faults(&format!("{f}{g}"), &[(1, 16, "`n` is a `rts` elsewhere")]);
    faults(": enoN -> (tni: a, tni: a) f fed\n    print(a)\n", &[(1, 25, "another parameter `a`")]);
    for name in ["open", "eval", "exec", "__import__", "__builtins__"] {
        faults(&format!("{name} = 1\n"), &[(1, 1, "belongs to Python")]);
        faults(&format!("{name}(\"x\")\n"), &[(1, 1, "is not a function of this program")]);
    }
}

#[test]
fn names_are_assigned_before_they_are_used() {
    faults("print(x)\nx = 1\n", &[(1, 7, "`x` is used before it is assigned")]);
    faults("resutl = 1\nprint(result)\n", &[(2, 7, "Is it `resutl`?")]);
    faults("pritn(1)\n", &[(1, 1, "Is it `print`?")]);
    faults(": 1 fi\n    x = 1\n: esle\n    print(x)\n", &[(4, 11, "before it is assigned")]);
    assert_eq!(check(": 1 fi\n    x = 1\nprint(x)\n"), []);
    assert_eq!(check("i = 0\n: i < 3 elihw\n    : i > 0 fi print(x)\n    x = i\n    i += 1\n"), []);
    assert_eq!(check("g()\nx = 1\n: enoN -> () g fed\n    print(x)\n"), []);
    assert_eq!(check(": enoN -> () g fed\n    x = 1\ng()\nprint(x)\nx = 2\n"), []);
    let f = ": enoN -> () f fed\n    a = 1\n    print(a)\n: enoN -> () g fed\n    print(a)\n";
    faults(f, &[(5, 11, "another function only")]);
    faults("x = print\n", &[(1, 5, "Call it: `print(…)`")]);
    faults("x = 1\nx(2)\n", &[(2, 1, "a value, not a function")]);
    faults("x += 1\n", &[(1, 1, "before it is assigned")]);
    let early =
        ": tni -> (tni: n) f fed\n    : n fi\n        x = 1\n        nruter x\n    nruter x\n";
    faults(early, &[(5, 12, "before it is assigned")]);
}

#[test]
fn calls_and_types_are_checked() {
    let f = ": tni -> (tni: a, rts: b) f fed\n    nruter a\n";
    faults(&format!("{f}f(1)\n"), &[(3, 1, "takes 2 arguments, not 1")]);
    faults(&format!("{f}f(\"a\", \"b\")\n"), &[(3, 3, "this is a `rts`")]);
    faults("x = len()\n", &[(1, 5, "takes 1 argument, not 0")]);
    faults("x = range(1, 2, 3, 4)\n", &[(1, 5, "1 to 3")]);
    faults("x: tni = 2.5\n", &[(1, 10, "`taolf`")]);
    faults("x: tni = 1\nx = \"a\"\n", &[(2, 5, "declared as `tni`")]);
    assert_eq!(check("x: taolf = -1\ny: tni = eurT\nz: tsil = [1]\nw: tcid = {}\n"), []);
    faults(": enoN -> () f fed\n    nruter 1\n", &[(2, 12, "returns `enoN`")]);
    faults(": tni -> () f fed\n    nruter\n", &[(2, 5, "returns `tni`")]);
}

#[test]
fn every_path_of_a_typed_function_returns() {
    let f = |body: &str| format!(": tni -> (tni: n) f fed\n{body}");
    let ends = (1, 19, "can end without returning");
    faults(&f("    : n fi\n        nruter 1\n"), &[ends]);
    faults(&f("    : n elihw\n        nruter 1\n"), &[ends]);
    faults(&f("    : eurT elihw\n        : n fi kaerb\n"), &[ends]);
    faults(&f("    : yrt\n        nruter 1\n    : tpecxe\n        n = 2\n"), &[ends]);
    assert_eq!(check(&f("    : n fi\n        nruter 1\n    : esle\n        nruter 2\n")), []);
    assert_eq!(check(&f("    : eurT elihw\n        n = n + 1\n        : n > 9 fi nruter n\n")), []);
    assert_eq!(check(&f("    : yrt\n        nruter 1\n    : tpecxe\n        nruter 2\n")), []);
    faults("nruter 1\n", &[(1, 1, "no function around")]);
    faults("kaerb\neunitnoc\n", &[(1, 1, "no loop"), (2, 1, "no loop")]);
}

#[test]
fn the_meaning_stays_in_python() {
    python(
        "total = 0\n: enoN -> (tni: n) add fed\n    total += n\nadd(2)\n",
        "total = 0\n\n\ndef add(n: int) -> None:\n    global total\n    total += n\n\n\nadd(2)\n",
    );
    // Called before its definition.
    python(
        "print(f(1))\n: tni -> (tni: n) f fed nruter n\n",
        "def f(n: int) -> int:\n    return n\n\n\nprint(f(1))\n",
    );
    python("x = (1 - (2 - 3)) * -(4)\n", "x = (1 - (2 - 3)) * -4\n");
    python("x = ton (1 dna 2) ro 3 == (4 == 5)\n", "x = not (1 and 2) or 3 == (4 == 5)\n");
    python("x = \"a\\\"\ny = 007\n", "x = \"a\\\\\"\ny = 7\n");
    python(
        ": yrt print(1)\n: tpecxe print(2)\n",
        "try:\n    print(1)\nexcept Exception:\n    print(2)\n",
    );
    python(": \"abc\" ni c rof print(c)\n", "for c in \"abc\":\n    print(c)\n");
    python("x = (1,)\nx = ()\nx = ((1, 2))[0]\n", "x = (1,)\nx = ()\nx = (1, 2)[0]\n");
    let main = ": enoN -> () main fed\n    print(1)\n";
    assert!(to_python(main).unwrap().text.ends_with("if __name__ == \"__main__\":\n    main()\n"));
    assert!(to_python(&format!("{main}main()\n")).unwrap().text.ends_with("\n\nmain()\n"));
    let grown = to_python_from("x = 1\nprint(x)\n", 2).unwrap();
    assert_eq!(grown.text, "print(x)\n");
}

#[test]
fn comments_keep_their_places() {
    let text = "# top\n\n\n\nx = 1 # one\n: x fi # head\n      # inner\n      x = 2\n      # last\n# outer\n\
        : esle\n  x = [1, # in\n   2]\n# end";
    let formatted = "# top\n\nx = 1  # one\n: x fi  # head\n    # inner\n    x = 2\n    # last\n# outer\n\
        : esle\n    # in\n    x = [1, 2]\n# end\n";
    assert_eq!(format(text).as_deref(), Ok(formatted));
    assert_eq!(format(formatted).as_deref(), Ok(formatted));
    assert!(!to_python(text).unwrap().text.contains('#'));
}

#[test]
fn traces_name_lines_of_reverty() {
    let source = "# c\n: tni -> (tni: n) f fed\n    nruter 1 / n\n\nprint(f(0))\n";
    let python = to_python(source).unwrap();
    let at = |text: &str| python.text.lines().position(|line| line.contains(text)).unwrap() + 1;
    let trace = format!(
        "Traceback (most recent call last):\n  File \"/t/p.py\", line {}, in <module>\n    print(f(0))\n\
         \x20         ~^^^\n  File \"/t/p.py\", line {}, in f\n    return 1 / n\n           ~~^~~\n\
         ZeroDivisionError: division by zero\n",
        at("print"),
        at("return")
    );
    let shown = mapped(&trace, "/t/p.py", &python, source, "f.rev");
    let expected = "Traceback (most recent call last):\n  File \"f.rev\", line 5, in <module>\n    print(f(0))\n  \
        File \"f.rev\", line 3, in f\n    nruter 1 / n\nZeroDivisionError: division by zero\n";
    assert_eq!(shown, expected);
}

#[test]
fn what_python_has_and_reverty_has_not_is_refused_with_its_place() {
    let refused = |text: &str, line: u32, column: u32, words: &str| {
        let faults = from_python(text).unwrap_err();
        let Fault { message, hint, .. } = &faults[0];
        assert_eq!((faults[0].line, faults[0].column), (line, column), "{faults:?}");
        assert!(format!("{message} | {hint}").contains(words), "{faults:?}");
    };
    refused("import os\n", 1, 1, "`import`");
    refused("def f(x):\n    return x\n", 1, 7, "`n: int`");
    refused("def f(x: int):\n    return x\n", 1, 14, "has a type");
    refused("def f(x: int = 1) -> int:\n    return x\n", 1, 14, "no default");
    refused("def f(x: list[int]) -> int:\n    return 1\n", 1, 14, "no parameters");
    refused("x = f'{y}'\n", 1, 5, "f-strings");
    refused("print('\\N{BULLET}')\n", 1, 8, "characters have no names");
    refused("'''doc\nx = 1\n", 1, 1, "does not end");
    refused("file = 1\n", 1, 1, "keyword of Reverty");
    refused("x = 1\nx.append(2)\n", 2, 2, "methods");
    refused("class A:\n    pass\n", 1, 1, "`class`");
    refused("x = [i for i in y]\n", 1, 8, "`,` or `]`");
    let text = "def f() -> None:\n    global x\n    x = 'it\\'s \"q\"'\n    pass\n\n\nx = 1  # c\n\
        if __name__ == '__main__':\n    f()\n";
    let back = from_python(text);
    assert!(back.is_err(), "only `main()` is left to Reverty");
    let text = text.replace("if __name__ == '__main__':\n    f()\n", "");
    let expected = ": enoN -> () f fed\n    x = \"it's \\x22q\\x22\"\n    enoN\n\nx = 1  # c\n";
    assert_eq!(from_python(&text).as_deref(), Ok(expected));
}

#[test]
fn python_whose_meaning_would_change_is_refused() {
    let refused = |text: &str, line: u32, column: u32, words: &str| {
        let faults = from_python(text).unwrap_err();
        assert_eq!((faults[0].line, faults[0].column), (line, column), "{faults:?}");
        assert!(faults[0].message.contains(words), "{faults:?}");
    };
    let local = "`x` is a local here";
    refused("x = 1\ndef f() -> int:\n    x = 2\n    return x\nprint(f(), x)\n", 3, 5, local);
    refused("def f() -> None:\n    for x in range(3):\n        x += 1\nx = 1\n", 2, 9, local);
    let other = "x = 1\ndef g() -> None:\n    global x\n    x = 2\ndef f() -> None:\n    x = 3\n";
    refused(other, 6, 5, local);
    refused("def f() -> None:\n    global g\n    g = 1\nf()\nprint(g)\n", 2, 12, "functions only");
    let main = "def main() -> int:\n    return 3\n";
    for after in ["", "x = main()\n", "main()\nif __name__ == '__main__':\n    main()\n"] {
        refused(&format!("{main}{after}"), 1, 5, "runs at the end");
    }
    let guard = "if __name__ == '__main__':\n    main()\n";
    assert!(from_python(&format!("{main}{guard}print(1)\n")).is_err());
    for after in ["main()\nprint(1)\n", guard] {
        assert!(from_python(&format!("{main}{after}")).is_ok(), "{after}");
    }
    let own = "def f(a: int) -> int:\n    a = a + 1\n    b = a\n    return b\ndef g(b: int) -> int:\n    return b\n";
    assert!(from_python(own).is_ok());
}

#[test]
fn strings_over_lines_become_strings_of_one_line() {
    let text = "def f() -> int:\n    \"\"\"Doc 'x' \"y\".\n\n    More \\\n    \\t\\\\ here.\r\n    \"\"\"\n    \
        return 1\nx = '\'\'a\"\'\'\' + 'b'\n";
    let expected = ": tni -> () f fed\n    \
        \"Doc 'x' \\x22y\\x22.\\n\\n    More     \\t\\\\ here.\\n    \"\n\n    \
        nruter 1\nx = \"a\\x22\" + \"b\"\n";
    assert_eq!(from_python(text).as_deref(), Ok(expected));
}

#[test]
fn types_and_exceptions_are_no_names_and_no_values() {
    faults("x = rts(5)\n", &[(1, 5, "`rts` is a type, not a value | Write `str(…)`")]);
    faults("x = tsil\n", &[(1, 5, "`tsil` is a type")]);
    faults("x = bool(5)\n", &[(1, 5, "is not a function of this program | Define it")]);
    faults("ValueError = 5\n", &[(1, 1, "`ValueError` is an exception")]);
    faults(": enoN -> (tni: KeyError) f fed enoN\n", &[(1, 17, "is an exception")]);
    // Python takes no type for a global in a function.
    let body =
        "x: tni = 1\n: enoN -> () f fed\n    x: tni = 2\n    y: tni = x\n    print(y)\nf()\n";
    let python = to_python(body).unwrap().text;
    assert!(python.contains("    global x\n    x = 2\n    y: int = x\n"), "{python}");
}

#[test]
fn strange_texts_are_read_to_their_end() {
    assert_eq!(check(""), []);
    assert_eq!(check("\u{feff}"), []);
    assert_eq!(check("# only a comment"), []);
    assert_eq!(check("\r\n\r\n  \t\n"), []);
    assert_eq!(check(": 1 fi\r\n\tprint(1)\r\n\tprint(2)\r\n: esle\r\n\tprint(3)\r\n"), []);
    assert_eq!(format("x = 1\r\n# c\r\n").as_deref(), Ok("x = 1\n# c\n"));
    assert_eq!(outline(&tree("").unwrap()), "program\n");
    faults("x = 1\0\n", &[(1, 6, "NUL")]);
    faults("x = \"a\0b\"\n# \0\n", &[(1, 7, "control"), (2, 3, "control")]);
    faults("x = 1\ry = 2\n", &[(1, 6, "carriage return")]);
    faults("# a\ry = 2\n", &[(1, 4, "control")]);
    let not_text = decode(b"x = 1\ny = \"\xff\"\n").unwrap_err();
    assert_eq!((not_text[0].line, not_text[0].column), (2, 6));
}

#[test]
fn deep_and_long_texts_are_bounded() {
    let deep =
        |open: &str, close: &str| format!("x = {}1{}\n", open.repeat(10_000), close.repeat(10_000));
    for (open, close) in
        [("(", ")"), ("[", "]"), ("-", ""), ("ton ", ""), ("len(", ")"), ("{1: ", "}")]
    {
        let found = check(&deep(open, close));
        assert!(found[0].message.contains("nested more than"), "{found:?}");
    }
    let found = check(&format!("x = 1{}\n", "[0]".repeat(10_000)));
    assert!(found[0].message.contains("nested more than"), "{found:?}");
    let found = check(&format!("x = 1{}\n", " + 1".repeat(10_000)));
    assert!(found[0].message.contains("at most"), "{found:?}");
    let found = check(&(": 1 fi ".repeat(10_000) + "print(1)\n"));
    assert!(found[0].message.contains("no colon after"), "{found:?}");
    let found = check(&format!("1{}\n", " fi 1".repeat(10_000)));
    assert!(found.len() == 2 && found[1].message.contains("only a simple"), "{found:?}");
    let blocks: String = (0..2_000).map(|depth| format!("{}: 1 fi\n", " ".repeat(depth))).collect();
    assert!(check(&blocks).iter().any(|fault| fault.message.contains("blocks within each other")));
    let elifs = format!(": 1 fi\n    print(1)\n{}", ": 1 file\n    print(1)\n".repeat(5_000));
    assert!(check(&elifs)[0].message.contains("conditions"));
    let loops: String =
        (0..30).map(|depth| format!("{}: eurT elihw\n", " ".repeat(depth))).collect();
    let loops = format!("{loops}{}print(1)\n", " ".repeat(30));
    assert!(check(&loops)[0].message.contains("too many loops"));
    let line = format!("x = [{}]\n", "1, ".repeat(400_000));
    assert_eq!((line.len() > 1 << 20, check(&line)), (true, vec![]));
    assert_eq!(check(&format!("x = \"{}\"\n", "a".repeat(1 << 20))), []);
    assert!(check(&format!("x = {}\n", "1".repeat(1 << 20)))[0].message.contains("digits"));
    assert_eq!(check(&"(".repeat(1 << 20)).len(), 1);
    assert!(check(&"\u{1}".repeat(1 << 20)).len() <= 101);
    assert!(check(&"x\n".repeat(1 << 18)).len() <= 101);
}
