//! Which neurons a certificate numbers: those of a stage, or only those that something reads.

use crate::onnx::{Network, Row};
use crate::{Refused, refused};

/// The rows of the stages with so many neurons each, their variables numbered anew. What is left out is read by nothing that is
/// kept, so that it does not matter.
pub fn kept(network: &Network, widths: &[usize]) -> Result<Vec<Vec<Row>>, Refused> {
    let other = || refused("the certificate's stages are not the model's ReLUs");
    let (last, hidden) = network.stages.split_last().ok_or_else(other)?;
    if widths.len() != hidden.len() {
        return Err(other());
    }
    let variables = network.inputs + hidden.iter().map(|stage| stage.rows.len()).sum::<usize>();
    let (mut is_read, mut is_kept) = (vec![false; variables], vec![true; variables]);
    last.rows.iter().for_each(|row| mark(row, &mut is_read));
    let mut end = variables;
    for (stage, &width) in hidden.iter().zip(widths).rev() {
        let start = end - stage.rows.len();
        if width != stage.rows.len() {
            is_kept[start..end].copy_from_slice(&is_read[start..end]);
        }
        if is_kept[start..end].iter().filter(|kept| **kept).count() != width {
            return Err(other());
        }
        let rows = stage.rows.iter().zip(&is_kept[start..end]).filter(|(_, kept)| **kept);
        rows.for_each(|(row, _)| mark(row, &mut is_read));
        end = start;
    }
    let (mut numbers, mut next) = (Vec::with_capacity(variables), 0);
    for &kept in &is_kept {
        numbers.push(kept.then_some(next));
        next += u32::from(kept);
    }
    let mut places = numbers[network.inputs..].iter();
    let mut stages: Vec<Vec<Row>> = Vec::with_capacity(network.stages.len());
    for stage in hidden {
        let rows = stage.rows.iter().filter(|_| places.next().is_some_and(Option::is_some));
        stages.push(rows.map(|row| renumbered(row, &numbers)).collect());
    }
    stages.push(last.rows.iter().map(|row| renumbered(row, &numbers)).collect());
    Ok(stages)
}

fn mark(row: &Row, is_read: &mut [bool]) {
    row.terms.iter().for_each(|(variable, _)| is_read[*variable as usize] = true);
}

fn renumbered(row: &Row, numbers: &[Option<u32>]) -> Row {
    let number = |&(variable, weight): &(u32, _)| Some((numbers[variable as usize]?, weight));
    Row { terms: row.terms.iter().filter_map(number).collect(), ..row.clone() }
}
