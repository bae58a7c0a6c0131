//! The answers of a model that was trained and queried in PyTorch, and the inputs that python-chess wrote.

use std::collections::BTreeMap;

use cwm_contract::testing::shared;
use cwm_models::checkpoint::{self, Description, FORMAT, Status};
use cwm_models::parameters::Weights;
use cwm_models::{Architecture, Network};
use cwm_policy::answers::{MoveReading, read};
use safetensors::SafeTensors;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::*;

/// A golden file; `None`, with a line that states so, where it is absent.
fn golden(file: &str) -> Option<Vec<u8>> {
    Some(std::fs::read(shared(&format!("systems/board-vs-moves-golden/{file}"))?).unwrap())
}

#[derive(Deserialize)]
struct Line {
    fen: String,
    best: String,
    loss_sum: f64,
    tokens: usize,
    forced: Judged,
    free: Judged,
    smallest_gap: f64,
}

#[derive(Deserialize)]
struct Judged {
    text: String,
    valid: bool,
    legal: bool,
    best: bool,
}

/// Valid, legal and best.
fn judge(board: &Board, best: u16, text: &str) -> [bool; 3] {
    match read(board.position(), Form::Prompt.notation(), text) {
        MoveReading::Unreadable => [false, false, false],
        MoveReading::Illegal => [true, false, false],
        MoveReading::Legal(action) => [true, true, action == best],
    }
}

/// The golden model as a checkpoint.
fn write_model(folder: &Path, bytes: &[u8]) {
    let tensors = SafeTensors::deserialize(bytes).unwrap();
    let vocabulary = Form::Prompt.vocabulary();
    let options = [("tied", "true"), ("heads", "2"), ("positions", "444")];
    let architecture = Architecture {
        family: "gpt".to_owned(),
        size: "d48/l2".parse().unwrap(),
        vocabulary: 36,
        dropout: 0.0,
        options: BTreeMap::from(options.map(|(name, value)| (name.to_owned(), value.to_owned()))),
    };
    let network = Network::build(architecture.clone(), 36).unwrap();
    let mut weights = Weights::zeros(network.layout().clone());
    for (index, declared) in network.layout().parameters().iter().enumerate() {
        let tensor = tensors.tensor(&format!("param.transformer.{}", declared.name)).unwrap();
        assert_eq!(tensor.shape(), declared.shape);
        checkpoint::fill(weights.get_mut(index), tensor.data());
    }
    assert_eq!(tensors.len(), network.layout().parameters().len());
    let description = Description {
        format: FORMAT,
        architecture,
        parameters: network.layout().total() as u64,
        status: Status::Finished,
        training: Map::from_iter([("vocabulary".to_owned(), json!(vocabulary))]),
    };
    checkpoint::write(folder, &description, &weights).unwrap();
}

#[test]
fn the_golden_model_answers_as_in_pytorch() {
    let (Some(model), Some(lines), Some(rates)) =
        (golden("answers-prompt.safetensors"), golden("answers.jsonl"), golden("answers.json"))
    else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    write_model(folder.path(), &model);
    let player = open(folder.path()).unwrap();
    let lines: Vec<Line> =
        str::from_utf8(&lines).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let asked: Vec<(Board, u16, Question)> = lines
        .iter()
        .map(|line| {
            let board = Board::parse(&line.fen).unwrap();
            let MoveReading::Legal(best) = read(board.position(), Form::Prompt.notation(), &line.best) else {
                panic!()
            };
            let question = player.question(&board, None, best).unwrap();
            (board, best, question)
        })
        .collect();
    let (mut counts, mut loss, mut tokens) = ([0; 6], 0.0, 0);
    for (lines, asked) in lines.chunks(16).zip(asked.chunks(16)) {
        let questions: Vec<&Question> = asked.iter().map(|(_, _, question)| question).collect();
        for ((line, (board, best, _)), answer) in lines.iter().zip(asked).zip(player.answer(&questions)) {
            assert!((answer.loss - line.loss_sum).abs() < 1e-4, "{}: {} for {}", line.fen, answer.loss, line.loss_sum);
            assert_eq!(answer.tokens, line.tokens);
            let words = |text: &str| text.split('$').next().unwrap().to_owned();
            if line.smallest_gap > 1e-4 {
                assert_eq!(answer.forced, words(&line.forced.text), "{}", line.fen);
                assert_eq!(answer.free, words(&line.free.text), "{}", line.fen);
            }
            let found = [judge(board, *best, &answer.forced), judge(board, *best, &answer.free)].concat();
            let of = |judged: &Judged| [judged.valid, judged.legal, judged.best];
            assert_eq!(found, [of(&line.forced), of(&line.free)].concat(), "{}", line.fen);
            counts.iter_mut().zip(found).for_each(|(count, is)| *count += u32::from(is));
            loss += answer.loss;
            tokens += answer.tokens;
        }
    }
    let rates: Value = serde_json::from_slice(&rates).unwrap();
    let names = ["forced_valid", "forced_legal", "forced_best", "free_valid", "free_legal", "free_best"];
    for (count, name) in counts.into_iter().zip(names) {
        assert_eq!(f64::from(count) / lines.len() as f64, rates[name].as_f64().unwrap(), "{name}");
    }
    let near =
        |found: f64, name: &str| assert!((found - rates[name].as_f64().unwrap()).abs() < 1e-6, "{name}: {found}");
    near(loss / lines.len() as f64, "loss_a_move");
    near(loss / tokens as f64, "loss_a_token");
}

#[test]
fn questions_are_the_golden_inputs() {
    let (Some(positions), board, prompt) = (golden("positions.jsonl"), player(Form::Board), player(Form::Prompt))
    else {
        return;
    };
    let mut seen = 0;
    for line in str::from_utf8(&positions).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let ids = |key: &str| -> Vec<u16> { serde_json::from_value(line[key].clone()).unwrap() };
        let (Some(best), Some(_)) = (line["best_action"].as_u64(), line["prompt"].as_str()) else { continue };
        let position = Board::parse(line["fen"].as_str().unwrap()).unwrap();
        let question = board.question(&position, None, best as u16).unwrap();
        assert_eq!((question.tokens[0], &question.tokens[1..]), (0, &ids("board")[..]));
        assert_eq!((&question.right, &question.legal), (&vec![best as u16], &ids("actions")));
        let question = prompt.question(&position, None, best as u16).unwrap();
        assert_eq!([question.tokens, question.right].concat(), ids("prompt_tokens"));
        seen += 1;
    }
    assert!(seen > 200, "{seen}");
}

#[test]
fn text_of_a_game_is_golden_up_to_each_of_its_moves() {
    let (Some(games), player) = (golden("movetexts.jsonl"), player(Form::Characters)) else { return };
    for line in str::from_utf8(&games).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let tokens: Vec<u16> = serde_json::from_value(line["tokens"].clone()).unwrap();
        let answers: Vec<[usize; 2]> = serde_json::from_value(line["answers"].clone()).unwrap();
        let mut game = GamePrefix::default();
        for [begin, end] in answers {
            let text = &line["text"].as_str().unwrap()[begin..end];
            let MoveReading::Legal(best) = read(game.position(), Form::Characters.notation(), text) else {
                panic!("{text}")
            };
            let board = Board::of(game.position()).unwrap();
            match player.question(&board, Some(&game), best) {
                Ok(question) => {
                    assert_eq!(question.tokens, tokens[..begin]);
                    assert_eq!(question.right[..end - begin], tokens[begin..end]);
                    assert_eq!(question.right[end - begin], 0);
                }
                Err(error) => {
                    assert!(begin + 10 > 1024, "{begin}");
                    assert_eq!(error, AnswerError::ContextFull(1023));
                }
            }
            let played = cwm_encoding::legal(game.position(), cwm_policy::actions::move_of(best).unwrap()).unwrap();
            game.push(played);
        }
    }
}
