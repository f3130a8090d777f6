//! Splits a list file into commands and their arguments.

/// One command of a list file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListCommand {
    /// Line of its name, from 1.
    pub line: u32,
    /// Its name in lower case.
    pub name: String,
    /// Its arguments, quotes removed, variables as written.
    pub args: Vec<Argument>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    pub text: String,
    /// Whether it stood in quotes, which keeps `;` and spaces.
    pub quoted: bool,
}

/// What is wrong with a list file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CmakeError {
    /// Line, from 1.
    pub line: u32,
    /// The command it happened in; empty outside of one.
    pub command: String,
    /// What is wrong.
    pub message: String,
}

/// Splits a list file into commands.
///
/// # Errors
/// When a bracket or quote is never closed, or something else than a command stands there.
pub fn parse(text: &str) -> Result<Vec<ListCommand>, CmakeError> {
    let mut lexer = Lexer { rest: text, line: 1 };
    let mut commands = Vec::new();
    while let Some(command) = lexer.command()? {
        commands.push(command);
    }
    Ok(commands)
}

struct Lexer<'a> {
    rest: &'a str,
    line: u32,
}

impl Lexer<'_> {
    fn take(&mut self, bytes: usize) -> String {
        let (taken, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        let feeds = taken.bytes().filter(|&byte| byte == b'\n').count();
        self.line += u32::try_from(feeds).unwrap_or(0);
        self.rest = rest;
        taken.to_owned()
    }

    fn skip_blank(&mut self) {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.take(blank);
            if self.rest.starts_with("#[[") {
                let end = self.rest.find("]]").map_or(self.rest.len(), |at| at + 2);
                self.take(end);
            } else if self.rest.starts_with('#') {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.take(end);
            } else {
                return;
            }
        }
    }

    fn error(&self, command: &str, message: impl Into<String>) -> CmakeError {
        CmakeError { line: self.line, command: command.to_owned(), message: message.into() }
    }

    fn command(&mut self) -> Result<Option<ListCommand>, CmakeError> {
        self.skip_blank();
        if self.rest.is_empty() {
            return Ok(None);
        }
        let line = self.line;
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let name = self.take(length).to_ascii_lowercase();
        self.skip_blank();
        if name.is_empty() || !self.rest.starts_with('(') {
            let found: String = self.rest.chars().take(12).collect();
            return Err(
                self.error(&name, format!("Parse error: expected `name(`, found `{found}`"))
            );
        }
        self.take(1);
        let mut args = Vec::new();
        let mut depth = 0_u32;
        loop {
            self.skip_blank();
            match self.rest.chars().next() {
                None => return Err(self.error(&name, "Parse error: `(` is never closed")),
                Some(')') if depth == 0 => {
                    self.take(1);
                    return Ok(Some(ListCommand { line, name, args }));
                }
                Some(')') => {
                    self.take(1);
                    depth -= 1;
                }
                Some('(') => {
                    self.take(1);
                    depth += 1;
                }
                Some('"') => args.push(self.quoted(&name)?),
                Some(_) => {
                    let end = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"' | '#');
                    let length = self.rest.find(end).unwrap_or(self.rest.len()).max(1);
                    args.push(Argument { text: self.take(length), quoted: false });
                }
            }
        }
    }

    fn quoted(&mut self, command: &str) -> Result<Argument, CmakeError> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.take(at + 1);
                    return Ok(Argument { text, quoted: true });
                }
                '\\' => text.extend(chars.next().map(|(_, escaped)| escaped)),
                _ => text.push(c),
            }
        }
        Err(self.error(command, "Parse error: a quote is never closed"))
    }
}
