//! Documents that come with a task, as the real program reads them.

use std::path::{Path, PathBuf};

use firmhand::model::{Event, TeamEvent};

use crate::place::Place;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pdf").join(name)
}

fn attach(place: &Place, file: &Path) -> std::process::Output {
    let (project, file) = (place.project(), file.to_str().unwrap());
    let project = project.to_str().unwrap();
    let task = "How do I read a register of an I2C device?";
    place.run(&[
        "run",
        task,
        "--team",
        "single",
        "--speed",
        "max",
        "--project",
        project,
        "--attach",
        file,
    ])
}

#[test]
fn a_pdf_becomes_a_source_with_numbered_pages() {
    let place = Place::new();
    let output = attach(&place, &data("spec.pdf"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let document = place.events().into_iter().find_map(|event| match event {
        Event::Team(TeamEvent::Attached(document)) => Some(document),
        _ => None,
    });
    let document = document.expect("a source");
    assert_eq!((document.name.as_str(), document.pages), ("spec.pdf", Some(3)));
    for words in ["[page 1 of 3]", "GPIO 4   Alarm", "[page 2 of 3]", "Über 28 °C", "[page 3 of 3]"]
    {
        assert!(document.text.contains(words), "no {words} in {}", document.text);
    }
}

#[test]
fn documents_that_cannot_be_read_are_refused_before_a_session_begins() {
    let place = Place::new();
    let broken = place.project().join("broken.pdf");
    std::fs::create_dir_all(place.project()).unwrap();
    std::fs::write(&broken, "no document").unwrap();
    for (file, why) in [
        (data("locked.pdf"), "it is locked with a password"),
        (data("scan.pdf"), "it may be scanned"),
        // One page of 4 GiB in 747 bytes.
        (data("bomb.pdf"), "the PDF reader stopped"),
        (broken, "too damaged"),
    ] {
        let output = attach(&place, &file);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains("Cannot attach") && errors.contains(why), "{errors}");
        assert!(errors.contains("fix: "), "{errors}");
    }
    let sessions = std::fs::read_dir(place.path("data/sessions"));
    assert!(sessions.map_or(true, |mut entries| entries.next().is_none()));
}
