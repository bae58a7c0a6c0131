//! Files of `torch.save` (`tests/python/checkpoints.py small` made those in `tests/data`), and what is done to them.

mod archives;
mod bombs;
mod files;
mod gpt;
mod gpt2;
mod hostile;
mod models;
mod settings;
