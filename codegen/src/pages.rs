//! What shells and `man` know of the command line: both are made from the command line itself.

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use pg_codegen::error::Error;
use pg_property::files::write_atomically;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

/// What the foot of a page says.
const SOURCE: &str = concat!("pg-codegen ", env!("CARGO_PKG_VERSION"));

/// Prints the completions for a shell.
pub fn completions(shell: Shell, mut command: Command) -> Result<ExitCode, Error> {
    let (name, mut text) = (command.get_name().to_string(), Vec::new());
    clap_complete::generate(shell, &mut command, name, &mut text);
    // A reader that has seen enough is no mistake.
    match io::stdout().write_all(&text) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Error::File(format!("cannot write the completions: {e}"))),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Writes a page of the manual for the command and for each of its subcommands.
pub fn manual(dir: &Path, mut command: Command) -> Result<ExitCode, Error> {
    command = command.disable_help_subcommand(true);
    command.build();
    let mut count = 0;
    for page in std::iter::once(&command).chain(command.get_subcommands()) {
        let (page, mut text) = (Man::new(page.clone()).source(SOURCE), Vec::new());
        let path = dir.join(page.get_filename());
        let trouble = |e: io::Error| Error::file("write", &path, e);
        page.render(&mut text).map_err(trouble)?;
        write_atomically(&path, &text).map_err(trouble)?;
        count += 1;
    }
    eprintln!("{count} pages in {}", dir.display());
    Ok(ExitCode::SUCCESS)
}
