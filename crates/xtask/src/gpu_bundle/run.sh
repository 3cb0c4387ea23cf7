#!/bin/sh
# Checks and measures on this machine's GPU.
#
#     sh run.sh [PART]…       all parts but tiles unless some are named; results go to ./results
#
#   check      the tests of every crate, on the GPU
#   sustained  100,000 steps of training, after which memory is as it was
#   wheel      the Python package, installed into ./site, and its tests
#   sanitize   compute-sanitizer over the examples' checks, where there is one
#   peers      ours, PyTorch and JAX on the same work; $PEERS_OPTIONS are more for peers/compare.py
#   tiles      what tiles of products take on this GPU, as a file for kernels/tiles (docs/tiles.md); by name only
#   bench      criterion, CPU and GPU side by side; $BENCH_FILTER selects groups by a regular expression
#
# $SECONDS_EACH (600) is the longest that a part's program may take. The exit status is 0 where nothing failed.
cd "$(dirname "$0")" || exit 1
mkdir -p results
longest=${SECONDS_EACH:-600}
failed=
# What is launched but once is launched as it is to be checked and measured, and not by what serves until that is assembled.
export MG_MEANWHILE="${MG_MEANWHILE:-0}"

fail() {
    echo "$1: FAILED, see results/$2"
    failed="$failed $1"
}

# What tensors of the host look like when they are printed is not to be seen where everything is made on the GPU.
on_host="--skip display::"

# Each test of a program in a process of its own, as many at a time as there are processors.
apart() {
    "$1" --list 2> /dev/null | sed -n 's/: test$//p' |
        xargs -P "$(nproc)" -I '{}' sh -c 'said=$(MG_DEVICE=cuda timeout "$2" "$0" --exact "$1" 2>&1) || said="$said
test $1 ... FAILED"; printf "%s\n" "$said"' "$1" '{}' "$longest"
}

check() {
    for program in tests/*; do
        name=$(basename "$program")
        case $name in
            *-table)
                # It takes thousands of programs, which the driver assembles one after the other within a process.
                apart "$program" > "results/$name.txt"
                if grep -q '^test .* FAILED' "results/$name.txt"; then
                    fail "$name" "$name.txt"
                    grep -E '^test .*FAILED|panicked' "results/$name.txt" | sort -u | head -n 5
                else
                    echo "$name: $(grep -c '^test result: ok. 1 passed' "results/$name.txt") tests passed"
                fi
                continue
                ;;
        esac
        # shellcheck disable=SC2086  # several arguments
        if MG_DEVICE=cuda timeout "$longest" "$program" $on_host > "results/$name.txt" 2>&1; then
            echo "$name: $(grep '^test result' "results/$name.txt")"
        else
            fail "$name" "$name.txt"
            grep -E '^test .*FAILED|panicked' "results/$name.txt" | head -n 5
        fi
    done
    timeout "$longest" ./examples/gpu > "results/$gpu-example.txt" 2>&1 || fail example "$gpu-example.txt"
    cat "results/$gpu-example.txt"
}

sustained() {
    : > "results/$gpu-sustained.txt"
    for device in cuda cpu; do
        MG_DEVICE=$device timeout "$longest" ./tests/mg-nn-sustained --ignored --nocapture > "results/sustained-$device.txt" 2>&1 ||
            fail "sustained-$device" "sustained-$device.txt"
        grep -E ' steps|panicked|^the |^active' "results/sustained-$device.txt" >> "results/$gpu-sustained.txt"
    done
    cat "results/$gpu-sustained.txt"
}

wheel() {
    if python3 -m pip install --quiet --no-index --no-deps --upgrade --target site wheel/*.whl > results/wheel.txt 2>&1 &&
        PYTHONPATH="$PWD/site" timeout "$longest" python3 -m pytest -q -p no:cacheprovider python-tests >> results/wheel.txt 2>&1; then
        tail -n 1 results/wheel.txt
    else
        fail wheel wheel.txt
        tail -n 15 results/wheel.txt
    fi
}

sanitize() {
    command -v compute-sanitizer > /dev/null || { echo "sanitize: skipped, no compute-sanitizer"; return; }
    for tool in memcheck racecheck initcheck synccheck; do
        timeout "$longest" compute-sanitizer --error-exitcode 1 --tool "$tool" ./examples/gpu --check > "results/$tool.txt" 2>&1 ||
            fail "$tool" "$tool.txt"
        echo "$tool: $(tail -n 1 "results/$tool.txt")"
    done
}

peers() {
    # shellcheck disable=SC2086  # several options
    timeout "$longest" python3 -B peers/compare.py --ours benches/peers --source source.json --out results ${PEERS_OPTIONS:-} \
        2> results/peers-errors.txt || fail peers peers-errors.txt
}

tiles() {
    driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
    commit=$(sed -n 's/.*"commit": *"\([^"]*\)".*/\1/p' source.json)
    timeout "$longest" ./examples/tiles measure results "${driver:-unknown}" "$(date -u +%F)" "${commit:-unknown}" > results/tiles.txt 2>&1 ||
        fail tiles tiles.txt
    tail -n 1 results/tiles.txt
}

bench() {
    for program in benches/*; do
        name=$(basename "$program")
        [ "$name" = peers ] && continue
        CRITERION_HOME="$PWD/results/criterion" timeout "$longest" "$program" --bench ${BENCH_FILTER:+"$BENCH_FILTER"} \
            > "results/bench-$name.txt" 2>&1 || fail "bench-$name" "bench-$name.txt"
        echo "bench-$name: $(grep -c 'time:' "results/bench-$name.txt") measurements"
    done
}

card=$(nvidia-smi --query-gpu=name --format=csv,noheader 2> /dev/null | head -n 1)
[ -n "$card" ] || echo "no NVIDIA driver"
# As compare.py names its files: gpu-nvidia-h200.
gpu=gpu-$(echo "${card:-none}" | tr 'A-Z ' 'a-z-')
for part in ${*:-check sustained wheel sanitize peers bench}; do
    case $part in
        check | sustained | wheel | sanitize | peers | tiles | bench)
            began=$(date +%s)
            echo "== $part"
            $part
            echo "== $part: $(($(date +%s) - began)) s"
            ;;
        *)
            echo "no part '$part'"
            exit 2
            ;;
    esac
done
[ -z "$failed" ] && exit 0
echo "failed:$failed"
exit 1
