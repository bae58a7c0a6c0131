//! A file of any bytes gives diagnostics, never a panic.

use proptest::prelude::*;

use super::*;
use crate::plan::load;

/// Loads bytes as a file.
fn load_bytes(bytes: &[u8]) -> Result<Plan, Diagnostics> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pipeline.yaml");
    fs_err::write(&file, bytes).unwrap();
    load(&file, &[], &stages::registry())
}

#[test]
fn bombs_are_refused_in_words() {
    let wide = format!("a: &a [x]\nb: [{}]\n", vec!["*a"; 500_000].join(", "));
    let mut laughs = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..20_000 {
        laughs.push_str(&format!("a{level}: &a{level} [*a{0}, *a{0}, *a{0}, *a{0}]\n", level - 1));
    }
    let steps: String = (0..1400).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    let merges = format!("a: &a {{ k: v }}\nb:\n{}", "  <<: *a\n".repeat(400_000));
    for (text, wanted) in [
        (wide, "more than a million values"),
        (laughs, "more than a million values"),
        (format!("x: {}", "*".repeat(1 << 20)), "this alias refers to no anchor"),
        ("[".repeat(1 << 20), "more than 64 levels of nesting"),
        ("- ".repeat(1 << 19), "more than 64 levels of nesting"),
        ("{a: ".repeat(1 << 18), "more than 64 levels of nesting"),
        (steps, "more than 64 levels of nesting"),
        (merges, "more than a million values"),
        ("x".repeat(1 << 20), "this is not a pipeline but text"),
        ("a: b\n".repeat(1 << 17), "`a` is twice in one map"),
        (format!("cwm: 1\n{}", "k".repeat(1 << 20)), "not YAML"),
        ("x".repeat(17 << 20), "longer than 16 MiB"),
    ] {
        let reported = load_bytes(text.as_bytes()).unwrap_err().to_string();
        assert!(reported.contains(wanted), "wanted `{wanted}` for {:.40}…, got {reported:.600}", text);
        assert!(reported.len() < 40_000, "{} bytes of words", reported.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_set_is_taken_or_refused(name in "[a-z]{0,4}|seed", value in any::<String>()) {
        let _ = plan_with(meaning::MINIATURE, &[(&name, &value)]).map_err(|problems| problems.to_string());
    }
}
