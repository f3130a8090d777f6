//! Programs in Reverty, and in Python on their way to it.

use firmhand::text::reverty::{check, decode, format, from_python, functions_of, outline};
use firmhand::text::reverty::{to_python, tree};

use super::lossy;

/// Every fault is in the text; what is formatted is read as it was; what can be translated can be
/// translated back.
pub fn programs(data: &[u8]) {
    let _ = decode(data);
    let text = lossy(data);
    let faults = check(&text);
    let lines = text.split('\n').count();
    for fault in &faults {
        assert!(fault.line >= 1 && fault.line as usize <= lines, "{fault:?}");
        assert!(fault.column >= 1 && !fault.message.is_empty(), "{fault:?}");
    }
    let _ = functions_of(&text);
    if let Ok(back) = from_python(&text) {
        assert_eq!(check(&back), [], "{back}");
    }
    let Ok(formatted) = format(&text) else {
        assert!(!faults.is_empty());
        return;
    };
    let read = |text: &str| outline(&tree(text).expect("what is formatted can be read"));
    assert_eq!(read(&formatted), read(&text), "{formatted}");
    assert_eq!(format(&formatted).as_deref(), Ok(formatted.as_str()));
    let translated = to_python(&text);
    assert_eq!(translated.is_ok(), faults.is_empty());
    if let Ok(python) = translated {
        assert_eq!(python.lines.len(), python.text.lines().count());
        let back = from_python(&python.text).expect("what was translated can be translated back");
        assert_eq!(to_python(&back).expect("it is right").text, python.text, "{back}");
    }
}
