//! Whether crates that are checked in are what would be generated now, and what they take is within their budget.

use super::plan::Generated;
use crate::build::Config;
use crate::cases::{Case, Fault, Standing};
use crate::embedded::{self, measure};
use crate::emit;
use crate::error::Error;
use crate::verifier::RuntimeSource;
use std::path::Path;
use std::time::Instant;

/// Of more files than this only the number is told.
const MOST_NAMED: usize = 5;

/// A case for the crate's text, and one for its budget if it has one.
pub fn look(generated: &Generated, runtime: &RuntimeSource) -> Vec<Case> {
    let start = Instant::now();
    let case = |name: String, standing, seconds| Case::new(&generated.network, &name, standing, seconds);
    let text = format!("{} is current", generated.name);
    let files = files(generated, runtime);
    let seconds = start.elapsed().as_secs_f64();
    match files {
        Err(error) => vec![case(text, Standing::Failed(Fault::Error, error.to_string()), seconds)],
        Ok((files, over)) => {
            let mut cases = vec![case(text, compared(&generated.asked.folder, &files), seconds)];
            if generated.asked.budget.is_some() {
                let standing = match over.is_empty() {
                    true => Standing::Passed,
                    false => Standing::Failed(Fault::Budget, format!("the budget is exceeded: {}", over.join("; "))),
                };
                cases.push(case(format!("{} keeps its budget", generated.name), standing, 0.0));
            }
            cases
        }
    }
}

/// The files that would be generated, and what of them exceeds the budget.
fn files(generated: &Generated, runtime: &RuntimeSource) -> Result<(Vec<emit::File>, Vec<String>), Error> {
    let asked = &generated.asked;
    let (name, domain, regions) = (asked.name.clone(), asked.domain.clone(), asked.regions.clone());
    let config = Config { embedded: asked.embedded, name, domain, regions, out_dir: None };
    if !asked.embedded {
        let plan = config.plan(&generated.model, runtime.seen_from(Path::new(&asked.folder))?)?;
        return Ok((emit::emit(&plan), vec![]));
    }
    let device = config.device(&generated.model)?;
    let is_measured = asked.budget.is_some() || asked.target.is_some();
    let measured = is_measured.then(|| measure(&device, asked.target.as_deref())).transpose()?;
    let over = asked.budget.zip(measured.as_ref()).map(|(budget, measured)| budget.exceeded(measured));
    Ok((embedded::files(&device, measured.as_ref())?, over.unwrap_or_default()))
}

fn compared(folder: &str, files: &[emit::File]) -> Standing {
    match emit::check(Path::new(folder), files) {
        Err(error) => Standing::Failed(Fault::Error, error.to_string()),
        Ok(differing) if differing.is_empty() => Standing::Passed,
        Ok(differing) => {
            let named = differing.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
            let more = differing.len().saturating_sub(MOST_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let advice = "generate it again with pg-codegen MODEL -o FOLDER";
            Standing::Failed(Fault::Stale, format!("what would be generated differs in {named}{more}; {advice}"))
        }
    }
}
