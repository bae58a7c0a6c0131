use std::path::Path;

use proptest::prelude::*;
use tempfile::tempdir;

use super::*;

fn edit() -> Finding {
    Finding::new(Kind::Edit, "gpt d64/l4", "trained", Some(3), 120)
        .name("intervention", "probe")
        .name("eta", 0.5)
        .value("same_argmax", 0.25)
        .estimate("target", 0.5, Some((0.25, 0.75)))
}

#[test]
fn a_line_is_one_object_with_sorted_keys() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("findings.jsonl");
    let odd = Finding::new(Kind::Alignment, "slice d16/l1", "untrained", None, 0).value("d", f64::NAN).value("p", 1e-3);
    write(&path, [edit(), odd]).unwrap();
    let expected = r#"{"format":1,"high":{"target":0.75},"kind":"edit","layer":3,"low":{"target":0.25},"model":"gpt d64/l4","n":120,"names":{"eta":"0.5","intervention":"probe"},"network":"trained","values":{"same_argmax":0.25,"target":0.5}}
{"format":1,"kind":"alignment","model":"slice d16/l1","n":0,"network":"untrained","values":{"d":"nan","p":0.001}}
"#;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    let read = read(&path).unwrap();
    assert_eq!((&read[0], read[0].interval("target"), read[0].get("target")), (&edit(), Some((0.25, 0.75)), Some(0.5)));
    assert_eq!((read[0].named("eta"), read[0].named("board"), read[0].interval("same_argmax")), ("0.5", "", None));
    assert!(read[1].get("d").unwrap().is_nan());
}

fn kind() -> impl Strategy<Value = Kind> {
    use Kind::*;
    prop::sample::select(vec![Legality, Probe, Composition, Reconstruction, Alignment, Edit, Density, Case])
}

fn finding() -> impl Strategy<Value = Finding> {
    let number = prop_oneof![any::<f64>().prop_filter("not equal to itself", |value| !value.is_nan())];
    let numbers = prop::collection::btree_map("[a-z_]{1,4}", number, 0..4);
    let names = prop::collection::btree_map("[a-z]{1,4}", any::<String>(), 0..3);
    let rest = (any::<String>(), any::<String>(), any::<u64>(), names);
    (kind(), any::<Option<u32>>(), [numbers.clone(), numbers.clone(), numbers], rest).prop_map(
        |(kind, layer, [high, low, values], (model, network, n, names))| Finding {
            high,
            kind,
            layer,
            low,
            model,
            n,
            names,
            network,
            values,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn what_was_written_is_read(findings in prop::collection::vec(finding(), 0..5)) {
        let folder = tempdir().unwrap();
        let path = folder.path().join("findings.jsonl");
        write(&path, findings.clone()).unwrap();
        prop_assert_eq!(read(&path).unwrap(), findings);
    }
}

#[test]
fn a_wrong_line_is_an_error_with_its_number() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("findings.jsonl");
    let good = r#"{"format":1,"kind":"edit","model":"m","n":1,"network":"trained","values":{"a":1}}"#;
    let message = |line: &str| {
        std::fs::write(&path, format!("{good}\n{line}\n")).unwrap();
        let message = read(&path).unwrap_err().message;
        let (place, what) = message.split_once(&format!("{}: ", path.display())).unwrap();
        assert_eq!(place, "line 2 of the findings ");
        what.to_owned()
    };
    assert!(message("no JSON").starts_with("no JSON object: "));
    assert!(message("[1]").starts_with("no JSON object: "));
    assert_eq!(message("{}"), "`format` is missing");
    assert_eq!(message(&good.replace(":1,", ":2,")), "`format` is not 1, which is what this cwm reads");
    assert_eq!(message(&good.replace(":1}", r#":"x"}"#)), "`a` is `x`, which is no number");
    assert!(message(&good.replace("edit", "guess")).starts_with("unknown variant `guess`"));
    assert!(message(&good.replace("network", "net")).starts_with("unknown field `net`"));
    assert!(message(&good.replace(r#""n":1,"#, "")).starts_with("missing field `n`"));
    assert!(read(Path::new("absent")).unwrap_err().message.starts_with("cannot read absent: "));
}
