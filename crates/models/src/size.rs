//! Sizes of models: width and number of layers.

use std::fmt;
use std::str::FromStr;

use crate::ModelError;

/// A size, written `d128/l1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size {
    /// Model width d.
    pub width: usize,
    /// Number of layers.
    pub layers: usize,
}

/// Largest width and number of layers that are taken for meant.
const LARGEST: (usize, usize) = (65_536, 1_024);

impl Size {
    /// Heads of 64 channels each, at least one, as the authors' four sizes have them (protocol.md, "Which runs").
    ///
    /// # Errors
    /// The width does not divide among that many heads.
    pub fn heads(self) -> Result<usize, ModelError> {
        let heads = (self.width / 64).max(1);
        self.divided_by(heads)?;
        Ok(heads)
    }

    /// Channels per head when the width is divided among `heads`.
    ///
    /// # Errors
    /// It does not divide.
    pub fn divided_by(self, heads: usize) -> Result<usize, ModelError> {
        if heads == 0 || !self.width.is_multiple_of(heads) {
            return Err(ModelError::Architecture(format!(
                "size {self}: a width of {} does not divide among {heads} heads",
                self.width
            )));
        }
        Ok(self.width / heads)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "d{}/l{}", self.width, self.layers)
    }
}

impl FromStr for Size {
    type Err = ModelError;

    fn from_str(text: &str) -> Result<Self, ModelError> {
        let wrong = || {
            ModelError::Architecture(format!(
                "`{text}` is not a size: it must be dN/lM, width and number of layers, such as d128/l1"
            ))
        };
        let (width, layers) = text.split_once('/').ok_or_else(wrong)?;
        let number = |part: &str, letter: char, largest: usize| -> Option<usize> {
            let digits = part.strip_prefix(letter)?;
            let plain = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse().ok().filter(|number| plain && (1..=largest).contains(number))
        };
        let width = number(width, 'd', LARGEST.0).ok_or_else(wrong)?;
        let layers = number(layers, 'l', LARGEST.1).ok_or_else(wrong)?;
        Ok(Size { width, layers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_back_as_written_and_others_are_refused() {
        for text in ["d128/l1", "d32/l12"] {
            assert_eq!(text.parse::<Size>().unwrap().to_string(), text);
        }
        for text in
            ["", "128/1", "d128", "d0/l1", "d128/l0", "d0128/l1", "d128/l1/x", "d+1/l1", "d99999999999999999999/l1"]
        {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn heads_are_of_64_channels_and_must_divide() {
        let heads = |text: &str| text.parse::<Size>().unwrap().heads();
        assert_eq!(heads("d128/l1").unwrap(), 2);
        assert_eq!(heads("d512/l6").unwrap(), 8);
        assert_eq!(heads("d32/l1").unwrap(), 1);
        assert_eq!(
            heads("d200/l1").unwrap_err().to_string(),
            "size d200/l1: a width of 200 does not divide among 3 heads"
        );
    }
}
