//! Queries over positions with best and chosen moves, sequences and matches, as their own writers write them.

use cwm_choices::{Choice, ChoicesWriter, Chooser};
use cwm_evaluations::{Evaluation, EvaluationsWriter, Line, Score, Source};
use cwm_matches::{End, Game, MatchesWriter, Participant, Players};
use cwm_sequences::{NO_LOSS, SHARD_ROWS, Sequence, SequencesWriter, Vocabulary};
use tempfile::tempdir;

use super::{artifact, json};

#[test]
fn evaluations_are_a_table_whose_lines_can_be_asked() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("0c1f");
    let mut writer = EvaluationsWriter::create(&path, &Source { made_by: "x".into(), ..Source::default() }).unwrap();
    let lines = vec![Line { score: Some(Score::Mate(3)), depth: Some(4), moves: vec![7, 8] }];
    writer.push(Evaluation { record: 5, game: None, id: String::new(), t: None, fen: "f".into(), lines }).unwrap();
    writer.finish().unwrap();
    let query = "select record, lines[1]['mate'] as mate, lines[1]['moves'][1] as best from evaluations";
    let answer = json(&[artifact("labels", "evaluations", &path)], query);
    assert_eq!(answer, "{\"record\":5,\"mate\":3,\"best\":7}\n");
}

#[test]
fn choices_of_several_models_are_one_table() {
    let folder = tempdir().unwrap();
    let artifacts = [("choices[form=board]", 0.25), ("choices[form=moves]", 0.75)].map(|(cell, loss)| {
        let path = folder.path().join(cell);
        let chooser = Chooser { name: cell.into(), ..Chooser::default() };
        let mut writer = ChoicesWriter::create(&path, &chooser).unwrap();
        writer.push(Choice { loss: Some(loss), ..Choice::default() }).unwrap();
        writer.finish().unwrap();
        artifact(cell, "choices", &path)
    });
    let query = "select cell, loss, forced_best, free_best from choices order by cell";
    assert_eq!(
        json(&artifacts, query),
        "{\"cell\":\"choices[form=board]\",\"loss\":0.25,\"forced_best\":null,\"free_best\":false}\n\
         {\"cell\":\"choices[form=moves]\",\"loss\":0.75,\"forced_best\":null,\"free_best\":false}\n"
    );
}

#[test]
fn sequences_of_two_forms_are_one_table() {
    let folder = tempdir().unwrap();
    let artifacts = ["board", "moves"].map(|form| {
        let path = folder.path().join(form);
        let vocabulary = Vocabulary { form: form.into(), version: 1, inputs: 9, targets: 9, longest: 2 };
        let mut writer = SequencesWriter::create(&path, &vocabulary, SHARD_ROWS).unwrap();
        writer.push(Sequence { id: form, tokens: &[1, 2], targets: &[NO_LOSS, 3] }).unwrap();
        writer.finish().unwrap();
        artifact(form, "sequences", &path)
    });
    let query = "select id, array_length(tokens) as length, targets[1] as first from sequences order by id";
    assert_eq!(
        json(&artifacts, query),
        "{\"id\":\"board\",\"length\":2,\"first\":65535}\n{\"id\":\"moves\",\"length\":2,\"first\":65535}\n"
    );
}

#[test]
fn matches_are_a_table() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("0c1f");
    let player = || Participant { kind: "random".into(), ..Participant::default() };
    let players = Players { first: player(), second: player(), legality: None, repetition: None, engine: None };
    let mut writer = MatchesWriter::create(&path, &players).unwrap();
    for (game, score) in [(0, 1.0), (1, 0.5)] {
        let [opening, white, black, result] = ["", "random", "random", "x"].map(str::to_owned);
        let (pair, first_white, plies, end, illegal_attempts, level) = (0, true, 1, End::Threefold, 0, None);
        let moves = vec![3];
        writer
            .push(Game {
                game,
                pair,
                opening,
                white,
                black,
                first_white,
                result,
                score,
                plies,
                end,
                illegal_attempts,
                level,
                moves,
            })
            .unwrap();
    }
    writer.finish().unwrap();
    let answer =
        json(&[artifact("m", "matches", &path)], "select sum(score) as score, \"end\" from matches group by \"end\"");
    assert_eq!(answer, "{\"score\":1.5,\"end\":\"threefold\"}\n");
}
