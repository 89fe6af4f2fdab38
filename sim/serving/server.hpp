#pragma once
// Clients, a router and replicas: takes requests as they arrive, routes each to a replica, and
// hands prefilled ones on to replicas that decode.
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/serving/fleet.hpp"
#include "sim/serving/replica.hpp"

namespace tiersim {

class Server {
 public:
  /// One pool, or the one that reads prompts and the one that answers. `pools` and `source` must
  /// outlive the server.
  Server(std::span<ServingParts> pools, RequestSource& source);

  /// Starts the replicas, at time 0.
  void start();
  /// Takes requests from the source until it has no next one.
  void admit();
  /// Serves every request that the source has. The error names a request that exceeds the room of
  /// every replica.
  Expected<ServingTotals> finish();

  /// The reason why no replica can take the request, if so.
  std::optional<std::string> problem_of(const Request& request) const;

 private:
  Process arrivals();
  /// `prefetch`: how long before its arrival the request's prefix is loaded; none: not then.
  Process arrive_later(Request request, std::optional<Duration> prefetch);
  void arrive(Request request);
  /// Gives it to a replica, or keeps it until one is up.
  void place(Sequence& sequence);
  void place_homeless();
  void ended(Sequence& sequence);
  Replica& holder_of(const Request& request);
  void prefilled(Sequence& sequence);
  Replica& route(const Request& request, std::size_t begin, std::size_t end, std::size_t& turn);

  std::optional<std::string> problem_of(const Request& request, std::int64_t tokens,
                                        const ServingParts& pool, const Scheduler& scheduler) const;
  Replica& least_loaded(const Request& request, std::size_t begin, std::size_t end,
                        std::size_t& turn);
  /// Serves what is here, and then ends with the problem.
  void stop(std::string problem);

  ServingParts& parts_;  // of the pool that takes the requests in
  std::span<ServingParts> pools_;
  RequestSource& source_;
  ServingTotals totals_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::size_t prefilling_ = 0;  // replicas that accept requests: the first ones, or all
  std::size_t turn_ = 0;
  std::size_t decode_turn_ = 0;
  std::vector<std::unique_ptr<Sequence>> sequences_;  // by slot
  std::vector<std::size_t> free_;                     // slots
  std::vector<std::size_t> retired_;                  // slots that a static batch still holds
  std::vector<Request> released_;                     // scratch: those that waited for one to end
  std::optional<Fleet> fleet_;                        // none: all replicas serve all the time
  std::unordered_map<std::int64_t, std::size_t> homes_;  // replica of a session; for lookup only
  std::vector<Sequence*> homeless_;                      // came while no replica was up
  bool admits_ = false;
  std::int64_t present_ = 0;
  std::int64_t coming_ = 0;  // requests that will arrive after another has ended
  std::optional<std::string> problem_;
};

}  // namespace tiersim
