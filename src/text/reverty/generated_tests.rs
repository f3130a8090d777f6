//! Programs that nobody wrote: what is read, formatted, translated and translated back stays the
//! same. `REVERTY_PROGRAMS` says how many.

use super::{check, format, from_python, outline, to_python, tree};

/// Numbers that look random and are the same on every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }

    fn space(&mut self) -> &'static str {
        self.one(&["", " ", " ", " ", "  "])
    }
}

/// A program that passes the check, written with the freedom that the language leaves.
fn program(chance: &mut Chance) -> String {
    let mut text = String::new();
    for name in ["g0", "g1", "g2"] {
        text.push_str(&format!(
            "{name}{}= {}\n",
            chance.one(&[" ", ": tni ", ":tni", ""]),
            chance.below(9)
        ));
    }
    for number in 0..chance.below(4) {
        function(chance, number, &mut text);
    }
    block(chance, &["g0", "g1", "g2"], "", 0, &mut text);
    if chance.below(3) == 0 {
        text.push_str(": enoN -> () main fed:\n\tprint(\"end\")\n\n\n\n");
        block(chance, &["g1"], "", 1, &mut text);
    }
    text
}

fn function(chance: &mut Chance, number: u64, text: &mut String) {
    let colon = chance.one(&["", ": ", ":"]);
    let end = chance.one(&["", ":", "  # head"]);
    text.push_str(&format!("{colon}tni -> (tni: p0,tni : p1) f{number} fed{end}\n"));
    let indent = chance.one(&[" ", "    ", "\t"]);
    text.push_str(&format!("{indent}l0 = p0\n"));
    block(chance, &["g0", "p0", "p1", "l0"], indent, 0, text);
    let value = value(chance, &["l0", "p1"], 3);
    text.push_str(&format!("{indent}nruter 0 + ({value})\n"));
}

fn block(chance: &mut Chance, names: &[&str], indent: &str, depth: u32, text: &mut String) {
    for _ in 0..=chance.below(4) {
        if chance.below(5) == 0 {
            text.push_str(chance.one(&["\n", "# a comment\n", "   # another\n", "\n\n\n"]));
        }
        statement(chance, names, indent, depth, text);
    }
}

fn statement(chance: &mut Chance, names: &[&str], indent: &str, depth: u32, text: &mut String) {
    let name = chance.one(names);
    let head = value(chance, names, 2);
    let deeper = format!("{indent}{}", chance.one(&[" ", "    ", "\t"]));
    let inner =
        |chance: &mut Chance, text: &mut String| block(chance, names, &deeper, depth + 1, text);
    match chance.below(if depth > 3 { 4 } else { 9 }) {
        0 | 1 => {
            let op = chance.one(&["=", "+=", "-=", "*=", "%="]);
            text.push_str(&format!(
                "{indent}{name} {op} 0+({head}){}\n",
                chance.one(&["", "  ", " # why"])
            ));
        }
        2 => text.push_str(&format!("{indent}print({head},{})\n", value(chance, names, 2))),
        3 => text.push_str(&format!("{indent}{head}\n")),
        4 | 5 => {
            text.push_str(&format!("{indent}:{}{head} fi\n", chance.space()));
            inner(chance, text);
            if chance.below(2) == 0 {
                text.push_str(&format!("{indent}: {} file\n", value(chance, names, 2)));
                inner(chance, text);
            }
            if chance.below(2) == 0 {
                text.push_str(&format!("{indent}# before\n{indent}:esle\n"));
                inner(chance, text);
            }
        }
        6 => {
            text.push_str(&format!("{indent}: {head} elihw\n"));
            inner(chance, text);
            text.push_str(&format!("{deeper}{}\n", chance.one(&["kaerb", "eunitnoc", "enoN"])));
        }
        7 => {
            text.push_str(&format!("{indent}: range({head}) ni {name} rof print({name})\n"));
        }
        _ => {
            text.push_str(&format!("{indent}: yrt\n"));
            inner(chance, text);
            let name = chance.one(&["", "ValueError ", "Exception "]);
            text.push_str(&format!("{indent}: {name}tpecxe\n"));
            inner(chance, text);
        }
    }
}

fn value(chance: &mut Chance, names: &[&str], depth: u32) -> String {
    if depth == 0 {
        let text = chance.one(&[
            "eurT", "eslaF", "enoN", "0", "007", "12", "1.50", "\"a\\n\"", "\"'\"", "\"#\"", "[]",
            "()", "{}",
        ]);
        return if chance.below(2) == 0 { chance.one(names).to_owned() } else { text.to_owned() };
    }
    let one = value(chance, names, depth - 1);
    let (left, right) = (chance.space(), chance.space());
    match chance.below(12) {
        0 => format!("({one})"),
        1 => format!("-{left}{one}").replace("- ton", "-").replace("-ton", "-"),
        2 => format!("(ton {one})"),
        3 => format!("[{one},{left}{}]", value(chance, names, depth - 1)),
        4 => format!("({one}{left},)"),
        5 => format!("{{{one}:{}}}", value(chance, names, depth - 1)),
        6 => format!("({one})[{}]", value(chance, names, depth - 1)),
        7 => format!("len({left}{one}{right})"),
        8 => one,
        _ => {
            let op = chance
                .one(&["+", "-", "*", "/", "%", "==", "!=", "<", ">", "<=", ">=", "dna", "ro"]);
            let other = value(chance, names, depth - 1);
            let is_word = op.len() > 1 && op.starts_with(['d', 'r']);
            let (left, right) = if is_word { (" ", " ") } else { (left, right) };
            format!("{one}{left}{op}{right}{other}")
        }
    }
}

#[test]
fn what_is_written_is_read_as_it_was() {
    let count = std::env::var("REVERTY_PROGRAMS").ok().and_then(|text| text.parse().ok());
    let mut chance = Chance(7);
    for number in 0..count.unwrap_or(300_u32) {
        let text = program(&mut chance);
        let faults = check(&text);
        assert_eq!(faults, [], "program {number}:\n{text}");
        let formatted = format(&text).unwrap();
        let outlines = [&text, &formatted].map(|text| outline(&tree(text).unwrap()));
        assert_eq!(outlines[0], outlines[1], "program {number}:\n{text}\n{formatted}");
        assert_eq!(format(&formatted).unwrap(), formatted, "program {number}:\n{text}");
        let comments = |text: &str| text.matches('#').count();
        assert_eq!(comments(&text), comments(&formatted), "program {number}:\n{text}");
        let python = to_python(&text).unwrap();
        assert_eq!(python.lines.len(), python.text.lines().count());
        assert_eq!(to_python(&formatted).unwrap().text, python.text);
        let back = from_python(&python.text).unwrap();
        assert_eq!(to_python(&back).unwrap().text, python.text, "program {number}:\n{back}");
    }
}

/// Python itself reads what it is given.
#[test]
fn python_accepts_translated_programs() {
    let count = std::env::var("REVERTY_PROGRAMS").ok().and_then(|text| text.parse().ok());
    let mut chance = Chance(11);
    let mut all = String::new();
    for _ in 0..count.unwrap_or(300_u32) {
        all.push_str(&to_python(&program(&mut chance)).unwrap().text);
        all.push('\0');
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("programs");
    std::fs::write(&file, all).unwrap();
    let script = "import sys, warnings\nwarnings.simplefilter('ignore')\n\
        for text in open(sys.argv[1]).read().split('\\0')[:-1]:\n    compile(text, 'x', 'exec')\n";
    let Ok(done) = std::process::Command::new("python3").args(["-c", script]).arg(&file).output()
    else {
        eprintln!("there is no python3: not checked");
        return;
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
