//! The one way to a tree of tree-sitter: which grammars there are, and how much a text may cost.
//!
//! Owns the limits of bytes, time and depth: texts may come from a model. Must not know what is
//! looked for in a tree.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

/// Deepest level of nodes that [`walk`] visits; people stay below a hundred.
const MAX_DEPTH: usize = 4_096;

/// A language with a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// C sources and headers.
    C,
    /// C++ sources, headers that hold classes, and sketches for Arduino.
    Cpp,
    /// CMake lists and scripts.
    Cmake,
    Json,
    Python,
}

/// What reading one text may cost.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    bytes: usize,
    until: Instant,
}

impl Limits {
    /// For colours, and for the first place that does not parse.
    #[must_use]
    pub fn colours() -> Self {
        Self::of(1 << 20, patient(Duration::from_millis(250)))
    }

    /// For the prototypes of a sketch.
    #[must_use]
    pub fn sketch() -> Self {
        Self::of(1 << 20, patient(Duration::from_millis(500)))
    }

    /// For the calls in a source: what is longer is generated.
    #[must_use]
    pub fn calls(time: Duration) -> Self {
        Self::of(192 << 10, time)
    }

    /// For a tool that has `time` for it.
    #[must_use]
    pub fn within(time: Duration) -> Self {
        Self::of(16 << 20, time)
    }

    fn of(bytes: usize, time: Duration) -> Self {
        Self { bytes, until: Instant::now() + time }
    }

    /// Whether a text is short enough.
    #[must_use]
    pub const fn admits(self, source: &str) -> bool {
        source.len() <= self.bytes
    }

    /// Whether to go on.
    pub(super) fn go_on(self) -> ControlFlow<()> {
        if Instant::now() > self.until { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Tests are about meaning, and may run on a busy machine.
const fn patient(time: Duration) -> Duration {
    if cfg!(test) { Duration::from_secs(60) } else { time }
}

impl Language {
    pub(super) fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::C => tree_sitter_c::LANGUAGE.into(),
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Self::Cmake => tree_sitter_cmake::LANGUAGE.into(),
            Self::Json => tree_sitter_json::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
        }
    }
}

/// The tree of a text; `None` when it is too long or takes too long.
#[must_use]
pub fn parse(language: Language, source: &str, limits: Limits) -> Option<Tree> {
    parse_edited(language, source, None, limits)
}

/// Parses a source; where there is a tree of a source that was edited into it, from that.
pub(super) fn parse_edited(
    language: Language,
    source: &str,
    edited: Option<&Tree>,
    limits: Limits,
) -> Option<Tree> {
    if !limits.admits(source) {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).ok()?;
    let mut watch = |_: &ParseState| limits.go_on();
    let bytes = source.as_bytes();
    parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or_default(),
        edited,
        Some(ParseOptions::new().progress_callback(&mut watch)),
    )
}

/// Visits every node below `root`, and `root` itself, before its children and in the order of the
/// text; those below a node only when `visit` says `true` of it.
pub fn walk<'tree>(root: Node<'tree>, mut visit: impl FnMut(Node<'tree>) -> bool) {
    let mut cursor = root.walk();
    let mut depth = 0;
    loop {
        if visit(cursor.node()) && depth < MAX_DEPTH && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            depth -= 1;
        }
    }
}

/// The text of a node.
#[must_use]
pub fn text<'a>(node: Node<'_>, source: &'a str) -> &'a str {
    source.get(node.byte_range()).unwrap_or_default()
}

/// The line a node starts on, from 1.
#[must_use]
pub fn line(node: Node<'_>) -> u32 {
    u32::try_from(node.start_position().row).unwrap_or(u32::MAX).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_or_takes_too_long_has_no_tree() {
        let source = "int f(void);\n".repeat(40_000);
        assert!(parse(Language::C, &source, Limits::within(Duration::from_secs(60))).is_some());
        assert!(parse(Language::C, &source, Limits::within(Duration::ZERO)).is_none());
        assert!(
            parse(Language::C, &source, Limits::calls(Duration::from_secs(60))).is_none(),
            "520 kB"
        );
    }

    #[test]
    fn a_walk_visits_each_node_once_and_stops_at_a_depth() {
        let visited = |source: &str| {
            let limits = Limits::within(Duration::from_secs(60));
            let tree = parse(Language::Json, source, limits).unwrap();
            let mut kinds = Vec::new();
            walk(tree.root_node(), |node| {
                kinds.push(node.kind().to_owned());
                node.kind() != "pair"
            });
            kinds
        };
        assert_eq!(
            visited(r#"[1, {"a": 2}]"#),
            ["document", "array", "[", "number", ",", "object", "{", "pair", "}", "]"]
        );
        let deep = visited(&"[".repeat(100_000));
        assert!(deep.len() < 200_000, "{}", deep.len());
    }
}
