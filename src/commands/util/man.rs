//! `cwm util man`: manual pages.

use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;
use serde_json::json;

use crate::cli::Cli;
use crate::output::print_result;
use cwm_core::Error;

/// Runs `cwm util man`: writes `cwm.1` and `cwm-COMMAND.1` of each command and of each in a group, and prints their paths.
///
/// # Errors
/// The folder cannot be written.
pub fn run(folder: &Path) -> Result<(), Error> {
    let refused = |error: std::io::Error| Error::system(format!("cannot write manual pages: {error}"));
    fs_err::create_dir_all(folder).map_err(refused)?;
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let (mut written, mut commands) = (Vec::new(), vec![command]);
    while let Some(command) = commands.pop() {
        commands.extend(command.get_subcommands().filter(|command| !command.is_hide_set()).cloned());
        let source = concat!("cwm ", env!("CARGO_PKG_VERSION"));
        let path = Man::new(command).source(source).manual("cwm").generate_to(folder).map_err(refused)?;
        written.push(path.display().to_string());
    }
    print_result(&json!({ "written": written }), || written.join("\n"))
}
