#pragma once
// The sizes that a form of hwmodels/forms asks for, of the work of a kernel.
#include <array>
#include <vector>

#include "hwmodels/forms/experts_form.hpp"
#include "sim/model/device.hpp"

namespace tiersim {

/// True where operations of the family can follow the form.
bool is_form_of(KernelFamily family, const KernelForm& form);

/// The family of the timings of this work: screening for all parts of attention that an indexer
/// chooses for, which were timed together.
KernelFamily timed_family(const KernelWork& work);

/// The form that the work follows where forms of its family have different sizes; null: any.
const KernelForm* only_form_of(const KernelWork& work);

/// By KernelForm::sizes() of the family's forms; empty where the work says too little.
std::vector<double> sizes_of(const KernelWork& work);

std::vector<double> product_sizes(const KernelWork& work);
/// Sizes of the quantisation of a product's input.
std::vector<double> quantise_sizes(const KernelWork& work);
ExpertsCase experts_case(const KernelWork& work);
/// The two products of the shared experts, as one wide expert.
std::array<std::vector<double>, 2> shared_sizes(const KernelWork& work);

}  // namespace tiersim
