//! Rust's syntax tree in one normal form: without tests, and without the choices that rustfmt makes.
//!
//! rustfmt adds and removes more than space: commas at the end of a list, braces around the body of a match arm or a
//! closure, semicolons after `return`, the order of `use` and `mod` lines. None of that may rerun a training.

use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Item, Stmt, Token, UseTree};

use crate::attributes::is_test_only;
use crate::tokens;

/// The bytes that stand for a file.
pub(crate) fn encode_file(mut file: syn::File) -> Vec<u8> {
    Normal.visit_file_mut(&mut file);
    tokens::encode(file.into_token_stream())
}

/// The bytes that stand for a single item.
pub(crate) fn encode_item(mut item: Item) -> Vec<u8> {
    Normal.visit_item_mut(&mut item);
    tokens::encode(item.into_token_stream())
}

/// The bytes that stand for an expression.
pub(crate) fn encode_expression(mut expression: Expr) -> Vec<u8> {
    Normal.visit_expr_mut(&mut expression);
    tokens::encode(expression.into_token_stream())
}

struct Normal;

/// The attributes of a node that has some, whichever variant it is.
macro_rules! attributes {
    ($node:expr, $kind:ident: $($variant:ident)*) => {
        match $node {
            $($kind::$variant(node) => node.attrs.as_slice(),)*
            _ => &[],
        }
    };
}

/// Visits what is below a node, then drops the comma that may follow the last entry of a list in it.
macro_rules! without_last_comma {
    ($($visit:ident($node:ty) $list:ident $(, at least $least:literal)?;)*) => {
        $(fn $visit(&mut self, node: &mut $node) {
            visit_mut::$visit(self, node);
            $(if node.$list.len() < $least { return })?
            node.$list.pop_punct();
        })*
    };
}

impl VisitMut for Normal {
    without_last_comma! {
        visit_angle_bracketed_generic_arguments_mut(syn::AngleBracketedGenericArguments) args;
        visit_bound_lifetimes_mut(syn::BoundLifetimes) lifetimes;
        visit_expr_call_mut(syn::ExprCall) args;
        visit_expr_method_call_mut(syn::ExprMethodCall) args;
        visit_expr_tuple_mut(syn::ExprTuple) elems, at least 2;
        visit_fields_unnamed_mut(syn::FieldsUnnamed) unnamed;
        visit_generics_mut(syn::Generics) params;
        visit_parenthesized_generic_arguments_mut(syn::ParenthesizedGenericArguments) inputs;
        visit_pat_slice_mut(syn::PatSlice) elems;
        visit_pat_tuple_mut(syn::PatTuple) elems, at least 2;
        visit_pat_tuple_struct_mut(syn::PatTupleStruct) elems;
        visit_signature_mut(syn::Signature) inputs;
        visit_type_fn_ptr_mut(syn::TypeFnPtr) inputs;
        visit_type_tuple_mut(syn::TypeTuple) elems, at least 2;
        visit_where_clause_mut(syn::WhereClause) predicates;
    }

    fn visit_file_mut(&mut self, file: &mut syn::File) {
        visit_mut::visit_file_mut(self, file);
        clean_items(&mut file.items);
    }

    fn visit_item_mod_mut(&mut self, module: &mut syn::ItemMod) {
        visit_mut::visit_item_mod_mut(self, module);
        if let Some((_, items)) = &mut module.content {
            clean_items(items);
        }
    }

    fn visit_item_impl_mut(&mut self, node: &mut syn::ItemImpl) {
        use syn::ImplItem;
        node.items.retain(|item| !is_test_only(attributes!(item, ImplItem: Const Fn Type Macro)));
        visit_mut::visit_item_impl_mut(self, node);
    }

    fn visit_item_trait_mut(&mut self, node: &mut syn::ItemTrait) {
        use syn::TraitItem;
        node.items.retain(|item| !is_test_only(attributes!(item, TraitItem: Const Fn Type Macro)));
        visit_mut::visit_item_trait_mut(self, node);
    }

    fn visit_item_enum_mut(&mut self, node: &mut syn::ItemEnum) {
        retain(&mut node.variants, |variant| !is_test_only(&variant.attrs));
        visit_mut::visit_item_enum_mut(self, node);
    }

    fn visit_fields_named_mut(&mut self, node: &mut syn::FieldsNamed) {
        retain(&mut node.named, |field| !is_test_only(&field.attrs));
        visit_mut::visit_fields_named_mut(self, node);
    }

    fn visit_expr_struct_mut(&mut self, node: &mut syn::ExprStruct) {
        retain(&mut node.fields, |field| !is_test_only(&field.attrs));
        visit_mut::visit_expr_struct_mut(self, node);
    }

    fn visit_pat_struct_mut(&mut self, node: &mut syn::PatStruct) {
        retain(&mut node.fields, |field| !is_test_only(&field.attrs));
        visit_mut::visit_pat_struct_mut(self, node);
    }

    fn visit_expr_array_mut(&mut self, array: &mut syn::ExprArray) {
        retain(&mut array.elems, |element| !is_test_only(element_attributes(element)));
        visit_mut::visit_expr_array_mut(self, array);
        array.elems.pop_punct();
    }

    fn visit_expr_match_mut(&mut self, node: &mut syn::ExprMatch) {
        node.arms.retain(|arm| !is_test_only(&arm.attrs));
        visit_mut::visit_expr_match_mut(self, node);
        for arm in &mut node.arms {
            // Printing puts a comma where one is needed.
            arm.comma = None;
            unwrap_block(&mut arm.body);
        }
    }

    fn visit_expr_closure_mut(&mut self, node: &mut syn::ExprClosure) {
        visit_mut::visit_expr_closure_mut(self, node);
        node.inputs.pop_punct();
        // With a return type the braces are part of the grammar.
        if matches!(node.output, syn::ReturnType::Default) {
            unwrap_block(&mut node.body);
        }
    }

    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        block.stmts.retain(|statement| !is_test_only(statement_attributes(statement)));
        visit_mut::visit_block_mut(self, block);
        if let Some(Stmt::Expr(Expr::Return(_) | Expr::Break(_) | Expr::Continue(_), semicolon)) =
            block.stmts.last_mut()
        {
            semicolon.get_or_insert_default();
        }
    }

    fn visit_use_tree_mut(&mut self, tree: &mut UseTree) {
        visit_mut::visit_use_tree_mut(self, tree);
        let UseTree::Group(group) = tree else { return };
        let mut items: Vec<UseTree> = std::mem::take(&mut group.items).into_iter().collect();
        items.sort_by_cached_key(|item| tokens::encode(item.to_token_stream()));
        match items.as_slice() {
            [UseTree::Name(name)] if name.ident == "self" => group.items.extend(items),
            [_] => *tree = items.remove(0),
            _ => group.items.extend(items),
        }
    }

    fn visit_macro_mut(&mut self, node: &mut syn::Macro) {
        // rustfmt formats a macro's arguments where they read as expressions, and so do we; elsewhere the tokens count.
        let Ok(mut arguments) = node.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated) else { return };
        arguments.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
        // The one macro whose last comma rustfmt touches.
        if node.path.is_ident("vec") {
            arguments.pop_punct();
        }
        node.tokens = arguments.into_token_stream();
    }
}

/// Drops test-only items and puts neighbouring `use` lines, and neighbouring plain `mod x;` lines, into one order.
fn clean_items(items: &mut Vec<Item>) {
    items.retain(|item| !is_test_only(item_attributes(item)));
    let kind = |item: &Item| match item {
        Item::Use(_) => 1,
        Item::Mod(module) if module.content.is_none() && module.attrs.iter().all(|a| a.path().is_ident("doc")) => 2,
        _ => 0,
    };
    for run in items.chunk_by_mut(|a, b| kind(a) != 0 && kind(a) == kind(b)) {
        run.sort_by_cached_key(|item| tokens::encode(item.to_token_stream()));
    }
}

pub(crate) fn item_attributes(item: &Item) -> &[syn::Attribute] {
    attributes!(item, Item: Const Enum ExternCrate Fn ForeignMod Impl Macro Mod Static Struct Trait TraitAlias Type Union Use)
}

fn statement_attributes(statement: &Stmt) -> &[syn::Attribute] {
    match statement {
        Stmt::Local(local) => &local.attrs,
        Stmt::Item(item) => item_attributes(item),
        Stmt::Macro(node) => &node.attrs,
        Stmt::Expr(expression, _) => attributes!(
            expression, Expr: Assign Await Binary Block Call ForLoop If Loop Macro Match MethodCall Return Try Unsafe While
        ),
    }
}

fn element_attributes(element: &Expr) -> &[syn::Attribute] {
    attributes!(element, Expr: Array Block Call Cast Field Lit Macro MethodCall Paren Path Reference Struct Tuple Unary)
}

fn retain<T, P: Default>(list: &mut Punctuated<T, P>, keep: impl Fn(&T) -> bool) {
    *list = std::mem::take(list).into_iter().filter(keep).collect();
}

/// `{ x }` becomes `x`, and `{ return x; }` becomes `return x`.
fn unwrap_block(body: &mut Box<Expr>) {
    let Expr::Block(node) = body.as_mut() else { return };
    if !node.attrs.is_empty() || node.label.is_some() || node.block.stmts.len() != 1 {
        return;
    }
    let leaves = |expression: &Expr| matches!(expression, Expr::Return(_) | Expr::Break(_) | Expr::Continue(_));
    match node.block.stmts.pop() {
        Some(Stmt::Expr(expression, semicolon)) if semicolon.is_none() || leaves(&expression) => **body = expression,
        Some(Stmt::Macro(node)) if node.semi_token.is_none() => {
            **body = Expr::Macro(syn::ExprMacro { attrs: node.attrs, mac: node.mac });
        }
        other => node.block.stmts.extend(other),
    }
}
