//! The measures that a judge has of runs.

use cwm_answers::{Answer, AnswersWriter, Grade, GradesWriter};
use serde_json::json;

use super::*;
use crate::tests::hostile::HOSTILE;

/// A judge's measures of a run, whose quality is a number from 0 to 1.
fn judged(run: &str, quality: f64) -> Vec<Measure> {
    let names = ["efficacy", "efficiency", "faithfulness", "quality", "strategy_enumeration", "judged_accuracy"];
    names.iter().map(|name| measure(run, PREDICT, name, quality)).collect()
}

fn write(folder: &Path, name: &str, tallies: &Tallies) -> PathBuf {
    let path = folder.join(name);
    tallies.write(&path).unwrap();
    path
}

#[test]
fn a_judges_measures_stand_beside_the_runs_own() {
    let folder = tempfile::tempdir().unwrap();
    let ours = [judged("after[data=ours]", 0.31), judged("before[data=ours]", 0.53), judged("random", 0.2)].concat();
    let asked = ItemCount { task: "judge_quality".into(), category: "Judges".into(), ..ItemCount::default() };
    let ours = write(folder.path(), "judged", &Tallies { items: vec![asked], ..tallies_of(ours) });
    // A measure that the first judge has does not count again.
    let others = [judged("after[data=ours]", 0.9), judged("after[data=sft7_bl]", 0.7)].concat();
    let others = write(folder.path(), "others", &tallies_of(others));
    let trial = trial_of(folder.path(), &usual()).labelled("tallies", label("a_judge"), ours).labelled(
        "tallies",
        label("other_judge"),
        others,
    );
    let report = run(trial).unwrap();
    let table_2 = read(&report, "tables/reasoning-table-2.csv");
    let rows = lines(&table_2, "ours,ours,this run,");
    assert!(rows.len() == 1 && rows[0].contains(",5.3,5.1,5.5,3.1,2.9,3.3"), "{table_2}");
    assert_eq!(lines(&table_2, "ours,random,this run,").len(), 1, "{table_2}");
    let page = read(&report, "index.html");
    assert!(page.contains("This page has 7 runs of models and players"), "{page}");
    // The judge is no run of questions.
    assert!(!page.contains("ChessQA"), "{page}");
    let points = read(&report, "figures/reasoning-points.csv");
    assert!(points.contains("ours SFT: 53.00 % of 400") && points.contains("sft7_bl RL: 70.00 % of 400"), "{points}");
    let strategies = read(&report, "figures/reasoning-strategies.csv");
    assert!(strategies.contains("Enumeration") && !strategies.contains("Verification"), "{strategies}");
}

/// The page has names of runs that were judged, and no text of judges.
#[test]
fn texts_of_judges_do_no_harm() {
    for hostile in HOSTILE {
        let folder = tempfile::tempdir().unwrap();
        let text = format!("{hostile}</script><img src=x onerror=alert(1)><b>&lt;");
        let ours = write(folder.path(), "judged", &tallies_of(judged(&text, 0.5)));
        let [items, grades, answers] = ["items", "grades", "answers"].map(|name| folder.path().join(name));
        let item = json!({
            "task_id": text, "task_type": "judge_quality", "task_category": "Judges", "input": text, "question": text,
            "format_examples": [], "correct_answer": "", "answer_type": "graded",
            "metadata": { "of": text, "task": PREDICT, "run": text },
        });
        std::fs::write(&items, format!("{item}\n")).unwrap();
        let mut writer = GradesWriter::create(&grades, &GradesDescription::default()).unwrap();
        let grade = Grade {
            run: text.clone(),
            task_id: text.clone(),
            task: "judge_quality".into(),
            category: "Judges".into(),
            extracted: Some(text.clone()),
            verdict: "judged".into(),
            ..Grade::default()
        };
        writer.push(grade).unwrap();
        writer.finish().unwrap();
        let mut writer =
            AnswersWriter::create(&answers, &PlayerSettings { name: text.clone(), ..PlayerSettings::default() })
                .unwrap();
        let response = Some(text.clone());
        writer.push(Answer { task_id: text.clone(), response, ..Answer::default() }).unwrap();
        writer.finish().unwrap();
        let trial = trial_of(folder.path(), &usual())
            .labelled("tallies", label("a_judge"), ours)
            .input("items", items)
            .input("grades", grades)
            .input("answers", answers);
        let report = run(trial).unwrap();
        for name in ["index.html", "figures/reasoning-models.svg"] {
            let page = read(&report, name);
            assert!(!page.contains("<img ") && !page.contains("<script>alert") && !page.contains("<b>"), "{page}");
            assert!(!page.contains(['\u{0}', '\u{7}', '\r', '\u{200b}', '\u{202e}', '\u{2028}', '\u{e0041}']));
        }
    }
}
