//! Helvetica, which every PDF reader has: its encoding (WinAnsi) and its widths, from Adobe's published metrics.

/// The replacement of a character that is not in the encoding.
const UNKNOWN: u8 = b'?';
/// Size of raised text, as a part of the text's, and how far its baseline is raised.
pub(super) const RAISED_SIZE: f64 = 0.68;
pub(super) const RAISED_BY: f64 = 0.36;

/// A stretch of text on one baseline, encoded.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    pub(super) bytes: Vec<u8>,
    /// A superscript.
    pub(super) raised: bool,
}

/// The text as Helvetica writes it: superscript digits become raised ones.
pub(super) fn runs(text: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for character in text.chars() {
        let (byte, raised) = match superscript(character) {
            Some(byte) => (byte, true),
            None => (encoded(character), false),
        };
        match runs.last_mut() {
            Some(run) if run.raised == raised => run.bytes.push(byte),
            _ => runs.push(Run { bytes: vec![byte], raised }),
        }
    }
    runs
}

/// Width of the text at size 1.
pub(super) fn width(text: &str, bold: bool) -> f64 {
    let widths = if bold { &BOLD } else { &REGULAR };
    let run_width = |run: &Run| {
        let sum: u32 = run.bytes.iter().map(|byte| u32::from(widths[usize::from(*byte).saturating_sub(32)])).sum();
        f64::from(sum) / 1000.0 * if run.raised { RAISED_SIZE } else { 1.0 }
    };
    runs(text).iter().map(run_width).sum()
}

fn superscript(character: char) -> Option<u8> {
    Some(match character {
        '⁻' => EN_DASH,
        '¹' => b'1',
        '²' => b'2',
        '³' => b'3',
        '⁰' | '⁴'..='⁹' => b'0' + (u32::from(character) - u32::from('⁰')) as u8,
        _ => return None,
    })
}

const EN_DASH: u8 = 0x96;

/// The 32 codes of WinAnsi that are not Latin-1's; `None` where there is no character.
const SPECIAL: [Option<char>; 32] = {
    let mut codes = [None; 32];
    let known = [
        (0x80, '€'),
        (0x82, '‚'),
        (0x83, 'ƒ'),
        (0x84, '„'),
        (0x85, '…'),
        (0x86, '†'),
        (0x87, '‡'),
        (0x88, 'ˆ'),
        (0x89, '‰'),
        (0x8a, 'Š'),
        (0x8b, '‹'),
        (0x8c, 'Œ'),
        (0x8e, 'Ž'),
        (0x91, '‘'),
        (0x92, '’'),
        (0x93, '“'),
        (0x94, '”'),
        (0x95, '•'),
        (0x96, '–'),
        (0x97, '—'),
        (0x98, '˜'),
        (0x99, '™'),
        (0x9a, 'š'),
        (0x9b, '›'),
        (0x9c, 'œ'),
        (0x9e, 'ž'),
        (0x9f, 'Ÿ'),
    ];
    let mut at = 0;
    while at < known.len() {
        codes[known[at].0 - 0x80] = Some(known[at].1);
        at += 1;
    }
    codes
};

fn encoded(character: char) -> u8 {
    match u32::from(character) {
        plain @ (0x20..=0x7e | 0xa0..=0xff) => plain as u8,
        // It has no minus sign; this dash has the same form.
        0x2212 => EN_DASH,
        _ => SPECIAL.iter().position(|known| *known == Some(character)).map_or(UNKNOWN, |at| 0x80 + at as u8),
    }
}

/// Thousandths of the size, from code 32 on.
const REGULAR: [u16; 224] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584, 350, 556, 350, 222, 556, 333, 1000, 556, 556, 333, 1000, 667, 333, 1000, 350, 611, 350, 350, 222,
    222, 333, 333, 350, 556, 1000, 333, 1000, 500, 333, 944, 350, 500, 667, 278, 333, 556, 556, 556, 556, 260, 556,
    333, 737, 370, 556, 584, 333, 737, 333, 400, 584, 333, 333, 333, 556, 537, 278, 333, 333, 365, 556, 834, 834, 834,
    611, 667, 667, 667, 667, 667, 667, 1000, 722, 667, 667, 667, 667, 278, 278, 278, 278, 722, 722, 778, 778, 778, 778,
    778, 584, 778, 722, 722, 722, 722, 667, 667, 611, 556, 556, 556, 556, 556, 556, 889, 500, 556, 556, 556, 556, 278,
    278, 278, 278, 556, 556, 556, 556, 556, 556, 556, 584, 611, 556, 556, 556, 556, 500, 556, 500,
];
/// The widths of Helvetica-Bold, in thousandths of the size, from code 32 on.
const BOLD: [u16; 224] = [
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611,
    556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389,
    280, 389, 584, 350, 556, 350, 278, 556, 500, 1000, 556, 556, 333, 1000, 667, 333, 1000, 350, 611, 350, 350, 278,
    278, 500, 500, 350, 556, 1000, 333, 1000, 556, 333, 944, 350, 500, 667, 278, 333, 556, 556, 556, 556, 280, 556,
    333, 737, 370, 556, 584, 333, 737, 333, 400, 584, 333, 333, 333, 611, 556, 278, 333, 333, 365, 556, 834, 834, 834,
    611, 722, 722, 722, 722, 722, 722, 1000, 722, 667, 667, 667, 667, 278, 278, 278, 278, 722, 722, 778, 778, 778, 778,
    778, 584, 778, 722, 722, 722, 722, 667, 667, 611, 556, 556, 556, 556, 556, 556, 889, 556, 556, 556, 556, 556, 278,
    278, 278, 278, 611, 611, 611, 611, 611, 611, 611, 584, 611, 611, 611, 611, 611, 556, 611, 556,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_the_published_ones() {
        // Adobe's Helvetica.afm: H 722, e 556, l 222, v 500, t 278, i 222, c 500, a 556; digits 556, bold H 722.
        assert!((width("Helvetica", false) - 4.112).abs() < 1e-9);
        assert!((width("H0", true) - 1.278).abs() < 1e-9);
        assert!((width("10⁻⁵", false) - (1.112 + RAISED_SIZE * 1.112)).abs() < 1e-9);
    }

    #[test]
    fn text_is_encoded_as_win_ansi() {
        let plain = |bytes: &[u8]| Run { bytes: bytes.to_vec(), raised: false };
        assert_eq!(runs("a–b −1 é×…"), [plain(b"a\x96b \x961 \xe9\xd7\x85")]);
        assert_eq!(runs("€☃\u{202e}"), [plain(b"\x80??")]);
        assert_eq!(runs("7×10⁻¹⁵"), [plain(b"7\xd710"), Run { bytes: b"\x9615".to_vec(), raised: true }]);
        assert!(runs("").is_empty());
    }
}
