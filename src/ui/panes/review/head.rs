//! What stands above a change: what and who, the reason, the checks.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::model::{Change, Check, CheckKind, FindingLevel};
use crate::text::sanitize;
use crate::ui::action::{Action, Context};
use crate::ui::line;
use crate::ui::pane::{Cx, Keys};
use crate::ui::panes::wrap::wrap_words;
use crate::ui::role::Role;
use crate::view::{InquiryState, ProposalView};

use super::ReviewPane;
use super::body::Body;

/// Most rows for the agent's reason.
const MAX_REASON: usize = 3;

/// A row with something at its right end.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    pub left: Line<'static>,
    pub right: Line<'static>,
}

/// What stands in the title rule.
pub(super) fn title(pane: &ReviewPane, cx: &Cx<'_>) -> Line<'static> {
    let look = cx.style(match cx.keys {
        Keys::Here => Role::TitleFocus,
        Keys::Elsewhere => Role::Title,
    });
    let review = &cx.view.review;
    let waiting = review.waiting.len();
    let Some(view) = pane.queue.on_screen().and_then(|id| review.get(id)) else {
        return Line::styled("Review", look);
    };
    let id = view.proposal.id;
    let place = review.waiting.iter().position(|waiting| *waiting == id);
    let place = match place {
        Some(place) => format!(" {}/{waiting}", place + 1),
        None => format!(" #{id}"),
    };
    let mut spans = vec![
        Span::styled(format!("Review{place}"), look),
        Span::styled(" · ", cx.style(Role::Dim)),
        Span::styled(what(&view.proposal.change), look),
    ];
    if !review.waiting.contains(&id) && waiting > 0 {
        spans.push(Span::styled(" ", look));
        spans.push(Span::styled(format!(" {waiting} waiting "), cx.style(Role::Waiting)));
    }
    Line::from(spans)
}

/// A change in a few words, e.g. `save main/main.c`.
pub(super) fn what(change: &Change) -> String {
    match change {
        Change::Flash(plan) => format!("flash {}", sanitize::line(&plan.board.label)),
        Change::Erase(plan) => {
            let (name, label) = (plan.name(), &plan.board.label);
            format!("erase {} of {}", sanitize::line(&name), sanitize::line(label))
        }
        Change::Read(plan) => {
            let (name, label) = (plan.region.name(), &plan.board.label);
            format!("read {} of {}", sanitize::line(&name), sanitize::line(label))
        }
        Change::Nvs(plan) => {
            let (name, label) = (plan.region.name(), &plan.board.label);
            format!("edit {} of {}", sanitize::line(&name), sanitize::line(label))
        }
        Change::Send(plan) => format!("send to {}", sanitize::line(&plan.board.label)),
        Change::Save { path, .. } | Change::Delete { path, .. } | Change::Insert { path, .. } => {
            format!("{} {}", change.kind(), sanitize::line(path.as_str()))
        }
    }
}

/// How many lines change, e.g. `+1 −1 · 1 hunk`.
pub(super) fn counts(body: &Body) -> String {
    match body.hunks.len() {
        0 => String::new(),
        1 => format!("+{} −{} · 1 hunk", body.added, body.removed),
        hunks => format!("+{} −{} · {hunks} hunks", body.added, body.removed),
    }
}

/// The rows above a change.
pub(super) fn head(
    view: &ProposalView,
    body: Option<&Body>,
    width: usize,
    cx: &Cx<'_>,
) -> Vec<Row> {
    let proposal = &view.proposal;
    let dim = cx.style(Role::Dim);
    let agent = sanitize::line(proposal.agent.as_str()).into_owned();
    let tool = sanitize::line(proposal.tool.as_str()).into_owned();
    let left = vec![
        Span::raw(" "),
        Span::styled(agent, cx.style(cx.agents.role(&proposal.agent))),
        Span::styled(" via ", dim),
        Span::styled(tool, cx.style(Role::Text)),
    ];
    let right = body.map_or_else(Line::default, |body| counts_line(view, body, cx));
    let mut rows = vec![Row { left: Line::from(left), right }];
    let reason = sanitize::line(proposal.reason.trim());
    if !reason.is_empty() {
        let mut words = wrap_words(&format!("“{reason}”"), width.saturating_sub(2));
        if words.len() > MAX_REASON {
            words.truncate(MAX_REASON);
            if let Some(last) = words.last_mut() {
                *last = format!("{}…", line::cut(last, width.saturating_sub(4)));
            }
        }
        rows.extend(words.into_iter().map(|row| plain(format!(" {row}"), cx.style(Role::Text))));
    }
    rows.extend(checks(&proposal.checks, width, cx));
    rows.extend(story(view, width, cx));
    rows
}

/// What happened to it while it waited: the file changed, a question was asked.
fn story(view: &ProposalView, width: usize, cx: &Cx<'_>) -> Vec<Row> {
    let mut told: Vec<(String, Role)> = Vec::new();
    if let Some(undone) = view.proposal.facts.undoes {
        told.push((format!("takes back #{undone}"), Role::Warn));
    }
    if let Some(earlier) = view.earlier.last() {
        told.push((format!("restated: {}", sanitize::line(earlier.why.trim())), Role::Warn));
    }
    if let Some(asked) = view.inquiries.last() {
        told.push((format!("you asked: {}", sanitize::line(asked.text.trim())), Role::Dim));
        let answer = sanitize::line(asked.answer.trim()).into_owned();
        let agent = sanitize::line(asked.agent.as_str()).into_owned();
        told.push(match &asked.state {
            InquiryState::Open if answer.is_empty() => {
                (format!("{agent} is thinking…"), Role::Busy)
            }
            InquiryState::Answered if answer.is_empty() => {
                (format!("{agent} gave no answer; nothing was decided"), Role::Warn)
            }
            InquiryState::Open | InquiryState::Answered => {
                (format!("{agent}: {answer}"), Role::Text)
            }
            InquiryState::Failed(error) => {
                (format!("no answer: {}", sanitize::line(&error.to_string())), Role::Error)
            }
        });
    }
    let mut rows = Vec::new();
    for (text, role) in told {
        let mut words = wrap_words(&text, width.saturating_sub(2));
        if words.len() > MAX_REASON {
            words.truncate(MAX_REASON);
            if let Some(last) = words.last_mut() {
                let key = cx.key(Context::Review, Action::Details);
                let more = format!("… {key} shows all");
                let room = width.saturating_sub(3 + line::width(&more));
                *last = format!("{}{more}", line::cut(last, room));
            }
        }
        rows.extend(words.into_iter().map(|row| plain(format!(" {row}"), cx.style(role))));
    }
    rows
}

fn counts_line(view: &ProposalView, body: &Body, cx: &Cx<'_>) -> Line<'static> {
    let added = Span::styled(format!("+{}", body.added), cx.style(Role::FileNew));
    let removed = Span::styled(format!("−{}", body.removed), cx.style(Role::FileDelete));
    let hunks = match body.hunks.len() {
        1 => " · 1 hunk ".to_owned(),
        hunks => format!(" · {hunks} hunks "),
    };
    let hunks = Span::styled(hunks, cx.style(Role::Dim));
    let spans = match &view.proposal.change {
        Change::Save { base: None, .. } => {
            vec![Span::styled("new file  ", cx.style(Role::FileNew)), added, Span::raw(" ")]
        }
        Change::Delete { .. } => {
            let words = Span::styled("the whole file goes  ", cx.style(Role::FileDelete));
            vec![words, removed, Span::raw(" ")]
        }
        Change::Insert { .. } => {
            let words = Span::styled("insertion  ", cx.style(Role::FileEdit));
            vec![words, added, Span::raw(" "), removed, hunks]
        }
        Change::Save { .. } => vec![added, Span::raw(" "), removed, hunks],
        Change::Flash(plan) => {
            let (count, bytes) = (plan.images.len(), line::bytes(plan.total_bytes()));
            let images = if count == 1 { "image" } else { "images" };
            let mut text = format!("{count} {images} · {bytes} ");
            if view.decision.is_none() {
                let age = cx.clock.since(plan.built_at).as_millis();
                let age = line::millis(u64::try_from(age).unwrap_or(u64::MAX));
                text.push_str(&format!("· built {age} ago "));
            }
            vec![Span::styled(text, cx.style(Role::Dim))]
        }
        Change::Erase(plan) => {
            let bytes = plan.region.as_ref().map(|region| line::bytes(u64::from(region.bytes)));
            let text = bytes.unwrap_or_else(|| "the whole flash".to_owned());
            vec![Span::styled(format!("{text} is gone for good "), cx.style(Role::FileDelete))]
        }
        Change::Read(plan) => {
            let text = format!("{} into a new file ", line::bytes(plan.region.bytes.into()));
            vec![Span::styled(text, cx.style(Role::FileNew))]
        }
        Change::Nvs(plan) => {
            let (new, changed, gone) = plan.counts();
            [
                (new, "new", Role::FileNew),
                (changed, "changed", Role::Dim),
                (gone, "removed", Role::FileDelete),
            ]
            .into_iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, what, role)| Span::styled(format!("{count} {what} "), cx.style(role)))
            .collect()
        }
        Change::Send(plan) => {
            let text = format!("{} ", line::bytes(plan.text.len() as u64));
            vec![Span::styled(text, cx.style(Role::Dim))]
        }
    };
    Line::from(spans)
}

fn plain(text: String, style: Style) -> Row {
    Row { left: Line::styled(text, style), right: Line::default() }
}

/// A chip for each check, then the notes of those that did not pass.
fn checks(checks: &[Check], width: usize, cx: &Cx<'_>) -> Vec<Row> {
    let mut rows: Vec<Vec<Span<'static>>> = Vec::new();
    let mut used = width;
    for check in checks {
        let (mark, role) = look(check.level());
        let label = format!("{mark} {}", check.kind.label());
        let columns = line::width(&label) + 2;
        if used + columns > width {
            rows.push(vec![Span::raw(" ")]);
            used = 1;
        }
        used += columns;
        let text = if check.level().is_none() { Role::Dim } else { role };
        if let Some(row) = rows.last_mut() {
            row.push(Span::styled(mark, cx.style(role)));
            row.push(Span::styled(format!(" {}  ", check.kind.label()), cx.style(text)));
        }
    }
    let mut rows: Vec<Row> = rows
        .into_iter()
        .map(|spans| Row { left: Line::from(spans), right: Line::default() })
        .collect();
    for finding in checks.iter().flat_map(|check| &check.findings) {
        let (mark, role) = look(Some(finding.level));
        let place = finding.place.as_ref().map(|place| format!("line {}: ", place.line));
        let text = sanitize::line(finding.text.trim());
        let text = format!("{}{text}", place.unwrap_or_default());
        for (place, row) in wrap_words(&text, width.saturating_sub(4)).into_iter().enumerate() {
            let lead = if place == 0 { format!(" {mark} ") } else { "   ".to_owned() };
            rows.push(plain(format!("{lead}{row}"), cx.style(role)));
        }
    }
    rows
}

/// The mark of what was found, and its colour.
pub(super) const fn look(level: Option<FindingLevel>) -> (&'static str, Role) {
    match level {
        None => ("✓", Role::Ok),
        Some(FindingLevel::Note) => ("·", Role::Dim),
        Some(FindingLevel::Warning) => ("!", Role::Warn),
        Some(FindingLevel::Stop) => ("✗", Role::Error),
    }
}

/// What a check looks at, in a few words.
pub(super) const fn explains(kind: CheckKind) -> &'static str {
    match kind {
        CheckKind::Parses => "the text parses in the language of its name",
        CheckKind::Name => "the file's name does not clash with the framework",
        CheckKind::InProject => "the file is inside the project",
        CheckKind::BaseUnchanged => "the file on disk is still what the change is based on",
        CheckKind::InCmake => "the source is listed in a CMakeLists.txt",
        CheckKind::Text => "no control, invisible or bidirectional characters",
        CheckKind::BuildFresh => "the images come from the newest build, and it passed",
        CheckKind::BootUntouched => "bootloader and partition table stay as they are",
        CheckKind::Encoding => "the text is UTF-8, as the file was",
        CheckKind::LineEnds => "lines end as they did",
        CheckKind::Lookalikes => "no letter of another script poses as a Latin one",
        CheckKind::Size => "the change is about as large as it claims",
        CheckKind::Secrets => "no key or password is in the text",
        CheckKind::Unreferenced => "nothing else names the file that would go",
        CheckKind::Fits => "each image fits into its partition",
        CheckKind::Stored => "the contents of the change are in the session's store",
        CheckKind::Images => "each image is for this chip and belongs where it lands",
        CheckKind::Merged => "what changed on disk was merged without a conflict",
        CheckKind::Compiles => "the compiler takes the text, as the last build was configured",
        CheckKind::Irreversible => "nothing changes the chip for good",
        CheckKind::PartitionTable => "the partition table is sound, and stored data stays",
        CheckKind::HostCode => "nothing new runs on this machine or is downloaded",
        CheckKind::Origin => "the content is new and holds no packed data",
        CheckKind::Pins => "the GPIO numbers are free to use on this chip",
        CheckKind::Scope => "the file is among those that the task is about",
    }
}
