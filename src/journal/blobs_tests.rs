//! Tests of the content store: what comes back, what is missed, and what survives damage.

use proptest::prelude::*;

use super::*;

struct BlobFolder {
    folder: tempfile::TempDir,
}

impl BlobFolder {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("blobs.pack")
    }

    /// As a program that was started anew sees it.
    fn store(&self) -> Blobs {
        Blobs::new(self.path())
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.path()).unwrap()
    }

    fn set(&self, bytes: &[u8]) {
        fs::write(self.path(), bytes).unwrap();
    }
}

fn why(error: JournalError) -> String {
    UserError::from(error).why
}

#[test]
fn content_reads_back_is_kept_once_and_damage_is_noticed_and_mended() {
    let place = BlobFolder::new();
    let blobs = place.store();
    let nothing = blobs.load(&ContentHash::of(b"other")).unwrap_err();
    assert!(why(nothing).contains("missing"));
    let stored = blobs.store(b"int main;").unwrap();
    assert_eq!(&*blobs.load(&stored.hash).unwrap(), b"int main;");
    let empty = blobs.store(b"").unwrap();
    assert_eq!((stored.bytes, empty.bytes), (9, 0));
    let bytes = place.bytes();
    for again in [&blobs, &place.store()] {
        assert_eq!(again.store(b"int main;").unwrap(), stored);
        assert_eq!(&*again.load(&stored.hash).unwrap(), b"int main;");
        assert_eq!(&*again.load(&empty.hash).unwrap(), b"");
    }
    assert_eq!(place.bytes(), bytes, "content was written twice");

    place.set(&String::from_utf8(bytes).unwrap().replace("main", "mian").into_bytes());
    assert!(why(blobs.load(&stored.hash).unwrap_err()).contains("damaged"));
    blobs.store(b"int main;").unwrap();
    for now in [&blobs, &place.store()] {
        assert_eq!(&*now.load(&stored.hash).unwrap(), b"int main;");
    }
}

#[test]
fn a_reader_sees_what_is_written_meanwhile_once_it_is_whole() {
    let place = BlobFolder::new();
    let (writer, reader) = (place.store(), place.store());
    let first = writer.store(b"first").unwrap();
    assert_eq!(&*reader.load(&first.hash).unwrap(), b"first");
    // Its content holds an entry of its own, as a file about this very form would.
    let inner = format!("\n{}inner\n", pack::header(&ContentHash::of(b"inner"), 5));
    let second = writer.store(inner.as_bytes()).unwrap();
    let whole = place.bytes();
    for cut in (whole.len() - inner.len() - 80)..whole.len() - 1 {
        place.set(&whole[..cut]);
        let error = reader.load(&second.hash).unwrap_err();
        assert!(why(error).contains("missing"), "cut at {cut}");
    }
    place.set(&whole);
    assert_eq!(&*reader.load(&second.hash).unwrap(), inner.as_bytes());
    assert_eq!(&*reader.load(&first.hash).unwrap(), b"first");
}

#[test]
fn a_program_that_was_killed_leaves_a_torn_entry_and_the_next_one_goes_on_behind_it() {
    let place = BlobFolder::new();
    let before = place.store();
    let (kept, torn) = (before.store(b"kept").unwrap(), before.store(b"torn content").unwrap());
    let whole = place.bytes();
    for lost in 1..=80 {
        place.set(&whole[..whole.len() - lost]);
        let after = place.store();
        let new = after.store(b"new").unwrap();
        let newer = after.store(b"newer").unwrap();
        for blobs in [after, place.store()] {
            assert_eq!(&*blobs.load(&kept.hash).unwrap(), b"kept", "{lost} lost");
            assert_eq!(&*blobs.load(&new.hash).unwrap(), b"new", "{lost} lost");
            assert_eq!(&*blobs.load(&newer.hash).unwrap(), b"newer", "{lost} lost");
            // Of the last byte only the end of the entry is lost, and the next one makes good for it.
            let is_whole = blobs.load(&torn.hash).is_ok_and(|torn| &*torn == b"torn content");
            assert_eq!(is_whole, lost == 1, "{lost} lost");
        }
        assert_eq!(&*place.store().load(&kept.hash).unwrap(), b"kept");
    }
}

#[test]
fn what_cannot_be_written_leaves_nothing_and_is_told() {
    let place = BlobFolder::new();
    fs::create_dir(place.path()).unwrap();
    let error = UserError::from(place.store().store(b"x").unwrap_err());
    assert!(error.what.contains("keep a file's content") && !error.why.is_empty(), "{error:?}");
}

/// Contents that look like entries, and any other bytes.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let entry = |inner: Vec<u8>| {
        let header = pack::header(&ContentHash::of(&inner), inner.len());
        [b"\n", header.as_bytes(), &inner, b"\n"].concat()
    };
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(entry),
        "(\nblob |[0-9a-f]{64}|\n){0,4}".prop_map(String::into_bytes),
    ]
}

proptest! {
    #[test]
    fn damage_costs_the_contents_it_hits_and_no_other(
        contents in prop::collection::vec(content(), 1..8),
        hit in any::<prop::sample::Index>(),
        junk in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let place = BlobFolder::new();
        let blobs = place.store();
        let mut spans = Vec::new();
        for content in &contents {
            let from = place.path().metadata().map_or(0, |data| data.len() as usize);
            let stored = blobs.store(content).unwrap();
            spans.push((stored.hash, from, place.bytes().len()));
        }
        let mut bytes = place.bytes();
        let at = hit.index(bytes.len());
        let to = bytes.len().min(at + junk.len());
        bytes[at..to].copy_from_slice(&junk[..to - at]);
        place.set(&bytes);
        let later = place.store();
        let added = later.store(b"added afterwards").unwrap();
        for reader in [&later, &place.store()] {
            prop_assert_eq!(&*reader.load(&added.hash).unwrap(), b"added afterwards");
            for ((hash, from, end), content) in spans.iter().zip(&contents) {
                // A content that was there already has its span elsewhere.
                let is_hit = spans.iter().any(|(other, from, end)| {
                    other == hash && *from < to && at < *end && from < end
                });
                match reader.load(hash) {
                    Ok(read) => prop_assert_eq!(&*read, content.as_slice()),
                    Err(_) => prop_assert!(is_hit, "{}..{} hit at {}..{}", from, end, at, to),
                }
            }
        }
        // Storing them again mends everything.
        for content in &contents {
            later.store(content).unwrap();
        }
        for content in &contents {
            let hash = ContentHash::of(content);
            prop_assert_eq!(&*place.store().load(&hash).unwrap(), content.as_slice());
        }
    }
}

#[test]
fn what_an_older_session_kept_in_files_of_their_own_is_found() {
    let place = BlobFolder::new();
    let hash = ContentHash::of(b"old");
    let folder = place.folder.path().join("blobs").join(&hash.to_string()[..2]);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(hash.to_string()), "old").unwrap();
    assert_eq!(&*place.store().load(&hash).unwrap(), b"old");
    // Beside what is kept now.
    let new = place.store().store(b"new").unwrap();
    assert_eq!(&*place.store().load(&hash).unwrap(), b"old");
    assert_eq!(&*place.store().load(&new.hash).unwrap(), b"new");
    fs::write(folder.join(hash.to_string()), "odl").unwrap();
    assert!(why(place.store().load(&hash).unwrap_err()).contains("damaged"));
}
