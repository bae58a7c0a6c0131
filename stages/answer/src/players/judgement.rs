//! Answers of Position Judgement: the option that is nearest to a value.

use cwm_questions::Item;
use shakmaty::{Chess, Color, Position, Role};

/// The options where an item does not list its own.
const GRID: [i64; 5] = [-400, -200, 0, 200, 400];

/// The options of an item, in centipawns.
pub fn options(item: &Item) -> Vec<i64> {
    let listed = item.metadata.get("options").and_then(|options| options.as_array());
    let listed: Option<Vec<i64>> = listed.and_then(|options| options.iter().map(serde_json::Value::as_i64).collect());
    listed.filter(|options| !options.is_empty()).unwrap_or_else(|| GRID.to_vec())
}

/// The option nearest to `centipawns`, from White's side; of equally near ones the first.
pub fn nearest(item: &Item, centipawns: i64) -> String {
    let nearest = options(item).into_iter().min_by_key(|option| option.abs_diff(centipawns));
    nearest.unwrap_or_default().to_string()
}

/// The material of White less that of Black, in centipawns.
pub fn material(position: &Chess) -> i64 {
    let of = |colour: Color| -> i64 {
        let count = position.board().material_side(colour);
        Role::ALL.iter().map(|role| i64::from(count[*role]) * value(*role)).sum()
    };
    of(Color::White) - of(Color::Black)
}

/// What a piece is worth, in centipawns.
pub fn value(role: Role) -> i64 {
    match role {
        Role::Pawn => 100,
        Role::Knight | Role::Bishop => 300,
        Role::Rook => 500,
        Role::Queen => 900,
        Role::King => 0,
    }
}
