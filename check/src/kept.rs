//! Which neurons a certificate numbers: those of a stage, or only those that something reads.

use crate::{Network, Refused, Row, require};

/// The rows of the stages with so many neurons each, their variables numbered anew. What is left out is read by nothing that is
/// kept, so that it does not matter.
pub fn kept(network: &Network, widths: &[usize]) -> Result<Vec<Vec<Row>>, Refused> {
    const OTHER: &str = "the certificate's stages are not the model's ReLUs";
    let mut stages = network.stages.clone();
    require(widths.len() + 1 == stages.len(), OTHER)?;
    let mut end = network.inputs + stages[..widths.len()].iter().map(Vec::len).sum::<usize>();
    let mut is_kept = vec![true; network.inputs];
    is_kept.resize(end, false);
    for (stage, rows) in stages.iter_mut().enumerate().rev() {
        if let Some(&width) = widths.get(stage) {
            let own = end - rows.len()..end;
            end = own.start;
            if width == own.len() {
                is_kept[own.clone()].fill(true);
            }
            let mut flags = is_kept[own].iter();
            rows.retain(|_| flags.next() == Some(&true));
            require(rows.len() == width, OTHER)?;
        }
        rows.iter().flat_map(|row| &row.terms).for_each(|(variable, _)| is_kept[*variable as usize] = true);
    }
    // What a kept row reads is kept: only the numbers change.
    let (mut numbers, mut next) = (Vec::with_capacity(is_kept.len()), 0);
    for kept in is_kept {
        numbers.push(next);
        next += u32::from(kept);
    }
    let terms = stages.iter_mut().flatten().flat_map(|row| &mut row.terms);
    terms.for_each(|(variable, _)| *variable = numbers[*variable as usize]);
    Ok(stages)
}
