//! Tests of what a proposal would do, as lines.

use std::time::{Duration, Instant};

use super::super::line::{Emphasis, LinePart};
use super::tests_support::body;
use super::*;
use crate::model::{ContentHash, ProjectPath};
use crate::text::syntax::SyntaxKind;

fn colours(old: &str, new: &str) -> Load {
    let bytes = |text: &str| Arc::from(text.as_bytes());
    let changes = of_file(Some(old.as_bytes()), Some(new.as_bytes())).1;
    let colouring = Colouring::named("c").unwrap();
    let job = ColourJob { colouring, old: bytes(old), new: bytes(new), changes };
    Load { colours: Some(job.run()), ..Load::default() }
}

fn text(line: &BodyLine) -> String {
    line.pieces().iter().map(|piece| piece.text.as_str()).collect()
}

#[test]
fn pieces_carry_colour_and_emphasis_and_put_together_are_the_line() {
    let (old, new) = ("\tint a = 1;\n", "\tint b = 1;\n");
    let body = body(Some(old), Some(new));
    let added = &body.lines[1];
    assert_eq!(added.role, LineRole::Diff(LineKind::Added, None, Some(1)));
    assert_eq!((text(added).as_str(), added.width), ("    int b = 1;", 14));
    let colours = colours(old, new);
    let pieces = added.part(&LinePart::at(0..added.width), colours.colours_of(added.role), &[]);
    let changed: Vec<_> = pieces.iter().filter(|p| p.emphasis == Emphasis::Changed).collect();
    assert_eq!((changed.len(), changed[0].text.as_str()), (1, "b"));
    assert!(pieces.contains(&LinePiece::new("int", Ink::Syntax(SyntaxKind::Type))));
}

#[test]
fn escapes_in_a_file_stay_visible_and_harmless() {
    let body = body(None, Some("a\u{1b}[2J\u{202e}\n"));
    assert_eq!(text(&body.lines[0]), "a␛[2J\\u{202e}");
    assert_eq!(body.to_see(), 1);
}

#[test]
fn only_a_change_of_line_ends_shows_them() {
    let shown = body(Some("a\nb\n"), Some("a\r\nb\n"));
    assert_eq!(text(&shown.lines[1]), "a␍");
    let all = body(Some("a\r\nb\r\n"), Some("a\r\nc\r\n"));
    assert!(all.lines.iter().all(|line| !text(line).contains('␍')));
    let last = body(Some("a\n"), Some("a"));
    assert!(text(&last.lines[1]).contains("no line feed"));
}

#[test]
fn even_nothing_is_stated() {
    assert_eq!(text(&body(None, Some("")).lines[0]), "an empty file");
    assert_eq!(text(&body(Some(""), None).lines[0]), "the file is empty");
    let same = body(Some("a\n"), Some("a\n"));
    assert_eq!(text(&same.lines[0]), "nothing changes");
    assert_eq!(same.to_see(), 0, "no line of it can be missed");
}

#[test]
fn what_is_no_text_is_named() {
    let of = |bytes: &[u8]| text(&of_file(None, Some(bytes)).0.lines[0]);
    assert!(of(b"\xff\xfei\0n\0t\0").starts_with("UTF-16 text"));
    assert!(of(b"\x7fELF\0\xff\n").starts_with("a binary file"));
    assert!(of(b"caf\xe9\n").starts_with("not plain UTF-8"));
}

#[test]
fn what_is_too_long_says_what_is_missing_and_counts_it() {
    let wide = format!("int a;\nchar x[] = \"{}\";\n", "y".repeat(300_000));
    let body = body(None, Some(&wide));
    assert_eq!(body.left_out, 1);
    assert!(text(&body.lines[0]).contains("1 changed line is not shown"));
    let last = text(body.lines.last().unwrap());
    assert!(last.ends_with("37.8 kB more of this line"), "{}", &last[last.len() - 60..]);
    let long = "int line_of_a_very_long_file;\n".repeat(250_000);
    let body = of_file(None, Some(long.as_bytes())).0;
    assert_eq!((body.added, body.left_out + body.lines.len() - 1), (250_000, 250_000));
    assert!(body.lines.len() <= 200_001);
}

#[test]
fn a_change_at_the_end_of_a_long_file_is_shown() {
    let mut old = "int line_of_a_very_long_file;\n".repeat(100_000);
    let new = format!("{old}int more;\n");
    old.push_str("int last;\n");
    let body = body(Some(&old), Some(&new));
    assert_eq!((body.extent, body.left_out, body.hunks.len()), (Extent::Around, 0, 1));
    assert!(body.lines.len() < 60);
}

struct Contents(Vec<Vec<u8>>);

impl BlobSource for Contents {
    fn blob(&self, hash: &ContentHash) -> Result<Arc<[u8]>, UserError> {
        let found = self.0.iter().find(|bytes| ContentHash::of(bytes) == *hash);
        let missing = || UserError::new("missing", "blob", "");
        found.map(|bytes| bytes.as_slice().into()).ok_or_else(missing)
    }
}

fn begin(text: &[u8], is_kept: bool) -> Load {
    begin_at("a.c", text, is_kept)
}

fn begin_at(path: &str, text: &[u8], is_kept: bool) -> Load {
    let content = BlobRef { hash: ContentHash::of(text), bytes: text.len() as u64 };
    let path = ProjectPath::new(path).unwrap();
    let kept = if is_kept { vec![text.to_vec()] } else { Vec::new() };
    let blobs: Arc<dyn BlobSource> = Arc::new(Contents(kept));
    let change = Change::Save { path, base: None, content };
    Load::begin(&change, &Facts::default(), &blobs)
}

fn has_colours(load: &Load) -> bool {
    load.colours.is_some()
}

fn finish(load: &mut Load) {
    let start = Instant::now();
    while load.is_busy() && start.elapsed() < Duration::from_secs(60) {
        load.poll();
        std::thread::yield_now();
    }
}

#[test]
fn a_large_change_is_read_aside_and_coloured_after_it_is_there() {
    let mut load = begin("int a_line_of_source;\n".repeat(5_000).as_bytes(), true);
    assert!(load.is_reading() && load.body().is_none());
    finish(&mut load);
    assert_eq!(load.body().unwrap().added, 5_000);
    assert!(has_colours(&load));
    let middle = begin("int a_line_of_source;\n".repeat(1_000).as_bytes(), true);
    assert!(!middle.is_reading() && middle.is_busy());
    let small = begin(b"int a;\n", true);
    assert!(!small.is_busy() && has_colours(&small));
}

#[test]
fn a_missing_content_says_so() {
    assert_eq!(begin(b"gone", false).error().unwrap().why, "blob");
    let mut large = begin(&vec![b'x'; 100_000], false);
    finish(&mut large);
    assert_eq!(large.error().unwrap().why, "blob");
}

#[test]
fn a_configuration_is_shown_before_its_colours() {
    let text = b"# why\nCONFIG_A=y\n# CONFIG_B is not set\nCONFIG_N=240\nCONFIG_S=\"x\"\n";
    let mut load = begin_at("sdkconfig", text, true);
    assert!(load.body().is_some() && !has_colours(&load) && load.is_busy());
    finish(&mut load);
    let body = load.body().unwrap();
    let lines = body.lines.iter().map(|line| {
        let pieces = line.part(&LinePart::at(0..line.width), load.colours_of(line.role), &[]);
        let pieces = pieces.iter().map(|piece| format!("{}:{:?}", piece.text, piece.ink));
        pieces.collect::<Vec<_>>().join(" ")
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r##"
    # why:Syntax(Comment)
    CONFIG_A:Syntax(Property) =:Syntax(Operator) y:Syntax(Constant)
    # :Syntax(Comment) CONFIG_B:Syntax(Property)  :Syntax(Comment) is not set:Syntax(Constant)
    CONFIG_N:Syntax(Property) =:Syntax(Operator) 240:Syntax(Number)
    CONFIG_S:Syntax(Property) =:Syntax(Operator) "x":Syntax(String)
    "##);
}
