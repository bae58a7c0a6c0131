//! Arrow's own reader on our files, and our reader on Arrow's files.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ListArray, RecordBatch, StringArray, UInt16Array, UInt32Array, UInt64Array};
use arrow_buffer::OffsetBuffer;
use arrow_ipc::CompressionType;
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};

use super::*;

#[test]
fn arrow_reads_every_value() {
    let rows: Vec<Row> = many(20_000).into_iter().map(|row| Row { labelled: row.index % 700 == 3, ..row }).collect();
    let folder = tempdir().unwrap();
    let (games, dataset) = write(folder.path(), &rows, 17_000);
    let mut at = 0;
    for name in names(&games) {
        for batch in FileReader::try_new(fs::File::open(games.join(name)).unwrap(), None).unwrap() {
            let batch = batch.unwrap();
            let text =
                |column: &str, row| batch.column_by_name(column).unwrap().as_string::<i32>().value(row).to_owned();
            for row in 0..batch.num_rows() {
                assert_eq!(batch["index"].as_primitive::<UInt64Type>().value(row), rows[at].index);
                assert_eq!((text("id", row), text("site", row)), (rows[at].id.clone(), rows[at].site.clone()));
                assert_eq!(text("result", row), rows[at].result());
                let moves = batch["moves"].as_list::<i32>().value(row);
                assert_eq!(moves.as_primitive::<UInt16Type>().values(), &rows[at].tokens[1..]);
                assert_eq!(batch["plies"].as_primitive::<UInt32Type>().value(row) as usize, moves.len());
                let carried = batch["labels"].as_binary::<i32>();
                let carried = carried.is_valid(row).then(|| carried.value(row).to_vec());
                assert_eq!(carried, rows[at].labels());
                at += 1;
            }
        }
    }
    assert_eq!(at, rows.len());
    let reader = FileReader::try_new(fs::File::open(dataset.join("dataset-00001.arrow")).unwrap(), None).unwrap();
    let columns: Vec<String> = reader.schema().fields().iter().map(|field| field.to_string()).collect();
    insta::assert_snapshot!(columns.join("\n"), @r#"
    Field { "index": UInt64 }
    Field { "id": Utf8 }
    Field { "tokens": List(non-null UInt16) }
    Field { "result": Utf8 }
    Field { "plies": UInt32 }
    Field { "labels": nullable Binary }
    "#);
    let games: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(games, 3_000);
}

/// A dataset of two games as Arrow's writer makes it.
fn foreign(folder: &Path, options: IpcWriteOptions, change: impl FnOnce(&mut Vec<(&'static str, Arc<dyn Array>)>)) {
    let item = Arc::new(arrow_schema::Field::new_list_field(arrow_schema::DataType::UInt16, false));
    let tokens = UInt16Array::from(vec![20480, 1, 2, 20480]);
    let tokens = ListArray::new(item, OffsetBuffer::from_lengths([3, 1]), Arc::new(tokens), None);
    let mut columns: Vec<(&str, Arc<dyn Array>)> = vec![
        ("index", Arc::new(UInt64Array::from(vec![5, 6]))),
        ("id", Arc::new(StringArray::from(vec!["five", "six"]))),
        ("tokens", Arc::new(tokens)),
        ("result", Arc::new(StringArray::from(vec!["1-0", "*"]))),
        ("plies", Arc::new(UInt32Array::from(vec![2, 0]))),
    ];
    change(&mut columns);
    let metadata = [("cwm.format", "dataset"), ("cwm.version", "2")].map(|(key, value)| (key.into(), value.into()));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let schema = batch.schema().as_ref().clone().with_metadata(metadata.into());
    let batch = batch.with_schema(Arc::new(schema.clone())).unwrap();
    let file = fs::File::create(folder.join("dataset-00000.arrow")).unwrap();
    let mut writer = FileWriter::try_new_with_options(file, &schema, options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

#[test]
fn a_plain_arrow_file_of_another_program_is_read_and_a_wholly_compressed_one_is_not() {
    let folder = tempdir().unwrap();
    let options = IpcWriteOptions::default();
    foreign(folder.path(), options.clone(), |_| {});
    let dataset = Dataset::open(folder.path()).unwrap();
    let game = dataset.get(0).unwrap().unwrap();
    let expected = DatasetRow { index: 5, id: "five", tokens: &[20480, 1, 2], result: "1-0", labels: None };
    assert_eq!((dataset.len(), game.row()), (2, expected));

    let refused = |options, change: fn(&mut Vec<(&'static str, Arc<dyn Array>)>)| {
        foreign(folder.path(), options, change);
        let opened = Dataset::open(folder.path()).and_then(|dataset| dataset.get(1).map(|_| ()));
        opened.unwrap_err().to_string()
    };
    let compressed = options.clone().try_with_compression(Some(CompressionType::ZSTD)).unwrap();
    let many = |columns: &mut Vec<(&'static str, Arc<dyn Array>)>| {
        let item = Arc::new(arrow_schema::Field::new_list_field(arrow_schema::DataType::UInt16, false));
        let tokens = Arc::new(UInt16Array::from(vec![0; 4_000]));
        columns[2].1 = Arc::new(ListArray::new(item, OffsetBuffer::from_lengths([3_999, 1]), tokens, None));
    };
    let error = refused(compressed, many);
    assert!(error.ends_with("its lists are compressed, so that they cannot be read in place"), "{error}");
    let error = refused(options.clone(), |columns| columns[4].1 = Arc::new(UInt32Array::from(vec![2, 1])));
    assert!(error.ends_with("row 1 declares 1 plies, and its list has 1"), "{error}");
    let error = refused(options, |columns| columns[0].1 = Arc::new(UInt32Array::from(vec![2, 1])));
    let columns = "index uint64, id utf8, tokens list<uint16>, result utf8, plies uint32";
    let expected = format!("its columns are {}, not {columns}", columns.replace("uint64", "uint32"));
    assert!(error.ends_with(&expected), "{error}");
}
