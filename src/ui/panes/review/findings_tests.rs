//! Tests of how findings stand above a change and on its lines.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::tests::pane;
use super::*;
use crate::model::ProposalEvent;
use crate::model::*;
use crate::ui::panes::pane_bench::PaneBench;
use crate::ui::role::Role;

/// Proposes to write `main/pump.c` with what these checks found.
fn propose(desk: &mut PaneBench, new: &str, checks: Vec<Check>, facts: Facts) {
    let change = Change::Save {
        path: ProjectPath::new("main/pump.c").unwrap(),
        base: Some(desk.store(b"int limit = 30;\n")),
        content: desk.store(new.as_bytes()),
    };
    desk.record(Event::Proposal(ProposalEvent::Made(Box::new(Proposal {
        id: ProposalId(1),
        turn: TurnId(1),
        call: CallId(1),
        agent: AgentName::from("CodeReviewerAgent"),
        tool: ToolName::from("generate_code"),
        reason: "raises the limit".into(),
        batch: Batch { id: BatchId(1), index: 1, of: 1 },
        change,
        checks,
        facts,
    }))));
}

fn scope(text: &str) -> Check {
    Check::of(CheckKind::Scope, FindingLevel::Note, text)
}

fn clean() -> Vec<Check> {
    let kinds = [CheckKind::Parses, CheckKind::Name, CheckKind::Text, CheckKind::Secrets];
    let mut checks: Vec<Check> = kinds.map(Check::clean).into();
    checks.push(scope("asked for by name"));
    checks
}

#[test]
fn a_clean_change_has_one_row_for_its_checks_and_the_rest_for_its_lines() {
    let mut desk = PaneBench::new();
    let text: String = (0..15).map(|nth| format!("int line_{nth};\n")).collect();
    let facts = Facts { consequence: "writes 1 file, limit 30 → 60".into(), ..Facts::default() };
    propose(&mut desk, &text, clean(), facts);
    let mut pane = pane(&desk);
    // The body of the pane on a screen of 80×24.
    let shown = desk.show(&mut pane, 80, 20);
    let lines = shown.lines().filter(|row| row.contains("int l")).count();
    assert_eq!(lines, 16, "{shown}");
    assert!(!shown.contains("unseen"), "{shown}");
    assert_eq!(shown.matches("✓ 5 checks").count(), 1, "{shown}");
    assert!(shown.starts_with("─ Review 1/1 · save main/pump.c · asked ─"), "{shown}");
    let rows: Vec<&str> = shown.trim_end().lines().collect();
    assert_eq!(rows[rows.len() - 2], " → writes 1 file, limit 30 → 60");
    assert!(rows[rows.len() - 1].contains("your decision"), "{shown}");
}

#[test]
fn a_stop_stands_in_the_title_first_among_the_findings_and_on_its_line() {
    let mut desk = PaneBench::new();
    let mut checks = clean();
    checks.push(Check::of(CheckKind::Size, FindingLevel::Warning, "rewrites most of the file"));
    let stop = Finding::new(FindingLevel::Stop, "contains a password")
        .at(FindingPlace::columns(2, 13, 8))
        .advice("Read it from NVS.");
    checks.push(Check::with(CheckKind::Secrets, vec![stop]));
    checks.push(Check::of(CheckKind::Origin, FindingLevel::Note, "copies main/old.c"));
    propose(&mut desk, "int limit = 30;\nchar *key = \"hunter22\";\n", checks, Facts::default());
    let mut pane = pane(&desk);
    let shown = desk.show(&mut pane, 80, 20);
    let rows: Vec<&str> = shown.lines().collect();
    assert!(rows[0].contains("asked · ✗ contains a password · line 2"), "{shown}");
    assert_eq!(rows[2], " ✗ contains a password · line 2");
    assert_eq!(rows[3], " ! rewrites most of the file");
    assert!(rows[4].ends_with("✓ 6 checks · 1 note · d details"), "{shown}");
    let marked = rows.iter().find(|row| row.contains("hunter22")).unwrap();
    assert!(marked.starts_with('✗'), "{shown}");
    // Of the line itself what was found stands out.
    let area = Rect::new(0, 0, 80, 20);
    let mut buf = Buffer::empty(area);
    let cx = desk.cx();
    pane.draw(area, &mut buf, &cx);
    let found = cx.style(Role::Match);
    let cells = area.rows().flat_map(|row| (0..80).map(move |x| (x, row.y)));
    let marked: String =
        cells.filter(|at| Some(buf[*at].bg) == found.bg).map(|at| buf[at].symbol()).collect();
    assert_eq!(marked, "\"hunter2");
    // A narrow pane keeps who asks and by what.
    let narrow = desk.show(&mut pane, 40, 16);
    assert!(narrow.contains(" CodeReviewerAgent via generate_code\n"), "{narrow}");
}

#[test]
fn the_key_that_passes_over_a_finding_says_that_unseen_lines_come_first() {
    let mut desk = PaneBench::new();
    let checks = vec![Check::of(CheckKind::Secrets, FindingLevel::Stop, "contains a password")];
    propose(&mut desk, &"int limit = 60;\n".repeat(90), checks, Facts::default());
    let mut pane = pane(&desk);
    let shown = desk.show(&mut pane, 80, 20);
    assert!(shown.contains("unseen first") && shown.contains(" X shows "), "{shown}");
    assert!(!shown.contains("approve although"), "{shown}");
    desk.wait(400);
    let [Effect::Notice(notice)] = &desk.press(&mut pane, Action::ApproveDespite)[..] else {
        panic!("the key says what it did")
    };
    assert!(notice.text.starts_with("not decided: X shows "), "{}", notice.text);
}

#[test]
fn a_file_that_nobody_asked_for_says_so_and_a_held_rule_says_why() {
    let mut desk = PaneBench::new();
    let stop = Check::of(CheckKind::Secrets, FindingLevel::Stop, "contains a password");
    let checks = vec![scope("not named in the task or the plan"), stop];
    let rule = "always save main/** (session rule 1)".to_owned();
    propose(&mut desk, "int a;\n", checks, Facts { held_rule: rule, ..Facts::default() });
    let mut pane = pane(&desk);
    let shown = desk.show(&mut pane, 90, 20);
    assert!(shown.contains("save main/pump.c · not asked"), "{shown}");
    let why = "rule \"always save main/**\" does not decide this: it contains a password";
    assert!(shown.contains(why), "{shown}");
}

#[test]
fn a_wide_screen_shows_two_columns_until_the_person_wants_one() {
    let mut desk = PaneBench::new();
    propose(&mut desk, "int limit = 60;\n", clean(), Facts::default());
    let mut pane = pane(&desk);
    let is_side_by_side = |pane: &mut ReviewPane| desk.show(pane, 100, 20).contains('│');
    assert!(!is_side_by_side(&mut pane));
    pane.set_screen_width(160);
    assert!(is_side_by_side(&mut pane));
    desk.press(&mut pane, Action::ToggleSideBySide);
    assert!(!is_side_by_side(&mut pane));
    pane.set_screen_width(159);
    desk.press(&mut pane, Action::ToggleSideBySide);
    assert!(is_side_by_side(&mut pane));
}
