//! Declares the parameters of a family by name.

use super::Init;

/// A declared parameter of rank `D`, by its place in the declaration order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot<const D: usize> {
    pub(crate) index: usize,
    pub(crate) shape: [usize; D],
}

/// The use of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Used whole, in matrix products or elementwise; rows may be looked up by token besides.
    Dense,
    /// A table looked up by token; only looked-up rows have a gradient.
    Embedding {
        /// A row that never receives a gradient (PyTorch's `padding_idx`); it does receive weight decay.
        padding: Option<usize>,
    },
}

/// A parameter as a family wants it.
#[derive(Clone, Debug)]
pub struct Declaration<const D: usize> {
    shape: [usize; D],
    init: Init,
    decays: bool,
    role: Role,
}

impl<const D: usize> Declaration<D> {
    /// A parameter of this shape.
    pub fn new(shape: [usize; D], init: Init) -> Self {
        Declaration { shape, init, decays: true, role: Role::Dense }
    }

    /// Exempt from weight decay.
    pub fn without_decay(mut self) -> Self {
        self.decays = false;
        self
    }
}

impl Declaration<2> {
    /// A table [tokens, width] that is looked up by token.
    pub fn embedding(shape: [usize; 2], init: Init, padding: Option<usize>) -> Self {
        Declaration { shape, init, decays: true, role: Role::Embedding { padding } }
    }
}

/// One declared parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The authors' name, such as `blocks.0.attn.qkv.weight`.
    pub name: String,
    /// The authors' shape, [out, in] for matrices.
    pub shape: Vec<usize>,
    /// The initial distribution.
    pub init: Init,
    /// True if weight decay applies.
    pub decays: bool,
    /// The use of the parameter.
    pub role: Role,
}

impl Parameter {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns true if it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// All parameters of a model, in declaration order.
#[derive(Clone, Debug, Default)]
pub struct Declarations {
    pub(crate) all: Vec<Parameter>,
}

impl Declarations {
    /// The scope without a prefix.
    pub fn root(&mut self) -> Scope<'_> {
        Scope { declarations: self, prefix: String::new() }
    }
}

/// Declares parameters below a prefix such as `blocks.0.attn.`.
#[derive(Debug)]
pub struct Scope<'a> {
    declarations: &'a mut Declarations,
    prefix: String,
}

impl Scope<'_> {
    /// The scope `name` (or several, `blocks.0`) inside this one.
    pub fn at(&mut self, name: impl std::fmt::Display) -> Scope<'_> {
        Scope { prefix: format!("{}{name}.", self.prefix), declarations: self.declarations }
    }

    /// Declares a parameter.
    pub fn declare<const D: usize>(&mut self, name: &str, declaration: Declaration<D>) -> Slot<D> {
        let Declaration { shape, init, decays, role } = declaration;
        let name = format!("{}{name}", self.prefix);
        debug_assert!(self.declarations.all.iter().all(|other| other.name != name), "`{name}` is declared twice");
        self.declarations.all.push(Parameter { name, shape: shape.to_vec(), init, decays, role });
        Slot { index: self.declarations.all.len() - 1, shape }
    }
}
