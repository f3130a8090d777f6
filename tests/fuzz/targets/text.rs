//! The texts of models, projects and documents.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use firmhand::model::ProjectPath;
use firmhand::text::cmake::{self, Registered};
use firmhand::text::diff::{Encoding, Options, diff};
use firmhand::text::insert::{Insertion, insert};
use firmhand::text::merge::{Merge, merge};
use firmhand::text::select::{LineSelection, select};
use firmhand::text::{patch, recover, sanitize, syntax as highlighting};
use firmhand::ui::markdown::MarkdownDocument;

use super::{is_harmful, lossy, parts};

/// Nothing harmful passes, and what has passed once passes again as it is.
pub fn sanitiser(data: &[u8]) {
    let text = lossy(data);
    let lines = [sanitize::line(&text), sanitize::line_from(&text, 3), sanitize::log_line(data)];
    for line in lines {
        assert!(!line.contains(is_harmful), "{line:?}");
        assert_eq!(sanitize::line(&line), line, "once is enough");
    }
    let block = sanitize::block(&text);
    assert!(!block.replace('\n', "").contains(is_harmful), "{block:?}");
    assert_eq!(sanitize::block(&block), block, "once is enough");
    let stripped = sanitize::strip_sequences(&text);
    assert!(!stripped.contains('\u{1b}'), "{stripped:?}");
    let decoded = sanitize::decode(data);
    assert!(std::str::from_utf8(data).map_or(true, |text| decoded == text));
}

/// What a comparison shows, applied, gives the new text; a diff of anybody's gives a text or says
/// why not.
pub fn patches(data: &[u8]) {
    let [first, second, third] = parts::<3>(data).map(lossy);
    if let Ok(read) = patch::parse(&first) {
        assert!(!read.hunks.is_empty());
        if let Ok(patched) = patch::apply(&second, &read) {
            assert_eq!(patched.hunks.len(), read.hunks.len());
        }
    }
    let compared = diff(second.as_bytes(), third.as_bytes(), Options::default());
    let is_whole = compared.left_out == 0 && compared.lines().all(|line| line.cut == 0);
    let shown = compared.unified("a/f.c", "b/f.c");
    if shown.is_empty() {
        assert_eq!(second, third);
    } else if is_whole {
        let read = patch::parse(&shown).unwrap_or_else(|error| panic!("{error}\n{shown}"));
        let patched = patch::apply(&second, &read).unwrap_or_else(|e| panic!("{e}\n{shown}"));
        assert_eq!(patched.text, third, "{shown}");
    }
}

/// All changes of a comparison give the new bytes and none the old ones; a merge with nothing
/// changes nothing.
pub fn diffs(data: &[u8]) {
    let [base, ours, theirs] = parts::<3>(data);
    let compared = diff(base, ours, Options::default());
    if compared.left_out == 0 && compared.encoding == Encoding::Utf8 {
        let all = LineSelection::all(&compared);
        assert_eq!(select(base, ours, &compared, &all), ours);
        assert_eq!(select(base, ours, &compared, &LineSelection::default()), base);
    }
    assert_eq!(merge(base, ours, base), Merge::Clean(ours.to_vec()));
    assert_eq!(merge(base, base, theirs), Merge::Clean(theirs.to_vec()));
    assert_eq!(merge(base, ours, ours), Merge::Clean(ours.to_vec()));
    let _ = merge(base, ours, theirs);
}

/// Everything outside of what is inserted stays, line by line.
pub fn insertions(data: &[u8]) {
    let [source, context, code, include] = parts::<4>(data).map(lossy);
    let includes = vec![include.into_owned()];
    let wish = Insertion { context: context.into_owned(), code: code.into_owned(), includes };
    let bare = Insertion { includes: Vec::new(), ..wish.clone() };
    for wishes in [vec![bare], vec![wish.clone()], vec![wish.clone(), wish]] {
        let Ok(merged) = insert(&source, &wishes) else { continue };
        assert_eq!(merged.placed.len(), wishes.len());
        let bare = |line: &str| line.trim_end_matches('\r').to_owned();
        let mut new = merged.text.lines().map(bare);
        for line in source.lines().map(bare) {
            assert!(new.any(|other| other == line), "{line:?} is gone from {:?}", merged.text);
        }
    }
}

/// The places of words lie in the text; a source that was added is built.
pub fn cmake(data: &[u8]) {
    let text = lossy(data);
    if let Ok(commands) = cmake::commands(&text) {
        for command in &commands {
            assert!(text.get(command.inside.clone()).is_some(), "{command:?}");
            for argument in &command.args {
                assert!(text.get(argument.range.clone()).is_some(), "{argument:?}");
            }
        }
    }
    for source in ["fuzz.c", "src/fuzz.cpp"] {
        match cmake::register(&text, source, &|_| vec!["main.c".to_owned()]) {
            Ok(Registered::With { text: with, line }) => {
                assert!(line >= 1 && line <= with.lines().count());
                assert_eq!(cmake::builds(&with, source), Ok(true), "{with:?}");
            }
            Ok(Registered::Already { .. }) => {
                assert_eq!(cmake::builds(&text, source), Ok(true));
            }
            Err(_) => {}
        }
    }
}

/// Text that comes in pieces is laid out as it is at once; no row holds anything harmful.
pub fn markdown(data: &[u8]) {
    let text = lossy(data);
    let width = usize::from(data.first().copied().unwrap_or(40)) % 100;
    let mut at_once = MarkdownDocument::new(width);
    at_once.update(&text);
    at_once.prepare(&text, 0, 400);
    let mut growing = MarkdownDocument::new(width);
    let mut end = 0;
    while end < text.len() {
        end = text.ceil_char_boundary((end + 1 + end / 3).min(text.len()));
        growing.update(text.get(..end).unwrap_or_default());
    }
    growing.prepare(&text, 0, 400);
    assert_eq!(at_once.rows(), growing.rows());
    for index in 0..at_once.rows().min(400) {
        let row = at_once.row(&text, index);
        assert!(!row.text().contains(is_harmful), "{:?}", row.text());
        assert_eq!(row.text(), growing.row(&text, index).text(), "row {index}");
    }
    let _ = recover::structured(&text);
}

/// A document's text is bounded. The library that knows the syntax may give up by panicking; the
/// program lets it do so in a process of its own, so only panics of others count here.
pub fn pdf(data: &[u8]) {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let is_library = info.location().is_some_and(|at| at.file().contains("hayro"));
            if !is_library {
                others(info);
            }
        }));
    });
    let read = panic::catch_unwind(AssertUnwindSafe(|| firmhand::text::pdf::read(data.to_vec())));
    if let Ok(Ok(read)) = read {
        assert!(read.pages.len() <= read.of);
        assert!(read.pages.iter().any(|page| !page.trim().is_empty()));
    }
}

/// Sources of every language are coloured over their whole length.
pub fn syntax(data: &[u8]) {
    let text = lossy(data);
    let names =
        ["main.c", "a.cpp", "CMakeLists.txt", "a.py", "b.json", "sdkconfig", "c.h", "d.ino"];
    let chosen = usize::from(data.first().copied().unwrap_or_default()) % names.len();
    let path = ProjectPath::new(names[chosen]).expect("it is a path");
    let _ = highlighting::first_error(&path, &text);
    let Some(language) = highlighting::language_of(&path) else { return };
    let lines: Vec<&str> = text.split('\n').collect();
    for (spans, line) in highlighting::highlight(language, &text).iter().zip(lines) {
        for span in spans {
            assert!(line.get(span.range.clone()).is_some(), "{span:?} in {line:?}");
        }
    }
}
