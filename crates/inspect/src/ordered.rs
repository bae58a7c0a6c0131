//! Work on all cores, taken in order.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;

use crossbeam_channel::bounded;

/// Does `work` for each of `jobs` on `cores` threads and gives the results to `take` in the order of the jobs. A fixed
/// number of them is under way at a time, so that memory stays constant whichever thread is slow.
///
/// # Errors
/// The first one in the order of the jobs; what comes after it is not taken.
pub fn in_order<J, T, E>(
    cores: usize,
    jobs: impl Iterator<Item = J> + Send,
    work: impl Fn(J) -> Result<T, E> + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E>
where
    J: Send,
    T: Send,
    E: Send,
{
    let cores = cores.max(1);
    let jobs = Mutex::new((0_u64..).zip(jobs));
    let under_way = 2 * cores + 1;
    let (give_permit, permits) = bounded::<()>(under_way);
    // A panic is a result too: one that never came would be waited for without end.
    let (finish, done) = bounded::<(u64, Result<Result<T, E>, Box<dyn Any + Send>>)>(under_way);
    for _ in 0..under_way {
        let _ = give_permit.send(());
    }
    std::thread::scope(|scope| {
        for _ in 0..cores {
            let (permits, finish, jobs, work) = (permits.clone(), finish.clone(), &jobs, &work);
            scope.spawn(move || {
                for () in permits {
                    let next = jobs.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).next();
                    let Some((ordinal, job)) = next else { return };
                    let result = catch_unwind(AssertUnwindSafe(|| work(job)));
                    if finish.send((ordinal, result)).is_err() {
                        return;
                    }
                }
            });
        }
        drop((finish, permits));
        // Both channels' ends are moved in here, so that the threads end when this does.
        let (done, give_permit) = (done, give_permit);
        let (mut early, mut next) = (BTreeMap::new(), 0);
        for (ordinal, result) in done {
            early.insert(ordinal, result);
            while let Some(result) = early.remove(&next) {
                take(result.unwrap_or_else(|panic| resume_unwind(panic))?)?;
                let _ = give_permit.try_send(());
                next += 1;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        for cores in [1, 2, 5] {
            let mut taken = Vec::new();
            let slow_first = |job: u64| {
                std::thread::sleep(std::time::Duration::from_micros((job * 7919) % 300));
                Ok::<u64, ()>(job * job)
            };
            let taking = |result| {
                taken.push(result);
                Ok(())
            };
            in_order(cores, 0..200, slow_first, taking).unwrap();
            assert_eq!(taken, (0..200).map(|job| job * job).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_panic_ends_it() {
        for cores in [1, 3] {
            let work = |job: u64| if job == 7 { panic!("seven") } else { Ok::<u64, ()>(job) };
            let ended = catch_unwind(AssertUnwindSafe(|| in_order(cores, 0.., work, |_| Ok(()))));
            assert_eq!(ended.unwrap_err().downcast_ref::<&str>(), Some(&"seven"));
        }
    }

    #[test]
    fn the_first_error_in_their_order_ends_it() {
        let mut taken = 0;
        let work = |job: u64| if job >= 30 { Err(job) } else { Ok(job) };
        let taking = |_| {
            taken += 1;
            Ok(())
        };
        assert_eq!(in_order(3, 0.., work, taking), Err(30));
        assert_eq!(taken, 30);
        assert_eq!(in_order(3, 0.., Ok::<u64, u64>, |job| if job == 5 { Err(job) } else { Ok(()) }), Err(5));
    }
}
