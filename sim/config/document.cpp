#include "sim/config/document.hpp"

#include "sim/config/loader.hpp"

namespace tiersim {

Location Document::locate(std::string_view path) const {
  return origin_at(root_, path, root_.origin).location();
}

Document load_document(const std::filesystem::path& path, const LoadOptions& options,
                       Diagnostics& diagnostics) {
  return Document(Loader(options, diagnostics).load_file(path));
}

Document load_text(std::string text, const std::filesystem::path& name, const LoadOptions& options,
                   Diagnostics& diagnostics) {
  return Document(Loader(options, diagnostics).load_text(std::move(text), name));
}

}  // namespace tiersim
