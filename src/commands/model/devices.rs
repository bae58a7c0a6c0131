//! `cwm model devices`: lists the devices for models.

use cwm_contract::{DeviceChoice, DeviceInfo};

use crate::output::{columns, print_result};
use crate::registry::require_model_tools;
use cwm_core::Error;

/// Runs `cwm model devices`: a line a device, by the name that `--device` takes; and what keeps GPUs from being used.
///
/// # Errors
/// This build has no models.
pub fn run() -> Result<(), Error> {
    let devices = require_model_tools()?.devices();
    print_result(&devices, || table(&devices))
}

/// Returns the reason why `device` cannot be used on this machine. None means that it can, or that this build has no models.
pub fn reason_unusable(device: DeviceChoice) -> Option<String> {
    // Those without a number, `auto` and `cpu`, can be used everywhere.
    let name = device.to_string();
    let (kind, _) = name.split_once(':')?;
    let devices = crate::registry::model_tools()?.devices();
    if devices.iter().any(|found| found.name == name && found.usable) {
        return None;
    }
    let why = devices.into_iter().find(|found| !found.usable && (found.name == name || found.name == kind));
    let why = why
        .map_or_else(|| "there is no such GPU (`cwm model devices` lists all)".to_owned(), |found| found.description);
    Some(format!("cannot use {name}: {why}"))
}

fn table(devices: &[DeviceInfo]) -> String {
    columns(devices.iter().map(|DeviceInfo { name, description, usable }| {
        let state = if *usable { "" } else { "not usable: " };
        [name.clone(), format!("{state}{description}")]
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_stand_below_each_other_and_what_is_missing_is_reported() {
        let device =
            |name: &str, text: &str, usable| DeviceInfo { name: name.into(), description: text.into(), usable };
        assert_eq!(
            table(&[device("cpu", "2 cores", true), device("cuda:0", "NVIDIA X, 8 GiB", true)]),
            "cpu     2 cores\ncuda:0  NVIDIA X, 8 GiB\n"
        );
        assert_eq!(
            table(&[device("cpu", "1 core", true), device("cuda", "no driver", false)]),
            "cpu   1 core\ncuda  not usable: no driver\n"
        );
    }
}
