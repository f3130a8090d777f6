//! Tests of what steps wait for: reading it, changing the plan, and what is wrong with the order.

use super::*;

fn steps(numbers: &[usize]) -> After {
    After::Steps(numbers.to_vec())
}

#[test]
fn only_words_in_brackets_say_what_a_step_waits_for() {
    for (task, after) in [
        ("The list in list.py (after 1)", steps(&[1])),
        ("The list (After: 1, 3).", steps(&[1, 3])),
        ("The list [after step 2 and step 4] in list.py", steps(&[2, 4])),
        ("The list (after steps 1,2, and 3)", steps(&[1, 2, 3])),
        ("The list (after nothing)", steps(&[])),
        ("The list (after none)", steps(&[])),
        ("It blinks (after 1 second)", After::AllBefore),
        ("It blinks after 1", After::AllBefore),
        ("It blinks (after the store is open)", After::AllBefore),
        ("The list (after 1) (after 2)", steps(&[2])),
        ("The list (after 3?, 1)", steps(&[1])),
        ("", After::AllBefore),
    ] {
        assert_eq!(read(task), after, "{task}");
    }
    assert_eq!(steps(&[1, 3, 0]).places(2).collect::<Vec<_>>(), [0], "none waits for itself");
    assert_eq!(After::AllBefore.places(2).collect::<Vec<_>>(), [0, 1]);
}

fn changed(tasks: &[&str], change: impl Fn(&mut [&mut String])) -> Vec<String> {
    let mut tasks: Vec<String> = tasks.iter().map(|task| (*task).to_owned()).collect();
    change(&mut tasks.iter_mut().collect::<Vec<_>>());
    tasks
}

#[test]
fn the_numbers_of_the_planner_become_those_of_the_places() {
    let plan = ["A", "B (after 1)", "C (after step 5, and 3)"];
    let place =
        |written: &'static [usize]| move |tasks: &mut [&mut String]| by_place(tasks, written);
    assert_eq!(changed(&plan, place(&[1, 5, 7])), ["A", "B (after 1)", "C (after 2, 3?)"]);
    let from_zero = ["A (after nothing)", "B (after 0)", "C (after 1)"];
    let wanted = ["A (after nothing)", "B (after 1)", "C (after 2)"];
    assert_eq!(changed(&from_zero, place(&[0, 1, 2])), wanted);
    assert_eq!(changed(&plan, place(&[1, 1, 1])), plan, "numbered by place");
    let usual = ["A", "B (after step 1)", "C (after 1 and 2)"];
    assert_eq!(changed(&usual, place(&[1, 2, 3])), usual, "as it was written");
}

#[test]
fn numbers_follow_steps_that_are_removed_added_and_moved() {
    let gone = ["A (after nothing)", "B (after 2)", "C (after 3)"];
    let wanted = ["A (after nothing)", "B (after 1)", "C (after 2)"];
    let out = |place, gone| move |tasks: &mut [&mut String]| removed(tasks, place, gone);
    assert_eq!(changed(&gone, out(0, "X (after nothing)")), wanted);
    let plan = ["A", "C (after 2)", "D (after 1, 3)"];
    let wanted = ["A", "C (after 1)", "D (after 1, 2)"];
    assert_eq!(changed(&plan, out(1, "B (after 1)")), wanted, "it waits for what B waited for");
    assert_eq!(changed(&["A (after 2)"], out(1, "B (after nothing)")), ["A (after nothing)"]);

    let more = ["A", "new (after 1)", "B (after 1)", "C (after 2)", "D (after 9)"];
    let wanted = ["A", "new (after 1)", "B (after 1)", "C (after 3)", "D (after 9?)"];
    assert_eq!(changed(&more, |tasks| added(tasks, 1)), wanted);

    let moved = ["A (after nothing)", "X (after nothing)", "B (after 2)", "C (after 3)"];
    let wanted = ["A (after nothing)", "X (after nothing)", "B (after 1)", "C (after 3)"];
    assert_eq!(changed(&moved, |tasks| swapped(tasks, 0, 1)), wanted);
}

#[test]
fn circles_and_numbers_without_a_step_are_reported() {
    assert_eq!(
        faults(&["A (after 2)", "B (after 1)", "C (after 3)"]),
        ["Step 3 waits for itself.", "Steps 1 and 2 wait for each other."]
    );
    assert_eq!(
        faults(&["A (after 9)", "B (after nothing)", "C (after 1?)", "D (after 0)"]),
        [
            "Step 1 waits for step 9, which is not in the plan.",
            "Step 3 waits for step 1, which is not in the plan.",
            "Step 4 waits for step 0, which is not in the plan.",
        ]
    );
    assert_eq!(
        faults(&["A (after 3)", "B (after 1)", "C"]),
        ["Steps 1, 2 and 3 wait for each other."]
    );
    assert!(faults(&["A", "B (after 1)", "C (after nothing)", "D"]).is_empty());
    let long: Vec<String> = (0..200).map(|number| format!("step {number}")).collect();
    assert!(faults(&long.iter().map(String::as_str).collect::<Vec<_>>()).is_empty());
}
