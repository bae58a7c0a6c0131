//! The message for each fault: people read the texts in `snapshots/` before they are accepted.

use super::*;
use crate::plan::load;

fn reported(text: &str, sets: &[(&str, &str)]) -> String {
    match plan_with(text, sets) {
        Ok(_) => panic!("this pipeline has a fault:\n{text}"),
        Err(problems) => problems.to_string(),
    }
}

macro_rules! faults {
    ($($name:ident: $text:expr $(, set $sets:expr)?;)*) => {$(
        #[test]
        fn $name() {
            let sets: Vec<(&str, &str)> = [Vec::new(), $($sets.to_vec())?].concat();
            insta::with_settings!({ prepend_module_to_snapshot => false, description => $text, omit_expression => true }, {
                insta::assert_snapshot!(stringify!($name), reported($text, &sets));
            });
        }
    )*};
}

faults! {
    unknown_kind: "cwm: 1
stages:
  games: { stage: play, with: { policy: engine } }
  corpus: { stage: prase, from: games }
";
    kind_not_compiled_in: "cwm: 1
stages:
  bins: { stage: bins }
";
    misspelt_parameter: "cwm: 1
stages:
  games:
    stage: play
    with:
      policy: engine
      gmaes: 4000
";
    ill_typed_parameters: "cwm: 1
vars: { seed: zero }
stages:
  games: { stage: play, with: { policy: engin, games: -1, seed: $seed } }
  more: { stage: download, with: { url: '', more: [a, 1] } }
";
    missing_parameter: "cwm: 1
stages:
  games: { stage: play }
";
    cross_check: "cwm: 1
vars: { all: 10 }
stages:
  games: { stage: play, with: { policy: engine } }
  corpus: { stage: parse, from: games }
  split: { stage: split, from: corpus, with: { buckets: 7, validation: $all } }
  other: { stage: split, from: corpus, with: { buckets: 50 } }
";
    a_circle: "cwm: 1
stages:
  a: { stage: command, from: c, with: { run: x } }
  b: { stage: command, from: a, with: { run: x } }
  c: { stage: command, from: { x: b.out, y: d }, with: { run: x } }
  d: { stage: command, with: { run: x } }
  e: { stage: command, from: a, with: { run: x } }
  self: { stage: command, from: self, with: { run: x } }
";
    a_circle_and_more: "cwm: 1
stages:
  a: { stage: command, from: b, with: { run: x } }
  b: { stage: command, from: a, with: { run: x, z: $nowhere }, retry: -1 }
  c: { stage: command, from: b.none, with: { run: x } }
";
    each_in_a_circle: "cwm: 1
stages:
  a: { stage: command, each: b, with: { run: x } }
  b: { stage: command, each: a, with: { run: x } }
  c: { stage: command, each: d, with: { run: x } }
";
    missing_input: "cwm: 1
stages:
  games: { stage: play, with: { policy: engine } }
  corpus: { stage: parse }
  tokens: { stage: tokenize, from: { train: corpus.games } }
  scores: { stage: evaluate, from: { games: tokens.train } }
";
    unknown_input: "cwm: 1
stages:
  games: { stage: play, with: { policy: engine } }
  corpus: { stage: parse, from: { png: games } }
  other: { stage: parse, from: { file: games.pgn } }
  more: { stage: play, from: { pgn: games }, with: { policy: engine } }
";
    unknown_stage_port_axis_and_value: "cwm: 1
stages:
  games: { stage: play, with: { policy: engine } }
  corpus: { stage: parse, from: game }
  split: { stage: split, from: corpus.gaems }
  tokens: { stage: tokenize, from: { train: split.train } }
  model: { stage: train, from: tokens, matrix: { size: [d32, d64] }, with: { size: $size } }
  a: { stage: evaluate, from: { checkpoint: 'model[sise=d32]', games: tokens.train } }
  b: { stage: evaluate, from: { checkpoint: 'model[size=d23]', games: tokens.train } }
  c: { stage: evaluate, from: { checkpoint: 'model[size=d32', games: 'tokens[size=d32].train' } }
";
    two_stages_of_one_name: "cwm: 1
vars: { a: 1, a: 2 }
stages:
  games: { stage: play, with: { policy: engine, games: 1, games: 2 } }
  corpus: { stage: parse, from: games }
  games: { stage: play, with: { policy: uniform } }
";
    wrong_format: "cwm: 1
stages:
  games: { stage: play, with: { policy: engine } }
  corpus: { stage: parse, from: games }
  split: { stage: split, from: corpus }
  tokens: { stage: tokenize, from: split }
  model: { stage: train, from: tokens }
  again: { stage: split, from: model.checkpoint }
  other: { stage: split, from: { games: model } }
  third: { stage: evaluate, from: { checkpoint: split.train, games: split.counts } }
";
    nothing_joins_by_name: "cwm: 1
stages:
  games: { stage: play, with: { policy: engine } }
  corpus: { stage: parse, from: games }
  split: { stage: split, from: corpus }
  model: { stage: train, from: corpus }
  score: { stage: evaluate, from: model }
  tokens: { stage: tokenize, from: games }
  report: { stage: report, from: { scores: split } }
  source: { stage: play, from: games, with: { policy: engine } }
  second: { stage: split, from: { games: split } }
";
    one_artifact_wanted_and_several_given: "cwm: 1
stages:
  games: { stage: play, with: { policy: engine } }
  corpus: { stage: parse, from: games }
  tokens: { stage: tokenize, from: { train: corpus.games } }
  model: { stage: train, from: tokens, matrix: { size: [d32, d64], seed: [0, 1] }, with: { size: $size, seed: $seed } }
  score: { stage: evaluate, matrix: { size: [d32, d128] }, from: { checkpoint: model, games: tokens.train } }
  other: { stage: parse, from: { pgn: [games, { file: a.pgn }] } }
  third: { stage: command, from: { x: [games, games] }, with: { run: x } }
";
    not_yaml: "cwm: 1
stages:
  games: { stage: play
  corpus: ]
";
    dollar_and_brace: "cwm: 1
vars: { seed: 1 }
stages:
  games: { stage: play, with: { seed: ${seed} } }
";
    tabs: "cwm: 1\nstages:\n\tgames: { stage: play }\n";
    two_documents: "cwm: 1\nstages:\n---\ncwm: 1\n";
    no_anchor: "cwm: 1\nstages: { a: *b }\n";
    empty: "# nothing\n";
    a_list: "- cwm: 1\n";
    newer_version: "cwm: 2\nstagse: 1\n";
    wrong_version: "cwm: one\nstages: { a: { stage: play, with: { policy: engine } } }\n";
    no_version: "stages: { a: { stage: play, with: { policy: engine } } }\n";
    no_stages: "cwm: 1\nvars: {}\n";
    null_stages: "cwm: 1\nstages:\n";
    unknown_keys: "cwm: 1
var: { a: 1 }
stages:
  games: { stag: play, kind: play }
  corpus: { stage: parse, from: { pgn: { fiel: x } }, wiht: {}, deps: [a], needs: { cores: 2 } }
  local: { stage: command, with: { run: x }, outputs: { a: { fromat: pgn } }, dep: [] }
  empty:
  text: parse
";
    unused_axes: "cwm: 1
stages:
  games: { stage: play, matrix: { seed: [0, 1] }, with: { policy: engine } }
  corpus: { stage: parse, each: games, from: games, matrix: { size: [1, 2] } }
  local: { stage: command, matrix: { try: [0, 1] }, with: { run: echo $try } }
  fine: { stage: command, each: local, with: { run: x, size: 1 } }
";
    bad_needs: "cwm: 1
stages:
  games:
    stage: play
    with: { policy: engine }
    needs: { cpu: 0, gpu: -1, memory: 4 GB of it, time: 1h }
  more: { stage: play, with: { policy: engine }, needs: [cpu] }
";
    memory_without_a_unit: "cwm: 1
stages:
  a: { stage: command, with: { run: x }, needs: { memory: 4 } }
  b: { stage: command, with: { run: x }, limits: { memory: 8000 } }
";
    bad_names_and_labels: "cwm: 1
vars: { Seed: 1 }
stages:
  Games: { stage: play, with: { policy: engine } }
  a-b: { stage: play, with: { policy: engine } }
  c: { stage: command, matrix: { X: [1], y: ['a=b', '', ' a'], z: { 'a,b': 1 }, w: [[1]], v: 3, u: [], t: [1, 1] }, with: { run: x } }
";
    unknown_variable: "cwm: 1
vars: { seed: 0, other: $seed }
stages:
  games: { stage: play, matrix: { policy: [engine] }, with: { policy: $polciy, seed: $sed, games: '${games' } }
  local: { stage: command, with: { run: x, a: '$x and $', b: '${}' } }
";
    keys_of_axes: "cwm: 1
vars: { s: 1 }
stages:
  a: { stage: command, matrix: { f: { x: { of: slice, lr: 1 } } }, with: { run: x, a: '${f.og}', b: '${f.of.x}', c: '${s.x}', d: '${f.}', e: '${g.of}' } }
";
    axis_and_variable_clash: "cwm: 1
vars: { seed: 0 }
stages:
  a: { stage: play, matrix: { seed: [1] }, with: { policy: engine, seed: $seed } }
  b: { stage: play, matrix: { s: [1] }, with: { policy: engine, seed: $s } }
  c: { stage: parse, each: b, matrix: { s: [1] }, from: b }
";
    an_axis_of_no_list: "cwm: 1
vars: { one: 1, none: [], twice: [1, 1], deep: [[1]], in_text: [1, 2] }
stages:
  a: { stage: command, matrix: { x: $one, y: $none, z: $twice, u: $unknown, v: $in_text, w: 'a $one' }, with: { run: x, a: 'is $in_text' } }
";
    a_map_inside_text: "cwm: 1
stages:
  a: { stage: command, matrix: { m: { x: { k: v } } }, with: { run: x, a: 'is $m', b: $m } }
";
    bad_sets: "cwm: 1
vars: { seed: 0, policy: engine }
stages:
  a: { stage: play, with: { policy: $policy, seed: $seed } }
", set [("sed", "1"), ("seed", "one"), ("policy", "{a: b}"), ("seed", "a: b: c")];
    bad_set_value: "cwm: 1
vars: { seed: 0, policy: engine }
stages:
  a: { stage: play, with: { policy: $policy, seed: $seed } }
", set [("seed", "one"), ("policy", "egnine")];
    bad_commands: "cwm: 1
stages:
  a: { stage: command }
  b: { stage: command, with: { run: [x], in: 1, a-b: 2, list: [1], nothing: } }
  c: { stage: command, with: { run: x }, deps: [../x, /etc/passwd, none.py, 'no/*.py'], env: ['A=B'], outputs: { a: 3, b: { ext: .x }, c: { folder: yes }, d: { folder: true, ext: x } } }
  d: { stage: command, run: x, with: { run: x, shell: zsh } }
  e: { stage: command, with: { run: x, shell: [] } }
  f: { stage: command, with: { run: x, shell: [sh, 1] } }
";
    bad_exports: "cwm: 1
stages:
  games: { stage: play, with: { policy: engine } }
  corpus: { stage: parse, from: games }
  many: { stage: play, matrix: { seed: { a/b: 0, a-b: 1 } }, with: { policy: engine, seed: $seed } }
export:
  game: a
  corpus: b
  corpus.gmaes: c
  many: d
  games: .
  corpus.games: e/f
  corpus.counts: e
";
    bad_from: "cwm: 1
stages:
  a: { stage: parse, from: [{ file: x }] }
  b: { stage: parse, from: { pgn: [] } }
  c: { stage: parse, from: 3 }
  d: { stage: parse, from: { pgn: {} } }
  e: { stage: parse, from: '' }
";
    integers_without_end: "cwm: 1\nvars: { a: 999999999999999999999999999999999999999999 }\nstages: {}\n";
}

#[test]
fn artifacts_of_a_command_whose_links_would_have_one_name_are_refused() {
    let text = |matrix: &str| {
        format!(
            "cwm: 1\nstages:\n  a: {{ stage: command, matrix: {{ s: {matrix} }}, with: {{ run: x, s: $s }} }}\n  \
             b: {{ stage: command, from: {{ all: a }}, with: {{ run: x }} }}\n"
        )
    };
    let problem = reported(&text("[a/b, x, a_b]"), &[]);
    let message = "`a[s=a/b]` and `a[s=a_b]` would have one name in the folder of the input `all`, `a[s=a_b]`";
    assert!(problem.contains(message), "{problem}");
    plan(&text("[a/b, x, a_c]"));
}

#[test]
fn files_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let reported = |name: &str, bytes: Option<&[u8]>| {
        let file = folder.path().join(name);
        if let Some(bytes) = bytes {
            fs_err::write(&file, bytes).unwrap();
        }
        let problems = load(&file, &[], &stages::registry()).unwrap_err().to_string();
        problems.replace(&folder.path().display().to_string(), "/folder")
    };
    let all = [
        reported("none.yaml", None),
        reported("", None),
        reported("latin-1.yaml", Some(b"cwm: 1\nstages: { caf\xe9: { stage: play } }\n")),
        reported("binary.yaml", Some(&[0xff, 0xfe, 0, 1])),
        reported("null.yaml", Some(b"cwm: 1\0\n")),
    ]
    .join("\n");
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("files_that_cannot_be_read", all);
    });
}

#[test]
fn a_fault_that_all_cells_share_is_reported_once_and_json_has_its_place() {
    let text = "cwm: 1\nstages:\n  a: { stage: play, matrix: { seed: [0, 1, 2] }, with: { policy: x, seed: $seed } }\n";
    let problems = plan_with(text, &[]).unwrap_err();
    assert_eq!(problems.len(), 1);
    let at = &problems.reports()[0]["at"];
    let number = |name: &str| at[name].as_u64().unwrap() as usize;
    assert_eq!((at["file"].as_str(), number("line"), number("column")), (Some("pipeline.yaml"), 3, 66));
    assert_eq!(&text[number("start")..number("end")], "x");
}

#[test]
fn an_input_that_the_parameters_of_one_cell_need() {
    let stages = "  games: { stage: play, with: { policy: engine } }
  corpus: { stage: parse, from: games }
  tokens: { stage: tokenize, from: { train: corpus.games } }
";
    let model = "  model: { stage: train, matrix: { how: [plain, validated] }, from: { train: tokens.train }, with: { extra: $how } }\n";
    let message = reported(&format!("cwm: 1\nstages:\n{stages}{model}"), &[]);
    assert!(message.contains("stage `model[how=validated]` needs an input `validation`"), "{message}");
    assert!(!message.contains("how=plain"), "{message}");
}
