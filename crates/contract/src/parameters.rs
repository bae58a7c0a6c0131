//! Typed parameters: declared once, used for checking, defaults, keys, documentation and reading.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::{Failure, Value, Values, amount};

/// The type of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// `true` or `false`.
    Bool,
    /// A whole number within bounds (both inclusive).
    Integer {
        /// The smallest one.
        min: i128,
        /// The largest one.
        max: i128,
    },
    /// A number; an integer is taken as that number.
    Float,
    /// Text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// An external file; relative to the YAML file. Enters the key by its content.
    File,
    /// An external file, or a folder, which stands for the files in it and in its folders whose names end in one of
    /// `endings`, sorted by path. They enter the key by their contents in this order.
    Files {
        /// The endings, such as `.jsonl`.
        endings: &'static [&'static str],
    },
    /// An external file, or a URL (anything with `://` in it). A file enters the key by its content, a URL as text. In a
    /// [`Type::OneOrMany`] a folder stands for a list of the files in it, as of [`Type::Files`].
    FileOrUrl {
        /// The endings, such as `.jsonl`; without any, no folder is taken.
        endings: &'static [&'static str],
    },
    /// A number of bytes: an integer from 1, or a number with a unit such as `100MB`. Held as the integer.
    Bytes,
    /// A secret text: from a file, else from the environment variable `env`, else the public value `public`.
    /// Enters the key by its digest and is never written down.
    Secret {
        /// The environment variable to look at where no file is given.
        env: &'static str,
        /// The value if neither is there.
        public: &'static str,
    },
    /// A list of these.
    List(Box<Type>),
    /// One of these, or a list of them.
    OneOrMany(Box<Type>),
    /// A map from text to these.
    Map(Box<Type>),
    /// A value of this type, or nothing.
    Optional(Box<Type>),
    /// Anything: text, numbers, lists.
    Any,
}

impl Type {
    /// The value as this type holds it (an integer where a float is wanted becomes that float), or what is wrong
    /// with it, as a phrase that fits after `parameter x`: "must be an integer from 1 to 9, not text".
    pub fn normalise(&self, value: &Value) -> Result<Value, String> {
        let wrong = |wanted: &str| Err(format!("must be {wanted}, not {}", describe(value)));
        match (self, value) {
            (Type::Any, any) => Ok(any.clone()),
            (Type::Optional(_), Value::Null) => Ok(Value::Null),
            (Type::Optional(inner), other) => inner.normalise(other),
            (Type::Bool, Value::Bool(_)) => Ok(value.clone()),
            (Type::Integer { min, max }, Value::Int(i)) if (min..=max).contains(&i) => Ok(value.clone()),
            (Type::Integer { .. }, Value::Int(found)) => Err(format!("must be {}, not {found}", self.describe())),
            (Type::Float, Value::Float(_)) => Ok(value.clone()),
            (Type::Float, Value::Int(i)) => Ok(Value::Float(*i as f64)),
            (
                Type::Text | Type::File | Type::Files { .. } | Type::FileOrUrl { .. } | Type::Secret { .. },
                Value::Text(_),
            ) => Ok(value.clone()),
            (Type::Secret { .. }, Value::Null) => Ok(Value::Null),
            (Type::Bytes, value) => match amount::parse_bytes(value) {
                Some(bytes) => Ok(Value::Int(bytes.into())),
                None => wrong(&self.describe()),
            },
            (Type::OneOrMany(inner), Value::List(items)) => {
                items.iter().map(|item| inner.normalise(item)).collect::<Result<_, _>>().map(Value::List)
            }
            (Type::OneOrMany(inner), other) => inner.normalise(other),
            (Type::Choice(words), Value::Text(text)) if words.contains(&text.as_str()) => Ok(value.clone()),
            (Type::List(inner), Value::List(items)) => {
                items.iter().map(|item| inner.normalise(item)).collect::<Result<_, _>>().map(Value::List)
            }
            (Type::Map(inner), Value::Map(map)) => map
                .iter()
                .map(|(key, item)| Ok((key.clone(), inner.normalise(item)?)))
                .collect::<Result<BTreeMap<_, _>, String>>()
                .map(Value::Map),
            _ => wrong(&self.describe()),
        }
    }

    /// Returns a description of the type, with an article.
    pub fn describe(&self) -> String {
        match self {
            Type::Bool => "true or false".into(),
            Type::Integer { min: i128::MIN, max: i128::MAX } => "an integer".into(),
            Type::Integer { min, max: i128::MAX } => format!("an integer of at least {min}"),
            Type::Integer { min, max } => match [32, 63, 64].into_iter().find(|bits| *max == (1_i128 << bits) - 1) {
                Some(bits) => format!("an integer from {min} to 2^{bits}-1"),
                None => format!("an integer from {min} to {max}"),
            },
            Type::Float => "a number".into(),
            Type::Text => "text".into(),
            Type::Choice(words) => format!("one of {}", words.join(", ")),
            Type::File => "the path of a file".into(),
            Type::Files { endings } => format!("the path of a file or of a folder of files ({})", endings.join(", ")),
            Type::FileOrUrl { endings: [] } => "the path of a file or an http(s) URL".into(),
            Type::FileOrUrl { endings } => {
                format!("the path of a file, of a folder of files ({}), or an http(s) URL", endings.join(", "))
            }
            Type::Bytes => "a number of bytes such as 1000000 or 100MB".into(),
            Type::Secret { env, .. } => {
                format!("the path of a file that holds the secret (else the variable {env} has it)")
            }
            Type::List(inner) => format!("a list, each item {}", inner.describe()),
            Type::OneOrMany(inner) => format!("{}, or a list of such", inner.describe()),
            Type::Map(inner) => format!("a map, each value {}", inner.describe()),
            Type::Optional(inner) => format!("{}, or nothing", inner.describe()),
            Type::Any => "anything".into(),
        }
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::Null | Value::List(_) | Value::Map(_) => value.kind().into(),
        Value::Text(text) if text.chars().count() > 60 => "this text".into(),
        Value::Text(text) => format!("`{text}`"),
        other => format!("{} ({other})", other.kind()),
    }
}

/// One declared parameter.
#[derive(Clone, Debug)]
pub struct ParameterSpec {
    /// Its name in `with:`.
    pub name: &'static str,
    /// Its type.
    pub kind: Type,
    /// The value when it is not given; `None` when it must be.
    pub default: Option<Value>,
    /// The field's doc comment, for people.
    pub doc: String,
}

/// Something wrong with one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterError {
    /// The parameter, as in `with:`.
    pub parameter: String,
    /// The problem, as a phrase that fits after `parameter x`: "must be …".
    pub message: String,
    /// The remedy, if it is known.
    pub hint: Option<String>,
}

impl ParameterError {
    /// A fault of the parameter named `parameter`.
    pub fn new(parameter: impl Into<String>, message: impl Into<String>) -> Self {
        ParameterError { parameter: parameter.into(), message: message.into(), hint: None }
    }

    /// Sets the hint, if there is one, and returns the error.
    #[must_use]
    pub fn maybe_hint(self, hint: Option<String>) -> Self {
        ParameterError { hint, ..self }
    }
}

/// A Rust type that a parameter can have.
pub trait Parameter: Sized {
    /// The declared type.
    fn kind() -> Type;
    /// Reads a value that [`Type::normalise`] returned; the error is the problem with it.
    fn read(value: &Value) -> Result<Self, String>;
    /// Returns it as a value.
    fn write(&self) -> Value;
}

/// A stage's parameters together; made by [`parameters!`](crate::parameters).
pub trait Parameters: Sized {
    /// Returns the declarations.
    fn specs() -> Vec<ParameterSpec>;
    /// Reads normalised values with all defaults filled in.
    fn read(values: &Values) -> Result<Self, ParameterError>;
}

macro_rules! integer {
    ($($t:ty),*) => {$(
        impl Parameter for $t {
            fn kind() -> Type {
                Type::Integer { min: <$t>::MIN as i128, max: <$t>::MAX as i128 }
            }
            fn read(value: &Value) -> Result<Self, String> {
                match value {
                    Value::Int(i) => <$t>::try_from(*i).map_err(|_| format!("must be {}", Self::kind().describe())),
                    other => Err(format!("must be {}, not {}", Self::kind().describe(), describe(other))),
                }
            }
            fn write(&self) -> Value {
                Value::Int(*self as i128)
            }
        }
    )*};
}
integer!(u8, u16, u32, u64, usize, i64, i128);

macro_rules! plain {
    ($t:ty, $kind:expr, $variant:ident) => {
        impl Parameter for $t {
            fn kind() -> Type {
                $kind
            }
            fn read(value: &Value) -> Result<Self, String> {
                match $kind.normalise(value)? {
                    Value::$variant(inner) => Ok(inner),
                    other => Err(format!("must be {}, not {}", $kind.describe(), describe(&other))),
                }
            }
            fn write(&self) -> Value {
                Value::$variant(self.clone())
            }
        }
    };
}
plain!(bool, Type::Bool, Bool);
plain!(f64, Type::Float, Float);
plain!(String, Type::Text, Text);

impl Parameter for Value {
    fn kind() -> Type {
        Type::Any
    }
    fn read(value: &Value) -> Result<Self, String> {
        Ok(value.clone())
    }
    fn write(&self) -> Value {
        self.clone()
    }
}

impl<T: Parameter> Parameter for Option<T> {
    fn kind() -> Type {
        Type::Optional(Box::new(T::kind()))
    }
    fn read(value: &Value) -> Result<Self, String> {
        if *value == Value::Null { Ok(None) } else { T::read(value).map(Some) }
    }
    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::write)
    }
}

impl<T: Parameter> Parameter for Vec<T> {
    fn kind() -> Type {
        Type::List(Box::new(T::kind()))
    }
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::List(items) => items.iter().map(T::read).collect(),
            other => Err(format!("must be {}, not {}", Self::kind().describe(), describe(other))),
        }
    }
    fn write(&self) -> Value {
        Value::List(self.iter().map(T::write).collect())
    }
}

impl<T: Parameter> Parameter for BTreeMap<String, T> {
    fn kind() -> Type {
        Type::Map(Box::new(T::kind()))
    }
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Map(map) => map.iter().map(|(key, item)| Ok((key.clone(), T::read(item)?))).collect(),
            other => Err(format!("must be {}, not {}", Self::kind().describe(), describe(other))),
        }
    }
    fn write(&self) -> Value {
        Value::Map(self.iter().map(|(key, item)| (key.clone(), item.write())).collect())
    }
}

/// An external file; by the time a stage runs, its absolute path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile(pub PathBuf);

impl Parameter for SourceFile {
    fn kind() -> Type {
        Type::File
    }
    fn read(value: &Value) -> Result<Self, String> {
        String::read(value).map(|text| SourceFile(text.into()))
    }
    fn write(&self) -> Value {
        Value::Text(self.0.to_string_lossy().into_owned())
    }
}

/// An external file or something on the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceLocation {
    /// Absolute path of a file, by the time a stage runs.
    File(PathBuf),
    /// A URL of any scheme; which ones it speaks is the stage's to say.
    Url(String),
}

impl SourceLocation {
    /// Returns true if this text is a URL rather than a path: a scheme (a letter, then letters, digits, `+`, `-` and `.`), then
    /// `://`. A file of such a name is written with `./` before it.
    pub fn is_url(text: &str) -> bool {
        text.trim_start().split_once("://").is_some_and(|(scheme, _)| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        })
    }
}

impl Parameter for SourceLocation {
    fn kind() -> Type {
        Type::FileOrUrl { endings: &[] }
    }
    fn read(value: &Value) -> Result<Self, String> {
        let text = String::read(value)?;
        Ok(if SourceLocation::is_url(&text) { SourceLocation::Url(text) } else { SourceLocation::File(text.into()) })
    }
    fn write(&self) -> Value {
        match self {
            SourceLocation::File(path) => Value::Text(path.to_string_lossy().into_owned()),
            SourceLocation::Url(url) => Value::Text(url.clone()),
        }
    }
}

/// One value, or a list of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OneOrMany<T> {
    /// One, written by itself.
    One(T),
    /// A list of values, which may hold one or none.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// All of them.
    pub fn as_slice(&self) -> &[T] {
        match self {
            OneOrMany::One(one) => std::slice::from_ref(one),
            OneOrMany::Many(many) => many,
        }
    }
}

impl<T: Parameter> Parameter for OneOrMany<T> {
    fn kind() -> Type {
        Type::OneOrMany(Box::new(T::kind()))
    }
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::List(items) => items.iter().map(T::read).collect::<Result<_, _>>().map(OneOrMany::Many),
            one => T::read(one).map(OneOrMany::One),
        }
    }
    fn write(&self) -> Value {
        match self {
            OneOrMany::One(one) => one.write(),
            OneOrMany::Many(many) => Value::List(many.iter().map(T::write).collect()),
        }
    }
}

/// A number of bytes, at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl Parameter for Bytes {
    fn kind() -> Type {
        Type::Bytes
    }
    fn read(value: &Value) -> Result<Self, String> {
        amount::parse_bytes(value).map(Bytes).ok_or_else(|| format!("must be {}", Type::Bytes.describe()))
    }
    fn write(&self) -> Value {
        Value::Int(self.0.into())
    }
}

/// The source of a secret. In parameters it is a path or nothing; the text itself is read by
/// [`Context::secret`](crate::Context::secret) and is nowhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// The file that holds it, if one was given.
    pub file: Option<PathBuf>,
}

impl Secret {
    /// The secret text, trimmed, and where it came from in words: `file` if given, else the environment variable
    /// `env`, else `public`.
    ///
    /// # Errors
    /// The file cannot be read, or file or variable hold nothing but white space.
    pub fn resolve(file: Option<&Path>, env: &str, public: &str) -> Result<(String, String), Failure> {
        let (text, source) = match (file, std::env::var(env)) {
            (Some(path), _) => (
                std::fs::read_to_string(path).map_err(|error| Failure::io("read the secret in", path, error))?,
                format!("file {}", path.display()),
            ),
            (None, Ok(text)) => (text, format!("environment variable {env}")),
            (None, Err(_)) => return Ok((public.to_owned(), "the public key".to_owned())),
        };
        match text.trim() {
            "" => Err(Failure::input(format!("the secret from {source} is empty"))),
            trimmed => Ok((trimmed.to_owned(), source)),
        }
    }
}

/// Declares a stage's parameters: a struct, its defaults, and how it is read.
///
/// A field without `=` must be given. The doc comment of a field is what `cwm` shows people. `kind = …` replaces the
/// type that the field's Rust type implies (for words to choose from, narrower bounds, secrets).
///
/// ```
/// use cwm_contract::{parameters, Parameters, Type, Value};
/// parameters! {
///     /// What `split` takes.
///     pub struct Config {
///         /// Number of buckets.
///         pub buckets: u64 = 10_000,
///         /// Which games.
///         pub which: String = "all".into(), kind = Type::Choice(&["all", "some"]),
///         /// At most so many games.
///         pub limit: Option<u64> = None,
///         /// A name that must be given.
///         pub name: String,
///     }
/// }
/// assert_eq!(Config::specs()[0].default, Some(Value::Int(10_000)));
/// assert!(Config::specs()[3].default.is_none());
/// ```
///
/// `and pub NAME: TYPE` after the struct adds the parameters of `TYPE`, which was made likewise.
#[macro_export]
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])*
                pub $field:ident : $type:ty $(= $default:expr)? $(, kind = $kind:expr)?
            ),* $(,)?
        }
        $(and pub $rest:ident : $others:ty)?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        pub struct $name {
            $( $(#[doc = $doc])* pub $field: $type, )*
            $(
                /// Parameters that other stages have, too.
                pub $rest: $others,
            )?
        }

        impl $crate::Parameters for $name {
            fn specs() -> Vec<$crate::ParameterSpec> {
                let specs = vec![$(
                    $crate::ParameterSpec {
                        name: stringify!($field),
                        kind: $crate::parameters!(@kind $type $(, $kind)?),
                        default: $crate::parameters!(@default $type $(, $default)?),
                        doc: concat!($($doc, "\n"),*).trim().to_owned(),
                    }
                ),*];
                $( let specs = [specs, <$others as $crate::Parameters>::specs()].concat(); )?
                specs
            }

            fn read(values: &$crate::Values) -> Result<Self, $crate::ParameterError> {
                Ok($name {$(
                    $field: <$type as $crate::Parameter>::read(
                        values.get(stringify!($field)).unwrap_or(&$crate::Value::Null)
                    ).map_err(|message| $crate::ParameterError::new(stringify!($field), message))?,
                )* $( $rest: <$others as $crate::Parameters>::read(values)?, )? })
            }
        }
    };
    (@kind $type:ty) => { <$type as $crate::Parameter>::kind() };
    (@kind $type:ty, $kind:expr) => { $kind };
    (@default $type:ty) => { None };
    (@default $type:ty, $default:expr) => {
        Some({ let default: $type = $default; <$type as $crate::Parameter>::write(&default) })
    };
}

impl Parameter for Secret {
    fn kind() -> Type {
        Type::Secret { env: "", public: "" }
    }
    fn read(value: &Value) -> Result<Self, String> {
        Option::<String>::read(value).map(|file| Secret { file: file.map(PathBuf::from) })
    }
    fn write(&self) -> Value {
        self.file.as_ref().map_or(Value::Null, |file| Value::Text(file.to_string_lossy().into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_where_a_float_is_wanted_is_that_float() {
        assert_eq!(Type::Float.normalise(&Value::Int(1)).unwrap(), Value::Float(1.0));
    }

    #[test]
    fn what_is_wrong_is_reported() {
        let bounded = Type::Integer { min: 1, max: 9 };
        assert_eq!(bounded.normalise(&Value::Text("x".into())).unwrap_err(), "must be an integer from 1 to 9, not `x`");
        assert_eq!(bounded.normalise(&Value::Int(10)).unwrap_err(), "must be an integer from 1 to 9, not 10");
    }

    #[test]
    fn a_url_has_a_scheme_and_a_path_may_hold_a_colon() {
        for url in ["http://x/y", " HTTPS://x", "ftp://x", "file:///x"] {
            assert!(SourceLocation::is_url(url), "{url}");
        }
        for path in ["games.pgn", "/x/a:b.pgn", "./http://x", "a b://x", "://x", "c:/x"] {
            assert!(!SourceLocation::is_url(path), "{path}");
        }
    }

    #[test]
    fn one_or_many_keep_which_they_were() {
        let kind = <OneOrMany<u64>>::kind();
        for value in [Value::Int(3), Value::List(vec![Value::Int(3)]), Value::List(Vec::new())] {
            let normal = kind.normalise(&value).unwrap();
            assert_eq!(<OneOrMany<u64>>::read(&normal).unwrap().write(), value);
        }
        assert!(kind.normalise(&Value::List(vec![Value::Text("x".into())])).is_err());
    }
}
