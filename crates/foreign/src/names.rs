//! The authors' names under the wrappings that training puts around them.

use std::collections::HashSet;

/// Parts that wrappers of PyTorch put into names: `torch.compile`, checkpointed activations, FSDP.
const WRAPPERS: [&str; 3] = ["_orig_mod", "_checkpoint_wrapped_module", "_fsdp_wrapped_module"];

/// The names without wrappings: without the wrappers of PyTorch, and without first parts that all of them share
/// (`module.` of DataParallel, `model.` of many trainers), since no model has all its parameters in one.
///
/// # Errors
/// Two names that become one.
pub fn unwrapped(names: &[&str]) -> Result<Vec<String>, String> {
    let mut all: Vec<String> = names.iter().map(|name| without_wrappers(name)).collect();
    // Bytes that all of them begin with, up to a point.
    let mut shared = 0;
    while let Some((first, _)) = all.first().and_then(|name| name[shared..].split_once('.')) {
        let begins = |name: &String| name[shared..].split_once('.').is_some_and(|(other, _)| other == first);
        if all.len() < 2 || !all.iter().all(begins) {
            break;
        }
        shared += first.len() + 1;
    }
    for name in &mut all {
        name.drain(..shared);
    }
    let mut seen = HashSet::new();
    for (name, original) in all.iter().zip(names) {
        if !seen.insert(name) {
            return Err(format!("has `{name}` twice, once as `{original}`"));
        }
    }
    Ok(all)
}

fn without_wrappers(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for (index, part) in name.split('.').filter(|part| !WRAPPERS.contains(part)).enumerate() {
        if index > 0 {
            plain.push('.');
        }
        plain.push_str(part);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> Result<Vec<String>, String> {
        unwrapped(names)
    }

    #[test]
    fn wrappings_are_taken_off() {
        let plain = ["tok_emb.weight", "blocks.0.norm1.weight"];
        for wrapping in ["", "module.", "_orig_mod.", "module._orig_mod.", "_orig_mod.module.", "model.net."] {
            let wrapped = plain.map(|name| format!("{wrapping}{name}"));
            assert_eq!(of(&wrapped.each_ref().map(String::as_str)).unwrap(), plain, "{wrapping}");
        }
        let inside = of(&["tok_emb.weight", "blocks.0._orig_mod.norm1.weight"]).unwrap();
        assert_eq!(inside, plain);
        assert_eq!(of(&["a.weight"]).unwrap(), ["a.weight"]);
        assert_eq!(of(&["a.b", "a"]).unwrap(), ["a.b", "a"]);
        assert_eq!(of(&[]).unwrap(), [""; 0]);
    }

    #[test]
    fn names_that_become_one_are_refused() {
        let error = of(&["a.w", "b.w", "a._orig_mod.w"]).unwrap_err();
        assert_eq!(error, "has `a.w` twice, once as `a._orig_mod.w`");
    }
}
