//! What is wrong with a source is found once, where it is, and valid code is left alone.

use super::*;
use crate::text::tree::parse;

/// The errors of a source, by line, with a mark behind those that a macro may excuse.
fn errors(language: Language, source: &str) -> Vec<String> {
    let limits = Limits::within(std::time::Duration::from_secs(60));
    let found = match parse(language, source, limits).unwrap().root_node().has_error() {
        true => find(language, source, limits).unwrap(),
        false => find_in_parsed(language, source),
    };
    let line = |at| line_at(source, at);
    let mark = |certainty| if certainty == Certainty::Certain { "" } else { "?" };
    found.iter().map(|e| format!("{}{} {}", line(e.at), mark(e.certainty), e.message)).collect()
}

#[test]
fn each_branch_is_read_by_itself() {
    let source = "int f(int n)\n{\n#if A\n    if (n) {\n#else\n    while (n) {\n#endif\n        n--;\n    }\n    return n;\n}\n";
    assert_eq!(errors(Language::C, source), [""; 0]);
    let wrong = source.replace("while (n) {", "while (n {");
    assert_eq!(errors(Language::C, &wrong), ["6 `(` is not closed before `}`"]);
    let wrong = source.replace("n--;", "n--");
    assert_eq!(errors(Language::C, &wrong), ["8 `;` is missing"]);
    let wrong = source.replace("#endif\n", "");
    assert_eq!(errors(Language::C, &wrong), ["3 `#if` has no `#endif`"]);
}

#[test]
fn conditions_that_exclude_each_other_make_no_error() {
    let heads =
        "#if V >= 5\nint f(int a)\n#endif\n#if V < 5\nint f(long a)\n#endif\n{\n    return a;\n}\n";
    assert_eq!(errors(Language::C, heads), [""; 0]);
    let left_out = "#if 0\nthis isn't { code\n#endif\nint a;\n";
    assert_eq!(errors(Language::C, left_out), [""; 0]);
}

#[test]
fn what_the_grammar_does_not_know_is_no_error() {
    for c in [
        "struct reg {\n    uint16_t flow : 12;\n    uint16_t : 2;\n    unsigned int : 0;\n    unsigned ok : 1;\n};\n",
        "typedef union {\n    struct {\n        uint32_t kind : 4, length : 12;\n        uint32_t : WIDTH - 3;\n    } bits;\n    uint32_t word;\n} head_t;\n",
        "typedef struct __attribute__((packed, aligned(4))) {\n    uint32_t id : 11, rtr : 1, : 4, len : 4;\n    uint32_t : 0;\n} frame_t;\n",
        "typedef union PACKED(4) __attribute__((x)) {\n    uint8_t a : 3, : 5;\n} one_t;\n",
        "static const uint8_t a[4] PROGMEM = { 1 };\nconst char *t = HOST PATH QUERY;\n",
        "_Pragma(\"GCC diagnostic push\") _Pragma(\"GCC diagnostic ignored \\\"-Wunused\\\"\")\nstatic int a;\n_Pragma(\"GCC diagnostic pop\")\n",
    ] {
        assert_eq!(errors(Language::C, c), [""; 0], "{c}");
    }
    for cpp in [
        "const uint8_t icon[] PROGMEM = { 1, 2 };\nstatic const char page[] PROGMEM = \"a\";\n",
        "const char *const names[] PROGMEM = { a, b };\nextern const uint16_t wave[64] PROGMEM;\n",
        "static uint8_t cache[4][8] DRAM_ATTR, rest[2] DMA_ATTR = { 0 };\n",
        "static int boots RTC_DATA_ATTR = 0;\nchar *last RTC_NOINIT_ATTR;\n",
        "void f() {\n    static const char text[] PROGMEM = \"a\";\n    use(text[0]);\n}\n",
        "const char t[] = NAME VERSION DATE;\nvoid f() { log(NAME VERSION DATE, A B C); }\n",
        "struct R { int a; };\nclass L {\npublic:\n    explicit L(R r = {}, int n = 1) : r_{r}, n_{n} {}\nprivate:\n    R r_;\n    int n_;\n};\n",
        "template <int N> class Plan {\npublic:\n    constexpr explicit Plan(std::array<int, N> a = {}) noexcept : a_{a} {}\n    std::array<int, N> a_;\n};\n",
        "void f(R r = {1, 2}, int n = 3);\n",
    ] {
        assert_eq!(errors(Language::Cpp, cpp), [""; 0], "{cpp}");
    }
    let wrong = "struct reg {\n    uint16_t : 2\n    uint16_t b : 2;\n};\n";
    assert!(!errors(Language::C, wrong).is_empty());
    for wrong in [
        "int a[4] oops = { 1 };\n",
        "const int a[] PROGMEM { = 1 };\n",
        "int f() { return a[1] b; }\n",
    ] {
        assert!(!errors(Language::Cpp, wrong).is_empty(), "{wrong}");
    }
    let wrong = "class L {\n    explicit L(R r = {) : r_{r} {}\n    R r_;\n};\n";
    assert!(!errors(Language::Cpp, wrong).is_empty());
}

#[test]
fn a_call_without_its_end_is_found_though_the_grammar_takes_it() {
    let body = |text: &str| format!("void f(void)\n{{\n{text}\n    go();\n}}\n");
    assert_eq!(errors(Language::C, &body("    start(1)")), ["3 `;` is missing"]);
    assert_eq!(errors(Language::C, &body("    ESP_ERROR_CHECK(start(1))")), ["3 `;` is missing"]);
    assert_eq!(errors(Language::C, &body("    TRY_ALL(1)")), [""; 0]);
    assert_eq!(errors(Language::C, &body("    list_for_each(a, b)")), [""; 0]);
    let own = |of: &str| format!("#define try_it(x) {of}\n{}", body("    try_it(1)"));
    assert_eq!(errors(Language::C, &own("do { x; } while (0)")), ["4 `;` is missing"]);
    assert_eq!(errors(Language::C, &own("if (x) return;")), [""; 0]);
}

#[test]
fn what_a_macro_may_excuse_is_not_certain() {
    let source = "int f(int a)\n{\n    return PICK(a ? : ; 2);\n}\n";
    assert!(errors(Language::C, source).iter().all(|error| error.contains('?')));
    let source = "int f(int a)\n{\n    return pick(a ? : ; 2);\n}\n";
    assert!(!errors(Language::C, source).iter().all(|error| error.contains("? ")));
}

#[test]
fn quotes_and_comments_without_end_are_found() {
    let one = |source: &str| errors(Language::C, source);
    assert_eq!(one("const char *a = \"b;\nint c;\n"), ["1 `\"` is never closed"]);
    assert_eq!(one("const char *a = \"b\\\";\nint c;\n"), ["1 `\"` is never closed"]);
    assert_eq!(one("int a;\n/* never\nint c;\n"), ["2 `/*` is never closed"]);
    assert_eq!(errors(Language::Cpp, "int a = 1'000'000;\nauto b = R\"x(\")x\";\n"), [""; 0]);
}
