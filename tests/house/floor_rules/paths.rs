//! Every path and method name a file mentions outside its tests, with `crate`, `self` and
//! `super` resolved.

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use super::SourceFile;

/// A path as written or imported.
pub struct SeenPath {
    /// Its segments; the first is `crate` when it was resolved to one of the crate's modules. An
    /// import of everything ends in `*`.
    pub segments: Vec<String>,
    pub line: usize,
}

/// What [`collect`] finds.
#[derive(Default)]
pub struct Seen {
    pub paths: Vec<SeenPath>,
    /// Called methods, but for those that a type calls on itself: what they do is seen where they
    /// do it.
    pub methods: Vec<(String, usize)>,
    /// Lints that attributes let pass.
    pub excused_lints: Vec<(String, usize)>,
}

/// Collects from everything that is compiled into the program.
pub fn collect(file: &SourceFile) -> Seen {
    let mut collector = Collector { module: file.module(), seen: Seen::default() };
    collector.visit_file(&file.tree);
    collector.seen
}

/// The modules that this file declares for tests only, by the file that holds them.
pub fn test_modules(file: &SourceFile) -> Vec<Vec<String>> {
    let declared = file.tree.items.iter().filter_map(|item| match item {
        syn::Item::Mod(module) if is_for_tests(&module.attrs) && module.content.is_none() => {
            let mut path = file.module();
            if let Some(name) = named_file(&module.attrs) {
                // Relative to the folder of the file that declares it.
                if !file.path.ends_with("mod.rs") {
                    path.pop();
                }
                path.extend(name.trim_end_matches(".rs").split('/').map(str::to_owned));
            } else {
                path.push(module.ident.to_string());
            }
            Some(path)
        }
        _ => None,
    });
    declared.collect()
}

/// The value of `#[path = "…"]`.
fn named_file(attrs: &[syn::Attribute]) -> Option<String> {
    let attr = attrs.iter().find(|attr| attr.path().is_ident("path"))?;
    match &attr.meta.require_name_value().ok()?.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// Whether an item with these attributes exists in tests only.
pub fn is_for_tests(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|attr| {
        let Ok(list) = attr.meta.require_list() else { return attr.path().is_ident("test") };
        let words = list.tokens.to_string();
        attr.path().is_ident("cfg") && (words == "test" || words.starts_with("all (test"))
    })
}

struct Collector {
    module: Vec<String>,
    seen: Seen,
}

impl Collector {
    fn add(&mut self, segments: Vec<String>, line: usize) {
        let segments = self.resolve(segments);
        self.seen.paths.push(SeenPath { segments, line });
    }

    fn resolve(&self, segments: Vec<String>) -> Vec<String> {
        let mut base = match segments[0].as_str() {
            "crate" | "firmhand" => Vec::new(),
            "self" | "super" => self.module.clone(),
            _ => return segments,
        };
        let mut rest = &segments[usize::from(segments[0] != "super")..];
        while rest.first().is_some_and(|segment| segment == "super") {
            base.pop();
            rest = &rest[1..];
        }
        let mut resolved = vec!["crate".to_owned()];
        resolved.extend(base);
        resolved.extend_from_slice(rest);
        resolved
    }

    fn add_use(&mut self, tree: &syn::UseTree, prefix: &[String]) {
        let line = tree.span().start().line;
        let with = |name: String| [prefix, &[name]].concat();
        match tree {
            syn::UseTree::Path(path) => self.add_use(&path.tree, &with(path.ident.to_string())),
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|item| self.add_use(item, prefix));
            }
            syn::UseTree::Name(name) => self.add(with(name.ident.to_string()), line),
            syn::UseTree::Rename(rename) => self.add(with(rename.ident.to_string()), line),
            syn::UseTree::Glob(_) => self.add(with("*".to_owned()), line),
        }
    }

    /// Macros hold tokens, not a tree: paths and method names are recognised by their shape.
    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let punct = |at: usize, c: char| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == c);
        let mut at = 0;
        while at < tokens.len() {
            if let TokenTree::Group(group) = &tokens[at] {
                self.scan(group.stream());
            }
            if let TokenTree::Ident(first) = &tokens[at] {
                let line = first.span().start().line;
                let mut segments = vec![first.to_string()];
                let is_method = at > 0 && punct(at - 1, '.');
                while punct(at + 1, ':') && punct(at + 2, ':') {
                    let Some(TokenTree::Ident(next)) = tokens.get(at + 3) else { break };
                    segments.push(next.to_string());
                    at += 3;
                }
                if is_method {
                    self.seen.methods.push((first.to_string(), line));
                } else {
                    self.add(segments, line);
                }
            }
            at += 1;
        }
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attrs: &[syn::Attribute] = match item {
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            syn::Item::Struct(item) => &item.attrs,
            syn::Item::Const(item) => &item.attrs,
            _ => &[],
        };
        if !is_for_tests(attrs) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.add_use(&item.tree, &[]);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {
        // `pub(super)` and `pub(crate)` are not imports.
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.add(segments, path.span().start().line);
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let on_itself =
            matches!(&*call.receiver, syn::Expr::Path(path) if path.path.is_ident("self"));
        if !on_itself {
            self.seen.methods.push((call.method.to_string(), call.method.span().start().line));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.scan(item.tokens.clone());
    }

    fn visit_attribute(&mut self, attr: &'ast syn::Attribute) {
        let Ok(list) = attr.meta.require_list() else { return };
        if ["allow", "expect"].iter().any(|name| attr.path().is_ident(name)) {
            let lints = list.tokens.to_string().replace(' ', "");
            let lints = lints.split(',').take_while(|lint| !lint.starts_with("reason="));
            let line = attr.span().start().line;
            self.seen.excused_lints.extend(lints.map(|lint| (lint.to_owned(), line)));
        }
    }
}
