use std::path::Path;

use tempfile::tempdir;

use super::*;

fn open(path: &Path) -> Journal<u64> {
    Journal::open(path.to_owned(), 4, |result| usize::try_from(*result).ok()).unwrap()
}

fn results(journal: &Journal<u64>) -> Vec<Option<u64>> {
    let mut results = Vec::new();
    journal
        .for_each(|_, result| {
            results.push(result);
            Ok(())
        })
        .unwrap();
    results
}

#[test]
fn results_come_in_order_and_stay_wherever_the_file_ends() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("results.jsonl");
    let journal = open(&path);
    [3, 0, 2].into_iter().for_each(|number| journal.push(number, &(number as u64)).unwrap());
    assert_eq!(results(&journal), [Some(0), None, Some(2), Some(3)]);
    let whole = std::fs::read(&path).unwrap();
    for (length, missing) in [(6, vec![1]), (5, vec![1, 2]), (4, vec![1, 2]), (1, vec![0, 1, 2, 3])] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let journal = open(&path);
        assert_eq!(journal.missing(), missing, "{length} bytes");
        missing.into_iter().for_each(|number| journal.push(number, &(number as u64)).unwrap());
        assert_eq!(results(&journal), [Some(0), Some(1), Some(2), Some(3)]);
    }
}

#[test]
fn a_damaged_line_costs_its_own_result_alone() {
    for strange in [&b"9\n"[..], b"x\n", b"\xff\n"] {
        let folder = tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        std::fs::write(&path, [&b"1\n"[..], strange, b"2\n"].concat()).unwrap();
        let journal = open(&path);
        assert_eq!(journal.missing(), [0, 3]);
        journal.push(0, &0).unwrap();
        assert_eq!(results(&journal), [Some(0), Some(1), Some(2), None]);
    }
}
