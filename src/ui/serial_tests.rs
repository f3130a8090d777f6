//! Tests of whole screens that show a port.

use crate::model::{BoardEvent, BoardInfo, Event, LogId, LogKind, PortChange, PortEvent};

use super::fixture::UiBench;

/// A port that is listened to, in the middle of things.
fn listening(width: u16, height: u16) -> UiBench {
    let mut desk = UiBench::at_work(width, height);
    let log = LogId { kind: LogKind::Serial, number: 1 };
    let port = "/dev/ttyUSB0".to_owned();
    desk.record(10, Event::Port(PortEvent::Opened { port, log, baud: 115_200 }));
    for number in 0..400_u32 {
        let (level, tag) = match number % 7 {
            0 => ('W', "wifi"),
            1 | 2 => ('I', "wifi"),
            3 => ('E', "i2c.master"),
            _ => ('D', "app"),
        };
        let text = format!(
            "{level} ({}) {tag}: temp={}.{} C\r\n",
            900 + number * 20,
            20 + number % 7,
            number % 10
        );
        desk.log(log, &text);
    }
    desk.press("4");
    desk
}

#[test]
fn screens_of_a_port_that_is_looked_at_closely() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut desk = listening(width, height);
        desk.press("- - - T T T p");
        desk.log(LogId { kind: LogKind::Serial, number: 1 }, "E (9999) app: not on screen yet\r\n");
        settle(&mut desk);
        insta::assert_snapshot!(format!("serial_{width}x{height}"), desk.screen());
    }
}

/// Lets filters that the last key set come into sight.
fn settle(desk: &mut UiBench) {
    for _ in 0..3 {
        desk.pass(100);
    }
}

/// The screen without the header, in which time goes on.
fn below_header(desk: &UiBench) -> String {
    // The header and the row about the run have a clock.
    desk.screen().splitn(3, '\n').last().unwrap_or_default().to_owned()
}

#[test]
fn tags_are_listed_hidden_and_given_levels() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut desk = listening(width, height);
        desk.press("#");
        settle(&mut desk);
        // Every tag but i2c and wifi is hidden, and wifi has but errors and warnings.
        desk.press("space down right right down down space");
        settle(&mut desk);
        insta::assert_snapshot!(format!("tags_{width}x{height}"), desk.screen());
        desk.press("enter");
        settle(&mut desk);
        let screen = below_header(&desk);
        assert!(screen.contains("*:N") && screen.contains("wifi:W"), "{screen}");
        assert!(!screen.contains(" app: temp"), "{screen}");
        // Going back leaves what was chosen before.
        desk.press("# space esc");
        settle(&mut desk);
        assert_eq!(below_header(&desk), screen);
    }
}

#[test]
fn the_header_tells_whether_the_board_is_there() {
    let mut desk = UiBench::at_work(120, 40);
    let header = |desk: &UiBench| desk.screen().lines().next().unwrap_or_default().to_owned();
    let (log, port) = (LogId { kind: LogKind::Serial, number: 1 }, "/dev/ttyUSB0".to_owned());
    let (label, chip) = ("ESP32-S3".to_owned(), "esp32s3".to_owned());
    let board = BoardInfo { label, chip, port: port.clone(), simulated: false };
    let lost = PortChange::Lost { why: "unplugged".to_owned() };
    let reported = [
        (Event::Board(BoardEvent::Connected(board)), "ESP32-S3 ●"),
        (Event::Port(PortEvent::Opened { port, log, baud: 115_200 }), "ESP32-S3 ●"),
        (Event::Port(PortEvent::Changed { log, event: lost }), "ESP32-S3 ○"),
        (
            Event::Port(PortEvent::Changed { log, event: PortChange::Back { millis: 900 } }),
            "ESP32-S3 ●",
        ),
        (
            Event::Port(PortEvent::Closed { log, why: "listening was stopped".to_owned() }),
            "ESP32-S3 ○",
        ),
    ];
    for (event, expected) in reported {
        desk.record(10, event);
        desk.sync();
        assert!(header(&desk).contains(expected), "{}", header(&desk));
    }
}

#[test]
fn values_are_drawn_below_the_lines() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut desk = listening(width, height);
        desk.press("z v");
        settle(&mut desk);
        insta::assert_snapshot!(format!("values_{width}x{height}"), desk.screen());
        desk.press("V");
        assert!(desk.last_row().contains("no other value"), "{}", desk.last_row());
        desk.press("v");
        assert!(!desk.screen().contains("… 26"), "{}", desk.screen());
    }
}
