// keysearch: recovers the keys of messages in Vigenere's cipher from letter counts.
//
// usage: keysearch THREADS MESSAGES LETTERS
//
// For every key length up to 12 all threads count the letters of their part of the message by
// position in the key. The counters of all threads lie side by side, [position][letter][thread], as
// careless code has them: every count of one thread takes the line from the others (false
// sharing). Then the counts are summed, by letters shared out among the threads, into atomic
// totals; the length with the highest index of coincidence (Friedman, 1922) wins and the key
// follows from the frequency of letters in English.
// Check: every key found is the key used, and the counts of every pass sum to the message's length.
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"

namespace {

constexpr int kLetters = 26;
constexpr int kMaxKey = 12;
constexpr int kMaxThreads = 384;

// Letters in 10,000 of English text.
constexpr std::array<int, kLetters> kEnglish = {817, 149, 278, 425, 1270, 223, 202, 609, 697,
                                                15,  77,  403, 241, 675,  751, 193, 10,  599,
                                                633, 906, 276, 98,  236,  15,  197, 7};

class Barrier {
  public:
    explicit Barrier(int threads) : threads_(threads), missing_(threads) {}

    void wait() {
        std::unique_lock<std::mutex> lock(mutex_);
        const long round = round_;
        if (--missing_ == 0) {
            missing_ = threads_;
            ++round_;
            all_here_.notify_all();
            return;
        }
        all_here_.wait(lock, [&] { return round_ != round; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable all_here_;
    const int threads_;
    int missing_;
    long round_ = 0;
};

struct Message {
    std::string key, text, found;
};

struct Search {
    Search(int thread_count, long letter_count)
        : threads(thread_count),
          letters(letter_count),
          barrier(thread_count),
          counters(static_cast<size_t>(kMaxKey) * kLetters * static_cast<size_t>(thread_count)) {}

    uint32_t* counter(int position, int letter) {
        return &counters[static_cast<size_t>(position * kLetters + letter) *
                         static_cast<size_t>(threads)];
    }

    const int threads;
    const long letters;
    Barrier barrier;
    std::vector<uint32_t> counters;
    std::array<std::atomic<uint32_t>, kMaxKey * kLetters> total = {};
    std::vector<Message> messages;
    double best = 0.0;
    bool complete = true;
};

Message make_message(long number, long letters) {
    std::array<char, 10000> urn = {};
    size_t filled = 0;
    for (int l = 0; l < kLetters; ++l) {
        for (int i = 0; i < kEnglish[static_cast<size_t>(l)]; ++i) {
            urn[filled++] = static_cast<char>(l);
        }
    }
    const auto stream = static_cast<uint64_t>(number);
    Message m;
    const uint32_t length = 5 + rng_below(1, stream, kMaxKey - 4);
    for (uint32_t i = 0; i < length; ++i) {
        m.key += static_cast<char>(rng_below(2, stream * kMaxKey + i, kLetters));
    }
    m.text.resize(static_cast<size_t>(letters));
    for (size_t i = 0; i < m.text.size(); ++i) {
        const int plain = urn[rng_below(3 + stream, i, static_cast<uint32_t>(filled))];
        m.text[i] = static_cast<char>((plain + m.key[i % length]) % kLetters);
    }
    return m;
}

void count_letters(Search& s, const Message& m, int thread, int key_length) {
    const long begin = s.letters * thread / s.threads, end = s.letters * (thread + 1) / s.threads;
    const char* text = m.text.data();
    uint32_t* mine = s.counters.data() + thread;
    int position = static_cast<int>(begin % key_length);
    for (long i = begin; i < end; ++i) {
        ++mine[(position * kLetters + text[i]) * s.threads];
        if (++position == key_length) position = 0;
    }
}

// Sums the counters of letters `thread`, `thread` + threads, … and clears them for the next pass.
void reduce(Search& s, int thread, int key_length) {
    for (int cell = thread; cell < key_length * kLetters; cell += s.threads) {
        uint32_t sum = 0;
        uint32_t* counter = s.counter(cell / kLetters, cell % kLetters);
        for (int t = 0; t < s.threads; ++t) {
            sum += counter[t];
            counter[t] = 0;
        }
        s.total[static_cast<size_t>(cell)].fetch_add(sum, std::memory_order_relaxed);
    }
}

// The shift under which the counts look most like English.
char best_shift(const Search& s, int position) {
    char best = 0;
    double best_score = -1.0;
    for (int shift = 0; shift < kLetters; ++shift) {
        double score = 0.0;
        for (int l = 0; l < kLetters; ++l) {
            const auto cell = static_cast<size_t>(position * kLetters + (l + shift) % kLetters);
            score += kEnglish[static_cast<size_t>(l)] * static_cast<double>(s.total[cell].load());
        }
        if (score > best_score) {
            best_score = score;
            best = static_cast<char>(shift);
        }
    }
    return best;
}

// Thread 0: takes the key of this length if its coincidence clearly beats that of shorter ones.
void judge(Search& s, Message& m, int key_length) {
    double coincidence = 0.0;
    uint64_t counted = 0;
    for (int p = 0; p < key_length; ++p) {
        double equal = 0.0, here = 0.0;
        for (int l = 0; l < kLetters; ++l) {
            const uint32_t n = s.total[static_cast<size_t>(p * kLetters + l)].load();
            equal += static_cast<double>(n) * (n - 1.0);
            here += n;
            counted += n;
        }
        coincidence += equal / (here * (here - 1.0)) / key_length;
    }
    s.complete &= counted == static_cast<uint64_t>(s.letters);
    if (coincidence > 1.08 * s.best) {
        s.best = coincidence;
        m.found.clear();
        for (int p = 0; p < key_length; ++p) m.found += best_shift(s, p);
    }
    for (std::atomic<uint32_t>& t : s.total) t.store(0, std::memory_order_relaxed);
}

void search(Search& s, int thread) {
    for (Message& m : s.messages) {
        if (thread == 0) s.best = 0.0;
        for (int key_length = 1; key_length <= kMaxKey; ++key_length) {
            count_letters(s, m, thread, key_length);
            s.barrier.wait();
            reduce(s, thread, key_length);
            s.barrier.wait();
            if (thread == 0) judge(s, m, key_length);
            s.barrier.wait();
        }
        if (thread == 0) heartbeat();
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int threads = static_cast<int>(arg_long(argc, argv, 1, "THREADS", 1, kMaxThreads));
    const long messages = arg_long(argc, argv, 2, "MESSAGES", 1, 100000);
    const long letters = arg_long(argc, argv, 3, "LETTERS", 4096, 1L << 30);
    Search s(threads, letters);
    for (long m = 0; m < messages; ++m) s.messages.push_back(make_message(m, letters));

    roi_begin();
    {
        std::vector<std::thread> others;
        for (int t = 1; t < threads; ++t) others.emplace_back([&s, t] { search(s, t); });
        search(s, 0);
        for (std::thread& other : others) other.join();
    }
    roi_end();

    for (const Message& m : s.messages) {
        if (m.found != m.key || !s.complete) {
            std::printf("wrong: a key of %zu letters came out as one of %zu, counts complete %d\n",
                        m.key.size(), m.found.size(), s.complete);
            return 1;
        }
    }
    std::printf("ok keys %zu of %ld letters each\n", s.messages.size(), letters);
    return 0;
}
