//! What a power cut leaves of a folder: names and bytes that were not brought to the disk are gone,
//! at even chances.
//!
//! Each folder goes back to a moment between its last sync and now; what it held then is put
//! together again from what is there and from what was kept when it was removed.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::Chance;

/// Names of one folder, with the inode behind each.
type Names = BTreeMap<String, u64>;

/// Names that change in one step; inode 0: nothing has the name any more.
type Step = Vec<(String, u64)>;

/// One folder since the power went last.
#[derive(Debug, Default)]
struct Folder {
    lasting: Names,
    steps: Vec<Step>,
}

/// What was lost.
#[derive(Debug, Default, Clone, Copy)]
pub struct Lost {
    /// Folders with names that went back.
    pub folders: u64,
    /// Files that were cut back.
    pub files: u64,
    /// Files with zeros in the place of what was not synced.
    pub zeros: u64,
}

/// What is known to be on the disk below a folder.
pub struct Disk {
    state: PathBuf,
    kept: PathBuf,
    notes: PathBuf,
    folders: BTreeMap<PathBuf, Folder>,
    /// How much of a file is on the disk, by inode.
    lengths: HashMap<u64, u64>,
}

impl Disk {
    /// Takes all that is below `state` for lasting. What is removed from now on is kept in `kept`,
    /// and what happens is told in the file `notes`.
    pub fn look(state: &Path, kept: &Path, notes: &Path) -> Self {
        let _ = fs::remove_dir_all(kept);
        fs::create_dir_all(kept).unwrap();
        let _ = fs::remove_file(notes);
        let mut disk = Self {
            state: state.to_owned(),
            kept: kept.to_owned(),
            notes: notes.to_owned(),
            folders: BTreeMap::new(),
            lengths: HashMap::new(),
        };
        disk.take(state);
        disk
    }

    fn take(&mut self, folder: &Path) {
        for (path, about) in entries(folder) {
            if about.is_dir() {
                self.take(&path);
            } else {
                self.lengths.insert(about.ino(), about.len());
            }
        }
        let folder_now = Folder { lasting: names(folder), steps: Vec::new() };
        self.folders.insert(folder.to_owned(), folder_now);
    }

    /// Lets the power go, and takes what is left for lasting.
    pub fn cut(&mut self, chance: &mut Chance) -> Lost {
        for line in fs::read_to_string(&self.notes).unwrap_or_default().lines() {
            self.note(line);
        }
        let mut lost = Lost::default();
        self.put_back(&self.state.clone(), chance, &mut lost);
        self.shorten(&self.state.clone(), chance, &mut lost);
        *self = Self::look(&self.state, &self.kept, &self.notes);
        lost
    }

    /// Reads one line of the notes; shim.c says what they are. The last may be torn.
    fn note(&mut self, line: &str) {
        let parts: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| parts.get(at).and_then(|text| text.parse::<u64>().ok());
        match (parts.first(), parts.get(1)) {
            (Some(&"names"), Some(folder)) => {
                let pairs = parts[2..].chunks_exact(2);
                let step =
                    pairs.filter_map(|pair| Some((pair[0].to_owned(), pair[1].parse().ok()?)));
                self.folders.entry(folder.into()).or_default().steps.push(step.collect());
            }
            (Some(&"folder"), Some(folder)) => {
                let folder = self.folders.entry(folder.into()).or_default();
                for step in std::mem::take(&mut folder.steps) {
                    apply(&step, &mut folder.lasting);
                }
            }
            (Some(&"synced"), _) => {
                if let (Some(inode), Some(length)) = (number(1), number(2)) {
                    self.lengths.insert(inode, length);
                }
            }
            (Some(&"cut"), _) => {
                if let (Some(inode), Some(length)) = (number(1), number(2)) {
                    let safe = self.lengths.entry(inode).or_default();
                    *safe = length.min(*safe);
                }
            }
            _ => {}
        }
    }

    /// Brings the names of a folder back to a moment by chance, and then those of the folders that
    /// it has left.
    fn put_back(&self, folder: &Path, chance: &mut Chance, lost: &mut Lost) {
        let nothing = Folder::default();
        let noted = self.folders.get(folder).unwrap_or(&nothing);
        let steps = noted.steps.len();
        let stay = match chance.below(4) {
            0 | 1 => steps,
            2 => 0,
            _ => chance.index(steps + 1),
        };
        if stay < steps {
            let mut wanted = noted.lasting.clone();
            noted.steps[..stay].iter().for_each(|step| apply(step, &mut wanted));
            lost.folders += u64::from(self.rename_to(folder, &wanted));
        }
        for (path, about) in entries(folder) {
            if about.is_dir() {
                self.put_back(&path, chance, lost);
            }
        }
    }

    /// Gives a folder these names; whether that changed anything.
    fn rename_to(&self, folder: &Path, wanted: &Names) -> bool {
        let now = names(folder);
        for (name, inode) in now.iter().filter(|(name, inode)| wanted.get(*name) != Some(inode)) {
            let (from, to) = (folder.join(name), self.kept.join(inode.to_string()));
            // Where both are one file already, a rename does nothing.
            if to.exists() {
                fs::remove_file(&from).unwrap();
            } else {
                fs::rename(&from, &to).unwrap();
            }
        }
        for (name, inode) in wanted.iter().filter(|(name, inode)| now.get(*name) != Some(inode)) {
            let (from, to) = (self.kept.join(inode.to_string()), folder.join(name));
            if from.is_dir() {
                fs::rename(&from, &to).unwrap();
            } else if from.exists() {
                fs::hard_link(&from, &to).unwrap();
            } else {
                // The program removes no folders; a file is always kept.
                println!("a power cut could not bring back {}", to.display());
            }
        }
        now != *wanted
    }

    /// Cuts every file back to a length between what its last sync saw and what it has, or leaves
    /// zeros there.
    fn shorten(&self, folder: &Path, chance: &mut Chance, lost: &mut Lost) {
        for (path, about) in entries(folder) {
            if about.is_dir() {
                self.shorten(&path, chance, lost);
                continue;
            }
            let safe = self.lengths.get(&about.ino()).copied().unwrap_or(0);
            // Where a disk forgets, it mostly forgets all.
            let stays = match chance.below(4) {
                0 => safe + chance.below(about.len().saturating_sub(safe) + 1),
                _ => safe,
            };
            if !about.is_file() || stays >= about.len() {
                continue;
            }
            let file = fs::File::options().write(true).open(&path).unwrap();
            if chance.below(4) == 0 {
                let length = usize::try_from(about.len() - stays).unwrap();
                file.write_all_at(&vec![0; length], stays).unwrap();
                lost.zeros += 1;
            } else {
                file.set_len(stays).unwrap();
                lost.files += 1;
            }
        }
    }
}

fn apply(step: &Step, names: &mut Names) {
    for (name, inode) in step {
        match inode {
            0 => names.remove(name),
            inode => names.insert(name.clone(), *inode),
        };
    }
}

fn entries(folder: &Path) -> Vec<(PathBuf, fs::Metadata)> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    found.map(|entry| (entry.path(), entry.metadata().unwrap())).collect()
}

fn names(folder: &Path) -> Names {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    entries(folder).iter().map(|(path, about)| (name(path), about.ino())).collect()
}
