//! The signals that stop a run.

use cwm_core::{Error, ExitCode, Result};

/// Returns the signals that stop a run. Batch systems may warn with SIGUSR1.
pub fn stop_signals() -> Vec<i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
    let mut signals = vec![SIGINT, SIGTERM, SIGUSR1];
    if !is_ignored(SIGHUP) {
        signals.push(SIGHUP);
    }
    signals
}

/// Calls `receive` for each signal that stops a run, until that returns false. The third one ends this process at once, and with it
/// its stages.
pub fn watch(receive: impl Fn() -> bool + Send + 'static) -> Result<signal_hook::iterator::Handle> {
    let mut signals = signal_hook::iterator::Signals::new(stop_signals())
        .map_err(|error| Error::system(format!("cannot watch for signals: {error}")))?;
    let handle = signals.handle();
    std::thread::spawn(move || {
        for (count, _) in signals.forever().enumerate() {
            if count == 2 {
                std::process::exit(ExitCode::INTERRUPTED.0.into());
            }
            if !receive() {
                break;
            }
        }
    });
    Ok(handle)
}

/// Returns true if this process was started with the signal ignored, as `nohup` does.
fn is_ignored(signal: i32) -> bool {
    // SAFETY: all-zero is a valid sigaction, and sigaction without a new action only writes into it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}
