//! Options of engines: their values, and checks of them.

use std::collections::BTreeMap;

use cwm_contract::{Cancellation, Failure};
use shakmaty_uci::UciOptionConfig;

/// The settings of an engine. It always has one thread.
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

/// Options with fixed values.
const FIXED: [&str; 4] = ["Threads", "Hash", "MultiPV", "Ponder"];

/// Options by which answers depend on chance or time, or which change the rules of chess.
const UNREPEATABLE: [&str; 8] = [
    "Skill Level",
    "UCI_LimitStrength",
    "UCI_Elo",
    "nodestime",
    "Slow Mover",
    "Move Overhead",
    "Clear Hash",
    "UCI_Chess960",
];

/// Parts of the names of options whose values are files. A file is not part of a key by its name.
const FILES: [&str; 3] = ["file", "path", "book"];

impl Settings {
    /// Checks all that can be checked without the engine, for options that a user chose: those that make answers depend on more
    /// than the position, the program and a key are refused.
    ///
    /// # Errors
    /// An option is refused, or has a line end in it.
    pub fn check(&self) -> Result<(), Failure> {
        self.check_lines()?;
        let refused =
            |(name, _): (&String, &String)| Some(format!("option `{}` {}", name.trim(), refusal(name.trim())?));
        self.options.iter().find_map(refused).map_or(Ok(()), |refused| Err(Failure::input(refused)))
    }

    /// Checks that each option is one line.
    ///
    /// # Errors
    /// One has a line end in it, or no name.
    pub(crate) fn check_lines(&self) -> Result<(), Failure> {
        let is_wrong = |(name, value): &(&String, &String)| {
            name.trim().is_empty() || format!("{name}{value}").contains(char::is_control)
        };
        match self.options.iter().find(is_wrong) {
            Some((name, value)) => Err(Failure::input(format!("{name:?}: {value:?} is no option of an engine"))),
            None => Ok(()),
        }
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

/// The reason why a user cannot set an option of this name, if there is one.
fn refusal(name: &str) -> Option<&'static str> {
    let is_among = |names: &[&str]| names.iter().any(|other| other.eq_ignore_ascii_case(name));
    let lower = name.to_ascii_lowercase();
    if is_among(&FIXED) {
        Some("has a fixed value")
    } else if is_among(&UNREPEATABLE) {
        Some("is refused: answers would depend on chance or time, or be those of other rules")
    } else if FILES.iter().any(|part| lower.contains(part)) {
        Some("is refused: its value is a file, whose content would not be part of the key")
    } else {
        None
    }
}

/// Finds an option among those that an engine has; their names are equal in any case of letters.
pub fn find<'a>(options: &'a [UciOptionConfig], name: &str) -> Option<&'a UciOptionConfig> {
    options.iter().find(|option| option.get_name().eq_ignore_ascii_case(name))
}

/// The fault of an option's value, as the end of a sentence that begins with the value.
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
        assert!(check("Use NNUE", "false").is_ok() && check("Contempt", "0").is_ok());
        assert_eq!(check("threads", "4").unwrap_err().message, "option `threads` has a fixed value");
        for name in UNREPEATABLE {
            let message = check(&name.to_uppercase(), "3").unwrap_err().message;
            assert!(message.contains("depend on chance or time"), "{message}");
        }
        for name in ["SyzygyPath", "EvalFile", "EvalFileSmall", "Book File", "OwnBook", "Debug Log File", "WeightsFile"]
        {
            let message = check(name, "x").unwrap_err().message;
            assert!(message.starts_with(&format!("option `{name}` is refused: its value is a file")), "{message}");
        }
        for (name, value) in [("", "1"), ("A", "1\nquit"), ("A\nquit", "1")] {
            assert!(check(name, value).is_err(), "{name:?} {value:?}");
        }
    }
}
