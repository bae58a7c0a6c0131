//! Scripted players on the published items, of which the numbers are known.

use std::collections::BTreeMap;

use cwm_contract::Label;
use cwm_contract::testing::shared;
use cwm_questions::{Category, Judge, Length, PublishedVerdict, UnknownTasks, read_items};

use super::*;

#[test]
fn the_oracle_is_always_right_and_rules_are_where_they_decide() {
    let Some(published) = shared("systems/questions-golden/published") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut items = Vec::new();
    let mut files = Vec::new();
    for name in ["structural", "motifs", "short_tactics", "position_judgement"] {
        let path = folder.path().join(name);
        let packed = std::fs::File::open(published.join(format!("{name}.jsonl.zst"))).unwrap();
        let text = zstd::decode_all(packed).unwrap();
        items.extend(read_items(&*text, name, UnknownTasks::Fail).unwrap());
        std::fs::write(&path, text).unwrap();
        files.push((name, path));
    }
    // Of each category, the items that are right and those that are sound.
    let score = |player: &str| {
        let mut trial = Trial::new(folder.path().join(player)).with("player", text(player));
        for (name, path) in &files {
            trial = trial.labelled("items", Label::stage(*name), path);
        }
        let (_, rows) = answers(&trial.run(&Answer).unwrap());
        assert_eq!(rows.len(), 3_100);
        let mut scores: BTreeMap<Category, (u32, u32)> = BTreeMap::new();
        for (row, item) in rows.iter().zip(&items) {
            assert_eq!(row.task_id, item.task_id);
            let judged = Judge::new(item).unwrap().judge(row.response.as_deref().unwrap(), Length::default());
            let (right, sound) = scores.entry(item.task().unwrap().category()).or_default();
            *right += u32::from(judged.verdict == PublishedVerdict::Correct);
            *sound += u32::from(judged.sound == Some(true));
        }
        scores
    };
    let oracle = score("oracle");
    let right: Vec<u32> = oracle.values().map(|(right, _)| *right).collect();
    assert_eq!(right, [1_100, 600, 900, 500]);
    // Of the keys, 4 are of pieces that are pinned beside their king, and 28 lack a promotion letter.
    assert_eq!(oracle.values().map(|(_, sound)| sound).sum::<u32>(), 3_068);
    let rules = score("rules");
    assert_eq!((rules[&Category::Structural].0, rules[&Category::Motifs].0), (1_100, 600));
    assert_eq!(rules[&Category::PositionJudgement].0, 149);
    let random = score("random");
    assert_eq!((random[&Category::Structural].0, random[&Category::Motifs].0), (0, 0));
}
