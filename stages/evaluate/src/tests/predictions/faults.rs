//! Predictions that are refused, and the messages.

use cwm_contract::Stage;

use super::*;

#[test]
fn every_fault_is_an_error_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    dataset(folder, &games());
    let path = folder.join("predictions");
    let message_after = |change: &dyn Fn(&mut Vec<PredictionRow>)| {
        let mut rows = prediction_rows();
        change(&mut rows);
        plain(&path, &rows);
        let failure = score(folder, 2, &[]).err().expect("a failure");
        assert_eq!(failure.kind, FailureKind::Input);
        failure.message
    };
    let check = |change: &dyn Fn(&mut Vec<PredictionRow>), message: &str| assert_eq!(message_after(change), message);
    // 9 games of 31, 28, 25, 22, 19, 31, 28, 25 and 22 positions.
    check(
        &|rows| rows.retain(|row| row.game != 2 && !(row.game == 1 && row.t == 5)),
        "the predictions lack 26 of 231 positions, in 2 of 9 games: the first is t = 5 of game 1 (game1)",
    );
    check(
        &|rows| rows.clear(),
        "the predictions lack 231 of 231 positions, in 9 of 9 games: the first is t = 0 of game 0 (game0)",
    );
    check(
        &|rows| rows.push(rows[40].clone()),
        "row 231 of the predictions is of t = 9 of game 1 (game1), of which there was a row before",
    );
    check(
        &|rows| rows[33].t = 28,
        "row 33 of the predictions is of t = 28 of game 1 (game1), which has 28 positions, counted from 0",
    );
    check(&|rows| rows[7].t = -1, "row 7 of the predictions has a negative `t`");
    check(&|rows| rows[9].game = 99, "row 9 of the predictions names `game99`, which is the id of no game");
    check(&|rows| rows[2].labels[64] = 2, "row 2 of the predictions has 2 for label 64, which has 2 classes");
}

#[test]
fn files_of_another_form_are_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, rows) = (folder.path(), prediction_rows());
    dataset(folder, &games());
    let path = folder.join("predictions");
    let message_after = |columns: Vec<(&str, ArrayRef)>| {
        write(&path, columns, None);
        score(folder, 1, &[]).err().expect("a failure").message
    };
    let check = |columns: Vec<(&str, ArrayRef)>, message: &str| assert_eq!(message_after(columns), message);
    let (id, t, labels) = (|| ("id", ids(&rows)), || ("t", times(&rows)), || ("labels", fixed(&rows)));
    check(vec![t(), labels()], "the predictions have no column `id` and none `game`; they have `t`, `labels`");
    check(vec![id(), labels()], "the predictions have no column `t`; they have `id`, `labels`");
    check(vec![id(), t()], "the predictions have no column `labels`; they have `id`, `t`");
    check(
        vec![id(), ("game", ids(&rows)), t(), labels()],
        "the predictions have a column `id` and a column `game`: leave one of them out",
    );
    check(
        vec![id(), ("t", losses(&rows)), labels()],
        "the column `t` of the predictions must hold whole numbers, not Float64",
    );
    check(vec![("id", times(&rows)), t(), labels()], "the column `id` of the predictions must hold text, not Int64");
    check(
        vec![id(), t(), ("labels", times(&rows))],
        "the column `labels` of the predictions must hold lists of 75 whole numbers, not Int64",
    );
    check(
        vec![id(), t(), labels(), ("loss", times(&rows))],
        "the column `loss` of the predictions must hold floating-point numbers, not Int64",
    );
    let mut short = rows.clone();
    short[5].labels.pop();
    check(
        vec![id(), t(), ("labels", lists::<UInt8Type>(&short, |label| label))],
        "row 5 of the predictions has 74 labels, not 75",
    );
    let wide = |class: u8| if class == 6 { 300 } else { i64::from(class) };
    check(
        vec![id(), t(), ("labels", lists::<Int64Type>(&rows, wide))],
        "row 0 of the predictions has 300 for label 60, which has 13 classes",
    );
    let mut unknown = rows.clone();
    unknown[6].loss = None;
    check(vec![id(), t(), labels(), ("loss", losses(&unknown))], "row 6 of the predictions has no `loss`");
    let mut negative = rows.clone();
    (negative[3].loss, negative[4].loss) = (Some(-1e-9), Some(-3.0));
    check(vec![id(), t(), labels(), ("loss", losses(&negative))], "row 4 of the predictions has a negative `loss`");
    check(vec![id(), t(), t(), labels()], "the predictions have 2 columns `t`: leave one of them");
    check(
        vec![id(), t(), labels(), ("loss", losses(&rows)), ("loss", losses(&rows))],
        "the predictions have 2 columns `loss`: leave one of them",
    );
    let places: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.game as i64 + 1)));
    check(
        vec![("game", places), t(), labels()],
        "row 209 of the predictions names game 9, and there are 9, counted from 0",
    );

    std::fs::write(&path, "no table").unwrap();
    let message = score(folder, 1, &[]).err().unwrap().message;
    assert!(message.contains("are no readable Parquet file"), "{message}");
    plain(&path, &rows);
    let whole = std::fs::read(&path).unwrap();
    let mut damaged = whole.clone();
    damaged[40..400].fill(0xff);
    std::fs::write(&path, damaged).unwrap();
    let message = score(folder, 1, &[]).err().unwrap().message;
    assert!(message.starts_with("the predictions cannot be read to their end: "), "{message}");
}

#[test]
fn a_checkpoint_and_predictions_have_parameters_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), &games());
    plain(&folder.path().join("predictions"), &prediction_rows());
    model(folder.path(), |_| {});
    let text = |name: &'static str, value: &str| (name, Value::Text(value.into()));
    let options = BTreeMap::from([("scan".to_owned(), Value::Text("sequential".into()))]);
    for given in [
        text("family", "slice"),
        ("options", Value::Map(options)),
        ("batch_tokens", Value::Int(64)),
        text("precision", "tf32"),
    ] {
        let name = given.0;
        let message = score(folder.path(), 1, &[given]).err().unwrap().message;
        assert_eq!(message, format!("`{name}` belongs to a checkpoint; predictions have no use for it"));
    }
    // Their defaults are there always.
    score(folder.path(), 1, &[("batch_tokens", Value::Int(2_048)), text("precision", "fp32")]).unwrap();
    let message = evaluate(folder.path(), 1, &[text("name", "gru")]).err().unwrap().message;
    assert_eq!(message, "`name` belongs to predictions; a checkpoint has its own");
    let message = score(folder.path(), 1, &[text("family", "slice"), text("name", "gru")]).err().unwrap().message;
    assert_eq!(message, "parameter `family` belongs to checkpoints, and `name` to predictions");
    let checked = |given: &[&str]| Evaluate.check_inputs(given);
    assert_eq!((checked(&["checkpoint", "games"]), checked(&["games", "predictions"])), (None, None));
    assert!(checked(&["games"]).unwrap().starts_with("has no model"));
    assert!(checked(&["checkpoint", "predictions"]).unwrap().starts_with("has two models"));
}

#[test]
fn an_id_of_several_games_names_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = DatasetWriter::create(&folder.path().join("dataset"), 9).unwrap();
    for index in 0..2 {
        writer.push(DatasetRow { index, id: "game0", tokens: &[START], result: "*", labels: None }).unwrap();
    }
    writer.finish().unwrap();
    plain(&folder.path().join("predictions"), &prediction_rows()[..1]);
    let message = score(folder.path(), 1, &[]).err().unwrap().message;
    assert_eq!(
        message,
        "row 0 of the predictions names `game0`, which is the id of several games: name games by their place"
    );
}
