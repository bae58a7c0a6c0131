//! Many cells, and files that mean harm: the work stays in proportion.

use super::*;

#[test]
fn ten_thousand_cells_are_all_joined() {
    let numbers: Vec<_> = (0..100).map(|number| number.to_string()).collect();
    let text = format!(
        "cwm: 1\nstages:\n  g: {{ stage: play, with: {{ policy: engine }} }}\n  c: {{ stage: parse, from: g }}\n  \
         k: {{ stage: tokenize, from: {{ train: c.games }} }}\n  \
         m: {{ stage: train, from: k, matrix: {{ size: [{0}], seed: [{0}] }}, with: {{ size: \"d$size\", seed: $seed }} }}\n  \
         e: {{ stage: evaluate, each: m, from: {{ checkpoint: m, games: k }} }}\n  r: {{ stage: report, from: e }}\n",
        numbers.join(", ")
    );
    let plan = plan(&text);
    assert_eq!(plan.cells.len(), 20_004);
    assert_eq!(cell(&plan, "r").inputs[0].sources.len(), 10_000);
    let one = cell(&plan, "e[size=57,seed=91]");
    assert!(inputs(&plan, one).starts_with("checkpoint: m[size=57,seed=91] = m[size=57,seed=91].checkpoint\n"));
    assert_eq!(plan.ancestors(&plan.select("e[size=57,seed=91]").unwrap()).len(), 5);
}

#[test]
fn a_chain_of_thousands_of_stages_is_no_deep_recursion() {
    let mut text = String::from("cwm: 1\nstages:\n  s0: { stage: command, with: { run: x } }\n");
    for stage in 1..5_000 {
        text.push_str(&format!(
            "  s{stage}: {{ stage: command, each: s{0}, from: s{0}, with: {{ run: x }} }}\n",
            stage - 1
        ));
    }
    assert_eq!(plan(&text).cells.len(), 5_000);
    let cycle = text.replace("s0: { stage: command,", "s0: { stage: command, each: s4999,");
    assert_eq!(
        plan_with(&cycle, &[]).unwrap_err().iter().filter(|problem| problem.message.contains("cycle")).count(),
        1
    );
}

#[test]
fn a_matrix_of_billions_is_refused_and_so_are_edges_without_number() {
    let numbers: Vec<_> = (0..100).map(|number| number.to_string()).collect();
    let axes: Vec<_> = (0..10).map(|axis| format!("a{axis}: [{}]", numbers.join(", "))).collect();
    let text =
        format!("cwm: 1\nstages:\n  m: {{ stage: command, matrix: {{ {} }}, with: {{ run: x }} }}\n", axes.join(", "));
    let reported = plan_with(&text, &[]).unwrap_err().to_string();
    assert!(reported.contains("this pipeline has more than 200000 cells"), "{reported}");
    let numbers: Vec<_> = (0..5_000).map(|number| number.to_string()).collect();
    let text = format!(
        "cwm: 1\nstages:\n  m: {{ stage: command, matrix: {{ a: [{0}] }}, with: {{ run: x, a: $a }} }}\n  \
         n: {{ stage: command, matrix: {{ b: [{0}] }}, from: m, with: {{ run: x, b: $b }} }}\n",
        numbers.join(", ")
    );
    let reported = plan_with(&text, &[]).unwrap_err().to_string();
    assert!(reported.contains("add up to more than 1000000"), "{reported}");
}
