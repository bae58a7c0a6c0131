//! Taking a file apart that lists the parts of a crate, so that each part's lines count for that part alone.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Item};

use crate::normal;

/// Cuts `mod x;` and the elements `x::…` of arrays out of `file` for every part `x`, and returns them encoded, by
/// part, in the order in which they stood.
pub(crate) fn cut(file: &mut syn::File, parts: &BTreeSet<String>) -> BTreeMap<String, Vec<Vec<u8>>> {
    let mut cutter = Cutter { parts, cut: BTreeMap::new() };
    cutter.visit_file_mut(file);
    cutter.cut
}

struct Cutter<'a> {
    parts: &'a BTreeSet<String>,
    cut: BTreeMap<String, Vec<Vec<u8>>>,
}

impl VisitMut for Cutter<'_> {
    fn visit_file_mut(&mut self, file: &mut syn::File) {
        for item in std::mem::take(&mut file.items) {
            let part = match &item {
                Item::Mod(module) if module.content.is_none() => self.parts.get(&module.ident.to_string()),
                _ => None,
            };
            match part {
                Some(part) => self.cut.entry(part.clone()).or_default().push(normal::encode_item(item)),
                None => file.items.push(item),
            }
        }
        visit_mut::visit_file_mut(self, file);
    }

    fn visit_expr_array_mut(&mut self, array: &mut syn::ExprArray) {
        for element in std::mem::take(&mut array.elems) {
            match leading_name(&element).and_then(|name| self.parts.get(&name)) {
                Some(part) => self.cut.entry(part.clone()).or_default().push(normal::encode_expression(element)),
                None => array.elems.push(element),
            }
        }
        visit_mut::visit_expr_array_mut(self, array);
    }
}

/// The `x` of `x::NAME`, `&x::NAME`, `x::entry(…)` and `x::Entry { … }`. Anything else stays where it is.
fn leading_name(element: &Expr) -> Option<String> {
    match element {
        Expr::Path(node) => first_of_several(&node.path),
        Expr::Struct(node) => first_of_several(&node.path),
        Expr::Reference(node) => leading_name(&node.expr),
        Expr::Paren(node) => leading_name(&node.expr),
        Expr::Cast(node) => leading_name(&node.expr),
        Expr::Call(node) => leading_name(&node.func),
        Expr::MethodCall(node) => leading_name(&node.receiver),
        _ => None,
    }
}

fn first_of_several(path: &syn::Path) -> Option<String> {
    let mut names = path.segments.iter().map(|segment| segment.ident.to_string()).skip_while(|name| name == "self");
    let first = names.next()?;
    names.next().map(|_| first)
}
