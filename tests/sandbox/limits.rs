//! Programs that take too much, or do not want to end, at each level of walls that this machine has.

use std::fs;
use std::time::{Duration, Instant};

use firmhand::sandbox::{Level, RunEnd, Wall};
use nix::libc;

use crate::place::runner;
use crate::stand::{Stand, at_every_level, on_a_machine_without, tool};

const SECOND: Duration = Duration::from_secs(1);

/// Runs that far and says how long it took.
fn within(stand: &mut Stand, time: Duration, way: &[&str]) -> Duration {
    stand.place.walls.limits.time = Some(time);
    let ran = stand.closed(way);
    assert_eq!(ran.report.wall, Some(Wall::Time), "{way:?}: {ran:?}");
    assert_eq!(ran.report.end, RunEnd::Stopped);
    println!("{:?} {way:?}: {:?} of {time:?}", stand.level, ran.report.took);
    ran.report.took
}

#[test]
fn what_does_not_end_is_ended_in_time() {
    at_every_level(|stand| {
        stand.place.walls.limits.time = Some(2 * SECOND);
        let ran = stand.closed(&["bomb"]);
        assert!(matches!(ran.report.wall, Some(Wall::Time | Wall::Processes)), "{ran:?}");
        for way in ["loop", "stubborn", "closed", "flood"] {
            let took = within(stand, SECOND, &[way]);
            // A busy machine is late.
            assert!(took >= SECOND && took < 4 * SECOND, "{way}: {took:?}");
        }
        let left = fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
            fs::read_link(entry.path().join("exe")).is_ok_and(|program| program == tool())
        });
        // Other tests run the same program at the same time, but never so many.
        assert!(left.count() < 20, "the bomb still goes off");
    });
}

#[test]
fn memory_ends_at_the_wall() {
    at_every_level(|stand| {
        let most = 64 << 20;
        stand.place.walls.limits.memory = most;
        for way in ["malloc", "shared-memory", "memfd"] {
            let ran = stand.closed(&[way]);
            let counted = ran.report.wall == Some(Wall::Memory);
            println!(
                "{:?} {way}: {:?} peak {} KiB",
                stand.level,
                ran.report.wall,
                ran.report.peak >> 10
            );
            assert!(counted || ran.said.contains("held"), "{ran:?}");
            let has_group = runner().protection().missing.is_empty();
            assert!(
                !has_group || ran.report.peak <= most + most / 20,
                "{way}: {}",
                ran.report.peak
            );
        }
    });
}

#[test]
fn processes_and_threads_are_counted() {
    at_every_level(|stand| {
        for way in ["processes", "threads"] {
            let ran = stand.closed(&[way]);
            let count =
                ran.said.split("count ").nth(1).and_then(|rest| rest.trim().parse::<u32>().ok());
            println!("{:?} {way}: {count:?} {:?}", stand.level, ran.report.wall);
            // Without namespaces the kernel counts all of the user's; those of other tests that end
            // meanwhile leave their places.
            let most = if stand.level == Level::Namespaces { 66 } else { 128 };
            assert!(count.is_none_or(|count| count <= most), "{ran:?}");
            assert!(count.is_some() || ran.report.wall == Some(Wall::Processes), "{ran:?}");
        }
    });
}

#[test]
fn files_do_not_grow_beyond_the_wall() {
    at_every_level(|stand| {
        let path = stand.place.inside("large");
        stand.closed(&["large-file", path.to_str().unwrap()]);
        assert_eq!(fs::metadata(&path).unwrap().len(), 64 << 20);
        fs::remove_file(&path).unwrap();
        let ran = stand.place.shell("head -c 200000000 /dev/zero > large").run(&stand.runner);
        assert_ne!(ran.report.end, RunEnd::Exit(0), "{ran:?}");
        assert!(fs::metadata(&path).unwrap().len() <= 64 << 20);
    });
}

#[test]
fn files_together_do_not_grow_beyond_the_wall_with_and_without_names() {
    at_every_level(|stand| {
        stand.place.walls.limits.time = Some(30 * SECOND);
        stand.place.walls.limits.disk = 96 << 20;
        for name in ["f$i", "f"] {
            // Kept under many names, or held open under none.
            let script = format!(
                "i=0; while :; do i=$((i+1)); head -c 8000000 /dev/zero > {name}; \
                 [ $i -gt 40 ] && sleep 1; done"
            );
            let script = match name {
                "f" => "exec 3>a 4>b 5>c 6>d; rm a b c d; head -c 60000000 /dev/zero >&3; \
                        head -c 60000000 /dev/zero >&4; head -c 60000000 /dev/zero >&5; \
                        while :; do sleep 1; done"
                    .to_owned(),
                _ => script,
            };
            let ran = stand.place.shell(&script).run(&stand.runner);
            assert_eq!(ran.report.wall, Some(Wall::Disk), "{name}: {ran:?}");
            println!("{:?} {name}: {:?}", stand.level, ran.report.took);
        }
    });
}

#[test]
fn nothing_outlives_the_run() {
    at_every_level(|stand| {
        let mark = stand.place.inside("mark");
        stand.attempt(&["survive", mark.to_str().unwrap()]);
        let length = || fs::metadata(&mark).map_or(0, |found| found.len());
        let after = length();
        std::thread::sleep(Duration::from_millis(400));
        assert_eq!(length(), after, "it still writes");
        let bomb = "(sleep 1; echo boom > boom) & nohup sh -c 'sleep 1; echo boom > boom' & exit 0";
        let ran = stand.place.shell(bomb).run(&stand.runner);
        assert_eq!(ran.report.end, RunEnd::Exit(0), "{ran:?}");
        std::thread::sleep(Duration::from_millis(1500));
        assert!(!stand.place.inside("boom").exists());
    });
}

#[test]
fn a_run_that_nobody_wants_any_more_is_over_at_once() {
    at_every_level(|stand| {
        stand.place.walls.limits.time = None;
        stand.place.walls.program = tool().to_owned();
        stand.place.walls.reads.push(tool().to_owned());
        let mark = stand.place.inside("mark");
        let script = format!(
            "{} stubborn & while :; do echo x >> {}; sleep 0.05; done",
            tool().display(),
            mark.display()
        );
        stand.place.shell(&script);
        let (run, _output) = stand.place.start(&stand.runner, b"");
        while !mark.exists() {
            std::thread::sleep(Duration::from_millis(10));
        }
        let begun = Instant::now();
        drop(run);
        assert!(begun.elapsed() < 10 * SECOND);
        let length = fs::metadata(&mark).unwrap().len();
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(fs::metadata(&mark).unwrap().len(), length, "it still writes");
    });
}

#[test]
fn where_there_are_no_walls_nothing_runs_unless_the_person_said_so() {
    use firmhand::sandbox::Consent;
    let without = [libc::SYS_unshare, libc::SYS_landlock_create_ruleset];
    on_a_machine_without(&without, || {
        let runner = runner();
        assert_eq!(runner.protection().level, Level::None);
        assert_eq!(runner.protection().missing.len(), 2, "{:?}", runner.protection());
        let mut place = crate::place::Place::new();
        place.shell("echo ran > ran");
        let ends = || {
            let (input, output) = std::io::pipe().unwrap();
            let errors = output.try_clone().unwrap();
            firmhand::sandbox::Ends {
                input: input.into(),
                output: output.into(),
                errors: errors.into(),
            }
        };
        let error = runner.start(&place.walls, ends()).unwrap_err();
        assert!(
            error.what.contains("no sandbox") && error.fix.contains("--without-sandbox"),
            "{error}"
        );
        assert!(!place.inside("ran").exists());
        let ran = place.run(&runner.with_consent(Consent::Given));
        assert_eq!(ran.report.end, RunEnd::Exit(0), "{ran:?}");
        assert!(place.inside("ran").exists());
    });
}
