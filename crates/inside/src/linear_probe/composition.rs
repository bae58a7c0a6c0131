//! Compares sums of the linear probes of the colour and of the piece with the linear probe of both.

use super::{LinearProbe, SQUARES, Target};

/// Cosines of the sum of a colour's and a piece's direction with the directions of the classes of both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Composition {
    /// Class of the colour: 1 or 2.
    pub colour: usize,
    /// Class of the piece: 0 (none) to 6.
    pub piece: usize,
    /// Cosines with the classes 1 to 12 of both, each averaged over the squares.
    pub cosines: [f64; 12],
}

impl Composition {
    /// The cosine with its own class, and the mean with the others; `None` for a colour with no piece.
    pub fn own_and_others(&self) -> Option<(f64, f64)> {
        let own = (self.colour - 1) * 6 + self.piece.checked_sub(1)?;
        let others = self.cosines.iter().sum::<f64>() - self.cosines[own];
        Some((self.cosines[own], others / 11.0))
    }
}

/// Compares W_colour + W_piece of each colour and piece with W_both of each class that is a piece.
///
/// # Panics
/// The probes are of other targets or of different widths: a mistake of the caller.
pub fn compose(colour: &LinearProbe, piece: &LinearProbe, both: &LinearProbe) -> Vec<Composition> {
    let targets = [(colour, Target::Colour), (piece, Target::Piece), (both, Target::Both)];
    assert!(targets.iter().all(|(probe, target)| probe.classes() == target.classes().len()), "targets");
    let pairs = (1..colour.classes()).flat_map(|c| (0..piece.classes()).map(move |p| (c, p)));
    let of = |(c, p)| {
        let mut cosines = [0.0; 12];
        for square in 0..SQUARES {
            let sum: Vec<f64> = colour
                .direction(square, c)
                .iter()
                .zip(piece.direction(square, p))
                .map(|(colour, piece)| f64::from(*colour) + f64::from(*piece))
                .collect();
            for (class, mean) in (1..).zip(&mut cosines) {
                *mean += cosine(&sum, both.direction(square, class)) / SQUARES as f64;
            }
        }
        Composition { colour: c, piece: p, cosines }
    };
    pairs.map(of).collect()
}

/// The cosine of two vectors; 0 if one of them is 0.
fn cosine(a: &[f64], b: &[f32]) -> f64 {
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        let b = f64::from(*b);
        ab += a * b;
        aa += a * a;
        bb += b * b;
    }
    if aa * bb > 0.0 { ab / (aa * bb).sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Directions that are sums of one of a colour and one of a piece add up.
    #[test]
    fn sums_lie_along_their_own_class() {
        let width = 9;
        let unit = |channel: usize| (0..width).map(move |other| f32::from(u8::from(other == channel)));
        let probe = |target: Target, of: &dyn Fn(usize) -> Vec<usize>| {
            let row = |class| of(class).into_iter().flat_map(unit).collect::<Vec<f32>>();
            let fold = |class| (0..width).map(|c| row(class).iter().skip(c).step_by(width).sum::<f32>()).collect();
            let classes = target.classes().len();
            let weight = (0..SQUARES).flat_map(|_| (0..classes).flat_map(|class| -> Vec<f32> { fold(class) }));
            LinearProbe::new(classes, width, weight.collect())
        };
        let colour = probe(Target::Colour, &|class| if class == 0 { vec![] } else { vec![class - 1] });
        let piece = probe(Target::Piece, &|class| vec![2 + class]);
        let both =
            probe(Target::Both, &|class| if class == 0 { vec![2] } else { vec![(class - 1) / 6, 3 + (class - 1) % 6] });
        let found = compose(&colour, &piece, &both);
        assert_eq!(found.len(), 14);
        for composition in &found {
            let Some((own, others)) = composition.own_and_others() else {
                assert_eq!(composition.piece, 0);
                continue;
            };
            assert!((own - 1.0).abs() < 1e-12 && others < 0.5, "{composition:?}");
        }
    }
}
