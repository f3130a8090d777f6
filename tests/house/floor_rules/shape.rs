//! Sizes, file headers, colours and names that must not be.

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use super::paths::{Seen, is_for_tests};
use super::{Rule, SourceFile, Violation};

const MOST_FILE_LINES: usize = 600;
const MOST_FUNCTION_LINES: usize = 60;
const MOST_FIELDS: usize = 12;

/// The theme, and the reading of its colours.
const COLOUR_HOMES: &[&str] = &["ui/theme.rs", "ui/colour.rs"];

/// Checks what can be seen in one file alone.
pub fn check(file: &SourceFile) -> Vec<Violation> {
    let mut found = Vec::new();
    let first = file.text.lines().next().unwrap_or_default();
    if first.strip_prefix("//!").is_none_or(|words| words.trim().is_empty()) {
        found.push(file.broken(Rule::Header, 1, "does not open with `//!` and what it owns"));
    }
    let lines = file.text.lines().count();
    if lines > MOST_FILE_LINES {
        let detail = format!("{lines} lines, at most {MOST_FILE_LINES}");
        found.push(file.broken(Rule::FileLength, lines, detail));
    }
    if let Some(at) = file.text.lines().position(|line| line.contains("from_replay")) {
        let detail = "live, resume and replay are one code path";
        found.push(file.broken(Rule::ReplayFlag, at + 1, detail));
    }
    let mut shapes = Shapes { file, found, inner_types: inner_types(&file.tree) };
    shapes.visit_file(&file.tree);
    shapes.found
}

/// Checks that colours are made in the theme only.
pub fn check_colours(file: &SourceFile, seen: &Seen) -> Vec<Violation> {
    if COLOUR_HOMES.contains(&file.path.as_str()) {
        return Vec::new();
    }
    let raw = seen.paths.iter().filter(|path| {
        path.segments.windows(2).any(|pair| pair[0] == "Color" && pair[1] != "Reset")
    });
    raw.map(|path| {
        let text = path.segments.join("::");
        file.broken(Rule::Colour, path.line, format!("{text}: colours come from the theme"))
    })
    .collect()
}

struct Shapes<'a> {
    file: &'a SourceFile,
    found: Vec<Violation>,
    /// Types that nobody outside of their module's parent sees.
    inner_types: Vec<&'a syn::Ident>,
}

fn inner_types(tree: &syn::File) -> Vec<&syn::Ident> {
    let types = tree.items.iter().filter_map(|item| match item {
        syn::Item::Struct(item) => Some((&item.vis, &item.ident)),
        syn::Item::Enum(item) => Some((&item.vis, &item.ident)),
        _ => None,
    });
    types
        .filter(|(vis, _)| !matches!(vis, syn::Visibility::Public(_)))
        .map(|(_, name)| name)
        .collect()
}

impl Shapes<'_> {
    fn check_function(&mut self, attrs: &[syn::Attribute], name: &syn::Ident, body: &syn::Block) {
        let excused = attrs.iter().any(|attr| {
            attr.path().is_ident("expect")
                && attr
                    .meta
                    .require_list()
                    .is_ok_and(|list| mentions(list.tokens.clone(), "too_many_lines"))
        });
        let open = body.brace_token.span.open().start().line;
        let close = body.brace_token.span.close().start().line;
        let inner = self.file.text.lines().skip(open).take(close.saturating_sub(open + 1));
        let code = inner.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
        let lines = code.count();
        if lines > MOST_FUNCTION_LINES && !excused {
            let detail = format!("{name} has {lines} lines of code, at most {MOST_FUNCTION_LINES}");
            self.found.push(self.file.broken(Rule::FunctionLength, open, detail));
        }
    }

    fn check_parameters(&mut self, signature: &syn::Signature) {
        for input in &signature.inputs {
            let syn::FnArg::Typed(typed) = input else { continue };
            if matches!(&*typed.ty, syn::Type::Path(path) if path.path.is_ident("bool")) {
                let detail =
                    format!("{} takes a bool; an enum says what it means", signature.ident);
                let line = typed.span().start().line;
                self.found.push(self.file.broken(Rule::BoolParameter, line, detail));
            }
        }
    }
}

impl<'ast> Visit<'ast> for Shapes<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.check_function(&item.attrs, &item.sig.ident, &item.block);
        if matches!(item.vis, syn::Visibility::Public(_)) {
            self.check_parameters(&item.sig);
        }
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.check_function(&item.attrs, &item.sig.ident, &item.block);
        if matches!(item.vis, syn::Visibility::Public(_)) {
            self.check_parameters(&item.sig);
        }
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        for inner in &item.items {
            let syn::TraitItem::Fn(function) = inner else { continue };
            if let Some(body) = &function.default {
                self.check_function(&function.attrs, &function.sig.ident, body);
            }
            if matches!(item.vis, syn::Visibility::Public(_)) {
                self.check_parameters(&function.sig);
            }
        }
        visit::visit_item_trait(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let before = self.found.len();
        visit::visit_item_mod(self, item);
        if is_for_tests(&item.attrs) {
            // A test's helpers are no public interface.
            let inner = self.found.split_off(before);
            self.found.extend(inner.into_iter().filter(|v| v.rule != Rule::BoolParameter));
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let before = self.found.len();
        visit::visit_item_impl(self, item);
        let is_inner = matches!(&*item.self_ty, syn::Type::Path(path)
            if path.path.get_ident().is_some_and(|name| self.inner_types.contains(&name)));
        if is_inner {
            let inner = self.found.split_off(before);
            self.found.extend(inner.into_iter().filter(|v| v.rule != Rule::BoolParameter));
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if item.fields.len() > MOST_FIELDS {
            let detail =
                format!("{} has {} fields, at most {MOST_FIELDS}", item.ident, item.fields.len());
            let line = item.ident.span().start().line;
            self.found.push(self.file.broken(Rule::StructSize, line, detail));
        }
    }
}

fn mentions(tokens: TokenStream, word: &str) -> bool {
    tokens.into_iter().any(|token| matches!(token, TokenTree::Ident(ident) if ident == word))
}
