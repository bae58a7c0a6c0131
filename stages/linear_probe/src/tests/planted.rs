//! Rows in which boards were planted: each square's class adds a direction of its own.

use cwm_contract::{Cancellation, Context, Event, Invocation, Parameters, Reporter};
use cwm_inside::linear_probe::{Counts, LinearProbe, Majority, Metrics, Predictions, SQUARES};
use cwm_inside::{Rows, RowsWriter};
use cwm_models::parameters::{Init, InitRng};
use cwm_models::worker_pool::WorkerPool;

use crate::boards::Boards;
use crate::config::Config;
use crate::inputs::{Form, Inputs};
use crate::train::train;

const CLASSES: usize = 3;
const WIDTH: usize = 256;

struct Silent;

impl Reporter for Silent {
    fn report(&self, _event: Event) {}
}

fn context() -> Context {
    Context::new(&crate::LinearProbe, Invocation::default(), Box::new(Silent), Cancellation::default())
}

/// Rows of as many games with a board each, at plies 0 to 3 in turn, and their boards.
fn planted(
    folder: &std::path::Path,
    name: &str,
    rows: usize,
    random: &mut InitRng,
    planted: &LinearProbe,
) -> (Rows, Boards) {
    let mut writer = RowsWriter::create(folder, name, 1, WIDTH).unwrap();
    let mut boards = Boards::empty();
    for row in 0..rows {
        let mut labels = [0; cwm_encoding::LABELS];
        let mut x = vec![0.0; WIDTH];
        for (square, label) in labels.iter_mut().take(SQUARES).enumerate() {
            // White, black or nothing, of which nothing is the most frequent.
            let class = [0, 0, 1, 2][random.uniform(0.0, 4.0) as usize];
            *label = [0, 1, 7][class];
            x.iter_mut().zip(planted.direction(square, class)).for_each(|(x, value)| *x += value);
        }
        writer.push(&[x]).unwrap();
        boards.push(&labels, row as u32 % 4);
        boards.end_game();
    }
    (writer.finish().unwrap(), boards)
}

#[test]
fn planted_boards_are_read_and_shuffled_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = InitRng::seeded(1);
    let mut weight = vec![0.0; SQUARES * CLASSES * WIDTH];
    Init::Normal(1.0).fill(&mut weight, &mut random);
    let directions = LinearProbe::new(CLASSES, WIDTH, weight);
    let (train_rows, mut train_boards) = planted(folder.path(), "train", 3_000, &mut random, &directions);
    let (test_rows, test_boards) = planted(folder.path(), "test", 300, &mut random, &directions);
    let defaults = Config::specs().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?)));
    let mut config = Config::read(&defaults.collect()).unwrap();
    (config.lr, config.epochs) = (1e-2, 15);
    let target = cwm_inside::linear_probe::Target::Colour;
    let form = Form::Stream(8.0);
    let truth = test_boards.classes(target);
    let accuracy = |boards: &Boards, workers: usize| {
        let labels = boards.classes(target);
        let (context, workers) = (context(), WorkerPool::new(workers).unwrap());
        let inputs = |rows| Inputs { rows, site: 0, form: &form };
        let of_row = |row: usize, into: &mut Vec<u8>| boards.push_classes(target, row, into);
        let made = train(&context, &config, &workers, &[inputs(&train_rows)], &of_row, CLASSES).unwrap();
        let mut x = Vec::new();
        inputs(&test_rows).read(0..test_rows.len(), &mut x);
        let read = made[0].probe.predict(&x, &truth);
        let majority = Majority::of(CLASSES, &labels).board().repeat(test_rows.len());
        let of = |read: &Predictions| {
            let mut counts = Counts::default();
            let rows = truth.chunks_exact(SQUARES).zip(read.classes.chunks_exact(SQUARES));
            rows.for_each(|(truth, read)| counts.add_row(truth, read, 0.0));
            Metrics::of(&counts).accuracy
        };
        let majority = Predictions { classes: majority, losses: Vec::new() };
        (of(&read), of(&majority), made[0].probe.weight().to_vec())
    };
    let (found, majority, weight) = accuracy(&train_boards, 1);
    assert!(found > 0.99 && majority < 0.6, "{found} {majority}");
    assert!(accuracy(&train_boards, 3).2 == weight, "workers change no bit");
    train_boards.shuffle(3);
    let (found, majority, _) = accuracy(&train_boards, 2);
    assert!(found <= majority + 0.01, "{found} {majority}");
}
