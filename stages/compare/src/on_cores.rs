//! Pieces of work, side by side.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cwm_contract::Failure;

/// Returns the results of `work` for each number below `count`, in their order, on up to `cores` threads.
///
/// # Errors
/// The error of `work` for the smallest number for which it fails.
pub fn on_cores<T: Send>(
    count: usize,
    cores: usize,
    work: impl Fn(usize) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<T, Failure>>>> = (0..count).map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..cores.clamp(1, count.max(1)) {
            scope.spawn(|| {
                while let Some(number) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < count) {
                    let result = work(number);
                    let has_failed = result.is_err();
                    *results[number].lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(result);
                    // The others finish what they have begun, and no more.
                    if has_failed {
                        next.store(count, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let taken = results.into_iter().map(|slot| slot.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()));
    taken.map_while(|result| result).collect::<Result<Vec<_>, _>>().and_then(|all| match all.len() {
        done if done == count => Ok(all),
        _ => Err(Failure::internal("a piece of work was left out")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_the_first_failure_is_reported() {
        assert_eq!(on_cores(100, 3, |number| Ok(number * 2)).unwrap(), (0..100).map(|n| n * 2).collect::<Vec<_>>());
        assert_eq!(on_cores(0, 3, Ok).unwrap(), Vec::<usize>::new());
        let failing = |number: usize| if number < 7 { Ok(number) } else { Err(Failure::input(number.to_string())) };
        assert_eq!(on_cores(50, 1, failing).unwrap_err().message, "7");
        assert_eq!(on_cores(50, 4, failing).unwrap_err().message, "7");
    }
}
