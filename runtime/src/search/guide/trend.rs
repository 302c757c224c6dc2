//! How a claim's bound has grown. It gains about as much with each doubling of the nodes, so that after a few it can be told
//! what the proof would take.

#[derive(Clone, Copy, Debug, Default)]
pub struct Trend {
    pub nodes: u64,
    pub bound: f32,
    /// With a doubling, the later ones counting more.
    pub gain: f32,
}

impl Trend {
    /// Notes the bound after so many nodes; returns how many it will take to reach the target.
    pub fn note(&mut self, nodes: u64, bound: f32, target: f32) -> f32 {
        if self.nodes > 0 {
            let gain = (bound - self.bound) / (nodes as f32 / self.nodes as f32).log2();
            self.gain = if self.gain > 0.0 { (self.gain + gain) / 2.0 } else { gain };
        }
        (self.nodes, self.bound) = (nodes, bound);
        if self.gain > 0.0 { nodes as f32 * ((target - bound) / self.gain).exp2() } else { f32::INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_tells_what_a_proof_takes() {
        let mut trend = Trend::default();
        assert_eq!(trend.note(64, -8.0, 0.0), f32::INFINITY, "nothing to compare with");
        assert_eq!(trend.note(128, -7.0, 0.0), 128.0 * 128.0);
        assert_eq!(trend.note(512, -5.0, 0.0), 512.0 * 32.0, "two doublings, the same gain in each");
        assert_eq!(trend.note(1024, -5.0, 0.0), 1024.0 * 1024.0, "half the gain, as the last doubling brought none");
    }
}
