//! Which neurons a certificate numbers: those of a stage, or only those that something reads.

use crate::onnx::{Network, Row};
use crate::{Refused, require};

/// The rows of the stages with so many neurons each, their variables numbered anew. What is left out is read by nothing that is
/// kept, so that it does not matter.
pub fn kept(network: &Network, widths: &[usize]) -> Result<Vec<Vec<Row>>, Refused> {
    const OTHER: &str = "the certificate's stages are not the model's ReLUs";
    let mut stages: Vec<Vec<Row>> = network.stages.clone();
    require(widths.len() + 1 == stages.len(), OTHER)?;
    let mut end = network.inputs + stages[..widths.len()].iter().map(Vec::len).sum::<usize>();
    let (mut is_read, mut is_kept) = (vec![false; end], vec![true; end]);
    for (stage, &width) in widths.iter().enumerate().rev() {
        for (variable, _) in stages[stage + 1].iter().flat_map(|row| &row.terms) {
            is_read[*variable as usize] = true;
        }
        let own = end - stages[stage].len()..end;
        end = own.start;
        if width != own.len() {
            let mut read = is_read[own.clone()].iter();
            stages[stage].retain(|_| read.next() == Some(&true));
            is_kept[own.clone()].copy_from_slice(&is_read[own]);
        }
        require(stages[stage].len() == width, OTHER)?;
    }
    // What a kept row reads is kept: only the numbers change.
    let (mut numbers, mut next) = (Vec::with_capacity(is_kept.len()), 0);
    for kept in is_kept {
        numbers.push(next);
        next += u32::from(kept);
    }
    for (variable, _) in stages.iter_mut().flatten().flat_map(|row| &mut row.terms) {
        *variable = numbers[*variable as usize];
    }
    Ok(stages)
}
