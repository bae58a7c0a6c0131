//! The items whose answers have rewards.

use std::collections::HashMap;

use cwm_contract::{Failure, RewardRequest};
use cwm_questions::{UnknownTasks, read_item_files};
use cwm_reasoning::{ReadingRule, RewardOptions, Scaling, VerifiedAnswer, Verifier};

/// Items, and the options of rewards for answers to them.
pub struct Items {
    verifiers: HashMap<String, Verifier>,
    options: RewardOptions,
}

impl Items {
    /// Reads the items of a request.
    ///
    /// # Errors
    /// The file cannot be read, or has no item; an item is not graded, or not what its task needs; a parameter cannot be.
    pub fn read(request: &RewardRequest) -> Result<Items, Failure> {
        let options = options(request)?;
        let file = (request.items.display().to_string(), request.items.as_path());
        let items = read_item_files([file].into_iter(), UnknownTasks::Keep)?;
        if items.is_empty() {
            return Err(Failure::input(format!("{} has no items", request.items.display())));
        }
        let named = |item: &cwm_questions::Item| Ok((item.task_id.clone(), Verifier::new(item)?));
        let verifiers = items.iter().map(named).collect::<Result<_, Failure>>()?;
        Ok(Items { verifiers, options })
    }

    /// Judges an answer; none if there is no such item.
    pub fn judge(&self, task_id: &str, text: &str) -> Option<VerifiedAnswer> {
        self.verifiers.get(task_id).map(|verifier| verifier.judge(text, &self.options))
    }
}

fn options(request: &RewardRequest) -> Result<RewardOptions, Failure> {
    let RewardRequest { reading, scaling, cut, .. } = request;
    let reading =
        ReadingRule::of_name(reading).ok_or_else(|| Failure::input(format!("there is no reading `{reading}`")))?;
    let scaling =
        Scaling::of_name(scaling).ok_or_else(|| Failure::input(format!("there is no scaling `{scaling}`")))?;
    if !(0.0..=1.0).contains(cut) {
        return Err(Failure::input(format!("the cut is {cut}, and must lie between 0 and 1")));
    }
    Ok(RewardOptions { reading, scaling, cut: *cut })
}
