//! The paper's facts against the paper's text, every one of them in both directions.

use std::collections::{BTreeMap, BTreeSet};

use cwm_contract::testing::shared;

/// Table, family, size, test set or stage, first step of the bin and metric of a fact, and its digits.
type Fact = (String, String);

const FAMILIES: [(&str, &str); 7] = [
    ("Gated DeltaNet with positive eigenvalues", "gated_deltanet_pos"),
    ("Gated DeltaNet", "gated_deltanet"),
    ("Diagonal SLiCE", "slice_diag"),
    ("Transformer", "transformer"),
    ("Mamba-3", "mamba3"),
    ("Mamba-2", "mamba2"),
    ("SLiCE", "slice"),
];

const SIZES: [&str; 4] = ["d128/l1", "d256/l2", "d384/l4", "d512/l6"];

fn facts() -> Vec<Fact> {
    let text = include_str!("../papers/chess_world_model/facts/paper.csv");
    let line = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let [table, _, family, size, test, bin, metric, printed] = fields[..] else { panic!("{line}") };
        ([table, family, size, test, bin, metric].join(","), printed.to_owned())
    };
    text.lines().skip(1).map(line).collect()
}

#[test]
fn each_table_has_all_its_numbers() {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for (key, _) in facts() {
        *counts.entry(key.split(',').next().unwrap().parse().unwrap()).or_default() += 1;
    }
    // Rows times columns of numbers, as they stand in the paper; Table 5 with the three counts of the text below it.
    let expected = [
        (1, 4),
        // The games of its second column are Table 1's, and stand there; with the two counts of the text below it.
        (3, 7),
        (4, 7 * 4),
        (5, 16 * 8 + 3),
        (6, 16 * 6),
        (7, 16 * 5 - 16),
        (8, 16 * 8),
        (9, 12 * 4),
        (10, 12 * 4),
        (11, 4 * 7),
        (12, 4 * 7),
    ];
    // The floors of Table 7 are those of Table 6, and stand there.
    assert_eq!(counts, BTreeMap::from(expected));
    // A few sums, added up by hand from the paper's pages.
    let sum = |what: &str| -> f64 {
        let of =
            facts().into_iter().filter(|(key, _)| key.starts_with(what)).map(|(_, text)| text.parse::<f64>().unwrap());
        of.sum()
    };
    assert!((sum("4,transformer") - 65.67).abs() < 1e-9, "{}", sum("4,transformer"));
    assert!((sum("4,mamba3") - 72.0).abs() < 1e-9);
    assert!((sum("11,slice") - 397.53).abs() < 1e-9, "{}", sum("11,slice"));
    assert!((sum("7,transformer,d384/l4") - (0.003 + 5000.0 + 0.999 + 0.001)).abs() < 1e-9);
}

/// The paper as text, where the shared folder has it.
fn paper() -> Option<String> {
    Some(std::fs::read_to_string(shared("paper/chess-world-model.txt")?).unwrap())
}

/// The lines between one that begins with `head` and the caption of that table.
fn table<'a>(paper: &'a str, head: &str, number: u32) -> Vec<&'a str> {
    let caption = format!("Table {number}:");
    let lines: Vec<&str> = paper.lines().collect();
    let end = lines.iter().position(|line| line.starts_with(&caption)).unwrap_or_else(|| panic!("no {caption}"));
    let start = lines[..end].iter().rposition(|line| line.starts_with(head)).unwrap_or_else(|| panic!("no {head}"));
    lines[start + 1..end].to_vec()
}

/// The words of a row, powers of ten, which the text has twice over, as `7.65e-5`.
fn words(row: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in row.split_whitespace() {
        match (word.split_once('×'), word.strip_prefix("10^{").and_then(|rest| rest.strip_suffix('}'))) {
            (Some((mantissa, _)), _) => words.push(mantissa.to_owned()),
            (_, Some(exponent)) => words.last_mut().unwrap().push_str(&format!("e{exponent}")),
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// The family that a row begins with, and the words after it.
fn of_family(row: &str) -> (&'static str, Vec<String>) {
    let (name, family) = FAMILIES.iter().find(|(name, _)| row.starts_with(name)).unwrap_or_else(|| panic!("{row}"));
    (family, words(&row[name.len()..]))
}

/// Facts of a table with a row for each family and size, `columns` being test set or stage and metric.
fn by_size(paper: &str, head: &str, number: u32, columns: &[(&str, &str)]) -> Vec<Fact> {
    let rows = table(paper, head, number).into_iter().flat_map(|row| {
        let (family, words) = of_family(row);
        assert_eq!(words.len(), columns.len() + 1, "{row}");
        let fact = |((test, metric), text): (&(&str, &str), &String)| {
            (format!("{number},{family},{},{test},,{metric}", words[0]), text.clone())
        };
        columns.iter().zip(&words[1..]).map(fact).collect::<Vec<_>>()
    });
    rows.collect()
}

/// `1010` is `10`: the text has numbers twice, as shown and as LaTeX.
fn half(text: &str) -> String {
    let plain = text.replace("{,}", ",").replace('\\', "");
    let (one, other) = plain.split_at(plain.len() / 2);
    assert_eq!(one, other, "{text}");
    one.to_owned()
}

/// All facts in the tables of the paper's text.
fn printed(paper: &str) -> Vec<Fact> {
    let mut facts = Vec::new();
    // Table 1 has words; 1010M is 10 million, 1010k ten thousand.
    for (row, set) in [
        ("Real-game train and validation ", "train_and_validation"),
        ("Held-out real test ", "held_out"),
        ("Random-uniform test ", "random_uniform"),
    ] {
        let lines = table(paper, "Split Size Description", 1);
        let size = lines.iter().find_map(|line| line.strip_prefix(row)).unwrap().split_whitespace().next().unwrap();
        let (number, unit) = size.split_at(size.len() - 1);
        let games = half(number) + if unit == "M" { "000000" } else { "000" };
        facts.push((format!("1,,,{set},,games"), games));
    }
    assert!(paper.contains("\nHeld-out real validation 0.5%\\approx 0.5\\% by default"));
    facts.push(("1,,,validation,,share_percent".into(), "0.5".into()));
    for (row, metric) in [
        ("Examples kept ", "games"),
        ("Unique move identifiers ", "unique_moves"),
        ("Move-token coverage ", "coverage_percent"),
    ] {
        let lines = table(paper, "Quantity Train", 3);
        let row = lines.iter().find_map(|line| line.strip_prefix(row)).unwrap();
        for (set, text) in ["train", "random_uniform"].into_iter().zip(row.split_whitespace()) {
            let text = half(text).split('/').next().unwrap().replace([',', '%'], "");
            match (set, metric) {
                ("random_uniform", "games") => assert!(facts.contains(&("1,,,random_uniform,,games".into(), text))),
                _ => facts.push((format!("3,,,{set},,{metric}"), text)),
            }
        }
    }
    assert!(paper.contains("with zero random-only move identifiers and zero train-only move identifiers."));
    facts.extend(["train", "random_uniform"].map(|set| (format!("3,,,{set},,only_moves"), "0".to_owned())));
    for row in table(paper, "Model d128/l1", 4) {
        let (family, words) = of_family(row);
        facts.extend(
            SIZES.iter().zip(words).map(|(size, text)| (format!("4,{family},{size},,,parameters_millions"), text)),
        );
    }
    let stage = |stage: &'static str, metrics: &[&'static str]| {
        metrics.iter().map(|metric| (stage, *metric)).collect::<Vec<_>>()
    };
    let first = ["loss", "exact", "labelwise", "trajectory", "lr", "warmup", "beta2", "weight_decay"];
    facts.extend(by_size(paper, "Model Size Val. loss", 5, &stage("first_stage", &first)));
    let count = |before: &str, after: &str| half(paper.split_once(before).unwrap().1.split_once(after).unwrap().0);
    facts.push(("5,,,first_stage,,cells".into(), count("Across the ", " family-size cells")));
    facts.push(("5,,,first_stage,,exact_winners".into(), count("also the ExactState winner in ", " cases")));
    facts.push(("5,,,first_stage,,labelwise_winners".into(), count("the labelwise winner in ", " cases")));
    let floors = ["lr_floor", "loss", "other_lr_floor", "other_loss", "exact", "labelwise"];
    facts.extend(by_size(paper, "Model Size Best floor", 6, &stage("second_stage", &floors)));
    let last = ["lr", "warmup", "beta2", "weight_decay", "lr_floor"];
    let last = by_size(paper, "Model Size LR Warmup", 7, &stage("second_stage", &last));
    // The floors stand in Table 6 already, and are the same.
    for (key, text) in last {
        match key.strip_suffix(",lr_floor") {
            None => facts.push((key, text)),
            Some(_) => assert!(facts.contains(&(key.replacen('7', "6", 1), text)), "{key}"),
        }
    }
    let metrics = ["loss", "labelwise", "exact", "trajectory"];
    let both = [stage("held_out", &metrics), stage("random_uniform", &metrics)].concat();
    facts.extend(by_size(paper, "Model Size Loss", 8, &both));
    facts.extend(by_size(paper, "Variant Size Loss", 9, &both[..4]));
    facts.extend(by_size(paper, "Variant Size Loss", 10, &both[4..]));
    for (number, metric) in [(11, "exact"), (12, "labelwise")] {
        let starts = [0, 80, 160, 240, 320, 400, 500];
        for row in table(paper, "Model 0", number) {
            let (family, words) = of_family(row);
            let bins = starts.iter().zip(words);
            facts.extend(
                bins.map(|(start, text)| (format!("{number},{family},d512/l6,random_uniform,{start},{metric}"), text)),
            );
        }
    }
    facts
}

#[test]
fn every_fact_is_in_the_papers_text_and_every_number_of_its_tables_is_a_fact() {
    let Some(paper) = paper() else { return };
    let printed: BTreeSet<Fact> = printed(&paper).into_iter().collect();
    let ours: BTreeSet<Fact> = facts().into_iter().collect();
    let wrong: Vec<_> = ours.difference(&printed).collect();
    let missing: Vec<_> = printed.difference(&ours).collect();
    assert!(wrong.is_empty() && missing.is_empty(), "not in the text: {wrong:?}\nno fact of ours: {missing:?}");
    assert!(ours.len() > 600);
}
