//! Positions without an answer, and checkpoints that are no player.

use cwm_contract::FailureKind;
use cwm_models::checkpoint::{DESCRIPTION_FILE, WEIGHTS_FILE};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Move, Role, Square};

use super::*;

#[test]
fn a_long_game_leaves_no_room_for_an_answer() {
    let mut game = GamePrefix::default();
    let knights =
        [(Square::G1, Square::F3), (Square::G8, Square::F6), (Square::F3, Square::G1), (Square::F6, Square::G8)];
    let mut turns = knights.into_iter().cycle();
    let (moves, characters) = (player(Form::Moves), player(Form::Characters));
    let mut uniform = || 0.0;
    for plies in 0..520 {
        let full = |player: &Player| player.read(|| panic!(), Some(&game)).err();
        assert_eq!(full(&moves), (plies > 511).then_some(AnswerError::ContextFull(512)), "{plies}");
        let begin = cwm_policy::inputs::characters::MoveText::before_next(game.moves().iter().copied()).len();
        assert_eq!(full(&characters), (begin > 1014).then_some(AnswerError::ContextFull(1023)), "{plies}");
        let (from, to) = turns.next().unwrap();
        game.push(Move::Normal { role: Role::Knight, from, capture: None, to, promotion: None });
    }
    let error = moves.attempt(&game, 0.5, &mut uniform).unwrap_err();
    assert_eq!(error.to_string(), "the game has no room for an answer within the 512 tokens that the model reads");
    assert_eq!(moves.legal_moves(&game).unwrap_err(), error);
}

#[test]
fn forms_of_games_need_a_game_from_its_beginning() {
    let position: Chess =
        "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1".parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap();
    let board = Board::of(&position).unwrap();
    let best = legal_actions(&position)[0];
    let game = GamePrefix::new(position);
    for form in Form::ALL {
        let player = player(form);
        let of_game = matches!(form, Form::Characters | Form::Moves);
        for game in [None, Some(&game)] {
            let asked = player.question(&board, game, best);
            assert_eq!(asked.is_err(), of_game, "{form:?}");
        }
        assert_eq!(player.legal_moves(&game).is_err(), of_game);
    }
}

#[test]
fn other_checkpoints_are_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    sample::write_checkpoint(folder.path(), Form::Moves, "d8/l1", "causal", 1).unwrap();
    let description = folder.path().join(DESCRIPTION_FILE);
    let text = std::fs::read_to_string(&description).unwrap();
    let refused = |text: String, what: &str| {
        std::fs::write(&description, text).unwrap();
        let failure = open(folder.path()).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Input);
        assert!(failure.message.contains(what), "{}", failure.message);
    };
    refused(
        text.replace("\"vocabulary\": {", "\"of\": {"),
        "cannot choose moves: it is of a model that was not trained",
    );
    refused(
        text.replace("\"moves\"", "\"words\""),
        "its form is `words`, which has no moves as answers; those that have",
    );
    refused(text.replace("\"version\": 1", "\"version\": 2"), "version 2 of its form `moves` is not known, only 1");
    refused(text.replace("\"targets\": 1968", "\"targets\": 1967"), "its vocabulary is Vocabulary");
    refused(text.replace("\"vocabulary\": 1969", "\"vocabulary\": 1970"), "declares ");

    std::fs::write(&description, text).unwrap();
    let weights = folder.path().join(WEIGHTS_FILE);
    let mut bytes = std::fs::read(&weights).unwrap();
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    std::fs::write(&weights, bytes).unwrap();
    assert!(open(folder.path()).unwrap_err().message.contains("its weights are not all finite"));

    let several = folder.path().join("several");
    sample::write_checkpoint(&several, Form::Prompt, "d8/l1", "none", 1).unwrap();
    assert!(open(&several).unwrap_err().message.contains("it has no mask"));
}
