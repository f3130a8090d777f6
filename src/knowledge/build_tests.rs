//! Tests of builds that fail: what they leave, and what is said.

use std::collections::BTreeSet;

use super::super::leftovers::{FAILED_FILE, failed_lately};
use super::*;

fn build_at(root: &Path, folder: &Path) -> Result<BuildReport, UserError> {
    let options = BuildOptions {
        window: WindowSize::default(),
        parts: &|_| Err("no".to_owned()),
        secrets: &Redactor::default(),
        progress: &|_, _| {},
    };
    build(folder, &Corpus::at(root), &options)
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

#[test]
fn a_first_build_that_fails_leaves_only_its_reason() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(root.path().join("a.txt"), "About giraffes.\n").unwrap();
    let in_the_way = index.path().join(format!("{FILES_FILE}.new"));
    fs::create_dir(&in_the_way).unwrap();
    // What cannot be removed is in the way of nothing else.
    let error = build_at(root.path(), index.path()).unwrap_err();
    assert!(error.why.contains("directory"), "{}", error.why);
    fs::remove_dir(&in_the_way).unwrap();
    assert_eq!(failed_lately(index.path()), Some(error.why));
    build_at(root.path(), index.path()).unwrap();
    assert_eq!(failed_lately(index.path()), None);
}

#[test]
fn files_of_a_build_that_failed_go_and_the_older_index_stays() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(root.path().join("a.txt"), "About giraffes.\n").unwrap();
    build_at(root.path(), index.path()).unwrap();
    let before = names(index.path());
    fs::write(index.path().join("0123.store"), "half").unwrap();
    tidy(index.path());
    assert_eq!(names(index.path()), before);
    assert!(!is_damaged(index.path()));
    assert_eq!(build_at(root.path(), index.path()).unwrap().read, 0);
    // Without a description there is no index that could be used.
    fs::remove_file(index.path().join(CORPUS_FILE)).unwrap();
    tidy(index.path());
    assert_eq!(names(index.path()), BTreeSet::from([LOCK_FILE.to_owned()]));
    assert!(!names(index.path()).contains(FAILED_FILE));
}
