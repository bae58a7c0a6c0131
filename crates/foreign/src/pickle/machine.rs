//! The stack machine that pickles are programs for (Python's `pickletools` has its instructions).

use std::collections::HashMap;
use std::io::BufRead;

use super::node::{Call, Handle, Node, Nodes};
use super::{Input, MAX_NAME_BYTES, MAX_NODES, MAX_STEPS, MemoryBudget, PickleError};

/// Reads one pickle of protocol 2 to 5, and stops behind it. Its copies count towards `budget`.
///
/// # Errors
/// It is cut off, is no such pickle, or builds more than any checkpoint does.
pub fn unpickle<R: BufRead>(input: &mut Input<R>, budget: &mut MemoryBudget) -> Result<Nodes, PickleError> {
    let (nodes, stack, marks, memo) = (Vec::new(), Vec::new(), Vec::new(), HashMap::new());
    let mut machine = Machine { input, budget, nodes, stack, marks, memo };
    for _ in 0..MAX_STEPS {
        if let Some(root) = machine.step()? {
            return Ok(Nodes { all: machine.nodes, root });
        }
    }
    Err(machine.input.fault(format!("it has more than {MAX_STEPS} instructions")))
}

struct Machine<'a, R> {
    input: &'a mut Input<R>,
    budget: &'a mut MemoryBudget,
    nodes: Vec<Node>,
    stack: Vec<Handle>,
    /// Heights of the stack.
    marks: Vec<usize>,
    memo: HashMap<u32, Handle>,
}

impl<R: BufRead> Machine<'_, R> {
    /// One instruction; what was pickled, if it is the last.
    fn step(&mut self) -> Result<Option<Handle>, PickleError> {
        match self.input.byte()? {
            0x80 => self.protocol()?,
            // FRAME: its length adds nothing to the instructions.
            0x95 => _ = self.input.array::<8>()?,
            b'.' => return self.pop().map(Some),

            b'N' => self.push(Node::None)?,
            0x88 => self.push(Node::Bool(true))?,
            0x89 => self.push(Node::Bool(false))?,
            b'J' => self.fixed::<4>(|bytes| Node::Integer(i32::from_le_bytes(bytes).into()))?,
            b'K' => self.fixed::<1>(|[byte]| Node::Integer(byte.into()))?,
            b'M' => self.fixed::<2>(|bytes| Node::Integer(u16::from_le_bytes(bytes).into()))?,
            b'G' => self.fixed::<8>(|bytes| Node::Float(f64::from_be_bytes(bytes)))?,
            0x8a => self.sized::<1>(|input, length| input.bytes(length).map(integer))?,
            0x8b => self.sized::<4>(|input, length| input.bytes(length).map(integer))?,
            b'U' | 0x8c => self.sized::<1>(|input, length| input.text(length).map(Node::Text))?,
            b'T' | b'X' => self.sized::<4>(|input, length| input.text(length).map(Node::Text))?,
            0x8d => self.sized::<8>(|input, length| input.text(length).map(Node::Text))?,
            b'C' => self.sized::<1>(|input, length| Ok(Node::Bytes(input.bytes(length)?.into())))?,
            b'B' => self.sized::<4>(|input, length| Ok(Node::Bytes(input.bytes(length)?.into())))?,
            0x8e | 0x96 => self.sized::<8>(|input, length| Ok(Node::Bytes(input.bytes(length)?.into())))?,

            b')' => self.push(Node::Tuple(Vec::new()))?,
            0x85 => self.tuple(1)?,
            0x86 => self.tuple(2)?,
            0x87 => self.tuple(3)?,
            b't' => {
                let elements = self.pop_to_mark()?;
                self.push(Node::Tuple(elements))?;
            }
            b']' | 0x8f => self.push(Node::List(Vec::new()))?,
            b'l' | 0x91 => {
                let elements = self.pop_to_mark()?;
                self.push(Node::List(elements))?;
            }
            b'a' => {
                let element = self.pop()?;
                self.append(vec![element])?;
            }
            b'e' | 0x90 => {
                let elements = self.pop_to_mark()?;
                self.append(elements)?;
            }
            b'}' => self.push(Node::Dictionary(Vec::new()))?,
            b'd' => {
                let items = self.items()?;
                self.push(Node::Dictionary(items))?;
            }
            b's' => {
                let value = self.pop()?;
                let key = self.pop()?;
                self.set(vec![(key, value)])?;
            }
            b'u' => {
                let items = self.items()?;
                self.set(items)?;
            }

            b'(' => self.marks.push(self.stack.len()),
            b'0' => _ = self.pop()?,
            b'1' => _ = self.pop_to_mark()?,
            b'2' => {
                let top = self.top()?;
                self.stack.push(top);
            }
            b'q' => {
                let [place] = self.input.array()?;
                self.memoize(place.into())?;
            }
            b'r' => {
                let place = u32::from_le_bytes(self.input.array()?);
                self.memoize(place)?;
            }
            0x94 => self.memoize(self.memo.len() as u32)?,
            b'h' => {
                let [place] = self.input.array()?;
                self.get_memo(place.into())?;
            }
            b'j' => {
                let place = u32::from_le_bytes(self.input.array()?);
                self.get_memo(place)?;
            }

            b'c' => {
                let (module, name) = (self.input.line()?, self.input.line()?);
                let node = global(&module, &name, self.budget).map_err(|what| self.input.fault(what))?;
                self.push(node)?;
            }
            0x93 => self.global()?,
            b'R' | 0x81 => {
                let arguments = self.pop()?;
                let callable = self.pop()?;
                self.call(callable, arguments)?;
            }
            // NEWOBJ_EX: arguments by name are used by none that matters here.
            0x92 => {
                _ = self.pop()?;
                let arguments = self.pop()?;
                let callable = self.pop()?;
                self.call(callable, arguments)?;
            }
            b'b' => {
                let state = self.pop()?;
                let built = self.top()?;
                // A state that a plain thing is given (attributes of a parameter) changes nothing of what it is.
                if let Node::Call(call) = &mut self.nodes[built.0 as usize] {
                    call.state = Some(state);
                }
            }
            b'Q' => {
                let name = self.pop()?;
                self.push(Node::PersistentId(name))?;
            }
            other => return Err(self.input.fault(format!("0x{other:02x} is no instruction that torch.save writes"))),
        }
        Ok(None)
    }

    fn protocol(&mut self) -> Result<(), PickleError> {
        match self.input.byte()? {
            2..=5 => Ok(()),
            other => Err(self.input.fault(format!("it has protocol {other}; 2 to 5 are read"))),
        }
    }

    fn push(&mut self, node: Node) -> Result<(), PickleError> {
        if self.nodes.len() == MAX_NODES {
            return Err(self.input.fault(format!("it builds more than {MAX_NODES} objects")));
        }
        self.stack.push(Handle(self.nodes.len() as u32));
        self.nodes.push(node);
        Ok(())
    }

    fn fixed<const N: usize>(&mut self, node: impl FnOnce([u8; N]) -> Node) -> Result<(), PickleError> {
        let bytes = self.input.array()?;
        self.push(node(bytes))
    }

    /// Pushes what `read` makes of as many bytes as the next `N` bytes say.
    fn sized<const N: usize>(
        &mut self,
        read: impl FnOnce(&mut Input<R>, u64) -> Result<Node, PickleError>,
    ) -> Result<(), PickleError> {
        let mut length = [0; 8];
        length[..N].copy_from_slice(&self.input.array::<N>()?);
        let node = read(self.input, u64::from_le_bytes(length))?;
        self.push(node)
    }

    fn top(&self) -> Result<Handle, PickleError> {
        let floor = self.marks.last().copied().unwrap_or(0);
        let top = self.stack.get(floor..).and_then(|above| above.last());
        top.copied().ok_or_else(|| self.input.fault("it takes from an empty stack"))
    }

    fn pop(&mut self) -> Result<Handle, PickleError> {
        let top = self.top()?;
        self.stack.pop();
        Ok(top)
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Handle>, PickleError> {
        let mark =
            self.marks.pop().ok_or_else(|| self.input.fault("it takes items up to a mark that it did not set"))?;
        Ok(self.stack.split_off(mark))
    }

    fn items(&mut self) -> Result<Vec<(Handle, Handle)>, PickleError> {
        let flat = self.pop_to_mark()?;
        let (pairs, rest) = flat.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(self.input.fault("it sets a key without a value"));
        }
        Ok(pairs.iter().map(|&[key, value]| (key, value)).collect())
    }

    fn tuple(&mut self, length: usize) -> Result<(), PickleError> {
        let mut elements = vec![Handle(0); length];
        for element in elements.iter_mut().rev() {
            *element = self.pop()?;
        }
        self.push(Node::Tuple(elements))
    }

    fn append(&mut self, elements: Vec<Handle>) -> Result<(), PickleError> {
        let list = self.top()?;
        match &mut self.nodes[list.0 as usize] {
            Node::List(all) => all.extend(elements),
            Node::Call(call) => call.elements.extend(elements),
            _ => return Err(self.input.fault("it appends to what is no list")),
        }
        Ok(())
    }

    fn set(&mut self, items: Vec<(Handle, Handle)>) -> Result<(), PickleError> {
        let dictionary = self.top()?;
        match &mut self.nodes[dictionary.0 as usize] {
            Node::Dictionary(all) => all.extend(items),
            Node::Call(call) => call.items.extend(items),
            _ => return Err(self.input.fault("it sets items of what is no dictionary")),
        }
        Ok(())
    }

    fn memoize(&mut self, place: u32) -> Result<(), PickleError> {
        let top = self.top()?;
        if self.memo.len() == MAX_NODES {
            return Err(self.input.fault(format!("it writes more than {MAX_NODES} entries of its memo")));
        }
        self.memo.insert(place, top);
        Ok(())
    }

    fn get_memo(&mut self, place: u32) -> Result<(), PickleError> {
        let known = self.memo.get(&place).copied();
        self.stack.push(known.ok_or_else(|| self.input.fault("it reads an entry of its memo that it did not write"))?);
        Ok(())
    }

    fn global(&mut self) -> Result<(), PickleError> {
        let (name, module) = (self.pop()?, self.pop()?);
        match (&self.nodes[module.0 as usize], &self.nodes[name.0 as usize]) {
            (Node::Text(module), Node::Text(name)) => {
                let node = global(module, name, self.budget).map_err(|what| self.input.fault(what))?;
                self.push(node)
            }
            _ => Err(self.input.fault("a class has no name")),
        }
    }

    fn call(&mut self, callable: Handle, arguments: Handle) -> Result<(), PickleError> {
        self.push(Node::Call(Box::new(Call {
            callable,
            arguments,
            state: None,
            items: Vec::new(),
            elements: Vec::new(),
        })))
    }
}

/// A class or function. Its name is a copy of two texts, which may have been pickled once for many.
fn global(module: &str, name: &str, budget: &mut MemoryBudget) -> Result<Node, String> {
    let length = module.len() + 1 + name.len();
    if length > MAX_NAME_BYTES {
        return Err("a name is too long".into());
    }
    budget.take(length).map_err(|full| full.to_string())?;
    Ok(Node::Global(format!("{module}.{name}").into()))
}

/// An integer of any length, two's complement, the lowest byte first.
fn integer(bytes: Vec<u8>) -> Node {
    if bytes.len() > 8 {
        return Node::BigInteger(bytes.into());
    }
    let sign = if bytes.last().is_some_and(|last| last & 0x80 != 0) { 0xff } else { 0 };
    let mut whole = [sign; 8];
    whole[..bytes.len()].copy_from_slice(&bytes);
    Node::Integer(i64::from_le_bytes(whole))
}
