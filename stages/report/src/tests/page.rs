//! The page and the report as a whole.

use cwm_contract::testing::Trial;
use cwm_contract::{Label, Value};

use sha2::{Digest, Sha256};

use super::{files, label, page_table, read, rows, run, trial};
use crate::synthetic::scored;

#[test]
fn the_page_says_first_what_was_trained_on_what() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = rows();
    let page = read(&run(trial(folder.path(), &rows)).unwrap(), "index.html");
    let opening = "This page shows how well 2 Transformer models (3 trainings, each 3 passes over 3,762 games) know the whole position \
                   after every move of a chess game from the game&#39;s moves alone, on 50 games kept out of training and \
                   50 games of random legal moves.";
    assert!(page.contains(opening), "{page}");
    assert!(!page.contains("class=\"warning\""));

    rows[1].status = Some("diverged".into());
    rows[3].status = Some("diverged".into());
    let report = run(trial(folder.path(), &rows)).unwrap();
    assert!(read(&report, "index.html").contains("<p class=\"warning\">1 of 3 trainings diverged:"));
    for id in ["table-08", "table-11-held_out"] {
        assert!(page_table(&report, id).contains("| Transformer | d32/l1 | 2 runs, 1 diverged |"), "{id}");
        assert!(page_table(&report, id).contains("| Transformer | d128/l1 | this run |"), "{id}");
    }
}

#[test]
fn curves_become_a_figure() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("curves");
    let mut text = String::new();
    for step in 1..=300 {
        let loss = 3.0 / f64::from(step);
        text += &format!(
            "{{\"kind\":\"train\",\"step\":{step},\"loss\":{loss},\"learning_rate\":0.1,\"gradient_norm\":1}}\n"
        );
        if step % 100 == 0 {
            text += &format!("{{\"kind\":\"validation\",\"step\":{step},\"loss\":{loss},\"labelwise\":0.1}}\n");
        }
    }
    std::fs::write(&path, text).unwrap();
    let sizes = ["d128/l1", "d32/l1", "d999/l1"];
    let trial = sizes.into_iter().fold(trial(folder.path(), &rows()), |trial, size| {
        trial.labelled("curves", label(&format!("model[size={size},seed=0]")), &path)
    });
    let report = run(trial).unwrap();
    let svg = read(&report, "figures/learning-curves.svg");
    // A model that was scored bears its name and colour, another its own coordinates.
    assert!(svg.contains(">Transformer d32/l1</text>") && svg.contains(">size=d999/l1</text>"), "{svg}");
    assert_eq!(svg.matches("step 100, loss 0.030000").count(), 3);
    assert_eq!(svg.matches("stroke-width=\"2\"").count(), 6 + 3, "three runs in two panels and three legend entries");
    let place = |name: &str| svg.find(&format!(">{name}</text>")).unwrap();
    assert!(place("Transformer d32/l1") < place("Transformer d128/l1"), "the legend goes by size");
    assert!(place("Transformer d128/l1") < place("size=d999/l1"));
}

#[test]
fn hostile_text_reaches_no_file_unescaped() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = "<script>alert('x\")</script>|`a`&\u{202e}\n";
    let mut row = scored("d32/l1", 0, "held_out", [0.5, 0.9, 0.2, 0.1], &[(0.9, 0.2), (0.8, 0.1)]);
    row.label = format!("evaluation[size={hostile},variant={hostile}]");
    row.family = hostile.into();
    row.size = hostile.into();
    row.test = hostile.into();
    let counts = folder.path().join("counts");
    let dropped = serde_json::json!({"stage": "parse", "read": 2, "kept": 1, "dropped": {hostile: 1}});
    std::fs::write(&counts, dropped.to_string()).unwrap();
    let curves = folder.path().join("curves");
    std::fs::write(
        &curves,
        "{\"kind\":\"validation\",\"step\":1,\"loss\":1}\n{\"kind\":\"train\",\"step\":1,\"loss\":1}\n",
    )
    .unwrap();
    let trial = trial(folder.path(), &[row])
        .labelled("counts", Label::stage(hostile), counts)
        .labelled("curves", Label { stage: "m".into(), coordinates: vec![("x".into(), hostile.into())] }, curves)
        .with("title", Value::Text(hostile.into()));
    let report = run(trial).unwrap();
    for (name, bytes) in files(&report) {
        // A PDF is no text, and has no scripts or tags.
        let Ok(text) = String::from_utf8(bytes) else {
            assert!(name.extension().unwrap() == "pdf");
            continue;
        };
        assert!(!text.contains('\u{202e}'), "{}", name.display());
        if name.extension().is_some_and(|extension| extension == "html") {
            assert_eq!(text.matches("<script>").count(), 1, "only our own script");
            assert!(text.contains("&#60;script&#62;alert(&#39;x&#34;)"), "{text}");
        } else if name.extension().is_none_or(|extension| extension != "csv" && extension != "json") {
            assert!(!text.contains("<script>") && !text.contains("alert('x\")<"), "{}", name.display());
        }
    }
    let drops = read(&report, "tables/drops.csv");
    let quoted = "\"<script>alert('x\"\")</script>|`a`&\u{fffd}\u{fffd}\"";
    assert!(drops.contains(quoted) && drops.lines().count() == 4, "{drops}");
}

#[test]
fn the_page_needs_nothing_from_outside() {
    let folder = tempfile::tempdir().unwrap();
    let report = run(trial(folder.path(), &rows())).unwrap();
    let page = read(&report, "index.html");
    // Only what is between these tags is run, by its digest.
    let policy = page.split("script-src '").nth(1).unwrap().split('\'').next().unwrap();
    let script = page.split("<script>").nth(1).unwrap().split("</script>").next().unwrap();
    let digest = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, Sha256::digest(script));
    assert_eq!(policy, format!("sha256-{digest}"));
    let page = page.replace(policy, "");
    for outside in ["http:", "https:", "//", "@import", "url("] {
        // The one script's comment lines begin with two slashes.
        let found = page.lines().find(|line| line.contains(outside) && !line.trim_start().starts_with("//"));
        assert_eq!(found, None, "{outside}");
    }
    // The place for the provenance of an export, and its content before one.
    assert_eq!(page.matches(cwm_contract::provenance::PLACEHOLDER).count(), 1);
    assert!(page.contains("<div id=\"cwm-made\">\n<p>"));
    // Every file that the page links to is there.
    for part in page.split("href=\"").skip(1) {
        let target = part.split('"').next().unwrap();
        if !target.starts_with('#') && !target.starts_with("data:") {
            assert!(report.join(target).exists(), "{target}");
        }
    }
    // What helps readers who do not see the page.
    assert_eq!(page.matches("<table>").count(), page.matches("<caption id=").count());
    assert_eq!(page.matches("role=\"img\"").count(), page.matches("<svg").count());
    assert!(page.contains("<html lang=\"en\">") && page.contains("<th scope=\"col\""));
    let mut ids: Vec<&str> = page.split(" id=\"").skip(1).map(|part| part.split('"').next().unwrap()).collect();
    let number = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), number, "an id stands twice");
}

#[test]
fn equal_bins_make_equal_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let first = files(&run(trial(folder.path(), &rows()).cores(1)).unwrap());
    let mut turned = rows();
    turned.reverse();
    assert!(first == files(&run(trial(folder.path(), &turned).cores(2)).unwrap()));
    assert!(first.len() > 10);
}

#[test]
fn bins_that_hold_nothing_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let message = run(trial(folder.path(), &[])).unwrap_err().message;
    assert!(message.ends_with("overall.parquet has no rows: nothing was scored"), "{message}");
    let bins = folder.path().join("bins");
    std::fs::write(bins.join("overall.parquet"), "no Parquet").unwrap();
    let message = run(Trial::new(folder.path().join("trial")).input("bins", &bins)).unwrap_err().message;
    assert!(message.contains("overall.parquet is no readable Parquet file"), "{message}");
    std::fs::remove_file(bins.join("overall.parquet")).unwrap();
    let message = run(Trial::new(folder.path().join("trial")).input("bins", &bins)).unwrap_err().message;
    assert!(message.starts_with("cannot open"), "{message}");
}
