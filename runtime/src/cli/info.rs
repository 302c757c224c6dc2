//! `info`: which network this verifier was made for.

use crate::network::Network;
use std::io::Write;

pub fn run(network: &dyn Network) -> Result<(), String> {
    let model = network.model();
    let widths: Vec<String> = network.widths().iter().map(usize::to_string).collect();
    let hidden = &network.widths()[1..network.widths().len() - 1];
    let mut text = format!(
        "network   {}\nformat    {}\nsha256    {}\nlayers    {}\nReLUs     {}\n",
        model.name,
        model.format,
        model.sha256,
        widths.join(" -> "),
        hidden.iter().sum::<usize>(),
    );
    let inexact = (0..widths.len() - 1).filter(|&k| network.layer_error(k).is_some());
    let inexact: Vec<String> = inexact.map(|k| (k + 1).to_string()).collect();
    text += &match inexact.len() {
        0 => "weights   bit-exact\n".to_string(),
        _ => format!("weights   rounded in layer {}, with a stated error\n", inexact.join(", ")),
    };
    text += &format!("runtime   pg-runtime {}\n", env!("CARGO_PKG_VERSION"));
    std::io::stdout().write_all(text.as_bytes()).map_err(|e| format!("cannot write: {e}"))
}
