//! What the walls cost.

use std::time::{Duration, Instant};

use crate::place::{Place, runner};

#[test]
fn smoke() {
    let runner = runner();
    println!("{:#?}", runner.protection());
    let mut place = Place::new();
    place.shell("id; pwd; ls -la / /dev /proc /tmp; cat /proc/self/status | grep -i -E 'cap|secc|nonew'; echo hi > x; cat x; env; ls -la /etc; cat /etc/shadow; echo x > /proc/sys/kernel/hostname; ulimit -a");
    let ran = place.run(&runner);
    println!("{ran:#?}\n{}", ran.said);
    place.walls.program = "/bin/true".into();
    place.walls.args.clear();
    let mut times: Vec<Duration> = (0..40)
        .map(|_| {
            let t = Instant::now();
            let r = place.run(&runner);
            assert_eq!(r.report.end, firmhand::sandbox::RunEnd::Exit(0));
            t.elapsed()
        })
        .collect();
    times.sort();
    println!("median {:?} max {:?}", times[20], times[39]);
}
