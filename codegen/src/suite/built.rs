//! The verifiers that `--build-only` made for a folder of results: its processes run them without asking cargo.

use super::folder::Folder;
use super::list::List;
use super::programs::{Made, Program};
use crate::error::Error;
use crate::verifier::{Cargo, RuntimeSource, build_in_cache, is_verifier_of};
use crate::{compile, read};
use pg_runtime::cli::say;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// By the digest of the model.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Built {
    verifiers: BTreeMap<String, Verifier>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Verifier {
    binary: PathBuf,
    /// What generating and building it took.
    seconds: f64,
}

impl Built {
    /// The verifier of a network's model as it is now, if this machine has it and it says that it is for this model.
    pub fn find(&self, network: &Path) -> Option<Made> {
        if self.verifiers.is_empty() {
            return None;
        }
        let sha256 = read::read(network).ok()?.source.sha256;
        let Verifier { binary, seconds } = self.verifiers.get(&sha256)?;
        let is_it = is_verifier_of(binary, &sha256).unwrap_or(false);
        is_it.then(|| Made { program: Program::Verifier(binary.clone()), seconds: *seconds })
    }

    /// Builds the verifier of each network of the list, tells on stdout where it is, and keeps that in the folder. Returns
    /// whether there is one for each; models that have none are named. A stop ends it early.
    pub fn build(list: &List, folder: &Folder, source: &RuntimeSource, cargo: &Cargo) -> Result<bool, Error> {
        let (mut built, mut is_whole) = (folder.built()?, true);
        for instance in list.instances.iter().filter(|instance| instance.is_first) {
            let start = Instant::now();
            let made = compile(&instance.network_file).and_then(|net| {
                let sha256 = net.source.sha256.clone();
                build_in_cache(net, source, cargo).map(|binary| (sha256, binary))
            });
            match made {
                _ if cargo.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) => return Ok(false),
                Ok((sha256, binary)) => {
                    println!("{}\t{}", instance.network, binary.display());
                    built.verifiers.insert(sha256, Verifier { binary, seconds: start.elapsed().as_secs_f64() });
                    folder.write_built(&built)?;
                }
                Err(error @ (Error::Model(_) | Error::Unsupported(_))) => {
                    say(&format!("error: {}: {error}\n", instance.network));
                    is_whole = false;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(is_whole)
    }
}
