//! Documents of three writers, of none, and broken ones.

use proptest::prelude::*;

use super::*;

const SPEC: &[u8] = include_bytes!("../../../tests/data/pdf/spec.pdf");
const UNICODE: &[u8] = include_bytes!("../../../tests/data/pdf/unicode.pdf");
const LOCKED: &[u8] = include_bytes!("../../../tests/data/pdf/locked.pdf");
const OWNER_LOCKED: &[u8] = include_bytes!("../../../tests/data/pdf/owner-locked.pdf");
const SCAN: &[u8] = include_bytes!("../../../tests/data/pdf/scan.pdf");

fn pages(bytes: &[u8]) -> Vec<String> {
    read(bytes.to_vec()).unwrap().pages
}

/// A document of one page with this content and these entries of its font.
fn made(content: &str, font: &str, others: &[&str]) -> Vec<u8> {
    let length = content.len();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R \
         /Resources << /Font << /F 5 0 R >> /XObject << /X 6 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {length} >>\nstream\n{content}\nendstream"),
        format!("<< /Type /Font {font} >>"),
    ];
    objects.extend(others.iter().map(|object| (*object).to_owned()));
    let mut file = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in (1..).zip(&objects) {
        places.push(file.len());
        file.extend(format!("{number} 0 obj\n{object}\nendobj\n").bytes());
    }
    let (start, size) = (file.len(), objects.len() + 1);
    file.extend(format!("xref\n0 {size}\n0000000000 65535 f \n").bytes());
    places.iter().for_each(|place| file.extend(format!("{place:010} 00000 n \n").bytes()));
    file.extend(
        format!("trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").bytes(),
    );
    file
}

const HELVETICA: &str = "/Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding";

#[test]
fn headings_paragraphs_tables_and_pages_come_as_they_are_read() {
    let pages = pages(SPEC);
    assert_eq!(pages.len(), 3);
    assert_eq!(
        pages[0],
        "Requirements of the room monitor\n\
         The firmware reads temperature and humidity every 10 seconds, and logs both in one line. \
         If a\nreading fails three times in a row, it raises the alarm pin and says so in the log.\n\n\
         Pin   Signal   Level\nGPIO 21   SDA   3.3 V\nGPIO 22   SCL   3.3 V\n\
         GPIO 4   Alarm   3.3 V"
    );
    assert!(pages[1].contains("Über 28 °C") && pages[1].contains("– nicht mehr"), "{}", pages[1]);
    assert!(pages[2].contains("The I2C bus runs at 400 kHz."), "{}", pages[2]);
}

#[test]
fn letters_of_embedded_fonts_are_found_through_their_maps() {
    let pages = pages(UNICODE);
    assert!(pages[0].contains("Датчик: порог 28 °C → GPIO 4\nfirmware"), "{}", pages[0]);
    assert!(pages[0].contains("Ω = 4.7 kΩ"), "{}", pages[0]);
}

#[test]
fn only_what_needs_a_password_is_locked() {
    assert_eq!(read(LOCKED.to_vec()), Err(PdfFault::Locked));
    // What forbids copying by a mere flag opens in every viewer.
    assert_eq!(pages(OWNER_LOCKED), pages(SPEC));
}

#[test]
fn documents_without_text_are_told_from_damaged_ones() {
    assert_eq!(read(SCAN.to_vec()), Err(PdfFault::NoText(2)));
    for broken in [&b""[..], b"%PDF-1.7", b"no document at all", &SPEC[..40]] {
        assert_eq!(read(broken.to_vec()), Err(PdfFault::Damaged));
    }
    // The table of places at the end is lost; the pages are still there.
    let cut = &SPEC[..SPEC.len() - 60];
    assert!(read(cut.to_vec()).is_ok_and(|text| text.of == 3));
}

#[test]
fn every_way_of_showing_letters_counts() {
    let content = "BT /F 10 Tf 14 TL 72 700 Td (one) Tj T* (two) Tj (three) ' 0 0 (four) \" \
                   0 -14 TD [(f) -20 (ive) -400 (six)] TJ ET q 1 0 0 1 0 -200 cm /X Do Q";
    let form = "<< /Type /XObject /Subtype /Form /BBox [0 0 600 800] /Length 40 >>\n\
                stream\nBT /F 10 Tf 72 700 Td (in a form) Tj ET  \nendstream";
    let text = pages(&made(content, HELVETICA, &[form])).concat();
    assert_eq!(text, "one\ntwo\nthree\nfour\nfive six\n\nin a form");
}

#[test]
fn glyphs_are_read_by_their_names() {
    let font = "/Subtype /Type1 /BaseFont /Odd /Encoding << /Differences [1 /H /e /l /o /fi 65 \
                /uni20AC /g77] >>";
    let shown = |content: &str| read(made(content, font, &[]));
    let text = shown("BT /F 10 Tf <0102030304> Tj ( ) Tj <05> Tj (nd) Tj (A) Tj ET").unwrap();
    assert_eq!(text.pages, ["Hello find€"]);
    // Glyphs with a mere number mean nothing to anybody.
    assert_eq!(shown("BT /F 10 Tf (BBBBBBA) Tj ET"), Err(PdfFault::NoLetters));
}

#[test]
fn turned_text_and_drawings_in_a_circle_do_no_harm() {
    let turned =
        "BT /F 10 Tf 0 1 -1 0 300 100 Tm (up ) Tj (wards) Tj ET BT /F 10 Tf 9 9 Td (flat) Tj ET";
    assert_eq!(pages(&made(turned, HELVETICA, &[])).concat(), "up wards\n\nflat");
    let itself = "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 \
                  R >> /Font << /F 5 0 R >> >> /Length 50 >>\nstream\n\
                  BT /F 10 Tf 9 9 Td (again) Tj ET /X Do            \nendstream";
    let text = pages(&made("/X Do", HELVETICA, &[itself])).concat();
    assert_eq!(text.matches("again").count(), 1, "drawn at one place eight times: {text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn changed_bytes_are_read_or_refused(
        changes in proptest::collection::vec((0..SPEC.len(), any::<u8>()), 1..40),
        is_unicode in any::<bool>(),
    ) {
        let mut bytes = if is_unicode { UNICODE } else { SPEC }.to_vec();
        for (place, byte) in changes {
            bytes[place] = byte;
        }
        if let Ok(text) = read(bytes) {
            prop_assert!(text.pages.len() <= text.of);
        }
    }
}
