//! The themes of a puzzle's solution that rules find, by Lichess's names.

use shakmaty::attacks::{aligned, king_attacks};
use shakmaty::{Chess, Move, Position, Rank, Role, Square};

/// A move of the solver's.
struct Step {
    before: Chess,
    played: Move,
    after: Chess,
}

/// The themes of a solution that begins in `start`, in alphabetical order. Those that no rule decides are not among them.
pub fn themes(start: &Chess, solution: &[Move]) -> Vec<&'static str> {
    let mut steps = Vec::new();
    let mut position = start.clone();
    for (ply, &played) in solution.iter().enumerate() {
        let before = position.clone();
        position.play_unchecked(played);
        if ply % 2 == 0 {
            steps.push(Step { before, played, after: position.clone() });
        }
    }
    let any = |rule: fn(&Step) -> bool| steps.iter().any(rule);
    let mates = position.is_checkmate();
    let rules = [
        ("advancedPawn", any(advances_a_pawn)),
        ("backRankMate", mates && is_back_rank_mate(&position)),
        ("castling", any(|step| step.played.is_castle())),
        ("discoveredAttack", any(discovers_an_attack)),
        ("doubleCheck", any(|step| step.after.checkers().more_than_one())),
        ("enPassant", any(|step| step.played.is_en_passant())),
        ("fork", any(forks)),
        ("hangingPiece", steps.first().is_some_and(takes_a_hanging_piece)),
        ("mateIn1", mates && solution.len() == 1),
        ("mateIn2", mates && solution.len() == 3),
        ("pin", any(|step| looks_through(step, |_, _, back| back == Role::King))),
        ("promotion", any(|step| step.played.is_promotion())),
        ("sacrifice", sacrifices(solution)),
        (
            "skewer",
            any(|step| {
                looks_through(step, |own, front, back| worth(front) > worth(back).max(worth(own)) && back != Role::Pawn)
            }),
        ),
        ("smotheredMate", mates && is_smothered_mate(&position)),
    ];
    rules.into_iter().filter(|(_, holds)| *holds).map(|(theme, _)| theme).collect()
}

fn worth(role: Role) -> i32 {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 100,
    }
}

/// A pawn goes to the sixth or seventh rank, as its side counts.
fn advances_a_pawn(step: &Step) -> bool {
    let ranks = step.before.turn().fold_wb([Rank::Sixth, Rank::Seventh], [Rank::Third, Rank::Second]);
    step.played.role() == Role::Pawn && ranks.contains(&step.played.to().rank())
}

/// The king is mated along its back rank, and its own pieces alone keep it there.
fn is_back_rank_mate(mated: &Chess) -> bool {
    let (board, color) = (mated.board(), mated.turn());
    let Some(king) = board.king_of(color) else { return false };
    let (back, next) = color.fold_wb((Rank::First, Rank::Second), (Rank::Eighth, Rank::Seventh));
    let before = king_attacks(king).into_iter().filter(|square| square.rank() == next);
    let mut closed = before.map(|square| {
        board.by_color(color).contains(square) && board.attacks_to(square, !color, board.occupied()).is_empty()
    });
    king.rank() == back
        && closed.all(|is_closed| is_closed)
        && mated.checkers().into_iter().any(|checker| checker.rank() == back)
}

/// A knight mates, and the king's own pieces stand on all squares around it.
fn is_smothered_mate(mated: &Chess) -> bool {
    let (board, own) = (mated.board(), mated.us());
    let by_knight = (mated.checkers() & board.knights()).any();
    by_knight && board.king_of(mated.turn()).is_some_and(|king| (king_attacks(king) & !own).is_empty())
}

/// The moved piece attacks two pieces that are worth more than it, or that nothing protects; pawns do not count.
fn forks(step: &Step) -> bool {
    let (board, color) = (step.after.board(), step.before.turn());
    let Some((square, role)) = moved(step).filter(|(_, role)| *role != Role::King) else { return false };
    let counts = |target: &Square| {
        let is_dearer = board.role_at(*target).is_some_and(|dear| worth(dear) > worth(role));
        is_dearer || board.attacks_to(*target, !color, board.occupied()).is_empty()
    };
    let targets = board.attacks_from(square) & board.by_color(!color) & !board.pawns();
    targets.into_iter().filter(counts).count() >= 2
}

/// A piece that is no pawn is taken, and nothing can take back.
fn takes_a_hanging_piece(step: &Step) -> bool {
    let (board, to) = (step.after.board(), step.played.to());
    let takes = step.played.capture().is_some_and(|role| role != Role::Pawn);
    takes && board.attacks_to(to, !step.before.turn(), board.occupied()).is_empty()
}

/// A slider that did not move attacks something dearer than itself, or the king, that it did not attack before.
fn discovers_an_attack(step: &Step) -> bool {
    let (before, after, color) = (step.before.board(), step.after.board(), step.before.turn());
    let still = after.sliders() & after.by_color(color) & before.by_color(color);
    still.into_iter().filter(|slider| Some(*slider) != moved(step).map(|(square, _)| square)).any(|slider| {
        let fresh = after.attacks_from(slider) & !before.attacks_from(slider) & after.by_color(!color);
        let own = after.role_at(slider).map_or(0, worth);
        fresh.into_iter().any(|target| after.role_at(target).is_some_and(|role| worth(role) > own))
    })
}

/// The moved slider looks at a piece of the other side, and behind it at another, of kinds that `fits` (the slider's,
/// the front one's, the one's behind).
fn looks_through(step: &Step, fits: fn(Role, Role, Role) -> bool) -> bool {
    let (board, theirs) = (step.after.board(), !step.before.turn());
    let Some((slider, own)) = moved(step).filter(|(square, _)| board.sliders().contains(*square)) else { return false };
    let reached = board.attacks_from(slider);
    (reached & board.by_color(theirs)).into_iter().any(|front| {
        let mut without = board.clone();
        without.discard_piece_at(front);
        let behind = without.attacks_from(slider) & !reached & board.by_color(theirs);
        let mut behind = behind.into_iter().filter(|&back| aligned(slider, front, back));
        let roles = |square| board.role_at(square);
        behind.any(|back| roles(front).zip(roles(back)).is_some_and(|(front, back)| fits(own, front, back)))
    })
}

/// The first piece is taken in reply, and what it took is worth less by two pawns or more.
fn sacrifices(solution: &[Move]) -> bool {
    let [first, reply, ..] = solution else { return false };
    let gained = first.capture().map_or(0, worth);
    !first.is_promotion() && reply.is_capture() && reply.to() == first.to() && worth(first.role()) - gained >= 2
}

/// The square and the role of the moved piece; `None` after castling.
fn moved(step: &Step) -> Option<(Square, Role)> {
    let square = Some(step.played.to()).filter(|_| !step.played.is_castle())?;
    Some((square, step.after.board().role_at(square)?))
}
