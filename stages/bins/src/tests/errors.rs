//! Tests of the errors of each label, against a count row by row.

use super::*;

#[test]
fn errors_agree_with_a_count_row_by_row() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (scores(8, 300), scores(9, 40));
    let files: [(&str, &[Position]); 2] = [("a", &first), ("b[test=random_uniform]", &second)];
    let errors = read(&run(folder.path(), &files, 20, 2).unwrap(), "errors.parquet");
    assert_eq!(errors.num_rows(), 150);
    let is_wrong = |position: &Position, index: u64| position.right >> index & 1 == 0;
    for row in 0..150 {
        let (positions, index) = ([&first, &second][row / 75], row as u64 % 75);
        let mut firsts: BTreeMap<u32, &Position> = BTreeMap::new();
        for position in positions.iter().filter(|position| !position.is_exact()) {
            firsts.entry(position.game).or_insert(position);
        }
        let wrong = positions.iter().filter(|position| is_wrong(position, index)).count() as u64;
        let first = firsts.values().filter(|position| is_wrong(position, index)).count() as u64;
        let found = ["index", "wrong", "first", "positions", "games"].map(|column| counts(&errors, column)[row]);
        assert_eq!(found, [index, wrong, first, positions.len() as u64, firsts.len() as u64]);
        assert!(wrong > first && first > 0);
        assert_eq!(texts(&errors, "label")[row], ["a", "b[test=random_uniform]"][row / 75]);
    }
}

/// Scores of other programs need not have the labels that are right.
#[test]
fn without_the_labels_that_are_right_there_are_no_errors() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, bare) = (folder.path().join("whole"), folder.path().join("bare"));
    write_scores(&whole, Some(MODEL), &scores(2, 5));
    let file = ParquetRecordBatchReaderBuilder::try_new(File::open(&whole).unwrap()).unwrap();
    let batch = file.build().unwrap().next().unwrap().unwrap();
    let kept: Vec<usize> =
        (0..batch.num_columns()).filter(|at| !batch.schema().field(*at).name().starts_with("right")).collect();
    let batch = batch.project(&kept).unwrap();
    let mut writer =
        datafusion::parquet::arrow::ArrowWriter::try_new(File::create(&bare).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let trial = Trial::new(folder.path().join("trial"));
    let trial =
        trial.labelled("scores", label("a[family=gru,size=d64/l1]"), &bare).labelled("scores", label("b"), &whole);
    let outcome = trial.run(&Bins).unwrap();
    assert_eq!(texts(&read(&outcome, "errors.parquet"), "label"), vec!["b"; 75]);
    assert_eq!(read(&outcome, "overall.parquet").num_rows(), 2);
}

#[test]
fn models_of_one_test_set_that_were_scored_on_other_games_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (scores(8, 300), scores(9, 40));
    let refused = |labels: [&str; 2]| {
        let files: [(&str, &[Position]); 2] = [(labels[0], &first), (labels[1], &second)];
        run(folder.path(), &files, 20, 2).err()
    };
    let failure = refused(["a[seed=0]", "mine[seed=1]"]).unwrap();
    assert!(failure.message.starts_with("mine[seed=1] and a[seed=0] were not scored on the same games of held_out: "));
    assert!(failure.message.contains(": 40 games with "), "{failure}");
    assert!(refused(["a[seed=0]", "mine[seed=1,test=other]"]).is_none());
}
