//! The probe: fresh models of both tasks on games that change the order of a few moves.

use std::path::Path;

use cwm_chess::{DatasetRow, DatasetWriter, SHARD_GAMES};
use cwm_contract::{Failure, Label, Parameters, ProbeContext, ProbeOutput, Value};
use cwm_inside::ModelTask;
use cwm_inside::sample::write_checkpoint;
use cwm_inside_rows::{Transposition, TranspositionsDescription, TranspositionsWriter};
use cwm_models::families;

use crate::AlignmentStage;
use crate::config::Config;

/// Compares rows of made-up models: of the family that is named, or of all.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let config = Config::read(context.values())
        .map_err(|fault| Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message)))?;
    let [games, transpositions] = ["games", "transpositions"].map(|name| context.folder().join(name));
    write_inputs(&games, &transpositions, 6)?;
    let values = context.values_with([
        ("layers", Value::List(Vec::new())),
        ("pairs", context.at_most("pairs", 200)),
        ("permutations", context.at_most("permutations", 20)),
    ]);
    let mut probed = ProbeOutput::new();
    let all = families::FAMILIES.iter().map(|family| family.name);
    for family in all.filter(|name| config.family.as_deref().is_none_or(|family| family == *name)) {
        for (task, name) in [(ModelTask::Moves, "moves"), (ModelTask::State, "state")] {
            let name = format!("{family}-{name}");
            let checkpoint = context.folder().join(&name);
            write_checkpoint(&checkpoint, task, family, "d32/l1", 7)?;
            let inputs = [("checkpoint", &checkpoint), ("games", &games), ("transpositions", &transpositions)];
            let inputs = inputs.map(|(input, path)| (input, Label::stage(input), path.clone()));
            probed.extend(context.run(&AlignmentStage, &name, &values, &inputs)?);
        }
    }
    Ok(probed)
}

/// Orders of three moves of each side.
const ORDERS: [[u16; 3]; 3] = [[0, 1, 2], [1, 0, 2], [2, 0, 1]];

/// A step of one square ahead: of a pawn of White on the file, or of Black.
fn step(file: u16, is_black: bool) -> u16 {
    let (from, to) = if is_black { (48 + file, 40 + file) } else { (8 + file, 16 + file) };
    (from * 64 + to) * 5
}

/// Writes games of six plies, three of which end in each position, of which there are so many, at most 36; those of one position
/// with other orders of the same moves. Two of the three have the same last moves.
pub fn write_inputs(games: &Path, transpositions: &Path, classes: u32) -> Result<(), Failure> {
    let made_by = TranspositionsDescription {
        same: "position".into(),
        sequences: "prefixes".into(),
        ..TranspositionsDescription::default()
    };
    let mut rows = TranspositionsWriter::create(transpositions, &made_by)?;
    let mut writer = DatasetWriter::create(games, SHARD_GAMES)?;
    let mut game = 0;
    for class in 0..classes {
        let first = |offset: u16| [0, 1, 2].map(|next| (class as u16 + offset + next) % 8);
        let (white, black) = (first(0), first(class as u16 / 8));
        for order in ORDERS {
            let moves = order
                .iter()
                .flat_map(|&next| [step(white[usize::from(next)], false), step(black[usize::from(next)], true)]);
            let tokens: Vec<u16> = std::iter::once(cwm_encoding::START).chain(moves).collect();
            let id = format!("made_{game:04}");
            writer.push(DatasetRow { index: u64::from(game), id: &id, tokens: &tokens, result: "*", labels: None })?;
            rows.push(Transposition { class, key: format!("key {class:02}"), game, ply: 6 })?;
            game += 1;
        }
    }
    writer.finish()?;
    rows.finish()
}
