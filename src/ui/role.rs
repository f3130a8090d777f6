//! What a colour means: one table, from which themes are read.

macro_rules! roles {
    ($($variant:ident, $name:literal, $ground:ident, $help:literal;)*) => {
        /// A meaning that a theme gives a look.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Role {
            $(#[doc = $help] $variant,)*
        }

        impl Role {
            /// All of them; a role's place here is its number.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Name in a theme.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it is for, in a sentence.
            #[must_use]
            pub const fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)* }
            }

            /// Where it is used.
            #[must_use]
            pub const fn ground(self) -> Ground {
                match self { $(Self::$variant => Ground::$ground,)* }
            }
        }
    };
}

/// Where a role is used, which tells what its text must stand out from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// Text on the plain background.
    Plain,
    /// Text on the plain background, on selections, on code and on the backgrounds of a diff.
    Anywhere,
    /// Text on a background of its own.
    Own,
    /// No text: rules and marks.
    Shape,
}

roles! {
    Text, "text", Anywhere, "Plain text; its background is that of the screen.";
    Dim, "text.dim", Anywhere, "Text of less weight: times, reasons, sizes.";
    Faint, "text.faint", Shape, "Filling and folded parts that are not important.";
    Strong, "text.strong", Anywhere, "Text of more weight.";
    Emphasis, "text.emphasis", Plain, "Emphasized words.";
    Heading, "heading", Plain, "Headings.";
    Link, "link", Plain, "Links and paths that can be opened.";
    Quote, "quote", Plain, "Quoted text.";
    InlineCode, "code.inline", Own, "Code within a sentence.";
    Code, "code.block", Own, "A block of code.";
    Accent, "accent", Plain, "Accents: the name of the program, marks of a list.";
    Border, "border", Shape, "Rules between panes.";
    BorderFocus, "border.focus", Shape, "The rule over the focused pane.";
    Title, "title", Plain, "The title of a pane.";
    TitleFocus, "title.focus", Plain, "The title of the focused pane.";
    Selection, "selection", Own, "The selected line of the focused pane.";
    SelectionDim, "selection.dim", Own, "The selected line of another pane.";
    Cursor, "cursor", Own, "The cursor in a text.";
    Match, "match", Own, "What a search found.";
    Key, "key", Plain, "A key in the line of hints.";
    KeyHelp, "key.help", Plain, "What that key does.";
    Person, "person", Plain, "The person.";
    Agent1, "agent.1", Plain, "The first agent.";
    Agent2, "agent.2", Plain, "The second agent.";
    Agent3, "agent.3", Plain, "The third agent.";
    Agent4, "agent.4", Plain, "The fourth agent.";
    Agent5, "agent.5", Plain, "The fifth agent.";
    Agent6, "agent.6", Plain, "The sixth agent.";
    Ok, "status.ok", Plain, "It worked.";
    Warn, "status.warn", Plain, "Worth a look.";
    Error, "status.error", Plain, "It failed.";
    Busy, "status.busy", Plain, "It is under way.";
    Waiting, "badge.waiting", Own, "A decision waits: the brightest thing on screen.";
    Paused, "badge.paused", Own, "The run is held.";
    Simulated, "badge.simulated", Plain, "Not real: a virtual board, a scripted model.";
    FileNew, "file.new", Anywhere, "A file that is new.";
    FileEdit, "file.edit", Anywhere, "A file that changes.";
    FileDelete, "file.delete", Anywhere, "A file that is deleted.";
    Folder, "file.folder", Anywhere, "A folder.";
    DiffAdded, "diff.added", Own, "An added line.";
    DiffRemoved, "diff.removed", Own, "A removed line.";
    DiffAddedWord, "diff.added.word", Own, "The added words of a line.";
    DiffRemovedWord, "diff.removed.word", Own, "The removed words of a line.";
    DiffSign, "diff.number", Plain, "Line numbers and folded lines of a diff.";
    LogError, "log.error", Plain, "An error in a log.";
    LogWarn, "log.warn", Plain, "A warning in a log.";
    LogInfo, "log.info", Plain, "Information in a log.";
    LogDebug, "log.debug", Plain, "Details in a log.";
    LogTag, "log.tag", Plain, "Tag or time of a line in a log.";
    SynKeyword, "syntax.keyword", Anywhere, "A word of the language.";
    SynType, "syntax.type", Anywhere, "Name of a type.";
    SynFunction, "syntax.function", Anywhere, "Name of a function or command.";
    SynString, "syntax.string", Anywhere, "Text in quotes.";
    SynNumber, "syntax.number", Anywhere, "A number.";
    SynComment, "syntax.comment", Anywhere, "Words for people.";
    SynConstant, "syntax.constant", Anywhere, "A fixed value with a name.";
    SynPreprocessor, "syntax.preprocessor", Anywhere, "A directive of the preprocessor.";
    SynOperator, "syntax.operator", Anywhere, "An operator.";
    SynVariable, "syntax.variable", Anywhere, "Name of a variable.";
    SynProperty, "syntax.property", Anywhere, "Name of a field or key.";
    SynPunctuation, "syntax.punctuation", Anywhere, "Brackets and separators.";
    Timeline, "timeline", Shape, "The line of a replay.";
    TimelineHead, "timeline.head", Plain, "The place in a replay.";
    Notice, "notice", Own, "A notice at the edge of the screen.";
    NoticeError, "notice.error", Own, "A notice about a failure.";
    Dialog, "dialog", Own, "Text of a dialog.";
    DialogDim, "dialog.dim", Own, "Text of less weight in a dialog.";
    DialogBorder, "dialog.border", Own, "The frame of a dialog.";
}

impl Role {
    /// Roles whose backgrounds text of [`Ground::Anywhere`] stands on.
    pub const GROUNDS: [Self; 8] = [
        Self::Text,
        Self::Code,
        Self::Selection,
        Self::SelectionDim,
        Self::DiffAdded,
        Self::DiffRemoved,
        Self::DiffAddedWord,
        Self::DiffRemovedWord,
    ];

    /// The role with that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|role| role.name() == name)
    }

    /// The role of the `place`-th agent of a session, from 0.
    #[must_use]
    pub const fn agent(place: usize) -> Self {
        match place % 6 {
            0 => Self::Agent1,
            1 => Self::Agent2,
            2 => Self::Agent3,
            3 => Self::Agent4,
            4 => Self::Agent5,
            _ => Self::Agent6,
        }
    }

    /// The role of a piece of highlighted source.
    #[must_use]
    pub const fn syntax(kind: crate::text::syntax::SyntaxKind) -> Self {
        use crate::text::syntax::SyntaxKind;
        match kind {
            SyntaxKind::Keyword => Self::SynKeyword,
            SyntaxKind::Type => Self::SynType,
            SyntaxKind::Function => Self::SynFunction,
            SyntaxKind::String => Self::SynString,
            SyntaxKind::Number => Self::SynNumber,
            SyntaxKind::Comment => Self::SynComment,
            SyntaxKind::Constant => Self::SynConstant,
            SyntaxKind::Preprocessor => Self::SynPreprocessor,
            SyntaxKind::Operator => Self::SynOperator,
            SyntaxKind::Variable => Self::SynVariable,
            SyntaxKind::Property => Self::SynProperty,
            SyntaxKind::Punctuation => Self::SynPunctuation,
        }
    }
}
