//! Predictions of the authors' code, with its own summary of them.

use std::collections::HashMap;

use cwm_contract::testing::shared;

use super::*;

/// The authors' predictions, targets and summary, by way of the stage: games that carry their targets as labels.
#[test]
fn the_authors_metrics_come_out() {
    let Some(golden) = shared("parity/metrics.json") else { return };
    let golden: serde_json::Value = serde_json::from_slice(&std::fs::read(golden).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (mut rows, mut game) = (Vec::new(), 0);
    let mut writer = DatasetWriter::create(&folder.path().join("dataset"), 9).unwrap().labelled(true);
    let bytes = |labels: &serde_json::Value| -> Vec<u8> { serde_json::from_value(labels.clone()).unwrap() };
    for batch in golden["batches"].as_array().unwrap() {
        for row in 0..batch["pad"].as_array().unwrap().len() {
            let real = batch["pad"][row].as_array().unwrap().iter().filter(|pad| pad.as_u64() == Some(0)).count();
            let targets: Vec<Vec<u8>> = (0..real).map(|t| bytes(&batch["target"][row][t])).collect();
            let id = format!("game{game}");
            let tokens = vec![START; real];
            let labels = targets.concat();
            writer
                .push(DatasetRow { index: game, id: &id, tokens: &tokens, result: "*", labels: Some(&labels) })
                .unwrap();
            for (t, target) in targets.iter().enumerate() {
                let labels = bytes(&batch["pred"][row][t]);
                // Their logits are 3 for the predicted class and 0 for the others.
                let of = |label: usize| {
                    let sum = 3f64.exp() + classes(label) as f64 - 1.0;
                    sum.ln() - if labels[label] == target[label] { 3.0 } else { 0.0 }
                };
                let loss = Some((0..LABELS).map(of).sum::<f64>() / LABELS as f64);
                rows.push(PredictionRow { game: game as usize, t: t as i64, labels, loss });
            }
            game += 1;
        }
    }
    writer.finish().unwrap();
    let rows = shuffled(&rows);
    let columns = vec![("id", ids(&rows)), ("t", times(&rows)), ("labels", fixed(&rows)), ("loss", losses(&rows))];
    write(&folder.path().join("predictions"), columns, None);
    let outcome = score(folder.path(), 2, &[]).unwrap();
    let summary = |name: &str| golden["summary"][name].as_f64().unwrap();
    let near = |found: f64, name: &str, tolerance: f64| {
        assert!((found - summary(name)).abs() < tolerance, "{name}: {found}, not {}", summary(name));
    };
    near(outcome.metrics["loss"], "val/loss", 1e-6);
    near(outcome.metrics["exact"], "val/overall/full_exact", 1e-12);
    near(outcome.metrics["labelwise"], "val/overall/partial_exact", 3e-7);
    near(outcome.metrics["trajectory"], "val/game_exact", 1e-12);

    let (found, _) = read(&outcome.outputs["scores"]);
    let mut bins: HashMap<u32, (f64, f64, f64)> = HashMap::new();
    let width = golden["bin_size"].as_u64().unwrap() as u32;
    for row in 0..found.num_rows() {
        let bin = bins.entry(found["t"].as_primitive::<UInt32Type>().value(row) / width).or_default();
        bin.0 += 1.0;
        bin.1 += f64::from(u8::from(found["exact"].as_boolean().value(row)));
        bin.2 += f64::from(found["correct"].as_primitive::<UInt8Type>().value(row)) / LABELS as f64;
    }
    assert_eq!(bins.len(), 4);
    for (bin, (positions, exact, labelwise)) in bins {
        let name = |what: &str| format!("val/bin{:03}-{:03}/{what}", bin * width, (bin + 1) * width);
        near(positions, &name("n"), 1e-12);
        near(exact / positions, &name("full_exact"), 1e-12);
        near(labelwise / positions, &name("partial_exact"), 3e-7);
    }
}
