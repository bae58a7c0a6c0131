//! The tables. What a table's numbers cannot show stands in its caption.

use cwm_findings::Kind;

use super::measured::is_over_all;
use super::table::{PrintedRow, SEEN_GAMES, Spec};

const PROBE_NAMES: [(&str, &str); 6] = [
    ("target", "Target"),
    ("of", "Of"),
    ("method", "Method"),
    ("labels", "Labels"),
    ("phase", "Phase"),
    ("board", "Board"),
];

const PROBE_VALUES: [(&str, &str); 8] = [
    ("accuracy", "Accuracy"),
    ("precision", "Precision"),
    ("recall", "Recall"),
    ("f1", "F1"),
    ("occupied", "Occupied squares"),
    ("macro_f1", "Macro F1"),
    ("boards", "Whole boards"),
    ("loss", "Loss (nats)"),
];

const EDIT_NAMES: [(&str, &str); 3] = [("intervention", "Vector"), ("eta", "η"), ("layers", "Layers")];

const EDIT_VALUES: [(&str, &str); 14] = [
    ("original", "Original"),
    ("original_sd", "Original sd"),
    ("target", "Target"),
    ("target_sd", "Target sd"),
    ("future", "Future"),
    ("future_sd", "Future sd"),
    ("both", "Both boards"),
    ("same_argmax", "Argmax as before"),
    ("original_over_none", "Original over none"),
    ("target_over_none", "Target over none"),
    ("target_over_random", "Target over random"),
    ("welch_t", "Welch's t"),
    ("welch_df", "Degrees of freedom"),
    ("welch_p", "p"),
];

/// Table 2.
pub(super) const LEGALITY: Spec = Spec {
    id: "inside-2",
    title: "Legal words",
    paper: Some("Table 2, Section 4.1"),
    caption: "Share of positions of evaluation games at which the word that the model expects most continues a legal move; loose is the \
              rule of the authors' code, by which a target counts if any legal move has it. Legal mass is the probability of all words \
              that do. Rows are by the word just read: 0 white's origin, 1 white's target, 2 and 3 black's, `after_promotion` a \
              promotion piece, 5 begin; the row `moves` counts whole moves taken greedily. Seen games have the moves of a training game.",
    kind: Kind::Legality,
    keep: |_| true,
    names: &[("of", "Of")],
    values: &[
        ("legal", "Legal"),
        ("loose", "Legal (loose)"),
        ("mass", "Legal mass"),
        ("loss", "Loss (nats a word)"),
        ("perplexity", "Perplexity"),
        ("accuracy", "Accuracy"),
        (SEEN_GAMES, "Seen games"),
    ],
    over: "Positions",
    printed: &[PrintedRow { names: &[("of", "all")], values: &[("legal", ["Table 2", "GPT", "legal move rate"])] }],
};

/// Table 3.
pub(super) const RECONSTRUCTION: Spec = Spec {
    id: "inside-3",
    title: "Sparse autoencoders by layer",
    paper: Some("Table 3, Section 4.2"),
    caption: "Cross-entropy of the model, and with its rows of one layer replaced by their reconstruction, by zero or by the mean row; \
              recovered is the share of the loss between zero and none that the reconstruction keeps. L0 is the mean number of latents \
              that fire, L1 the mean sum of them, MSE the mean over rows and channels; dead latents never fired in training's last rows.",
    kind: Kind::Reconstruction,
    keep: |_| true,
    names: &[],
    values: &[
        ("ce", "CE"),
        ("ce_sae", "CE with SAE"),
        ("l0", "L0"),
        ("l1", "L1"),
        ("mse", "MSE"),
        ("cosine", "Cosine"),
        ("explained_variance", "Explained variance"),
        ("ce_zero", "CE with zero"),
        ("ce_mean", "CE with mean"),
        ("recovered", "Loss recovered"),
        ("norm_ratio", "Norm ratio"),
        ("dead", "Dead"),
    ],
    over: "Rows",
    printed: &[],
};

/// Table 4.
pub(super) const LATENT_PROBES: Spec = Spec {
    id: "inside-4",
    title: "Boards read from an autoencoder's latents",
    paper: Some("Table 4, Section 4.3"),
    caption: "As for linear probes, on the latents of a sparse autoencoder; `difference` classifies by contrastive differences of mean \
              latents, without training.",
    kind: Kind::Probe,
    keep: |finding| finding.named("square").is_empty() && finding.named("of") == "latents",
    names: &PROBE_NAMES,
    values: &PROBE_VALUES,
    over: "Rows",
    printed: &[],
};

/// Table 5.
pub(super) const PROBES: Spec = Spec {
    id: "inside-5",
    title: "Boards read by linear probes, by layer",
    paper: Some("Table 5, Section 4.4"),
    caption: "Accuracy, precision, recall and F1 are weighted by class over all squares of test games. Most squares of a board are empty, \
              so look at occupied squares first, and at what the untrained network and the majority class of each square reach: only \
              what lies above them is due to training.",
    kind: Kind::Probe,
    keep: |finding| finding.named("square").is_empty() && finding.named("of") != "latents",
    names: &PROBE_NAMES,
    values: &PROBE_VALUES,
    over: "Rows",
    printed: &[],
};

/// Table 6.
pub(super) const ALIGNMENT: Spec = Spec {
    id: "inside-6",
    title: "Path independence by layer",
    paper: Some("Table 6, Section 4.5"),
    caption: "T is the mean cosine of rows of different move sequences that end in one board, less that of random pairs; under the null \
              hypothesis rows change places among boards. p is never below 1 / (permutations + 1), and Holm's correction multiplies it \
              by the number of layers. d is T in standard deviations of the cosine of random pairs. In the population `matched` random \
              pairs have equal ply and phase; `suffix` leaves out pairs of one board whose last two moves are the same.",
    kind: Kind::Alignment,
    keep: |_| true,
    names: &[("same", "Same"), ("sequences", "Sequences"), ("population", "Population")],
    values: &[
        ("statistic", "T"),
        ("null_mean", "Null mean"),
        ("null_sd", "Null sd"),
        ("p", "p"),
        ("p_holm", "p (Holm)"),
        ("d", "d"),
        ("within", "Within boards"),
        ("between", "Between boards"),
        ("sigma", "sd between"),
    ],
    over: "Classes",
    printed: &[PrintedRow {
        names: &[("layer", "early"), ("same", "placement"), ("sequences", "ends")],
        values: &[("d", ["Table 6", "early layers", "Cohen's d (about; lower end)"])],
    }],
};

/// The numbers of Figures 2, 5 and 6.
pub(super) const EDITS: Spec = Spec {
    id: "inside-edits",
    title: "Edits of models of moves, over the edited layers",
    paper: Some("Figures 2, 5 and 6, Sections 4.7 and 4.8"),
    caption: "Mean legal move probability mass after an edit at the last word of a prefix: on the original board, on the target board \
              (without the piece on the square that the model expects as origin), on the board a few plies on, and on words legal on both. \
              Differences are paired by case, with 95 % intervals by game; Welch's one-sided test asks whether the target's mass is \
              above that without an edit.",
    kind: Kind::Edit,
    keep: |finding| finding.layer.is_none() && is_over_all(finding) && finding.get("original").is_some(),
    names: &EDIT_NAMES,
    values: &EDIT_VALUES,
    over: "Edits",
    printed: &[
        PrintedRow {
            names: &[("intervention", "none")],
            values: &[
                ("original", ["Figure 5", "none", "original mean"]),
                ("original_sd", ["Figure 5", "none", "original sd"]),
                ("target", ["Figure 6", "none", "target mean"]),
                ("target_sd", ["Figure 6", "none", "target sd"]),
            ],
        },
        PrintedRow {
            names: &[("intervention", "random")],
            values: &[("same_argmax", ["Figure 5", "random", "argmax equals none"])],
        },
        PrintedRow {
            names: &[("intervention", "patch")],
            values: &[
                ("original", ["Figure 5", "patch", "original mean"]),
                ("future", ["Figure 5", "patch", "future mean"]),
            ],
        },
        PrintedRow {
            names: &[("intervention", "probe")],
            values: &[
                ("target", ["Figure 5", "probe", "target mean"]),
                ("same_argmax", ["Figure 5", "probe", "argmax equals none"]),
            ],
        },
        PrintedRow {
            names: &[("intervention", "sae_probe, cd_probe")],
            values: &[("target", ["Figure 6", "SAE-based edits", "target mean"])],
        },
    ],
};

/// The numbers of those figures by layer.
pub(super) const EDITS_BY_LAYER: Spec = Spec {
    id: "inside-edits-layers",
    title: "Edits by layer",
    paper: None,
    caption: "As over the edited layers together.",
    keep: |finding| finding.layer.is_some() && is_over_all(finding) && finding.get("original").is_some(),
    printed: &[],
    ..EDITS
};

/// Models that answer with the board.
pub(super) const STATE_EDITS: Spec = Spec {
    id: "inside-edits-state",
    title: "Edits of models of positions",
    paper: None,
    caption: "Labels read after an edit: the share of the 75 that are the target board's, the original's, and of those labels that do not \
              differ between them; and how often the edited square is read as empty.",
    keep: |finding| is_over_all(finding) && finding.get("square_empty").is_some(),
    values: &[
        ("square_empty", "Square empty"),
        ("right_target", "As target"),
        ("right_original", "As original"),
        ("right_others", "Other labels right"),
        ("square_empty_over_random", "Empty over random"),
    ],
    printed: &[],
    ..EDITS
};

/// Figure 4's numbers.
pub(super) const CASES: Spec = Spec {
    id: "inside-cases",
    title: "Single edits",
    paper: Some("Figure 4, Section 4.6"),
    caption: "Probability of the squares of the paper's example as origins, before and after the edit.",
    kind: Kind::Case,
    keep: |_| true,
    names: &[("case", "Moves and edit"), ("intervention", "Vector"), ("eta", "η")],
    values: &[
        ("before_e4", "e4 before"),
        ("after_e4", "e4 after"),
        ("before_d2", "d2 before"),
        ("after_d2", "d2 after"),
    ],
    over: "Cases",
    printed: &[PrintedRow {
        names: &[("case", "e2e4 d7d5")],
        values: &[
            ("before_e4", ["Figure 4", "e2e4 d7d5", "mass of e4 takes d5 before"]),
            ("after_d2", ["Figure 4", "e2e4 d7d5", "mass of the d2 pawn after"]),
        ],
    }],
};

/// All tables that have rows of the paper.
pub(super) const BESIDE_THE_PAPER: [&Spec; 4] = [&LEGALITY, &ALIGNMENT, &EDITS, &CASES];
