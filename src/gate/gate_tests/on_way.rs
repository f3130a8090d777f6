//! What happens while a decision is on its way to the disk.

use super::world::{Entries, everything};
use super::*;

/// What the project looked like when the decision was not yet on the disk.
fn looked_at_meanwhile(world: &GateBench) -> Arc<Mutex<Vec<Entries>>> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (folder, keep) = (world.folder.path().to_owned(), Arc::clone(&seen));
    let look = move || keep.lock().unwrap().push(everything(&folder));
    *world.ledger.on_way.lock().unwrap() = Some(Box::new(look));
    seen
}

/// The entries that a content laid ready adds to what was there.
fn added(before: &Entries, now: &Entries) -> Vec<(String, Vec<u8>)> {
    assert!(before.iter().all(|entry| now.contains(entry)), "{before:?} {now:?}");
    let new = now.iter().filter(|entry| !before.contains(entry));
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    new.map(|(path, content)| (name(path), content.clone().unwrap())).collect()
}

#[tokio::test]
async fn a_content_lies_ready_and_the_project_is_as_it_was() {
    let world = GateBench::asking();
    world.write("main/a.c", "old");
    let before = world.everything();
    let seen = looked_at_meanwhile(&world);
    for (file, base) in [("main/a.c", Some("old")), ("main/b.c", None)] {
        assert_eq!(world.approved_one(save(file, base, "new")).await, Outcome::Applied);
        assert_eq!(world.read(file).as_deref(), Some("new"));
        world.write("main/a.c", "old");
    }
    let seen = seen.lock().unwrap();
    let ready =
        |id| (format!(".firmhand-{id}-{}.tmp", ContentHash::of(b"new").short()), b"new".to_vec());
    assert_eq!(added(&before, &seen[0]), [ready(1)]);
    assert_eq!(added(&before, &seen[1]), [ready(2)]);
}

#[tokio::test]
async fn nothing_lies_ready_for_what_was_rejected_or_is_stale_or_has_no_folder() {
    let world = GateBench::asking();
    world.write("main/a.c", "old");
    let before = world.everything();
    let seen = looked_at_meanwhile(&world);
    let task = world.submit(vec![save("main/a.c", Some("old"), "new")]);
    world.on_desk(1).await;
    world.decide(1, reject("no"));
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied]);
    assert_eq!(seen.lock().unwrap().len(), 0, "a rejection takes the plain way");
    assert_eq!(world.approved_one(save("new/deep/a.c", None, "new")).await, Outcome::Applied);
    assert_eq!(seen.lock().unwrap().pop(), Some(before));
}

#[tokio::test]
async fn what_a_lost_approval_left_goes_with_the_next_decision_whatever_it_is() {
    let world = GateBench::asking();
    world.write("main/a.c", "old");
    let before = world.everything();
    // Before a power cut, the same proposal had the same number, and its approval was on its way.
    world.write(&format!("main/.firmhand-1-{}.tmp", ContentHash::of(b"new").short()), "new");
    let task = world.submit(vec![save("main/a.c", Some("old"), "new")]);
    world.on_desk(1).await;
    world.decide(1, reject("no"));
    assert_eq!(outcomes(task.await.unwrap()), [Outcome::Denied]);
    assert_eq!(world.everything(), before);
}

#[tokio::test]
async fn a_decision_that_does_not_get_to_the_disk_leaves_nothing_behind() {
    let world = GateBench::asking();
    world.write("a.c", "old");
    let before = world.everything();
    let seen = looked_at_meanwhile(&world);
    let drafts = vec![save("a.c", Some("old"), "new"), save("b/c.c", None, "new")];
    let task = world.submit(drafts);
    world.on_desk(2).await;
    *world.ledger.broken_at.lock().unwrap() = Some(world.events().len());
    world.decide(1, Verdict::Approve);
    assert!(matches!(task.await.unwrap(), Err(GateError::Record(_))));
    assert_eq!(seen.lock().unwrap()[0].len(), before.len() + 1);
    assert_eq!(world.everything(), before);
}

#[tokio::test]
async fn what_somebody_saves_meanwhile_stays() {
    let world = GateBench::asking();
    world.write("a.c", "old");
    let file = world.path("a.c");
    *world.ledger.on_way.lock().unwrap() =
        Some(Box::new(move || fs::write(&file, "mine").unwrap()));
    let outcome = world.approved_one(save("a.c", Some("old"), "new")).await;
    assert_eq!(outcome, Outcome::Stale { found: Some(ContentHash::of(b"mine")) });
    assert_eq!(world.read("a.c").as_deref(), Some("mine"));
    assert_eq!(fs::read_dir(world.folder.path()).unwrap().count(), 1);
}
