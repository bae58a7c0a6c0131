//! Why a stage would run, followed to what somebody changed.

use crate::context::{Context, finish};

const CHAIN: &str = r#"
cwm: 1
vars: { n: 1, unused: 2 }
stages:
  first: { stage: command, with: { run: 'echo "$n" > "$out"', n: $n } }
  second: { stage: command, from: first, with: { run: 'cat "$in" "$in" > "$out"' } }
  third: { stage: command, from: second, with: { run: 'cat "$in" > "$out"' } }
  axis:
    stage: command
    matrix:
      m: { a: a,
           b: b }
    with: { run: 'echo "$m" > "$out"', m: $m }
"#;

fn why(context: &Context, words: &[&str]) -> String {
    let ran = context.cwm(&[&["why"], words].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.stdout
}

fn json(context: &Context, words: &[&str]) -> serde_json::Value {
    serde_json::from_str(&why(context, &[words, &["--json"]].concat())).expect("JSON")
}

fn dry(context: &Context, words: &[&str]) -> String {
    context.cwm(&[&["run", "--dry-run"], words].concat()).stderr
}

#[test]
fn a_parameter_is_told_with_the_line_where_its_value_is_written() {
    let context = Context::with(CHAIN);
    context.run(&[]);
    context.edit("pipeline.yaml", "n: 1,", "n: 5,");
    assert!(why(&context, &["first"]).contains("parameter `n` changed: 1 -> 5 (line 3)"), "a variable's line");
    let set = why(&context, &["first", "--set", "n=7"]);
    assert!(set.contains("parameter `n` changed: 1 -> 7 (--set)"), "{set}");
    // The value of an axis, where the stage has the same label all the same.
    context.edit("pipeline.yaml", "b: b }", "b: c }");
    let axis = why(&context, &["axis[m=b]"]);
    assert!(axis.contains("parameter `m` changed: b -> c (line 12)"), "{axis}");
}

#[test]
fn a_cell_that_waits_is_told_with_the_root_of_it() {
    let context = Context::with(CHAIN);
    context.run(&[]);
    context.edit("pipeline.yaml", "n: 1,", "n: 5,");
    let told = dry(&context, &[]);
    let root = "first would run, because parameter `n` changed: 1 -> 5 (line 3)";
    assert!(told.contains("may run    third\n             depends on second\n"), "{told}");
    assert_eq!(told.matches(root).count(), 2, "of second and of third:\n{told}");
    assert_eq!(json(&context, &["third"])[0]["because"][1], root);
}

#[test]
fn an_input_that_changed_is_followed_through_what_ran_meanwhile() {
    let context = Context::with(CHAIN);
    context.run(&[]);
    context.edit("pipeline.yaml", "n: 1,", "n: 5,");
    context.run(&["second"]);
    let reason = &json(&context, &["third"])[0];
    let sentence = reason["because"][0].as_str().expect("a sentence");
    assert!(sentence.starts_with("input `in` changed: "), "{sentence}");
    let end = ", because first ran again, because parameter `n` changed: 1 -> 5 (line 3)";
    assert!(sentence.contains(", because second ran again, because input `in` changed: "), "{sentence}");
    assert!(sentence.ends_with(end), "{sentence}");
    let told = dry(&context, &["third"]);
    assert!(told.contains(sentence), "{told}");
    let tree = why(&context, &["third"]);
    assert!(tree.contains("\n  second: ran again: ") && tree.contains("\n    first: ran again: "), "{tree}");
    assert!(tree.contains("\n      parameter `n` changed: 1 -> 5 (line 3)\n"), "{tree}");

    // Put back: the earlier results are there, and nobody has a reason to run.
    context.edit("pipeline.yaml", "n: 5,", "n: 1,");
    context.run(&[]).ran_just(&[]);
}

#[test]
fn why_works_on_a_store_that_cannot_be_written() {
    let context = Context::with(CHAIN);
    context.run(&[]);
    let before = context.inventory("artifacts");
    context.edit("pipeline.yaml", "n: 1,", "n: 5,");
    let output = context.command(&["why", "third", "first"]).env("HOME", "/nowhere").output().expect("cwm starts");
    assert_eq!(finish(output).code, 0);
    let after = context.inventory("artifacts");
    let changed: Vec<_> = after.iter().filter(|(path, now)| before.get(*path) != Some(*now)).collect();
    assert!(changed.iter().all(|(path, _)| path.ends_with("outside.cache") || path.is_dir()), "{changed:?}");
}
