//! Devices that stages compute on.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The device on which a stage computes: a matter of the machine, in no key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DeviceChoice {
    /// A GPU if the stage was given one and can use it, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// This GPU of NVIDIA, counted from 0; no other and no CPU in its place.
    Cuda(u32),
    /// This GPU, through Vulkan or Metal, counted from 0; no other and no CPU in its place.
    Wgpu(u32),
}

impl DeviceChoice {
    /// The spellings of all choices; of GPUs the first.
    pub const NAMES: [&'static str; 4] = ["auto", "cpu", "cuda:0", "wgpu:0"];
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Auto => f.write_str("auto"),
            DeviceChoice::Cpu => f.write_str("cpu"),
            DeviceChoice::Cuda(index) => write!(f, "cuda:{index}"),
            DeviceChoice::Wgpu(index) => write!(f, "wgpu:{index}"),
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(DeviceChoice::Auto),
            "cpu" => Ok(DeviceChoice::Cpu),
            _ => text.split_once(':').and_then(|(kind, number)| gpu(kind, number)).ok_or_else(|| {
                format!(
                    "`{text}` is no device; there are `auto`, `cpu`, and GPUs by number from `cuda:0` (NVIDIA) or `wgpu:0` \
                     (Vulkan, Metal) on"
                )
            }),
        }
    }
}

fn gpu(kind: &str, number: &str) -> Option<DeviceChoice> {
    // Only digits: `+1` and `01` would be other names of the same.
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit()) && (number == "0" || !number.starts_with('0'));
    let number = number.parse().ok().filter(|_| is_plain)?;
    match kind {
        "cuda" => Some(DeviceChoice::Cuda(number)),
        "wgpu" => Some(DeviceChoice::Wgpu(number)),
        _ => None,
    }
}

impl TryFrom<String> for DeviceChoice {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<DeviceChoice> for String {
    fn from(choice: DeviceChoice) -> Self {
        choice.to_string()
    }
}

/// A device of this machine, as people see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceInfo {
    /// `cpu`, `cuda:0`, …; `cuda` where there is none.
    pub name: String,
    /// A description; or the reason why it cannot be used, and a remedy.
    pub description: String,
    /// True if it can be used.
    pub usable: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_as_they_are_written_and_nothing_else_is() {
        for (text, choice) in [
            ("auto", DeviceChoice::Auto),
            ("cpu", DeviceChoice::Cpu),
            ("cuda:0", DeviceChoice::Cuda(0)),
            ("cuda:12", DeviceChoice::Cuda(12)),
            ("wgpu:1", DeviceChoice::Wgpu(1)),
        ] {
            assert_eq!(text.parse(), Ok(choice));
            assert_eq!(choice.to_string(), text);
            assert_eq!(serde_json::from_str::<DeviceChoice>(&serde_json::to_string(&choice).unwrap()).unwrap(), choice);
        }
        for text in [
            "",
            "gpu",
            "CPU",
            "cuda",
            "cuda:",
            "cuda:x",
            "cuda:-1",
            "cuda:+1",
            "cuda:01",
            "cuda:4294967296",
            "wgpu",
            "gpu:0",
        ] {
            let message = text.parse::<DeviceChoice>().unwrap_err();
            assert!(message.starts_with(&format!("`{text}` is no device; there are ")), "{message}");
        }
        assert!(DeviceChoice::NAMES.iter().all(|name| name.parse::<DeviceChoice>().is_ok()));
    }
}
