//! Options of engines: what is set, and whether an engine takes it.

use std::collections::BTreeMap;

use cwm_contract::{Cancellation, Failure};
use shakmaty_uci::UciOptionConfig;

/// How an engine is set up. It always has one thread.
#[derive(Clone, Debug)]
pub struct Settings {
    /// MiB of its hash table; an engine without this option has its own way.
    pub hash: u32,
    /// The number of lines that it reports of a position, from 1 (`MultiPV`).
    pub lines: u32,
    /// More options by name, as its documentation has them.
    pub options: BTreeMap<String, String>,
    /// A request to stop, which ends a search at once.
    pub cancellation: Cancellation,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { hash: 1, lines: 1, options: BTreeMap::new(), cancellation: Cancellation::default() }
    }
}

/// Options that are no user's: they would make answers depend on time, or are set by other words.
const RESERVED: [&str; 5] = ["Threads", "Hash", "MultiPV", "Ponder", "UCI_Chess960"];

impl Settings {
    /// Checks all that can be checked without the engine.
    ///
    /// # Errors
    /// An option is reserved, or has a line end in it.
    pub fn check(&self) -> Result<(), Failure> {
        for (name, value) in &self.options {
            if let Some(reserved) = RESERVED.iter().find(|reserved| reserved.eq_ignore_ascii_case(name.trim())) {
                return Err(Failure::input(format!("`{reserved}` is not among the options that may be set")));
            }
            if name.trim().is_empty() || format!("{name}{value}").contains(char::is_control) {
                return Err(Failure::input(format!("{name:?}: {value:?} is no option of an engine")));
            }
        }
        Ok(())
    }

    /// The options to set, in order: name, value, and whether an engine without the option is refused.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, String, bool)> {
        let own = [
            ("Threads", "1".to_owned(), false),
            ("Hash", self.hash.to_string(), false),
            ("MultiPV", self.lines.to_string(), self.lines > 1),
        ];
        own.into_iter().chain(self.options.iter().map(|(name, value)| (name.trim(), value.clone(), true)))
    }
}

/// Finds an option among those that an engine has; their names are equal in any case of letters.
pub fn find<'a>(options: &'a [UciOptionConfig], name: &str) -> Option<&'a UciOptionConfig> {
    options.iter().find(|option| option.get_name().eq_ignore_ascii_case(name))
}

/// What is wrong with a value of an option, as the end of a sentence that begins with the value.
pub fn fault(option: &UciOptionConfig, value: &str) -> Option<String> {
    match option {
        UciOptionConfig::Check { .. } => {
            (!["true", "false"].contains(&value)).then(|| "is neither `true` nor `false`".to_owned())
        }
        UciOptionConfig::Spin { min, max, .. } => {
            let (min, max) = (min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX));
            let is_good = value.parse().is_ok_and(|number: i64| (min..=max).contains(&number));
            (!is_good).then(|| format!("is no integer from {min} to {max}"))
        }
        UciOptionConfig::Combo { var, .. } => {
            let is_good = var.iter().any(|word| word.eq_ignore_ascii_case(value));
            (!is_good).then(|| format!("is none of {}", var.join(", ")))
        }
        UciOptionConfig::Button { .. } => Some("is a value, and a button has none".to_owned()),
        UciOptionConfig::String { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty_uci::UciMessage;

    #[test]
    fn values_are_held_against_the_declaration() {
        let option = |line: &str| match line.parse().unwrap() {
            UciMessage::Option(option) => option,
            other => panic!("{other}"),
        };
        let hash = option("option name Hash type spin default 16 min 1 max 1024");
        let style = option("option name Style type combo default Normal var Solid var Normal");
        let nets = option("option name Use NNUE type check default true");
        let file = option("option name EvalFile type string default nn.nnue");
        let clear = option("option name Clear Hash type button");
        for (option, good, bad) in [(&hash, "1024", "0"), (&style, "solid", "Risky"), (&nets, "false", "no")] {
            assert_eq!(fault(option, good), None);
            assert!(fault(option, bad).is_some() && fault(option, "").is_some());
        }
        assert_eq!(fault(&hash, "x").unwrap(), "is no integer from 1 to 1024");
        assert_eq!((fault(&file, "anything"), fault(&clear, "1").is_some()), (None, true));
        let options = [hash, nets];
        assert!(find(&options, "use nnue").is_some() && find(&options, "NNUE").is_none());
    }

    #[test]
    fn some_options_are_not_the_users() {
        let check = |name: &str, value: &str| {
            let options = [(name.to_owned(), value.to_owned())].into();
            Settings { options, ..Settings::default() }.check()
        };
        assert!(check("Skill Level", "3").is_ok());
        let failure = check("threads", "4").unwrap_err();
        assert_eq!(failure.message, "`Threads` is not among the options that may be set");
        for (name, value) in [("", "1"), ("A", "1\nquit"), ("A\nquit", "1")] {
            assert!(check(name, value).is_err(), "{name:?} {value:?}");
        }
    }
}
