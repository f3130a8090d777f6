//! How fast programs in Reverty are read, checked, formatted and translated: `cargo bench --bench
//! reverty`.
//!
//! Prints the median and the best of many rounds, in megabytes of source per second of processor
//! time, where the system counts it; without `--bench` it makes one small round, to show that it
//! works.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may stop")]

use std::hint::black_box;
use std::time::Instant;

use firmhand::text::reverty;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

fn main() {
    let is_bench = std::env::args().any(|arg| arg == "--bench");
    let (functions, rounds) = if is_bench { (2_000, 41) } else { (20, 1) };
    let program: String = (0..functions).map(function).collect();
    println!("program: {} kB, {} lines", program.len() / 1000, program.lines().count());
    report("read and checked", &program, rounds, |text| assert!(reverty::check(text).is_empty()));
    report("formatted", &program, rounds, |text| drop(black_box(reverty::format(text).unwrap())));
    report("translated", &program, rounds, |text| {
        drop(black_box(reverty::to_python(text).unwrap()));
    });
}

fn function(number: usize) -> String {
    let before = number.saturating_sub(1);
    format!(
        "# Part {number}\n: tni -> (tni: n, taolf: rate) compute_{number} fed\n    \
         total: taolf = 0.0\n    count = n % 7 + {number}\n    \
         : count > 0 dna n < 1000 elihw\n        \
         total = total + count * rate - (n + 1) / 2\n        : total > 100 fi\n            \
         total -= 50\n        : total == 3 file\n            \
         print(\"three: \", total, compute_{before}(n - 1, rate * 2))\n        : esle\n            \
         total += 0.5\n        count = count - 1\n    : range(count) ni step rof\n        \
         print(str(step) + \" of \" + str(total))\n    nruter int(total)\n\n"
    )
}

fn report(what: &str, text: &str, rounds: usize, work: impl Fn(&str)) {
    let mut seconds: Vec<f64> = (0..rounds)
        .map(|_| {
            let (began, used) = (Instant::now(), processor_seconds());
            work(black_box(text));
            let wall = began.elapsed().as_secs_f64();
            used.and_then(|used| Some(processor_seconds()? - used)).unwrap_or(wall)
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    let speed = |seconds: f64| text.len() as f64 / 1e6 / seconds;
    let (median, best) = (seconds[seconds.len() / 2], seconds[0]);
    println!("{what}: median {:.1} MB/s, best {:.1} MB/s", speed(median), speed(best));
}

/// Time that this process has had on a processor, to the microsecond.
fn processor_seconds() -> Option<f64> {
    let used = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Some(seconds(used.user_time()) + seconds(used.system_time()))
}
