//! Cuts what is too long into windows that overlap.
//!
//! Cuts between paragraphs, else between lines, and not within a block of code that fits into one
//! window. Pure.

/// Bytes that one token of a model stands for in English and in C, about.
const BYTES_PER_TOKEN: usize = 4;

/// How long windows are, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowSize {
    pub tokens: usize,
    /// What a window repeats of the one before it.
    pub overlap: usize,
}

impl Default for WindowSize {
    fn default() -> Self {
        Self { tokens: 400, overlap: 80 }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Its first line, counted from 0.
    pub line: usize,
    pub text: String,
}

/// A run of lines that stays together.
struct Block<'a> {
    line: usize,
    lines: Vec<&'a str>,
    bytes: usize,
}

/// The windows of a text, in their order; none of an empty text.
#[must_use]
pub fn cut(text: &str, size: WindowSize) -> Vec<Piece> {
    let most = size.tokens.max(16) * BYTES_PER_TOKEN;
    let overlap = size.overlap.min(size.tokens / 2) * BYTES_PER_TOKEN;
    if text.len() <= most {
        let start = text.lines().take_while(|line| line.trim().is_empty()).count();
        let text = text.trim_matches('\n').trim_end();
        return if text.trim().is_empty() {
            Vec::new()
        } else {
            vec![Piece { line: start, text: text.to_owned() }]
        };
    }
    let blocks = blocks(text, most);
    let mut pieces = Vec::new();
    let mut first = 0;
    while first < blocks.len() {
        let mut bytes = 0;
        let mut end = first;
        while end < blocks.len() && (end == first || bytes + blocks[end].bytes <= most) {
            bytes += blocks[end].bytes;
            end += 1;
        }
        let lines: Vec<&str> =
            blocks[first..end].iter().flat_map(|block| block.lines.iter().copied()).collect();
        let text = lines.join("\n").trim_matches('\n').trim_end().to_owned();
        if !text.trim().is_empty() {
            pieces.push(Piece { line: blocks[first].line, text });
        }
        if end == blocks.len() {
            break;
        }
        // Goes back by whole blocks, but always on by at least one.
        let mut next = end;
        let mut repeated = 0;
        while next > first + 1 && repeated + blocks[next - 1].bytes <= overlap {
            next -= 1;
            repeated += blocks[next].bytes;
        }
        first = next;
    }
    pieces
}

/// Paragraphs and blocks of code; those that are longer than a window, line by line, and lines that
/// are longer, in parts.
fn blocks(text: &str, most: usize) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut open: Option<Block<'_>> = None;
    let mut in_code = false;
    for (number, line) in text.lines().enumerate() {
        let is_fence = line.trim_start().starts_with("```");
        let block = open.get_or_insert_with(|| Block { line: number, lines: Vec::new(), bytes: 0 });
        block.lines.push(line);
        block.bytes += line.len() + 1;
        in_code ^= is_fence;
        let ends = !in_code && (line.trim().is_empty() || is_fence);
        if ends && let Some(block) = open.take() {
            add(&mut blocks, block, most);
        }
    }
    if let Some(block) = open {
        add(&mut blocks, block, most);
    }
    blocks
}

fn add<'a>(blocks: &mut Vec<Block<'a>>, block: Block<'a>, most: usize) {
    if block.bytes <= most {
        blocks.push(block);
        return;
    }
    for (place, line) in block.lines.iter().enumerate() {
        let mut rest = *line;
        loop {
            let end = rest.floor_char_boundary(most.min(rest.len()));
            let (part, tail) = rest.split_at(end);
            let bytes = part.len() + 1;
            blocks.push(Block { line: block.line + place, lines: vec![part], bytes });
            if tail.is_empty() || end == 0 {
                break;
            }
            rest = tail;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: WindowSize = WindowSize { tokens: 25, overlap: 8 };

    #[test]
    fn windows_hold_their_bound_and_leave_nothing_out() {
        let text: String = (0..40).map(|n| format!("Line {n} of a text.\n\n")).collect();
        let pieces = cut(&text, SIZE);
        assert!(pieces.len() > 5);
        assert!(pieces.iter().all(|piece| piece.text.len() <= 100), "{pieces:?}");
        for n in 0..40 {
            assert!(pieces.iter().any(|piece| piece.text.contains(&format!("Line {n} of"))));
        }
        assert!(pieces[1].text.contains(pieces[0].text.lines().last().unwrap()), "no overlap");
    }

    #[test]
    fn code_that_fits_stays_whole() {
        let code = "```c\nint a;\n\nint b;\n\nint c;\n```";
        let text = format!("{}\n\n{code}\n\nThe end of it.", "Some words. ".repeat(7));
        let pieces = cut(&text, SIZE);
        assert!(pieces.iter().any(|piece| piece.text.contains(code)), "{pieces:?}");
    }

    #[test]
    fn one_endless_line_is_cut_too() {
        let pieces = cut(&"é".repeat(5_000), SIZE);
        assert!(pieces.len() >= 100 && pieces.iter().all(|piece| piece.text.len() <= 100));
        assert!(cut("\n\n  \n", SIZE).is_empty());
    }
}
