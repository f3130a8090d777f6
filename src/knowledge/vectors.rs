//! The vectors of an index: one for each passage, made by an endpoint.
//!
//! Owns `vectors.bin` beside an index: a line of JSON, then for each passage its key, a factor, and
//! one byte for each dimension. It is replaced as a whole, so that a search reads a complete one.
//! Must not know how vectors are made.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::build::{VECTORS_FILE, VECTORS_LOCK, lock, write_whole};
use super::endpoint::Embedder;
use super::index::PassageIndex;
use crate::files;
use crate::model::UserError;

/// Texts that are sent at once.
const BATCH: usize = 32;
/// Batches after which what is there is stored, so that a break costs little.
const BATCHES_STORED: usize = 32;
/// Bytes of one text that are sent.
const MOST_BYTES: usize = 6_000;
/// Least similarity of a passage to a question.
const LEAST_SIMILARITY: f32 = 0.3;
/// Bytes of a key and a factor.
const ROW_HEAD: usize = 12;
/// Most dimensions of a vector.
const MOST_DIMENSIONS: usize = 16_384;

/// The first line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct VectorsHeader {
    model: String,
    dimensions: usize,
}

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VectorReport {
    /// Passages with a vector.
    pub vectors: usize,
    /// How many of them were made now.
    pub made: usize,
}

/// The vectors of one index, by the keys of passages.
#[derive(Debug, Default)]
struct Rows {
    head: Option<VectorsHeader>,
    /// Factor and bytes.
    rows: HashMap<u64, (f32, Vec<u8>)>,
}

/// A passage that is near to a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    pub key: u64,
    /// Cosine of the two vectors.
    pub similarity: f32,
}

/// Makes the vectors that an index lacks, and removes those of passages that are gone. Waits while
/// another program does.
///
/// # Errors
/// When the index cannot be read, the endpoint fails, or nothing can be written; what was made is kept.
pub fn build(
    folder: &Path,
    embedder: &dyn Embedder,
    progress: &dyn Fn(usize, usize),
) -> Result<VectorReport, UserError> {
    let what = "Cannot make the vectors of the documents";
    let read = |error: tantivy::TantivyError| {
        UserError::from_cause(what, &error).fix("Run `firmhand index check`.")
    };
    let write = |error: io::Error| {
        UserError::from_cause(what, &error).fix("Free some space, then run `firmhand index build`.")
    };
    let _lock = lock(folder, VECTORS_LOCK).map_err(write)?;
    let index = PassageIndex::open(folder).map_err(read)?;
    let keys = index.keys().map_err(read)?;
    let mut rows = Rows::read(folder, embedder.model()).unwrap_or_default();
    let wanted: HashSet<u64> = keys.iter().map(|(key, _)| *key).collect();
    let before = rows.rows.len();
    rows.rows.retain(|key, _| wanted.contains(key));
    let mut seen = HashSet::new();
    let missing: Vec<_> = keys
        .into_iter()
        .filter(|(key, _)| !rows.rows.contains_key(key) && seen.insert(*key))
        .collect();
    let mut made = 0;
    for (number, batch) in missing.chunks(BATCH).enumerate() {
        let texts: Result<Vec<String>, _> = batch
            .iter()
            .map(|(_, address)| index.passage(*address).map(|passage| passage.as_asked(MOST_BYTES)))
            .collect();
        let done = embedder.embed(&texts.map_err(read)?).and_then(|vectors| {
            rows.add(embedder.model(), batch.iter().map(|(key, _)| *key), &vectors)
        });
        if let Err(why) = done {
            rows.write(folder).map_err(write)?;
            let fix = "Check the profile that `search.embeddings` names, then run `firmhand index build`.";
            return Err(UserError::new(what, why, fix));
        }
        made += batch.len();
        progress(made, missing.len());
        if (number + 1) % BATCHES_STORED == 0 {
            rows.write(folder).map_err(write)?;
        }
    }
    if made > 0 || rows.rows.len() != before {
        rows.write(folder).map_err(write)?;
    }
    Ok(VectorReport { vectors: rows.rows.len(), made })
}

/// The passages of an index that are nearest to a question, the nearest first.
///
/// # Errors
/// Why there are none, in words.
pub fn nearest(
    folder: &Path,
    model: &str,
    question: &[f32],
    most: usize,
) -> Result<Vec<Near>, String> {
    let fix = "run `firmhand index build`";
    let (head, mut file) = open(folder).map_err(|_| format!("there are no vectors yet; {fix}"))?;
    if head.model != model {
        return Err(format!("the vectors are of {}, not of {model}; {fix}", head.model));
    }
    if head.dimensions != question.len() {
        let (here, there) = (head.dimensions, question.len());
        return Err(format!("the vectors have {here} dimensions, the question has {there}; {fix}"));
    }
    let (question, _) = unit(question).ok_or("the question has no vector")?;
    let mut found = Vec::new();
    let mut row = vec![0; ROW_HEAD + head.dimensions];
    while file.read_exact(&mut row).is_ok() {
        let (key, factor) = row_head(&row);
        let sum: f32 = row[ROW_HEAD..].iter().zip(&question).map(|(a, b)| signed(*a) * b).sum();
        let similarity = sum * factor;
        if similarity >= LEAST_SIMILARITY {
            found.push(Near { key, similarity });
        }
    }
    found.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.key.cmp(&b.key)));
    found.truncate(most);
    Ok(found)
}

fn open(folder: &Path) -> io::Result<(VectorsHeader, BufReader<File>)> {
    let mut file = BufReader::with_capacity(1 << 18, files::open(&folder.join(VECTORS_FILE))?);
    let mut line = String::new();
    (&mut file).take(4_096).read_line(&mut line)?;
    let head: VectorsHeader = serde_json::from_str(&line)?;
    if head.dimensions == 0 || head.dimensions > MOST_DIMENSIONS {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok((head, file))
}

fn row_head(row: &[u8]) -> (u64, f32) {
    let mut key = [0; 8];
    key.copy_from_slice(&row[..8]);
    let mut factor = [0; 4];
    factor.copy_from_slice(&row[8..ROW_HEAD]);
    (u64::from_le_bytes(key), f32::from_le_bytes(factor))
}

impl Rows {
    /// What is stored for that model; `None` when there is nothing of use.
    fn read(folder: &Path, model: &str) -> Option<Self> {
        let (head, mut file) = open(folder).ok().filter(|(head, _)| head.model == model)?;
        let mut rows = HashMap::new();
        let mut row = vec![0; ROW_HEAD + head.dimensions];
        while file.read_exact(&mut row).is_ok() {
            let (key, factor) = row_head(&row);
            rows.insert(key, (factor, row[ROW_HEAD..].to_vec()));
        }
        Some(Self { head: Some(head), rows })
    }

    fn add(
        &mut self,
        model: &str,
        keys: impl ExactSizeIterator<Item = u64>,
        vectors: &[Vec<f32>],
    ) -> Result<(), String> {
        if keys.len() != vectors.len() {
            return Err(format!("{} vectors came for {} texts", vectors.len(), keys.len()));
        }
        for (key, vector) in keys.zip(vectors) {
            let dimensions = vector.len();
            let head = self
                .head
                .get_or_insert_with(|| VectorsHeader { model: model.to_owned(), dimensions });
            if dimensions != head.dimensions || dimensions == 0 || dimensions > MOST_DIMENSIONS {
                return Err(format!(
                    "a vector has {dimensions} dimensions, not {}",
                    head.dimensions
                ));
            }
            let (values, factor) = unit(vector).ok_or("a vector is empty or not finite")?;
            let bytes = values.iter().map(|value| byte(value / factor)).collect();
            self.rows.insert(key, (factor, bytes));
        }
        Ok(())
    }

    fn write(&self, folder: &Path) -> io::Result<()> {
        let Some(head) = &self.head else { return Ok(()) };
        let mut all = serde_json::to_vec(head)?;
        all.push(b'\n');
        let mut keys: Vec<&u64> = self.rows.keys().collect();
        keys.sort_unstable();
        for key in keys {
            let (factor, bytes) = &self.rows[key];
            all.write_all(&key.to_le_bytes())?;
            all.write_all(&factor.to_le_bytes())?;
            all.write_all(bytes)?;
        }
        write_whole(folder, VECTORS_FILE, &all)
    }
}

/// The vector with length 1, and the factor by which a byte of it is multiplied.
fn unit(vector: &[f32]) -> Option<(Vec<f32>, f32)> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if !length.is_finite() || length <= 0.0 {
        return None;
    }
    let values: Vec<f32> = vector.iter().map(|value| value / length).collect();
    let most = values.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
    Some((values, most / 127.0))
}

/// A whole number from -127 to 127 as a byte.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is within bounds")]
fn byte(value: f32) -> u8 {
    value.round().clamp(-127.0, 127.0) as i8 as u8
}

fn signed(byte: u8) -> f32 {
    f32::from(i8::from_le_bytes([byte]))
}

#[cfg(test)]
#[path = "vectors_tests.rs"]
mod tests;
