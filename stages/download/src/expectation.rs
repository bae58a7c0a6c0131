//! The checksum that something must have, and where it is from.

use cwm_contract::{Context, Failure, Origin};

use crate::checksum::Checksum;
use crate::config::SourceItem;

/// A sum that the bytes must have.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The sum.
    pub sum: Checksum,
    /// The origin of the checksum, as the end of a sentence: `is pinned in sources.lock`.
    pub reason: String,
    /// A remedy for bytes that differ.
    pub hint: String,
}

impl Expectation {
    /// Returns the checksum that a parameter or a pin gives to an item; the parameter comes before the pin.
    ///
    /// # Errors
    /// The pin holds no sum.
    pub fn for_item(context: &Context, item: &SourceItem) -> Result<Option<Self>, Failure> {
        if let Some(sum) = item.sum {
            let advice = match item.from {
                Origin::File { .. } => {
                    "if this is the file you mean, put its sum into `sha256`; else get the right file"
                }
                Origin::Url(_) => {
                    "run again if the transfer may have failed, or correct `sha256` if it was changed on purpose"
                }
            };
            return Ok(Some(Expectation { sum, reason: "is expected".into(), hint: advice.into() }));
        }
        let Origin::Url(fetch) = &item.from else { return Ok(None) };
        let Some(pinned) = context.expected_checksum(fetch) else { return Ok(None) };
        let sum = Checksum::parse(&pinned.sha256).map_err(|wrong| Failure::internal(format!("the pin {wrong}")))?;
        Ok(Some(Expectation { sum, reason: pinned.reason.clone(), hint: pinned.hint.clone() }))
    }

    /// A failure if `actual`, the sum of `what`, is another.
    ///
    /// # Errors
    /// It is; the message has both sums.
    pub fn check(&self, what: &str, actual: Checksum, length: u64) -> Result<(), Failure> {
        let Expectation { sum, reason, hint } = self;
        if actual == *sum {
            return Ok(());
        }
        Err(Failure::input(format!("{what}: {length} bytes came with SHA-256 {actual}, but {sum} {reason}"))
            .hint(hint.clone()))
    }
}
