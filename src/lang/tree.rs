//! Parses sources within bounds of time.
//!
//! Owns the choice between the grammars of C, C++ and Python. Must not know what is looked for.

use std::ops::ControlFlow;
use std::time::Instant;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

/// A language whose sources are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Grammar {
    /// C sources and headers.
    C,
    /// C++ sources, and headers that hold classes, templates or namespaces.
    Cpp,
    Python,
}

/// Parses `source`; `None` when the deadline passes first.
pub(super) fn parse(grammar: Grammar, source: &str, deadline: Instant) -> Option<Tree> {
    let language: tree_sitter::Language = match grammar {
        Grammar::C => tree_sitter_c::LANGUAGE.into(),
        Grammar::Cpp => tree_sitter_cpp::LANGUAGE.into(),
        Grammar::Python => tree_sitter_python::LANGUAGE.into(),
    };
    let mut parser = Parser::new();
    parser.set_language(&language).ok()?;
    let mut watch = |_: &ParseState| {
        if Instant::now() > deadline { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let bytes = source.as_bytes();
    parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or_default(),
        None,
        Some(ParseOptions::new().progress_callback(&mut watch)),
    )
}

/// The text of a node.
pub(super) fn text<'a>(node: Node<'_>, source: &'a str) -> &'a str {
    source.get(node.byte_range()).unwrap_or_default()
}

/// The line a node starts on, from 1.
pub(super) fn line(node: Node<'_>) -> u32 {
    u32::try_from(node.start_position().row).unwrap_or(u32::MAX).saturating_add(1)
}
