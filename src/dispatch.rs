//! Runs the command that was typed, and prints its error.

use cwm_action::AttemptOptions;
use cwm_core::{Error, ExitCode};

use crate::cli::{Cli, Command, ModelCommand, StoreCommand, UtilCommand};
use crate::commands::{
    accept, diff, export, init, lock, log, model, remote, reward, run, runs, show, sql, status, store, transfer, uci,
    util, why,
};
use crate::output::{self, print_error, print_error_as_json};

/// Runs a command and prints its error on standard error; with `--json`, also on standard output.
pub fn main(cli: Cli) -> ExitCode {
    output::set_json(cli.json);
    let survives_closed_pipe = match &cli.command {
        Command::Run(_) | Command::Exec(_) | Command::Push(_) | Command::Pull(_) => true,
        Command::Lock(arguments) => arguments.update,
        Command::Export(arguments) => arguments.is_stream(),
        _ => false,
    };
    if !survives_closed_pipe {
        // A closed pipe (`cwm status | head`) ends the program quietly, as it does others; a run continues.
        // SAFETY: sets a signal's disposition before any other thread exists.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    }
    let is_run = matches!(cli.command, Command::Run(_));
    match report_file_size_limit().and_then(|()| dispatch(cli)) {
        Ok(code) => match output::event_error() {
            // The command's own exit code is more precise.
            Some(error) => {
                print_error(&error);
                if code == ExitCode::OK { error.exit_code() } else { code }
            }
            None => code,
        },
        Err(error) => {
            print_error(&error);
            if output::is_json() {
                print_error_as_json(&error, is_run);
            }
            error.exit_code()
        }
    }
}

/// Makes a write beyond `ulimit -f` fail with an error, as on a full disk, in place of ending the program. Programs that this
/// one starts do not inherit a handler, so they keep the system's behaviour.
fn report_file_size_limit() -> Result<(), Error> {
    let unread_flag = std::sync::Arc::default();
    let registered = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, unread_flag);
    registered.map(drop).map_err(|error| Error::system(format!("cannot watch for signal SIGXFSZ: {error}")))
}

fn dispatch(cli: Cli) -> Result<ExitCode, Error> {
    let store = cli.store.as_deref();
    let done = match cli.command {
        Command::Init(arguments) => init::run(&arguments),
        Command::Why(arguments) => why::run(store, arguments),
        Command::Runs(arguments) => runs::run(store, arguments),
        Command::Export(arguments) => export::run(store, &arguments),
        Command::Sql(arguments) => sql::run(store, &arguments),
        Command::Remote(arguments) => remote::run(store, &arguments),
        Command::Store(StoreCommand::Ls(arguments)) => store::ls::run(store, &arguments),
        Command::Store(StoreCommand::Du(arguments)) => store::du::run(store, &arguments),
        Command::Store(StoreCommand::Gc(arguments)) => store::gc::run(store, &arguments),
        Command::Store(StoreCommand::Tag(arguments)) => store::tag::run(store, &arguments),
        Command::Model(ModelCommand::Import(arguments)) => model::import::run(&arguments),
        Command::Model(ModelCommand::Track(arguments)) => model::track::run(store, &arguments),
        Command::Model(ModelCommand::Devices) => model::devices::run(),
        Command::Uci(arguments) => uci::run(store, &arguments),
        Command::Reward(arguments) => reward::run(store, &arguments),
        Command::Util(UtilCommand::Schema { markdown }) => util::schema::run(markdown),
        Command::Util(UtilCommand::Completions { shell }) => util::completions::run(shell),
        Command::Util(UtilCommand::Man { folder }) => util::man::run(&folder),
        // Each of the others returns its exit code.
        Command::Run(arguments) => return run::run(store, arguments),
        Command::Status(arguments) => return status::run(store, arguments),
        Command::Diff(arguments) => return diff::run(store, &arguments),
        Command::Log(arguments) => return log::run(store, arguments),
        Command::Show(arguments) => return show::run(store, &arguments),
        Command::Accept(arguments) => return accept::run(store, arguments),
        Command::Lock(arguments) => return lock::run(store, &arguments),
        Command::Push(arguments) => return transfer::push::run(store, arguments),
        Command::Pull(arguments) => return transfer::pull::run(store, arguments),
        Command::Store(StoreCommand::Verify(arguments)) => return store::verify::run(store, &arguments),
        Command::Model(ModelCommand::Parity(arguments)) => return model::parity::run(&arguments),
        Command::Exec(arguments) => {
            let root = store.ok_or_else(|| Error::usage("`cwm exec` needs `--store`"))?;
            let (key, registry) = (arguments.key, crate::registry::built_in());
            return match (&arguments.batch, arguments.task) {
                (Some(batch), Some(index)) => cwm_slurm::exec_task(&registry, root, batch, index, &key),
                _ => {
                    let by_hand =
                        || AttemptOptions { requested_by: "cwm exec".to_owned(), ..AttemptOptions::default() };
                    let options = arguments.options.unwrap_or_else(by_hand);
                    cwm_action::exec(&registry, &key, &options, None, |process| process.perform(root, None))
                }
            };
        }
    };
    done.map(|()| ExitCode::OK)
}
