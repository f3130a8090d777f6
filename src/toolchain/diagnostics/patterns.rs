//! The forms in which compilers, linkers, CMake and `idf.py` tell what is wrong, as patterns.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// The patterns; a pattern that does not compile would find nothing, which the tests notice.
pub(super) struct Patterns {
    pub compiler: Option<Regex>,
    pub included: Option<Regex>,
    pub linker_line: Option<Regex>,
    pub linker_object: Option<Regex>,
    pub linker: Option<Regex>,
    pub cmake: Option<Regex>,
    pub call: Option<Regex>,
    pub plain: Option<Regex>,
    pub kconfig: Option<Regex>,
    pub program: Option<Regex>,
    pub partition: Option<Regex>,
}

pub(super) static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let regex = |text: &str| Regex::new(text).ok();
    Patterns {
        included: regex(r"^(?:In file included from|\s+from) (.+?):(\d+)(?::\d+)?[:,]$"),
        compiler: regex(
            r"^([^\s:][^:]*):(\d+):(?:(\d+):)? (fatal error|[Ee]rror|[Ww]arning|note): (.*)$",
        ),
        linker_line: regex(
            r"^(?:.*:)?([^:()\s][^:()]*):(\d+):(?:\([^)]*\):)? ((?:undefined reference to|multiple definition of) .*)$",
        ),
        linker_object: regex(
            r"^(.*):\([^)]*\): ((?:undefined reference to|multiple definition of) .*)$",
        ),
        linker: regex(r"^(?:\S*/)?(?:[\w.-]+-)?ld(?:\.\w+)?(?:\.exe)?: (warning: )?(.*)$"),
        cmake: regex(
            r"^CMake (Error|Warning|Deprecation Warning)(?: \(dev\))?(?: (?:at|in) (.+?):(\d+) \([^)]*\))?:\s*(.*)$",
        ),
        call: regex(r"^  (\S.*?):(\d+) \([^)]*\)$"),
        // As Kconfig tells them: of a file, or of a value in `sdkconfig` and where it is defined.
        kconfig: regex(
            r"^(?:ERROR: |[\w.]*KconfigError: )([^\s:][^:]*):(\d+): (?:error: )?(.*)$|^(?:warning|NOTE): (.*\(defined at ([^:()]+):(\d+)\).*)$",
        ),
        // What a program of the compiler says without a place, such as that the disk is full.
        program: regex(
            r"^(?:\S*/)?(?:cc1(?:plus)?|as|collect2|lto1|[\w.-]*(?:gcc|g\+\+|clang|clang\+\+)): (?:fatal error|error): (.*)$",
        ),
        partition: regex(
            r"^(?:[Ww]arning|WARNING): (.*partitions? (?:is|are) (?:nearly full|too small).*)$",
        ),
        plain: regex(r"^(?:ERROR|FATAL ERROR|Error): (.+)$"),
    }
});

pub(super) fn captures<'t>(pattern: Option<&Regex>, text: &'t str) -> Option<Captures<'t>> {
    pattern?.captures(text)
}

pub(super) fn group<'t>(captures: &Captures<'t>, index: usize) -> &'t str {
    captures.get(index).map_or("", |found| found.as_str())
}

pub(super) fn number(captures: &Captures<'_>, index: usize) -> Option<u32> {
    group(captures, index).parse().ok()
}
