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
    /// The name under which a `pub use` passes it on to others.
    pub passed_on: Option<String>,
}

/// A name that an import brings into a file.
pub struct SeenImport {
    /// Its name in the file; `*` for everything of a module.
    pub name: String,
    /// What it stands for, as in [`SeenPath`].
    pub segments: Vec<String>,
}

/// A type's own `impl` block.
pub struct SeenImpl {
    /// The type's path, as in [`SeenPath`].
    pub segments: Vec<String>,
    pub line: usize,
}

/// What [`collect`] finds.
#[derive(Default)]
pub struct Seen {
    pub paths: Vec<SeenPath>,
    pub imports: Vec<SeenImport>,
    pub impls: Vec<SeenImpl>,
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

/// Whom an import is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Import {
    /// The file itself and its inner modules.
    Own,
    /// Others too: `pub use`.
    PassedOn,
}

struct Collector {
    module: Vec<String>,
    seen: Seen,
}

impl Collector {
    fn add(&mut self, segments: Vec<String>, line: usize) {
        let segments = self.resolve(segments);
        self.seen.paths.push(SeenPath { segments, line, passed_on: None });
    }

    /// Adds an import under `name`; `_` stands for a trait that is used without one.
    fn add_import(&mut self, segments: Vec<String>, name: String, line: usize, how: Import) {
        let segments = self.resolve(segments);
        let passed_on = (how == Import::PassedOn).then(|| name.clone());
        self.seen.imports.push(SeenImport { name, segments: segments.clone() });
        self.seen.paths.push(SeenPath { segments, line, passed_on });
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

    fn add_use(&mut self, tree: &syn::UseTree, prefix: &[String], how: Import) {
        let line = tree.span().start().line;
        let with = |name: &str| [prefix, &[name.to_owned()]].concat();
        match tree {
            syn::UseTree::Path(path) => {
                self.add_use(&path.tree, &with(&path.ident.to_string()), how);
            }
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|item| self.add_use(item, prefix, how));
            }
            syn::UseTree::Name(name) if name.ident == "self" => {
                let name = prefix.last().cloned().unwrap_or_default();
                self.add_import(prefix.to_vec(), name, line, how);
            }
            syn::UseTree::Name(name) => {
                let name = name.ident.to_string();
                self.add_import(with(&name), name, line, how);
            }
            syn::UseTree::Rename(rename) => {
                let path = with(&rename.ident.to_string());
                self.add_import(path, rename.rename.to_string(), line, how);
            }
            syn::UseTree::Glob(_) => self.add_import(with("*"), "*".to_owned(), line, how),
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
        let how = match item.vis {
            syn::Visibility::Inherited => Import::Own,
            _ => Import::PassedOn,
        };
        self.add_use(&item.tree, &[], how);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if let (None, syn::Type::Path(own)) = (&item.trait_, &*item.self_ty) {
            let segments = own.path.segments.iter().map(|segment| segment.ident.to_string());
            let segments = self.resolve(segments.collect());
            let line = item.impl_token.span.start().line;
            self.seen.impls.push(SeenImpl { segments, line });
        }
        visit::visit_item_impl(self, item);
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
