//! Inputs and outputs of a stage.

use crate::Format;

/// A named input.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name in `from:`.
    pub name: &'static str,
    /// The format that it takes.
    pub format: Format,
    /// The number of artifacts that it takes.
    pub count: Count,
    /// One sentence for people.
    pub doc: &'static str,
}

/// The number of artifacts that an input takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Exactly one.
    One,
    /// One or none.
    Optional,
    /// A group: a map from label to artifact, at least one.
    Many,
    /// A list, at least one: artifacts in the order in which they are written, those of a matrix sorted by label.
    /// The result depends on their contents in that order, and not on their labels.
    List,
    /// A group that may be left out.
    OptionalMany,
}

impl Count {
    /// Returns true if several may be given.
    pub fn is_group(self) -> bool {
        matches!(self, Count::Many | Count::List | Count::OptionalMany)
    }

    /// Returns true if the input must be given.
    pub fn is_required(self) -> bool {
        matches!(self, Count::One | Count::Many | Count::List)
    }
}

/// A named output.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its name, as in `stage.name`.
    pub name: &'static str,
    /// Its type.
    pub format: Format,
    /// A file or a folder.
    pub shape: Shape,
    /// If set, this output exists only where that optional input is given.
    pub when: Option<&'static str>,
    /// One sentence for people.
    pub doc: &'static str,
}

/// The shape of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A file, with the extension that it gets where people see it (without the dot).
    File(&'static str),
    /// A folder of files.
    Folder,
    /// A file with that extension or a folder, as the stage's parameters have it: readers take both.
    FileOrFolder(&'static str),
}

impl Input {
    /// An input that takes exactly one artifact.
    pub const fn one(name: &'static str, format: Format, doc: &'static str) -> Self {
        Input { name, format, count: Count::One, doc }
    }

    /// An input that may be left out.
    pub const fn optional(name: &'static str, format: Format, doc: &'static str) -> Self {
        Input { name, format, count: Count::Optional, doc }
    }

    /// An input that takes a group.
    pub const fn many(name: &'static str, format: Format, doc: &'static str) -> Self {
        Input { name, format, count: Count::Many, doc }
    }

    /// An input that takes a list, whose order counts.
    pub const fn list(name: &'static str, format: Format, doc: &'static str) -> Self {
        Input { name, format, count: Count::List, doc }
    }

    /// An input that takes a group, or nothing.
    pub const fn optional_many(name: &'static str, format: Format, doc: &'static str) -> Self {
        Input { name, format, count: Count::OptionalMany, doc }
    }
}

impl Output {
    /// A file that is always written.
    pub const fn file(name: &'static str, format: Format, extension: &'static str, doc: &'static str) -> Self {
        Output { name, format, shape: Shape::File(extension), when: None, doc }
    }

    /// A folder that is always written.
    pub const fn folder(name: &'static str, format: Format, doc: &'static str) -> Self {
        Output { name, format, shape: Shape::Folder, when: None, doc }
    }

    /// A file or a folder, one of which is always written.
    pub const fn file_or_folder(
        name: &'static str,
        format: Format,
        extension: &'static str,
        doc: &'static str,
    ) -> Self {
        Output { name, format, shape: Shape::FileOrFolder(extension), when: None, doc }
    }

    /// Returns this output, written only where the optional input `input` is given.
    pub const fn when(mut self, input: &'static str) -> Self {
        self.when = Some(input);
        self
    }
}
