//! Slurm as executor: on a real one, started for each test by `tests/slurm/up`, and on a pretended one for the ends that no
//! real one brings about in time.

mod cluster;
mod fake_slurm;
mod isolated;
mod preempted;
mod real;
mod resources;
mod restarts;
mod scale;
