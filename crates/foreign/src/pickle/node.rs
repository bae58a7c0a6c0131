//! The objects that a pickle builds.

/// A place in [`Nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle(pub(super) u32);

/// One thing that a pickle built. What it holds are handles, so that two may hold one, and one itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer of 64 bits.
    Integer(i64),
    /// A longer one: two's complement, the lowest byte first.
    BigInteger(Box<[u8]>),
    /// A float.
    Float(f64),
    /// A text.
    Text(Box<str>),
    /// Bytes.
    Bytes(Box<[u8]>),
    /// A tuple.
    Tuple(Vec<Handle>),
    /// A list or a set.
    List(Vec<Handle>),
    /// A plain dictionary, in the order in which it was filled; of two equal keys the last counts.
    Dictionary(Vec<(Handle, Handle)>),
    /// A class or function, by its name alone.
    Global(Box<str>),
    /// The object that a call would have made.
    Call(Box<Call>),
    /// An object outside of the pickle, by its persistent id.
    PersistentId(Handle),
}

/// A call that nobody makes: `callable(*arguments)`, then filled and given a state.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The callable, such as `collections.OrderedDict`.
    pub callable: Handle,
    /// A tuple.
    pub arguments: Handle,
    /// The object's state: its attributes, as a rule.
    pub state: Option<Handle>,
    /// Items set, as of a dictionary.
    pub items: Vec<(Handle, Handle)>,
    /// Elements appended, as to a list.
    pub elements: Vec<Handle>,
}

/// All that a pickle built.
#[derive(Clone, Debug)]
pub struct Nodes {
    pub(super) all: Vec<Node>,
    pub(super) root: Handle,
}

impl Nodes {
    /// Returns the object that was pickled.
    pub fn root(&self) -> Handle {
        self.root
    }

    /// All things, in the order in which they were built.
    pub fn handles(&self) -> impl Iterator<Item = Handle> + use<> {
        (0..self.all.len() as u32).map(Handle)
    }

    /// A thing.
    pub fn get(&self, handle: Handle) -> &Node {
        &self.all[handle.0 as usize]
    }

    /// A text.
    pub fn text(&self, handle: Handle) -> Option<&str> {
        match self.get(handle) {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    /// An integer that is not negative.
    pub fn number(&self, handle: Handle) -> Option<u64> {
        match self.get(handle) {
            Node::Integer(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// The elements of a tuple.
    pub fn tuple(&self, handle: Handle) -> Option<&[Handle]> {
        match self.get(handle) {
            Node::Tuple(elements) => Some(elements),
            _ => None,
        }
    }

    /// The name of a class or function.
    pub fn global(&self, handle: Handle) -> Option<&str> {
        match self.get(handle) {
            Node::Global(name) => Some(name),
            _ => None,
        }
    }
}
