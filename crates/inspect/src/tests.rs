//! Whole artifacts, described.

mod answers;
mod best_moves;

use cwm_chess::{DatasetRow, DatasetWriter, GameRow, GamesWriter};
use tempfile::tempdir;

use super::*;

const DETAIL: DescribeOptions = DescribeOptions { examples: 1, cores: 2 };

/// 1. e4 and 1. e4 e5, as tokens and packed.
const TOKENS: [u16; 3] = [20480, (12 * 64 + 28) * 5, (52 * 64 + 36) * 5];
const MOVES: [u16; 2] = [12 | 28 << 6, 52 | 36 << 6];

#[test]
fn a_dataset_is_reported_in_figures_and_games() {
    let folder = tempdir().unwrap();
    let mut writer = DatasetWriter::create(folder.path(), 2).unwrap();
    for (index, tokens, result) in [(4, &TOKENS[..], "1-0"), (5, &TOKENS[..2], "0-1"), (8, &TOKENS[..2], "1-0")] {
        writer.push(DatasetRow { index, id: "cwm_a", tokens, result, labels: None }).unwrap();
    }
    writer.finish().unwrap();
    let described = ChessInspector.describe(&Format::DATASET, folder.path(), DETAIL).unwrap().unwrap();
    assert_eq!(described.facts["totals"]["games"], 3);
    assert_eq!((&described.facts["totals"]["plies"], &described.facts["totals"]["positions"]), (&4.into(), &7.into()));
    assert_eq!((&described.facts["files"], &described.facts["totals"]["unique_moves"]), (&2.into(), &2.into()));
    assert_eq!(described.facts["examples"][0]["opening"], "1. e4 e5");
    assert_eq!(
        described.lines[..6],
        [
            "games       3",
            "plies       4",
            "positions   7",
            "length      1 to 2 plies, median 1",
            "results     1-0 2 (66.7 %), 0-1 1 (33.3 %)",
            "moves       2 different ones",
        ]
    );
    assert!(
        described.lines[6].starts_with("on disk     ") && described.lines[6].contains(" in 2 files ("),
        "{}",
        described.lines[6]
    );
    assert_eq!(described.lines[7..9], ["", "game 0      cwm_a, 1-0, 2 plies"]);
    assert_eq!(described.lines.len(), 11);
}

#[test]
fn games_are_reported_with_their_sites_and_damage_in_words() {
    let folder = tempdir().unwrap();
    let mut writer = GamesWriter::create(folder.path(), 9).unwrap();
    writer.push(GameRow { index: 0, id: "x", site: "https://a/b", result: "*", moves: &MOVES, labels: None }).unwrap();
    writer.push(GameRow { index: 1, id: "y", site: "?", result: "*", moves: &[0xffff], labels: None }).unwrap();
    writer.finish().unwrap();
    let described = ChessInspector
        .describe(&Format::GAMES, folder.path(), DescribeOptions { examples: 9, cores: 1 })
        .unwrap()
        .unwrap();
    let text = described.lines.join("\n");
    assert!(text.contains("game 0      x, https://a/b, *, 2 plies\n            1. e4 e5\n"), "{text}");
    assert!(text.contains("is no game: token 65535 at ply 1 is not a move"), "{text}");
    assert_eq!(described.facts["examples"][0]["site"], "https://a/b");
    std::fs::write(folder.path().join("games-00000.arrow"), "x").unwrap();
    let failure = ChessInspector.describe(&Format::GAMES, folder.path(), DETAIL).unwrap_err();
    assert!(failure.message.ends_with("is not a games file: it is too short"), "{failure}");
}

#[test]
fn what_is_not_known_is_passed_over() {
    assert_eq!(ChessInspector.describe(&Format::ANY, Path::new("nowhere"), DETAIL).unwrap(), None);
    assert_eq!(ChessInspector.related_formats(&Format::DATASET), [Format::COUNTS]);
    assert!(ChessInspector.related_formats(&Format::REPORT).is_empty());
}

fn described(format: Format, path: &Path) -> Result<String, String> {
    let described = ChessInspector.describe(&format, path, DescribeOptions { examples: 3, cores: 1 });
    described.map(|found| found.unwrap().lines.join("\n")).map_err(|failure| failure.message)
}

#[test]
fn pgn_is_reported_by_its_first_games_plain_or_in_a_folder() {
    let folder = tempdir().unwrap();
    let game = "[Site \"https://a/b\"]\n[Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n";
    let faulty = "[Site \"x\"]\n\n1. e4 Ke4 *\n\n";
    std::fs::write(folder.path().join("a.pgn"), game.repeat(2)).unwrap();
    std::fs::write(folder.path().join("b.pgn"), faulty).unwrap();
    let text = described(Format::PGN, folder.path()).unwrap();
    assert!(text.starts_with("games       3\non disk     "), "{text}");
    assert!(
        text.contains(" in 2 files\n\ngame 0      https://a/b, 0-1, 4 plies\n            1. f3 e5 2. g4 Qh4#\n"),
        "{text}"
    );
    assert!(text.contains("game 2      x, *, 1 ply\n"), "{text}");
    assert!(text.ends_with("is no game: what stands at ply 2 is no legal move"), "{text}");
    std::fs::write(folder.path().join("c.pgn"), [0xfd, b'7', b'z', b'X', b'Z', 0]).unwrap();
    assert!(described(Format::PGN, folder.path()).unwrap_err().contains("c.pgn: it is compressed with xz"));
}

#[test]
fn a_large_pgn_is_not_read_to_its_end() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("large.pgn");
    std::fs::write(&file, "[Site \"x\"]\n\n1. e4 *\n\n".repeat(2_000_000)).unwrap();
    let text = described(Format::PGN, &file).unwrap();
    assert!(text.starts_with("games       more than 1,6") && text.contains("the first 33.6 MB"), "{text}");
}

#[test]
fn a_checkpoint_is_reported_by_its_description() {
    let folder = tempdir().unwrap();
    let model = r#"{"format":1,"architecture":{"family":"slice","size":"d16/l1","vocabulary":20482,"options":{}},
        "parameters":1234567,"status":"finished","training":{"steps":30,"lr":0.003,"validation":{"exact":0.25}}}"#;
    std::fs::write(folder.path().join("model.json"), model).unwrap();
    let header = r#"{"__metadata__":{},"a":{"dtype":"F32"},"b":{"dtype":"F32"}}"#;
    let mut weights = (header.len() as u64).to_le_bytes().to_vec();
    weights.extend(header.bytes());
    std::fs::write(folder.path().join("model.safetensors"), &weights).unwrap();
    assert_eq!(
        described(Format::CHECKPOINT, folder.path()).unwrap(),
        "model       slice d16/l1\nparameters  1,234,567\nstatus      finished\nweights     2 tensors in 67 B\n\
         training    lr 0.003, steps 30\nvalidation  exact 0.25"
    );
    assert_eq!(
        described(Format::SUMMARY, &folder.path().join("model.json")).unwrap(),
        "model       slice d16/l1\nparameters  1,234,567\nstatus      finished\ntraining    lr 0.003, steps 30\n\
         validation  exact 0.25"
    );
    weights[7] = 9;
    std::fs::write(folder.path().join("model.safetensors"), &weights).unwrap();
    assert!(
        described(Format::CHECKPOINT, folder.path())
            .unwrap_err()
            .contains("is not a safetensors file: its header would be")
    );
}

#[test]
fn curves_are_reported_by_their_last_lines_and_the_best_one() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("curves.jsonl");
    let lines = [
        r#"{"kind":"train","step":1,"loss":5.25}"#,
        r#"{"kind":"validation","step":1,"exact":0.5,"loss":0.123456789}"#,
        r#"{"kind":"train","step":2,"loss":"inf"}"#,
        r#"{"kind":"validation","step":2,"exact":0.25}"#,
    ];
    std::fs::write(&file, lines.join("\n")).unwrap();
    assert_eq!(
        described(Format::CURVES, &file).unwrap(),
        "lines       4\nlast step   loss inf, step 2\nvalidated   exact 0.25, step 2\nbest        exact 0.5, loss 0.12346, step 1"
    );
    let sequences = [r#"{"kind":"validation","step":1,"best":0.5}"#, r#"{"kind":"validation","step":2,"best":0.25}"#];
    std::fs::write(&file, sequences.join("\n")).unwrap();
    assert_eq!(
        described(Format::CURVES, &file).unwrap(),
        "lines       2\nvalidated   best 0.25, step 2\nbest        best 0.5, step 1"
    );
    std::fs::write(&file, "{\"kind\":\"train\"}\n[]").unwrap();
    assert!(described(Format::CURVES, &file).unwrap_err().contains("is not a curves file: line 2: "));
}

#[test]
fn choices_are_reported_with_what_they_were_made_from() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("x");
    let tell = |format: Format, text: &str| {
        std::fs::write(&file, text).unwrap();
        described(format, &file)
    };
    let choice = r#"{"family":"slice","format":1,"parameters":{"beta2":0.95,"lr":0.001},"size":"d128/l1"}"#;
    assert_eq!(tell(Format::CHOICE, choice).unwrap(), "choice for  slice d128/l1\nparameters  beta2 0.95, lr 0.001");
    let best = r#"{"rank":1,"why":"best","loss":0.14394,"parameters":{"lr":0.001}}"#;
    let excluded = r#"{"rank":null,"why":"diverged\u001b","loss":null,"parameters":{"lr":0.1}}"#;
    assert_eq!(
        tell(Format::CANDIDATES, &format!("{best}\n{excluded}\n")).unwrap(),
        "1           loss 0.14394, lr 0.001 (best)\nexcluded    loss none, lr 0.1 (diverged\\u{1b})"
    );
    let many = tell(Format::CANDIDATES, &format!("{best}\n").repeat(108)).unwrap();
    assert!(many.ends_with("and 98 more"), "{many}");
    let difference = r#"{"family":"slice","size":"d64/l1","test":"held_out","difference":-0.0625,"low":-0.07,"high":-0.05,"baseline":"transformer"}"#;
    assert_eq!(
        tell(Format::DIFFERENCES, difference).unwrap(),
        "slice d64/l1 on held_out -0.0625 [-0.07, -0.05] to transformer"
    );
    assert!(tell(Format::CANDIDATES, "{}\n[").unwrap_err().contains("is not a candidates file: line 2: "));
}

#[test]
fn findings_are_reported_a_line_each() {
    use cwm_findings::{Finding, Kind, write};
    let folder = tempdir().unwrap();
    let file = folder.path().join("findings.jsonl");
    let finding = |layer| {
        let finding = Finding::new(Kind::Probe, "gpt d64/l4", "trained", Some(layer), 5).name("method", "linear");
        finding.value("accuracy", 0.75)
    };
    write(&file, (0..12).map(finding)).unwrap();
    let text = described(Format::FINDINGS, &file).unwrap();
    assert!(text.starts_with("probe       gpt d64/l4 trained, layer 0, method linear: accuracy 0.7500\n"), "{text}");
    assert!(text.ends_with("and 2 more findings"), "{text}");
    std::fs::write(&file, "{}\n").unwrap();
    assert!(described(Format::FINDINGS, &file).unwrap_err().starts_with("line 1 of the findings "));
}

#[test]
fn autoencoders_are_reported_with_their_layers_and_dead_latents() {
    let folder = tempdir().unwrap();
    let autoencoder = r#"{"format":1,"model":{"family":"gpt","size":"d64/l4"},"width":64,"latents":1024,"layers":[1,3],
        "sites":{"1":{"dead":0},"3":{"dead":17}},"training":{"rows":1000}}"#;
    std::fs::write(folder.path().join("autoencoder.json"), autoencoder).unwrap();
    let header = br#"{"W_gate":{},"W_dec":{}}"#;
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header].concat();
    for layer in [1, 3] {
        std::fs::write(folder.path().join(format!("layer-{layer:02}.safetensors")), &bytes).unwrap();
    }
    let text = described(Format::AUTOENCODER, folder.path()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..4], ["model       gpt d64/l4", "width       64", "latents     1,024", "layers      [1,3]"]);
    assert_eq!(lines[4..6], ["layer 1     0 dead latents", "layer 3     17 dead latents"]);
    assert_eq!(lines[6..], ["weights     4 tensors in 64 B", "training    rows 1,000"]);
    std::fs::remove_file(folder.path().join("layer-03.safetensors")).unwrap();
    assert!(described(Format::AUTOENCODER, folder.path()).is_err());
}

#[test]
fn linear_probes_are_reported_with_what_they_read() {
    let folder = tempdir().unwrap();
    let probes = r#"{"format":1,"model":{"family":"gpt","size":"d64/l4"},"network":"trained","layers":[0,4],"target":"both",
        "method":"linear","of":"stream","phase":"any","board":"after","final":"raw","training":{"epochs":15}}"#;
    std::fs::write(folder.path().join("probes.json"), probes).unwrap();
    let header = br#"{"weight.0":{},"scale.0":{}}"#;
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header].concat();
    std::fs::write(folder.path().join("probes.safetensors"), bytes).unwrap();
    let text = described(Format::PROBES, folder.path()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..3], ["model       gpt d64/l4", "network     trained", "layers      [0,4]"]);
    assert_eq!(
        lines[5..],
        [
            "read        board after, final raw, of stream, phase any",
            "weights     2 tensors in 36 B",
            "training    epochs 15"
        ]
    );
    std::fs::write(folder.path().join("probes.json"), "[]").unwrap();
    assert!(described(Format::PROBES, folder.path()).is_err());
}
