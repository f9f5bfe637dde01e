// Interfaces between parts of the simulator that do not include each other's headers.
#pragma once

namespace autofinity::sim {

struct Process;

// State that can be restored: when the region of interest runs once more, or its whole process
// does.
class Repeatable {
  public:
    // Remembers the state at the beginning of the region, which is then restored.
    virtual void remember() = 0;
    virtual void restore() = 0;
    // Resets the state as if the process had not run.
    virtual void forget(const Process& process) = 0;

  protected:
    ~Repeatable() = default;
};

}  // namespace autofinity::sim
