//! Nothing is written outside of the project.

use super::*;

#[tokio::test]
async fn nothing_is_written_through_a_symbolic_link() {
    let world = GateBench::asking();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("a.c"), "outside").unwrap();
    world.write("inside/a.c", "inside");
    symlink(outside.path(), world.path("out")).unwrap();
    symlink(outside.path().join("a.c"), world.path("file.c")).unwrap();
    symlink("inside", world.path("in")).unwrap();
    let before = world.everything();
    let drafts = [
        save("out/b.c", None, "x"),
        save("out/a.c", Some("outside"), "x"),
        save("file.c", Some("outside"), "x"),
        delete("file.c", "outside"),
        save("in/a.c", Some("inside"), "x"),
        save("in/deep/b.c", None, "x"),
    ];
    for draft in drafts {
        let outcome = world.approved_one(draft).await;
        let Outcome::Failed(error) = outcome else { panic!("{outcome:?}") };
        assert!(error.why.contains("symbolic link"), "{error}");
        let checks = world.proposals().pop().unwrap().checks;
        let inside = checks.iter().find(|check| check.kind == CheckKind::InProject).unwrap();
        assert_eq!(inside.level(), Some(FindingLevel::Stop));
    }
    assert_eq!(world.everything(), before);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(outside.path().join("a.c")).unwrap(), "outside");
}

#[tokio::test]
async fn folders_of_the_version_control_are_out_of_reach() {
    let world = GateBench::asking();
    for file in [".git/hooks/pre-commit", "sub/.GIT/config", ".firmhand/config.toml"] {
        let outcome = world.approved_one(save(file, None, "x")).await;
        assert!(matches!(outcome, Outcome::Failed(_)), "{file}");
        assert_eq!(world.read(file), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_path_is_taken_ends_inside(text in "[a-c./~]{1,16}") {
        let Ok(file) = ProjectPath::new(&text) else { return Ok(()) };
        // A name that another system takes for a different one is never saved unasked.
        if file.as_str().split('/').any(|part| part.ends_with('.')) {
            return Ok(());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let outer = tempfile::tempdir().unwrap();
        let project = outer.path().join("project");
        fs::create_dir(&project).unwrap();
        let world = GateBench::ruled(Ruling::Allow);
        let gate = gate(
            &project, &world.ledger, &world.bench, world.gate.parts.policy.as_ref().clone(),
            &world.desk,
        );
        let drafts = vec![save(file.as_str(), None, "int x;")];
        let settled = runtime.block_on(async {
            tokio::time::timeout(Duration::from_secs(60), gate.submit(&origin(), drafts)).await
        });
        prop_assert_eq!(outcomes(settled.unwrap()), [Outcome::Applied]);
        prop_assert_eq!(fs::read(project.join(file.as_str())).unwrap(), b"int x;");
        prop_assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 1);
    }
}
