//! Reconstructs tensors and storages from the calls in a pickle of PyTorch's.

use crate::element::Element;
use crate::pickle::{Handle, MAX_NAME_BYTES, Node, Nodes};
use crate::tensor::{MAX_DIMENSIONS, Storage, Tensor};

/// Calls around a tensor that may lie inside each other.
const MAX_WRAPPERS: usize = 8;

/// The name of a type is no longer; it is kept with every tensor.
const MAX_TYPE_NAME: usize = 64;

/// The module of the names of types.
const TYPES: &str = "torch.";

/// The tensor that an object of a pickle stands for, if it is one.
#[derive(Clone, Debug, PartialEq)]
pub enum ReconstructedObject {
    /// A dense tensor.
    Tensor(Tensor),
    /// A tensor of another kind, or a broken one: in words that follow its name.
    Unsupported(String),
    /// Something else.
    Other,
}

/// Reconstructs the tensor that `handle` stands for.
pub fn reconstruct(nodes: &Nodes, handle: Handle) -> ReconstructedObject {
    let mut handle = handle;
    for _ in 0..MAX_WRAPPERS {
        let Node::Call(call) = nodes.get(handle) else { return ReconstructedObject::Other };
        let (Some(callable), Some(arguments)) = (nodes.global(call.callable), nodes.tuple(call.arguments)) else {
            return ReconstructedObject::Other;
        };
        let made = match (callable, arguments) {
            ("torch._utils._rebuild_parameter" | "torch._utils._rebuild_parameter_with_state", [inner, ..]) => {
                handle = *inner;
                continue;
            }
            // A subclass of tensors, known by how its plain tensor is made: (function, class, arguments, state).
            ("torch._tensor._rebuild_from_type_v2", [function, _, arguments, ..]) => {
                match (nodes.global(*function), nodes.tuple(*arguments)) {
                    (Some(function), Some(arguments)) => rebuilt(nodes, function, arguments),
                    _ => Some(Err("is a broken tensor".into())),
                }
            }
            _ => rebuilt(nodes, callable, arguments),
        };
        return match made {
            None => ReconstructedObject::Other,
            Some(Ok(tensor)) => ReconstructedObject::Tensor(tensor),
            Some(Err(what)) => ReconstructedObject::Unsupported(what),
        };
    }
    ReconstructedObject::Unsupported("is wrapped too often".into())
}

/// The tensor that `function(*arguments)` makes; `None` if it makes none.
fn rebuilt(nodes: &Nodes, function: &str, arguments: &[Handle]) -> Option<Result<Tensor, String>> {
    let name = function.strip_prefix("torch._utils._rebuild_")?;
    Some(match (name, arguments) {
        ("tensor" | "tensor_v2", [storage, offset, shape, strides, ..]) => {
            strided(nodes, *storage, None, [*offset, *shape, *strides])
        }
        // Of types that have no storage of their own: (storage, offset, shape, strides, gradient, hooks, type).
        ("tensor_v3", [storage, offset, shape, strides, _, _, element, ..]) => {
            strided(nodes, *storage, Some(*element), [*offset, *shape, *strides])
        }
        ("tensor" | "tensor_v2" | "tensor_v3", _) => Err("is a broken tensor".into()),
        (other, _) => Err(format!("is no plain tensor but one of PyTorch's kind `{other}`")),
    })
}

fn strided(nodes: &Nodes, storage: Handle, element: Option<Handle>, layout: [Handle; 3]) -> Result<Tensor, String> {
    let broken = || "is a broken tensor".to_owned();
    let (mut storage, view) = stored(nodes, storage).ok_or_else(broken)?;
    if let Some(element) = element {
        let name = nodes.global(element).and_then(|name| name.strip_prefix(TYPES)).ok_or_else(broken)?;
        let element = element_named(name).ok_or_else(broken)?;
        let bytes = storage.element.bytes().and_then(|bytes| bytes.checked_mul(storage.length));
        let length = element.bytes().filter(|bytes| *bytes > 0).and_then(|size| Some(bytes? / size));
        storage = Storage { element, length: length.unwrap_or(0), ..storage };
    }
    // One tuple of a million may be the shape of a million tensors.
    let numbers = |handle: Handle| -> Result<Vec<u64>, String> {
        let numbers = nodes.tuple(handle).ok_or_else(broken)?;
        if numbers.len() > MAX_DIMENSIONS {
            return Err(format!("has {} dimensions; {MAX_DIMENSIONS} are read at most", numbers.len()));
        }
        numbers.iter().map(|&number| nodes.number(number).ok_or_else(broken)).collect()
    };
    let [offset, shape, strides] = layout;
    let offset = nodes.number(offset).and_then(|offset| offset.checked_add(view)).ok_or_else(broken)?;
    Ok(Tensor { storage, offset, shape: numbers(shape)?, strides: numbers(strides)? })
}

/// The storage of `("storage", class, key, device, length)`; in old files the name ends in `None` or `(key, offset,
/// length)` of a view into it, whose offset is given too.
fn stored(nodes: &Nodes, handle: Handle) -> Option<(Storage, u64)> {
    let Node::PersistentId(name) = nodes.get(handle) else { return None };
    let [kind, class, key, _device, length, rest @ ..] = nodes.tuple(*name)? else { return None };
    if nodes.text(*kind)? != "storage" {
        return None;
    }
    let class = nodes.global(*class)?.rsplit('.').next()?;
    let view = match rest {
        [] => 0,
        [view] => match nodes.get(*view) {
            Node::None => 0,
            Node::Tuple(view) => nodes.number(*view.get(1)?)?,
            _ => return None,
        },
        _ => return None,
    };
    let key = match nodes.get(*key) {
        Node::Text(key) if key.len() <= MAX_NAME_BYTES => key.clone(),
        Node::Integer(key) => key.to_string().into(),
        _ => return None,
    };
    let element = element_of_storage(class)?;
    Some((Storage { key, element, length: nodes.number(*length)? }, view))
}

fn element_of_storage(class: &str) -> Option<Element> {
    element_named(match class.strip_suffix("Storage").unwrap_or(class) {
        "Float" => "float32",
        "Double" => "float64",
        "Half" => "float16",
        "BFloat16" => "bfloat16",
        "Long" => "int64",
        "Int" => "int32",
        "Short" => "int16",
        "Char" => "int8",
        "Byte" | "Untyped" => "uint8",
        "Bool" => "bool",
        "ComplexFloat" => "complex64",
        "ComplexDouble" => "complex128",
        other => other,
    })
}

/// `None` if no type has such a name.
fn element_named(name: &str) -> Option<Element> {
    let bytes = match name {
        "float32" | "float" => return Some(Element::F32),
        "float64" | "double" => return Some(Element::F64),
        "float16" | "half" => return Some(Element::F16),
        "bfloat16" => return Some(Element::BF16),
        "complex128" => Some(16),
        "int64" | "uint64" | "complex64" => Some(8),
        "int32" | "uint32" | "QInt32" => Some(4),
        "int16" | "uint16" => Some(2),
        "int8" | "uint8" | "bool" | "QInt8" | "QUInt8" => Some(1),
        _ => None,
    };
    (name.len() <= MAX_TYPE_NAME).then(|| Element::Other { name: name.into(), bytes })
}
