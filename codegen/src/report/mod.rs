//! `pg-codegen report`: what suites found, as one page and its plots.
//!
//! [`run`] reads results of ours and of others, [`tally`] counts them, [`plot`] draws and [`page`] puts it together.

mod page;
mod plot;
mod run;
mod tally;

use crate::error::Error;
use clap::Args;
use pg_property::files::write_atomically;
use run::Run;
use std::path::{Path, PathBuf};

pub const HELP: &str = "\
RESULTS is the OUT of a suite, or a CSV file with the columns network, property and verdict, and if known tool, seconds
and limit: one run for each tool. Runs are shown side by side, on the instances of the first.

The folder gets index.html, which holds all, and its plots as SVG files: cactus.svg, lp_calls.svg if runs counted them,
and scatter_K.svg for each further run against the first.";

#[derive(Args, Debug)]
pub struct ReportArgs {
    /// Results to show: folders of suites, or tables of other tools
    #[arg(value_name = "RESULTS", required = true)]
    results: Vec<PathBuf>,
    /// Folder of the page [default: report inside the first of the results]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// A drawing and what it is called.
pub struct Figure {
    pub file: String,
    pub caption: String,
    pub svg: String,
}

pub fn report(args: &ReportArgs) -> Result<(), Error> {
    let runs = run::read(&args.results)?;
    let folder = match &args.output {
        Some(folder) => folder.clone(),
        None if args.results[0].is_dir() => args.results[0].join("report"),
        None => {
            return Err(Error::File("say where the page goes with -o: the first of the results is no folder".into()));
        }
    };
    println!("{}", page_of(&runs, &folder)?.display());
    Ok(())
}

/// Writes the page of one folder of results into another.
pub fn write_page(results: &Path, folder: &Path) -> Result<(), Error> {
    page_of(&run::read(&[results.to_path_buf()])?, folder).map(drop)
}

/// Writes the page and its plots, and returns the page's path.
fn page_of(runs: &[Run], folder: &Path) -> Result<PathBuf, Error> {
    let figures = figures(runs);
    for figure in &figures {
        write(&folder.join(&figure.file), &figure.svg)?;
    }
    let page = folder.join("index.html");
    write(&page, &page::page(runs, &figures))?;
    Ok(page)
}

fn figures(runs: &[Run]) -> Vec<Figure> {
    let mut figures = Vec::new();
    figures.extend(plot::cactus(runs).map(|svg| Figure {
        file: "cactus.svg".into(),
        caption: "How many instances each run decided within a time. The end of a line is its last one.".into(),
        svg,
    }));
    figures.extend(plot::lp_calls(runs).map(|svg| Figure {
        file: "lp_calls.svg".into(),
        caption: "Linear programs solved (convex calls) for an instance that was decided.".into(),
        svg,
    }));
    for (k, other) in runs.iter().enumerate().skip(1) {
        figures.extend(plot::scatter(&runs[0], other).map(|svg| Figure {
            file: format!("scatter_{k}.svg"),
            caption: format!(
                "Time of {} against {}: above the diagonal the first is faster.",
                runs[0].name, other.name
            ),
            svg,
        }));
    }
    figures
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    write_atomically(path, text.as_bytes()).map_err(|e| Error::file("write", path, e))
}
