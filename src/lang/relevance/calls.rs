//! Which functions a source defines and which it calls, and who calls whom in a project.
//!
//! A function that is handed over by its name, as to `xTaskCreate`, counts as called. Calls are
//! tied by name alone: what a linker would find. Must not know requests or weights.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tree_sitter::Node;

use crate::lang::preprocess::{grammar_of, tame};
use crate::model::ProjectPath;
use crate::text::tree::{Language, Limits, parse, text, walk};

/// A name that more files define tells none of them.
const MOST_DEFINERS: usize = 3;

/// A function that more files call tells nothing about any of them.
const MOST_CALLERS: usize = 12;

/// How long one source may take.
const ONE: Duration = Duration::from_secs(4);

/// The functions of one source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceFunctions {
    /// Those with a body here; `true` when no other file can call it.
    defined: BTreeMap<String, bool>,
    /// Names that are called or handed over.
    used: BTreeSet<String>,
}

/// Reads sources, on as many processors as there are; the answers are in the order of the sources.
pub(super) fn of_all(sources: &[(ProjectPath, String)]) -> Vec<SourceFunctions> {
    let workers = std::thread::available_parallelism().map_or(1, |count| count.get().min(8));
    let share = sources.len().div_ceil(workers).max(1);
    let read = |sources: &[(ProjectPath, String)]| -> Vec<SourceFunctions> {
        let whole = |(path, text): &(ProjectPath, String)| {
            SourceFunctions::of(path, text, ONE).unwrap_or_default()
        };
        sources.iter().map(whole).collect()
    };
    std::thread::scope(|scope| {
        let shares: Vec<_> =
            sources.chunks(share).map(|part| scope.spawn(move || read(part))).collect();
        let lengths = sources.chunks(share).map(<[_]>::len);
        let read = shares.into_iter().zip(lengths).flat_map(|(work, length)| {
            // A grammar that gave up on one text costs the calls of its share, not the answer.
            work.join().unwrap_or_else(|_| {
                std::iter::repeat_with(SourceFunctions::default).take(length).collect()
            })
        });
        read.collect()
    })
}

impl SourceFunctions {
    /// Reads a source within `left`; nothing of one in another language, or too long. `None` when
    /// there was too little time.
    #[must_use]
    pub fn of(path: &ProjectPath, source: &str, left: Duration) -> Option<Self> {
        let mut found = Self::default();
        let limits = Limits::calls(left.min(ONE));
        let grammar = match grammar_of(path, source) {
            Some(grammar @ (Language::C | Language::Cpp)) if limits.admits(source) => grammar,
            Some(_) | None => return Some(found),
        };
        let tamed = tame(source, grammar);
        let Some(tree) = parse(grammar, &tamed, limits) else {
            // A text that takes all that any may take is generated.
            return (left >= ONE).then_some(found);
        };
        walk(tree.root_node(), |node| {
            found.take(node, &tamed);
            true
        });
        Some(found)
    }

    fn take(&mut self, node: Node<'_>, source: &str) {
        match node.kind() {
            "function_definition" => {
                if let Some(name) = defined_name(node, source) {
                    self.defined.insert(name.to_owned(), is_static(node, source));
                }
            }
            "call_expression" => {
                let called = node.child_by_field_name("function");
                self.used.extend(called.and_then(|called| last_name(called, source)));
            }
            "argument_list" | "initializer_list" => {
                let mut cursor = node.walk();
                let given = node.named_children(&mut cursor).filter(|n| n.kind() == "identifier");
                self.used.extend(given.map(|name| text(name, source).to_owned()));
            }
            "initializer_pair" => {
                let value = node.child_by_field_name("value");
                let value = value.filter(|value| value.kind() == "identifier");
                self.used.extend(value.map(|name| text(name, source).to_owned()));
            }
            _ => {}
        }
    }
}

/// The name of a function that is defined, without its class or namespace.
fn defined_name<'a>(node: Node<'_>, source: &'a str) -> Option<&'a str> {
    let mut at = node.child_by_field_name("declarator")?;
    loop {
        at = match at.kind() {
            "identifier" | "field_identifier" | "destructor_name" | "operator_name" => {
                return Some(text(at, source));
            }
            "qualified_identifier" => at.child_by_field_name("name")?,
            _ => at.child_by_field_name("declarator")?,
        };
    }
}

/// The last name of what is called: `f`, `x->f`, `A::f`.
fn last_name(node: Node<'_>, source: &str) -> Option<String> {
    let name = match node.kind() {
        "identifier" => node,
        "field_expression" => node.child_by_field_name("field")?,
        "qualified_identifier" => return last_name(node.child_by_field_name("name")?, source),
        "field_identifier" => node,
        _ => return None,
    };
    Some(text(name, source).to_owned())
}

fn is_static(node: Node<'_>, source: &str) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor)
        .any(|child| child.kind() == "storage_class_specifier" && text(child, source) == "static")
}

/// Who calls whom, by the numbers of files.
#[derive(Debug, Default)]
pub(super) struct CallGraph {
    /// For each file, the files it calls, with one of the functions.
    calls: Vec<BTreeMap<usize, Called>>,
    /// For each file, the files that call it.
    callers: Vec<BTreeMap<usize, Called>>,
    /// The files that define a function.
    definers: HashMap<String, Vec<usize>>,
}

/// What ties two files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Called {
    /// The first of the functions, by name.
    pub name: String,
    /// How many of them there are.
    pub count: usize,
}

impl CallGraph {
    /// Ties calls to definitions; the functions are in the order of the files.
    pub fn new(files: &[Option<Arc<SourceFunctions>>]) -> Self {
        let known = || files.iter().enumerate().filter_map(|(at, it)| Some((at, it.as_deref()?)));
        let mut definers: HashMap<String, Vec<usize>> = HashMap::new();
        for (file, functions) in known() {
            for name in functions.defined.iter().filter(|(_, own)| !**own).map(|(name, _)| name) {
                definers.entry(name.clone()).or_default().push(file);
            }
        }
        let mut users: HashMap<&str, usize> = HashMap::new();
        for name in known().flat_map(|(_, functions)| &functions.used) {
            *users.entry(name).or_default() += 1;
        }
        let mut graph = Self {
            calls: vec![BTreeMap::new(); files.len()],
            callers: vec![BTreeMap::new(); files.len()],
            definers: HashMap::new(),
        };
        for (file, functions) in known() {
            let others =
                functions.used.iter().filter(|name| !functions.defined.contains_key(*name));
            for name in others {
                let Some(of) = definers.get(name).filter(|of| of.len() <= MOST_DEFINERS) else {
                    continue;
                };
                if users.get(name.as_str()).is_some_and(|users| *users > MOST_CALLERS) {
                    continue;
                }
                for &definer in of.iter().filter(|definer| **definer != file) {
                    graph.tie(file, definer, name);
                }
            }
        }
        graph.definers = definers;
        graph
    }

    fn tie(&mut self, caller: usize, definer: usize, name: &str) {
        for (of, from, to) in
            [(&mut self.calls, caller, definer), (&mut self.callers, definer, caller)]
        {
            let Some(ties) = of.get_mut(from) else { continue };
            let called =
                ties.entry(to).or_insert_with(|| Called { name: name.to_owned(), count: 0 });
            called.count += 1;
        }
    }

    /// The files that a file calls.
    pub fn called_by(&self, file: usize) -> impl Iterator<Item = (usize, &Called)> {
        self.calls.get(file).into_iter().flatten().map(|(other, called)| (*other, called))
    }

    /// The files that call a file.
    pub fn callers_of(&self, file: usize) -> impl Iterator<Item = (usize, &Called)> {
        self.callers.get(file).into_iter().flatten().map(|(other, called)| (*other, called))
    }

    /// The files that define a function of that name for others.
    pub fn definers_of(&self, name: &str) -> &[usize] {
        self.definers.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, source: &str) -> SourceFunctions {
        SourceFunctions::of(&ProjectPath::new(name).unwrap(), source, ONE).unwrap()
    }

    fn graph(files: impl IntoIterator<Item = SourceFunctions>) -> CallGraph {
        let files: Vec<_> = files.into_iter().map(|found| Some(Arc::new(found))).collect();
        CallGraph::new(&files)
    }

    #[test]
    fn definitions_calls_and_functions_handed_over_are_told() {
        let source = "static void blink(void *arg) { led_on(); }\n\
                      esp_err_t led_start(void)\n{\n    xTaskCreate(blink, \"led\", 2048, NULL, 5, NULL);\n\
                      // not_called();\n    const char *s = \"no_call()\";\n    return bus->write(s);\n}\n\
                      static const struct driver DRIVER = { .init = driver_init };\n";
        let found = of("main/led.c", source);
        let defined: Vec<(&str, bool)> =
            found.defined.iter().map(|(name, own)| (name.as_str(), *own)).collect();
        assert_eq!(defined, [("blink", true), ("led_start", false)]);
        for name in ["blink", "led_on", "xTaskCreate", "write", "driver_init"] {
            assert!(found.used.contains(name), "{name}: {:?}", found.used);
        }
        assert!(!found.used.contains("not_called") && !found.used.contains("no_call"));
        let cpp = of("main/a.cpp", "void Led::on() { gpio::set(1); other->off(); }\n");
        assert!(
            cpp.defined.contains_key("on") && cpp.used.contains("set") && cpp.used.contains("off")
        );
        assert_eq!(of("a.py", "def f(): g()"), SourceFunctions::default());
    }

    #[test]
    fn calls_are_tied_to_those_who_define_them() {
        let files = [
            of("main.c", "void app_main(void) { led_on(); helper(); common(); }"),
            of("led.c", "void led_on(void) { helper(); } static void helper(void) {}"),
            of("other.c", "static void led_off(void) {} void common(void) {}"),
        ];
        let graph = graph(files);
        let called: Vec<(usize, &str)> =
            graph.called_by(0).map(|(file, called)| (file, called.name.as_str())).collect();
        assert_eq!(called, [(1, "led_on"), (2, "common")]);
        assert_eq!(graph.callers_of(1).map(|(file, _)| file).collect::<Vec<_>>(), [0]);
        assert_eq!(graph.called_by(1).count(), 0, "its own helper, and nobody else's");
        assert_eq!((graph.definers_of("common"), graph.definers_of("helper")), (&[2][..], &[][..]));
    }

    #[test]
    fn what_everybody_calls_or_many_define_ties_nobody() {
        let mut files = vec![of("log.c", "void log_it(void) {}")];
        files.extend((0..20).map(|n| {
            of(&format!("f{n}.c"), "void init(void) { log_it(); } void use(void) { start(); }")
        }));
        files.push(of("main.c", "void app_main(void) { init(); }"));
        let graph = graph(files);
        assert_eq!(graph.callers_of(0).count() + graph.called_by(21).count(), 0);
    }
}
