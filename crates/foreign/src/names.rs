//! The authors' names under the wrappings that training puts around them.

use std::collections::HashSet;

/// What wrappers of PyTorch put between names, wherever they are: `torch.compile`, checkpointed activations, FSDP.
const WRAPPERS: [&str; 3] = ["_orig_mod", "_checkpoint_wrapped_module", "_fsdp_wrapped_module"];

/// The names without wrappings: without the wrappers of PyTorch, and without first parts that all of them share
/// (`module.` of DataParallel, `model.` of many trainers), since no model has all its parameters in one.
///
/// # Errors
/// Two names that become one.
pub fn unwrapped(names: &[String]) -> Result<Vec<String>, String> {
    let parts = |name: &String| -> Vec<String> {
        name.split('.').filter(|part| !WRAPPERS.contains(part)).map(str::to_owned).collect()
    };
    let mut all: Vec<Vec<String>> = names.iter().map(parts).collect();
    while let Some(first) = all.first().and_then(|name| name.first()).cloned() {
        if !all.iter().all(|name| name.len() > 1 && name[0] == first) || all.len() < 2 {
            break;
        }
        for name in &mut all {
            name.remove(0);
        }
    }
    let mut seen = HashSet::new();
    let all: Vec<String> = all.into_iter().map(|name| name.join(".")).collect();
    for (name, original) in all.iter().zip(names) {
        if !seen.insert(name) {
            return Err(format!("has `{name}` twice, once as `{original}`"));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> Result<Vec<String>, String> {
        unwrapped(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn wrappings_are_taken_off() {
        let plain = ["tok_emb.weight", "blocks.0.norm1.weight"];
        for wrapping in ["", "module.", "_orig_mod.", "module._orig_mod.", "_orig_mod.module.", "model.net."] {
            let wrapped = plain.map(|name| format!("{wrapping}{name}"));
            assert_eq!(unwrapped(&wrapped).unwrap(), plain, "{wrapping}");
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
