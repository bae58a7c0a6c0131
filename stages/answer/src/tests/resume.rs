//! No question is sent twice: neither after an interruption nor if an earlier answer is known.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cwm_contract::{Cancellation, FailureKind, Label};

use super::*;

#[test]
fn a_finished_run_asks_nothing_and_looks_at_no_server() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(|_, request| right(request));
    let run = || trial(folder.path(), 5, &server.base).run(&Impatient).unwrap();
    let first = std::fs::read(&run().outputs["answers"]).unwrap();
    let requests = server.requests().len();
    assert_eq!(std::fs::read(&run().outputs["answers"]).unwrap(), first);
    assert_eq!(server.requests().len(), requests);
}

#[test]
fn known_answers_are_taken_and_only_new_questions_are_asked() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(|_, request| right(request));
    let known = trial(folder.path(), 6, &server.base).run(&Impatient).unwrap().outputs["answers"].clone();
    let copy = folder.path().join("known.parquet");
    std::fs::rename(known, &copy).unwrap();
    std::fs::remove_dir_all(folder.path().join("work")).unwrap();
    let run = |count: usize, model: &str| {
        let trial = trial(folder.path(), count, &server.base).labelled("known", Label::stage("before"), &copy);
        let outcome = trial.with("model", text(model)).run(&Impatient).unwrap();
        check_right(&outcome, count);
        assert_eq!(answers(&outcome).0.served_model.as_deref(), Some("m-2026"));
        std::fs::remove_dir_all(folder.path().join("work")).unwrap();
        outcome.metrics["known"]
    };
    assert_eq!(run(9, "m"), 6.0);
    let mut new: Vec<usize> = questions(&server)[6..].iter().map(asked).collect();
    new.sort_unstable();
    assert_eq!(new, [6, 7, 8]);
    assert_eq!(run(5, "m"), 5.0);
    // Another model is another request.
    assert_eq!(run(4, "other"), 0.0);
    assert_eq!(questions(&server).len(), 13);
}

/// For `cwm run --dry-run`.
#[test]
fn a_preview_counts_questions_without_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(|_, request| right(request));
    let trial = |count| trial(folder.path(), count, &server.base);
    let preview = |trial: Trial| trial.preview(&Answer).unwrap().unwrap();
    let prices = || {
        Value::Map([("input", 2e6), ("output", 1.0)].map(|(name, price)| (name.to_owned(), Value::Float(price))).into())
    };
    let alone = trial(1).with("prices", prices());
    let said = preview(alone);
    let (asked, rest) = said.split_once("; prompts of ").unwrap();
    let (found, rest) = rest.split_once(" characters, about ").unwrap();
    let (tokens, price) = rest.split_once(" tokens: $").unwrap();
    let (found, tokens): (u64, f64) = (found.parse().unwrap(), tokens.parse().unwrap());
    assert!(asked == "asks 1 question" && found >= 17 && (found as f64 / 2.5 - tokens).abs() <= 0.5, "{said}");
    assert_eq!(price, format!("{:.2}, and answers cost more", found as f64 / 2.5 * 2.0));
    assert_eq!(questions(&server).len(), 0);
    let outcome = trial(6).run(&Impatient).unwrap();
    let copy = folder.path().join("known.parquet");
    std::fs::copy(&outcome.outputs["answers"], &copy).unwrap();
    assert_eq!(preview(trial(6)), "asks no question: all 6 have answers");
    assert!(preview(trial(9)).starts_with("asks 3 questions, the other 6 have answers; "));
    std::fs::remove_dir_all(folder.path().join("work")).unwrap();
    let known = || trial(9).labelled("known", Label::stage("before"), &copy);
    assert!(preview(known()).starts_with("asks 3 questions, the other 6 have answers; "));
    assert!(
        preview(known().with("samples", Value::Int(2))).starts_with("asks 12 questions, the other 6 have answers; ")
    );
    assert!(!folder.path().join("work").exists());
    assert_eq!(trial(9).with("player", text("random")).preview(&Answer).unwrap(), None);
}

#[test]
fn a_preview_counts_items_of_one_and_the_same_prompt_apart() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(|_, request| right(request));
    let trial = |count: usize| {
        let path = folder.path().join("alike.jsonl");
        let item = |number| Item {
            task_id: format!("structural_legal_move_all_{number:04}"),
            question: "Question [0]: FORMAT_EXAMPLE_PLACEHOLDER".to_owned(),
            ..item(Task::LegalMoveAll)
        };
        write_items(&path, &(0..count).map(item).collect::<Vec<_>>());
        Trial::new(folder.path().join("work"))
            .input("items", path)
            .with("model", text("m"))
            .with("url", text(&format!("{}/v1", server.base)))
            .with("key_variable", text("NO_SUCH_VARIABLE"))
    };
    trial(1).run(&Impatient).unwrap();
    let said = trial(3).preview(&Answer).unwrap().unwrap();
    assert!(said.starts_with("asks 2 questions, the other 1 have answers; "), "{said}");
    trial(3).run(&Impatient).unwrap();
    assert_eq!(questions(&server).len(), 3);
}

#[test]
fn an_interruption_at_any_answer_loses_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let stop_at = Arc::new(AtomicUsize::new(0));
    let cancellations = Arc::new(std::sync::Mutex::new(Cancellation::default()));
    let (limit, flag) = (stop_at.clone(), cancellations.clone());
    let server = server(move |number, request| {
        if number >= limit.load(Ordering::SeqCst) {
            flag.lock().unwrap().cancel();
        }
        right(request)
    });
    let mut runs = 0;
    loop {
        let cancellation = Cancellation::default();
        *cancellations.lock().unwrap() = cancellation.clone();
        stop_at.fetch_add(3, Ordering::SeqCst);
        runs += 1;
        match trial(folder.path(), 20, &server.base).run_until(&Impatient, cancellation) {
            Ok(outcome) => {
                check_right(&outcome, 20);
                break;
            }
            Err(failure) => assert_eq!(failure.kind, FailureKind::Cancelled),
        }
        // The journal may end anywhere in its last line.
        let journal = folder.path().join("work/checkpoints/answers.jsonl");
        if runs % 2 == 0
            && let Ok(mut bytes) = std::fs::read(&journal)
        {
            bytes.extend(b"{\"task_id\":\"structural_le");
            std::fs::write(&journal, bytes).unwrap();
        }
    }
    assert!(runs > 2, "{runs}");
    // Questions that were open at a cancellation may be sent again: at most the connections of each run.
    assert!(questions(&server).len() <= 20 + 4 * runs, "{} of {runs}", questions(&server).len());
}

#[test]
fn a_request_to_stop_ends_every_wait() {
    let silent = || {
        std::thread::sleep(Duration::from_secs(36_000));
        plain("200 OK", "")
    };
    let at_models = Server::start(move |_, _| silent());
    let at_questions = server(move |_, _| silent());
    let waiting = server(|_, _| empty("503 Service Unavailable\r\nRetry-After: 3000"));
    for server in [at_models, at_questions, waiting] {
        let folder = tempfile::tempdir().unwrap();
        let cancellation = Cancellation::default();
        let flag = cancellation.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(500));
            flag.cancel();
        });
        let begun = std::time::Instant::now();
        let failure = fails(trial(folder.path(), 3, &server.base).run_until(&Impatient, cancellation));
        assert_eq!(failure.kind, FailureKind::Cancelled);
        // The shortest of the limits is 600 s.
        assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
    }
}
