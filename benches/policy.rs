//! How fast a policy is trained, and how good it gets: `cargo bench --bench policy`.
//!
//! Episodes a second in ten runs, beside the same training in plain Python (`support/
//! policy_episodes.py`), and with random numbers by NumPy where that is installed; the distance to the
//! exact optimum after 5,000 episodes over twenty seeds. Without `--bench`, a short run shows that it
//! works. The coverage of the interval for past sessions is tested in `src/policy/offpolicy.rs`.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench prints, starts Python and may stop"
)]

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use firmhand::policy::{Optimum, PROCESS, Process, Provenance, Trained, Trainer, evaluate};

/// Episodes after which a policy is judged.
const EPISODES: u64 = 5_000;

fn main() {
    let is_bench = std::env::args().any(|arg| arg == "--bench");
    let (seeds, timed) = if is_bench { (20, 1_000_000) } else { (2, 2_000) };
    speed(timed, if is_bench { 10 } else { 1 });
    if is_bench {
        python(&["200000"]);
        python(&["200000", "numpy"]);
    }
    for tasks in ["simple", "mixed"] {
        quality(tasks, seeds);
    }
}

fn speed(episodes: u64, runs: usize) {
    let mut rates: Vec<f64> = (0..runs)
        .map(|run| {
            let mut policy = untrained("simple", run as u64);
            let mut trainer = Trainer::new(&policy.model, run as u64, 0);
            let started = Instant::now();
            trainer.train(&mut policy.table, episodes);
            episodes as f64 / started.elapsed().as_secs_f64()
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    println!(
        "training: median {:.2} M episodes/s, worst {:.2} M, in {runs} runs of {episodes}",
        rates[runs / 2] / 1e6,
        rates[0] / 1e6
    );
}

fn python(args: &[&str]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/support/policy_episodes.py");
    let name = if args.len() > 1 { "Python with NumPy" } else { "plain Python" };
    match Command::new("python3").arg(script).args(args).output() {
        Ok(done) if done.status.success() => {
            let answer = String::from_utf8_lossy(&done.stdout).into_owned();
            let rate = answer.split_whitespace().next().and_then(|it| it.parse::<f64>().ok());
            println!("{name}: {:.0} episodes/s", rate.unwrap_or(0.0));
        }
        Ok(_) | Err(_) => println!("{name}: cannot be run here"),
    }
}

fn quality(tasks: &str, seeds: u64) {
    let (mut distances, mut successes) = (Vec::new(), Vec::new());
    for seed in 0..seeds {
        let mut policy = untrained(tasks, seed);
        Trainer::new(&policy.model, seed, 0).train(&mut policy.table, EPISODES);
        let best = evaluate(&policy.model, &Optimum::solve(&policy.model)).value;
        let reached = evaluate(&policy.model, &policy.table);
        distances.push((best - reached.value) / best * 100.0);
        successes.push(reached.success * 100.0);
    }
    distances.sort_by(f64::total_cmp);
    successes.sort_by(f64::total_cmp);
    println!(
        "{tasks} tasks, {EPISODES} episodes, {seeds} seeds: distance to the optimum median {:.3} %, \
         worst {:.3} %; success median {:.2} %, worst {:.2} %",
        distances[distances.len() / 2],
        distances[distances.len() - 1],
        successes[successes.len() / 2],
        successes[0]
    );
}

fn untrained(tasks: &str, seed: u64) -> Trained {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(PROCESS));
    Trained::new(Provenance {
        team: "learned".to_owned(),
        tasks: tasks.to_owned(),
        knows_classes: tasks == "mixed",
        seed: seed.to_string(),
        episodes: 0,
        sessions: 0,
        learned_from: Vec::new(),
        date: String::new(),
        process: Process::parse(PROCESS, &text.unwrap()).unwrap(),
    })
    .unwrap()
}
