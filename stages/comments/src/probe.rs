//! The probe: comments on the sample's games by rules, and those of an annotated game.

use cwm_chess::sample;
use cwm_contract::{Failure, Label, ProbeContext, ProbeOutput};

use crate::Comments;

/// With a comment that is kept for each reason, and one that is dropped.
const ANNOTATED: &str = "[White \"Marble, Ada\"]\n[Black \"Quill, Tom\"]\n\n1. e4 {Marble takes the centre, [%clk 0:01] as 1. e4 does.} e5 \
    {Quill has counterplay $1 here.} (1... c5 {An open variation.}) 2. Nf3 {Attack!} Nc6 {A plan for all.} 3. Bb5 {This is the opening of Lopez.} *\n";

/// Runs `comments` as its parameters have it. A model is not asked: what rules do shows the rest.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let games = context.folder().join("games");
    sample::write_games(&games, &sample::games())?;
    let values = context
        .values_with([("keywords", cwm_contract::Value::Null), ("clean", cwm_contract::Value::Text("rules".into()))]);
    let mut output = context.run(&Comments, "games", &values, &[("games", Label::stage("corpus"), games)])?;
    let pgn = context.folder().join("annotated.pgn");
    fs_err::write(&pgn, ANNOTATED)?;
    let read = context.run(&Comments, "pgn", &values, &[("pgn", Label::stage("pgn"), pgn)])?;
    output.extend(read);
    Ok(output)
}

#[cfg(test)]
mod tests {
    use cwm_contract::{Value, Values, testing};

    use super::*;

    fn probe(given: &[(&str, Value)]) -> ProbeOutput {
        let folder = tempfile::tempdir().unwrap();
        let values: Values = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        testing::probe(&Comments, values, folder.path()).unwrap().unwrap()
    }

    #[test]
    fn each_parameter_has_its_say_and_the_same_comes_twice() {
        let usual = probe(&[]);
        assert!(probe(&[]) == usual);
        for (name, value) in
            [("min_words", Value::Int(6)), ("min_characters", Value::Int(60)), ("names", Value::Text("keep".into()))]
        {
            assert!(probe(&[(name, value)]) != usual, "{name}");
        }
    }
}
