//! Joins what the words of a question found with what vectors and a reranker say.
//!
//! Pure. Reciprocal rank fusion as in Cormack, Clarke & Büttcher (2009).

use std::collections::HashMap;
use std::hash::Hash;

use super::endpoint::Reranker;
use super::passage::Found;

/// How little the first places differ.
const SMOOTHING: f32 = 60.0;
/// Results that a reranker looks at, and bytes of each.
const RERANKED: usize = 30;
const MOST_BYTES: usize = 4_000;
/// Makes figures that can be read.
const SCALE: f32 = 100.0;

/// All items of several lists, each list with the best first: the best first, with a figure.
pub fn fused<T: Copy + Eq + Hash + Ord>(lists: &[Vec<T>]) -> Vec<(T, f32)> {
    let mut scores: HashMap<T, f32> = HashMap::new();
    for list in lists {
        let mut place = SMOOTHING;
        for item in list {
            place += 1.0;
            *scores.entry(*item).or_default() += SCALE / place;
        }
    }
    let mut all: Vec<(T, f32)> = scores.into_iter().collect();
    all.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
    all
}

/// Brings results into the order of a reranker; what is beyond those that it looks at stays behind.
///
/// # Errors
/// Why it says nothing, in words; the order is as before.
pub fn rerank(found: &mut [Found], question: &str, reranker: &dyn Reranker) -> Result<(), String> {
    let count = found.len().min(RERANKED);
    if count < 2 {
        return Ok(());
    }
    let texts: Vec<String> =
        found[..count].iter().map(|it| it.passage.as_asked(MOST_BYTES)).collect();
    let scores = reranker.rerank(question, &texts)?;
    if scores.len() != count || scores.iter().any(|score| !score.is_finite()) {
        return Err(format!("{} figures came for {count} texts", scores.len()));
    }
    let least = scores.iter().copied().fold(f32::INFINITY, f32::min);
    for (one, score) in found.iter_mut().zip(&scores) {
        one.score = *score;
        one.why.push_str(&format!("; reranked by {score:.2}"));
    }
    for one in &mut found[count..] {
        one.score = least;
    }
    found[..count].sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_lists_name_comes_first() {
        let all = fused(&[vec!['a', 'b', 'c'], vec!['b', 'd']]);
        let order: String = all.iter().map(|(item, _)| *item).collect();
        assert_eq!(order, "badc");
        assert!(fused::<char>(&[]).is_empty());
    }
}
