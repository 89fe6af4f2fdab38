#include <boost/mpi/collectives.hpp>
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>

#include "sim/cli/mpi.hpp"

namespace tiersim::cli {
namespace {

class BoostWorld final : public MpiWorld {
 public:
  int rank() const override { return world_.rank(); }
  int size() const override { return world_.size(); }
  void barrier() override { world_.barrier(); }
  std::vector<int> gather(int value) override {
    std::vector<int> all;
    boost::mpi::gather(world_, value, all, 0);
    return all;
  }

 private:
  boost::mpi::environment environment_;
  boost::mpi::communicator world_;
};

}  // namespace

std::unique_ptr<MpiWorld> MpiWorld::join() {
  return std::make_unique<BoostWorld>();
}

}  // namespace tiersim::cli
