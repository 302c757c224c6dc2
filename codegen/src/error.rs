//! What can go wrong, in words for the person who asked.

use std::fmt;
use std::path::Path;

/// A failure to read, compile, write or build; the command line turns each into exit code 4.
/// `Debug` shows the words, too: it is what a `main` that returns an error prints, as in a build script.
pub enum Error {
    /// The model is broken, or uses what cannot be verified.
    Model(String),
    /// Operators that are not supported, all of them.
    Unsupported(Vec<String>),
    /// A file could not be read or written.
    File(String),
    /// The generated crate did not compile.
    Build(String),
}

impl Error {
    pub fn file(action: &str, path: &Path, cause: impl fmt::Display) -> Error {
        Error::File(format!("cannot {action} {}: {cause}", path.display()))
    }

    /// The same failure, said of the file it happened in.
    pub fn of_file(self, path: &Path) -> Error {
        match self {
            Error::Model(message) => Error::Model(format!("{}: {message}", path.display())),
            other => other,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::Model(message) | Error::File(message) | Error::Build(message) => f.write_str(message),
            Error::Unsupported(items) => {
                write!(f, "the model uses what pg-codegen does not support:")?;
                items.iter().try_for_each(|item| write!(f, "\n  {item}"))
            }
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
