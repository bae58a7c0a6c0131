//! The functions that our SQL has beside the engine's own: for the stage `bins`, and for `cwm sql`.
//!
//! This crate must not depend on which files queries read, nor what is done with what they say.

mod exact_sum;
mod exact_sum_function;
mod file_url;
mod is_right_function;
mod labels;
#[cfg(test)]
mod tests;
mod wrong_labels_function;

use datafusion::prelude::SessionContext;

pub use file_url::file_url;

/// Makes all functions known to `session`: the aggregates `exact_sum` and `wrong_labels`, and `is_right`.
pub fn register(session: &SessionContext) {
    session.register_udaf(exact_sum_function::exact_sum());
    session.register_udaf(wrong_labels_function::wrong_labels());
    session.register_udf(is_right_function::is_right());
}
