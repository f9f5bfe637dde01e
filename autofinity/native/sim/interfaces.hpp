// How the parts of the simulator see each other where it is not by their own headers.
#pragma once

namespace autofinity::sim {

struct Process;

// What can stand again as it did before: when the region of interest runs once more, or its whole
// process does.
class Repeatable {
  public:
    // How it stands when the region begins, and so again.
    virtual void remember() = 0;
    virtual void restore() = 0;
    // As if the process had not run.
    virtual void forget(const Process& process) = 0;

  protected:
    ~Repeatable() = default;
};

}  // namespace autofinity::sim
