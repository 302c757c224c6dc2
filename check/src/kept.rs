//! Which neurons a certificate numbers: those of a stage, or only those that something reads.

use crate::{Network, Refused, Row, require};

/// The rows of the stages with so many neurons each, and the new numbers of the variables. What is left out is read by nothing that
/// is kept, so that it does not matter.
pub fn kept<'n>(network: &'n Network, widths: &[usize]) -> Result<(Vec<Vec<&'n Row>>, Vec<u32>), Refused> {
    const OTHER: &str = "the certificate's stages are not the model's ReLUs";
    let mut stages: Vec<Vec<&Row>> = network.stages.iter().map(|rows| rows.iter().collect()).collect();
    require(widths.len() + 1 == stages.len(), OTHER)?;
    let mut end = network.inputs + stages[..widths.len()].iter().map(Vec::len).sum::<usize>();
    let mut is_kept = vec![true; network.inputs];
    is_kept.resize(end, false);
    for (stage, rows) in stages.iter_mut().enumerate().rev() {
        if let Some(&width) = widths.get(stage) {
            let own = end - rows.len()..end;
            end = own.start;
            is_kept[own.clone()].iter_mut().for_each(|kept| *kept |= width == own.len());
            let mut flags = is_kept[own].iter();
            rows.retain(|_| flags.next() == Some(&true));
            require(rows.len() == width, OTHER)?;
        }
        rows.iter().flat_map(|row| &row.terms).for_each(|(variable, _)| is_kept[*variable as usize] = true);
    }
    let (mut numbers, mut next) = (Vec::with_capacity(is_kept.len()), 0);
    for kept in is_kept {
        numbers.push(next);
        next += u32::from(kept);
    }
    Ok((stages, numbers))
}
