use serde_json::json;

use super::*;

/// A run of a command that read a file of 100 bytes, which another wrote: so many seconds, on this device.
fn ran(seconds: f64, started: &str, computed_on: Option<&str>, is_resumed: bool) -> ActionRecord {
    let digest = "a".repeat(64);
    let record = json!({
        "format": 1, "key": "b".repeat(64), "pipeline": "p", "label": "made", "metrics": {}, "log": null,
        "components": {
            "key_format": 1, "contract": 1, "kind": COMMAND, "code": {},
            "parameters": { COMMAND_RUN: "copy" }, "inputs": { "in": [["", digest]] },
        },
        "outputs": { "out": { "digest": digest, "size": 100, "shape": { "file": { "extension": "" } }, "format": "any" } },
        "run_info": {
            "started": started, "wall_seconds": seconds, "user_seconds": 0.0, "system_seconds": 0.0,
            "peak_memory_bytes": (seconds * 1e3) as u64, "machine": { "host": "h", "cores": 2, "os": "linux" },
            "devices": [], "computed_on": computed_on, "is_resumed": is_resumed, "user": "u", "cwm_version": "0.1.0",
        },
    });
    serde_json::from_value(record).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn devices_are_measured_apart_and_what_went_on_is_left_out() {
    let records = [
        ran(40.0, "2026-01-01T00:00:00Z", Some("cpu"), false),
        ran(20.0, "2026-01-02T00:00:00Z", None, false),
        ran(0.5, "2026-01-03T00:00:00Z", Some("cpu"), true),
        ran(2.0, "2026-01-04T00:00:00Z", Some("cuda:0, One GPU"), false),
        ran(4.0, "2026-01-05T00:00:00Z", Some("cuda:1, One GPU"), false),
        ran(1.0, "2026-01-03T00:00:00Z", Some("cuda:0, Another GPU"), false),
    ];
    let machine = Machine { cores: 2, memory: 1 << 30, devices: Vec::new() };
    let estimates = Estimates::new(
        &records,
        HashMap::new(),
        &Registry::new(Vec::new(), &[], |_, _| Ok(Default::default())),
        machine,
        None,
    );
    let measured = |device: &str| {
        let group = (COMMAND.to_owned(), "copy".to_owned(), device.to_owned());
        let sum = estimates.measured.get(&group).unwrap_or_else(|| panic!("{device}"));
        (sum.runs, sum.units, sum.seconds, sum.memory, sum.outputs["out"].count)
    };
    assert_eq!(measured(PROCESSOR), (2, 200.0, 60.0, 40_000, 200));
    assert_eq!(measured("One GPU"), (2, 200.0, 6.0, 4_000, 200));
    assert_eq!(measured("Another GPU"), (1, 100.0, 1.0, 1_000, 100));
    assert_eq!(estimates.gpu, "One GPU", "the last that was computed on");
    assert_eq!(estimates.measured.len(), 3);
}

#[test]
fn external_files_count_by_their_sizes_and_a_command_without_input_counts_as_1() {
    let mut record = ran(10.0, "2026-01-01T00:00:00Z", None, false);
    let outside: Digest = "c".repeat(64).parse().unwrap();
    record.components.inputs.insert("more".into(), vec![(String::new(), outside)]);
    let units = |record: &ActionRecord, sizes: &[(Digest, u64)]| {
        let machine = Machine { cores: 2, memory: 1 << 30, devices: Vec::new() };
        let sizes = sizes.iter().copied().collect();
        let estimates = Estimates::new(
            std::slice::from_ref(record),
            sizes,
            &Registry::new(Vec::new(), &[], |_, _| Ok(Default::default())),
            machine,
            None,
        );
        estimates.measured.values().map(|sum| sum.units).next()
    };
    assert_eq!(units(&record, &[]), None, "the size of one is unknown");
    assert_eq!(units(&record, &[(outside, 50)]), Some(150.0));
    record.components.inputs.clear();
    assert_eq!(units(&record, &[]), Some(1.0));
}

#[test]
fn an_output_has_units_of_its_own() {
    let bytes = Bytes { count: 300, units: 20.0 };
    assert_eq!((bytes.of(20.0), bytes.of(40.0), bytes.of(0.0)), (Some(300), Some(600), Some(0)));
    assert_eq!(Bytes { count: 300, units: 0.0 }.of(1.0), None, "no run says");
    let mut work = Work::new("group".into(), 7.0);
    work.bytes.insert("curves".into(), 3.0);
    assert_eq!((units(&work, "curves"), units(&work, "scores")), (3.0, 7.0));
}
