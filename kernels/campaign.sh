#!/usr/bin/env bash
# The timing campaign: builds the kernels, shows them right on the card, times them, and leaves JSON files
# that `tiersim calibrate` reads. kernels/campaign.sh --help
#
# It needs nvcc, a C++ compiler and CUDA's own libraries; with --dry-run a C++ compiler.
set -euo pipefail

usage() {
  cat <<'HELP'
usage: kernels/campaign.sh [option...] OUT [stage...]

Runs the stages into the folder OUT, all of them in this order where none is named:
  build           the program, into build/campaign/ (no card is needed)
  conformance     each primitive: card against emulator, bit for bit
  correctness     each kernel at timed sizes against float64; compute-sanitizer at toy sizes
  ceilings        copy, read, gather, product, link: what the card can do at most
  timing          each kernel in three processes, cold and where reuse is real also warm
  ceilings_again  drift since the first
  composition     sequences of kernels (F1 to F4) against predictions made before
Each stage takes under 8 minutes, keeps what is finished, and goes on from there when run again.
OUT ends with one JSON file a stage, log.txt and summary.txt; the summary is printed too.

  --dry-run            on the CPU emulator at toy sizes: every step, but no time is a measurement
  --fresh              forget what OUT holds
  --filter TEXT        only cases whose name holds TEXT
  --limit SECONDS      of a stage (470; a dry run: 150)
  --processes N        of the timing stage (3)
  --seed N             of inputs and order (1)
  --predictions FILE   for composition: made before, by the same build
  --no-predictions     composition without any, as in a dry run; its file says so
  --list               print the stages, then the cases of the build that is there
  --help

Exit code: 0 all done, 1 internal, 2 usage, 4 some cases failed or were left, 5 an impossible timing or
an error above its tolerance. TIERSIM_CAMPAIGN_BUILD is the folder to build in, CXX and NVCC the compilers.
HELP
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
stages=(build conformance correctness ceilings timing ceilings_again composition)
mode=card
fresh=
list=
filter=
limit=
processes=3
seed=1
predictions=()
out=
chosen=()

wrong_usage() {
  printf 'campaign.sh: %s (--help)\n' "$1" >&2
  exit 2
}
fail() {
  printf 'campaign.sh: %s\n' "$1" >&2
  exit 1
}
say() { printf '%s\n' "$*" >&2; }

is_stage() {
  local stage
  for stage in "${stages[@]}"; do [ "$stage" != "$1" ] || return 0; done
  return 1
}

while [ $# -gt 0 ]; do
  case $1 in
    --help) usage && exit 0 ;;
    --dry-run) mode=emulator ;;
    --fresh) fresh=1 ;;
    --list) list=1 ;;
    --no-predictions) predictions=(--no-predictions) ;;
    --filter | --limit | --processes | --seed | --predictions)
      [ $# -gt 1 ] || wrong_usage "$1 wants a value"
      case $1 in
        --filter) filter=$2 ;;
        --limit) limit=$2 ;;
        --processes) processes=$2 ;;
        --seed) seed=$2 ;;
        --predictions)
          [ -r "$2" ] || wrong_usage "cannot read $2"
          predictions=(--predictions "$(realpath "$2")")
          ;;
      esac
      shift
      ;;
    -*) wrong_usage "unknown option '$1'" ;;
    *)
      if [ -z "$out" ] && [ -z "$list" ]; then
        out=$1
      else
        is_stage "$1" || wrong_usage "no stage '$1'; there are: ${stages[*]}"
        chosen+=("$1")
      fi
      ;;
  esac
  shift
done
case ${limit:-1}$seed$processes in *[!0-9]*) wrong_usage "--limit, --processes and --seed take whole numbers" ;; esac
: "${limit:=$([ "$mode" = card ] && echo 470 || echo 150)}"
[ ${#chosen[@]} -gt 0 ] || chosen=("${stages[@]}")
[ "$mode" = card ] || [ ${#predictions[@]} -gt 0 ] || predictions=(--no-predictions) # of nothing real

builds=${TIERSIM_CAMPAIGN_BUILD:-$root/build/campaign}
program=$builds/$mode/campaign
if [ -n "$list" ]; then
  printf '%s\n' "${stages[@]}"
  [ ! -x "$program" ] || "$program" list
  exit 0
fi
[ -n "$out" ] || wrong_usage "which folder?"
mkdir -p "$out" 2>/dev/null || wrong_usage "cannot make the folder $out"
out=$(cd "$out" && pwd)
cd "$root"

# ---- build ---------------------------------------------------------------------------------------

find_compilers() {
  cxx=${CXX:-$(command -v g++ || command -v clang++ || command -v c++ || true)}
  [ -n "$cxx" ] || fail "no C++ compiler is found (CXX=...)"
  launcher=$(command -v ccache || true)
  nvcc=
  nvcc_flags=
  probes=sm90a
  cxx_flags="-std=c++20 -O1 -I. -ffp-contract=off"
  [ "$mode" = card ] || return 0
  nvcc=${NVCC:-$(command -v nvcc || true)}
  [ -n "$nvcc" ] || [ ! -x /usr/local/cuda/bin/nvcc ] || nvcc=/usr/local/cuda/bin/nvcc
  [ -n "$nvcc" ] || fail "nvcc is neither on PATH nor in /usr/local/cuda/bin (NVCC=...); --dry-run needs none"
  local architecture
  architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .) || true
  case $architecture in
    90 | '') architecture=90a ;;
    100 | 103) architecture=${architecture}a ;;
  esac
  [ "$architecture" = 90a ] || probes=sm80
  nvcc_flags="-std=c++20 -O3 -I. -gencode arch=compute_$architecture,code=sm_$architecture"
}

# Sources of a program, one a line; MODE is card or emulator.
sources_of() { # MODE PROGRAM
  local file
  case $2 in
    validate_timings)
      printf 'kernels/bench/%s.cpp\n' validate_timings documents json json_parse judge physics record schema statistics
      return
      ;;
    conformance)
      for file in kernels/bench/conformance*.{cpp,cu} kernels/runtime/tensor_map.cu; do
        case $file in *_sm80.cu | *_sm90a.cu) [ "$file" = "kernels/bench/conformance_$probes.cu" ] || continue ;; esac
        printf '%s\n' "$file"
      done
      ;;
    campaign)
      for file in kernels/{bench,cases,reference,runtime}/*.{cpp,cu}; do
        case $file in */conformance* | */validate_timings.cpp | */occupancy*) continue ;; esac
        printf '%s\n' "$file"
      done
      ;;
  esac
  [ "$1" = card ] || printf '%s\n' kernels/emulator/*.cpp
}

# MODE SOURCE, in a shell of its own. An object is as new as the contents it was made from, so that
# neither a copy of the tree nor another clock builds anything again.
# shellcheck disable=SC2317 # xargs calls it
compile_one() {
  local source=$2 object command
  object=$builds/$1/$(printf '%s' "$source" | tr / _).o
  case $1:$source in
    card:*.cu) command="$nvcc $nvcc_flags" ;;
    *:kernels/emulator/*) command="${launcher:+$launcher }$cxx $cxx_flags -O2 -x c++" ;; # the time of a dry run
    *) command="${launcher:+$launcher }$cxx $cxx_flags -x c++" ;;
  esac
  key_of() { # of what the last compilation read
    { printf '%s\n' "$command" && sed -e 's/^[^:]*://' -e 's/\\$//' "$object.d" | tr ' ' '\n' |
      grep -v -e '^$' -e '^/' | sort -u | xargs cat; } 2>/dev/null | sha256sum
  }
  if [ -f "$object" ] && [ -f "$object.d" ] && [ "$(key_of)" = "$(cat "$object.key" 2>/dev/null)" ]; then
    return
  fi
  $command -MMD -MF "$object.d" -c "$source" -o "$object" || { rm -f "$object"; return 1; }
  key_of >"$object.key"
}

link_program() { # MODE PROGRAM, where an object is newer
  local program=$builds/$1/$2 objects object stale=
  mapfile -t objects < <(sources_of "$1" "$2" | sed -e 's|/|_|g' -e "s|^|$builds/$1/|" -e 's|$|.o|')
  for object in "${objects[@]}"; do [ "$program" -nt "$object" ] || stale=1; done
  [ -n "$stale" ] || return 0
  if [ "$1" = card ]; then
    # shellcheck disable=SC2086 # flags are words
    "$nvcc" $nvcc_flags "${objects[@]}" -o "$program" -lcublasLt -ldl
  else
    "$cxx" "${objects[@]}" -o "$program" -ldl -lpthread
  fi || fail "$2 does not link"
}

build_all() {
  local began=$SECONDS pair programs=("$mode campaign" "$mode validate_timings" "emulator conformance")
  [ "$mode" = emulator ] || programs+=("card conformance")
  mkdir -p "$builds/card" "$builds/emulator" || fail "cannot build in $builds (TIERSIM_CAMPAIGN_BUILD=...)"
  export builds nvcc nvcc_flags cxx cxx_flags launcher
  export -f compile_one
  shopt -s nullglob
  # shellcheck disable=SC2016,SC2086 # the inner shell expands; a pair is two words
  for pair in "${programs[@]}"; do
    sources_of $pair | sed "s|^|${pair% *} |"
  done | sort -u | xargs -P "$(getconf _NPROCESSORS_ONLN)" -L 1 bash -c 'compile_one "$0" "$1"' ||
    fail "a source does not compile"
  # shellcheck disable=SC2086 # a pair is two words
  for pair in "${programs[@]}"; do link_program $pair; done
  say "build: $((SECONDS - began)) s, in $builds"
}

# ---- stages --------------------------------------------------------------------------------------

describe_build() { # sets `described`: what every file says of its build
  local id commit
  id=$({ find kernels -type f \( -name '*.c*' -o -name '*.h*' \) -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
    printf '%s %s %s\n' "$mode" "$nvcc_flags" "$cxx_flags"; } | sha256sum | cut -c 1-16)
  commit=$(git rev-parse HEAD 2>/dev/null || echo unknown)
  [ -z "$(git status --porcelain -- kernels 2>/dev/null)" ] || commit=$commit-dirty
  described=(--commit "$commit" --build-id "$id" --compiler "$("$cxx" --version | head -n 1)"
    --nvcc "$([ -z "$nvcc" ] || "$nvcc" --version | tail -n 2 | head -n 1)")
}

worst=0
note_code() { # the first of 1, 5, 4 stands
  local code
  for code in 1 5 4; do
    if [ "$1" -eq $code ] || [ "$worst" -eq $code ]; then
      worst=$code
      return
    fi
  done
}

# STAGE SECONDS [option...]: runs the program, again where a case hung or broke the device.
run_program() {
  local stage=$1 seconds=$2 code tries again=()
  shift 2
  for tries in 1 2 3 4 5 6; do
    code=0
    "$program" "$stage" --out "$out" --limit "$seconds" --seed "$seed" --filter "$filter" \
      "${described[@]}" "${toy[@]}" "${again[@]}" "$@" 2>&1 | tee -a "$out/log.txt" >&2 || code=$?
    case $code in
      0 | 1 | 2 | 4 | 5) break ;;
    esac
    say "$stage: the process ended ($code), try $tries"
    again=(--keep-refused)
    code=4
  done
  case $code in 1 | 2) exit "$code" ;; esac # no later stage would fare better
  note_code "$code"
}

run_conformance() { # what the emulator gets, and whether the card gets the same
  local words=$builds/emulator/conformance.words lines=$out/.conformance.txt code=0
  "$builds/emulator/conformance" --write "$words" >&2 || fail "the emulator cannot run the probes"
  timeout "$limit" "$builds/$mode/conformance" --compare "$words" >"$lines" 2>>"$out/log.txt" || code=$?
  tee -a "$out/log.txt" <"$lines" >&2
  run_program conformance "$limit" --lines "$lines"
  rm -f "$lines"
  case $code in 0) ;; 5) note_code 5 ;; *) note_code 4 ;; esac
}

sanitize() { # toy sizes, what is not ours to see otherwise: out of bounds, races, uninitialised memory
  local tool code scratch
  [ "$mode" = card ] && command -v compute-sanitizer >/dev/null || return 0
  scratch=$(mktemp -d)
  for tool in memcheck racecheck initcheck; do
    code=0
    timeout 120 compute-sanitizer --tool "$tool" --error-exitcode 9 "$program" correctness --toy \
      --out "$scratch/$tool" --limit 110 --filter "$filter" "${described[@]}" >>"$out/log.txt" 2>&1 || code=$?
    say "compute-sanitizer $tool: exit code $code"
    [ "$code" -eq 0 ] || note_code 4
  done
  rm -rf "$scratch"
}

run_stage() {
  local stage=$1 began=$SECONDS process
  say "==== $stage"
  case $stage in
    build) ;;
    conformance) run_conformance ;;
    correctness)
      run_program correctness "$limit"
      sanitize
      ;;
    timing)
      for ((process = 0; process < processes; ++process)); do
        run_program timing $(((limit - SECONDS + began) / (processes - process) + 1)) \
          --process $process --processes "$processes"
      done
      ;;
    composition)
      if [ ${#predictions[@]} -eq 0 ]; then
        say "composition is measured after it was predicted: --predictions FILE or --no-predictions"
        note_code 4
      else
        run_program composition "$limit" "${predictions[@]}"
      fi
      ;;
    *) run_program "$stage" "$limit" ;;
  esac
  say "==== $stage: $((SECONDS - began)) s"
}

validate() { # every file that there is, as measurements unless it is a dry run
  local files code=0 how=()
  mapfile -t files < <(find "$out" -maxdepth 1 -name '*.json' | LC_ALL=C sort)
  [ ${#files[@]} -gt 0 ] || return 0
  [ "$mode" = emulator ] || how=(--measurements)
  "$builds/$mode/validate_timings" "${how[@]}" "${files[@]}" >&2 || code=$?
  case $code in
    0) ;;
    5) note_code 5 ;;
    *) note_code 1 ;;
  esac
}

[ -z "$fresh" ] || rm -f "$out"/*.json "$out"/*.running "$out"/log.txt "$out"/summary.txt
toy=()
[ "$mode" = card ] || toy=(--rounds 3 --rounds-least 3 --nodes 2)
find_compilers
build_all
describe_build
for stage in "${chosen[@]}"; do run_stage "$stage"; done
validate
if [ "${chosen[*]}" != build ]; then
  "$program" summary --out "$out" | tee "$out/summary.txt" || note_code 1
fi
exit "$worst"
