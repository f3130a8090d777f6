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

    /// Its name in files, and its title for people.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Global => ("global", "Everywhere"),
            Self::Pane => ("pane", "In every pane"),
            Self::Chat => ("chat", "Chat"),
            Self::Question => ("question", "When the team asks"),
            Self::Project => ("project", "Project"),
            Self::Review => ("review", "Review"),
            Self::Select => ("select", "Picking lines"),
            Self::Logs => ("logs", "Logs"),
            Self::Composer => ("composer", "Writing a message"),
            Self::Dialog => ("dialog", "In a dialog"),
            Self::Replay => ("replay", "Replay"),
        }
    }

    /// Name in a keymap.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.names().0
    }

    /// Heading in the help.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.names().1
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
    Help, "help", Global, "help", "Show what every key does";
    Quit, "quit", Global, "quit", "Quit; ask first while a run is active";
    Suspend, "suspend", Global, "suspend", "Go back to the shell; `fg` returns";
    Redraw, "redraw", Global, "redraw", "Redraw the whole screen";
    FocusNext, "focus-next", Global, "next pane", "Focus the next pane";
    FocusPrevious, "focus-previous", Global, "previous pane", "Focus the previous pane";
    FocusProject, "focus-project", Global, "project", "Focus the project's files";
    FocusChat, "focus-chat", Global, "chat", "Focus the chat";
    FocusReview, "focus-review", Global, "review", "Focus the review";
    FocusLogs, "focus-logs", Global, "logs", "Focus the logs";
    Palette, "palette", Global, "palette", "Find an action by name and run it";
    ChooseTheme, "choose-theme", Global, "theme", "Choose a theme, with a preview";
    ChooseModel, "choose-model", Global, "model", "Choose the model for the next turns";
    ShowPolicy, "show-policy", Global, "learned policy", "Show the values by which a learned policy chooses who speaks, as a heat map";
    ShowBlackboard, "show-blackboard", Global, "blackboard", "Show the blackboard: plans, code, tests and errors, each with author and time";
    ShowSources, "show-sources", Global, "sources", "Show what was found in the documentation, to read, pin or mute it";
    Wider, "wider", Global, "wider", "Make the pane wider";
    Narrower, "narrower", Global, "narrower", "Make the pane narrower";
    Taller, "taller", Global, "taller", "Make the pane taller";
    Lower, "lower", Global, "lower", "Make the pane lower";
    ResetLayout, "reset-layout", Global, "reset sizes", "Reset the sizes of all panes";
    ShowRun, "show-run", Global, "run", "Show the run at a glance: plan, agents, time, cost";
    Zoom, "zoom", Global, "zoom", "Show the pane on the whole screen, or at its normal size";
    AnswerOption, "answer-option", Global, "answer", "Answer the question that waits";
    Compose, "compose", Global, "write", "Write a message to the team";
    Command, "command", Global, "command", "Write a command such as /stop";
    StopRun, "stop-run", Global, "stop", "Stop the run: writes /stop, which takes effect when it is sent";
    TogglePause, "toggle-pause", Global, "pause", "Pause the run once what is under way has ended, or continue it";
    Back, "back", Global, "back", "Close what is open: a zoom, a filter, an older position";

    Up, "up", Pane, "up", "One line up";
    Down, "down", Pane, "down", "One line down";
    HalfPageUp, "half-page-up", Pane, "half a page up", "Half a page up";
    HalfPageDown, "half-page-down", Pane, "half a page down", "Half a page down";
    PageUp, "page-up", Pane, "page up", "One page up";
    PageDown, "page-down", Pane, "page down", "One page down";
    Top, "top", Pane, "top", "Go to the start";
    Bottom, "bottom", Pane, "end", "Go to the end";
    Left, "left", Pane, "left", "Scroll left; fold a folder";
    Right, "right", Pane, "right", "Scroll right; unfold a folder";
    Follow, "follow", Pane, "follow", "Follow new output";
    Open, "open", Pane, "open", "Open or fold the selection";
    EditFile, "edit-file", Pane, "edit", "Open the selected file, or the one named here, in your editor";
    Copy, "copy", Pane, "copy", "Copy the selection to the clipboard of the terminal";
    Search, "search", Pane, "search", "Search in this pane; in the files, filter them by name";
    NextMatch, "next-match", Pane, "next match", "Go to the next match of the search";
    PreviousMatch, "previous-match", Pane, "previous match", "Go to the previous match of the search";
    NextError, "next-error", Pane, "next error", "Go to the next error";
    PreviousError, "previous-error", Pane, "previous error", "Go to the previous error";

    NextTurn, "next-turn", Chat, "next turn", "Go to the next turn";
    PreviousTurn, "previous-turn", Chat, "previous turn", "Go to the previous turn";
    NextOfAgent, "next-of-agent", Chat, "next of agent", "Go to the next turn of the same agent";
    PreviousOfAgent, "previous-of-agent", Chat, "previous of agent", "Go to the previous turn of the same agent";
    NextChange, "next-change", Chat, "next proposal", "Go to the next call with a proposal";
    PreviousChange, "previous-change", Chat, "previous proposal", "Go to the previous call with a proposal";
    CopyCode, "copy-code", Chat, "copy code", "Copy the last code block of the message";
    ShowTask, "show-task", Chat, "task", "Show the whole task";
    NextFold, "next-fold", Chat, "next fold", "Select the next call, citation or folded code";
    PreviousFold, "previous-fold", Chat, "previous fold", "Select the previous call, citation or folded code";

    LookInto, "look-into", Question, "see and change", "Open the waiting plan or list of files, to accept, change or send it back";

    Approve, "approve", Review, "approve", "Approve the change as shown";
    ApproveUnseen, "approve-unseen", Review, "approve anyway", "Approve although changed lines were not on screen; their number is recorded";
    ApproveDespite, "approve-despite", Review, "approve despite findings", "Approve although a check found a problem; that is recorded";
    ApproveRest, "approve-rest", Review, "the rest", "List the other proposals of this batch, to decide one by one or together";
    Reject, "reject", Review, "reject", "Reject the change and tell the agent why";
    RejectStop, "reject-stop", Review, "reject and stop", "Reject the change and stop the run";
    ApproveTell, "approve-tell", Review, "approve and tell", "Approve the change and send a message to the agent";
    PickLines, "pick-lines", Review, "lines", "Pick single lines or hunks of the change";
    Edit, "edit", Review, "edit", "Edit the proposed text before you decide";
    EditOutside, "edit-outside", Review, "editor", "Edit the text in $VISUAL or $EDITOR";
    Comment, "comment", Review, "comment", "Comment on a line; the agent reads it with the decision";
    Ask, "ask", Review, "ask why", "Ask the agent about a hunk; nothing is decided";
    Details, "details", Review, "details", "Show the result of each check, and all questions and answers";
    Translation, "translation", Review, "translation", "Show a Reverty program with its syntax tree and its Python, linked line by line";
    Rules, "rules", Review, "rules", "Add or remove rules for this session";
    Undo, "undo", Review, "undo", "Undo an applied change; that is recorded too";
    NextHunk, "next-hunk", Review, "next hunk", "Go to the next hunk";
    PreviousHunk, "previous-hunk", Review, "previous hunk", "Go to the previous hunk";
    ToggleSideBySide, "toggle-beside", Review, "side by side", "Show the old and the new version side by side, or in one column";
    ToggleBlanks, "toggle-blanks", Review, "white space", "Hide or show changes of white space";
    ToggleWrap, "toggle-wrap", Review, "wrap", "Wrap long lines, or cut them and scroll to the side";
    MoreContext, "more-context", Review, "more context", "Show more unchanged lines around the changes";
    LessContext, "less-context", Review, "less context", "Show fewer unchanged lines around the changes";
    WholeFile, "whole-file", Review, "whole file", "Show the whole file, or only the changes";
    NextProposal, "next-proposal", Review, "next proposal", "Go to the next proposal";
    PreviousProposal, "previous-proposal", Review, "previous proposal", "Go to the previous proposal";

    ToggleLine, "toggle-line", Select, "pick", "Pick the line with its other version, or unpick it";
    ToggleSingle, "toggle-single", Select, "one line", "Pick only this line, or unpick it";
    ToggleHunk, "toggle-hunk", Select, "hunk", "Pick the hunk, or unpick it";
    ToggleAll, "toggle-all", Select, "all", "Pick all changed lines, or none";
    ApprovePicked, "approve-picked", Select, "approve picked", "Approve the picked lines; the others are rejected";

    Pin, "pin", Project, "pin", "Pin the selected file, so that the team always reads it, or exclude it";

    NextTab, "next-tab", Logs, "next log", "Go to the next log";
    PreviousTab, "previous-tab", Logs, "previous log", "Go to the previous log";
    FilterLog, "filter-log", Logs, "filter", "Show only the lines that match a regular expression";
    WrapLog, "wrap-log", Logs, "wrap", "Wrap long lines, or cut them";
    SaveLog, "save-log", Logs, "save", "Save the whole log to a file, without the filter";
    LogLess, "log-less", Logs, "less", "Show one log level less of the serial output, down to errors only";
    LogMore, "log-more", Logs, "more", "Show one log level more of the serial output";
    LogTags, "log-tags", Logs, "tags", "List the tags of a port, to show or hide each up to a level";
    HoldLog, "hold-log", Logs, "pause", "Pause or continue the serial output on screen; all of it is recorded";
    LogTimes, "log-times", Logs, "times", "Choose the column before the lines: nothing, time of day, delta, board's time";
    LogHex, "log-hex", Logs, "bytes", "Show the serial output as bytes, or as lines";
    LogValues, "log-values", Logs, "values", "Show or hide a chart of the values in the serial output";
    NextValue, "next-value", Logs, "next value", "Chart the next value";
    NextCall, "next-call", Logs, "caller", "In a failure, select the caller of the selected call";
    PreviousCall, "previous-call", Logs, "called", "In a failure, select the function that the selected call has called";
    NextSource, "next-source", Logs, "newer", "Go to the next build or connection";
    PreviousSource, "previous-source", Logs, "older", "Go to the previous build or connection";

    SerialConnect, "serial-connect", Logs, "connect", "Open or close the port";
    SerialSend, "serial-send", Logs, "send a line", "Send a line to the board";
    SerialEnding, "serial-ending", Logs, "line ends", "Choose the line end for lines to the board";
    SerialBaud, "serial-baud", Logs, "baud", "Change the baud rate of the port";
    SerialReset, "serial-reset", Logs, "reset", "Restart the program on the board, by DTR and RTS";
    SerialBootLoader, "serial-boot-loader", Logs, "boot loader", "Start the boot loader of the chip, by DTR and RTS";

    Send, "send", Composer, "send", "Send the message";
    Newline, "newline", Composer, "new line", "Start a new line";
    Complete, "complete", Composer, "complete", "Complete the word with the selection; without a list, focus the next pane";
    HistoryPrevious, "history-previous", Composer, "earlier", "Go to the previous message of the history";
    HistoryNext, "history-next", Composer, "later", "Go to the next message of the history";
    NextTeam, "next-team", Composer, "team", "After a run: choose the team of the next one";
    PreviousTeam, "previous-team", Composer, "earlier team", "After a run: choose the team of the next one, the other way round";
    LeaveComposer, "leave-composer", Composer, "leave", "Leave the message field; the text is kept";

    Accept, "accept", Dialog, "accept", "Accept the selection";
    Toggle, "toggle", Dialog, "switch", "Switch the selection on or off";
    Find, "find", Dialog, "search", "Search the dialog";
    AcceptUnseen, "accept-unseen", Dialog, "approve anyway",
        "Approve a list although some of its lines were not on screen";
    ApproveAll, "approve-all", Dialog, "approve all", "Approve all proposals of a list without findings";
    RejectAll, "reject-all", Dialog, "reject all", "Reject the whole list and tell the agents why";
    AcceptText, "accept-text", Dialog, "show the edit", "End the edit, and show its result";
    Cancel, "cancel", Dialog, "cancel", "Close the dialog";
    Change, "change", Dialog, "change", "Rewrite the selected step of the plan";
    Add, "add", Dialog, "add", "Add a step to the plan, or a file to the context";
    Remove, "remove", Dialog, "remove", "Remove the selected step or file";
    MoveUp, "move-up", Dialog, "earlier", "Move the selected step up";
    MoveDown, "move-down", Dialog, "later", "Move the selected step down";
    Refuse, "refuse", Dialog, "send back", "Send the plan or the files back, with a message";

    PinSource, "pin-source", Dialog, "pin", "Pin the selected passage, so that every search answers with it, or unpin it";
    MuteSource, "mute-source", Dialog, "mute", "Mute the selected passage, so that no search finds it, or unmute it";

    PlayPause, "play-pause", Replay, "play/pause", "Play or pause";
    Faster, "faster", Replay, "faster", "Double the speed";
    Slower, "slower", Replay, "slower", "Halve the speed";
    JumpTo, "jump-to", Replay, "go to", "Go to a time, an event, a percentage, or to words in the chat, the logs and proposed files";
    StepForward, "step-forward", Replay, "event →", "Go to the next event";
    StepBack, "step-back", Replay, "← event", "Go to the previous event";
    TurnForward, "turn-forward", Replay, "turn →", "Go to the next turn";
    TurnBack, "turn-back", Replay, "← turn", "Go to the previous turn";
    ProposalForward, "proposal-forward", Replay, "proposal →", "Go to the next proposal";
    ProposalBack, "proposal-back", Replay, "← proposal", "Go to the previous proposal";
    ReplayStart, "replay-start", Replay, "start", "To the first event";
    ReplayEnd, "replay-end", Replay, "end", "To the last event";
}

impl Action {
    /// The action with that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }

    /// Whether a keymap may bind it in `context`.
    #[must_use]
    pub fn is_allowed_in(self, context: KeyContext) -> bool {
        match self.home() {
            home if home == context => true,
            KeyContext::Global => context != KeyContext::Dialog,
            KeyContext::Pane => context.is_pane() || context == KeyContext::Dialog,
            _ => false,
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
        )
    }

    /// Whether it does something with the proposal on screen that only a live one allows.
    #[must_use]
    pub const fn is_about_proposal(self) -> bool {
        matches!(
            self,
            Self::Approve
                | Self::ApproveUnseen
                | Self::ApproveDespite
                | Self::ApprovePicked
                | Self::ApproveTell
                | Self::Reject
                | Self::RejectStop
                | Self::Ask
                | Self::PickLines
                | Self::Comment
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
