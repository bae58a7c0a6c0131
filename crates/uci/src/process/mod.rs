//! A child process to which lines are written and from which lines are read, within limits of time and of bytes.

mod group;
mod lines;

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use cwm_contract::{Cancellation, Failure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};

use group::Group;
use lines::Lines;

/// The number of lines that are kept for an error.
const RECENT_LINES: usize = 5;

/// The most bytes that are read of a program that has ended.
const LAST_BYTES: u64 = 1 << 20;

/// The interval between two checks for a request to stop.
const CANCELLATION_INTERVAL: Duration = Duration::from_millis(100);

/// The time that a program has to end after `quit`, or after it closed its output.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);

/// A running program. Dropping it sends `quit`, and then kills it with all that it started.
pub struct Process {
    child: Child,
    group: Group,
    input: ChildStdin,
    /// Nothing once it is closed.
    output: Option<ChildStdout>,
    /// Its standard error, which is read so that the program does not wait for a reader; nothing once it is closed.
    errors: Option<ChildStderr>,
    output_lines: Lines,
    error_lines: Lines,
    /// The last lines of both.
    recent: VecDeque<String>,
    /// Bytes that both have received since the last command.
    received: u64,
}

/// The limits of one exchange of lines.
pub struct RequestLimits<'a> {
    /// When it ends.
    pub end: Instant,
    /// The most bytes that the program may write.
    pub bytes: u64,
    /// A request to stop.
    pub cancellation: &'a Cancellation,
}

/// The reason why there is no line.
#[derive(Debug)]
pub enum RequestError {
    /// The time is over.
    Timeout,
    /// The program wrote too many bytes.
    OutputLimit,
    /// The program closed its output or ended; its exit status as text.
    Ended(String),
    /// The stage was cancelled.
    Cancelled,
    /// A system call fails.
    System(io::Error),
}

impl From<io::Error> for RequestError {
    fn from(error: io::Error) -> Self {
        RequestError::System(error)
    }
}

impl RequestLimits<'_> {
    /// The time until the next check for a request to stop.
    fn interval(&self) -> Result<Duration, RequestError> {
        if self.cancellation.is_cancelled() {
            return Err(RequestError::Cancelled);
        }
        match self.end.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(RequestError::Timeout),
            left => Ok(left.min(CANCELLATION_INTERVAL)),
        }
    }
}

/// The hint about the installation of an engine.
const INSTALL: &str = "apt-get install stockfish: Debian's is /usr/games/stockfish";

/// Checks that a program can be started: a file that may be executed.
///
/// # Errors
/// It is missing, a folder, or not executable.
pub fn check_program(program: &Path) -> Result<(), Failure> {
    let wrong = |what: &str| Failure::input(format!("the engine {} {what}", program.display()));
    match std::fs::metadata(program) {
        Err(error) if error.kind() == ErrorKind::NotFound => Err(wrong("is not there").hint(INSTALL)),
        Err(error) => Err(wrong(&format!("cannot be read: {error}"))),
        Ok(found) if found.is_dir() => Err(wrong("is a folder").hint(format!("name the program in it, or {INSTALL}"))),
        Ok(found) if found.permissions().mode() & 0o111 == 0 => {
            Err(wrong("is not executable").hint(format!("chmod +x {}, or {INSTALL}", program.display())))
        }
        Ok(_) => Ok(()),
    }
}

/// The BLAKE3 of a program, in hexadecimal.
///
/// # Errors
/// It cannot be read.
pub fn digest(program: &Path) -> Result<String, Failure> {
    let bytes = std::fs::read(program).map_err(|error| Failure::io("read", program, error))?;
    Ok(blake3::hash(&bytes).to_hex().to_string())
}

impl Process {
    /// Starts a program in a process group of its own.
    ///
    /// # Errors
    /// A system call fails.
    pub fn start(program: &Path) -> io::Result<Self> {
        let group = Group::new()?;
        // By its path, not by a name that is looked for elsewhere.
        let mut command = Command::new(std::path::absolute(program)?);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        group.add(&mut command);
        let mut child = command.spawn()?;
        let lost = || io::Error::other("a pipe is missing");
        let input = child.stdin.take().ok_or_else(lost)?;
        // A program that does not read must not stop this one.
        ioctl_fionbio(&input, true)?;
        Ok(Process {
            group,
            input,
            output: child.stdout.take(),
            errors: child.stderr.take(),
            child,
            output_lines: Lines::default(),
            error_lines: Lines::default(),
            recent: VecDeque::new(),
            received: 0,
        })
    }

    /// Writes lines, each with its end, and begins to count bytes anew.
    ///
    /// # Errors
    /// The program does not read within the limits, or has ended.
    pub fn send(&mut self, text: &str, limits: &RequestLimits<'_>) -> Result<(), RequestError> {
        self.received = 0;
        let mut left = text.as_bytes();
        while !left.is_empty() {
            match self.input.write(left) {
                Ok(written) => left = &left[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait(&mut [PollFd::new(&self.input, PollFlags::OUT)], limits.interval()?)?;
                }
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Err(self.ended()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Reads the next line of the program's output.
    ///
    /// # Errors
    /// There is none within the limits, or the program has ended.
    pub fn line(&mut self, limits: &RequestLimits<'_>) -> Result<String, RequestError> {
        loop {
            if let Some(line) = self.output_lines.next_line() {
                push_recent(&mut self.recent, line.clone());
                return Ok(line);
            }
            if self.output.is_none() {
                return Err(self.ended());
            }
            let before = self.received;
            self.receive(limits.interval()?)?;
            if self.received > limits.bytes {
                return Err(RequestError::OutputLimit);
            }
            // What it started itself may hold the output open.
            if self.received == before && self.output.is_some() && self.child.try_wait()?.is_some() {
                return Err(self.ended());
            }
        }
    }

    /// The last lines of the program, the oldest first.
    pub fn recent_lines(&self) -> impl Iterator<Item = &str> {
        self.recent.iter().map(String::as_str)
    }

    /// The ids of the program and of its guard.
    #[cfg(test)]
    pub fn ids(&self) -> Vec<u32> {
        vec![self.child.id(), self.group.id()]
    }

    /// Kills the program with all that it started.
    pub fn kill(&self) {
        self.group.kill();
    }

    /// Reads the output that has arrived, or waits at most so long for some.
    fn receive(&mut self, at_most: Duration) -> io::Result<()> {
        let mut waiting = Vec::with_capacity(2);
        waiting.extend(self.output.as_ref().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)));
        let has_output = !waiting.is_empty();
        waiting.extend(self.errors.as_ref().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)));
        wait(&mut waiting, at_most)?;
        let is_ready: Vec<bool> = waiting.iter().map(|pipe| !pipe.revents().is_empty()).collect();
        if has_output && is_ready[0] {
            self.received += read(&mut self.output, &mut self.output_lines)?;
        }
        if is_ready.get(usize::from(has_output)) == Some(&true) {
            self.received += read(&mut self.errors, &mut self.error_lines)?;
            while let Some(line) = self.error_lines.next_line() {
                push_recent(&mut self.recent, line);
            }
        }
        Ok(())
    }

    /// The error of a program that has closed its output or its input, with its exit status.
    fn ended(&mut self) -> RequestError {
        let end = Instant::now() + EXIT_TIMEOUT;
        // Its last lines give the reason.
        self.received = 0;
        while self.received < LAST_BYTES && (self.output.is_some() || self.errors.is_some()) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            if let Err(error) = self.receive(left) {
                return error.into();
            }
            while let Some(line) = self.output_lines.next_line() {
                push_recent(&mut self.recent, line);
            }
        }
        let rest = [self.error_lines.rest(), self.output_lines.rest()];
        rest.into_iter().flatten().for_each(|line| push_recent(&mut self.recent, line));
        RequestError::Ended(match wait_for_end(&mut self.child, end) {
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("ended with exit status {code}"),
                (_, Some(signal)) => format!("was ended by signal {signal}"),
                _ => format!("ended: {status}"),
            },
            None => "closed its input or output".to_owned(),
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that ended cannot read it.
        if self.input.write_all(b"quit\n").is_ok() {
            wait_for_end(&mut self.child, Instant::now() + EXIT_TIMEOUT);
        }
        self.group.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something is ready, or so long.
fn wait(pipes: &mut [PollFd<'_>], at_most: Duration) -> io::Result<()> {
    let timeout = Timespec::try_from(at_most).map_err(io::Error::other)?;
    match poll(pipes, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Reads once from a pipe that is ready, and forgets it at its end. Returns the number of bytes.
fn read(pipe: &mut Option<impl Read>, lines: &mut Lines) -> io::Result<u64> {
    let Some(open) = pipe else { return Ok(0) };
    let mut bytes = [0; 16 << 10];
    match open.read(&mut bytes) {
        Ok(0) => *pipe = None,
        Ok(count) => {
            lines.push(&bytes[..count]);
            return Ok(count as u64);
        }
        Err(error) if error.kind() == ErrorKind::Interrupted => {}
        Err(error) => return Err(error),
    }
    Ok(0)
}

/// Keeps the last lines that are not empty.
fn push_recent(recent: &mut VecDeque<String>, line: String) {
    if line.is_empty() {
        return;
    }
    if recent.len() == RECENT_LINES {
        recent.pop_front();
    }
    recent.push_back(line);
}

/// Returns the exit status of a child that ends before `end`.
fn wait_for_end(child: &mut Child, end: Instant) -> Option<ExitStatus> {
    let mut pause = Duration::from_micros(100);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < end => std::thread::sleep(pause),
            _ => return None,
        }
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}
