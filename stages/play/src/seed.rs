//! The seed of a run: an integer of any size.

use cwm_contract::{Parameter, Type, Value};

/// An integer of any size, as its canonical decimal digits with a minus sign where it is negative.
///
/// In a pipeline it is an integer, or the digits in quotes where YAML's integers do not reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed(String);

impl Seed {
    /// The seed 0.
    pub fn zero() -> Self {
        Seed("0".into())
    }

    /// The seed written as `text`: an optional sign and at least one decimal digit; else `None`.
    pub fn parse(text: &str) -> Option<Self> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", text.strip_prefix('+').unwrap_or(text)),
        };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = digits.trim_start_matches('0');
        Some(Seed(if digits.is_empty() { "0".into() } else { format!("{sign}{digits}") }))
    }

    /// The canonical decimal digits, with a minus sign where the seed is negative.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The absolute value in words of 32 bits, least significant first, at least one: the key that Python's
    /// `random.Random(seed)` hands to its Mersenne Twister.
    pub fn to_words(&self) -> Vec<u32> {
        let mut words = vec![0u32];
        for digit in self.0.bytes().filter(u8::is_ascii_digit) {
            let mut carry = u64::from(digit - b'0');
            for word in &mut words {
                let value = u64::from(*word) * 10 + carry;
                *word = value as u32;
                carry = value >> 32;
            }
            if carry > 0 {
                words.push(carry as u32);
            }
        }
        words
    }
}

impl Parameter for Seed {
    fn kind() -> Type {
        Type::Any
    }

    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Int(integer) => Ok(Seed(integer.to_string())),
            Value::Text(text) => Seed::parse(text)
                .ok_or_else(|| format!("must be an integer, or its decimal digits in quotes, not `{text}`")),
            other => Err(format!("must be an integer, or its decimal digits in quotes, not {}", other.kind())),
        }
    }

    fn write(&self) -> Value {
        self.0.parse().map_or_else(|_| Value::Text(self.0.clone()), Value::Int)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_integer_in_base_two_to_the_32() {
        assert_eq!(Seed::parse("0").unwrap().to_words(), [0]);
        assert_eq!(Seed::parse("-4294967296").unwrap().to_words(), [0, 1]);
        let large = 123_456_789_012_345_678_901_234_567_890_u128;
        let expected: Vec<u32> = (0..4).map(|i| (large >> (32 * i)) as u32).collect();
        assert_eq!(Seed::parse(&large.to_string()).unwrap().to_words(), expected);
    }

    #[test]
    fn one_integer_has_one_spelling() {
        assert_eq!(Seed::parse("+007"), Seed::parse("7"));
        assert_eq!(Seed::parse("-0"), Seed::parse("0"));
        assert_eq!(Seed::read(&Value::Int(-7)), Ok(Seed::parse("-7").unwrap()));
        for wrong in ["", "-", "1e3", "0x10", "1 2", "--1"] {
            assert_eq!(Seed::parse(wrong), None, "{wrong}");
        }
        assert_eq!(
            Seed::read(&Value::Bool(true)).unwrap_err(),
            "must be an integer, or its decimal digits in quotes, not a boolean"
        );
    }

    #[test]
    fn a_seed_beyond_every_integer_type_is_kept_to_the_last_digit() {
        let digits = "9".repeat(60);
        let seed = Seed::read(&Value::Text(digits.clone())).unwrap();
        assert_eq!(seed.write(), Value::Text(digits));
    }
}
