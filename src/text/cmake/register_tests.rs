//! Tests of adding a source, on lists as people write them.

use proptest::prelude::*;

use super::*;

fn none(_: &str) -> Vec<String> {
    Vec::new()
}

fn with(text: &str, source: &str) -> String {
    match register(text, source, &none) {
        Ok(Registered::With { text, .. }) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_source_is_added_in_the_style_of_the_list() {
    for (before, after) in [
        (
            "idf_component_register(SRCS \"main.c\" INCLUDE_DIRS \".\")\n",
            "idf_component_register(SRCS \"main.c\" \"src/n.c\" INCLUDE_DIRS \".\")\n",
        ),
        (
            "idf_component_register(\n    SRCS\n        main.c # first\n        src/a.c # last\n    REQUIRES driver\n)\n",
            "idf_component_register(\n    SRCS\n        main.c # first\n        src/a.c # last\n        src/n.c\n    REQUIRES driver\n)\n",
        ),
        (
            "idf_component_register(SRCS \"a.c\"\r\n                            \"b.c\"\r\n    INCLUDE_DIRS \".\")\r\n",
            "idf_component_register(SRCS \"a.c\"\r\n                            \"b.c\"\r\n                            \"src/n.c\"\r\n    INCLUDE_DIRS \".\")\r\n",
        ),
        (
            "# Sources.\nset(srcs\n    \"a.c\"\n    \"b.c\")\nif(CONFIG_X)\n    list(APPEND srcs \"x.c\")\nendif()\nidf_component_register(SRCS ${srcs} REQUIRES $<$<BOOL:${X}>:y>)\n",
            "# Sources.\nset(srcs\n    \"a.c\"\n    \"b.c\"\n    \"src/n.c\")\nif(CONFIG_X)\n    list(APPEND srcs \"x.c\")\nendif()\nidf_component_register(SRCS ${srcs} REQUIRES $<$<BOOL:${X}>:y>)\n",
        ),
        (
            "file(GLOB srcs \"lib/*.c\")\nidf_component_register(SRCS ${srcs} INCLUDE_DIRS \".\")\n",
            "file(GLOB srcs \"lib/*.c\")\nidf_component_register(SRCS ${srcs} \"src/n.c\" INCLUDE_DIRS \".\")\n",
        ),
        (
            "idf_component_register(SRCS $<$<CONFIG:Debug>:dbg.c>)",
            "idf_component_register(SRCS $<$<CONFIG:Debug>:dbg.c> \"src/n.c\")",
        ),
        (
            "idf_component_register(INCLUDE_DIRS \"include\")\n",
            "idf_component_register(SRCS \"src/n.c\" INCLUDE_DIRS \"include\")\n",
        ),
        (
            "idf_component_register(\n    INCLUDE_DIRS \"include\"\n)\n",
            "idf_component_register(\n    SRCS \"src/n.c\"\n    INCLUDE_DIRS \"include\"\n)\n",
        ),
        ("idf_component_register()", "idf_component_register(SRCS \"src/n.c\")"),
        (
            "idf_component_register(SRC_DIRS \".\" \"lib\" INCLUDE_DIRS \".\")",
            "idf_component_register(SRC_DIRS \".\" \"lib\" \"src\" INCLUDE_DIRS \".\")",
        ),
        (
            "set(COMPONENT_SRCS \"a.c\")\nregister_component()\n",
            "set(COMPONENT_SRCS \"a.c\" \"src/n.c\")\nregister_component()\n",
        ),
        (
            "target_sources(${COMPONENT_LIB} PRIVATE a.c)\n",
            "target_sources(${COMPONENT_LIB} PRIVATE a.c src/n.c)\n",
        ),
        ("add_executable(host main.c)", "add_executable(host main.c src/n.c)"),
    ] {
        assert_eq!(with(before, "src/n.c"), after, "{before}");
        let again = register(after, "src/n.c", &none);
        assert_eq!(again, Ok(Registered::Already { by_glob: false }), "{after}");
    }
}

#[test]
fn the_changed_line_is_reported() {
    let text = "set(srcs\n    a.c\n)\nidf_component_register(SRCS ${srcs})";
    let Ok(Registered::With { line, .. }) = register(text, "n.c", &none) else { panic!() };
    assert_eq!(line, 3);
}

#[test]
fn what_is_built_already_is_left_alone() {
    for (text, expected) in [
        ("idf_component_register(SRCS \"${CMAKE_CURRENT_SOURCE_DIR}/src/n.c\")", Some(false)),
        ("set(s a.c;./src/n.c)\nidf_component_register(SRCS \"${s}\")", Some(false)),
        ("set(a ${b})\nset(b ${a} src/n.c)\nidf_component_register(SRCS ${a})", Some(false)),
        (
            "file(GLOB_RECURSE s CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.c)\nidf_component_register(SRCS ${s})",
            Some(true),
        ),
        ("file(GLOB s src/*.c)\nidf_component_register(SRCS ${s})", Some(true)),
        ("file(GLOB s *.c */*.cpp)\nidf_component_register(SRCS ${s})", None),
        ("file(GLOB s src/*.c)\nidf_component_register(SRCS a.c)", None),
        ("idf_component_register(SRC_DIRS src)", Some(false)),
        ("idf_component_register(SRCS a.c INCLUDE_DIRS src/n.c)", None),
        ("# src/n.c\nidf_component_register(SRCS a.c #[[ src/n.c ]])", None),
    ] {
        let found = match register(text, "src/n.c", &none).unwrap_or_else(|e| panic!("{text}: {e}"))
        {
            Registered::Already { by_glob } => Some(by_glob),
            Registered::With { .. } => None,
        };
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn what_is_not_understood_is_told_with_its_line() {
    let crowded = |_: &str| vec!["src/old.c".to_owned()];
    for (text, line, words) in [
        ("if(X)\nidf_component_register(SRCS a.c)\nendif()", 2, "condition"),
        (
            "if(X)\nidf_component_register(SRCS a.c)\nelse()\nidf_component_register(SRCS b.c)\nendif()",
            4,
            "2 times",
        ),
        ("my_component(a.c)", 1, "no `idf_component_register`"),
        ("\nidf_component_register(${args})", 2, "`${args}`"),
        ("idf_component_register(SRC_DIRS .)", 1, "src/old.c"),
        ("idf_component_register(SRC_DIRS src EXCLUDE_SRCS src/n.c)", 1, "EXCLUDE_SRCS"),
        ("idf_component_register(SRCS \"a.c)", 1, "quote"),
        ("\n\nidf_component_register(SRCS a.c", 3, "never closed"),
        ("idf_component_register(SRCS a.c)\n}", 2, "command is expected"),
        (
            "set(COMPONENT_SRCS a.c)\nset(COMPONENT_SRCS b.c)\nregister_component()",
            3,
            "COMPONENT_SRCS",
        ),
    ] {
        let error = register(text, "src/n.c", &crowded).unwrap_err();
        assert!(error.why.contains(words), "{text}: {error}");
        assert_eq!(error.line, line, "{text}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn only_one_word_is_added(
        names in proptest::collection::vec("[a-d]{1,3}", 0..6), is_quoted in any::<bool>(),
        gap in prop_oneof![Just(" "), Just("\n    "), Just("\r\n\t"), Just(" # é ) \"\n  "), Just("\n#[[ x\n]] ")],
        shape in 0_usize..4
    ) {
        let quote = if is_quoted { "\"" } else { "" };
        let list: String = names.iter().map(|name| format!("{gap}{quote}{name}.c{quote}")).collect();
        let text = match shape {
            0 => format!("idf_component_register(SRCS{list}{gap}INCLUDE_DIRS{gap}.)\n"),
            1 => format!("set(all{list}\n)\nidf_component_register(SRCS ${{all}})"),
            2 => format!("idf_component_register(INCLUDE_DIRS .{gap}SRCS{list}\n)"),
            _ => format!("add_executable(x{list}\n)"),
        };
        let new = with(&text, "src/new.c");
        prop_assert!(builds(&new, "src/new.c").unwrap());
        for name in &names {
            prop_assert!(builds(&new, &format!("{name}.c")).unwrap(), "{}", new);
        }
        // The old text is the new one without one word and the blanks before it.
        let common = text.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
        let tail = text.len() - common;
        prop_assert!(new.ends_with(&text[text.len() - tail..]), "{}", new);
        let added = &new.as_bytes()[common..new.len() - tail];
        let added = String::from_utf8_lossy(added);
        prop_assert_eq!(added.matches("src/new.c").count(), 1, "{}", new);
        prop_assert!(added.replace("src/new.c", "").trim().trim_matches('"').trim().is_empty(), "{}", added);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(idf_component_register\\(|set\\(|SRCS |[a-c.\"#()\\[\\]=${};\\\\ \né]){0,40}") {
        let _ = register(&text, "a.c", &none);
    }
}
