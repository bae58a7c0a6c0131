//! The probe: fresh models of every form, or a file of another program, in some positions of the sample's games, of which one is
//! too long for some forms.

use std::path::Path;

use cwm_chess::sample;
use cwm_choices::{Choice, ChoicesWriter, Chooser};
use cwm_contract::{Failure, Label, Parameters, ProbeContext, ProbeOutput};
use cwm_encoding::PlainMove;
use cwm_evaluations::{Evaluation, EvaluationsWriter, Line, Source};
use cwm_player::Form;
use cwm_player::sample::write_checkpoint;
use cwm_policy::replay::replay;
use shakmaty::EnPassantMode;
use shakmaty::fen::Fen;

use crate::Choose;
use crate::config::Config;

/// Plies between the positions.
const STRIDE: usize = 23;

/// Lets made-up models choose.
pub fn probe(context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
    let config = Config::read(context.values())
        .map_err(|fault| Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message)))?;
    let [games, evaluations, train] = ["games", "evaluations", "train"].map(|name| context.folder().join(name));
    let played = sample::games();
    sample::write_games(&games, &played)?;
    let mut rows = Vec::new();
    for (index, game) in (0..).zip(&played) {
        rows.extend(evaluations_of(index, game, STRIDE)?);
    }
    write_evaluations(&evaluations, &rows)?;
    write_evaluations(&train, &rows[..rows.len() / 2])?;
    let run = |name: &str, model: &'static str| {
        let inputs = [("evaluations", &evaluations), ("games", &games), ("train", &train)];
        let mut inputs = inputs.map(|(name, path)| (name, Label::stage("corpus"), path.clone())).to_vec();
        inputs.push((model, Label::stage("model"), context.folder().join(name)));
        context.run(&Choose, name, context.values(), &inputs)
    };
    if config.name.is_some() {
        write_choices(&context.folder().join("foreign"), rows.len() as u64)?;
        return run("foreign", "choices").map(Some);
    }
    let mut probed = ProbeOutput::new();
    for form in Form::ALL {
        let mask = if form == Form::Board { "none" } else { "causal" };
        write_checkpoint(&context.folder().join(form.name()), form, "d32/l1", mask, 7)?;
        probed.extend(run(form.name(), "checkpoint")?);
    }
    Ok(Some(probed))
}

/// Each so many plies the position of a sample's game with the move played there as the best; records are not numbered yet.
pub fn evaluations_of(index: u64, game: &[PlainMove], stride: usize) -> Result<Vec<Evaluation>, Failure> {
    let packed: Vec<u16> = game.iter().map(|plain| plain.packed()).collect();
    let mut evaluations = Vec::new();
    let replayed = replay(&packed, |t, position, _| {
        if let Some(&best) = packed.get(t).filter(|_| t % stride == 0) {
            evaluations.push(Evaluation {
                record: 0,
                game: Some(index),
                id: format!("sample_{index:04}"),
                t: Some(t as u32),
                fen: Fen::from_position(position, EnPassantMode::Legal).to_string(),
                lines: vec![Line { score: None, depth: None, moves: vec![best] }],
            });
        }
        Ok(())
    });
    replayed.map_err(Failure::internal)?;
    Ok(evaluations)
}

/// Writes evaluations, numbered from 0.
pub fn write_evaluations(path: &Path, rows: &[Evaluation]) -> Result<(), Failure> {
    let mut writer = EvaluationsWriter::create(path, &Source { made_by: "sample".to_owned(), ..Source::default() })?;
    for (record, row) in (0..).zip(rows) {
        writer.push(Evaluation { record, ..row.clone() })?;
    }
    writer.finish()
}

/// A file of answers of several kinds.
fn write_choices(path: &Path, count: u64) -> Result<(), Failure> {
    let mut writer = ChoicesWriter::create(path, &Chooser::default())?;
    for record in 0..count {
        let [forced, free] = [record, record + 1].map(|turn| ["e2e4", "Nf3", "O-O", "a7a8q", ""][(turn % 5) as usize]);
        let (text, forced_text) = (free.to_owned(), Some(forced.to_owned()));
        writer.push(Choice { record, text, forced_text, loss: Some(record as f64), ..Choice::default() })?;
    }
    writer.finish()
}

#[cfg(test)]
mod tests {
    use cwm_contract::{Value, Values, testing};

    use super::*;

    #[test]
    fn all_forms_and_other_programs_choose_and_the_same_comes_twice() {
        let probe = |values: Values| {
            let folder = tempfile::tempdir().unwrap();
            testing::probe(&Choose, values, folder.path()).unwrap().unwrap()
        };
        let models = probe(Values::new());
        assert!(!models.keys().any(|name| name.ends_with("refused")), "{:?}", models.keys());
        assert_eq!(models.len(), 8);
        assert_eq!(models, probe(Values::new()));
        let foreign = probe(Values::from([("name".to_owned(), Value::Text("theirs".to_owned()))]));
        assert_eq!(foreign.keys().collect::<Vec<_>>(), ["foreign/choices", "foreign/counts"]);
    }
}
