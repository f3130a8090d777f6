//! Everything a key can do: one table, from which keymaps are read and help is made.
//!
//! Owns names and words only; what an action does is its pane's business.

/// Where a binding holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyContext {
    /// Everywhere outside of dialogs and text.
    Global,
    /// In every pane.
    Pane,
    /// In the chat.
    Chat,
    /// In the chat while a question waits.
    Question,
    /// In the project's files.
    Project,
    /// In the review.
    Review,
    /// In the review while lines are picked.
    Select,
    /// In the logs.
    Logs,
    /// While a message is being written.
    Composer,
    /// While a dialog is open.
    Dialog,
    /// In every pane of a replay.
    Replay,
}

impl KeyContext {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Global,
        Self::Pane,
        Self::Chat,
        Self::Question,
        Self::Project,
        Self::Review,
        Self::Select,
        Self::Logs,
        Self::Composer,
        Self::Dialog,
        Self::Replay,
    ];

    /// Name in a keymap.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Pane => "pane",
            Self::Chat => "chat",
            Self::Question => "question",
            Self::Project => "project",
            Self::Review => "review",
            Self::Select => "select",
            Self::Logs => "logs",
            Self::Composer => "composer",
            Self::Dialog => "dialog",
            Self::Replay => "replay",
        }
    }

    /// Heading in the help.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Global => "Everywhere",
            Self::Pane => "In every pane",
            Self::Chat => "Chat",
            Self::Question => "When the team asks",
            Self::Project => "Project",
            Self::Review => "Review",
            Self::Select => "Picking lines",
            Self::Logs => "Logs",
            Self::Composer => "Writing a message",
            Self::Dialog => "In a dialog",
            Self::Replay => "Replay",
        }
    }

    /// The context with that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|context| context.name() == name)
    }

    const fn is_pane(self) -> bool {
        matches!(self, Self::Chat | Self::Project | Self::Review | Self::Logs)
    }
}

macro_rules! actions {
    ($($variant:ident, $name:literal, $home:ident, $hint:literal, $help:literal;)*) => {
        /// Something a key can do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Action {
            $(#[doc = $help] $variant,)*
        }

        impl Action {
            /// All of them, in the order of the help.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Name in a keymap.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The context it belongs to.
            #[must_use]
            pub const fn home(self) -> KeyContext {
                match self { $(Self::$variant => KeyContext::$home,)* }
            }

            /// One or two words for the line of hints.
            #[must_use]
            pub const fn hint(self) -> &'static str {
                match self { $(Self::$variant => $hint,)* }
            }

            /// A sentence for the help.
            #[must_use]
            pub const fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)* }
            }
        }
    };
}

actions! {
    Help, "help", Global, "help", "Shows what every key does";
    Quit, "quit", Global, "quit", "Leaves; asks first while a run goes on";
    Suspend, "suspend", Global, "suspend", "Goes back to the shell; `fg` returns";
    Redraw, "redraw", Global, "redraw", "Draws the whole screen anew";
    FocusNext, "focus-next", Global, "next pane", "Turns to the next pane";
    FocusPrevious, "focus-previous", Global, "previous pane", "Turns to the previous pane";
    FocusProject, "focus-project", Global, "project", "Turns to the project's files";
    FocusChat, "focus-chat", Global, "chat", "Turns to the chat";
    FocusReview, "focus-review", Global, "review", "Turns to the review";
    FocusLogs, "focus-logs", Global, "logs", "Turns to the logs";
    Palette, "palette", Global, "palette", "Finds an action by its words and does it";
    ChooseTheme, "choose-theme", Global, "theme", "Chooses how things look, shown as you go through";
    ChooseModel, "choose-model", Global, "model", "Chooses which model answers from the next turn on";
    Wider, "wider", Global, "wider", "Makes the pane wider";
    Narrower, "narrower", Global, "narrower", "Makes the pane narrower";
    Taller, "taller", Global, "taller", "Makes the pane taller";
    Lower, "lower", Global, "lower", "Makes the pane lower";
    ResetLayout, "reset-layout", Global, "usual sizes", "Gives all panes their usual sizes again";
    Zoom, "zoom", Global, "zoom", "Gives the pane the whole screen, or back its place";
    Compose, "compose", Global, "write", "Writes a message to the team";
    Command, "command", Global, "command", "Writes a command such as /stop";
    TogglePause, "toggle-pause", Global, "pause", "Holds the run before its next step, or lets it go on";
    Back, "back", Global, "back", "Leaves what is open: a zoom, a filter, a place further up";

    Up, "up", Pane, "up", "One line up";
    Down, "down", Pane, "down", "One line down";
    HalfPageUp, "half-page-up", Pane, "half a page up", "Half a page up";
    HalfPageDown, "half-page-down", Pane, "half a page down", "Half a page down";
    PageUp, "page-up", Pane, "page up", "One page up";
    PageDown, "page-down", Pane, "page down", "One page down";
    Top, "top", Pane, "top", "To the start";
    Bottom, "bottom", Pane, "end", "To the end";
    Left, "left", Pane, "left", "To the left; folds a folder";
    Right, "right", Pane, "right", "To the right; unfolds a folder";
    Follow, "follow", Pane, "follow", "Follows what is new";
    Open, "open", Pane, "open", "Opens or folds what is selected";
    EditFile, "edit-file", Pane, "edit", "Opens the selected file, or the one named here, in your editor";
    Copy, "copy", Pane, "copy", "Copies what is selected to the clipboard of the terminal";
    Search, "search", Pane, "search", "Searches what is shown; in the files, filters them by name";
    NextMatch, "next-match", Pane, "next match", "To the next place that the search found";
    PreviousMatch, "previous-match", Pane, "previous match", "To the place before that the search found";
    NextError, "next-error", Pane, "next error", "To the next error";
    PreviousError, "previous-error", Pane, "previous error", "To the previous error";

    NextTurn, "next-turn", Chat, "next turn", "To the next turn";
    PreviousTurn, "previous-turn", Chat, "previous turn", "To the previous turn";
    NextOfAgent, "next-of-agent", Chat, "next of agent", "To the next turn of the same agent";
    PreviousOfAgent, "previous-of-agent", Chat, "previous of agent", "To the turn before of the same agent";
    NextChange, "next-change", Chat, "next proposal", "To the next call that proposed something";
    PreviousChange, "previous-change", Chat, "previous proposal", "To the call before that proposed something";
    CopyCode, "copy-code", Chat, "copy code", "Copies the last block of code of the message";
    ShowTask, "show-task", Chat, "task", "Shows all of the task";
    NextFold, "next-fold", Chat, "next fold", "Selects the next tool call or folded code";
    PreviousFold, "previous-fold", Chat, "previous fold", "Selects the previous tool call or folded code";

    AnswerOption, "answer-option", Question, "answer", "Answers with the option of that number";

    LookInto, "look-into", Question, "see and change", "Opens the plan or the files that wait, to take them, change them or send them back";

    Approve, "approve", Review, "approve", "Approves the change as shown";
    ApproveUnseen, "approve-unseen", Review, "approve unseen", "Approves although changed lines were not on screen; their number is recorded";
    ApproveDespite, "approve-despite", Review, "approve despite findings", "Approves although something was found that stands against it; that is recorded";
    ApproveRest, "approve-rest", Review, "the rest", "Lists what is left of this batch, to decide it one by one or together";
    Reject, "reject", Review, "reject", "Rejects the change and tells the agent why";
    RejectStop, "reject-stop", Review, "reject and stop", "Rejects the change and ends the run";
    ApproveTell, "approve-tell", Review, "approve and tell", "Approves the change and tells the agent something";
    PickLines, "pick-lines", Review, "lines", "Picks single lines or hunks of the change";
    Edit, "edit", Review, "edit", "Edits the proposed text before you decide";
    EditOutside, "edit-outside", Review, "editor", "Edits the text in $VISUAL or $EDITOR";
    Comment, "comment", Review, "comment", "Comments on a line; it goes to the agent with the decision";
    Ask, "ask", Review, "ask why", "Asks the agent about a hunk; nothing is decided";
    Details, "details", Review, "details", "Shows what each check found, and all questions and answers";
    Rules, "rules", Review, "rules", "Makes or ends rules for this session";
    Undo, "undo", Review, "undo", "Takes an applied change back; that is recorded too";
    NextHunk, "next-hunk", Review, "next hunk", "To the next changed place";
    PreviousHunk, "previous-hunk", Review, "previous hunk", "To the previous changed place";
    ToggleBeside, "toggle-beside", Review, "side by side", "Shows the old and the new version beside each other, or in one column";
    ToggleBlanks, "toggle-blanks", Review, "blanks", "Sets changes of blanks aside, or shows them";
    ToggleWrap, "toggle-wrap", Review, "wrap", "Wraps long lines, or cuts them and scrolls to the side";
    MoreContext, "more-context", Review, "more around", "Shows more unchanged lines around the changes";
    LessContext, "less-context", Review, "less around", "Shows fewer unchanged lines around the changes";
    WholeFile, "whole-file", Review, "whole file", "Shows the whole file, or only the changes again";
    NextProposal, "next-proposal", Review, "next proposal", "To the next proposal";
    PreviousProposal, "previous-proposal", Review, "previous proposal", "To the previous proposal";

    ToggleLine, "toggle-line", Select, "pick", "Picks the line with its other version, or puts it back";
    ToggleSingle, "toggle-single", Select, "one line", "Picks this line alone, or puts it back";
    ToggleHunk, "toggle-hunk", Select, "hunk", "Picks the hunk, or puts it back";
    ToggleAll, "toggle-all", Select, "all", "Picks all changed lines, or none";
    ApprovePicked, "approve-picked", Select, "approve picked", "Approves the picked lines; the others are refused";

    Pin, "pin", Project, "pin", "Has the team read the selected file whenever it reads files, or keeps it from doing so";

    NextTab, "next-tab", Logs, "next log", "To the next log";
    PreviousTab, "previous-tab", Logs, "previous log", "To the previous log";
    FilterLog, "filter-log", Logs, "filter", "Shows only the lines that a regular expression matches";
    WrapLog, "wrap-log", Logs, "wrap", "Wraps long lines, or cuts them";
    SaveLog, "save-log", Logs, "save", "Saves the whole log to a file, whatever is filtered";
    LogLess, "log-less", Logs, "less", "Shows one level less of what ports print, down to errors alone";
    LogMore, "log-more", Logs, "more", "Shows one level more of what ports print";
    LogTags, "log-tags", Logs, "tags", "Lists the tags of a port, to show or hide each up to a level";
    HoldLog, "hold-log", Logs, "pause", "Lets what a port prints stand still, or go on; all of it is kept";
    LogTimes, "log-times", Logs, "times", "Changes what stands before lines: nothing, time of day, delta, board's time";
    LogHex, "log-hex", Logs, "bytes", "Shows what a port prints byte for byte, or as lines again";
    LogValues, "log-values", Logs, "values", "Draws the values in the lines of a port, or no more";
    NextValue, "next-value", Logs, "next value", "Draws the next value that has another name";
    NextCall, "next-call", Logs, "caller", "In a failure, selects the caller of the selected call";
    PreviousCall, "previous-call", Logs, "called", "In a failure, selects what the selected call has called";
    NextSource, "next-source", Logs, "newer", "To the next build or connection";
    PreviousSource, "previous-source", Logs, "older", "To the previous build or connection";

    SerialConnect, "serial-connect", Logs, "connect", "Opens the port that is shown again, or closes it";
    SerialSend, "serial-send", Logs, "send a line", "Writes a line to the board";
    SerialEnding, "serial-ending", Logs, "line ends", "Changes how lines to the board end";
    SerialBaud, "serial-baud", Logs, "baud", "Changes the speed of the port";
    SerialReset, "serial-reset", Logs, "reset", "Starts the program on the board anew, by DTR and RTS";
    SerialBootLoader, "serial-boot-loader", Logs, "boot loader", "Starts the boot loader of the chip, by DTR and RTS";

    Send, "send", Composer, "send", "Sends the message";
    Newline, "newline", Composer, "new line", "Begins a new line";
    Complete, "complete", Composer, "complete", "Completes the word to what is selected; without a list, turns to the next pane";
    HistoryPrevious, "history-previous", Composer, "earlier", "Brings back the message before";
    HistoryNext, "history-next", Composer, "later", "Brings back the message after";
    LeaveComposer, "leave-composer", Composer, "leave", "Leaves the message as it is";

    Accept, "accept", Dialog, "do it", "Does what is selected";
    Toggle, "toggle", Dialog, "switch", "Switches what is selected on or off";
    Find, "find", Dialog, "search", "Searches the dialog";
    AcceptUnseen, "accept-unseen", Dialog, "do it unseen",
        "Approves a list although not every line of it was on screen";
    ApproveAll, "approve-all", Dialog, "approve all", "Approves all of a list that nothing was found about";
    RejectAll, "reject-all", Dialog, "reject all", "Rejects the whole list and tells the agents why";
    AcceptText, "accept-text", Dialog, "show the edit", "Ends the edit, and shows what it would write";
    Cancel, "cancel", Dialog, "cancel", "Closes the dialog";
    Change, "change", Dialog, "change", "Writes the selected step of the plan anew";
    Add, "add", Dialog, "add", "Adds a step to the plan, or a file to the context";
    Remove, "remove", Dialog, "remove", "Takes the selected step or file out";
    MoveUp, "move-up", Dialog, "earlier", "Moves the selected step up";
    MoveDown, "move-down", Dialog, "later", "Moves the selected step down";
    Refuse, "refuse", Dialog, "send back", "Sends the plan or the files back with words";

    PlayPause, "play-pause", Replay, "play", "Plays or holds";
    Faster, "faster", Replay, "faster", "Doubles the speed";
    Slower, "slower", Replay, "slower", "Halves the speed";
    JumpTo, "jump-to", Replay, "go to", "Goes to a time, an event, a share, or the next event that matches";
    StepForward, "step-forward", Replay, "event →", "To the next event";
    StepBack, "step-back", Replay, "← event", "To the previous event";
    TurnForward, "turn-forward", Replay, "turn →", "To the next turn";
    TurnBack, "turn-back", Replay, "← turn", "To the previous turn";
    ProposalForward, "proposal-forward", Replay, "proposal →", "To the next proposal";
    ProposalBack, "proposal-back", Replay, "← proposal", "To the previous proposal";
    ReplayStart, "replay-start", Replay, "start", "To the first event";
    ReplayEnd, "replay-end", Replay, "end", "To the last event";
}

impl Action {
    /// The action with that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }

    /// Actions that need no key: the palette is enough for what is done once in a while.
    pub const PALETTE_ONLY: &'static [Self] =
        &[Self::ChooseTheme, Self::ChooseModel, Self::ResetLayout];

    /// Whether a keymap may bind it in `context`.
    #[must_use]
    pub fn is_allowed_in(self, context: KeyContext) -> bool {
        match self.home() {
            home if home == context => true,
            KeyContext::Global => context != KeyContext::Dialog,
            KeyContext::Pane => context.is_pane() || context == KeyContext::Dialog,
            KeyContext::Chat
            | KeyContext::Question
            | KeyContext::Project
            | KeyContext::Review
            | KeyContext::Select
            | KeyContext::Logs
            | KeyContext::Composer
            | KeyContext::Dialog
            | KeyContext::Replay => false,
        }
    }

    /// Whether it decides something for good. Such keys are dead for a moment after what they
    /// decide on appears or changes, and never count when repeated or pasted.
    #[must_use]
    pub const fn is_decision(self) -> bool {
        matches!(
            self,
            Self::Approve
                | Self::ApproveUnseen
                | Self::ApproveDespite
                | Self::ApproveRest
                | Self::ApprovePicked
                | Self::ApproveTell
                | Self::Reject
                | Self::RejectStop
                | Self::Undo
                | Self::AcceptUnseen
                | Self::ApproveAll
                | Self::RejectAll
                | Self::AnswerOption
        )
    }

    /// Whether it opens or begins what ends with a decision on the proposal on screen.
    #[must_use]
    pub const fn begins_decision(self) -> bool {
        self.is_about_proposal() || matches!(self, Self::PickLines | Self::Comment)
    }

    /// Whether it does something with the proposal on screen that only a live one allows.
    #[must_use]
    pub const fn is_about_proposal(self) -> bool {
        matches!(
            self,
            Self::ApproveUnseen
                | Self::ApprovePicked
                | Self::ApproveTell
                | Self::Reject
                | Self::RejectStop
                | Self::Ask
                | Self::Edit
                | Self::EditOutside
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_find_their_action() {
        for action in Action::ALL {
            assert_eq!(Action::named(action.name()), Some(*action));
            assert!(!action.help().is_empty() && !action.hint().is_empty());
        }
        for context in KeyContext::ALL {
            assert_eq!(KeyContext::named(context.name()), Some(context));
        }
    }

    #[test]
    fn decisions_belong_to_the_pane_that_shows_what_is_decided() {
        assert!(Action::Approve.is_allowed_in(KeyContext::Review));
        assert!(!Action::Approve.is_allowed_in(KeyContext::Global));
        assert!(!Action::Approve.is_allowed_in(KeyContext::Chat));
        assert!(Action::Up.is_allowed_in(KeyContext::Dialog));
        assert!(!Action::Quit.is_allowed_in(KeyContext::Dialog));
    }
}
