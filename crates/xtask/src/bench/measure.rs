//! One case: rounds in turn, medians, ratios.

use std::time::Duration;

use serde_json::Value;

use super::worker::{Refusal, Worker};

/// Two checks that differ by more than this, relatively, are of different work.
const CHECK_TOLERANCE: f64 = 1e-3;

/// Between rounds: the other framework's threads stop spinning within some milliseconds.
const PAUSE: Duration = Duration::from_millis(20);

/// A row of the peers' table.
pub struct Case {
    /// As `--only` selects it.
    pub name: String,
    /// What one call does.
    pub work: String,
    /// Arithmetic of one call, or 0.
    pub flops: f64,
    /// Bytes that one call has to move at least, or 0.
    pub bytes: f64,
}

/// A framework's part in a case.
pub enum Side {
    Rounds {
        /// Seconds per call, of each round.
        seconds: Vec<f64>,
        /// Of a round; the first round counts them.
        calls: u64,
        check: Option<f64>,
    },
    Skipped(String),
    Failed(String),
}

impl Side {
    /// Median of seconds per call.
    pub fn median(&self) -> Option<f64> {
        match self {
            Self::Rounds { seconds, .. } => median(seconds),
            _ => None,
        }
    }

    fn prepared(&self) -> bool {
        matches!(self, Self::Rounds { .. })
    }

    fn check(&self) -> Option<f64> {
        match self {
            Self::Rounds { check, .. } => *check,
            _ => None,
        }
    }
}

/// A peer beside us.
pub struct Peer {
    pub framework: String,
    pub side: Side,
    /// Our rounds that were this peer's neighbours.
    pub ours_beside: Vec<f64>,
}

impl Peer {
    /// How many times as long as ours it takes.
    pub fn ratio(&self) -> Option<f64> {
        Some(self.side.median()? / median(&self.ours_beside)?)
    }
}

/// A case as it was measured.
pub struct Measured {
    pub case: Case,
    pub ours: Option<Side>,
    pub peers: Vec<Peer>,
    /// Workers whose results are not the first worker's.
    pub differing: Vec<String>,
}

impl Measured {
    /// Whether a worker failed, or computed something else.
    pub fn has_error(&self) -> bool {
        let failed = |side: &Side| matches!(side, Side::Failed(_));
        self.ours.as_ref().is_some_and(failed)
            || self.peers.iter().any(|p| failed(&p.side))
            || !self.differing.is_empty()
    }

    /// The peer that takes the least time.
    pub fn best_peer(&self) -> Option<&Peer> {
        let timed = self.peers.iter().filter_map(|peer| Some((peer.side.median()?, peer)));
        timed.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, peer)| peer)
    }
}

/// Measures a case: everybody prepares, then rounds in turn.
pub fn case(case: Case, ours: Option<&mut Worker>, workers: &mut [Worker], rounds: usize) -> Measured {
    let mut ours = ours.map(|worker| (prepare(worker, &case.name), worker));
    let mut peers: Vec<Peer> = workers
        .iter_mut()
        .map(|worker| Peer {
            framework: worker.framework.clone(),
            side: prepare(worker, &case.name),
            ours_beside: Vec::new(),
        })
        .collect();
    for _ in 0..rounds {
        let mut alone = true;
        for (peer, worker) in peers.iter_mut().zip(workers.iter_mut()) {
            if peer.side.prepared() {
                alone = false;
                if let Some((side, worker)) = &mut ours {
                    peer.ours_beside.extend(round(worker, &case.name, side));
                }
                round(worker, &case.name, &mut peer.side);
            }
        }
        if let (true, Some((side, worker))) = (alone, &mut ours) {
            round(worker, &case.name, side);
        }
    }
    let ours = ours.map(|(side, _)| side);
    let differing = differing(ours.as_ref(), &peers);
    Measured { case, ours, peers, differing }
}

fn prepare(worker: &mut Worker, case: &str) -> Side {
    match worker.ask(case, 0) {
        Ok(answers) => Side::Rounds {
            seconds: Vec::new(),
            calls: 0,
            check: answers.first().and_then(|answer| answer["check"].as_f64()),
        },
        Err(refusal) => refused(refusal),
    }
}

fn refused(refusal: Refusal) -> Side {
    match refusal {
        Refusal::Skip(why) => Side::Skipped(why),
        Refusal::Error(what) => Side::Failed(what),
    }
}

/// One more round of a prepared side.
fn round(worker: &mut Worker, case: &str, side: &mut Side) -> Option<f64> {
    let Side::Rounds { seconds, calls, .. } = side else { return None };
    std::thread::sleep(PAUSE);
    match worker.ask(case, 1) {
        Ok(answers) => {
            let time = answers.first().and_then(|answer: &Value| answer["seconds_per_call"].as_f64());
            seconds.extend(time);
            *calls = answers.first().and_then(|answer| answer["calls"].as_u64()).unwrap_or_default();
            time
        }
        Err(refusal) => {
            *side = refused(refusal);
            None
        }
    }
}

fn differing(ours: Option<&Side>, peers: &[Peer]) -> Vec<String> {
    let checks = ours.map(|side| ("ours", side)).into_iter();
    let checks = checks.chain(peers.iter().map(|peer| (peer.framework.as_str(), &peer.side)));
    let checks = checks.filter_map(|(name, side)| Some((name, side.check()?)));
    // A peer is the reference where there is one: several of them agree.
    let Some((reference_name, reference)) = checks.clone().next_back() else { return Vec::new() };
    // NaN is far from everything.
    let far = |check: f64| check.is_nan() || (check - reference).abs() > CHECK_TOLERANCE * reference.abs();
    checks
        .filter(|&(_, check)| far(check))
        .map(|(name, check)| format!("{name} has {check}, {reference_name} {reference}"))
        .collect()
}

/// The middle value, or the mean of the two in the middle.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(framework: &str, seconds: &[f64], check: f64, ours_beside: &[f64]) -> Peer {
        let side = Side::Rounds { seconds: seconds.to_vec(), calls: 1, check: Some(check) };
        Peer { framework: framework.to_owned(), side, ours_beside: ours_beside.to_vec() }
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn a_ratio_is_of_neighbouring_rounds() {
        assert_eq!(peer("torch", &[4.0, 6.0, 5.0], 1.0, &[2.0, 3.0, 2.5]).ratio(), Some(2.0));
        assert_eq!(peer("torch", &[4.0], 1.0, &[]).ratio(), None);
    }

    #[test]
    fn different_results_are_noticed() {
        let peers = [peer("torch", &[1.0], 5.0, &[]), peer("jax", &[1.0], 5.001, &[])];
        let ours = |check| Side::Rounds { seconds: vec![1.0], calls: 1, check: Some(check) };
        assert!(differing(Some(&ours(5.0)), &peers).is_empty());
        assert_eq!(differing(Some(&ours(4.9)), &peers), ["ours has 4.9, jax 5.001"]);
        assert_eq!(differing(Some(&ours(f64::NAN)), &peers).len(), 1);
    }
}
