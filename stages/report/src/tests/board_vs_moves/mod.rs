//! The chapter of board against moves, on made-up choices and matches.

mod boards;
mod choices;
mod page;
mod play;

use std::path::{Path, PathBuf};

use cwm_choices::{Choice, ChoicesWriter, Chooser, Correctness};
use cwm_contract::testing::Trial;
use cwm_matches::{End, Game, MatchesWriter, Participant, Players};

use super::{label, lines, page_table, read, run};

/// Positions of an arm: 20 games of 8 positions, ten plies apart.
const GAMES: u64 = 20;
const POSITIONS: u64 = 8;

/// A model of ours.
fn chooser(form: &str, mask: &str, seed: u64) -> Chooser {
    Chooser {
        name: "gpt".into(),
        size: Some("d64/l2".into()),
        parameters: Some(229_568),
        form: Some(form.into()),
        mask: Some(mask.into()),
        trained_positions: Some(252_000),
        steps: Some(7_875),
        seed: Some(seed),
        training: training([84_000, 2_625, 32, 7_875]),
        ..Chooser::default()
    }
}

/// The description of a training: sequences, steps of an epoch, sequences of a batch, steps.
fn training([rows, steps_per_epoch, batch_size, horizon]: [u64; 4]) -> serde_json::Map<String, serde_json::Value> {
    let described = serde_json::json!({
        "rows": rows, "steps_per_epoch": steps_per_epoch, "batch_size": batch_size, "horizon": horizon, "lr": 0.003, "lr_floor": 0.1,
        "schedule": "cosine", "warmup": 100, "beta2": 0.95,
    });
    described.as_object().unwrap().clone()
}

/// A choice that is legal, and not the best one.
fn choice(record: u64) -> Choice {
    Choice {
        record,
        game: Some(record / POSITIONS),
        t: Some((record % POSITIONS * 10) as u32),
        fen: format!("8/8/8/8/8/8/8/8 w - - 0 {record}"),
        legal_moves: 20 + (record % 2 * 45) as u16,
        // e2e4
        best: 12 | 28 << 6,
        seen: Some(record.is_multiple_of(POSITIONS)),
        loss: Some(2.0),
        tokens: Some(1),
        forced_text: None,
        forced: None,
        text: "d2d4".into(),
        free: Correctness { valid: true, legal: true, best: false },
        mask_best: Some(false),
        mask_loss: Some(1.0),
    }
}

fn choices(change: impl Fn(&mut Choice)) -> Vec<Choice> {
    let mut choices: Vec<Choice> = (0..GAMES * POSITIONS).map(choice).collect();
    choices.iter_mut().for_each(change);
    choices
}

fn write(folder: &Path, name: &str, chooser: &Chooser, choices: &[Choice]) -> PathBuf {
    let path = folder.join(name);
    let mut writer = ChoicesWriter::create(&path, chooser).unwrap();
    choices.iter().for_each(|choice| writer.push(choice.clone()).unwrap());
    writer.finish().unwrap();
    path
}

/// The arms of the miniature: the board is always legal, the moves until ply 40; characters and Llama are the paper's.
fn with_choices(folder: &Path) -> Trial {
    let best = |choice: &mut Choice| {
        choice.free.best = choice.record.is_multiple_of(4);
        choice.mask_best = Some(choice.record.is_multiple_of(2));
        choice.text = if choice.free.best { "e2e4".into() } else { "d2d4".into() };
        choice.loss = Some(if choice.free.best { 0.5 } else { 2.5 });
    };
    let moves = |choice: &mut Choice| {
        best(choice);
        choice.free.legal = choice.t < Some(40);
        choice.free.best &= choice.free.legal;
    };
    let text = |choice: &mut Choice| {
        best(choice);
        choice.tokens = Some(5);
        choice.mask_best = None;
        choice.forced = Some(Correctness { best: choice.record % 4 < 2, ..choice.free });
    };
    let mut prompt = choices(text);
    prompt.retain(|choice| choice.legal_moves <= 60);
    let given = [
        ("choices[arm=none,seed=0]", chooser("board", "none", 0), choices(best)),
        (
            "choices[arm=none,seed=1]",
            chooser("board", "none", 1),
            choices(|choice| choice.free.best = choice.record.is_multiple_of(4)),
        ),
        ("choices[arm=moves,seed=0]", chooser("moves", "causal", 0), choices(moves)),
        ("choices[arm=prompt,seed=0]", chooser("prompt", "causal", 0), prompt),
        ("writer[test=oracle]", chooser("characters", "causal", 0), choices(text)),
        (
            "llama[test=chessbench]",
            Chooser { name: "Llama".into(), size: Some("1.3B".into()), ..Chooser::default() },
            choices(|choice| {
                (choice.game, choice.t, choice.seen, choice.loss, choice.mask_best) = (None, None, None, None, None);
            }),
        ),
    ];
    let mut trial = Trial::new(folder.join("trial"));
    for (name, chooser, choices) in given {
        trial = trial.labelled("choices", label(name), write(folder, name, &chooser, &choices));
    }
    trial
}

/// Games of an arm against `second`: wins, draws and losses, each half as White.
fn write_matches(folder: &Path, name: &str, second: &str, level: Option<u8>, results: [u32; 3]) -> PathBuf {
    let path = folder.join(name);
    let first = Participant {
        kind: "model".into(),
        arm: Some("board/none".into()),
        size: Some("d64/l2".into()),
        ..Participant::default()
    };
    let players = Players {
        first,
        second: Participant { kind: second.into(), ..Participant::default() },
        legality: Some("attempts".into()),
        repetition: Some("allow".into()),
        engine: Some(cwm_matches::EngineName { name: "Stockfish 15.1".into(), digest: "00ff".into() }),
    };
    let mut writer = MatchesWriter::create(&path, &players).unwrap();
    let ends = [(1.0, End::Mate), (0.5, End::Threefold), (0.0, End::Attempts)];
    let games = ends.into_iter().zip(results).flat_map(|(end, number)| std::iter::repeat_n(end, number as usize));
    for (game, (score, end)) in games.enumerate() {
        let (game, first_white) = (game as u64, game % 2 == 0);
        let names = ["model".to_owned(), second.to_owned()];
        let [white, black] = if first_white {
            names
        } else {
            names.map(String::from).into_iter().rev().collect::<Vec<_>>().try_into().unwrap()
        };
        let result = match (score, first_white) {
            (0.5, _) => "1/2-1/2",
            (1.0, true) | (0.0, false) => "1-0",
            _ => "0-1",
        };
        let illegal_attempts = if end == End::Attempts { 5 } else { 0 };
        let row = Game {
            game,
            pair: game / 2,
            opening: String::new(),
            white,
            black,
            first_white,
            result: result.into(),
            score,
            plies: 40,
            end,
            illegal_attempts,
            level,
            moves: vec![12 | 28 << 6],
        };
        writer.push(row).unwrap();
    }
    writer.finish().unwrap();
    path
}
