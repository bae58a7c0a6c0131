//! The run of `examples`.

use cwm_contract::{Context, Failure};
use cwm_reasoning::board::{BoardForm, board_text};

use crate::build_result::{BuildResult, Reason};
use crate::config::Config;
use crate::drawing::Drawing;
use crate::output::{BuildSummary, write};
use crate::positions::Positions;
use crate::work::Workers;

/// The most positions that are logged because the engine left out moves.
const MOST_LOGGED: u64 = 20;

/// Reads positions, and writes `examples`, `items` and `counts`.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let positions = Positions::read(context, &config)?;
    let places = &positions.places;
    if places.is_empty() {
        return Err(Failure::input(format!("no example can be built: of {} positions none is left", positions.read))
            .hint("give positions with a legal move"));
    }
    let mut drawing = Drawing::new(&config, places)?;
    let workers = Workers::start(context, &config, places)?;
    context.activity("building examples");
    let mut found = BuildSummary::new(workers.engine());
    loop {
        let next = drawing.next();
        if next.is_empty() {
            break;
        }
        let tried: Vec<usize> = next.iter().map(|(_, place)| *place).collect();
        for ((cell, place), built) in next.into_iter().zip(workers.build(&tried)?) {
            match built {
                BuildResult::Nothing(reason) => {
                    let count = found.count_dropped(reason);
                    if reason == Reason::Incomplete && count <= MOST_LOGGED {
                        let fen = board_text(&places[place].position, BoardForm::Fen);
                        context.log(format!("the engine gives fewer moves than wanted in the position `{fen}`"));
                    }
                }
                BuildResult::Example(example, tree) => {
                    drawing.count_example(cell);
                    found.push(place, *example, tree);
                }
                BuildResult::Item(item) => {
                    drawing.count_example(cell);
                    found.push_item(place, *item);
                }
            }
        }
    }
    write(context, &config, &positions, &drawing, found)
}
