//! The stored index of one corpus: its fields, opening it, adding to it.
//!
//! Owns what an index holds. The files are Tantivy's; two programs and a kill are its business, and
//! whatever it cannot read is reported, so that it is built again. Must not know how it ranks.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use tantivy::collector::Count;
use tantivy::merge_policy::NoMergePolicy;
use tantivy::query::{FuzzyTermQuery, TermQuery};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, STORED, STRING, Schema,
    TextFieldIndexing, TextOptions, Value,
};
use tantivy::{
    DocAddress, DocId, DocSet, Index, IndexSettings, IndexWriter, ReloadPolicy, Searcher,
    SegmentMeta, SegmentOrdinal, SegmentReader, TERMINATED, TantivyDocument, Term,
};

use super::chips::ChipSet;
use super::folder::{IndexFolder, WriteFaults};
use super::passage::{Passage, PassageKind};
use super::words::Splitter;
use crate::text::contain::contained;

/// Changes whenever older indexes can no longer be used.
pub const FORMAT: u32 = 11;

/// Fields that are searched, by weight: what is declared, the title, the headings, the text.
pub const SEARCHED: usize = 4;
/// The place of what is declared among them.
pub const SYMBOLS: usize = 0;
/// The place of the text; what stands before it are heads.
pub const TEXT: usize = SEARCHED - 1;

/// Memory of each thread that builds, in bytes; the least that the library takes is 15 MB.
const THREAD_BYTES: usize = 20_000_000;

/// One of so many passages may have changed before the whole index is written anew.
const MOST_CHANGED: u32 = 8;

/// Above this the number of a file is none: an index is damaged that holds it.
const MOST_FILES: u32 = 4_000_000;

/// The fields of an index.
#[derive(Debug, Clone)]
pub struct Fields {
    /// Symbols, title, headings, text.
    pub searched: [Field; SEARCHED],
    /// Pieces of the words of a topic.
    pub pieces: Field,
    /// Every name of the framework, as it is written.
    pub names: Field,
    path: Field,
    stored: Field,
}

/// Before the path of a header among the names.
pub const HEADER: &str = "header:";
/// Before a component among the names.
pub const COMPONENT: &str = "component:";
/// Before a library that is not there among the names.
pub const MISSING: &str = "missing:";

/// Name of the column with kind, marks and chips.
const FACTS: &str = "facts";
/// Name of the column with the number of the file.
const FILE: &str = "file";
/// Name of the column with the key of the text, which its vector has too.
const KEY: &str = "key";

/// An index that can be searched.
pub struct PassageIndex {
    index: Index,
    pub fields: Fields,
    pub searcher: Searcher,
    columns: Vec<OnceLock<Columns>>,
    faults: WriteFaults,
}

/// Facts and files of the passages of one segment: a search needs them of thousands.
#[derive(Debug)]
pub struct Columns {
    facts: Vec<u64>,
    files: Vec<u32>,
    most_files: usize,
}

impl Columns {
    fn of(segment: &SegmentReader) -> tantivy::Result<Self> {
        let columns = segment.fast_fields();
        let (facts, files) = (columns.u64(FACTS)?, columns.u64(FILE)?);
        let all = 0..segment.max_doc();
        let fact = |doc| match facts.first(doc) {
            Some(number) if !segment.is_deleted(doc) => number,
            Some(_) | None => NAMES_ONLY,
        };
        let known = |file: &u32| *file < MOST_FILES;
        let file = |doc| files.first(doc).and_then(|file| u32::try_from(file).ok()).filter(known);
        let files: Vec<u32> = all.clone().map(|doc| file(doc).unwrap_or(0)).collect();
        let most_files = files.iter().max().map_or(0, |most| *most as usize + 1);
        Ok(Self { facts: all.map(fact).collect(), files, most_files })
    }

    /// Kind, marks and chips of a passage; `None` for what has names only or was taken out.
    #[must_use]
    pub fn facts(&self, doc: DocId) -> Option<PassageFacts> {
        PassageFacts::unpack(self.facts[doc as usize])
    }

    /// The number of the file of a passage.
    #[must_use]
    pub fn file(&self, doc: DocId) -> usize {
        self.files[doc as usize] as usize
    }
}

/// Kind, marks and chips of a passage, as one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassageFacts {
    pub kind: PassageKind,
    /// It tells how to move from one version to the next, or declares what only old code uses.
    pub is_migration: bool,
    pub chips: ChipSet,
}

/// The number of what has names only.
const NAMES_ONLY: u64 = 15;

impl PassageFacts {
    /// Of a passage.
    #[must_use]
    pub fn of(passage: &Passage) -> Self {
        let is_migration =
            ["migration-guides", "/deprecated/"].iter().any(|part| passage.path.contains(part));
        Self { kind: passage.kind, is_migration, chips: passage.chips }
    }

    fn pack(self) -> u64 {
        self.kind.number() | u64::from(self.is_migration) << 4 | u64::from(self.chips.bits()) << 8
    }

    /// From the column; `None` for what has names only.
    #[must_use]
    pub fn unpack(number: u64) -> Option<Self> {
        let kind = number & 15;
        let bits = u32::try_from(number >> 8).unwrap_or(u32::MAX);
        (kind != NAMES_ONLY).then(|| Self {
            kind: PassageKind::from_number(kind),
            is_migration: number & 16 != 0,
            chips: ChipSet::from_bits(bits),
        })
    }
}

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let words = |norms: bool| {
        let how = TextFieldIndexing::default()
            .set_tokenizer("whitespace")
            .set_fieldnorms(norms)
            .set_index_option(if norms {
                IndexRecordOption::WithFreqs
            } else {
                IndexRecordOption::Basic
            });
        TextOptions::default().set_indexing_options(how)
    };
    let searched = ["symbols", "title", "headings", "text"];
    let searched = searched.map(|name| schema.add_text_field(name, words(true)));
    let pieces = schema.add_text_field("pieces", words(true));
    let names = schema.add_text_field("names", words(false));
    let path = schema.add_text_field("path", STRING);
    let stored = schema.add_text_field("stored", STORED);
    schema.add_u64_field(FACTS, NumericOptions::from(FAST));
    schema.add_u64_field(FILE, NumericOptions::from(FAST) | INDEXED);
    schema.add_u64_field(KEY, NumericOptions::from(FAST) | INDEXED);
    (schema.build(), Fields { searched, pieces, names, path, stored })
}

/// Opens an index; its library panics on some files that are damaged.
fn whole<T>(open: impl FnOnce() -> tantivy::Result<T>) -> tantivy::Result<T> {
    let damaged = || tantivy::TantivyError::InternalError("a file of it is damaged".to_owned());
    contained(open).unwrap_or_else(|| Err(damaged()))
}

impl PassageIndex {
    /// Opens the index in a folder.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn open(folder: &Path) -> tantivy::Result<Self> {
        let folder = IndexFolder::open(folder)?;
        let faults = folder.faults();
        whole(|| Self::of(Index::open(folder)?, faults))
    }

    /// Opens the index in a folder, or makes an empty one.
    ///
    /// # Errors
    /// When it cannot be written, or what is there cannot be read.
    pub fn open_or_create(folder: &Path) -> tantivy::Result<Self> {
        let folder = IndexFolder::open(folder)?;
        let faults = folder.faults();
        whole(|| Self::of(Index::open_or_create(folder, schema().0)?, faults))
    }

    /// An empty index in memory.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn in_memory() -> tantivy::Result<Self> {
        Self::of(
            Index::builder()
                .schema(schema().0)
                .settings(IndexSettings::default())
                .create_in_ram()?,
            WriteFaults::default(),
        )
    }

    fn of(index: Index, faults: WriteFaults) -> tantivy::Result<Self> {
        let (known, fields) = schema();
        if index.schema() != known {
            return Err(tantivy::TantivyError::SchemaError("it is of another version".to_owned()));
        }
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let searcher = reader.searcher();
        let columns = searcher.segment_readers().iter().map(|_| OnceLock::new()).collect();
        Ok(Self { index, fields, searcher, columns, faults })
    }

    /// What went wrong first at writing, in words.
    #[must_use]
    pub fn write_fault(&self) -> Option<String> {
        self.faults.first()
    }

    /// What stands before the first dot in the names of the files that its newest complete state is
    /// made of.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn file_stems(&self) -> tantivy::Result<BTreeSet<String>> {
        let segments = self.index.searchable_segment_metas()?;
        let of_segments = segments.iter().map(|segment| segment.id().uuid_string());
        // The description of the whole, and the files of the library that begin with a dot.
        Ok(of_segments.chain(["meta", ""].map(str::to_owned)).collect())
    }

    /// Facts and files of a segment's passages.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn columns(&self, segment: SegmentOrdinal) -> tantivy::Result<&Columns> {
        let held = &self.columns[segment as usize];
        if let Some(columns) = held.get() {
            return Ok(columns);
        }
        let columns = Columns::of(self.searcher.segment_reader(segment))?;
        Ok(held.get_or_init(|| columns))
    }

    /// The highest number of a file, and one more.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn most_files(&self) -> tantivy::Result<usize> {
        let mut most = 0;
        for (ordinal, _) in (0..).zip(&self.columns) {
            most = most.max(self.columns(ordinal)?.most_files);
        }
        Ok(most)
    }

    /// Looks at what was committed since it was opened.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn renew(&mut self) -> tantivy::Result<()> {
        *self = Self::of(self.index.clone(), self.faults.clone())?;
        Ok(())
    }

    /// A number that grows with each change that was completed.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn stamp(&self) -> tantivy::Result<u64> {
        Ok(self.index.load_metas()?.opstamp)
    }

    /// Files whose checksum does not fit.
    ///
    /// # Errors
    /// When they cannot be read at all.
    pub fn damaged(&self) -> tantivy::Result<usize> {
        Ok(self.index.validate_checksum()?.len())
    }

    /// Begins to change it; only one program at a time may.
    ///
    /// # Errors
    /// When another program does, or nothing can be written.
    pub fn change(&self, threads: usize) -> tantivy::Result<IndexChange<'_>> {
        let writer = self.index.writer_with_num_threads(threads, threads * THREAD_BYTES)?;
        // Segments are joined once, at the end: what joins them meanwhile would be in the way.
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(IndexChange { of: self, writer })
    }

    /// The passage at an address.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn passage(&self, address: DocAddress) -> tantivy::Result<Passage> {
        let document: TantivyDocument = self.searcher.doc(address)?;
        let text = document.get_first(self.fields.stored).and_then(|value| value.as_str());
        serde_json::from_str(text.unwrap_or_default())
            .map_err(|error| tantivy::TantivyError::InvalidArgument(error.to_string()))
    }

    /// The key and the address of every passage.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn keys(&self) -> tantivy::Result<Vec<(u64, DocAddress)>> {
        let mut keys = Vec::new();
        for (ordinal, segment) in (0..).zip(self.searcher.segment_readers()) {
            let column = segment.fast_fields().u64(KEY)?;
            for doc in segment.doc_ids_alive() {
                keys.extend(column.first(doc).map(|key| (key, DocAddress::new(ordinal, doc))));
            }
        }
        Ok(keys)
    }

    /// The first passage with that key, and what is said of it.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn of_key(&self, key: u64) -> tantivy::Result<Option<(DocAddress, PassageFacts)>> {
        let term = Term::from_field_u64(self.index.schema().get_field(KEY)?, key);
        for (ordinal, segment) in (0..).zip(self.searcher.segment_readers()) {
            let list = segment.inverted_index(term.field())?;
            let Some(mut docs) = list.read_postings(&term, IndexRecordOption::Basic)? else {
                continue;
            };
            let facts = segment.fast_fields().u64(FACTS)?;
            while docs.doc() != TERMINATED {
                let doc = docs.doc();
                if !segment.is_deleted(doc)
                    && let Some(facts) = facts.first(doc).and_then(PassageFacts::unpack)
                {
                    return Ok(Some((DocAddress::new(ordinal, doc), facts)));
                }
                docs.advance();
            }
        }
        Ok(None)
    }

    /// Whether a name of the framework is known, as the index took it in.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn has_name(&self, name: &str) -> tantivy::Result<bool> {
        let term = Term::from_field_text(self.fields.names, name);
        let query = TermQuery::new(term, IndexRecordOption::Basic);
        Ok(self.searcher.search(&query, &Count)? > 0)
    }

    /// Calls `take` with each passage of a segment whose path begins so.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn each_below(
        &self,
        segment: &SegmentReader,
        prefix: &str,
        mut take: impl FnMut(DocId),
    ) -> tantivy::Result<()> {
        let list = segment.inverted_index(self.fields.path)?;
        let mut found = list.terms().range().ge(prefix.as_bytes()).into_stream()?;
        while found.advance() && found.key().starts_with(prefix.as_bytes()) {
            let mut docs =
                list.read_postings_from_terminfo(found.value(), IndexRecordOption::Basic)?;
            while docs.doc() != TERMINATED {
                take(docs.doc());
                docs.advance();
            }
        }
        Ok(())
    }

    /// Known names that begin alike, in no order.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn names_like(&self, prefix: &str, most: usize) -> tantivy::Result<Vec<String>> {
        let mut names = Vec::new();
        for segment in self.searcher.segment_readers() {
            let terms = segment.inverted_index(self.fields.names)?;
            let mut found = terms.terms().range().ge(prefix.as_bytes()).into_stream()?;
            while found.advance() && names.len() < most {
                let name = String::from_utf8_lossy(found.key());
                if !name.starts_with(prefix) {
                    break;
                }
                names.push(name.into_owned());
            }
        }
        Ok(names)
    }

    /// Calls `take` with each word of a searched field that begins with `start` and in which at most
    /// `slips` letters (up to 2) differ from `word`, are missing, added or exchanged with the next one,
    /// and how many passages have it there.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn each_near_term(
        &self,
        field: usize,
        (word, slips): (&str, u8),
        start: &str,
        mut take: impl FnMut(&str, u64),
    ) -> tantivy::Result<()> {
        let field = self.fields.searched[field];
        let near = FuzzyTermQuery::new(Term::from_field_text(field, word), slips, true);
        for segment in self.searcher.segment_readers() {
            let terms = segment.inverted_index(field)?;
            // It never enters the part of the dictionary in which nothing can be near.
            let search = terms.terms().search(near.automaton()?);
            let mut found = search.ge(start.as_bytes()).into_stream()?;
            while found.advance() && found.key().starts_with(start.as_bytes()) {
                if let Ok(term) = std::str::from_utf8(found.key()) {
                    take(term, u64::from(found.value().doc_freq));
                }
            }
        }
        Ok(())
    }

    /// How many passages have a word in their text.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn passages_with(&self, word: &str) -> tantivy::Result<u64> {
        let term = Term::from_field_text(self.fields.searched[TEXT], word);
        self.searcher.doc_freq(&term)
    }

    /// How many passages there are, those of names included.
    #[must_use]
    pub fn passages(&self) -> u64 {
        self.searcher.num_docs()
    }
}

/// A change of an index that is not yet seen by others.
pub struct IndexChange<'a> {
    of: &'a PassageIndex,
    writer: IndexWriter,
}

impl IndexChange<'_> {
    /// Takes everything of a file out.
    pub fn remove(&self, path: &str) {
        self.writer.delete_term(Term::from_field_text(self.of.fields.path, path));
    }

    /// Adds a passage of the file with that number.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&self, passage: &Passage, file: u64, words: &mut Splitter) -> tantivy::Result<()> {
        self.write(self.document(passage, file, words)?)
    }

    /// As [`add`](Self::add), with the pieces of its words.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add_with_pieces(
        &self,
        passage: &Passage,
        file: u64,
        words: &mut Splitter,
    ) -> tantivy::Result<()> {
        let mut document = self.document(passage, file, words)?;
        let text = format!("{} {}", passage.title, passage.text);
        document.add_text(self.of.fields.pieces, words.pieces(&text).join(" "));
        self.write(document)
    }

    fn write(&self, document: TantivyDocument) -> tantivy::Result<()> {
        self.writer.add_document(document).map(|_| ())
    }

    fn document(
        &self,
        passage: &Passage,
        file: u64,
        words: &mut Splitter,
    ) -> tantivy::Result<TantivyDocument> {
        let fields = &self.of.fields;
        let schema = self.of.index.schema();
        let mut document = TantivyDocument::default();
        let path = passage.path.replace(['/', '.'], " ").replace('_', " ");
        let texts = [
            words.line(&passage.symbols.join(" ")),
            words.line(&format!("{} {path}", passage.title)),
            words.line(&passage.headings.join(" ")),
            words.line(&passage.text),
        ];
        for (field, text) in fields.searched.iter().zip(&texts) {
            document.add_text(*field, text);
        }
        document.add_text(fields.path, &passage.path);
        let stored = serde_json::to_string(passage)
            .map_err(|error| tantivy::TantivyError::InvalidArgument(error.to_string()))?;
        document.add_text(fields.stored, stored);
        document.add_u64(schema.get_field(FACTS)?, PassageFacts::of(passage).pack());
        document.add_u64(schema.get_field(FILE)?, file);
        document.add_u64(schema.get_field(KEY)?, passage.key());
        Ok(document)
    }

    /// Adds the names of a file.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn add_names(&self, path: &str, file: u64, names: &str) -> tantivy::Result<()> {
        let schema = self.of.index.schema();
        let mut document = TantivyDocument::default();
        document.add_text(self.of.fields.path, path);
        document.add_text(self.of.fields.names, names);
        document.add_u64(schema.get_field(FACTS)?, NAMES_ONLY);
        document.add_u64(schema.get_field(FILE)?, file);
        self.write(document)
    }

    /// Makes the change visible, and joins what a search would otherwise have to visit one by one.
    /// With more than so many segments, the small ones are joined; all of them when they have become
    /// a good part of the index.
    ///
    /// # Errors
    /// When it cannot be written, for example on a full disk; nothing is changed then.
    pub fn commit(mut self, most_segments: usize) -> tantivy::Result<()> {
        self.writer.commit()?;
        let mut segments = self.of.index.searchable_segment_metas()?;
        if segments.len() > most_segments {
            segments.sort_by_key(|segment| std::cmp::Reverse(segment.num_docs()));
            if let [large, small @ ..] = segments.as_slice()
                && most_segments > 1
            {
                let of_small: u32 = small.iter().map(SegmentMeta::max_doc).sum();
                let changed = of_small + large.num_deleted_docs();
                if changed < large.max_doc() / MOST_CHANGED {
                    segments.remove(0);
                }
            }
            let joined: Vec<_> = segments.iter().map(SegmentMeta::id).collect();
            // Files of a segment stay as long as its description is held.
            drop(segments);
            self.writer.merge(&joined).wait()?;
        }
        self.writer.garbage_collect_files().wait()?;
        self.writer.wait_merging_threads()
    }
}
