#!/usr/bin/env bash
# The timing campaign: builds the kernels, checks them on the card, times them, and writes JSON
# files for `tiersim calibrate`. See kernels/campaign.sh --help.
#
# It needs nvcc, a C++ compiler and CUDA's own libraries; with --dry-run a C++ compiler.
set -euo pipefail

usage() {
  cat <<'HELP'
usage: kernels/campaign.sh [option...] OUT [stage...]

Runs the stages into the folder OUT, all of them in this order where none is named:
  build           the program, into build/campaign/ (no card is needed), and beside it plan.json,
                  what composition will launch, for `tiersim predict --plan`
  conformance     each primitive: card against emulator, bit for bit
  correctness     each kernel at timed sizes against float64
  ceilings        copy, read, gather, product, link: what the card can do at most
  timing          each kernel in three processes, cold and where reuse is real also warm
  ceilings_again  drift since the first
  composition     sequences of kernels (F1 to F4) against predictions made before
  sanitize        compute-sanitizer over each kernel at toy sizes; only on a card
Each stage takes under 9 minutes, keeps what is finished, and goes on from there when run again
(sanitize starts over). OUT ends with one JSON file a stage from conformance to composition,
log.txt and summary.txt; the summary is printed too.

  --dry-run            on the CPU emulator at toy sizes: every step, but no time is a measurement
  --fresh              forget what OUT holds
  --filter TEXT        only cases whose name holds TEXT
  --limit SECONDS      of each stage (a dry run: 150; a card: conformance 120, correctness 240,
                       ceilings 150, timing 470, ceilings_again 90, composition 240, sanitize 240)
  --case-limit SECONDS a case that takes longer hangs and is refused (60; a dry run: 150)
  --processes N        of the timing stage (3)
  --seed N             of inputs and order (1)
  --predictions FILE   for composition: made before, by the same build
  --no-predictions     composition without any, as in a dry run; its file says so
  --list               print the stages, then the cases of the build that is there
  --help

Exit code: 0 all done, 1 internal, no card, or an OUT of another campaign, 2 usage, 4 some cases failed
or were left, 5 an impossible timing or an error above its tolerance.
TIERSIM_CAMPAIGN_BUILD is the folder to build in, CXX and NVCC the compilers, TIERSIM_CAMPAIGN_COMMIT
the commit of sources that have no repository with them. A dry run takes the programs
of the folder TIERSIM_CAMPAIGN_PROGRAMS, if it is named, and builds none (CMake: build/release/kernels/programs).
HELP
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
stages=(build conformance correctness ceilings timing ceilings_again composition sanitize)
mode=card
fresh=
list=
filter=
limit=
case_limit=
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

whole_number() { # OPTION VALUE LEAST
  if [[ ! $2 =~ ^(0|[1-9][0-9]{0,8})$ ]] || [ "$2" -lt "$3" ]; then
    wrong_usage "$1 takes whole numbers of at least $3, not '$2'"
  fi
}

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
    --filter | --limit | --case-limit | --processes | --seed | --predictions)
      [ $# -gt 1 ] || wrong_usage "$1 wants a value"
      case $1 in
        --filter) filter=$2 ;;
        --limit) whole_number "$1" "$2" 1 && limit=$2 ;;
        --case-limit) whole_number "$1" "$2" 1 && case_limit=$2 ;;
        --processes) whole_number "$1" "$2" 1 && processes=$2 ;;
        --seed) whole_number "$1" "$2" 0 && seed=$2 ;;
        --predictions)
          [ -r "$2" ] || wrong_usage "cannot read $2"
          predictions=(--predictions "$(realpath "$2")")
          ;;
      esac
      shift
      ;;
    -*) wrong_usage "unknown option '$1'" ;;
    *)
      [ -n "$1" ] || wrong_usage "a folder or a stage without a name"
      if [ -z "$out" ]; then
        out=$1
      else
        is_stage "$1" || wrong_usage "no stage '$1'; there are: ${stages[*]}"
        chosen+=("$1")
      fi
      ;;
  esac
  shift
done
: "${case_limit:=$([ "$mode" = card ] && echo 60 || echo 150)}"
[ ${#chosen[@]} -gt 0 ] || chosen=("${stages[@]}")
# A dry run measures nothing to predict
[ "$mode" = card ] || [ ${#predictions[@]} -gt 0 ] || predictions=(--no-predictions)

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
  "$cxx" --version >/dev/null 2>&1 || fail "'$cxx' does not run (CXX=...)"
  launcher=$(command -v ccache || true)
  nvcc=
  nvcc_flags=
  probes=sm90a
  cxx_flags="-std=c++20 -O1 -I. -ffp-contract=off"
  [ "$mode" = card ] || return 0
  nvcc=${NVCC:-$(command -v nvcc || true)}
  [ -n "$nvcc" ] || [ ! -x /usr/local/cuda/bin/nvcc ] || nvcc=/usr/local/cuda/bin/nvcc
  nvcc=$(command -v "$nvcc" || printf '%s' "$nvcc")
  [ -n "$nvcc" ] || fail "nvcc is neither on PATH nor in /usr/local/cuda/bin (NVCC=...); --dry-run needs none"
  "$nvcc" --version >/dev/null 2>&1 || fail "'$nvcc' does not run (NVCC=...)"
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
      printf 'kernels/campaign/%s.cpp\n' validate_timings documents json json_parse judge physics record schema statistics
      return
      ;;
    conformance)
      for file in kernels/campaign/conformance*.{cpp,cu} kernels/runtime/tensor_map.cu; do
        case $file in *_sm80.cu | *_sm90a.cu) [ "$file" = "kernels/campaign/conformance_$probes.cu" ] || continue ;; esac
        printf '%s\n' "$file"
      done
      ;;
    campaign)
      for file in kernels/{campaign,cases,reference,runtime}/*.{cpp,cu}; do
        case $file in */conformance* | */validate_timings.cpp | */occupancy*) continue ;; esac
        printf '%s\n' "$file"
      done
      ;;
  esac
  [ "$1" = card ] || printf '%s\n' kernels/emulator/*.cpp
}

# MODE SOURCE: compiles in a separate shell. The age of an object is that of the contents it was
# made from, so that neither a copy of the tree nor another clock causes a rebuild.
# shellcheck disable=SC2317 # xargs calls it
compile_one() {
  local source=$2 object command cached=$launcher
  object=$builds/$1/$(printf '%s' "$source" | tr / _).o
  case $1:$source in
    card:*.cu) command="$nvcc $nvcc_flags" cached= ;;
    # Most of the time of a dry run
    *:kernels/emulator/*) command="$cxx $cxx_flags -O2 -x c++" ;;
    *) command="$cxx $cxx_flags -x c++" ;;
  esac
  key_of() { # hash of the files that the last compilation read
    { printf '%s\n' "$command" && sed -e 's/^[^:]*://' -e 's/\\$//' "$object.d" | tr ' ' '\n' |
      grep -v -e '^$' -e '^/' | LC_ALL=C sort -u | xargs cat; } 2>/dev/null | sha256sum
  }
  if [ -f "$object" ] && [ -f "$object.d" ] && [ "$(key_of)" = "$(cat "$object.key" 2>/dev/null)" ]; then
    return
  fi
  # shellcheck disable=SC2086 # a command is words
  $cached $command -MMD -MF "$object.d" -c "$source" -o "$object" || { rm -f "$object"; return 1; }
  key_of >"$object.key"
}

link_program() { # MODE PROGRAM: links where an object is newer or the command differs
  local program=$builds/$1/$2 objects object libraries command stale=
  mapfile -t objects < <(sources_of "$1" "$2" | sed -e 's|/|_|g' -e "s|^|$builds/$1/|" -e 's|$|.o|')
  for object in "${objects[@]}"; do [ "$program" -nt "$object" ] || stale=1; done
  command=$cxx
  libraries=(-ldl -lpthread)
  if [ "$1" = card ]; then
    command="$nvcc $nvcc_flags"
    # nvcc knows where CUDA's libraries are, whatever LD_LIBRARY_PATH says
    libraries=(-lcublasLt -ldl -Xlinker -rpath -Xlinker "$(dirname "$(realpath "$nvcc")")/../lib64")
  fi
  [ "$command ${libraries[*]}" = "$(cat "$program.link" 2>/dev/null)" ] || stale=1
  [ -n "$stale" ] || return 0
  # shellcheck disable=SC2086 # a command is words
  $command "${objects[@]}" -o "$program" "${libraries[@]}" || fail "$2 does not link"
  printf '%s\n' "$command ${libraries[*]}" >"$program.link"
}

take_programs() { # those that another build made
  local name
  mkdir -p "$builds/emulator" || fail "cannot build in $builds (TIERSIM_CAMPAIGN_BUILD=...)"
  for name in campaign conformance validate_timings; do
    [ -x "$TIERSIM_CAMPAIGN_PROGRAMS/$name" ] || fail "there is no $TIERSIM_CAMPAIGN_PROGRAMS/$name (TIERSIM_CAMPAIGN_PROGRAMS=...)"
    ln -sf "$(realpath "$TIERSIM_CAMPAIGN_PROGRAMS/$name")" "$builds/emulator/$name"
  done
  say "programs of $TIERSIM_CAMPAIGN_PROGRAMS"
}

build_all() {
  if [ "$mode" = emulator ] && [ -n "${TIERSIM_CAMPAIGN_PROGRAMS:-}" ]; then
    take_programs
    return
  fi
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

expect_card() { # before the first stage that needs one
  [ "$mode" = card ] && [ "${chosen[*]}" != build ] || return 0
  if [ ! -e /dev/nvidia0 ] && ! nvidia-smi >/dev/null 2>&1; then
    fail "no card is here: nvidia-smi does not run and /dev/nvidia0 is missing; only build was done (--dry-run needs no card)"
  fi
}

# ---- stages --------------------------------------------------------------------------------------

describe_build() { # sets `described`: the build information of every file
  local id commit
  id=$({ find kernels -type f \( -name '*.c*' -o -name '*.h*' \) -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
    printf '%s %s %s\n' "$mode" "$nvcc_flags" "$cxx_flags"; } | sha256sum | cut -c 1-16)
  commit=${TIERSIM_CAMPAIGN_COMMIT:-}
  if [ -z "$commit" ]; then
    commit=$(git rev-parse HEAD 2>/dev/null || echo unknown)
    [ -z "$(git status --porcelain -- kernels 2>/dev/null)" ] || commit=$commit-dirty
  fi
  described=(--commit "$commit" --build-id "$id" --compiler "$("$cxx" --version | head -n 1)"
    --nvcc "$([ -z "$nvcc" ] || "$nvcc" --version | tail -n 2 | head -n 1)")
}

worst=0
note_code() { # keeps the first of 1, 5, 4
  local code
  for code in 1 5 4; do
    if [ "$1" -eq $code ] || [ "$worst" -eq $code ]; then
      worst=$code
      return
    fi
  done
}

limit_of() { # STAGE: the limit of --limit, else one that suits a borrowed machine
  case ${limit:+given}$mode:$1 in
    given*) echo "$limit" ;;
    emulator:*) echo 150 ;;
    *:conformance) echo 120 ;;
    *:ceilings) echo 150 ;;
    *:timing) echo 470 ;;
    *:ceilings_again) echo 90 ;;
    *) echo 240 ;;
  esac
}

# STAGE SECONDS [option...]: runs the program, and again where a case hung or broke the device.
run_program() {
  local stage=$1 until=$((SECONDS + $2)) left=$2 code=4 tries again=()
  shift 2
  for tries in 1 2 3 4 5 6; do
    if [ "$left" -lt 1 ]; then
      say "$stage: no time is left"
      break
    fi
    code=0
    "$program" "$stage" --out "$out" --limit "$left" --case-limit "$case_limit" --seed "$seed" --filter "$filter" \
      "${described[@]}" "${toy[@]}" "${again[@]}" "$@" 2>&1 | tee -a "$out/log.txt" >&2 || code=$?
    case $code in
      0 | 1 | 2 | 4 | 5) break ;;
    esac
    say "$stage: the process ended ($code), try $tries"
    again=(--keep-refused)
    code=4
    left=$((until - SECONDS))
  done
  case $code in 1 | 2) exit "$code" ;; esac # no later stage would fare better
  note_code "$code"
}

run_conformance() { # SECONDS: runs the probes on the emulator and compares the card with it
  local until=$((SECONDS + $1)) left words=$builds/emulator/conformance.words lines=$out/.conformance.txt code=0
  "$builds/emulator/conformance" --write "$words" >&2 || fail "the emulator cannot run the probes"
  left=$((until - SECONDS))
  timeout $((left > 1 ? left : 1)) "$builds/$mode/conformance" --compare "$words" >"$lines" 2>>"$out/log.txt" || code=$?
  tee -a "$out/log.txt" <"$lines" >&2
  left=$((until - SECONDS))
  run_program conformance $((left > 10 ? left : 10)) --lines "$lines"
  rm -f "$lines"
  case $code in 0) ;; 5) note_code 5 ;; *) note_code 4 ;; esac
}

run_sanitize() { # SECONDS: finds accesses out of bounds, races and uninitialised memory
  local until=$((SECONDS + $1)) tools=(memcheck racecheck initcheck) i share code scratch
  if [ "$mode" != card ]; then
    say "compute-sanitizer: only on a card"
    return
  fi
  if ! command -v compute-sanitizer >/dev/null; then
    say "compute-sanitizer is not on PATH: nothing is checked by it"
    note_code 4
    return
  fi
  scratch=$(mktemp -d)
  for ((i = 0; i < ${#tools[@]}; ++i)); do
    share=$(((until - SECONDS) / (${#tools[@]} - i)))
    if [ "$share" -lt 2 ]; then
      say "compute-sanitizer ${tools[i]}: no time is left"
      note_code 4
      continue
    fi
    code=0
    timeout "$share" compute-sanitizer --tool "${tools[i]}" --error-exitcode 9 "$program" correctness --toy \
      --out "$scratch/${tools[i]}" --limit $((share > 20 ? share - 10 : share / 2)) --case-limit "$case_limit" \
      --filter "$filter" "${described[@]}" >>"$out/log.txt" 2>&1 || code=$?
    say "compute-sanitizer ${tools[i]}: exit code $code"
    [ "$code" -eq 0 ] || note_code 4
  done
  rm -rf "$scratch"
}

write_plan() { # the launches of composition, for the simulator that predicts them
  local sizes=()
  [ "$mode" = card ] || sizes=(--toy)
  if "$program" plan "${described[@]}" "${sizes[@]}" >"$builds/$mode/plan.json"; then
    say "plan of the composed sequences: $builds/$mode/plan.json"
  else
    note_code 4
  fi
}

run_stage() {
  local stage=$1 began=$SECONDS process left seconds
  seconds=$(limit_of "$stage")
  say "==== $stage"
  case $stage in
    build) write_plan ;;
    conformance) run_conformance "$seconds" ;;
    sanitize) run_sanitize "$seconds" ;;
    timing)
      for ((process = 0; process < processes; ++process)); do
        left=$((seconds - SECONDS + began))
        run_program timing $((left > 0 ? (left + processes - process - 1) / (processes - process) : 0)) \
          --process $process --processes "$processes"
      done
      ;;
    composition)
      if [ ${#predictions[@]} -eq 0 ]; then
        say "composition is measured after it was predicted: --predictions FILE or --no-predictions"
        note_code 4
      else
        run_program composition "$seconds" "${predictions[@]}"
      fi
      ;;
    *) run_program "$stage" "$seconds" ;;
  esac
  say "==== $stage: $((SECONDS - began)) s"
}

validate() { # checks all files, as measurements except in a dry run
  local file files=() code=0 how=()
  while read -r file; do
    if [ "$mode" = card ] && grep -q '^  "benchmarks": \[\]' "$file"; then
      say "$file: no case has a result" # the validator refuses it as a measurement
      note_code 4
    else
      files+=("$file")
    fi
  done < <(find "$out" -maxdepth 1 -name '*.json' | LC_ALL=C sort)
  [ ${#files[@]} -gt 0 ] || return 0
  [ "$mode" = emulator ] || how=(--measurements)
  "$builds/$mode/validate_timings" "${how[@]}" "${files[@]}" >&2 || code=$?
  case $code in
    0) ;;
    5) note_code 5 ;;
    *)
      say "$out holds a file that is none of this campaign's (--fresh starts over)"
      note_code 1
      ;;
  esac
}

toy=()
[ "$mode" = card ] || toy=(--rounds 3 --rounds-least 3 --nodes 2)
find_compilers
build_all
expect_card
[ -z "$fresh" ] || rm -f "$out"/*.json "$out"/*.running "$out"/log.txt "$out"/summary.txt
describe_build
for stage in "${chosen[@]}"; do run_stage "$stage"; done
validate
if [ "${chosen[*]}" != build ]; then
  "$program" summary --out "$out" | tee "$out/summary.txt" || note_code 1
fi
exit "$worst"
