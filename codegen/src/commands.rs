//! What each subcommand does.

use crate::{Embedded, Generate};
use pg_codegen::build::Config;
use pg_codegen::embedded::{self, measure};
use pg_codegen::error::Error;
use pg_codegen::interpret::Interpreter;
use pg_codegen::lower::lower;
use pg_codegen::verifier::{self, Cargo};
use pg_codegen::{compile, emit, inspect, operators, read};
use pg_runtime::cli::{Merge, Robust, Split, Verify};
use std::path::Path;
use std::process::ExitCode;

/// The stages that `--dump` knows, besides the passes of normalisation.
const STAGES: [&str; 3] = ["graph", "net", "plan"];

pub fn generate(args: &Generate) -> Result<ExitCode, Error> {
    let path = args.net.as_deref().expect("clap requires it");
    if let Some(stage) = &args.dump {
        return dump(path, stage, args);
    }
    if args.embedded.embedded {
        return embed(path, args);
    }
    let Some(dir) = args.output.as_deref() else {
        println!("{}", verifier::build_in_cache(compile(path)?, &args.runtime, &Cargo::ALOUD)?.display());
        return Ok(ExitCode::SUCCESS);
    };
    let plan = config(args).plan(path, args.runtime.seen_from(dir)?)?;
    let files = emit::emit(&plan);
    if args.check {
        return check(dir, &files);
    }
    write(&plan.name, dir, &files, args.force)?;
    if args.build {
        println!("{}", verifier::build(dir, &plan, &Cargo::ALOUD)?.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn write(name: &str, dir: &Path, files: &[emit::File], force: bool) -> Result<(), Error> {
    let outcome = emit::write(dir, files, force)?;
    eprintln!(
        "{name}: {} files written, {} unchanged, {} removed in {}",
        outcome.written,
        outcome.unchanged,
        outcome.removed,
        dir.display()
    );
    Ok(())
}

/// A crate for devices. What exceeds a budget is not written.
fn embed(path: &Path, args: &Generate) -> Result<ExitCode, Error> {
    let dir = args.output.as_deref().expect("clap requires it");
    let Embedded { budget, target, .. } = &args.embedded;
    let device = config(args).device(path)?;
    let measured = match args.build || budget.is_some() || target.is_some() {
        true => Some(measure(&device, target.as_deref())?),
        false => None,
    };
    if let (Some(measured), Some(budget)) = (&measured, budget) {
        let over = budget.exceeded(measured);
        if !over.is_empty() {
            return Err(Error::Model(format!("the budget is exceeded for {}: {}", measured.target, over.join("; "))));
        }
    }
    let files = embedded::files(&device, measured.as_ref())?;
    if args.check {
        return check(dir, &files);
    }
    write(&device.name, dir, &files, args.force)?;
    if let Some(measured) = &measured {
        let (flash, ram, stack) = (measured.flash(), measured.memory, measured.stack());
        eprintln!("{}: {flash} bytes of flash, {ram} of static memory, {stack} of stack at most", measured.target);
    }
    Ok(ExitCode::SUCCESS)
}

/// What a build script would ask for.
fn config(args: &Generate) -> Config {
    let Embedded { embedded, domain, regions, .. } = &args.embedded;
    let config = Config::new().embedded(*embedded);
    let config = args.name.iter().fold(config, |config, name| config.name(name));
    let config = domain.iter().fold(config, |config, file| config.domain(file));
    regions.iter().fold(config, |config, file| config.regions(file))
}

fn check(dir: &Path, files: &[emit::File]) -> Result<ExitCode, Error> {
    let differing = emit::check(dir, files)?;
    for path in &differing {
        eprintln!("differs: {}", dir.join(path).display());
    }
    Ok(if differing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn dump(path: &Path, stage: &str, args: &Generate) -> Result<ExitCode, Error> {
    let passes = pg_codegen::normalise::PASSES.map(|pass| pass.name);
    if !passes.contains(&stage) && !STAGES.contains(&stage) {
        return Err(Error::Model(format!(
            "there is no stage '{stage}'; stages are graph, {}, net, plan",
            passes.join(", ")
        )));
    }
    let model = read::read(path)?;
    if stage == "graph" {
        print!("{}", model.graph);
        return Ok(ExitCode::SUCCESS);
    }
    let net = pg_codegen::normalise::normalise(model, |pass, graph| {
        if pass == stage {
            print!("{graph}");
        }
    })
    .map_err(|error| error.of_file(path))?;
    if stage == "net" {
        print!("{net}");
    } else if stage == "plan" {
        let dir = args.output.as_deref().unwrap_or(Path::new("."));
        print!("{}", lower(net, args.name.as_deref(), args.runtime.seen_from(dir)?)?);
    }
    Ok(ExitCode::SUCCESS)
}

pub fn inspect(path: &Path) -> Result<ExitCode, Error> {
    print!("{}", inspect::table(&compile(path)?));
    Ok(ExitCode::SUCCESS)
}

pub fn operators(markdown: bool) -> Result<ExitCode, Error> {
    print!("{}", if markdown { operators::page() } else { operators::table() });
    Ok(ExitCode::SUCCESS)
}

pub fn verify(path: &Path, args: &Verify) -> Result<ExitCode, Error> {
    let run = args.run.begin().map_err(Error::File)?;
    let network = Interpreter::new(compile(path)?);
    args.decide(&network, &run).map(ExitCode::from).map_err(Error::File)
}

pub fn robust(path: &Path, args: &Robust) -> Result<ExitCode, Error> {
    let run = args.run.begin().map_err(Error::File)?;
    let network = Interpreter::new(compile(path)?);
    args.decide(&network, &run).map(ExitCode::from).map_err(Error::File)
}

pub fn split(path: &Path, args: &Split) -> Result<ExitCode, Error> {
    let run = args.begin().map_err(Error::File)?;
    let network = Interpreter::new(compile(path)?);
    args.decide(&network, &run).map(ExitCode::from).map_err(Error::File)
}

pub fn merge(path: &Path, args: &Merge) -> Result<ExitCode, Error> {
    let run = args.begin().map_err(Error::File)?;
    let network = Interpreter::new(compile(path)?);
    args.decide(&network, &run).map(ExitCode::from).map_err(Error::File)
}

pub fn eval(path: &Path, input: &Path, repeat: Option<usize>) -> Result<ExitCode, Error> {
    let network = Interpreter::new(compile(path)?);
    pg_runtime::cli::eval(&network, input, repeat).map_err(Error::File)?;
    Ok(ExitCode::SUCCESS)
}
