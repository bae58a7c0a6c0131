//! What questions and Reasoning cost, beside their peers in one run: `cargo bench -p cwm-benches --bench tasks`.
//!
//! Figures are of CPU seconds of one thread (the least of three repeats), goals those of the specifications. Peers are
//! python-chess and plain Python (`tasks.py`, with programs of `tests/python`; `CWM_PYTHON`, `python3` unless set):
//! their results must be ours. The data are the sample and golden files below `CWM_SHARED`, with other ids until there
//! are enough. Machines are noisy: compare figures of one run, not runs.
//!
//! Measured elsewhere: the client and a server that answers at once (`cargo run --release -p cwm-answer --example
//! overhead`), `analyse` beside the engine alone (bench `papers`), words that `generate` writes (`crates/generation/
//! examples/speed.rs`).

mod beside;
#[allow(dead_code, reason = "other benches use more of it")]
mod clock;
mod sample;

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::fs::{File, read_to_string};
use std::hint::black_box;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use cwm_answers::{Answer, AnswersWriter, PlayerSettings};
use cwm_contract::{Label, RewardRequest, RewardServer, Value as Given};
use cwm_encoding::PlainMove;
use cwm_evaluations::{Evaluation, EvaluationsWriter, Line, Score, Source};
use cwm_parse::Parse;
use cwm_questions::truth::{Keys, Position, answer_in_position, chess_of_fen};
use cwm_questions::{Category, Form, Item, Task, UnknownTasks, read_items, write_line};
use cwm_questions_stage::Questions;
use cwm_reasoning::board::BoardForm;
use cwm_reasoning::{ClaimRule, Facts, RandomChoices, RewardOptions, ScoredMove, Verifier, Wording, verbalised};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};
use shakmaty::{Chess, Move, Position as _};

use self::beside::{Goal, beside, head, row, seconds};
use self::sample::{kept, positions, run, sample, shared, trial};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SCRIPT: &str = include_str!("tasks.py");
const POSITIONS: usize = 200_000;
/// Runs whose answers are graded.
const RUNS: usize = 25;

fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (folder, golden) = (folder.path(), |system: &str| shared.join(format!("systems/{system}-golden")));
    head();
    // First, while little memory is in use.
    puzzles(folder, &golden("questions"));
    let games = kept(&run(&Parse, folder, ("pgn", &sample(&shared)), &[]), "games", folder);
    let positions = positions(&games, POSITIONS);
    let fens: Vec<(String, String)> = positions.iter().step_by(10).map(|(fen, _)| (fen.clone(), fen.clone())).collect();
    beside("truths: positions with all 14", (SCRIPT, "truths"), &fens, |fen| truths(fen), Goal::Times(50.0));
    evaluations(folder, &positions);
    answers(folder, &golden("questions"));
    beside("facts: positions with all", (SCRIPT, "facts"), &fens, |fen| facts(fen), Goal::Times(40.0));
    reasoning(folder, &golden("reasoning"));
    examples(folder, &positions);
}

/// The decompressed text of a golden file.
fn unpacked(path: &Path) -> String {
    String::from_utf8(zstd::decode_all(File::open(path).expect("a golden file")).expect("zstd")).expect("text")
}

/// `questions` of a million puzzles.
fn puzzles(folder: &Path, golden: &Path) {
    let (text, path) = (unpacked(&golden.join("lichess-puzzles-6605.csv.zst")), folder.join("puzzles.csv"));
    let (header, rows) = text.split_once('\n').expect("a header");
    let rows: Vec<&str> = rows.lines().filter_map(|row| Some(row.split_once(',')?.1)).collect();
    for count in [100_000, 1_000_000] {
        let mut file = BufWriter::new(File::create(&path).expect("room"));
        writeln!(file, "{header}").expect("room");
        (0..count).for_each(|number| writeln!(file, "{number:07},{}", rows[number % rows.len()]).expect("room"));
        file.flush().expect("room");
        let needed = clock::cpu(|| _ = run(&Questions, folder, ("puzzles", &path), &[]));
        row(&format!("questions: seconds for {count} puzzles"), needed, None, Goal::Seconds(count as f64 / 1e5));
        let status = read_to_string("/proc/self/status").unwrap_or_default();
        let memory = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        println!("  most memory until then: {}", memory.unwrap_or("not known").trim());
    }
}

fn joined(parts: impl Iterator<Item = String>, separator: &str) -> String {
    parts.collect::<Vec<_>>().join(separator)
}

/// The 14 answers about a position, those about a square for the first possible one. Entries are sorted: orders differ.
fn truths(fen: &str) -> String {
    let position = Position::of_fen(fen).expect("a position");
    let board = position.board();
    let origin = position.moves().iter().filter_map(|played| played.from()).min();
    let piece = (board.occupied() ^ board.pawns() ^ board.kings()).first();
    let is_of_board = |task: &Task| {
        matches!(task.category(), Category::Structural | Category::Motifs) && !matches!(task.form(), Form::Fen)
    };
    let answer = |task| {
        let square = if task == Task::LegalMovePiece { origin } else { piece };
        let answer = answer_in_position(task, &position, square, Keys::Published).unwrap_or_default();
        let mut entries: Vec<&str> = answer.split(", ").collect();
        entries.sort_unstable();
        entries.join(", ")
    };
    joined(Task::published().filter(is_of_board).map(answer), "|")
}

/// `questions` of evaluations as Lichess writes them: three searches of a position, with the moves that were played.
fn evaluations(folder: &Path, positions: &[(String, PlainMove)]) {
    let mut text = String::new();
    for (at, (fen, _)) in positions.iter().enumerate() {
        let line = |from| joined(positions.iter().skip(from).take(10).map(|(_, played)| played.to_string()), " ");
        let variation = |from| json!({ "cp": (at * 37 + from * 11) as i64 % 1_200 - 600, "line": line(from) });
        let search = |(pvs, depth)| {
            let pvs: Vec<Value> = (at..at + pvs).map(variation).collect();
            json!({ "pvs": pvs, "knodes": at * 7 % 100_003, "depth": depth })
        };
        let searches = [(5, 22), (3, 28), (1, 36)].map(search);
        let fen = joined(fen.split(' ').take(4).map(str::to_owned), " ");
        writeln!(text, "{}", json!({ "fen": fen, "evals": searches })).expect("text");
    }
    let path = folder.join("evaluations.jsonl.zst");
    std::fs::write(&path, zstd::encode_all(text.as_bytes(), 3).expect("zstd")).expect("room");
    let needed = seconds(|| _ = run(&Questions, folder, ("evaluations", &path), &[("first", Given::Null)]));
    row("questions: MB of evaluations, decompressed", text.len() as f64 / 1e6 / needed, None, Goal::AtLeast(200.0));
}

fn id(number: usize) -> String {
    format!("{number:06}")
}

/// A file of so many items: these again and again.
fn items_file(folder: &Path, items: &[Item], count: usize) -> PathBuf {
    let path = folder.join("items.jsonl");
    let mut file = BufWriter::new(File::create(&path).expect("room"));
    for (number, item) in items.iter().cycle().take(count).enumerate() {
        write_line(&mut file, &Item { task_id: id(number), ..item.clone() }).expect("room");
    }
    file.flush().expect("room");
    path
}

/// `answer` by players without an engine, and `grade` of answers to published items.
fn answers(folder: &Path, golden: &Path) {
    let read = |category: &str| {
        let text = unpacked(&golden.join(format!("published/{category}.jsonl.zst")));
        read_items(text.as_bytes(), category, UnknownTasks::Fail).expect("items")
    };
    let categories = ["structural", "motifs", "short_tactics", "position_judgement"];
    let items: Vec<Item> = categories.into_iter().flat_map(read).collect();
    let path = items_file(folder, &items, 100_000);
    for player in ["oracle", "random", "rules"] {
        let parameters = [("player", Given::Text(player.into()))];
        let needed = seconds(|| _ = run(&cwm_answer::Answer, folder, ("items", &path), &parameters));
        row(&format!("answer: items for `player: {player}`"), 1e5 / needed, None, Goal::AtLeast(1e5));
    }
    let response = |run: usize, at: usize| {
        let key = &items[(at + usize::from((at + run).is_multiple_of(3))) % items.len()].correct_answer;
        format!("{}\nFINAL ANSWER: {key}", "I look at every piece in turn. ".repeat(40))
    };
    grade(folder, &items, 3_220, response, Goal::Seconds(2.0));
}

/// `grade` of the answers of some runs to so many items.
fn grade(folder: &Path, items: &[Item], count: usize, response: impl Fn(usize, usize) -> String, goal: Goal) {
    let items = items_file(folder, items, count);
    let answers = |number: usize| {
        let (name, path) = (format!("run{number}"), folder.join(format!("run{number}")));
        let mut writer =
            AnswersWriter::create(&path, &PlayerSettings { name, ..PlayerSettings::default() }).expect("room");
        for at in 0..count {
            let response = Some(response(number, at));
            writer.push(Answer { task_id: id(at), response, ..Answer::default() }).expect("room");
        }
        writer.finish().expect("room");
        path
    };
    let runs: Vec<PathBuf> = (0..RUNS).map(answers).collect();
    let needed = seconds(|| {
        let labelled = runs.iter().enumerate().map(|(number, path)| (Label::stage(format!("run{number}")), path));
        let trial = trial(folder).input("items", &items);
        let trial = labelled.fold(trial, |trial, (label, path)| trial.labelled("answers", label, path));
        trial.run(&cwm_grade::Grade).expect("it grades");
    });
    row(&format!("grade: seconds for {} answers of {RUNS} runs", RUNS * count), needed, None, goal);
}

/// All that can be asked about a board.
fn facts(fen: &str) -> String {
    let (position, _) = chess_of_fen(fen).expect("a position");
    let facts = Facts::of(&position, None);
    let mut moves: Vec<String> = facts.moves().iter().map(|played| PlainMove::from(*played).to_string()).collect();
    moves.sort_unstable();
    let mut text = format!("{}|{}|", facts.in_check().is_some(), facts.material());
    write!(text, "{}|{}|{}", facts.large_advantage().is_some(), facts.is_balanced(), moves.join(" ")).expect("text");
    let mobility = joined(facts.mobility().iter().map(|(square, moves)| format!("{square}{moves}")), " ");
    let pairs = [facts.capture_pairs(), facts.their_capture_pairs()];
    let [own, theirs] = pairs.map(|pairs| joined(pairs.iter().map(|(a, b)| format!("{}{}", a.char(), b.char())), " "));
    let only = joined(facts.only_captures().iter().map(|(target, origin)| format!("{target}{origin}")), " ");
    write!(text, "|{mobility}|{own}|{theirs}|{only}").expect("text");
    text
}

/// A column of texts.
fn column(path: &Path, name: &str) -> Vec<String> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).expect("a golden file")).expect("Parquet");
    let texts = |batch: RecordBatch| -> Vec<String> {
        let column = batch.column_by_name(name).expect("a column").as_string::<i32>();
        column.iter().map(|text| text.unwrap_or_default().to_owned()).collect()
    };
    builder.build().expect("Parquet").flat_map(|batch| texts(batch.expect("rows"))).collect()
}

/// The item of a row of golden tasks, if it has one.
fn item(row: &Value, fens: &[Value]) -> Option<(Item, Verifier)> {
    let key = match &row["answer"] {
        Value::Array(moves) => joined(moves.iter().filter_map(Value::as_str).map(str::to_owned), ", "),
        key => key.as_str().unwrap_or_default().to_owned(),
    };
    let (task, fen) = (row["task"].as_str()?, &fens[row["position"].as_u64()? as usize]["fen"]);
    let item = json!({
        "task_id": row["id"], "task_type": format!("reasoning_{task}"), "task_category": "Reasoning", "input": fen,
        "question": "", "format_examples": [], "correct_answer": key, "answer_type": "graded", "metadata": row,
    });
    let item = serde_json::from_value(item).expect("an item");
    Verifier::new(&item).ok().map(|verifier| (item, verifier))
}

/// Rewards, claims and grades.
fn reasoning(folder: &Path, golden: &Path) {
    let lines = |name: &str| -> Vec<Value> {
        let text = read_to_string(golden.join(name)).expect("a golden file");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let (fens, rows) = (lines("positions.jsonl"), lines("tasks.jsonl"));
    let (rows, found): (Vec<&Value>, Vec<_>) = rows.iter().filter_map(|row| Some((row, item(row, &fens)?))).unzip();
    let (items, verifiers): (Vec<Item>, Vec<Verifier>) = found.into_iter().unzip();
    let reading = |reading: &Value| {
        let (item, text) = (reading["item"].as_str().expect("an item"), reading["text"].as_str().expect("a text"));
        let at = items.iter().position(|one| one.task_id == item).expect("an item");
        (json!([rows[at], text]).to_string(), (at, text.to_owned()))
    };
    let readings: Vec<(String, (usize, String))> = lines("readings.jsonl").iter().map(reading).collect();
    let rewarded = |(at, text): &(usize, String)| {
        let judged = verifiers[*at].judge(text, &RewardOptions::default());
        format!("{} {:.9}", judged.verdict.name(), judged.reward)
    };
    beside("rewards: texts read, with verdict", (SCRIPT, "rewards"), &readings, rewarded, Goal::Times(30.0));
    let (reading, scaling) = ("release".into(), "normalise".into());
    let request = RewardRequest { items: items_file(folder, &items, items.len()), reading, scaling, cut: 0.3 };
    let line =
        |(_, (at, text)): &(String, (usize, String))| format!("{}\n", json!({ "task_id": id(*at), "text": text }));
    let input: String = readings.iter().cycle().take(200_000).map(line).collect();
    let serve = || cwm_reward::ItemRewards.serve(&request, &mut input.as_bytes(), &mut std::io::sink());
    let needed = seconds(|| serve().expect("it answers"));
    row("reward: lines", 2e5 / needed, None, Goal::AtLeast(2e5));

    let items_of = |name| column(&golden.join("replay-items.parquet"), name);
    let fens: HashMap<String, String> = items_of("item").into_iter().zip(items_of("fen")).collect();
    let texts_of = |name| column(&golden.join("replay-texts.parquet"), name);
    let texts = texts_of("text");
    let output = |(item, text): (String, &String)| {
        let (position, _) = chess_of_fen(&fens[&item]).expect("a position");
        (json!([fens[&item], text]).to_string(), (position, text.clone()))
    };
    let outputs: Vec<(String, (Chess, String))> = texts_of("item").into_iter().zip(&texts).map(output).collect();
    let claimed = |(position, text): &(Chess, String)| {
        let found = cwm_reasoning::claims(position, text, ClaimRule::Position);
        let moves = found.moves.iter().map(|claim| format!("{} {}", claim.uci, claim.is_true));
        joined(moves.chain(found.pieces.iter().map(|claim| format!("{} {}", claim.square, claim.is_true))), ", ")
    };
    beside("claims: outputs of some 3,100 characters", (SCRIPT, "claims"), &outputs, claimed, Goal::Times(30.0));
    let response = |run: usize, at: usize| texts[(at * 7 + run) % texts.len()].clone();
    grade(folder, &items, 4_000, response, Goal::Seconds(5.0));
}

/// A value of a move, as if by chance.
fn centipawns(played: Move) -> i32 {
    i32::from(PlainMove::from(played).packed()) * 31 % 400 - 200
}

/// `examples` of evaluations with one line, or with all moves; and trees without an engine.
fn examples(folder: &Path, positions: &[(String, PlainMove)]) {
    let boards: Vec<Chess> =
        positions.iter().step_by(10).map(|(fen, _)| chess_of_fen(fen).expect("a position").0).collect();
    for (builder, most) in [("factual", 1), ("best_move", usize::MAX)] {
        let path = folder.join("evaluations.parquet");
        let mut writer = EvaluationsWriter::create(&path, &Source::default()).expect("room");
        for (at, board) in boards.iter().enumerate() {
            let (record, fen) = (at as u64, positions[at * 10].0.clone());
            let line = |played: Move| Line {
                score: Some(Score::Centipawns(centipawns(played))),
                depth: None,
                moves: vec![PlainMove::from(played).packed()],
            };
            let lines = board.legal_moves().into_iter().take(most).map(line).collect();
            writer.push(Evaluation { record, game: None, id: String::new(), t: None, fen, lines }).expect("room");
        }
        writer.finish().expect("room");
        let (mut built, parameters) = (0.0, [("builder", Given::Text(builder.into()))]);
        let work =
            || built = run(&cwm_examples::Examples, folder, ("evaluations", &path), &parameters).metrics["examples"];
        let needed = seconds(work);
        row(&format!("examples of `{builder}`, from file to file"), built / needed, None, Goal::AtLeast(5e4));
    }
    let lines = |position: &Chess| {
        let moves = position.legal_moves().into_iter().take(30);
        Ok::<Vec<ScoredMove>, Infallible>(
            moves.map(|played| ScoredMove { played, centipawns: centipawns(played) }).collect(),
        )
    };
    let tell = |(at, board): (usize, &Chess)| {
        let mut draws = RandomChoices::new("verbalised", 0, at as u64);
        black_box(verbalised(board, BoardForm::UniformVisual, Wording::Varied, &mut draws, lines).is_ok());
    };
    let needed = seconds(|| boards.iter().enumerate().for_each(tell));
    row("trees with telling, without an engine", boards.len() as f64 / needed, None, Goal::AtLeast(2e4));
}
