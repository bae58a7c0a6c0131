//! The authors' own numbers.

use std::collections::BTreeSet;

use cwm_contract::testing::shared;

use super::{faults, judge, worst};

const FAMILIES: [&str; 8] =
    ["transformer", "slice_bd8", "slice_diag", "gdn_neg", "gdn_pos", "mamba2", "mamba3_siso", "mamba3_mimo4"];

#[test]
fn every_golden_file_is_within_the_tolerances() {
    let Some(folder) = shared("parity") else { return };
    let comparisons = judge(&[&folder], None, &[]);
    let names: BTreeSet<&str> = comparisons.iter().map(|comparison| comparison.name.as_str()).collect();
    for name in ["lr-schedules", "metrics", "param-counts"] {
        assert!(names.contains(name), "{name}");
    }
    for family in FAMILIES {
        for size in ["tiny", "d128"] {
            assert!(names.contains(format!("{family}-{size}").as_str()), "{family}-{size}");
        }
    }
    let mut fixtures = 0;
    for comparison in &comparisons {
        assert_eq!(faults(comparison), Ok(Vec::new()), "{}", comparison.name);
        let quantities = comparison.result.as_ref().unwrap();
        let worst = worst(quantities);
        println!("{}: {} of the tolerance in {}", comparison.name, worst.worst.of_tolerance, worst.name);
        let compared: BTreeSet<&str> = quantities.iter().map(|quantity| quantity.name.as_str()).collect();
        assert_eq!(compared.len(), quantities.len(), "{}: a quantity is named twice", comparison.name);
        if comparison.name.ends_with("-tiny") || comparison.name.ends_with("-d128") {
            let has = |name: &str| assert!(compared.contains(name), "{}: no {name}", comparison.name);
            ["output.pieces", "output.fullmove", "output.loss", "output.loss_sum"].into_iter().for_each(has);
            ["manifest param_count", "manifest global_grad_norm", "manifest head_losses.castle"]
                .into_iter()
                .for_each(has);
            ["grad_norm.output_head.weight", "grad_dot_param.output_head.bias"].into_iter().for_each(has);
            ["output.side (decomposed)", "grad_norm.output_head.weight (decomposed)"].into_iter().for_each(has);
            assert_eq!(compared.contains("output.side (step by step)"), !comparison.name.starts_with("transformer"));
            assert_eq!(compared.contains("output.side (scan sequential)"), comparison.name.starts_with("slice"));
            assert_eq!(comparison.notes, [""; 0], "{}", comparison.name);
            fixtures += 1;
        }
        if comparison.name.ends_with("-tiny") {
            assert!(compared.iter().any(|name| name.starts_with("mid.")), "{}", comparison.name);
            assert!(compared.contains("grad.output_head.bias"), "{}", comparison.name);
            for backend in ["", " (on device)"] {
                for what in ["losses", "grad_norms", "loss_after_5", "param_norm_after_5", "param_dot_init_after_5"] {
                    let name = format!("train_trace.{what}{backend}");
                    assert!(compared.contains(name.as_str()), "{}: no {name}", comparison.name);
                }
            }
            assert_eq!(comparison.not_compared, [""; 0], "{}", comparison.name);
        } else if comparison.name.ends_with("-d128") {
            let not_compared = ["mid., grad. (not in the file)", "train_trace (not in its manifest)"];
            assert_eq!(comparison.not_compared, not_compared, "{}", comparison.name);
        }
    }
    assert_eq!(fixtures, 2 * FAMILIES.len());
}

const NONE_BESIDE_IT: &str = "train_trace, fp64_loss, global_grad_norm, param_count, no_weight_decay_params_upstream, \
                              head_losses (no manifest.json beside it)";

#[test]
fn without_a_manifest_names_and_shapes_tell_the_model() {
    let Some(folder) = shared("parity") else { return };
    let bare = tempfile::tempdir().unwrap();
    for family in FAMILIES {
        let file = format!("{family}-tiny.safetensors");
        std::fs::copy(folder.join(&file), bare.path().join(&file)).unwrap();
    }
    let listed = judge(&[&folder], None, &[]);
    let comparisons = judge(&[bare.path()], None, &[]);
    assert_eq!(comparisons.len(), FAMILIES.len());
    for comparison in &comparisons {
        assert_eq!(faults(comparison), Ok(Vec::new()), "{}", comparison.name);
        let with = listed.iter().find(|listed| listed.name == comparison.name).unwrap();
        assert_eq!(comparison.subject, with.subject);
        assert_eq!(comparison.not_compared, [NONE_BESIDE_IT], "{}", comparison.name);
    }
    let notes = |name: &str| comparisons.iter().find(|comparison| comparison.name == name).unwrap().notes.clone();
    assert_eq!(notes("gdn_pos-tiny"), ["taken for gated_deltanet_pos, since its name has `gdn_pos`"]);
    assert_eq!(notes("transformer-tiny"), ["assumed 2 heads, which no tensor determines (--option heads=N)"]);
    assert!(notes("mamba3_siso-tiny").is_empty());
}

#[test]
fn what_names_do_not_tell_must_be_said() {
    let Some(folder) = shared("parity") else { return };
    let bare = tempfile::tempdir().unwrap();
    let file = bare.path().join("x.safetensors");
    std::fs::copy(folder.join("gdn_pos-tiny.safetensors"), &file).unwrap();
    let untold = judge(&[&file], None, &[]).pop().unwrap();
    assert_eq!(
        faults(&untold).unwrap_err(),
        "its parameters may be those of gated_deltanet or of gated_deltanet_pos; say which with --family, or in the \
         file's name"
    );
    let comparison = judge(&[&file], Some("gated_deltanet_pos"), &[]).pop().unwrap();
    assert_eq!(faults(&comparison), Ok(Vec::new()));
    let wrong = judge(&[&file], Some("mamba2"), &[]).pop().unwrap();
    assert_eq!(
        faults(&wrong).unwrap_err(),
        "its parameters are those of gated_deltanet or gated_deltanet_pos, but --family is `mamba2`"
    );
}
