//! Models, micro-batches and kept rows.

use cwm_chess::sample;
use cwm_encoding::{PlainMove, START};
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{Sites, Tokens, device};

use crate::sample::write_checkpoint;
use crate::{Model, ModelTask, RowsWriter, TokenizedGame, WeightsSource};

fn readings(task: ModelTask) -> Vec<TokenizedGame> {
    let games = sample::games().into_iter().take(9).enumerate();
    let reading = |(index, moves): (usize, Vec<PlainMove>)| {
        let tokens: Vec<u16> = std::iter::once(START).chain(moves.iter().map(|plain| plain.token())).collect();
        let mut reading = TokenizedGame::of(task, &tokens).unwrap();
        reading.truncate(10 + 5 * index);
        reading
    };
    games.map(reading).collect()
}

fn open(family: &str, task: ModelTask, weights_source: WeightsSource) -> (tempfile::TempDir, Model) {
    let folder = tempfile::tempdir().unwrap();
    write_checkpoint(folder.path(), task, family, "d32/l2", 4).unwrap();
    let model = Model::open(folder.path(), weights_source, &device::cpu()).unwrap();
    (folder, model)
}

/// Rows of micro-batches are those of each game alone, for any number of workers.
#[test]
fn kept_rows_are_those_of_each_game_alone() {
    for (family, task) in [("gpt", ModelTask::Moves), ("slice", ModelTask::Moves), ("transformer", ModelTask::State)] {
        let (_folder, model) = open(family, task, WeightsSource::Trained);
        assert_eq!((model.task(), model.sites(), model.width()), (task, 3, 32));
        let readings = readings(task);
        let kept = |workers, batch_tokens| {
            let workers = WorkerPool::new(workers).unwrap();
            let kept = model.by_batch(&workers, batch_tokens, &readings, |batch| {
                let last = |(game, place): (usize, &usize)| {
                    let rows = [batch.row(game, 3), batch.row(game, readings[*place].len() - 1)];
                    batch.stream(&[0, 2], &rows, true)
                };
                Ok(batch.places.iter().enumerate().map(last).collect())
            });
            kept.unwrap()
        };
        let found = kept(1, 160);
        assert_eq!(found, kept(2, 160));
        for (reading, found) in readings.iter().zip(&found) {
            let tokens = Tokens::padded([&reading.tokens[..]], 0);
            let pass = model.pass().with_sites(Sites { keep: vec![0, 1, 2], edit: None });
            let _logits = model.network().flat_logits(&pass, &tokens);
            let row = |site: usize, token: usize, normed: bool| {
                let mut row = pass.kept()[site].1.clone().slice([token..token + 1, 0..32]);
                if normed {
                    row = model.network().final_norm(&pass, row);
                }
                row.into_data().try_to_vec::<f32>().unwrap()
            };
            let last = reading.len() - 1;
            let expected = [(0, false), (2, true)].map(|(site, n)| [row(site, 3, n), row(site, last, n)].concat());
            for (found, expected) in found.iter().zip(&expected) {
                crate::testing::assert_close(found, expected, 1e-5);
            }
        }
    }
}

#[test]
fn untrained_models_have_other_weights_of_the_same_architecture() {
    let (_one, trained) = open("gpt", ModelTask::Moves, WeightsSource::Trained);
    let (_two, same) = open("gpt", ModelTask::Moves, WeightsSource::Untrained { seed: 4 });
    let (_three, other) = open("gpt", ModelTask::Moves, WeightsSource::Untrained { seed: 5 });
    assert_eq!(trained.digest(), same.digest());
    assert_ne!(trained.digest(), other.digest());
    assert_eq!((trained.name(), trained.weights_source().name()), ("gpt d32/l2".to_owned(), "trained"));
    assert_eq!(trained.checked_sites(&[2, 0], "layers").unwrap(), [0, 2]);
    let refused = |given: &[u64]| trained.checked_sites(given, "layers").unwrap_err().message;
    assert_eq!(refused(&[3]), "`layers` has layer 3, and gpt d32/l2 has layers 0 to 2");
    assert_eq!(refused(&[1, 1]), "`layers` has layer 1 twice");
}

#[test]
fn other_forms_are_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    write_checkpoint(folder.path(), ModelTask::Moves, "gpt", "d32/l2", 4).unwrap();
    let file = folder.path().join("model.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(file, text.replace("\"words\"", "\"board\"")).unwrap();
    let message = Model::open(folder.path(), WeightsSource::Trained, &device::cpu()).unwrap_err().message;
    assert!(message.contains("it reads sequences of the form `board`"), "{message}");
}

#[test]
fn a_game_that_is_too_long_is_refused() {
    let (_folder, model) = open("gpt", ModelTask::Moves, WeightsSource::Trained);
    let longest = model.longest().unwrap();
    let workers = WorkerPool::new(1).unwrap();
    let games = [vec![1u16; longest + 1]];
    assert!(model.by_batch(&workers, 64, &games, |batch| Ok(vec![(); batch.places.len()])).is_err());
}

#[test]
fn rows_are_read_at_any_place() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = RowsWriter::create(folder.path(), "train", 2, 3).unwrap();
    writer.push(&[[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]).unwrap();
    writer.push(&[[4.0, 5.0, 6.0, 7.0, 8.0, 9.0], [40.0, 50.0, 60.0, 70.0, 80.0, 90.0]]).unwrap();
    let rows = writer.finish().unwrap();
    let mut into = vec![0.5];
    rows.read(1, [2, 0], &mut into);
    assert_eq!(into, [70.0, 80.0, 90.0, 10.0, 20.0, 30.0]);
    assert_eq!((rows.len(), rows.width(), rows.is_empty()), (3, 3, false));
    assert!(RowsWriter::create(folder.path(), "none", 1, 3).unwrap().finish().unwrap().is_empty());
}
