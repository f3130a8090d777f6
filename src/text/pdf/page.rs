//! What a page draws with letters, and where.

use std::collections::HashMap;
use std::rc::Rc;

use hayro_syntax::content::UntypedIter;
use hayro_syntax::object::{Dict, Name, Object, ObjectIdentifier, Stream};
use hayro_syntax::page::{Page, Resources};

use super::font::Font;
use super::lines::{GlyphRun, PageLines};

/// How deep drawings may hold drawings.
const DEEPEST: usize = 8;

/// How many states may be kept at a time.
const MOST_STATES: usize = 256;

/// The fonts of a document that were met, by their place in the file.
#[derive(Default)]
pub(super) struct Fonts {
    of: HashMap<ObjectIdentifier, Rc<Font>>,
}

impl Fonts {
    fn get(&mut self, dict: &Dict<'_>) -> Rc<Font> {
        let Some(id) = dict.obj_id() else { return Rc::new(Font::read(dict)) };
        Rc::clone(self.of.entry(id).or_insert_with(|| Rc::new(Font::read(dict))))
    }
}

/// The text of a page.
pub(super) fn text(page: &Page<'_>, fonts: &mut Fonts) -> String {
    let mut pen = Pen { fonts, lines: PageLines::default() };
    if let Some(content) = page.page_stream() {
        pen.draw(content, page.resources(), &GraphicsState::default(), 0);
    }
    pen.lines.finish()
}

/// Six numbers of a transformation: `[a b c d e f]`.
#[derive(Clone, Copy)]
struct Matrix([f64; 6]);

impl Matrix {
    const ONE: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    /// This one, and then the other.
    fn then(self, other: Self) -> Self {
        let ([a, b, c, d, e, f], [g, h, i, j, k, l]) = (self.0, other.0);
        Self([
            a * g + b * i,
            a * h + b * j,
            c * g + d * i,
            c * h + d * j,
            e * g + f * i + k,
            e * h + f * j + l,
        ])
    }

    fn moved(self, x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y]).then(self)
    }
}

/// What `q` keeps and `Q` brings back, and where the next letter goes.
#[derive(Clone)]
struct GraphicsState {
    page: Matrix,
    letters: Matrix,
    line: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    letter_space: f64,
    word_space: f64,
    stretch: f64,
    leading: f64,
    rise: f64,
}

impl Default for GraphicsState {
    fn default() -> Self {
        Self {
            page: Matrix::ONE,
            letters: Matrix::ONE,
            line: Matrix::ONE,
            font: None,
            size: 1.0,
            letter_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
        }
    }
}

impl GraphicsState {
    fn next_line(&mut self, x: f64, y: f64) {
        self.line = self.line.moved(x, y);
        self.letters = self.line;
    }
}

struct Pen<'f> {
    fonts: &'f mut Fonts,
    lines: PageLines,
}

impl Pen<'_> {
    fn draw(
        &mut self,
        content: &[u8],
        resources: &Resources<'_>,
        from: &GraphicsState,
        depth: usize,
    ) {
        let mut state = from.clone();
        let mut kept: Vec<GraphicsState> = Vec::new();
        let mut operations = UntypedIter::new(content);
        while let Some(operation) = operations.next() {
            let values = Operands(operation.operands().collect());
            match &**operation.operator {
                b"q" if kept.len() < MOST_STATES => kept.push(state.clone()),
                b"Q" => state = kept.pop().unwrap_or(state),
                b"cm" => state.page = values.matrix().then(state.page),
                b"Do" => {
                    if let Some(name) = values.name() {
                        self.drawing(name, resources, &state, depth);
                    }
                }
                b"Tf" => {
                    let dict = values.name().and_then(|name| resources.get_font(name));
                    state.font = dict.map(|dict| self.fonts.get(&dict));
                    state.size = values.number(1);
                }
                operator => self.letters(operator, &values, &mut state),
            }
        }
    }

    /// A drawing within the page.
    fn drawing(
        &mut self,
        name: &Name<'_>,
        resources: &Resources<'_>,
        state: &GraphicsState,
        depth: usize,
    ) {
        let Some(form) = resources.get_x_object(name).filter(|_| depth < DEEPEST) else { return };
        if form.dict().get::<Name<'_>>("Subtype").as_deref() != Some(b"Form") {
            return;
        }
        let Ok(content) = form.decoded_data() else { return };
        let mut state = state.clone();
        if let Some(matrix) = form_matrix(&form) {
            state.page = matrix.then(state.page);
        }
        match form.dict().get::<Dict<'_>>("Resources") {
            Some(own) => self.draw(&content, &Resources::new(own), &state, depth + 1),
            None => self.draw(&content, resources, &state, depth + 1),
        }
    }

    /// The operators of text; others draw no letters.
    fn letters(&mut self, operator: &[u8], values: &Operands<'_, '_>, state: &mut GraphicsState) {
        match operator {
            b"BT" => (state.letters, state.line) = (Matrix::ONE, Matrix::ONE),
            b"Tc" => state.letter_space = values.number(0),
            b"Tw" => state.word_space = values.number(0),
            b"Tz" => state.stretch = values.number(0) / 100.0,
            b"TL" => state.leading = values.number(0),
            b"Ts" => state.rise = values.number(0),
            b"Td" => state.next_line(values.number(0), values.number(1)),
            b"TD" => {
                state.leading = -values.number(1);
                state.next_line(values.number(0), values.number(1));
            }
            b"Tm" => {
                state.line = values.matrix();
                state.letters = state.line;
            }
            b"T*" => state.next_line(0.0, -state.leading),
            b"Tj" => self.show(values.bytes(0), state),
            b"'" => {
                state.next_line(0.0, -state.leading);
                self.show(values.bytes(0), state);
            }
            b"\"" => {
                state.word_space = values.number(0);
                state.letter_space = values.number(1);
                state.next_line(0.0, -state.leading);
                self.show(values.bytes(2), state);
            }
            b"TJ" => {
                let Some(Object::Array(items)) = values.0.first() else { return };
                for item in items.iter::<Object<'_>>() {
                    match item {
                        Object::String(text) => self.show(text.as_bytes(), state),
                        Object::Number(back) => {
                            let back = back.as_f64() / 1000.0 * state.size * state.stretch;
                            state.letters = state.letters.moved(-back, 0.0);
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn show(&mut self, bytes: &[u8], state: &mut GraphicsState) {
        let Some(font) = state.font.clone() else { return };
        let (mut text, mut along) = (String::new(), 0.0);
        font.letters(bytes, &mut |letter| {
            text.push_str(letter.text);
            let word = if letter.is_space { state.word_space } else { 0.0 };
            along += (letter.advance * state.size + state.letter_space + word) * state.stretch;
        });
        let [a, b, c, d, x, y] = state.letters.moved(0.0, state.rise).then(state.page).0;
        // The line's direction, and how long one step of it is on the page.
        let step = a.hypot(b).max(1e-9);
        let (cos, sin) = (a / step, b / step);
        let from = x * cos + y * sin;
        self.lines.add(GlyphRun {
            text,
            from,
            to: from + along * step,
            across: y * cos - x * sin,
            size: state.size.abs() * c.hypot(d),
            angle: sin.atan2(cos).to_degrees().round(),
        });
        state.letters = state.letters.moved(along, 0.0);
    }
}

fn form_matrix(form: &Stream<'_>) -> Option<Matrix> {
    form.dict().get::<[f64; 6]>("Matrix").map(Matrix)
}

/// The values before an operator; what is missing is 0.
struct Operands<'b, 'a>(Vec<&'b Object<'a>>);

impl<'a> Operands<'_, 'a> {
    fn number(&self, at: usize) -> f64 {
        match self.0.get(at) {
            Some(Object::Number(number)) => number.as_f64(),
            _ => 0.0,
        }
    }

    fn matrix(&self) -> Matrix {
        Matrix([0, 1, 2, 3, 4, 5].map(|at| self.number(at)))
    }

    fn name(&self) -> Option<&Name<'a>> {
        match self.0.first() {
            Some(Object::Name(name)) => Some(name),
            _ => None,
        }
    }

    fn bytes(&self, at: usize) -> &[u8] {
        match self.0.get(at) {
            Some(Object::String(text)) => text.as_bytes(),
            _ => &[],
        }
    }
}
