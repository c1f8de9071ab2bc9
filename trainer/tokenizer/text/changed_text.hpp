// Writes text that is mostly what it was made from: nothing is copied until something differs.
#pragma once

#include <string>
#include <string_view>

namespace trainward::trainer {

class ChangedText {
 public:
  // Both must outlive the object; `copy` is overwritten when something differs.
  ChangedText(std::string_view original, std::string& copy) : original_(original), copy_(copy) {}

  void put(std::string_view bytes) {
    if (!differs_) {
      if (original_.substr(same_, bytes.size()) == bytes) {
        same_ += bytes.size();
        return;
      }
      copy_.assign(original_.substr(0, same_));
      differs_ = true;
    }
    copy_ += bytes;
  }

  // What was put, in one piece.
  [[nodiscard]] std::string_view text() const {
    return differs_ ? std::string_view(copy_) : original_.substr(0, same_);
  }

 private:
  std::string_view original_;
  std::string& copy_;
  std::size_t same_ = 0;  // bytes put so far, while they are the original's
  bool differs_ = false;
};

}  // namespace trainward::trainer
