//! The resources that an action used.

use std::time::Instant;

use super::ActionFile;
use cwm_core::{escape_controls, os};
use cwm_store::{HostInfo, RunInfo};

/// Measures the resources that an action uses, from its start.
pub struct ResourceUsageTimer {
    started: jiff::Timestamp,
    instant: Instant,
}

impl ResourceUsageTimer {
    /// Starts now.
    pub fn start() -> Self {
        ResourceUsageTimer { started: jiff::Timestamp::now(), instant: Instant::now() }
    }

    /// Returns the time, machine, user and cost of the action so far. `is_resumed` is true if it resumed from a checkpoint.
    pub fn stop(&self, action: &ActionFile, computed_on: Option<&str>, is_resumed: bool) -> RunInfo {
        // Its own process and the commands that it waited for.
        let (own, children) = (usage_of(libc::RUSAGE_SELF), usage_of(libc::RUSAGE_CHILDREN));
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        RunInfo {
            started: self.started,
            wall_seconds: self.instant.elapsed().as_secs_f64(),
            user_seconds: seconds(own.ru_utime) + seconds(children.ru_utime),
            system_seconds: seconds(own.ru_stime) + seconds(children.ru_stime),
            peak_memory_bytes: own.ru_maxrss.max(children.ru_maxrss).unsigned_abs() * os::PEAK_MEMORY_UNIT,
            machine: HostInfo { cores: action.resources.cores, ..HostInfo::current() },
            devices: action.resources.devices.clone(),
            computed_on: computed_on.map(escape_controls),
            is_resumed,
            user: user(),
            cwm_version: env!("CARGO_PKG_VERSION").to_owned(),
            ..RunInfo::default()
        }
    }
}

/// Returns the user's login name, control characters escaped: that of the environment, else of the system; else `uid` and the
/// user's number.
pub fn user() -> String {
    let named = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok().filter(|name| !name.is_empty()));
    let number = rustix::process::getuid().as_raw().to_string();
    let of_number = || {
        let users = std::fs::read_to_string("/etc/passwd").ok()?;
        let user = users.lines().find(|user| user.split(':').nth(2) == Some(number.as_str()))?;
        user.split(':').next().map(str::to_owned)
    };
    escape_controls(&named.or_else(of_number).unwrap_or_else(|| format!("uid{number}")))
}

fn usage_of(who: i32) -> libc::rusage {
    // SAFETY: all-zero is a valid rusage, and getrusage only writes into it.
    unsafe {
        let mut usage = std::mem::zeroed();
        libc::getrusage(who, &mut usage);
        usage
    }
}
