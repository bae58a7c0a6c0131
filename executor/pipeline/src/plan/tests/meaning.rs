//! The meaning of a pipeline file.

use cwm_contract::{Format, Shape, Value};

use super::*;
use crate::plan::Body;

/// The benchmark in miniature, as the real pipelines are written.
pub const MINIATURE: &str = r#"
cwm: 1
vars: { seed: 0, policy: engine }
stages:
  games: { stage: play, with: { policy: $policy, games: 4000, seed: $seed } }
  corpus: { stage: parse, from: games }
  split: { stage: split, from: corpus, with: { buckets: 10000, validation: 500 } }
  tokens: { stage: tokenize, from: split }
  random_games: { stage: play, with: { policy: uniform } }
  random_corpus: { stage: parse, from: random_games }
  random_tokens: { stage: tokenize, from: random_corpus }
  model:
    stage: train
    matrix: { family: [transformer, slice], size: [d32/l1, d64/l1], seed_of_model: [0, 1] }
    from: tokens
    with: { family: $family, size: $size, seed: $seed_of_model, lr: 3e-3 }
    needs: { cpu: all, gpu: 0.25, memory: 4GiB }
  evaluation:
    stage: evaluate
    each: model
    matrix: { test: { held_out: tokens.validation, random_uniform: random_tokens } }
    from: { checkpoint: model, games: $test }
  report: { stage: report, from: [evaluation, corpus, split, tokens, model] }
export: { report: report/ }
"#;

#[test]
fn the_miniature() {
    let plan = plan(MINIATURE);
    assert_eq!(plan.cells.len(), 7 + 8 + 16 + 1);
    assert_eq!(
        plan.stages.iter().map(|stage| stage.name.as_str()).collect::<Vec<_>>().join(" "),
        "games corpus split tokens random_games random_corpus random_tokens model evaluation report"
    );
    let model = cell(&plan, "model[family=slice,size=d64/l1,seed_of_model=1]");
    assert_eq!(inputs(&plan, model), "train: tokens = tokens.train\nvalidation: tokens = tokens.validation");
    assert_eq!(model.values["lr"], Value::Float(3e-3));
    assert_eq!(model.values["seed"], Value::Int(1));
    assert_eq!(model.settings.needs.cpu, None);
    assert_eq!((model.settings.needs.gpu, model.settings.needs.memory), (0.25, 4 << 30));
    let evaluation = cell(&plan, "evaluation[family=slice,size=d64/l1,seed_of_model=1,test=random_uniform]");
    assert_eq!(
        inputs(&plan, evaluation),
        "checkpoint: model[family=slice,size=d64/l1,seed_of_model=1] = \
         model[family=slice,size=d64/l1,seed_of_model=1].checkpoint\ngames: random_tokens = random_tokens.dataset"
    );
    let held_out = cell(&plan, "evaluation[family=slice,size=d64/l1,seed_of_model=1,test=held_out]");
    assert!(inputs(&plan, held_out).ends_with("games: tokens = tokens.validation"));
    let report = cell(&plan, "report");
    let counts: Vec<_> =
        report.inputs.iter().map(|input| (input.name.as_str(), input.group, input.sources.len())).collect();
    assert_eq!(counts, [("scores", true, 16), ("counts", true, 3), ("curves", true, 8)]);
    assert_eq!(
        report.inputs[0].sources[0].label.to_string(),
        "evaluation[family=slice,size=d32/l1,seed_of_model=0,test=held_out]"
    );
    let tokens: Vec<_> = cell(&plan, "tokens").outputs.iter().map(|output| output.name.clone()).collect();
    assert_eq!(tokens, ["train", "validation", "counts"]);
    let export = &plan.exports[0];
    assert_eq!((plan.cells[export.cell].label.to_string().as_str(), export.output.as_str()), ("report", "report"));
    assert_eq!(export.path, PathBuf::from("/here/report"));
}

#[test]
fn cells_stand_after_what_they_read_and_otherwise_in_the_order_of_the_file() {
    let plan = plan(
        "cwm: 1\nstages:\n  b: { stage: split, from: a }\n  a: { stage: parse, from: z }\n  \
         z: { stage: play, with: { policy: engine } }\n  c: { stage: play, with: { policy: engine } }\n",
    );
    let order: Vec<_> = plan.cells.iter().map(|cell| cell.label.to_string()).collect();
    assert_eq!(order, ["z", "a", "b", "c"]);
    let of = |address| plan.ancestors(&plan.select(address).unwrap());
    assert_eq!(of("a"), [0, 1]);
    assert_eq!(of("c"), [3]);
}

#[test]
fn values_are_typed_and_a_dollar_is_a_dollar() {
    let plan = plan_with(
        r#"
cwm: 1
vars: { n: 9007199254740993, word: "a$$b", half: 0.5, yes: true, number: '12' }
stages:
  a:
    stage: command
    with:
      run: echo $n ${word} $$ $unknown
      exact: $n
      braces: "${n}"
      inside: "x${n}y$half/$yes"
      dollar: "$$n costs 5$ $"
      word: $word
      text: $number
"#,
        &[("half", "1e-7")],
    )
    .unwrap();
    let Body::Command(command) = &cell(&plan, "a").body else { panic!() };
    assert_eq!(command.run, "echo $n ${word} $$ $unknown");
    let text = |text: &str| Value::Text(text.into());
    assert_eq!(command.environment["exact"], Value::Int(9_007_199_254_740_993));
    assert_eq!(command.environment["braces"], Value::Int(9_007_199_254_740_993));
    assert_eq!(command.environment["inside"], text("x9007199254740993y1e-7/true"));
    assert_eq!(command.environment["dollar"], text("$n costs 5$ $"));
    assert_eq!(command.environment["word"], text("a$b"));
    assert_eq!(command.environment["text"], text("12"));
    assert_eq!(plan.sets["half"], "1e-7");
}

#[test]
fn a_path_is_relative_to_who_wrote_it() {
    let text = r#"
cwm: 1
vars: { where: data/a.pgn, folder: data }
stages:
  a: { stage: download, with: { url: $where } }
  b: { stage: download, with: { url: "$folder/./b.pgn", more: [x.pgn, $where, /z.pgn] } }
  c: { stage: download, with: { url: "sub/$folder/c.pgn" } }
  d: { stage: parse, from: { pgn: { file: $where } } }
  e: { stage: download, with: { url: "HTTPS://example.org/x" } }
"#;
    let paths = |plan: &Plan| {
        let url = |name| cell(plan, name).values["url"].to_string();
        format!("{} {} {} {} {}", url("a"), url("b"), url("c"), cell(plan, "b").values["more"], url("e"))
    };
    let written = plan(text);
    assert_eq!(
        paths(&written),
        "/here/data/a.pgn /here/data/b.pgn /here/sub/data/c.pgn [/here/x.pgn, /here/data/a.pgn, /z.pgn] \
         HTTPS://example.org/x"
    );
    assert_eq!(inputs(&written, cell(&written, "d")), "pgn: a.pgn = /here/data/a.pgn");
    let set = plan_with(text, &[("where", "w.pgn"), ("folder", "f")]).unwrap();
    assert_eq!(
        paths(&set),
        "/current/w.pgn /current/f/b.pgn /here/sub/f/c.pgn [/here/x.pgn, /current/w.pgn, /z.pgn] HTTPS://example.org/x"
    );
    assert_eq!(inputs(&set, cell(&set, "d")), "pgn: w.pgn = /current/w.pgn");
    let all: Vec<_> = (0..set.cells.len()).collect();
    assert_eq!(set.external_files(&all).len(), 5);
    assert_eq!(set.missing_files(&all).len(), 5);
}

#[test]
fn cells_are_joined_on_the_axes_that_both_have() {
    let plan = plan(
        r#"
cwm: 1
stages:
  g: { stage: play, matrix: { set: { a: engine, b: uniform }, seed: [0, 1] }, with: { policy: $set, seed: $seed } }
  p: { stage: parse, each: g, from: g }
  one: { stage: command, matrix: { set: [b, a] }, from: { corpus: p.counts, fixed: "p[seed=1,set=a].counts" }, with: { run: x } }
  all: { stage: command, from: { corpus: p.counts, some: "p[seed=1].counts", list: [p.counts, p.games, { file: x.txt }] }, with: { run: x } }
"#,
    );
    assert_eq!(inputs(&plan, cell(&plan, "p[set=a,seed=1]")), "pgn: g[set=a,seed=1] = g[set=a,seed=1].pgn");
    assert_eq!(
        inputs(&plan, cell(&plan, "one[set=a]")),
        "corpus*: p[set=a,seed=0] = p[set=a,seed=0].counts; p[set=a,seed=1] = p[set=a,seed=1].counts\n\
         fixed: p[set=a,seed=1] = p[set=a,seed=1].counts"
    );
    let all = inputs(&plan, cell(&plan, "all"));
    let mut lines = all.lines();
    assert_eq!(lines.next().unwrap().matches(" = ").count(), 4);
    assert_eq!(
        lines.next().unwrap(),
        "some*: p[set=a,seed=1] = p[set=a,seed=1].counts; p[set=b,seed=1] = p[set=b,seed=1].counts"
    );
    let list = lines.next().unwrap();
    assert!(list.starts_with("list*: p.counts[set=a,seed=0] = p[set=a,seed=0].counts; "), "{list}");
    assert!(list.contains("; p.games[set=b,seed=1] = p[set=b,seed=1].games; x.txt = /here/x.txt"), "{list}");
    assert_eq!(list.matches(" = ").count(), 9);
}

#[test]
fn a_group_input_takes_a_plain_stage_as_a_group_of_one() {
    let plan = plan(
        "cwm: 1\nstages:\n  s: { stage: command, with: { run: x }, outputs: { scores: { format: scores, ext: parquet }, \
         more: folder, plain: file, log: { folder: true } } }\n  r: { stage: report, from: s }\n",
    );
    assert_eq!(inputs(&plan, cell(&plan, "r")), "scores*: s = s.scores");
    let shapes: Vec<_> = cell(&plan, "s").outputs.iter().map(|output| (output.name.as_str(), output.shape)).collect();
    assert_eq!(
        shapes,
        [
            ("scores", Shape::File("parquet")),
            ("more", Shape::Folder),
            ("plain", Shape::File("")),
            ("log", Shape::Folder)
        ]
    );
}

#[test]
fn a_command_reads_what_is_bare_as_in_and_writes_out() {
    let plan = plan(
        "cwm: 1\nstages:\n  a: { stage: command, with: { run: x }, env: [LANG, CUDA_HOME] }\n  \
         b: { stage: command, from: a, with: { run: x, a: 1 } }\n  c: { stage: command, from: [a, b], with: { run: x } }\n",
    );
    assert_eq!(inputs(&plan, cell(&plan, "b")), "in: a = a.out");
    assert_eq!(inputs(&plan, cell(&plan, "c")), "in*: a = a.out; b = b.out");
    let b = cell(&plan, "b");
    assert_eq!(b.values.keys().cloned().collect::<Vec<_>>(), ["a", "run", "shell"]);
    assert_eq!(b.values["shell"].to_string(), "[bash, -euo, pipefail, -c]");
    assert_eq!((b.explicit["a"].place.line, b.explicit["a"].place.column), (4, 52));
    let Body::Command(command) = &cell(&plan, "a").body else { panic!() };
    assert_eq!(command.env, ["CUDA_HOME", "LANG"]);
}

#[test]
fn labels_of_numbers_do_not_depend_on_how_they_are_written() {
    let labels = |values: &str| {
        let text = format!(
            "cwm: 1\nstages:\n  m: {{ stage: command, matrix: {{ lr: {values} }}, with: {{ run: x, lr: $lr }} }}\n"
        );
        plan(&text).cells.iter().map(|cell| cell.label.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(labels("[1e-3, 3.0e-4, 1, 1.0, true]"), "m[lr=0.001] m[lr=0.0003] m[lr=1] m[lr=1.0] m[lr=true]");
    assert_eq!(labels("[0.001, 0.0003]"), labels("[1e-3, 3e-4]"));
}

#[test]
fn an_axis_may_hold_lists_and_maps_under_labels() {
    let plan = plan(
        "cwm: 1\nvars: { s: 5 }\nstages:\n  t: { stage: play, with: { policy: engine } }\n  c: { stage: parse, from: t }\n  \
         k: { stage: tokenize, from: { train: c.games } }\n  m: { stage: train, from: k, \
         matrix: { config: { small: { a: [1, $s] }, none: } }, with: { extra: $config } }\n",
    );
    assert_eq!(cell(&plan, "m[config=small]").values["extra"].to_string(), "{a: [1, 5]}");
    assert_eq!(cell(&plan, "m[config=none]").values["extra"], Value::Null);
}

#[test]
fn an_axis_whose_values_are_maps_says_several_things() {
    let text = "cwm: 1\nvars: { s: 7 }\nstages:\n  g: { stage: command, matrix: { n: [slice, mamba] }, with: { run: x, n: $n } }\n  \
         m: { stage: command, matrix: { family: { diag: { of: slice, lr: 1e-3, deep: { seed: $s } }, two: { of: mamba, lr: 3, deep: { seed: 1 } } } },\n\
             from: { in: 'g[n=${family.of}]' }, with: { run: x, lr: '${family.lr}', words: 'lr ${family.lr} seed ${family.deep.seed}' } }\n";
    let plan = plan(text);
    let diag = cell(&plan, "m[family=diag]");
    assert_eq!(inputs(&plan, diag), "in: g[n=slice] = g[n=slice].out");
    assert_eq!(diag.values["lr"], Value::Float(1e-3));
    assert_eq!(diag.values["words"], Value::Text("lr 0.001 seed 7".into()));
    assert_eq!(inputs(&plan, cell(&plan, "m[family=two]")), "in: g[n=mamba] = g[n=mamba].out");
}

#[test]
fn addresses_are_selected_and_what_they_lack_is_reported() {
    let plan = plan(MINIATURE);
    assert_eq!(plan.select("model").unwrap().len(), 8);
    assert_eq!(plan.select("model[size=d64/l1]").unwrap().len(), 4);
    assert_eq!(plan.select("evaluation[test=held_out, size=d64/l1]").unwrap().len(), 4);
    assert_eq!(plan.select_outputs("model[size=d64/l1].curves", None).unwrap().len(), 4);
    assert_eq!(plan.select_outputs("report", None).unwrap()[0].1, "report");
    let checkpoints = |text: &str| plan.select_outputs(text, Some(&Format::CHECKPOINT));
    let output_names: Vec<String> =
        checkpoints("model[size=d64/l1]").unwrap().into_iter().map(|(_, output_name)| output_name).collect();
    assert_eq!(output_names, ["checkpoint"; 4]);
    assert_eq!(checkpoints("model[size=d64/l1].curves").unwrap()[0].1, "curves");
    assert!(checkpoints("report").is_err() && checkpoints("split").is_err());
    let reported = |text: &str| {
        let error = plan.select_outputs(text, None).err().or(plan.select(text).err()).unwrap();
        format!("{text}: {error} ({})", error.hints.concat())
    };
    let all = [
        "modle",
        "model[sise=x]",
        "model[size=d64/l2]",
        "games[size=x]",
        "split.trian",
        "split",
        "report.report",
        "model[",
        "x y",
        "model[size=d64/l1,size=d32/l1]",
        "./x",
        "",
    ]
    .map(reported)
    .join("\n");
    insta::with_settings!({ prepend_module_to_snapshot => false }, { insta::assert_snapshot!("select", all) });
}

#[test]
fn variables_are_set_once_and_merge_keys_work() {
    let text = "cwm: 1\nvars: { a: 1, empty: x }\nstages:\n  s: &s { stage: command, with: { run: x, a: $a, e: \"<$empty>\" } }\n  t: { <<: *s }\n";
    assert!(plan_with(text, &[("a", "2"), ("a", "'4'"), ("empty", "''")]).is_err());
    let plan = plan_with(text, &[("a", "'4'"), ("empty", "''")]).unwrap();
    for stage in ["s", "t"] {
        assert_eq!(cell(&plan, stage).values["a"], Value::Text("4".into()));
        assert_eq!(cell(&plan, stage).values["e"], Value::Text("<>".into()));
    }
}

#[test]
fn an_axis_may_be_a_variable_that_is_a_list() {
    let text = "cwm: 1\nvars: { seeds: [0], wide: d8 }\nstages:\n  \
         m: { stage: command, matrix: { seed: $seeds, size: [$wide] }, with: { run: x, seed: $seed, size: $size } }\n";
    let labels = |sets: &[(&str, &str)]| -> Vec<String> {
        let plan = plan_with(text, sets).unwrap_or_else(|problems| panic!("{problems}"));
        plan.cells.iter().map(|cell| cell.label.to_string()).collect()
    };
    assert_eq!(labels(&[]), ["m[seed=0,size=d8]"]);
    let three = labels(&[("seeds", "[0, 1, 2]")]);
    assert_eq!(three, ["m[seed=0,size=d8]", "m[seed=1,size=d8]", "m[seed=2,size=d8]"]);
    let plan = plan_with(text, &[("seeds", "[0, 1, 2]")]).unwrap();
    assert_eq!(cell(&plan, "m[seed=2]").values["seed"], Value::Int(2));
    // As written out.
    assert_eq!(plan_with(&text.replace("$seeds", "[0, 1, 2]"), &[]).unwrap().cells.len(), 3);
}

#[test]
fn a_list_keeps_the_order_of_its_sources_and_its_labels_mean_nothing() {
    let stages = |from: &str| {
        format!(
            "cwm: 1\nstages:\n  \
             some: {{ stage: play, with: {{ policy: uniform }} }}\n  \
             many: {{ stage: play, matrix: {{ seed: [2, 1] }}, with: {{ policy: uniform, seed: $seed }} }}\n  \
             corpus: {{ stage: gather, from: {{ pgn: {from} }} }}\n"
        )
    };
    let given = |from: &str| {
        let plan = plan(&stages(from));
        let input = &cell(&plan, "corpus").inputs[0];
        let keys: Vec<String> = (0..input.sources.len()).map(|ordinal| input.key_label(ordinal)).collect();
        let labels: Vec<String> = input.sources.iter().map(|source| source.label.to_string()).collect();
        (labels.join(" "), keys.join(" "))
    };
    let answer = |labels: &str, keys: &str| (labels.to_owned(), keys.to_owned());
    assert_eq!(given("[some, { file: z/x.pgn }, { file: a/x.pgn }]"), answer("some x.pgn x.pgn", "0 1 2"));
    assert_eq!(given("[{ file: a/x.pgn }, some]"), answer("x.pgn some", "0 1"));
    assert_eq!(given("[some, many]"), answer("some many[seed=1] many[seed=2]", "0 1 2"));
    assert_eq!(given("some"), answer("some", ""));
    assert_eq!(given("[some]"), given("some"));
    let problems = plan_with(&stages("[some, { file: a/x.pgn }, some]"), &[]).unwrap_err().to_string();
    assert!(problems.contains("input `pgn` is given `some` twice"), "{problems}");
}
