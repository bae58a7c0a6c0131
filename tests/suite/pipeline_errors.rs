//! Bad pipelines: each a clear, located error, nothing run, nothing lost.

use crate::context::Context;

/// Asserts that this pipeline is refused with exit code 3 and that all of these texts are said.
#[track_caller]
fn refused(yaml: &str, said: &[&str]) {
    let context = Context::with(yaml);
    let ran = context.cwm(&["run"]);
    assert_eq!(ran.code, 3, "{}\n{}", ran.stdout, ran.stderr);
    for text in said {
        assert!(ran.stderr.contains(text), "{text:?} is missing in:\n{}", ran.stderr);
    }
    assert!(!context.path("artifacts").exists(), "something was written");
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
}

#[test]
fn an_unknown_kind_gets_a_suggestion() {
    refused("cwm: 1\nstages:\n  a: { stage: splitt }\n", &["pipeline.yaml:3:15", "splitt", "split"]);
}

#[test]
fn a_misspelt_parameter_gets_a_suggestion() {
    refused(
        "cwm: 1\nstages:\n  g: { stage: play, with: { polcy: uniform, games: 1, seed: 1 } }\n",
        &["pipeline.yaml:3:29", "polcy", "policy"],
    );
}

#[test]
fn a_weight_of_a_mix_that_is_of_no_source_is_found_before_anything_runs() {
    refused(
        "cwm: 1\nstages:\n  e:\n    stage: command\n    matrix: { of: [a, b] }\n    with: { of: $of, run: 'echo > \"$out\"' }\n    \
         outputs: { out: { format: examples, ext: jsonl } }\n  mixed:\n    stage: mix\n    from: { examples: e }\n    \
         with: { weights: { \"e[of=a]\": 1, e: 1 }, tokens: 9 }\n",
        &[
            "pipeline.yaml:11:22",
            "parameter `weights` has `e`, which is no source",
            "the sources are `e[of=a]`, `e[of=b]`",
        ],
    );
}

#[test]
fn a_file_in_place_of_a_stage_gets_the_path_that_names_it() {
    let context = Context::with("cwm: 1\nstages:\n  a: { stage: command, from: f.txt, with: { run: x } }\n");
    context.write("f.txt", "1");
    let ran = context.cwm(&["run"]);
    let hint = "hint: for the file write `./f.txt`";
    assert!(ran.code == 3 && ran.stderr.contains(hint), "{}", ran.stderr);
    // With `--set`, also where a stage has the name of the file without its ending, and even an output with that of the ending.
    for (stage, output) in [("played", "out"), ("played", "pgn"), ("other", "out")] {
        let context = Context::with(&format!(
            "cwm: 1\nvars: {{ games: {stage} }}\nstages:\n  {stage}:\n    stage: command\n    outputs: {{ {output}: file }}\n    \
             with: {{ run: 'echo 1 > \"${{out:-${{out_pgn:-}}}}\"' }}\n  \
             b: {{ stage: command, from: {{ text: $games }}, with: {{ run: 'cat \"$in\" > \"$out\"' }} }}\n"
        ));
        context.write("played.pgn", "2");
        let ran = context.cwm(&["run", "--set", "games=played.pgn"]);
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        assert!(ran.stderr.contains("`played.pgn` names a stage, not the file of that name"), "{}", ran.stderr);
        assert!(ran.stderr.contains("hint: for the file write `./played.pgn`"), "{}", ran.stderr);
        assert_eq!(context.cwm(&["run", "--set", "games=./played.pgn"]).code, 0);
    }
}

#[test]
fn an_input_of_a_command_is_not_named_as_its_deps_are_in_the_key() {
    let context =
        Context::with("cwm: 1\nstages:\n  a: { stage: command, from: { deps: ./f.txt }, with: { run: x } }\n");
    context.write("f.txt", "1");
    let ran = context.cwm(&["run"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("an input of a command cannot be named `deps`"), "{}", ran.stderr);
}

#[test]
fn a_url_in_place_of_a_stage_gets_the_stage_that_takes_it() {
    let context = Context::with(
        "cwm: 1\nvars: { games: ./f.pgn }\nstages:\n  a: { stage: command, from: { text: $games }, with: { run: x } }\n",
    );
    let ran = context.cwm(&["run", "--set", "games=https://example.org/games.pgn.zst"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    for text in ["https://example.org/games.pgn.zst is a URL", "hint: a `download` stage takes it: ", "source: URL"] {
        assert!(ran.stderr.contains(text), "{text:?} is missing in:\n{}", ran.stderr);
    }
}

#[test]
fn a_default_that_is_written_out_brings_no_warning() {
    if !cfg!(all(feature = "play", feature = "parse", feature = "tokenize", feature = "train", feature = "evaluate")) {
        println!("skipped: built without the stages of a benchmark");
        return;
    }
    let context = Context::with(
        "cwm: 1\nstages:\n  games: { stage: play, with: { policy: uniform, games: 2 } }\n  \
         corpus: { stage: parse, from: games, with: { ids: site } }\n  tokens: { stage: tokenize, from: corpus }\n  \
         model: { stage: train, from: tokens, with: { steps: 1 } }\n  evaluation: { stage: evaluate, \
         from: { checkpoint: model, games: tokens }, with: { test: held_out, en_passant: always } }\n",
    );
    let planned = context.cwm(&["run", "--dry-run", "--output", "plain"]);
    assert_eq!(planned.code, 0, "{}", planned.stderr);
    assert!(!planned.stderr.contains("warning"), "{}", planned.stderr);
}

#[test]
fn usual_mistakes_in_yaml_get_advice() {
    let stage = |body: &str| format!("cwm: 1\nstages:\n  g: {{ stage: command, {body} }}\n");
    refused(
        &stage("from: m[size=a], with: { run: x }"),
        &["pipeline.yaml:3", "quote text with", "\"stage[axis=value]\""],
    );
    refused(&stage("timeout: 1s, with: { run: x }"), &["pipeline.yaml:3", "hint: `limits: { time: 1h }`"]);
    refused(&stage("with: { run: echo a: b }"), &["pipeline.yaml:3", "`: `", "'echo a: b'"]);
    refused(
        "cwm: 1\nstages:\n  g:\n   stage: command\n    with: { run: x }\n",
        &["pipeline.yaml:5", "the same column"],
    );
    refused("cwm: 1\nstages:\n\tg: { stage: command, with: { run: x } }\n", &["pipeline.yaml:3", "never with tabs"]);
    // A byte order mark and Windows line ends are no mistakes.
    refused(
        "\u{feff}cwm: 1\r\nstages:\r\n  g: { stage: comand }\r\n",
        &["pipeline.yaml:3:15", "did you mean `command`?"],
    );
}

#[test]
fn control_characters_of_a_pipeline_do_not_reach_the_terminal() {
    let context = Context::new();
    let name = "\u{1b}[31m.yaml";
    context
        .write(name, "cwm: 1\nstages:\n  g: { stage: command, with: { run: x }, \"\\e[31m\u{202e}\": \u{1b}[31m }\n");
    for arguments in [
        &["status", name][..],
        &["run", "-f", name],
        &["status", "--graph", "-f", name],
        &["why", "-f", name, "\u{1b}[31m"],
    ] {
        let ran = context.cwm(arguments);
        assert!(ran.code != 0 && !ran.stderr.is_empty(), "{arguments:?}");
        assert!(!ran.stderr.contains(['\u{1b}', '\u{202e}']), "{arguments:?}: {:?}", ran.stderr);
    }
}

#[test]
fn an_ill_typed_parameter_is_located() {
    refused(
        "cwm: 1\nstages:\n  g: { stage: play, with: { policy: uniform, games: many, seed: 1 } }\n",
        &["pipeline.yaml:3", "games", "integer", "many"],
    );
}

#[test]
fn a_cycle_is_named_whole() {
    refused(
        "cwm: 1\nstages:\n  a: { stage: command, from: b, with: { run: x } }\n  b: { stage: command, from: a, with: { run: x } }\n",
        &["cycle", "`a` reads `b`", "`b` reads `a`"],
    );
}

#[test]
fn a_missing_input_is_named() {
    refused("cwm: 1\nstages:\n  s: { stage: split }\n", &["pipeline.yaml:3", "games"]);
}

#[test]
fn two_stages_of_one_name_are_rejected_with_all_errors_of_both() {
    let yaml = "cwm: 1\nstages:\n  a: { stage: command, with: { run: x } }\n  a: { stage: command, form: b, with: { rum: y } }\n";
    refused(yaml, &["`a` is twice in one map", "has no key `form`", "command `a` has no `run`"]);
    let yaml = "cwm: 1\nstages:\n  a: { stage: command, with: { run: ' ' } }\n";
    refused(yaml, &["`run` must be the text of a shell command"]);
    refused(
        "cwm: 1\nstages:\n  a: { stage: command, with: { run: x } }\n  a: { stage: command, with: { run: y } }\n",
        &["pipeline.yaml:4"],
    );
}

#[test]
fn a_wrong_format_on_an_edge_is_refused_before_anything_runs() {
    refused(
        r#"
cwm: 1
stages:
  games: { stage: play, with: { policy: uniform, games: 2, seed: 1 } }
  corpus: { stage: parse, from: games }
  tokens: { stage: tokenize, from: corpus }
  model: { stage: train, from: { train: tokens.dataset }, with: { family: transformer, size: d16/l1 } }
  split: { stage: split, from: { games: model.checkpoint } }
"#,
        &["pipeline.yaml:8", "checkpoint", "games"],
    );
}

#[test]
fn invalid_yaml_is_reported() {
    refused("{ this is: [not, yaml", &["pipeline.yaml:1"]);
    refused("", &["pipeline.yaml"]);
    refused("just words", &["pipeline.yaml:1"]);
}

#[test]
fn a_megabyte_of_aliases_is_refused_quickly() {
    let mut yaml = String::from("cwm: 1\nvars:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        yaml += &format!("  a{level}: &a{level} [{aliases}]\n");
    }
    yaml += &format!("  many: [{}]\n", vec!["*a11"; 200_000].join(", "));
    assert!(yaml.len() > 1_000_000);
    refused(&yaml, &["pipeline.yaml"]);
}

#[test]
fn all_errors_are_reported_at_once() {
    refused(
        "cwm: 1\nstages:\n  a: { stage: splitt }\n  b: { stage: command, wiht: { run: x } }\n  c: { stage: command, from: nobody, with: { run: x } }\n",
        &["splitt", "wiht", "nobody"],
    );
}

#[test]
fn all_errors_of_a_stage_are_reported() {
    let yaml = r#"cwm: 1
vars: { x: 1 }
stages:
  good: { stage: command, with: { run: x } }
  wrong_kind: { stage: nokind, with: { w: $one }, retry: lots, limits: { memory: little }, needs: { gp: 1 } }
  wrong_axis: { stage: command, matrix: { q: [1, 1] }, from: nothere, with: { run: x, w: $two, v: $q }, retry: $three }
  wrong_each: { stage: command, each: no_stage, with: { run: x, w: $perhaps_an_axis }, limits: { time: soon } }
  wrong_env: { stage: command, with: { run: x, LANG: 1 }, env: [in, out_x, CWM_CORES, LANG, HOME] }
export: { wrong_kind: ../../x, nothing: $four, wrong_axis: ., good: a, good.out: a/b }
"#;
    refused(
        yaml,
        &[
            "there is no kind of stage `nokind`",
            "there is no variable or axis `$one`",
            "5:58",
            "`memory` must be an amount",
            "`needs` has no key `gp`",
            "axis `q` has `1` twice",
            "there is no stage `nothere`",
            "there is no variable or axis `$two`",
            "there is no variable or axis `$three`",
            "there is no stage `no_stage`",
            "`time` must be a time",
            "`in` cannot be passed through: cwm sets it itself",
            "`out_x` cannot be passed through",
            "`CWM_CORES` cannot be passed through",
            "variable `LANG` has two values",
            "`../../x` has a part `..`",
            "there is no stage `nothing`",
            "there is no variable or axis `$four`",
            "an export cannot replace the pipeline's folder",
            "two exports have the same destination",
        ],
    );
    let ran = Context::with(yaml).cwm(&["status"]);
    assert!(!ran.stderr.contains("perhaps_an_axis`"), "it may be an axis: {}", ran.stderr);
    assert!(!ran.stderr.contains("`HOME` cannot"), "{}", ran.stderr);
}

#[test]
fn a_missing_pipeline_and_an_unknown_stage_are_reported() {
    let context = Context::new();
    let ran = context.cwm(&["run", "-f", "nowhere.yaml"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("nowhere.yaml"), "{}", ran.stderr);
    // Folders above are looked in as well, and what somebody left in the one for temporary files is no fault of ours.
    match context.path("").ancestors().skip(1).find(|folder| folder.join("pipeline.yaml").exists()) {
        Some(folder) => println!("skipped: a run without a pipeline, since one lies in {}", folder.display()),
        None => {
            let ran = context.cwm(&["run"]);
            assert_eq!(ran.code, 2, "{}", ran.stderr);
            assert!(ran.stderr.contains("no pipeline.yaml here"), "{}", ran.stderr);
        }
    }
    let context = Context::with("cwm: 1\nstages:\n  model: { stage: command, with: { run: x } }\n");
    let ran = context.cwm(&["run", "modle"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("model"), "{}", ran.stderr);
}

#[test]
fn a_missing_source_file_is_located_before_anything_runs() {
    refused(
        "cwm: 1\nstages:\n  games: { stage: download, with: { source: nowhere.pgn } }\n",
        &["pipeline.yaml:3:45", "nowhere.pgn", "No such file"],
    );
    let context = Context::with(
        "cwm: 1\nvars: { games: null }\nstages:\n  games: { stage: download, with: { source: $games, month: 2013-01 } }\n",
    );
    let set = context.cwm(&["run", "--set", "games=./nope.pgn"]);
    assert!(set.code == 3 && set.stderr.contains("--set games:1:1"), "{}", set.stderr);
    assert!(set.stderr.contains("paths in `--set` are relative to the current folder"), "{}", set.stderr);
    // The path is underlined, wherever it stands, and not the input.
    let inputs = "cwm: 1\nstages:\n  a: { stage: command, with: { run: 'cat \"$in\"/* > \"$out\"' }, from: { x: [{ file: pipeline.yaml }, { file: nowhere.txt }] } }\n";
    refused(inputs, &["pipeline.yaml:3:108", "nowhere.txt", "^^^^^^^^^^^"]);
}

#[test]
fn outputs_that_name_none_are_refused() {
    refused(
        "cwm: 1\nstages:\n  a: { stage: command, with: { run: 'true' }, outputs: {} }\n",
        &["pipeline.yaml:3:56", "`outputs` names none", "leave it out"],
    );
}

#[test]
fn an_integer_out_of_range_is_reported_with_the_range() {
    refused(
        "cwm: 1\nvars: { a: 170141183460469231731687303715884105728 }\nstages: {}\n",
        &["pipeline.yaml:2:12", "not within −2^127 and 2^127 − 1"],
    );
}

#[test]
fn a_wrong_checksum_names_both() {
    let zeros = "0".repeat(64);
    let context = Context::with(&format!(
        "cwm: 1\nstages:\n  games: {{ stage: download, with: {{ source: games.pgn, sha256: \"{zeros}\" }} }}\n"
    ));
    context.write_old("games.pgn", "abc");
    let run = context.run(&[]);
    assert_eq!(run.raw.code, 1);
    let reason = &run.failed["games"];
    assert!(reason.contains(&zeros) && reason.contains("ba7816bf"), "{reason}");
}

#[test]
fn a_pgn_cut_in_the_middle_of_a_frame_is_a_located_error() {
    let Some(shared) = crate::context::shared() else { return };
    let cut = shared.join("data/awkward/34-ten-cut.pgn.zst");
    let context = Context::with(&format!(
        "cwm: 1\nstages:\n  corpus: {{ stage: parse, from: {{ pgn: {{ file: {} }} }} }}\n",
        cut.display()
    ));
    let run = context.run(&[]);
    assert_eq!(run.raw.code, 1);
    let reason = &run.failed["corpus"];
    assert!(reason.contains("byte"), "{reason}");
}

#[test]
fn device_at_the_top_of_a_pipeline_gets_a_hint() {
    refused(
        "cwm: 1\ndevice: cuda:0\nstages:\n  g: { stage: command, with: { run: x } }\n",
        &[
            "pipeline.yaml:2:1",
            "has no key `device`",
            "belongs to a stage: `stages: { NAME: { stage: …, device: … } }`",
        ],
    );
}

#[test]
fn an_entry_of_a_parameter_that_is_written_twice_is_refused() {
    refused(
        "cwm: 1\nstages:\n  a: { stage: analyse, with: { place: 9, options: { Contempt: '1', Contempt: '2' } } }\n",
        &["pipeline.yaml:3:68", "`Contempt` is twice in one map", "rename or remove one of them"],
    );
}
