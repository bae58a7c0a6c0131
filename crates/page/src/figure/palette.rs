//! The colours, which are data in a style sheet: CSS variables follow the reader's mode, a PDF has those of light mode.

use super::paint::ColourRole;

/// The colours as CSS variables, for light and dark mode.
pub const PALETTE: &str = include_str!("palette.css");

/// A role's red, green and blue on paper, 0 to 1; black if the palette had no such colour, which a test rules out.
pub(super) fn on_paper(role: ColourRole) -> [f32; 3] {
    colour(PALETTE, &role.name()).map_or([0.0; 3], |channels| channels.map(|channel| f32::from(channel) / 255.0))
}

/// The first definition of a variable.
fn colour(style: &str, name: &str) -> Option<[u8; 3]> {
    let text = style.split(&format!("--{name}: #")).nth(1)?.get(..6)?;
    let number = u32::from_str_radix(text, 16).ok()?;
    Some([(number >> 16) as u8, (number >> 8) as u8, number as u8])
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROLES: [ColourRole; 4] = [ColourRole::Background, ColourRole::Text, ColourRole::Quiet, ColourRole::Rule];

    #[test]
    fn the_palette_has_every_role_in_both_modes() {
        let modes: Vec<&str> = PALETTE.split("@media").collect();
        assert_eq!(modes.len(), 2);
        for role in ROLES.into_iter().chain((0..8).map(ColourRole::Series)) {
            assert!(modes.iter().all(|mode| colour(mode, &role.name()).is_some()), "{role:?}");
        }
        assert_eq!(on_paper(ColourRole::Background), [1.0; 3]);
        assert_eq!(colour("--c1: #bf4a09;", "c1"), Some([0xbf, 0x4a, 0x09]));
        assert_eq!(colour("--c1: #bf4a09;", "c2"), None);
    }

    /// WCAG 2: text wants a contrast of 4.5 to 1; lines would do with 3, but their legend is text.
    #[test]
    fn colours_stand_out_in_both_modes() {
        let luminance = |colour: [u8; 3]| {
            let channel = |value: u8| {
                let value = f64::from(value) / 255.0;
                if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            let [red, green, blue] = colour.map(channel);
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        for mode in PALETTE.split("@media") {
            let text = ["ink", "quiet", "accent", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"];
            for (name, ground) in text.iter().flat_map(|name| ["ground", "raised"].map(|ground| (name, ground))) {
                let [a, b] = [name, ground].map(|name| luminance(colour(mode, name).unwrap()) + 0.05);
                assert!(a.max(b) / a.min(b) >= 4.5, "{name} on {ground}: {}", a.max(b) / a.min(b));
            }
        }
    }
}
