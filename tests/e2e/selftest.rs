//! The harness itself, driven against small shell programs: it must see, and it must fail.

use std::panic::{AssertUnwindSafe, catch_unwind};

use portable_pty::CommandBuilder;
use rustix::process::Signal;

use crate::terminal::{Size, Terminal};

fn shell(script: &str, size: Size) -> Terminal {
    let mut command = CommandBuilder::new("sh");
    command.args(["-c", script]);
    Terminal::start(command, size)
}

#[test]
fn keys_reach_the_program_and_its_words_the_screen() {
    let mut terminal = shell("read line; echo \"got <$line>\"; exit 3", Size::SMALL);
    terminal.type_text("hello");
    terminal.press("space w o enter");
    assert_eq!(terminal.wait_for("got <.*>"), "got <hello wo>");
    assert_eq!(terminal.wait_exit().exit_code(), 3);
}

#[test]
fn size_and_change_of_size_reach_the_program() {
    let script =
        "stty size; trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done";
    let mut terminal = shell(script, Size::SMALL);
    terminal.wait_for("24 80\r?\n");
    terminal.wait_for("ready");
    terminal.resize(Size::LARGE);
    terminal.wait_for("60 200");
    terminal.wait_exit();
}

#[test]
fn paste_comes_in_brackets() {
    let script = "stty -icanon -echo; echo ready; dd bs=1 count=15 2>/dev/null | od -c";
    let mut terminal = shell(script, Size::SMALL);
    terminal.wait_for("ready");
    terminal.paste("aaa");
    terminal.wait_for(r"033\s+\[\s+2\s+0\s+0\s+~\s+a\s+a\s+a\s+033\s+\[\s+2");
}

#[test]
fn screen_modes_are_seen() {
    let mut terminal = shell(
        r"printf '\033[?1049h\033[?25lfull'; read x; printf '\033[?1049l\033[?25h'",
        Size::SMALL,
    );
    terminal.wait_for("full");
    assert!(terminal.look(|screen| screen.alternate_screen() && screen.hide_cursor()));
    terminal.press("enter");
    terminal.wait_exit();
    assert!(!terminal.look(|screen| screen.alternate_screen() || screen.hide_cursor()));
}

#[test]
fn a_question_to_the_terminal_is_answered() {
    let script = r"stty -icanon -echo; printf '\033[6n'; dd bs=1 count=6 2>/dev/null | od -c";
    shell(script, Size::SMALL).wait_for(r"033\s+\[\s+1\s+;\s+1\s+R");
}

#[test]
fn signals_arrive() {
    let mut terminal =
        shell("trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.05; done", Size::SMALL);
    terminal.wait_for("up");
    terminal.signal(Signal::TERM);
    terminal.wait_for("bye");
    assert_eq!(terminal.wait_exit().exit_code(), 7);
    let mut terminal = shell("echo up; exec sleep 100", Size::SMALL);
    terminal.wait_for("up");
    terminal.signal(Signal::KILL);
    assert!(!terminal.wait_exit().success());
}

#[test]
fn what_never_comes_fails_with_the_screen() {
    let mut terminal = shell("echo something else", Size::SMALL);
    let failed = catch_unwind(AssertUnwindSafe(|| terminal.wait_for("expected"))).unwrap_err();
    let words = failed.downcast_ref::<String>().unwrap();
    assert!(words.contains("/expected/") && words.contains("|something else"), "{words}");
}
