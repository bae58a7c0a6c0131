//! The files of a crate that belong to its tests: those that are reached only through `#[cfg(test)] mod x;`.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Expr, Item, Lit, Meta};

use crate::attributes::is_test_only;
use crate::files::{Content, SourceFile};
use crate::manifest::resolve;

/// The paths of the files that only tests use. A file that no `mod` line leads to is not among them: it is unknown what
/// does.
pub(crate) fn test_only(files: &[SourceFile]) -> BTreeSet<String> {
    let mut walk = Walk {
        files: files
            .iter()
            .filter_map(|file| match &file.content {
                Content::Rust(rust) => Some((file.path.as_str(), rust.as_ref())),
                Content::Bytes(_) => None,
            })
            .collect(),
        built: BTreeSet::new(),
        tested: BTreeSet::new(),
    };
    let roots: Vec<&str> = walk.files.keys().copied().filter(|path| is_root(path)).collect();
    for root in roots {
        walk.file(root, root_folder(root), false);
    }
    &walk.tested - &walk.built
}

fn is_root(path: &str) -> bool {
    let is_program =
        path.strip_prefix("src/bin/").is_some_and(|rest| !rest.contains('/') || rest.ends_with("/main.rs"));
    matches!(path, "src/lib.rs" | "src/main.rs" | "build.rs") || is_program
}

/// Returns the folder of the modules of a crate root or `mod.rs`: its own.
fn root_folder(path: &str) -> String {
    path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"))
}

struct Walk<'a> {
    files: BTreeMap<&'a str, &'a syn::File>,
    built: BTreeSet<String>,
    tested: BTreeSet<String>,
}

impl Walk<'_> {
    fn file(&mut self, path: &str, children: String, in_test: bool) {
        let seen = if in_test { &mut self.tested } else { &mut self.built };
        if !seen.insert(path.to_owned()) {
            return;
        }
        if let Some(file) = self.files.get(path).copied() {
            let in_test = in_test || is_test_only(&file.attrs);
            self.items(&file.items, &root_folder(path), &children, in_test);
        }
    }

    /// `beside` is where a `#[path]` counts from, `children` where `mod x;` looks.
    fn items(&mut self, items: &[Item], beside: &str, children: &str, in_test: bool) {
        for item in items {
            let Item::Mod(module) = item else { continue };
            let in_test = in_test || is_test_only(&module.attrs);
            let name = module.ident.to_string();
            let name = name.strip_prefix("r#").unwrap_or(&name);
            let below = format!("{children}{name}/");
            if let Some((_, items)) = &module.content {
                self.items(items, &below, &below, in_test);
            } else if let Some(path) = explicit_path(&module.attrs) {
                let path = resolve(beside, &path);
                let children = root_folder(&path);
                self.file(&path, children, in_test);
            } else {
                let flat = format!("{children}{name}.rs");
                let path = if self.files.contains_key(flat.as_str()) { flat } else { format!("{below}mod.rs") };
                self.file(&path, below, in_test);
            }
        }
    }
}

/// The text of `#[path = "…"]`.
fn explicit_path(attributes: &[syn::Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    })
}
